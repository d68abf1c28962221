package interp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

// episode is one game. Its state is the copy that canonical JSON would give, owned by nobody else.
type episode struct {
	state  starlark.Value
	stream *seed.Rand
	steps  int
	total  float64
}

// Reset starts an episode. An episode of the same number is replaced.
func (e *Env) Reset(m wire.Reset) wire.Started {
	out := wire.Started{Episode: m.Episode}
	ep := &episode{stream: seed.FromEnvSeed(m.Seed)}

	e.stream = ep.stream
	v, fault := e.calls.call(e.limits.CallSteps, e.reset, starlark.MakeUint64(m.Seed))
	e.stream = nil
	if fault.Outcome != wire.Ongoing {
		out.Fault = fault
		return out
	}
	parts, err := tuple(v, 3)
	if err != nil {
		out.Fault = faultOf("reset", err)
		return out
	}
	if out.StateHash, err = e.take(ep, parts.Index(0)); err != nil {
		out.Fault = faultOf("the state of reset", err)
		return out
	}
	if out.Observation, out.Info, out.Actions, out.Fault = e.shown("reset", parts.Index(1), parts.Index(2)); out.Outcome != wire.Ongoing {
		return out
	}
	if m.WantHint {
		out.Hint, out.Fault = e.takeHint(ep)
	}
	if m.WantSolve && e.solve != nil && out.Outcome == wire.Ongoing {
		out.Solution, out.Fault = e.takeSolution(ep)
	}
	if out.Outcome == wire.Ongoing {
		e.episodes[m.Episode] = ep
	}
	return out
}

// Step plays one action. An episode that ends is forgotten.
func (e *Env) Step(m wire.Action) wire.Stepped {
	out := wire.Stepped{Episode: m.Episode}
	ep, ok := e.episodes[m.Episode]
	switch {
	case !ok:
		out.Fault = wire.Fault{Outcome: wire.EnvError, Cause: wire.CauseProtocol, Error: "no such episode is open"}
		return out
	case len(m.Text) > e.limits.Action:
		out.Fault = wire.Fault{
			Outcome: wire.Overlong, Cause: wire.CauseLimit,
			Error: fmt.Sprintf("an action of %d bytes, %d allowed", len(m.Text), e.limits.Action),
		}
	default:
		e.play(ep, m.Text, &out)
	}
	if out.Outcome != wire.Ongoing {
		delete(e.episodes, m.Episode)
	}
	return out
}

// Drop forgets an episode that nobody will play on.
func (e *Env) Drop(episode int) { delete(e.episodes, episode) }

func (e *Env) play(ep *episode, action string, out *wire.Stepped) {
	out.Return = ep.total
	e.stream = ep.stream
	v, fault := e.calls.call(e.limits.CallSteps, e.step, ep.state, starlark.String(action))
	e.stream = nil
	if fault.Outcome != wire.Ongoing {
		out.Fault = fault
		return
	}
	parts, err := tuple(v, 6)
	if err != nil {
		out.Fault = faultOf("step", err)
		return
	}
	if out.StateHash, err = e.take(ep, parts.Index(0)); err != nil {
		out.Fault = faultOf("the state of step", err)
		return
	}
	if out.Observation, out.Info, out.Actions, out.Fault = e.shown("step", parts.Index(1), parts.Index(5)); out.Outcome != wire.Ongoing {
		return
	}
	if out.Fault = takeReward(parts.Index(2), out); out.Outcome != wire.Ongoing {
		return
	}
	if out.Fault = takeFlags(parts.Index(3), parts.Index(4), out); out.Outcome != wire.Ongoing {
		return
	}
	ep.steps++
	ep.total += out.Reward
	out.Return = ep.total
	if ep.steps >= e.meta.MaxSteps && !out.Terminated {
		out.Truncated = true
	}
	if out.Terminated || out.Truncated {
		e.finish(ep, out)
	}
}

// take makes v the state of the episode and returns its hash, over the state and the number of random draws so far.
func (e *Env) take(ep *episode, v starlark.Value) (string, error) {
	c := &e.scratch
	c.buf, c.limit, c.copying = append(c.buf[:0], '['), e.limits.State, true
	state, err := c.value(v, 0)
	if err == nil && len(c.buf) > e.limits.State {
		err = fmt.Errorf("%w of %d bytes", errTooLarge, e.limits.State)
	}
	if err != nil {
		c.entries = c.entries[:0]
		return "", err
	}
	c.buf = append(c.buf, ',')
	c.buf = strconv.AppendUint(c.buf, ep.stream.Draws(), 10)
	c.buf = append(c.buf, ']')
	ep.state = state
	sum := sha256.Sum256(c.buf)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:]), nil
}

