package main

import (
	"fmt"
	"os"

	"github.com/seed256f7767/spade/internal/gym"
)

// readSource reads an environment's source.
func readSource(path, runtime string) (gym.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	if info.Size() > gym.MaxCode {
		return gym.Source{}, fmt.Errorf("read the environment: %s has %d bytes, at most %d are allowed", path, info.Size(), gym.MaxCode)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	return gym.Source{Runtime: runtime, Code: string(code)}, nil
}
