package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes bounds a configuration file; a larger one is surely another file.
const maxFileBytes = 1 << 20

// entry is one setting as a layer gives it.
type entry struct {
	text  string
	where string // "spade.yaml:3"
	key   string // as it was written
}

// readFile reads a YAML file into settings by key. An absent file is no error unless it was asked for.
func readFile(path string, asked bool, known map[string]Field) (map[string]entry, []error) {
	body, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("read configuration: %w", err)}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		return nil, []error{&Problem{Where: filepath.Base(path), What: text, class: ErrInvalid}}
	}
	f := fileReader{name: filepath.Base(path), known: known, found: map[string]entry{}}
	if len(doc.Content) > 0 {
		f.mapping(doc.Content[0], "")
	}
	return f.found, f.problems
}

func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, info.Size(), maxFileBytes)
	}
	return os.ReadFile(path)
}

// fileReader walks a YAML document.
type fileReader struct {
	name     string
	known    map[string]Field
	found    map[string]entry
	problems []error
}

func (f *fileReader) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", f.name, n.Line) }

func (f *fileReader) fail(n *yaml.Node, key, format string, args ...any) {
	f.problems = append(f.problems, &Problem{
		Where: f.at(n), Key: key, What: fmt.Sprintf(format, args...), class: ErrInvalid,
	})
}

func (f *fileReader) mapping(n *yaml.Node, prefix string) {
	section := strings.TrimSuffix(prefix, ".")
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.fail(n, section, "must hold settings, one a line as \"name: value\"")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f.pair(n.Content[i], n.Content[i+1], prefix)
	}
}

func (f *fileReader) pair(name, value *yaml.Node, prefix string) {
	key := prefix + name.Value
	field, ok := f.known[key]
	switch {
	case ok:
		if _, twice := f.found[key]; twice {
			f.fail(name, key, "is set twice")
			return
		}
		if text, err := scalarText(value, field.kind); err != nil {
			f.fail(value, key, "%v", err)
		} else {
			f.found[key] = entry{text: text, where: f.at(name), key: key}
		}
	case f.isSection(key):
		f.mapping(value, key+".")
	default:
		f.problems = append(f.problems, unknown(f.at(name), key, keysOf(f.known)))
	}
}

func (f *fileReader) isSection(key string) bool {
	for k := range f.known {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

// scalarText is a YAML value as a variable would give it. A list may be a YAML list; a JSON object may be a mapping.
func scalarText(n *yaml.Node, k kind) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return "", errors.New("has no value; leave the line out for the default")
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	case n.Kind == yaml.SequenceNode && k == kindList:
		return listText(n)
	case n.Kind == yaml.MappingNode && k == kindJSON:
		return objectText(n)
	default:
		return "", fmt.Errorf("must be a %s", k)
	}
}

func listText(n *yaml.Node) (string, error) {
	items := make([]string, len(n.Content))
	for i, c := range n.Content {
		if c.Kind != yaml.ScalarNode || strings.Contains(c.Value, ",") {
			return "", fmt.Errorf("item %d must be a text without commas", i+1)
		}
		items[i] = c.Value
	}
	return strings.Join(items, ","), nil
}
