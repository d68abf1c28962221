package gate

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/seed256f7767/spade/internal/gym"
)

// difference is where two plays of the same moves part. The zero difference is none.
type difference struct {
	// what differs, such as "the observation"; empty where nothing does.
	what string
	// of is the trajectory; nil where the source itself loads otherwise. step is -1 for what came after reset.
	of   *trajectory
	step int
}

// String begins a sentence about the difference.
func (d difference) String() string {
	switch {
	case d.of == nil:
		return d.what
	case d.step < 0:
		return fmt.Sprintf("%s: %s after reset", d.of.name, d.what)
	}
	return fmt.Sprintf("%s: %s after step %d", d.of.name, d.what, d.step)
}

// differsInSource compares how a source was loaded.
func differsInSource(meta gym.Meta, other replayed) difference {
	switch {
	case other.refused != "":
		return difference{what: "whether it loads"}
	case !reflect.DeepEqual(meta, other.meta):
		return difference{what: "META"}
	}
	return difference{}
}

// differsFrom compares two plays of t's moves, each as far as it went. Hint and solution count only where both have been
// asked for them.
func (t *trajectory) differsFrom(a, b recording, privileged bool) difference {
	if !a.begun || !b.begun {
		return difference{}
	}
	if what := differsAtStart(a.first, b.first, privileged); what != "" {
		return difference{what: what, of: t, step: -1}
	}
	for i := range min(len(a.steps), len(b.steps)) {
		if what := differs(a.steps[i], b.steps[i]); what != "" {
			return difference{what: what, of: t, step: i}
		}
	}
	return difference{}
}

func differsAtStart(a, b gym.Started, privileged bool) string {
	switch {
	case a.Outcome != b.Outcome || a.Error != b.Error:
		return "the outcome"
	case a.Observation != b.Observation:
		return "the observation"
	case a.Info != b.Info:
		return "the info"
	case a.StateHash != b.StateHash:
		return "the state"
	case privileged && a.Hint != b.Hint:
		return "the hint"
	case privileged && !slices.Equal(a.Solution, b.Solution):
		return "the solution"
	}
	return ""
}

func differs(a, b gym.Stepped) string {
	switch {
	case a.Outcome != b.Outcome || a.Error != b.Error:
		return "the outcome"
	case a.Observation != b.Observation:
		return "the observation"
	case a.Info != b.Info:
		return "the info"
	case a.StateHash != b.StateHash:
		return "the state"
	case math.Float64bits(a.Reward) != math.Float64bits(b.Reward):
		return "the reward"
	case a.Terminated != b.Terminated || a.Truncated != b.Truncated:
		return "the end"
	case (a.Verify == nil) != (b.Verify == nil) || a.Verify != nil && *a.Verify != *b.Verify:
		return "the verdict"
	}
	return ""
}
