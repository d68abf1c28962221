package child

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestEmptyDefinitionsAreDropped(t *testing.T) {
	data := t.TempDir()
	files := map[string]string{
		"metadata/spade.sql": "ATTACH DATABASE", "metadata/half.sql": "", "store/abc/abcd/steps.sql": "ATTACH TABLE", "store/abc/abcd/runs.sql": "",
		"store/abc/abcd/all_1_1_0/data.bin": "",
	}
	for name, text := range files {
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"metadata/half.sql", "store/abc/abcd/runs.sql"}
	if got, err := dropEmptyDefinitions(data); err != nil || !slices.Equal(got, want) {
		t.Errorf("dropped %v, want %v; %v", got, want, err)
	}
	for name := range files {
		_, err := os.Stat(filepath.Join(data, name))
		if gone := os.IsNotExist(err); gone != slices.Contains(want, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
