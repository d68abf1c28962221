package gate

import (
	"cmp"
	"context"
	"errors"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// recording is what an episode told from its beginning on.
type recording struct {
	begun bool
	first gym.Started
	steps []gym.Stepped
}

// setting is how a worker is started and used to play known moves again.
type setting struct {
	around gym.Surroundings
	// runtime is another one than the source's; empty: the source's.
	runtime string
	// plain plays the plain arm as a run does: neither the hint nor the solution is asked for.
	plain bool
	// alone plays one episode after the other instead of all of them in turn.
	alone bool
	// atOnce makes the calls of all episodes in one batch, as a run does.
	atOnce bool
}

// reset is how an episode begins in this setting.
func (how setting) reset(t *trajectory) gym.Reset {
	reset := t.reset
	if how.plain {
		reset.WantHint, reset.WantSolve = false, false
	}
	return reset
}

// replayed is what a worker told: why it refused the source, or one recording for each trajectory.
type replayed struct {
	refused string
	// loadedTooLong says that a clock ended the loading: to find out why would take as long again, many times.
	loadedTooLong bool
	meta          gym.Meta
	recordings    []recording
}

// replay plays the moves of the trajectories in a fresh worker, in the order of the list. It stops at the first that is
// ended by a clock: more of them would take as long again.
func (s *session) replay(ctx context.Context, pool *gym.Pool, how setting, list []*trajectory) (out replayed, err error) {
	src := s.src
	src.Runtime = cmp.Or(how.runtime, src.Runtime)
	w, err := pool.OpenIn(ctx, src, how.around)
	var refused *gym.SourceError
	if errors.As(err, &refused) {
		return replayed{refused: refused.Error(), loadedTooLong: refused.Fault.Cause == wire.CauseTimeout}, nil
	}
	if err != nil {
		return replayed{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if s.clock.tick() {
		return replayed{}, errLate
	}
	out.meta, out.recordings = w.Meta(), make([]recording, len(list))
	switch {
	case how.atOnce:
		return out, s.playAtOnce(ctx, w, how, list, out.recordings)
	case !how.alone:
		return out, s.playMoves(ctx, w, how, list, out.recordings)
	}
	for i := range list {
		err := s.playMoves(ctx, w, how, list[i:i+1], out.recordings[i:i+1])
		if err != nil || out.recordings[i].timedOut() {
			return out, err
		}
	}
	return out, nil
}

// playMoves plays the moves of a few trajectories in turn, each as far as it goes.
func (s *session) playMoves(ctx context.Context, w *gym.Worker, how setting, list []*trajectory, out []recording) error {
	for i, t := range list {
		started, err := w.Reset(ctx, []gym.Reset{how.reset(t)})
		if err != nil {
			return err
		}
		if s.clock.tick() {
			return errLate
		}
		out[i].first, out[i].begun = started[0], true
		if out[i].timedOut() {
			return nil
		}
	}
	for turn, playing := 0, true; playing; turn++ {
		playing = false
		for i, t := range list {
			if !out[i].open() || turn >= len(t.actions) {
				continue
			}
			playing = true
			stepped, err := w.Step(ctx, []gym.Action{{Episode: t.reset.Episode, Text: t.actions[turn]}})
			if err != nil {
				return err
			}
			if s.clock.tick() {
				return errLate
			}
			out[i].steps = append(out[i].steps, stepped[0])
			if out[i].timedOut() {
				return nil
			}
		}
	}
	for i, t := range list {
		if out[i].open() {
			if err := w.Drop(ctx, t.reset.Episode); err != nil {
				return err
			}
		}
	}
	return nil
}

// open says whether the episode goes on.
func (r *recording) open() bool {
	last, _ := r.last()
	return r.first.Outcome == gym.Ongoing && last.Outcome == gym.Ongoing
}

// timedOut says whether a clock ended the episode.
func (r *recording) timedOut() bool {
	last, _ := r.last()
	return r.first.Cause == wire.CauseTimeout || last.Cause == wire.CauseTimeout
}

// last is the final answer; ok is false when no step was made.
func (r *recording) last() (gym.Stepped, bool) {
	if len(r.steps) == 0 {
		return gym.Stepped{}, false
	}
	return r.steps[len(r.steps)-1], true
}
