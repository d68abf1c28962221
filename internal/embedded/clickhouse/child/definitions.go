package child

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A full disk leaves definitions of tables, views and databases empty, and the engine does not open a folder that holds one.
// Where the statement was to make something, there is nothing yet: it was answered as failed and is given again. Where it was
// to alter something, the definition before it is put back, of which a copy is kept at every start. Without the copy the data
// would be nobody's, and an empty table would be made in its place: then the folder is refused.

// errNoDefinition: data is there that no definition names any more.
var errNoDefinition = errors.New("data has lost its definition")

// definitions are the files that tell the engine what its folder holds, and the copies of them.
type definitions struct{ data, copies string }

// newDefinitions are those of a data folder.
func newDefinitions(l layout) definitions {
	return definitions{data: l.data, copies: filepath.Join(filepath.Dir(l.data), "definitions")}
}

// mended is what became of empty definitions.
type mended struct{ restored, dropped []string }

// definitionsIn are the names of definitions below a folder.
func definitionsIn(dir string) ([]string, error) {
	var all []string
	for _, pattern := range []string{"metadata/*.sql", "store/*/*/*.sql"} {
		names, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, fmt.Errorf("look for definitions: %w", err)
		}
		all = append(all, names...)
	}
	return all, nil
}

// mend restores empty definitions, or drops those of what was never made.
func (d definitions) mend() (m mended, err error) {
	names, err := definitionsIn(d.data)
	if err != nil {
		return m, err
	}
	var empty []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(d.data, filepath.FromSlash(name)))
		if err != nil {
			return m, fmt.Errorf("look at a definition: %w", err)
		}
		if info.Size() == 0 {
			empty = append(empty, name)
		}
	}
	if len(empty) == 0 {
		return m, nil
	}
	orphans, err := d.orphans()
	if err != nil {
		return m, err
	}
	for _, name := range empty {
		kept, err := os.ReadFile(filepath.Join(d.copies, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("read the copy of a definition: %w", err)
		}
		id := idOf(kept)
		if !orphans[id] && !bytes.HasPrefix(kept, []byte("ATTACH VIEW ")) { // a view has no data
			m.dropped = append(m.dropped, name)
			continue
		}
		if err := replace(filepath.Join(d.data, filepath.FromSlash(name)), kept); err != nil {
			return m, fmt.Errorf("restore a definition: %w", err)
		}
		delete(orphans, id)
		m.restored = append(m.restored, name)
	}
	return m, d.drop(m.dropped, orphans)
}

// drop removes empty definitions, unless one of them may be that of data which nobody names.
func (d definitions) drop(names []string, orphans map[string]bool) error {
	if len(names) > 0 && len(orphans) > 0 {
		return fmt.Errorf("%w: %s is empty, as a full disk leaves it, and %s is nobody's",
			errNoDefinition, strings.Join(names, ", "), strings.Join(slices.Sorted(maps.Keys(orphans)), ", "))
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(d.data, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("drop an empty definition: %w", err)
		}
	}
	return nil
}

// orphans are the folders of data that no definition names, by their ids; those of dropped tables have one.
func (d definitions) orphans() (map[string]bool, error) {
	names, err := definitionsIn(d.data)
	if err != nil {
		return nil, err
	}
	gone, err := fs.Glob(os.DirFS(d.data), "metadata_dropped/*.sql")
	if err != nil {
		return nil, fmt.Errorf("look for definitions: %w", err)
	}
	named := map[string]bool{}
	for _, name := range append(names, gone...) {
		text, err := os.ReadFile(filepath.Join(d.data, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
		named[idOf(text)] = true
	}
	held, err := fs.Glob(os.DirFS(d.data), "store/*/*/*")
	if err != nil {
		return nil, fmt.Errorf("look for data: %w", err)
	}
	orphans := map[string]bool{}
	for _, name := range held {
		id := path.Base(path.Dir(name))
		if named[id] || slices.Contains([]string{"detached", "deduplication_logs"}, path.Base(name)) || strings.HasPrefix(path.Base(name), "tmp_") {
			continue
		}
		// A table's data are folders, a database's are the definitions of its tables.
		info, err := os.Stat(filepath.Join(d.data, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("look at data: %w", err)
		}
		if info.IsDir() || strings.HasSuffix(name, ".sql") && info.Size() > 0 {
			orphans[id] = true
		}
	}
	return orphans, nil
}

// keep copies the definitions that the engine has opened.
func (d definitions) keep() error {
	names, err := definitionsIn(d.data)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
		text, err := os.ReadFile(filepath.Join(d.data, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("read a definition: %w", err)
		}
		to := filepath.Join(d.copies, filepath.FromSlash(name))
		if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, text) || len(text) == 0 {
			continue
		}
		if err := replace(to, text); err != nil {
			return fmt.Errorf("copy a definition: %w", err)
		}
	}
	copied, err := definitionsIn(d.copies)
	if err != nil {
		return err
	}
	for _, name := range copied {
		if there[name] {
			continue
		}
		if err := os.Remove(filepath.Join(d.copies, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("forget a definition: %w", err)
		}
	}
	return nil
}

var definitionID = regexp.MustCompile(`^ATTACH [A-Z ]+ \S+ UUID '([0-9a-f-]{36})'`)

// idOf is the id of what a definition defines, which its data's folder is called by; "" where it has none.
func idOf(definition []byte) string {
	if m := definitionID.FindSubmatch(definition); m != nil {
		return string(m[1])
	}
	return ""
}

// replace writes a file whole or not at all.
func replace(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
