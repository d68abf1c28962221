package child

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// dropEmptyDefinitions removes definitions of tables, views and databases that a full disk left empty: the engine does not
// open a folder that holds one. The statement that made it was answered as failed, so that it is given again.
func dropEmptyDefinitions(data string) (dropped []string, err error) {
	for _, pattern := range []string{"metadata/*.sql", "store/*/*/*.sql"} {
		names, err := fs.Glob(os.DirFS(data), pattern)
		if err != nil {
			return dropped, fmt.Errorf("look for definitions: %w", err)
		}
		for _, name := range names {
			path := filepath.Join(data, filepath.FromSlash(name))
			info, err := os.Stat(path)
			if err != nil {
				return dropped, fmt.Errorf("look at a definition: %w", err)
			}
			if info.Size() > 0 {
				continue
			}
			if err := os.Remove(path); err != nil {
				return dropped, fmt.Errorf("drop an empty definition: %w", err)
			}
			dropped = append(dropped, name)
		}
	}
	return dropped, nil
}
