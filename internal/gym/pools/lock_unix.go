//go:build unix

package pools

import (
	"context"
	"fmt"
	"io"

	"github.com/seed256f7767/spade/internal/installing"
)

// lockFile takes the file lock at path, waiting for another installer.
func lockFile(ctx context.Context, path string, progress io.Writer) (unlock func(), err error) {
	return installing.Lock(ctx, path, func() {
		_, _ = fmt.Fprintln(progress, "another process is installing it: waiting")
	})
}

// checkSpace fails with ErrDiskFull when the file system of dir has no room for the set, what is fetched and the
// virtual environment that installs it. Where the file system does not say, pip will find out.
func checkSpace(dir string, s set) error {
	need := int64(s.fetched+s.installed+50) << 20
	if free, known := installing.FreeBytes(dir); known && free < need {
		return fmt.Errorf("%w: %s needs %d MB in %s, which has %d MB free (set SPADE_CACHE to another folder)",
			ErrDiskFull, s.name, need>>20, dir, free>>20)
	}
	return nil
}
