package checkpoints

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a store under test, and how a test gets at what it holds behind its back.
type place struct {
	Store
	damage func(t *testing.T, sum [sha256.Size]byte, content []byte)
	names  func(t *testing.T) []string
}

// places are the stores that every test of the contract runs on.
func places(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) place{"folder": folderPlace, "bucket": bucketPlace} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func folderPlace(t *testing.T) place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s, err := Open(dir, S3{})
	if err != nil {
		t.Fatal(err)
	}
	f := s.(*Folder)
	return place{s, func(t *testing.T, sum [sha256.Size]byte, content []byte) {
		t.Helper()
		if err := os.WriteFile(f.path(sum[:]), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T) []string {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}}
}

// randomState is bytes that no two parts of are alike.
func randomState(n int) (state []byte, sum [sha256.Size]byte) {
	state = make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(state)
	return state, sha256.Sum256(state)
}

func TestAStateIsFoundUnderItsContent(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		for _, size := range []int{1, 7, 1 << 10, partBytes - 1, partBytes, 2*partBytes + 3} {
			state, sum := randomState(size)
			if _, err := p.Load(t.Context(), sum[:], int64(len(state))); !errors.Is(err, ErrMissing) {
				t.Errorf("%d bytes: before it was saved: %v", size, err)
			}
			before, err := p.Save(t.Context(), sum, state)
			if err != nil {
				t.Fatal(err)
			}
			if after, err := p.Save(t.Context(), sum, state); err != nil || after != before {
				t.Errorf("%d bytes: again: %s, %v", size, after, err)
			}
			if got, err := p.Load(t.Context(), sum[:], int64(len(state))); err != nil || !bytes.Equal(got, state) {
				t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
			}
		}
		if names := p.names(t); len(names) != 6 {
			t.Errorf("the store holds %v", names)
		}
	})
}

func TestADamagedStateIsNotedAndMended(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		state, sum := randomState(1000)
		other, _ := randomState(999)
		for name, content := range map[string][]byte{"cut": state[:3], "empty": nil, "another of its size": append(other, 1), "longer": append(other, 1, 2)} {
			p.damage(t, sum, content)
			if _, err := p.Load(t.Context(), sum[:], int64(len(state))); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: error %v", name, err)
			}
			if _, err := p.Save(t.Context(), sum, state); err != nil {
				t.Fatal(err)
			}
			if got, err := p.Load(t.Context(), sum[:], int64(len(state))); err != nil || !bytes.Equal(got, state) {
				t.Errorf("%s: after it was saved again: %v", name, err)
			}
		}
	})
}

func TestManySaveAndLoadAtOnce(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		state, sum := randomState(100_000)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := p.Save(t.Context(), sum, state); err != nil {
					t.Error(err)
				}
				if got, err := p.Load(t.Context(), sum[:], int64(len(state))); err != nil || !bytes.Equal(got, state) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if names := p.names(t); len(names) != 1 {
			t.Errorf("the store holds %v", names)
		}
	})
}

func TestACancelledCallEnds(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		state, sum := randomState(10)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, isFolder := p.Store.(*Folder); isFolder {
			return // one write: there is nothing to wait for
		}
		if _, err := p.Save(ctx, sum, state); !errors.Is(err, context.Canceled) {
			t.Errorf("save: %v", err)
		}
		if _, err := p.Load(ctx, sum[:], int64(len(state))); !errors.Is(err, context.Canceled) {
			t.Errorf("load: %v", err)
		}
	})
}

func TestLocationsThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, location := range []string{
		"", file, "gs://bucket/path", "s3://", "s3:///prefix", "s3://me:hunter2@bucket/p", "s3://bucket/p?key=hunter2", "https://me:hunter2@bucket",
	} {
		if _, err := Open(location, S3{}); !errors.Is(err, ErrLocation) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", location, err)
		}
	}
}
