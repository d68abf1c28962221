package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func folder(t *testing.T) Folder {
	t.Helper()
	f, err := At(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func prepared(t *testing.T) Folder {
	t.Helper()
	f := folder(t)
	if err := f.Prepare(); err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, f Folder, name, content string) {
	t.Helper()
	if err := os.WriteFile(f.Sub(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFreshFolderIsPrivateAndKeepsItsSecrets(t *testing.T) {
	f := prepared(t)
	one, err := f.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Prepare(); err != nil {
		t.Fatal(err)
	}
	two, err := f.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, s := range []string{one.Kafka.Reveal(), one.ClickHouse.Reveal(), one.Reader.Reveal(), one.Qdrant.Reveal()} {
		if len(s) < 20 {
			t.Errorf("a secret of %d characters", len(s))
		}
		all[s] = true
	}
	if len(all) != 4 || two.Kafka.Reveal() != one.Kafka.Reveal() {
		t.Error("the secrets are not four, or changed")
	}
	for path, want := range map[string]os.FileMode{f.Path(): 0o700, f.Sub(secretsFile): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", one, one, one), one.Kafka.Reveal()) {
		t.Error("a secret was printed")
	}
}

func TestFoldersThatCannotBeReadAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		setup func(Folder)
		want  error
		says  string
	}{
		"newer format":        {func(f Folder) { put(t, f, formatFile, `{"format": 2}`) }, ErrFormat, "format 2"},
		"cut format file":     {func(f Folder) { put(t, f, formatFile, `{"for`) }, ErrHalfWritten, formatFile},
		"data without format": {func(f Folder) { must(t, os.Mkdir(f.Sub(Kafka), 0o700)) }, ErrHalfWritten, "move the folder away"},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			must(t, os.MkdirAll(f.Path(), 0o700))
			tc.setup(f)
			err := f.Prepare()
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("got %v", err)
			}
		})
	}
	f := prepared(t)
	for _, cut := range []string{`{"kafka": "x"}`, `{"kafka": "x`, `{"kafka": 1}`, "", "\x00\x00"} {
		put(t, f, secretsFile, cut)
		_, err := f.Secrets()
		if !errors.Is(err, ErrHalfWritten) || !strings.Contains(err.Error(), secretsFile) || !strings.Contains(err.Error(), "remove that file") {
			t.Errorf("secrets that are cut to %q: %v", cut, err)
		}
	}
	put(t, f, addressesFile, `{"kafka`)
	if got := f.Addresses(); len(got) != 0 {
		t.Errorf("addresses that are cut: %v", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileOfTheUsersIsNoObstacle(t *testing.T) {
	f := folder(t)
	must(t, os.MkdirAll(f.Path(), 0o700))
	put(t, f, "config.yaml", "")
	must(t, f.Prepare())
}

// Two clients may begin a folder at once: one that has read no format may find
// that the other one's services run.
func TestAFolderThatAnotherClientBegins(t *testing.T) {
	f := prepared(t)
	must(t, os.Mkdir(f.Sub(Kafka), 0o700))
	must(t, f.initialise())
	put(t, f, formatFile, `{"format": 2}`)
	if err := f.initialise(); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
}

func TestTheLockHasOneHolder(t *testing.T) {
	f := prepared(t)
	l, err := f.Lock()
	must(t, err)
	_, err = f.Lock()
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v", err)
	}
	must(t, l.Release())
	again, err := f.Lock()
	must(t, err)
	must(t, again.Release())
}

func TestLogsDoNotGrowPastTheirBound(t *testing.T) {
	f := prepared(t)
	l, err := f.OpenLog("x.log")
	must(t, err)
	l.limit = 1000
	for i := range 100 {
		if _, err := fmt.Fprintf(l, "%099d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	must(t, l.Close())
	var all string
	for _, name := range []string{"x.log.1", "x.log"} {
		b, err := os.ReadFile(filepath.Join(f.Logs(), name))
		must(t, err)
		if len(b) > 1000 {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		all += string(b)
	}
	if !strings.HasSuffix(all, "99\n") {
		t.Error("the newest line is gone")
	}
}

func TestLinksNameTheSameFolder(t *testing.T) {
	f := prepared(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(f.Path(), link))
	other, err := At(link)
	must(t, err)
	real, err := filepath.EvalSymlinks(f.Path())
	must(t, err)
	if other.Path() != real {
		t.Errorf("%s is not %s", other.Path(), real)
	}
}
