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
	g := games{env: env, driver: d, played: &played}
	for i, s := range envSeeds {
		g.add(wire.Reset{Episode: 2 * i, Seed: s, WantHint: true, WantSolve: true}, true)
		g.add(wire.Reset{Episode: 2*i + 1, Seed: s, WantHint: true, WantSolve: true}, false)
	}
	return played, g.play()
}

// game is one episode in both runtimes.
type game struct {
	reset   wire.Reset
	solving bool
	rand    *seed.Rand
	started wire.Started
	actions []string
	outcome wire.Outcome
	steps   int
}

// games are the episodes of one source, played side by side.
type games struct {
	env    *interp.Env
	driver *Driver
	played *Played
	list   []*game
}

func (g *games) add(reset wire.Reset, solving bool) {
	g.list = append(g.list, &game{reset: reset, solving: solving, rand: seed.FromEnvSeed(reset.Seed)})
}

func (g *games) play() error {
	var resets []wire.Reset
	for _, one := range g.list {
		resets = append(resets, one.reset)
	}
	for i, py := range g.driver.Resets(resets) {
		one := g.list[i]
		one.started = g.env.Reset(one.reset)
		one.actions, one.outcome = one.started.Actions, one.started.Outcome
		g.played.Episodes++
		if err := differ(fmt.Sprintf("reset with seed %d", one.reset.Seed), one.started, py); err != nil {
			return err
		}
	}
	var err error
	for more := true; more && err == nil; {
		more, err = g.round()
	}
	for _, one := range g.list {
		g.count(one.outcome)
	}
	return err
}

// round plays one action in every episode that goes on.
func (g *games) round() (more bool, err error) {
	var batch []wire.Action
	var playing []*game
	for _, one := range g.list {
		if text, ok := one.next(); ok {
			batch = append(batch, wire.Action{Episode: one.reset.Episode, Text: text})
			playing = append(playing, one)
		}
	}
	if len(batch) == 0 {
		return false, nil
	}
	for i, py := range g.driver.Steps(batch) {
		one := playing[i]
		star := g.env.Step(batch[i])
		g.played.Steps++
		if err := differ(fmt.Sprintf("seed %d, step %d, %q", one.reset.Seed, one.steps, batch[i].Text), star, py); err != nil {
			return false, err
		}
		one.actions, one.outcome = star.Actions, star.Outcome
		one.steps++
	}
	return true, nil
}

// next is the action to play, if the episode goes on.
func (g *game) next() (string, bool) {
	switch {
	case g.outcome != wire.Ongoing, g.solving && g.steps >= len(g.started.Solution):
		return "", false
	case g.solving:
		return g.started.Solution[g.steps], true
	}
	return draw(g.rand, g.actions), true
}

func (g *games) count(outcome wire.Outcome) {
	switch outcome {
	case wire.Solved:
		g.played.Solved++
	case wire.Ongoing, wire.Failed:
	default:
		g.played.Faults++
	}
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
