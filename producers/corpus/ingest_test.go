package corpus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestAddPayload(t *testing.T) {
	dir := tree(t, map[string]string{"sub/water.md": "\ufeff# Water\r\n\r\nWater is wet.\r\n"})
	log := &memLog{t: t}
	stamp := func(started time.Time) *spadepb.Observed {
		if started.IsZero() {
			t.Error("no start time")
		}
		return &spadepb.Observed{Producer: "p"}
	}
	if _, err := newIngester(t, log, func(_ *Config, s *Settings) { s.Stamp = stamp }).Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	d := log.documents()[0]
	text := "# Water\n\nWater is wet."
	sum := sha256.Sum256([]byte(text))
	both := sha256.Sum256([]byte("Water\n" + text))
	id := ids.Document(both[:])
	if !bytes.Equal(d.DocumentId, id[:]) || !bytes.Equal(d.ParentId, id[:]) || !bytes.Equal(d.Sha256, sum[:]) {
		t.Errorf("ids of %v", d)
	}
	if d.Text != text || d.Title != "Water" || d.Source != "sub/water.md" || d.MediaType != "text/markdown" || d.Chunk != 0 || d.Chunks != 1 {
		t.Errorf("document %v", d)
	}
	ev := log.events[0]
	if ev.Key != id.String() || ev.ID != ids.Event("spade.v1.DocumentIngested", id, 0) || ev.Observed.GetProducer() != "p" {
		t.Errorf("event %+v", ev)
	}
	if strings.Contains(string(ev.Payload), dir) {
		t.Error("the payload holds a path of this machine")
	}
}

// longText has paragraphs that differ.
func longText(paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Paragraph %d. %s\n\n", i, strings.Repeat(fmt.Sprintf("Fact %d é. ", i), 30))
	}
	return b.String()
}

func TestAddChunks(t *testing.T) {
	text := longText(60)
	log, sum := add(t, tree(t, map[string]string{"long.txt": text}))
	docs := log.documents()
	if len(docs) < 3 || sum.Chunks != len(docs) || sum.Added != 1 || sum.Documents != 1 {
		t.Fatalf("%d chunks, summary %+v", len(docs), sum)
	}
	var joined strings.Builder
	parent := documentID(docs[0].Title, normalise(text))
	for i, d := range docs {
		joined.WriteString(d.Text)
		if int(d.Chunk) != i || int(d.Chunks) != len(docs) || !bytes.Equal(d.ParentId, parent[:]) {
			t.Errorf("chunk %d of %d, parent %x", d.Chunk, d.Chunks, d.ParentId)
		}
	}
	if joined.String() != normalise(text) {
		t.Error("the chunks do not join to the text")
	}
	if sum.Bytes != int64(joined.Len()) {
		t.Errorf("bytes %d, want %d", sum.Bytes, joined.Len())
	}
}

func TestAddBlankPieces(t *testing.T) {
	log, _ := add(t, tree(t, map[string]string{"gap.txt": "Start." + strings.Repeat(" ", 20000) + "End."}))
	for i, d := range log.documents() {
		if strings.TrimSpace(d.Text) == "" || int(d.Chunk) != i || int(d.Chunks) != 2 {
			t.Errorf("chunk %d of %d has %q", d.Chunk, d.Chunks, strings.TrimSpace(d.Text))
		}
	}
}

func TestAddTwiceAddsNothing(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "# A\n\nSame.", "b/copy.txt": "# A\r\n\r\nSame.\n\n", "long.txt": longText(40)})
	log, first := add(t, dir)
	if first.Added != 2 || first.Known != 1 {
		t.Errorf("first summary %+v", first)
	}
	if log.sources()[0] != "a.md" {
		t.Errorf("sources %q: the first in sorted order wins", log.sources())
	}
	before := len(log.events)
	again := newIngester(t, log, func(_ *Config, s *Settings) { s.Known = log.index() })
	second, err := again.Add(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.events) != before || second.Added != 0 || second.Known != 3 || second.Chunks != 0 || second.ChunksKnown != first.Chunks+1 {
		t.Errorf("second summary %+v", second)
	}
}

// A chunk that two documents share is one only under one title: what a designer sees of an id must not depend on what the
// log met first.
func TestAddSharedChunk(t *testing.T) {
	lines := `{"text": "Same.", "title": "One"}
{"text": "Same.", "title": "Two"}
{"text": "Same.", "title": "One"}
`
	log, sum := add(t, tree(t, map[string]string{"a.jsonl": lines}))
	docs := log.documents()
	if sum.Added != 2 || sum.Known != 1 || len(docs) != 2 || docs[0].Title != "One" || docs[1].Title != "Two" {
		t.Errorf("documents %v, summary %+v", docs, sum)
	}
	if len(sum.IDs) != 3 || sum.IDs[0] != sum.IDs[2] || sum.IDs[0] == sum.IDs[1] || !bytes.Equal(docs[1].DocumentId, sum.IDs[1][:]) {
		t.Errorf("ids %v", sum.IDs)
	}
}

