package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed256f7767/spade/internal/gym"
)

// readSource reads an environment's source, and no more of a file than a source may have.
func readSource(path, runtime string) (src gym.Source, err error) {
	file, err := os.Open(path)
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	code, err := io.ReadAll(io.LimitReader(file, gym.MaxCode+1))
	if err != nil {
		return gym.Source{}, fmt.Errorf("read the environment: %w", err)
	}
	if len(code) > gym.MaxCode {
		return gym.Source{}, fmt.Errorf("read the environment: %s has more than the %d bytes that are allowed", path, gym.MaxCode)
	}
	return gym.Source{Runtime: runtime, Code: string(code)}, nil
}
