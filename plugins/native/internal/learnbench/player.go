package learnbench

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/seed256f7767/spade/internal/seed"
)

// maxSteps bounds the work of one call into a source.
const maxSteps = 5_000_000

var errShape = errors.New("environment answered with the wrong shape")

// Env is one loaded source.
type Env struct {
	Title, Kind string
	MaxSteps    int
	globals     starlark.StringDict
}

// Load parses and executes a source.
func Load(name, code string) (*Env, error) {
	th := &starlark.Thread{Name: name}
	th.SetMaxExecutionSteps(maxSteps)
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, th, name, code, predeclared())
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	globals.Freeze()
	meta, ok := globals["META"].(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("load %s: no META", name)
	}
	e := &Env{globals: globals}
	get := func(k string) starlark.Value { v, _, _ := meta.Get(starlark.String(k)); return v }
	e.Title, _ = starlark.AsString(get("title"))
	e.Kind, _ = starlark.AsString(get("kind"))
	if err := starlark.AsInt(get("max_steps"), &e.MaxSteps); err != nil {
		return nil, fmt.Errorf("load %s: max_steps: %w", name, err)
	}
	return e, nil
}

// Episode is one episode in progress.
type Episode struct {
	env         *Env
	th          *starlark.Thread
	state       starlark.Value
	Observation string
	Actions     []string
	Return      float64
	Steps       int
	Done        bool
}

// Reset starts an episode.
func (e *Env) Reset(envSeed uint64) (*Episode, error) {
	ep := &Episode{env: e, th: &starlark.Thread{Name: e.Title}}
	ep.th.SetLocal(rngLocal, seed.FromEnvSeed(envSeed))
	out, err := ep.call("reset", starlark.MakeUint64(envSeed))
	if err != nil {
		return nil, err
	}
	t, ok := out.(starlark.Tuple)
	if !ok || len(t) != 3 {
		return nil, fmt.Errorf("reset: %w", errShape)
	}
	ep.state = t[0]
	return ep, ep.show(t[1], t[2])
}

// Step plays one action.
func (ep *Episode) Step(action string) error {
	out, err := ep.call("step", ep.state, starlark.String(action))
	if err != nil {
		return err
	}
	t, ok := out.(starlark.Tuple)
	if !ok || len(t) != 6 {
		return fmt.Errorf("step: %w", errShape)
	}
	reward, ok := starlark.AsFloat(t[2])
	if !ok {
		return fmt.Errorf("step: reward: %w", errShape)
	}
	ep.state = t[0]
	ep.Return += reward
	ep.Steps++
	ep.Done = bool(t[3].Truth()) || bool(t[4].Truth()) || ep.Steps >= ep.env.MaxSteps
	return ep.show(t[1], t[5])
}

// Hint, Solve and Verify call the function of that name on the present state.
func (ep *Episode) Hint() (string, error) {
	v, err := ep.call("hint", ep.state)
	if err != nil {
		return "", err
	}
	s, ok := starlark.AsString(v)
	if !ok {
		return "", fmt.Errorf("hint: %w", errShape)
	}
	return s, nil
}

// Solve returns the reference solution.
func (ep *Episode) Solve() ([]string, error) {
	v, err := ep.call("solve", ep.state)
	if err != nil {
		return nil, err
	}
	return texts(v)
}

// Verify returns the environment's own judgement.
func (ep *Episode) Verify() (float64, error) {
	v, err := ep.call("verify", ep.state)
	if err != nil {
		return 0, err
	}
	f, ok := starlark.AsFloat(v)
	if !ok {
		return 0, fmt.Errorf("verify: %w", errShape)
	}
	return f, nil
}

func (ep *Episode) call(name string, args ...starlark.Value) (starlark.Value, error) {
	fn, ok := ep.env.globals[name]
	if !ok {
		return nil, fmt.Errorf("%s: not defined", name)
	}
	ep.th.SetMaxExecutionSteps(ep.th.ExecutionSteps() + maxSteps)
	v, err := starlark.Call(ep.th, fn, args, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

func (ep *Episode) show(observation, info starlark.Value) error {
	s, ok := starlark.AsString(observation)
	if !ok {
		return fmt.Errorf("observation: %w", errShape)
	}
	ep.Observation = s
	d, ok := info.(*starlark.Dict)
	if !ok {
		return fmt.Errorf("info: %w", errShape)
	}
	v, found, _ := d.Get(starlark.String("actions"))
	if !found {
		ep.Actions = nil
		return nil
	}
	var err error
	ep.Actions, err = texts(v)
	return err
}

func texts(v starlark.Value) ([]string, error) {
	it, ok := v.(starlark.Iterable)
	if !ok {
		return nil, errShape
	}
	var out []string
	for x := range starlark.Elements(it) {
		s, ok := starlark.AsString(x)
		if !ok {
			return nil, errShape
		}
		out = append(out, s)
	}
	return out, nil
}
