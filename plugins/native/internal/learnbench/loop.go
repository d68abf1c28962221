package learnbench

import (
	"fmt"
	"math"
	"sync"

	"github.com/seed256f7767/spade/examples/suites"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/designer"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

// Config of one run.
type Config struct {
	Seed              uint64
	Iterations        int
	Designs           int
	EnvSeeds, Repeats int
	EvalSeeds         int
	Bits              int
	Agent             agent.Options
	Uniform           bool // the designer does not learn
	Docs              []grammar.Doc
	Suite             string // the suite to evaluate; empty: all
}

// Task is one suite task's mean plain reward before and after.
type Task struct {
	Suite, ID, Category, Group string
	Before, After              float64
}

// Outcome of a run.
type Outcome struct {
	Tasks     []Task
	Rejected  int
	Episodes  int
	Steps     int
	Hinted    []float64 // mean reward of each iteration
	Plain     []float64
	Mechanics map[string]int
	Learned   map[string]float64 // plain reward on fresh designs of each mechanic alone, after the run
}

// Run plays the whole loop.
func Run(cfg Config) (Outcome, error) {
	l := &loop{cfg: cfg, agent: agent.New(cfg.Bits), designer: designer.New()}
	l.out.Mechanics = map[string]int{}
	before, err := Evaluate(l.agent, cfg)
	if err != nil {
		return l.out, err
	}
	for k := range cfg.Iterations {
		if err := l.iterate(k); err != nil {
			return l.out, fmt.Errorf("iteration %d: %w", k, err)
		}
	}
	after, err := Evaluate(l.agent, cfg)
	for i := range after {
		after[i].Before = before[i].After
	}
	l.out.Tasks = after
	if err == nil {
		err = l.byMechanic()
	}
	return l.out, err
}

// byMechanic plays fresh designs of every mechanic.
func (l *loop) byMechanic() error {
	l.out.Learned = map[string]float64{}
	const n = 24
	for m := range grammar.Mechanics() {
		for i := range n {
			r := seed.Stream(l.cfg.Seed, seed.Key{Purpose: "fresh", Slot: m, Index: i})
			d := grammar.Design{Mechanic: m, Level: i % grammar.Levels, Variant: i % 3, SaltA: r.IntN(500), SaltB: r.IntN(500)}
			env, err := Load(grammar.Compose(d, l.docs(r)))
			if err != nil {
				return err
			}
			ep, err := playOne(l.agent, env, r.Uint64(), r, false, 1)
			if err != nil {
				return err
			}
			l.out.Learned[grammar.MechanicName(m)] += ep.reward / n
		}
	}
	return nil
}

type loop struct {
	cfg      Config
	agent    *agent.Model
	designer *designer.Model
	recent   []int // mechanics of recent designs
	out      Outcome
}

func (l *loop) iterate(k int) error {
	var samples []agent.Sample
	var paid []designer.Sample
	var plain, hinted float64
	for slot := range l.cfg.Designs {
		d, tokens, env, err := l.design(k, slot)
		if err != nil {
			return err
		}
		l.out.Mechanics[grammar.MechanicName(d.Mechanic)]++
		p, h, learned, err := l.play(env, k, slot)
		if err != nil {
			return fmt.Errorf("design %+v: %w", d, err)
		}
		plain += p / float64(l.cfg.Designs)
		hinted += h / float64(l.cfg.Designs)
		samples = append(samples, learned...)
		paid = append(paid, designer.Sample{Tokens: tokens, Reward: l.pay(d.Mechanic, h-p)})
	}
	l.out.Plain, l.out.Hinted = append(l.out.Plain, plain), append(l.out.Hinted, hinted)
	l.agent = l.agent.Clone()
	l.agent.Learn(samples, l.cfg.Agent)
	if !l.cfg.Uniform {
		l.designer.Learn(paid)
	}
	return nil
}

// design draws until random play does not already solve the design, as the gate asks.
func (l *loop) design(k, slot int) (grammar.Design, []int32, *Env, error) {
	for attempt := range 8 {
		r := seed.Stream(l.cfg.Seed, seed.Key{Purpose: "design", Iteration: k, Slot: slot, Attempt: attempt})
		d, tokens, _ := l.designer.Draw(r)
		env, err := Load(grammar.Compose(d, l.docs(r)))
		if err != nil {
			return d, nil, nil, err
		}
		random, err := l.random(env, r)
		if err != nil {
			return d, nil, nil, err
		}
		if random < 0.75 {
			return d, tokens, env, nil
		}
		l.out.Rejected++
	}
	return grammar.Design{}, nil, nil, fmt.Errorf("no design passes")
}

func (l *loop) docs(r *seed.Rand) []grammar.Doc {
	if len(l.cfg.Docs) == 0 {
		return nil
	}
	return append([]grammar.Doc(nil), seed.Sample(r, append([]grammar.Doc(nil), l.cfg.Docs...), 4)...)
}

func (l *loop) random(env *Env, r *seed.Rand) (float64, error) {
	var sum float64
	for range 16 {
		ep, err := env.Reset(r.Uint64())
		for err == nil && !ep.Done {
			err = ep.Step(ep.Actions[r.IntN(len(ep.Actions))])
		}
		if err != nil {
			return 0, err
		}
		sum += ep.Return / 16
	}
	return sum, nil
}

// pay is the clipped gap over a power of the mechanic's share of recent designs.
func (l *loop) pay(mechanic int, gap float64) float64 {
	n := 1
	for _, m := range l.recent {
		if m == mechanic {
			n++
		}
	}
	l.recent = append(l.recent, mechanic)
	if len(l.recent) > 256 {
		l.recent = l.recent[1:]
	}
	share := float64(n) / float64(len(l.recent)) * float64(grammar.Mechanics())
	return min(2, max(0, gap)/math.Pow(share, 1.5))
}

// play plays both arms and returns their means and the plain arm's samples.
func (l *loop) play(env *Env, k, slot int) (plain, hinted float64, samples []agent.Sample, err error) {
	n := float64(l.cfg.EnvSeeds * l.cfg.Repeats)
	for i := range l.cfg.EnvSeeds {
		envSeed := seed.Derive(l.cfg.Seed, seed.Key{Purpose: "env", Iteration: k, Slot: slot, Index: i})
		group := make([]episode, l.cfg.Repeats)
		for j := range group {
			key := seed.Key{Purpose: "act", Iteration: k, Slot: slot, Index: i*1000 + j}
			if group[j], err = playOne(l.agent, env, envSeed, seed.Stream(l.cfg.Seed, key), false, 1); err != nil {
				return 0, 0, nil, err
			}
			key.Arm = "hinted"
			h, err := playOne(l.agent, env, envSeed, seed.Stream(l.cfg.Seed, key), true, 1)
			if err != nil {
				return 0, 0, nil, err
			}
			plain += group[j].reward / n
			hinted += h.reward / n
			l.out.Episodes += 2
			l.out.Steps += len(group[j].samples) + len(h.samples)
		}
		samples = append(samples, advantages(group)...)
	}
	return plain, hinted, samples, nil
}

type episode struct {
	reward  float64
	samples []agent.Sample
}

func playOne(m *agent.Model, env *Env, envSeed uint64, r *seed.Rand, hinted bool, temperature float64) (episode, error) {
	ep, err := env.Reset(envSeed)
	if err != nil {
		return episode{}, err
	}
	messages := []agent.Message{{Role: "user", Content: ep.Observation}}
	if hinted {
		messages = append(messages, agent.Message{Role: "user", Content: "Hint: " + ep.Hint})
	}
	var out episode
	for !ep.Done {
		i, _ := m.Choose(messages, ep.Actions, temperature, r.Float64())
		action := ep.Actions[i]
		out.samples = append(out.samples, agent.Sample{Messages: messages[:len(messages):len(messages)], Choices: ep.Actions, Chosen: i})
		if err := ep.Step(action); err != nil {
			return episode{}, err
		}
		messages = append(messages, agent.Message{Role: "assistant", Content: action}, agent.Message{Role: "user", Content: ep.Observation})
	}
	out.reward = ep.Return
	return out, nil
}

// advantages are (reward - mean) / std within the group; a group without variance teaches nothing.
func advantages(group []episode) []agent.Sample {
	var mean, variance float64
	n := float64(len(group))
	for _, e := range group {
		mean += e.reward / n
	}
	for _, e := range group {
		variance += (e.reward - mean) * (e.reward - mean) / (n - 1)
	}
	if variance < 1e-12 {
		return nil
	}
	var out []agent.Sample
	for _, e := range group {
		for _, s := range e.samples {
			s.Advantage = (e.reward - mean) / (math.Sqrt(variance) + 1e-6)
			out = append(out, s)
		}
	}
	return out
}

// Evaluate plays every suite task without hints.
func Evaluate(m *agent.Model, cfg Config) ([]Task, error) {
	all, err := suites.Builtin()
	if err != nil {
		return nil, err
	}
	var out []Task
	var code []string
	for _, s := range all {
		if cfg.Suite != "" && s.Name != cfg.Suite {
			continue
		}
		for _, t := range s.Tasks {
			out = append(out, Task{Suite: s.Name, ID: t.ID, Category: t.Category, Group: t.Group})
			code = append(code, t.Code)
		}
	}
	errs := make([]error, len(out))
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < len(out); i += 2 {
				out[i].After, errs[i] = evaluateTask(m, code[i], cfg)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", out[i].ID, err)
		}
	}
	return out, nil
}

func evaluateTask(m *agent.Model, code string, cfg Config) (float64, error) {
	env, err := Load(code)
	if err != nil {
		return 0, err
	}
	var sum float64
	for i := range cfg.EvalSeeds {
		r := seed.Stream(cfg.Seed, seed.Key{Purpose: "evaluate", Index: i})
		ep, err := playOne(m, env, seed.Derive(7, seed.Key{Purpose: "suite", Index: i}), r, false, 1)
		if err != nil {
			return 0, err
		}
		sum += ep.reward / float64(cfg.EvalSeeds)
	}
	return sum, nil
}
