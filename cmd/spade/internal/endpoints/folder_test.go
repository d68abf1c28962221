package endpoints

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

func TestAFileIsNoDataFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "below")} {
		l := config.Loaded{Config: config.NewDefaultConfig()}
		l.Data = data
		_, err := Open(t.Context(), l, Settings{Purpose: "test", Command: []string{"false"}})
		if !errors.Is(err, ErrFolder) || !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), data) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestAFolderThatCanBeMadeIsNotTheReason(t *testing.T) {
	l := config.Loaded{Config: config.NewDefaultConfig()}
	l.Data = filepath.Join(t.TempDir(), "a", "b")
	other := errors.New("another reason")
	if err := orFolder(l, other); !errors.Is(err, other) || errors.Is(err, ErrFolder) {
		t.Error(err)
	}
}

func TestAFolderWithoutRightsIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err := unusable(filepath.Join(dir, "below"))
	if root := os.Geteuid() == 0; root != (err == nil) { // root may write everywhere
		t.Error(err)
	}
}
