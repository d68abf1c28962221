package wire

import "errors"

// Bounds of what META may say.
const (
	MaxTitle = 200 // bytes
	MaxSteps = 1000
)

// Tolerance is how far a return may be from a score and still be equal to it, and how far outside [0, 1] either may lie.
const Tolerance = 1e-6

// IsKind reports whether META may name that kind.
func IsKind(kind string) bool { return kind == "reasoning" || kind == "tools" || kind == "game" }

// Check says what no META can have said. An environment's code shares its process with the code that checks META, so what a
// worker tells may have been made up.
func (m Meta) Check() error {
	switch {
	case m.Title == "" || len(m.Title) > MaxTitle:
		return errors.New("the worker tells of a title that META cannot have")
	case !IsKind(m.Kind):
		return errors.New("the worker tells of a kind that META cannot have")
	case m.MaxSteps < 1 || m.MaxSteps > MaxSteps:
		return errors.New("the worker tells of a max_steps that META cannot have")
	}
	return nil
}
