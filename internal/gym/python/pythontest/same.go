package pythontest

import (
	"fmt"
	"reflect"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

// Played counts what a comparison saw, for a test to see that it compared something.
type Played struct{ Episodes, Steps, Solved, Faults int }

// Add adds up.
func (p *Played) Add(q Played) {
	p.Episodes += q.Episodes
	p.Steps += q.Steps
	p.Solved += q.Solved
	p.Faults += q.Faults
}

// noise are actions that no environment lists.
func noise() []string {
	return []string{"", " ", "é 中 😀", "\x00", "nothing of the kind", `{"tool": 1}`, `{"tool": "look", "arguments": {}}`, "-1", "1e400", "[1, 2]", "DONE"}
}

// Same plays a source in both runtimes: for every environment seed the reference solution, and then actions drawn from
// those that are listed and from noise. The error is the first difference. The texts of faults are each runtime's own; all
// else must be equal.
func Same(d *Driver, code string, limits wire.Limits, envSeeds ...uint64) (Played, error) {
	var played Played
	env, star := interp.Load(code, limits)
	py := d.Load(code, limits)
	if err := differ("loading", star, py); err != nil {
		return played, err
	}
	if env == nil {
		played.Faults++
		return played, nil
	}
	for i, s := range envSeeds {
		for _, solving := range []bool{true, false} {
			if err := episode(env, d, 2*i, s, solving, &played); err != nil {
				return played, fmt.Errorf("seed %d: %w", s, err)
			}
		}
	}
	return played, nil
}

func episode(env *interp.Env, d *Driver, number int, envSeed uint64, solving bool, played *Played) error {
	reset := wire.Reset{Episode: number, Seed: envSeed, WantHint: true, WantSolve: true}
	star, py := env.Reset(reset), d.Reset(reset)
	played.Episodes++
	if err := differ("reset", star, py); err != nil {
		return err
	}
	actions, solution, outcome := star.Actions, star.Solution, star.Outcome
	rand := seed.FromEnvSeed(envSeed)
	for step := 0; outcome == wire.Ongoing; step++ {
		text := draw(rand, actions)
		if solving {
			if step >= len(solution) {
				break
			}
			text = solution[step]
		}
		action := wire.Action{Episode: number, Text: text}
		star, py := env.Step(action), d.Step(action)
		played.Steps++
		if err := differ(fmt.Sprintf("step %d, %q", step, text), star, py); err != nil {
			return err
		}
		actions, outcome = star.Actions, star.Outcome
	}
	switch outcome {
	case wire.Solved:
		played.Solved++
	case wire.Ongoing, wire.Failed:
	default:
		played.Faults++
	}
	return nil
}

func draw(rand *seed.Rand, listed []string) string {
	if len(listed) > 0 && rand.IntN(8) > 0 {
		return listed[rand.IntN(len(listed))]
	}
	other := noise()
	return other[rand.IntN(len(other))]
}

// differ compares two answers without the texts of their faults.
func differ[A any](what string, star, py A) error {
	a, b := star, py
	for _, v := range []reflect.Value{reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()} {
		v.FieldByName("Fault").FieldByName("Error").SetString("")
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return fmt.Errorf("%s:\nStarlark %+v\nPython   %+v", what, star, py)
}
