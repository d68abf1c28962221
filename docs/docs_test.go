package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

// pages lists the Markdown files of the repository that are documentation: those at the top and in docs and examples,
// but not the example corpus, which is data.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	read := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	top, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range top {
		read(name)
	}
	for _, dir := range []string{".", "../examples"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name == "../examples/corpus":
				return fs.SkipDir
			case !d.IsDir() && strings.HasSuffix(name, ".md"):
				read(name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 8 {
		t.Fatalf("%d pages found", len(found))
	}
	return found
}

// prose is a page without its fenced and indented blocks.
func prose(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for name, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}

func TestNamedFiles(t *testing.T) {
	path := regexp.MustCompile("`((?:cmd|internal|schemas|producers|consumers|plugins|analytics|docs|examples|test|\\.ci)/[\\w./-]*)`")
	for name, text := range pages(t) {
		for _, m := range path.FindAllStringSubmatch(prose(text), -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
}

// Every decision and every guide is in the index.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range pages(t) {
		if filepath.Dir(name) == ".." || strings.HasPrefix(name, "../examples") || name == "README.md" {
			continue
		}
		if !strings.Contains(string(index), "]("+filepath.ToSlash(name)+")") {
			t.Errorf("the index does not list %s", name)
		}
	}
}

// Every example of the SQL guide is let through for users and runs.
func TestSQL(t *testing.T) {
	text, err := os.ReadFile("sql.md")
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	options := clickhousetest.Options(clickhousetest.Start(t))
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range catalogue.Statements() {
		if err := conn.Exec(t.Context(), s.SQL); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 20 {
		t.Fatalf("%d examples found", len(blocks))
	}
	for _, block := range blocks {
		sql := block[1]
		if err := sqlguard.Check(sql); err != nil {
			t.Errorf("%v:\n%s", err, sql)
			continue
		}
		rows, err := conn.Query(t.Context(), sql)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			if cerr := rows.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, sql)
		}
	}
}

// The guide to the schemas names every topic, type of event and header.
func TestSchemaNames(t *testing.T) {
	text, err := os.ReadFile("schemas.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // of the table of topics, by topic
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.HasPrefix(line, "| `spade.") {
			rows[strings.Trim(cells[0], "| `")] = line
		}
	}
	for _, topic := range topics.All(topics.DefaultPartitions) {
		if row := rows[topic.Name]; !strings.HasSuffix(row, fmt.Sprintf(" | %d |\n", topic.Partitions)) {
			t.Errorf("schemas.md says of %s: %q, it has %d partitions", topic.Name, row, topic.Partitions)
		}
	}
	for _, kind := range event.Kinds() {
		name := "`" + strings.TrimPrefix(kind.Type, "spade.v1.") + "`"
		if !strings.Contains(rows[kind.Topic], name) {
			t.Errorf("schemas.md does not list %s under %s", name, kind.Topic)
		}
	}
	ev := event.Event{ID: uuid.UUID{1}, Type: "t", Payload: []byte("payload"), Observed: &spadepb.Observed{}}
	records, err := event.Encode(ev, 4, uuid.UUID{2})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range records[0].Headers {
		if !strings.Contains(string(text), "| `"+h.Key+"` |") {
			t.Errorf("schemas.md does not explain the header %s", h.Key)
		}
	}
}

// The guide's list of tables is that of the catalogue.
func TestSQLNames(t *testing.T) {
	text, err := os.ReadFile("sql.md")
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range catalogue.Tables {
		if !table.Bookkeeping {
			names = append(names, table.Name)
		}
	}
	for _, view := range catalogue.Views {
		names = append(names, view.Name)
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("sql.md does not mention %s", name)
		}
	}
}
