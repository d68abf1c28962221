package jail

import (
	"encoding/json"
	"fmt"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// Options is the stage's only argument, as JSON: what to become and what it may see.
type Options struct {
	// Program is the executable, and Args are its arguments without its name.
	Program string   `json:"program"`
	Args    []string `json:"args"`
	// Env is the program's whole environment.
	Env []string `json:"env"`
	// Worker is a JSON object that becomes the last argument, with the layers that are in force as "layers" in it.
	Worker map[string]any `json:"worker"`
	// Mounts are all that the program can read of the machine; Hidden are folders in them that it finds empty.
	Mounts []sandbox.Mount `json:"mounts"`
	Hidden []string        `json:"hidden,omitempty"`
	// ScratchBytes is the size of its folder for temporary files, Threads how many it may have, StackBytes their stack.
	ScratchBytes uint64 `json:"scratch_bytes"`
	Threads      uint64 `json:"threads"`
	StackBytes   uint64 `json:"stack_bytes"`
}

// Encode returns the argument.
func (o Options) Encode() (string, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("options of a jail: %w", err)
	}
	return string(data), nil
}

func decode(args []string) (Options, error) {
	var o Options
	if len(args) != 1 {
		return o, fmt.Errorf("%d arguments", len(args))
	}
	err := json.Unmarshal([]byte(args[0]), &o)
	return o, err
}

// argv is the program's arguments under the layers that are in force.
func (o Options) argv(have sandbox.Layer) []string {
	worker := map[string]any{}
	for k, v := range o.Worker {
		worker[k] = v
	}
	worker["layers"] = uint32(have)
	last, err := json.Marshal(worker)
	if err != nil {
		last = []byte("{}") // it has been decoded from JSON, so that this cannot be
	}
	return append(append([]string{o.Program}, o.Args...), string(last))
}
