package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
)

const (
	catalogueName   = "catalogue.json"
	catalogueFormat = 1
)

// catalogue is the file that says what the folder holds.
type catalogue struct {
	Format      int               `json:"format"`
	NextFolder  int               `json:"next_folder"`
	Collections []collectionEntry `json:"collections"`
	Aliases     map[string]string `json:"aliases"` // alias → collection
}

type collectionEntry struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`
	// Config is the collection's qdrant.CollectionConfig, marshalled.
	Config []byte `json:"config"`
	// Indexes maps each indexed key to its qdrant.FieldType number.
	Indexes map[string]int32 `json:"indexes"`
}

// FormatError reports a folder written by another version of the program.
type FormatError struct {
	Path        string
	Found, Want int
}

// Error implements error.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d, this program reads format %d", e.Path, e.Found, e.Want)
}

func readCatalogue(dir string) (catalogue, error) {
	path := filepath.Join(dir, catalogueName)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return catalogue{Format: catalogueFormat, NextFolder: 1, Aliases: map[string]string{}}, nil
	}
	if err != nil {
		return catalogue{}, fmt.Errorf("read catalogue: %w", err)
	}
	var c catalogue
	if err := json.Unmarshal(data, &c); err != nil {
		return catalogue{}, fmt.Errorf("read catalogue %s: %w", path, err)
	}
	if c.Format != catalogueFormat {
		return catalogue{}, &FormatError{Path: path, Found: c.Format, Want: catalogueFormat}
	}
	if c.Aliases == nil {
		c.Aliases = map[string]string{}
	}
	return c, nil
}

func writeCatalogue(dir string, c catalogue) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	path := filepath.Join(dir, catalogueName)
	if err := writeDurably(path+".new", data); err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	return oplog.SyncDir(dir)
}

func writeDurably(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
