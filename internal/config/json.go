package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// objectText writes a YAML mapping as a JSON object.
func objectText(n *yaml.Node) (string, error) {
	var object map[string]any
	if err := n.Decode(&object); err != nil {
		return "", fmt.Errorf("read mapping: %w", err)
	}
	out, err := json.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("write mapping as JSON: %w", err)
	}
	return string(out), nil
}
