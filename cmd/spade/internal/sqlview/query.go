package sqlview

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/internal/olap"
)

// Classes of errors, for errors.Is.
var (
	ErrFormat  = errors.New("unknown format")
	ErrBinary  = errors.New("binary output does not belong on a terminal")
	ErrRefused = errors.New("this SQL may not run")
)

// Formats lists the formats that an answer can be written in; the first is the default.
func Formats() []string { return []string{"table", "csv", "json", "jsonl", "arrow", "parquet"} }

// Settings is how a statement runs and where its answer goes.
type Settings struct {
	Out      io.Writer
	Format   string
	Terminal bool // Out is a terminal: control characters are escaped, binary formats refused
	Style    screen.Style
	Columns  int // lines of a table are cut to it; 0 = not at all
	// Limits are sent to the server with the statement. Nil sends none: the server has its own for the user.
	Limits *sqlguard.Limits
	// Params are the values of the statement's parameters, which it names as {name:Type}.
	Params map[string]string
}

// Query runs one reading statement and writes its answer.
func Query(ctx context.Context, conn olap.Conn, sql string, set Settings) error {
	if err := check(sql, set); err != nil {
		return err
	}
	ctx = set.context(ctx)
	answer, err := conn.QueryFormat(ctx, serverFormat(set.Format), strings.TrimRight(strings.TrimSpace(sql), ";"))
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	err = write(answer, set)
	if cerr := answer.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("query: %w", cerr)
	}
	return err
}

// context is ctx with what is sent beside the statement.
func (s Settings) context(ctx context.Context) context.Context {
	var options []clickhouse.QueryOption
	if s.Limits != nil {
		settings := clickhouse.Settings{}
		for name, value := range s.Limits.Settings() {
			settings[name] = value
		}
		options = append(options, clickhouse.WithSettings(settings))
	}
	if len(s.Params) > 0 {
		options = append(options, clickhouse.WithParameters(s.Params))
	}
	return clickhouse.Context(ctx, options...)
}

func check(sql string, set Settings) error {
	if !slices.Contains(Formats(), set.Format) {
		return fmt.Errorf("%w %q; there are %s", ErrFormat, set.Format, strings.Join(Formats(), ", "))
	}
	if set.Terminal && (set.Format == "arrow" || set.Format == "parquet") {
		return fmt.Errorf("%w: redirect it to a file", ErrBinary)
	}
	if err := sqlguard.Check(sql); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	st, err := sqlguard.Parse(sql)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if st.Format != "" {
		return fmt.Errorf("%w: leave FORMAT %s out, --format chooses the format", ErrRefused, st.Format)
	}
	return nil
}

// serverFormat is ClickHouse's name of what the server is asked for.
func serverFormat(format string) string {
	return map[string]string{
		"table": "JSONCompactStringsEachRowWithNamesAndTypes", "csv": "CSVWithNames", "json": "JSONEachRow", "jsonl": "JSONEachRow",
		"arrow": "ArrowStream", "parquet": "Parquet",
	}[format]
}

func write(answer io.Reader, set Settings) error {
	switch set.Format {
	case "table":
		return writeTable(answer, set)
	case "json":
		return eachLine(answer, array{out: set.line()}.write)
	case "arrow", "parquet":
		_, err := io.Copy(set.Out, answer)
		return err
	}
	if !set.Terminal {
		_, err := io.Copy(set.Out, answer)
		return err
	}
	line := set.line()
	return eachLine(answer, func(text string, _, _ bool) error {
		if text == "" {
			return nil
		}
		return line(text)
	})
}

// line writes a line, escaped where a terminal would obey what is in it.
func (s Settings) line() func(string) error {
	return func(text string) error {
		if s.Terminal {
			text = screen.Escape(text)
		}
		_, err := io.WriteString(s.Out, text+"\n")
		return err
	}
}

// array makes one JSON array of lines that hold an object each.
type array struct{ out func(string) error }

func (a array) write(text string, first, last bool) error {
	switch {
	case first && last:
		return a.out("[" + text + "]")
	case first:
		return a.out("[" + text + ",")
	case last:
		return a.out(text + "]")
	}
	return a.out(text + ",")
}

// maxLine bounds a line of an answer, which holds a whole row.
const maxLine = 64 << 20

// eachLine calls fn for each line, saying which is the first and which the last. An answer without lines is one empty
// line.
func eachLine(r io.Reader, fn func(text string, first, last bool) error) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLine)
	pending, seen := "", 0
	for scan.Scan() {
		if seen > 0 {
			if err := fn(pending, seen == 1, false); err != nil {
				return err
			}
		}
		pending = scan.Text()
		seen++
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return fn(pending, seen <= 1, true)
}
