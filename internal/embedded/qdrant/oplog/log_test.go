package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func open(t *testing.T, path string) (*Log, [][]byte, string) {
	t.Helper()
	var warned bytes.Buffer
	var got [][]byte
	l, err := Open(path, slog.New(slog.NewTextHandler(&warned, nil)), func(_ int64, body []byte) error {
		got = append(got, bytes.Clone(body))
		return nil
	})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return l, got, warned.String()
}

func bodies(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = []byte(fmt.Sprintf("record %d %s", i, strings.Repeat("x", i*7)))
	}
	return out
}

func write(t *testing.T, path string, all [][]byte) {
	t.Helper()
	l, _, _ := open(t, path)
	for _, b := range all {
		at, err := l.Append(b)
		if err != nil {
			t.Fatalf("append: %v", err)
		}
		back := make([]byte, len(b))
		if _, err := l.ReadAt(back, at); err != nil || !bytes.Equal(back, b) {
			t.Fatalf("read back %q, %v", back, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// A crash can cut the file at any byte: the whole records before the cut stay,
// and the log goes on from there.
func TestEveryCutKeepsTheWholeRecordsBeforeIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	all := bodies(6)
	write(t, path, all)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int{len(magic)}
	for _, b := range all {
		ends = append(ends, ends[len(ends)-1]+headerSize+len(b))
	}
	for cut := 0; cut <= len(whole); cut++ {
		p := filepath.Join(dir, "cut")
		if err := os.WriteFile(p, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for want < len(all) && ends[want+1] <= cut {
			want++
		}
		l, got, warned := open(t, p)
		if len(got) != want {
			t.Fatalf("cut at %d: %d records, want %d", cut, len(got), want)
		}
		clean := cut == 0 || (cut >= len(magic) && cut == ends[want])
		if (warned == "") != clean {
			t.Fatalf("cut at %d: warning %q", cut, warned)
		}
		if _, err := l.Append([]byte("after")); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, got, _ = open(t, p)
		if len(got) != want+1 || string(got[want]) != "after" {
			t.Fatalf("cut at %d: reopened with %d records", cut, len(got))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamageBeforeTheEndIsRefusedAndLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		at     int
		reason string
	}{
		"magic":           {2, "does not begin"},
		"length":          {len(magic) + 1, "header fails"},
		"header checksum": {len(magic) + 9, "header fails"},
		"body":            {len(magic) + headerSize + 3, "body fails"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			write(t, path, bodies(3))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[c.at] ^= 0x40
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Open(path, slog.New(slog.DiscardHandler), func(int64, []byte) error { return nil })
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(damaged.Reason, c.reason) {
				t.Fatalf("got %v", err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, data) {
				t.Fatal("the damaged file was changed")
			}
		})
	}
}

// A machine that loses power can leave a tail of zeros, or a last record whose
// bytes are not all there.
func TestTailsOfALostMachineAreCut(t *testing.T) {
	for name, tail := range map[string]func([]byte) []byte{
		"zeros":             func(b []byte) []byte { return append(b, make([]byte, 5000)...) },
		"last body garbled": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			write(t, path, bodies(3))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tail(data), 0o600); err != nil {
				t.Fatal(err)
			}
			l, got, warned := open(t, path)
			if len(got) < 2 || warned == "" {
				t.Fatalf("%d records, warning %q", len(got), warned)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestRewriteReplacesInOneStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, bodies(5))
	l, err := Rewrite(path, func(add func([]byte) (int64, error)) error {
		_, err := add([]byte("only"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("next")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, got, _ := open(t, path)
	if len(got) != 2 || string(got[0]) != "only" || string(got[1]) != "next" {
		t.Fatalf("got %q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if _, err := Rewrite(path, func(func([]byte) (int64, error)) error { return boom }); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	l, got, _ = open(t, path)
	if len(got) != 2 {
		t.Fatalf("a failed rewrite changed the log: %q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAppendToAClosedFileLeavesTheLogUnusable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _, _ := open(t, path)
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("x")); err == nil {
		t.Fatal("append succeeded")
	}
	if _, err := l.Append([]byte("x")); !errors.Is(err, ErrUnusable) {
		t.Fatalf("second append: %v", err)
	}
	if err := l.Sync(); !errors.Is(err, ErrUnusable) {
		t.Fatalf("sync: %v", err)
	}
}

// A full disk is named as such, and what was half written is gone.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no /dev/full on this system: %v", err)
	}
	l := &Log{path: "/dev/full", file: full}
	if _, err := l.Append([]byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if l.Size() != 0 {
		t.Errorf("%d bytes counted", l.Size())
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzScan: no input may panic, allocate without bound, or be reported sound
// beyond the bytes that are there.
func FuzzScan(f *testing.F) {
	f.Add([]byte(magic))
	f.Add([]byte("SPADEQD1\x00\x00\x00\x00"))
	h := make([]byte, headerSize)
	putHeader(h, []byte("abc"))
	f.Add(append(append([]byte(magic), h...), "abc"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var total int64
		good, err := scan(bytes.NewReader(data), int64(len(data)), func(at int64, body []byte) error {
			if !bytes.Equal(data[at:at+int64(len(body))], body) {
				t.Fatal("offset does not point at the body")
			}
			total += headerSize + int64(len(body))
			return nil
		})
		if good > int64(len(data)) || (good > 0 && good != total+int64(len(magic))) {
			t.Fatalf("good %d of %d, %d in records, %v", good, len(data), total, err)
		}
		if err == nil && good != int64(len(data)) {
			t.Fatalf("no error but %d of %d read", good, len(data))
		}
	})
}
