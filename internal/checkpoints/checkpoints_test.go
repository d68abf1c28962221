package checkpoints

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAStateIsFoundUnderItsContent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	state := []byte("a state")
	sum := sha256.Sum256(state)
	if _, err := f.Load(t.Context(), sum[:]); !errors.Is(err, ErrMissing) {
		t.Errorf("before it was saved: %v", err)
	}
	for range 2 {
		if _, err := f.Save(t.Context(), sum, state); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.Load(t.Context(), sum[:]); err != nil || !bytes.Equal(got, state) {
		t.Errorf("got %q, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestADamagedStateIsNotedAndMended(t *testing.T) {
	f, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := []byte("a state")
	sum := sha256.Sum256(state)
	if err := os.WriteFile(f.path(sum[:]), state[:3], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(t.Context(), sum[:]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	if _, err := f.Save(t.Context(), sum, state); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(t.Context(), sum[:]); err != nil {
		t.Error(err)
	}
}

func TestLocationsThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, location := range []string{"", "s3://bucket/path", file} {
		if _, err := Open(location); !errors.Is(err, ErrLocation) {
			t.Errorf("%q: error %v", location, err)
		}
	}
}
