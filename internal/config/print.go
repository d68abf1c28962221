package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the configuration as a file that Load would read, each line with the value's origin. Secrets are
// masked, so a line that holds one is a comment.
func (l Loaded) WriteYAML(w io.Writer) error {
	var lines []yamlLine
	var open []string
	for _, f := range Fields() {
		path := strings.Split(f.Key, ".")
		sections := path[:len(path)-1]
		for i, s := range sections {
			if i >= len(open) || open[i] != s {
				lines = append(lines, yamlLine{text: strings.Repeat("  ", i) + s + ":"})
				open = open[:min(i, len(open))]
				open = append(open, s)
			}
		}
		open = open[:len(sections)]
		text, err := f.yaml(l.Config)
		if err != nil {
			return err
		}
		indent := strings.Repeat("  ", len(sections))
		if f.Secret {
			indent += "# "
		}
		lines = append(lines, yamlLine{indent + path[len(path)-1] + ": " + text, string(l.Origin(f.Key))})
	}
	return writeLines(w, lines)
}

type yamlLine struct{ text, origin string }

// commentColumn is where origins stand unless a line is longer.
const commentColumn = 40

func writeLines(w io.Writer, lines []yamlLine) error {
	for _, l := range lines {
		text := l.text
		if l.origin != "" {
			text = fmt.Sprintf("%-*s # %s", commentColumn, l.text, l.origin)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// yaml is the value in YAML's flow style, on one line.
func (f Field) yaml(c Config) (string, error) {
	var n yaml.Node
	v := f.Value(c)
	if raw, ok := v.(json.RawMessage); ok {
		return string(raw), nil
	}
	if err := n.Encode(v); err != nil {
		return "", fmt.Errorf("write %s: %w", f.Key, err)
	}
	n.Style = yaml.FlowStyle
	if s, ok := v.(string); ok && strings.ContainsAny(s, "\n\r") {
		n.Style = yaml.DoubleQuotedStyle
	}
	out, err := yaml.Marshal(&n)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", f.Key, err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", " "), nil
}

// Setting is one value for scripts.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin Origin `json:"origin"`
	Env    string `json:"env"`
	Help   string `json:"help"`
}

// Settings lists every value with its origin, secrets masked.
func (l Loaded) Settings() []Setting {
	fields := Fields()
	all := make([]Setting, len(fields))
	for i, f := range fields {
		all[i] = Setting{f.Key, f.Value(l.Config), l.Origin(f.Key), f.Env, f.Help}
	}
	return all
}
