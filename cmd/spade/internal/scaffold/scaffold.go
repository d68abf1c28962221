package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed256f7767/spade/internal/gym"
)

//go:embed templates
var templates embed.FS

// The forms of a source.
const (
	FormFunctional = "functional"
	FormClass      = "class"
)

// ErrNone says that there is no example of what was asked for.
var ErrNone = errors.New("there is no example")

// Kinds and Forms are what Source can be asked for, in every runtime. Starlark has the functional form only.
func Kinds() []string { return []string{"reasoning", "tools", "game"} }
func Forms() []string { return []string{FormFunctional, FormClass} }

// Source returns the example of a kind in a runtime and form.
func Source(kind, runtime, form string) ([]byte, error) {
	for _, asked := range []struct {
		name, value string
		known       []string
	}{{"kind", kind, Kinds()}, {"runtime", runtime, gym.Runtimes()}, {"form", form, Forms()}} {
		if !slices.Contains(asked.known, asked.value) {
			return nil, fmt.Errorf("%w of %s %q", ErrNone, asked.name, asked.value)
		}
	}
	name := kind
	if form == FormClass {
		if runtime != gym.RuntimePython {
			return nil, fmt.Errorf("%w of a class in %s, which has none", ErrNone, runtime)
		}
		name += "_class"
	}
	return templates.ReadFile("templates/" + name + gym.Suffix(runtime))
}

// Write makes a new file. One that is there already stays as it is, and the error is fs.ErrExist.
func Write(path string, code []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: %w", path, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("make the file: %w", err)
	}
	_, err = file.Write(code)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}
