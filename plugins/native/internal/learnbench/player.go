package learnbench

import (
	"fmt"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Env is one loaded source, played in this process by the platform's own interpreter.
type Env struct {
	Meta wire.Meta
	env  *interp.Env
	next int
}

// Load parses and executes a source.
func Load(code string) (*Env, error) {
	env, loaded := interp.Load(code, wire.DefaultLimits())
	if env == nil {
		return nil, fmt.Errorf("%s: %s", loaded.Stage, loaded.Fault.Error)
	}
	return &Env{Meta: loaded.Meta, env: env}, nil
}

// Episode is one episode in progress.
type Episode struct {
	env         *Env
	number      int
	Observation string
	Actions     []string
	Hint        string
	Solution    []string
	Return      float64
	Verify      float64
	Steps       int
	Done        bool
}

// Reset starts an episode, with the hint and the reference solution of its first state.
func (e *Env) Reset(seed uint64) (*Episode, error) {
	e.next++
	s := e.env.Reset(wire.Reset{Episode: e.next, Seed: seed, WantHint: true, WantSolve: true})
	if s.Outcome != wire.Ongoing {
		return nil, fmt.Errorf("reset: %s: %s", s.Outcome, s.Error)
	}
	return &Episode{env: e, number: e.next, Observation: s.Observation, Actions: s.Actions, Hint: s.Hint, Solution: s.Solution}, nil
}

// Step plays one action.
func (ep *Episode) Step(action string) error {
	s := ep.env.env.Step(wire.Action{Episode: ep.number, Text: action})
	if s.Outcome != wire.Ongoing && s.Outcome != wire.Solved && s.Outcome != wire.Failed {
		return fmt.Errorf("step %d: %s: %s", ep.Steps, s.Outcome, s.Error)
	}
	ep.Steps++
	ep.Observation, ep.Actions, ep.Return = s.Observation, s.Actions, s.Return
	ep.Done = s.Outcome != wire.Ongoing
	if s.Verify != nil {
		ep.Verify = *s.Verify
	}
	return nil
}
