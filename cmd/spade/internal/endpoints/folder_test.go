package endpoints

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
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

func TestOneThatOnlyReadsMakesNoFolder(t *testing.T) {
	l, err := config.Load(config.Sources{Environ: []string{"SPADE_DATA=" + filepath.Join(t.TempDir(), "mistyped")}})
	if err != nil {
		t.Fatal(err)
	}
	only := []embedded.Service{embedded.Kafka}
	_, err = Open(t.Context(), l, Settings{Purpose: "test", Services: only, Existing: true})
	if !errors.Is(err, ErrNoFolder) || !strings.Contains(err.Error(), l.Data) {
		t.Error(err)
	}
	if _, err := os.Stat(l.Data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	l.Kafka.Brokers = []string{"127.0.0.1:1"} // somebody else's log needs no folder
	s, err := Open(t.Context(), l, Settings{Purpose: "test", Services: only, Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A worker that is started in a wrong place begins services of its own there, and would wait at them without a word.
func TestANewFolderIsToldOf(t *testing.T) {
	l := config.Loaded{Config: config.NewDefaultConfig()}
	l.Data = filepath.Join(t.TempDir(), "wrong")
	var told strings.Builder
	s, err := Open(t.Context(), l, Settings{
		Purpose: "test", Services: []embedded.Service{embedded.Kafka}, Command: []string{"false"}, Logger: slog.New(slog.NewTextHandler(&told, nil)),
	})
	if err == nil {
		err = s.Close()
	}
	if !strings.Contains(told.String(), l.Data) || !strings.Contains(told.String(), "new data folder") {
		t.Errorf("told %q, and %v", told.String(), err)
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