// shown checks what the agent and the platform get to see.
func (e *Env) shown(from string, observation, info starlark.Value) (obs, infoText string, actions []string, f wire.Fault) {
	obs, err := plainText(observation, e.limits.Observation)
	if err != nil {
		return "", "", nil, faultOf("the observation of "+from, err)
	}
	dict, ok := info.(*starlark.Dict)
	if !ok {
		return "", "", nil, envFault(wire.CauseShape, fmt.Sprintf("the info of %s is a %s, want a dictionary", from, info.Type()))
	}
	c := &e.scratch
	c.buf, c.limit, c.copying = c.buf[:0], e.limits.Info, false
	_, err = c.value(dict, 0)
	if err == nil && len(c.buf) > e.limits.Info {
		err = fmt.Errorf("%w of %d bytes", errTooLarge, e.limits.Info)
	}
	if err != nil {
		c.entries = c.entries[:0]
		return "", "", nil, faultOf("the info of "+from, err)
	}
	if string(c.buf) == e.lastInfo {
		return obs, e.lastInfo, e.lastActions, wire.Fault{} // most environments list the same actions every time
	}
	infoText = string(c.buf)
	if listed := field(dict, "actions"); listed != nil {
		if actions, err = texts(listed, e.limits.Action); err != nil {
			return "", "", nil, faultOf(`info["actions"] of `+from, err)
		}
	}
	e.lastInfo, e.lastActions = infoText, actions
	return obs, infoText, actions, wire.Fault{}
}

func takeReward(v starlark.Value, out *wire.Stepped) wire.Fault {
	if _, isBool := v.(starlark.Bool); isBool {
		return envFault(wire.CauseShape, "the reward of step is a bool, want a number")
	}
	r, ok := starlark.AsFloat(v)
	if !ok {
		return envFault(wire.CauseShape, fmt.Sprintf("the reward of step is a %s, want a number", v.Type()))
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return envFault(wire.CauseReward, fmt.Sprintf("the reward of step is %v", r))
	}
	out.Reward = r
	return wire.Fault{}
}

func takeFlags(terminated, truncated starlark.Value, out *wire.Stepped) wire.Fault {
	a, ok1 := terminated.(starlark.Bool)
	b, ok2 := truncated.(starlark.Bool)
	if !ok1 || !ok2 {
		return envFault(wire.CauseShape, fmt.Sprintf("terminated and truncated of step are %s and %s, want bools",
			terminated.Type(), truncated.Type()))
	}
	out.Terminated, out.Truncated = bool(a), bool(b)
	return wire.Fault{}
}

// tuple checks that a return value has n parts.
func tuple(v starlark.Value, n int) (starlark.Indexable, error) {
	seq, ok := v.(starlark.Indexable)
	if _, isText := v.(starlark.String); !ok || isText {
		return nil, shapeError(fmt.Sprintf("returned a %s, want %d values", v.Type(), n))
	}
	if seq.Len() != n {
		return nil, shapeError(fmt.Sprintf("returned %d values, want %d", seq.Len(), n))
	}
	return seq, nil
}

type shapeError string

func (e shapeError) Error() string { return string(e) }

func plainText(v starlark.Value, limit int) (string, error) {
	s, ok := v.(starlark.String)
	switch {
	case !ok:
		return "", shapeError(fmt.Sprintf("is a %s, want a string", v.Type()))
	case len(s) > limit:
		return "", fmt.Errorf("has %d bytes: %w of %d", len(s), errTooLarge, limit)
	case !utf8.ValidString(string(s)):
		return "", errEncoding
	}
	return string(s), nil
}

// texts reads a list of texts of at most limit bytes together.
func texts(v starlark.Value, limit int) ([]string, error) {
	seq, ok := v.(starlark.Indexable)
	if _, isText := v.(starlark.String); !ok || isText {
		return nil, shapeError(fmt.Sprintf("is a %s, want a list of strings", v.Type()))
	}
	var out []string
	size := 0
	for i := range seq.Len() {
		s, err := plainText(seq.Index(i), limit)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if size += len(s) + 1; size > limit {
			return nil, fmt.Errorf("%w of %d bytes", errTooLarge, limit)
		}
		out = append(out, s)
	}
	return out, nil
}

// faultOf classifies an error about a value that the environment returned.
func faultOf(what string, err error) wire.Fault {
	text := what + ": " + err.Error()
	var shape shapeError
	switch {
	case errors.Is(err, errEncoding):
		return wire.Fault{Outcome: wire.TextEncoding, Cause: wire.CauseEncoding, Error: text}
	case errors.Is(err, errTooLarge):
		return envFault(wire.CauseLimit, text)
	case errors.As(err, &shape), errors.Is(err, errNotJSON):
		return envFault(wire.CauseShape, text)
	}
	return envFault(wire.CauseException, text)
}
