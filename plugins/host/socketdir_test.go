package host

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Hosts that start at once look for what killed ones left, while the others make their folders.
func TestHostsThatStartAtOnceKeepTheirFolders(t *testing.T) {
	base, err := os.MkdirTemp("", "spade-") // a test's own folder has too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(base) }()
	var hosts sync.WaitGroup
	for range 16 {
		hosts.Go(func() {
			for range 50 {
				d, err := makeSocketDir(base)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.path, "socket"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	hosts.Wait()
}
