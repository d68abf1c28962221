//go:build unix

package chdblib

import (
	"context"
	"fmt"
	"io"

	"github.com/seed256f7767/spade/internal/installing"
)

// lock takes the file lock at path, waiting for another installer.
func lock(ctx context.Context, path string, progress io.Writer) (unlock func(), err error) {
	return installing.Lock(ctx, path, func() {
		_, _ = fmt.Fprintln(progress, "another process is installing the ClickHouse engine: waiting for it")
	})
}

// checkSpace fails with ErrDiskFull when the file system of dir has less than need bytes free. Where the file system does
// not say, npm will find out.
func checkSpace(dir string, need int64) error {
	if free, known := installing.FreeBytes(dir); known && free < need {
		return fmt.Errorf("%w: the ClickHouse engine needs %d MB in %s, which has %d MB free (set SPADE_CACHE to another folder)",
			ErrDiskFull, need>>20, dir, free>>20)
	}
	return nil
}
