package checkpoints

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	return &Folder{dir: dir}, nil
}

// Save implements Store.
func (f *Folder) Save(ctx context.Context, sum [sha256.Size]byte, state []byte) (uri string, err error) {
	path := f.path(sum[:])
	if _, err := f.Load(ctx, sum[:]); err == nil {
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
func (f *Folder) Load(_ context.Context, sum []byte) ([]byte, error) {
	path := f.path(sum)
	state, err := os.ReadFile(path)
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

func (f *Folder) path(sum []byte) string { return filepath.Join(f.dir, hex.EncodeToString(sum)) }
