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
	from := string(l.Origin("data"))
	if l.Origin("data") == config.OriginDefault {
		from = "the default, --data names another"
	}
	return fmt.Errorf("%w: %s (%s): %w", ErrFolder, path, from, why)
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
