package gym

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// recovery is the state of a batch whose process has died at least once.
type recovery[Q, A any] struct {
	w       *Worker
	v       *verb[Q, A]
	calls   []Q
	answers []A
	// settled is how many of the answers are in the worker's books.
	settled int
	careful bool
	// tried is the call under which a process died when nothing else was under way, plus one; a second death there is its
	// own fault.
	tried int
	// last is the cause of the death before. When the calls are made one by one and one of them ends its process by the
	// same limit that ended the batch, that was its second time.
	last Cause
	// suspects are the calls, from and to, one of which ran into the wall clock before it was known which.
	suspects [2]int
}

// after makes good for one death: it plays the open episodes again and goes on with the batch. It returns the next death.
func (r *recovery[Q, A]) after(ctx context.Context, death *deathError) error {
	r.w.pool.log.DebugContext(ctx, "environment worker lost", "cause", string(death.cause), "reason", death.text)
	r.w.pool.meter.died(r.w.launch.runtime, death)
	next := len(r.answers)
	known := r.careful || next+1 == len(r.calls)
	switch {
	case known && death.final, r.careful && (r.tried == next+1 || death.cause == r.last && death.cause != causeCrashed):
		r.answers = append(r.answers, r.v.faulty(r.calls[next], death.fault()))
		r.w.forget(r.v.asked(r.calls[next]))
		r.suspects = [2]int{} // it was this one
		if death.cause == causeTimeout {
			death = &deathError{cause: causeCrashed, text: death.text} // a clock gives each call its own second chance
		}
	case death.cause == causeTimeout:
		r.suspects = [2]int{next, len(r.calls)}
		if r.careful || next+1 == len(r.calls) {
			r.suspects[1] = next + 1
		}
	}
	if r.careful || next+1 == len(r.calls) {
		r.tried = next + 1
	}
	r.careful, r.last = true, death.cause
	r.settle()
	if err := r.w.replay(ctx); err != nil {
		return r.abandon(err)
	}
	return r.resume(ctx)
}

// settle enters the answers that are there into the worker's books. It comes before the open episodes are played again: what
// was answered before the process died is a part of them.
func (r *recovery[Q, A]) settle() {
	for ; r.settled < len(r.answers); r.settled++ {
		r.answers[r.settled] = r.v.settle(r.w, r.calls[r.settled], r.answers[r.settled])
	}
}

// resume makes the calls that have no answer yet, with a frame for every answer.
func (r *recovery[Q, A]) resume(ctx context.Context) error {
	if rest := r.calls[len(r.answers):]; len(rest) > 0 {
		p, err := r.w.current()
		if err != nil {
			return err
		}
		answers, err := exchange(ctx, r.w, p, r.v, rest, true)
		r.answers = append(r.answers, answers...)
		if err != nil {
			return err
		}
	}
	return nil
}

// mark flags the suspects' answers, once there are answers to all calls.
func (r *recovery[Q, A]) mark() {
	for i := r.suspects[0]; i < r.suspects[1]; i++ {
		r.v.flagged(&r.answers[i])
	}
}

// abandon answers for the rest of the batch when its episodes cannot be played again: the same moves ended otherwise,
// which only something outside the environment can have caused.
func (r *recovery[Q, A]) abandon(err error) error {
	var death *deathError
	if !errors.As(err, &death) {
		return err
	}
	f := death.fault()
	f.Nondeterministic = true
	told := r.calls[len(r.answers):]
	for _, q := range told {
		r.answers = append(r.answers, r.v.faulty(q, f))
	}
	for n := range r.w.episodes {
		r.w.forget(n)
		r.w.lost[n] = f
	}
	for _, q := range told {
		delete(r.w.lost, r.v.asked(q))
	}
	return nil
}

func (w *Worker) forget(episode int) { delete(w.episodes, episode) }

// replay loads the source into a fresh process and plays all open episodes up to where they are.
func (w *Worker) replay(ctx context.Context) error {
	if _, err := w.loadFresh(ctx); err != nil {
		var refused *SourceError
		if errors.As(err, &refused) {
			return &deathError{cause: causeCrashed, text: "the source cannot be loaded again: " + refused.Error()}
		}
		return err
	}
	p, err := w.current()
	if err != nil {
		return err
	}
	numbers := slices.Sorted(maps.Keys(w.episodes))
	resets := make([]Reset, 0, len(numbers))
	for _, n := range numbers {
		resets = append(resets, w.episodes[n].reset)
	}
	started, err := exchange(ctx, w, p, resetting, resets, false)
	if err != nil {
		return err
	}
	hashes := make(map[int]string, len(started))
	for _, s := range started {
		hashes[s.Episode] = s.StateHash
	}
	for turn := 0; ; turn++ {
		var actions []Action
		for _, n := range numbers {
			if h := w.episodes[n]; turn < len(h.actions) {
				actions = append(actions, Action{Episode: n, Text: h.actions[turn]})
			}
		}
		if len(actions) == 0 {
			break
		}
		stepped, err := exchange(ctx, w, p, stepping, actions, false)
		if err != nil {
			return err
		}
		for _, s := range stepped {
			hashes[s.Episode] = s.StateHash
		}
	}
	for _, n := range numbers {
		if hashes[n] != w.episodes[n].hash {
			return &deathError{cause: causeCrashed, text: fmt.Sprintf("episode %d is not the same when it is played again", n)}
		}
	}
	return nil
}
