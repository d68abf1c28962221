package config

import (
	"errors"
	"fmt"
)

// Classes of errors, for errors.Is.
var (
	ErrUnknownKey = errors.New("unknown setting")
	ErrInvalid    = errors.New("invalid setting")
)

// Problem is one thing wrong with one setting.
type Problem struct {
	Where string // "spade.yaml:3", "SPADE_RUN_SEED", "--seed"; empty when it is a default's fault
	Key   string // as it was written
	What  string
	class error
}

// Error is "where: key: what".
func (p *Problem) Error() string {
	switch {
	case p.Where == "":
		return fmt.Sprintf("%s: %s", p.Key, p.What)
	case p.Key == "" || p.Where == p.Key:
		return fmt.Sprintf("%s: %s", p.Where, p.What)
	default:
		return fmt.Sprintf("%s: %s: %s", p.Where, p.Key, p.What)
	}
}

// Unwrap gives the class.
func (p *Problem) Unwrap() error { return p.class }
