package kafka_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	embedded "github.com/seed256f7767/spade/internal/embedded/kafka"
)

// stored returns a folder with three batches of one partition, as kill -9 leaves
// it or as a clean stop does, and where they are.
func stored(t *testing.T, clean bool) (cfg embedded.Config, segment string) {
	t.Helper()
	live := config(t)
	s := start(t, live)
	c := client(t, s.Addr(), password)
	createTopic(t, c, "a")
	for _, v := range []string{"one", "two", "three"} {
		produce(t, c, "a", v)
	}
	if clean {
		stop(t, s)
	}
	cfg = config(t)
	cfg.Dir = filepath.Join(cfg.Dir, "[a]*?") // a folder may be called like a pattern
	if err := os.CopyFS(cfg.Dir, os.DirFS(live.Dir)); err != nil {
		t.Fatal(err)
	}
	return cfg, filepath.Join(cfg.Dir, "partitions", "a-0", "0.dat")
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= 0xff
		return b
	}
}

// What was acknowledged is refused as damaged, not cut off.
func TestDamageIsNotCutAway(t *testing.T) {
	firstValue, lastByte := 70, func(b []byte) []byte { return flip(len(b) - 1)(b) }
	shorter := func(b []byte) []byte { return b[:len(b)-5] }
	for _, c := range []struct {
		name   string
		clean  bool
		damage func(t *testing.T, dir, segment string)
	}{
		{"a byte in the middle after kill -9", false, func(t *testing.T, _, seg string) { edit(t, seg, flip(firstValue)) }},
		{"the length of the first batch after kill -9", false, func(t *testing.T, _, seg string) { edit(t, seg, flip(8)) }},
		{"a byte in the middle", true, func(t *testing.T, _, seg string) { edit(t, seg, flip(firstValue)) }},
		{"the last byte", true, func(t *testing.T, _, seg string) { edit(t, seg, lastByte) }},
		{"the end cut off", true, func(t *testing.T, _, seg string) { edit(t, seg, shorter) }},
		{"an empty file", true, func(t *testing.T, _, seg string) { edit(t, seg, func([]byte) []byte { return nil }) }},
		{"no file", true, func(t *testing.T, _, seg string) { remove(t, seg) }},
		{"no list of topics", true, func(t *testing.T, dir, _ string) { remove(t, filepath.Join(dir, "topics.json")) }},
		{"no list of topics after kill -9", false, func(t *testing.T, dir, _ string) { remove(t, filepath.Join(dir, "topics.json")) }},
		{"no meta.json", true, func(t *testing.T, dir, _ string) { remove(t, filepath.Join(dir, "meta.json")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, segment := stored(t, c.clean)
			c.damage(t, cfg.Dir, segment)
			before, _ := os.ReadFile(segment)
			s, err := embedded.New(cfg, embedded.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { stop(t, s) })
			if err := s.Start(t.Context()); !errors.Is(err, embedded.ErrDamaged) {
				t.Fatalf("got %v, want ErrDamaged", err)
			}
			if after, _ := os.ReadFile(segment); !bytes.Equal(before, after) {
				t.Fatalf("the file had %d bytes and has %d now", len(before), len(after))
			}
		})
	}
}

// A batch that a killed process did not finish was not acknowledged.
func TestATornTailIsCutAway(t *testing.T) {
	for _, c := range []struct {
		name   string
		clean  bool // there is a snapshot of the time before the tail
		damage func([]byte) []byte
		want   int
	}{
		{"half a batch", false, func(b []byte) []byte { return b[:len(b)-5] }, 2},
		{"half a batch after a snapshot", true, func(b []byte) []byte { return append(b, b[:40]...) }, 3},
		{"a few bytes", true, func(b []byte) []byte { return append(b, "torn"...) }, 3},
		{"nothing", false, func(b []byte) []byte { return b }, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, segment := stored(t, c.clean)
			edit(t, segment, c.damage)
			s := start(t, cfg)
			client := client(t, s.Addr(), password)
			produce(t, client, "a", "four")
			if got := values(t, client, "a"); len(got) != c.want+1 {
				t.Fatalf("got %q", got)
			}
		})
	}
}
