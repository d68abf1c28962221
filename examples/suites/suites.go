package suites

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed manifest.json development confirmation
var files embed.FS

// ErrManifest is the class of manifests that cannot be used.
var ErrManifest = errors.New("suite manifest")

// Task is one held-out environment.
type Task struct {
	ID          string `json:"id"`
	Category    string `json:"category"`
	File        string `json:"file"` // relative to the manifest; .star or .py
	Mechanic    string `json:"mechanic"`
	Group       string `json:"group"`       // shifted, harder or novel
	Expressible bool   `json:"expressible"` // whether the native designer's grammar can express the mechanic
	Code        string `json:"-"`           // the source text of File
}

// Suite is a named list of tasks, in manifest order.
type Suite struct {
	Name   string `json:"name"`
	Tasks  []Task `json:"tasks"`
	SHA256 string `json:"-"` // over what the manifest says of the tasks, and their sources, in order
}

// Builtin returns the suites of this folder.
func Builtin() ([]Suite, error) { return Load(files) }

// Load reads manifest.json from the root of fsys and the sources that it names.
func Load(fsys fs.FS) ([]Suite, error) {
	raw, err := fs.ReadFile(fsys, "manifest.json")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	var m struct {
		Format int     `json:"format"`
		Suites []Suite `json:"suites"`
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if m.Format != 1 {
		return nil, fmt.Errorf("%w: format %d, this build reads 1", ErrManifest, m.Format)
	}
	for i := range m.Suites {
		if err := m.Suites[i].load(fsys); err != nil {
			return nil, err
		}
	}
	return m.Suites, nil
}

func (s *Suite) load(fsys fs.FS) error {
	if s.Name == "" || strings.Contains(s.Name, "/") {
		return fmt.Errorf("%w: suite name %q is empty or has a slash", ErrManifest, s.Name)
	}
	h := sha256.New()
	seen := map[string]bool{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.ID == "" || seen[t.ID] {
			return fmt.Errorf("%w: suite %s: task id %q is empty or repeated", ErrManifest, s.Name, t.ID)
		}
		seen[t.ID] = true
		if t.Group != "shifted" && t.Group != "harder" && t.Group != "novel" {
			return fmt.Errorf("%w: suite %s: task %s: group %q", ErrManifest, s.Name, t.ID, t.Group)
		}
		code, err := fs.ReadFile(fsys, path.Clean(t.File))
		if err != nil {
			return fmt.Errorf("%w: suite %s: task %s: %w", ErrManifest, s.Name, t.ID, err)
		}
		t.Code = string(code)
		// What a report tells of a task belongs to the suite as much as what is played.
		for _, part := range []string{t.ID, t.Category, t.Mechanic, t.Group, strconv.FormatBool(t.Expressible), path.Ext(t.File), t.Code} {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
	}
	s.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}
