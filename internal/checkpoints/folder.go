package checkpoints

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folder is a store in a folder, which several machines may share.
type Folder struct{ dir string }

var _ Store = (*Folder)(nil)

func openFolder(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	f := &Folder{dir: dir}
	f.sweep()
	return f, nil
}

// abandoned is the age at which a state that was being written is nobody's any more.
const abandoned = 24 * time.Hour

// sweep removes what killed processes were writing. What cannot be removed stays until the next time.
func (f *Folder) sweep() {
	names, err := fs.Glob(os.DirFS(f.dir), ".*-*")
	if err != nil {
		return
	}
	for _, name := range names {
		sum, err := hex.DecodeString(name[1:strings.IndexByte(name, '-')])
		if err != nil || len(sum) != sha256.Size {
			continue // not ours
		}
		path := filepath.Join(f.dir, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(path)
		}
	}
}

// Save implements Store.
func (f *Folder) Save(ctx context.Context, sum [sha256.Size]byte, state []byte) (uri string, err error) {
	path := f.path(sum[:])
	if _, err := f.Load(ctx, sum[:], int64(len(state))); err == nil {
		return "file://" + path, nil
	}
	// Written beside its place and renamed: a reader never sees half of it.
	tmp, err := os.CreateTemp(f.dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", fmt.Errorf("save checkpoint: %w", err)
	}
	_, err = tmp.Write(state)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("save checkpoint: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	if err := syncDir(f.dir); err != nil {
		return "", fmt.Errorf("save checkpoint: %w", err)
	}
	return "file://" + path, nil
}

// syncDir makes a renamed file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load implements Store.
func (f *Folder) Load(_ context.Context, sum []byte, size int64) ([]byte, error) {
	path := f.path(sum)
	state, err := readSized(path, size)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrMissing, path)
	}
	if err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	if got := sha256.Sum256(state); hex.EncodeToString(got[:]) != hex.EncodeToString(sum) {
		return nil, fmt.Errorf("%w: %s", ErrCorrupt, path)
	}
	return state, nil
}

// readSized reads a file of that size.
func readSized(path string, size int64) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, fmt.Errorf("%w: %s has %d bytes, not %d", ErrCorrupt, path, info.Size(), size)
	}
	data = make([]byte, size)
	_, err = io.ReadFull(file, data)
	return data, err
}

func (f *Folder) path(sum []byte) string { return filepath.Join(f.dir, hex.EncodeToString(sum)) }
