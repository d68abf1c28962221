//go:build linux

package chaos

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func smallDisk(w *world) string {
	switch {
	case !w.servers.ownKafka && !w.servers.ownClickHouse:
		return "no server keeps its data here"
	case !w.tmpfs:
		return "a small file system cannot be mounted here"
	}
	return ""
}

// fillDisk takes what room is left where the embedded servers keep their data, for some seconds.
func fillDisk(w *world) {
	name := filepath.Join(w.data, "ballast")
	f, err := os.Create(name)
	if err != nil {
		w.problem("ballast: %v", err)
		return
	}
	n, err := io.Copy(f, zeros{})
	if !errors.Is(err, syscall.ENOSPC) {
		w.problem("the disk does not fill: %v", err)
	}
	w.log.add("the disk is full, %d MiB are ballast", n>>20)
	time.Sleep(w.between(2*time.Second, 8*time.Second))
	if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
		w.problem("ballast: %v", err)
	}
	w.log.add("the disk has room again")
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