// The payloads do not depend on the order of the arguments or on where the folder lies.
func TestAddDeterministic(t *testing.T) {
	files := map[string]string{"x/1.md": "One.", "x/2.jsonl": "{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}", "y/4.html": "<p>Four.", "y/5.txt": "One."}
	one, two := tree(t, files), tree(t, files)
	a, _ := add(t, filepath.Join(one, "x"), filepath.Join(one, "y"))
	b, _ := add(t, filepath.Join(two, "y"), filepath.Join(two, "x"))
	if len(a.events) != 4 || len(b.events) != 4 {
		t.Fatalf("%d and %d events", len(a.events), len(b.events))
	}
	for i := range a.events {
		if !bytes.Equal(a.events[i].Payload, b.events[i].Payload) || a.events[i].ID != b.events[i].ID {
			t.Errorf("event %d differs", i)
		}
	}
}

func TestAddProblems(t *testing.T) {
	dir := tree(t, map[string]string{
		"a-empty.md": "", "b-blank.txt": " \n\t", "c-binary.txt": "\x00\x01", "d-latin1.md": "caf\xe9", "e-huge.txt": strings.Repeat("x", 2001),
		"f.jsonl": "{}\n{\"text\": \"Fine.\"}", "g.parquet": "PAR1", "h-fine.md": "Fine, too.",
	})
	log := &memLog{t: t}
	sum, err := newIngester(t, log, func(c *Config, _ *Settings) { c.MaxFileBytes = 2000 }).Add(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"f.jsonl#2", "h-fine.md"}; !slices.Equal(log.sources(), want) {
		t.Errorf("sources %q, want %q", log.sources(), want)
	}
	want := []struct {
		path  string
		line  int
		class error
	}{
		{"a-empty.md", 0, ErrEmpty},
		{"b-blank.txt", 0, ErrEmpty},
		{"c-binary.txt", 0, ErrBinary},
		{"d-latin1.md", 0, ErrEncoding},
		{"e-huge.txt", 0, ErrTooLarge},
		{"f.jsonl", 1, ErrMalformed},
		{"g.parquet", 0, ErrMalformed},
	}
	if sum.ProblemCount != len(want) || len(sum.Problems) != len(want) {
		t.Fatalf("problems %v", sum.Problems)
	}
	for i, p := range sum.Problems {
		if p.Path != want[i].path || p.Line != want[i].line || !errors.Is(p, want[i].class) {
			t.Errorf("problem %v, want %v", p, want[i])
		}
	}
	if sum.Files != 8 || sum.Documents != 2 {
		t.Errorf("summary %+v", sum)
	}
}

func TestAddCountsManyProblems(t *testing.T) {
	_, sum := add(t, tree(t, map[string]string{"bad.jsonl": strings.Repeat("{\n", 3000)}))
	if sum.ProblemCount != 3000 || len(sum.Problems) != maxProblems {
		t.Errorf("%d problems, %d kept", sum.ProblemCount, len(sum.Problems))
	}
}

// manyLines is a JSONL file of n documents.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"text\": \"Document %d.\"}\n", i)
	}
	return b.String()
}

func TestAddBatches(t *testing.T) {
	log, sum := add(t, tree(t, map[string]string{"many.jsonl": manyLines(2500)}))
	if log.calls != 3 || sum.Chunks != 2500 {
		t.Errorf("%d appends, summary %+v", log.calls, sum)
	}
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "{\"text\": \"%d %s\"}\n", i, strings.Repeat("x", 60_000))
	}
	log = &memLog{t: t}
	g := newIngester(t, log, func(c *Config, _ *Settings) { c.ChunkMax = MaxChunkBytes })
	if _, err := g.Add(t.Context(), tree(t, map[string]string{"big.jsonl": b.String()})); err != nil {
		t.Fatal(err)
	}
	if log.calls != 2 {
		t.Errorf("%d appends of 6 MB, want 2", log.calls)
	}
}

