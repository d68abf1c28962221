package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is what every system takes: 104 bytes on macOS, with the NUL.
const maxSocketPath = 100

// Listen opens the socket of a data folder, in the folder itself where the path
// is short enough and the file system knows sockets, else under the temporary
// folder. The caller holds the folder's lock, so an old socket is a dead one.
func Listen(folder string) (*net.UnixListener, error) {
	inside := filepath.Join(folder, "spade.sock")
	var first error
	if len(inside) <= maxSocketPath {
		ln, err := listenAt(inside)
		if err == nil {
			return ln, nil
		}
		first = err
	}
	short, err := shortPath(folder)
	if err != nil {
		return nil, errors.Join(first, err)
	}
	ln, err := listenAt(short)
	if err != nil {
		return nil, errors.Join(first, err)
	}
	return ln, nil
}

func listenAt(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen on socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect socket: %w", err), ln.Close())
	}
	return ln, nil
}

// shortPath is a socket path in a private folder of this user under the
// temporary folder, named after the data folder.
func shortPath(folder string) (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("spade-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("create socket folder: %w", err)
	}
	// Anyone may create a folder of that name there before us.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("check socket folder: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("socket folder %s is not a private folder of this user: remove it", dir)
	}
	sum := sha256.Sum256([]byte(folder))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8])+".sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("socket path %s is too long: set TMPDIR to a shorter folder", path)
	}
	return path, nil
}
