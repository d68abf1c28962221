package endpoints

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/config"
)

// ErrFolder says that the data folder cannot be used as one.
var ErrFolder = errors.New("the data folder has to be a folder that can be written")

// ErrNoFolder says that there is no data folder yet, and so nothing to read.
var ErrNoFolder = errors.New("there is no data folder")

// exists wants the data folder to be there.
func exists(l config.Loaded) error {
	path, err := filepath.Abs(l.Data)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w %s (%s)", ErrNoFolder, path, namedBy(l))
	}
	return nil
}

// namedBy says who named the data folder.
func namedBy(l config.Loaded) string {
	if from := l.Origin("data"); from != config.OriginDefault {
		return string(from)
	}
	return "the default, --data names another"
}

// orFolder is err, unless the data folder cannot be used: then it says which one that is and who named it. It looks only
// after something has failed, since nothing is asked of a folder that no service needs.
func orFolder(l config.Loaded, err error) error {
	path, failed := filepath.Abs(l.Data)
	if failed != nil {
		return err
	}
	why := unusable(path)
	if why == nil {
		return err
	}
	return fmt.Errorf("%w: %s (%s): %w", ErrFolder, path, namedBy(l), why)
}

// unusable is why a folder can neither be made nor written.
func unusable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && path != filepath.Dir(path):
		return unusable(filepath.Dir(path))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %w", path, syscall.ENOTDIR)
	}
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