func TestAddGoesOnAfterFailure(t *testing.T) {
	dir := tree(t, map[string]string{"many.jsonl": manyLines(2500)})
	gone := errors.New("broker gone")
	log := &memLog{t: t, fail: func(call int) error {
		if call == 2 {
			return gone
		}
		return nil
	}}
	g := newIngester(t, log, nil)
	sum, err := g.Add(t.Context(), dir)
	if !errors.Is(err, gone) || sum.Chunks != 1000 {
		t.Fatalf("error %v, summary %+v", err, sum)
	}
	sum, err = g.Add(t.Context(), dir)
	if err != nil || sum.Chunks != 1500 || sum.Known != 1000 {
		t.Fatalf("error %v, summary %+v", err, sum)
	}
	if got := len(log.index().IDs()); got != 2500 || len(log.events) != 2500 {
		t.Errorf("%d documents in %d events", got, len(log.events))
	}
}

func TestAddCancelled(t *testing.T) {
	dir := tree(t, map[string]string{"many.jsonl": manyLines(2500), "more.jsonl": manyLines(3000)})
	ctx, cancel := context.WithCancel(t.Context())
	log := &memLog{t: t}
	log.fail = func(int) error { cancel(); return nil }
	sum, err := newIngester(t, log, nil).Add(ctx, dir)
	if !errors.Is(err, context.Canceled) || log.calls != 1 || sum.Chunks != 1000 {
		t.Errorf("error %v after %d appends, summary %+v", err, log.calls, sum)
	}
}

func TestProgress(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "A.", "b.jsonl": "{\"text\": \"B.\"}\n{", "c.parquet": "PAR1"})
	var seen []Progress
	log := &memLog{t: t}
	g := newIngester(t, log, func(_ *Config, s *Settings) { s.Progress = func(p Progress) { seen = append(seen, p) } })
	if _, err := g.Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 2 {
		t.Fatalf("progress %+v", seen)
	}
	if first := seen[0]; first.FilesTotal != 3 || first.BytesTotal != 22 || first.Current != "a.md" {
		t.Errorf("first progress %+v", first)
	}
	want := Progress{Files: 3, FilesTotal: 3, Bytes: 22, BytesTotal: 22, Documents: 2, Added: 2, Problems: 2}
	if last := seen[len(seen)-1]; last != want {
		t.Errorf("last progress %+v, want %+v", last, want)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i].Bytes < seen[i-1].Bytes || seen[i].Files < seen[i-1].Files {
			t.Errorf("progress goes back from %+v to %+v", seen[i-1], seen[i])
		}
	}
}

func TestWithdraw(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "A.", "long.txt": longText(40)})
	log, sum := add(t, dir)
	x := log.index()
	g := newIngester(t, log, func(_ *Config, s *Settings) { s.Known = x })
	var whole uuid.UUID
	for _, e := range x.Entries() {
		if e.Source == "long.txt" {
			whole = e.Parent
		}
	}
	n, err := g.Withdraw(t.Context(), whole, "licence")
	if err != nil || n != sum.Chunks-1 {
		t.Fatalf("withdrawn %d, error %v", n, err)
	}
	if n, err := g.Withdraw(t.Context(), whole, "again"); n != 0 || err != nil {
		t.Errorf("second time: %d, %v", n, err)
	}
	if _, err := g.Withdraw(t.Context(), uuid.UUID{1}, ""); !errors.Is(err, ErrUnknownDocument) {
		t.Errorf("unknown: %v", err)
	}
	if got := x.IDs(); len(got) != 1 || got[0] != documentID("A.", "A.") {
		t.Errorf("live %v", got)
	}
	again, err := g.Add(t.Context(), dir)
	if len(again.IDs) != 1 || again.IDs[0] != documentID("A.", "A.") {
		t.Errorf("found %v", again.IDs)
	}
	if err != nil || again.Withdrawn != 1 || again.Known != 1 || again.Chunks != 0 {
		t.Errorf("summary %+v, error %v", again, err)
	}
	for _, e := range log.index().Entries() {
		if e.Withdrawn != (e.Parent == whole) || e.Withdrawn && e.Reason != "licence" {
			t.Errorf("entry %+v", e)
		}
	}
	last := log.events[len(log.events)-1]
	if last.Type != event.TypeOf((*spadepb.DocumentWithdrawn)(nil)) {
		t.Errorf("last event %s", last.Type)
	}
}

func TestNewRefuses(t *testing.T) {
	bad := Config{ChunkMin: 0, ChunkMax: MaxChunkBytes + 1}
	_, err := New(bad, Settings{Appender: &memLog{t: t}})
	want := "corpus configuration: chunk max is 65537 bytes, allowed are 16 to 65536\n" +
		"chunk min is 0 bytes, allowed are 1 to chunk max, 65537\nmax file is 0 bytes, must be positive\nmax record is 0 bytes, must be positive"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if _, err := New(NewDefaultConfig(), Settings{}); err == nil {
		t.Error("no error without an appender")
	}
}
