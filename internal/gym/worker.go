package gym

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Worker plays episodes of one source in one process at a time. Reset, Step and Drop may be called from several
// goroutines and run one after the other; Close may be called at any time and ends a call that is under way.
type Worker struct {
	pool   *Pool
	src    Source
	launch launch
	meta   Meta

	// calls serialises what uses the following.
	calls    sync.Mutex
	episodes map[int]*history // the open ones
	lost     map[int]Fault    // those that ended while nobody asked for an answer
	arm      *bool            // whether this worker's episodes come with the hint; unset before the first

	// mu guards the following.
	mu     sync.Mutex
	proc   *proc
	closed bool
}

var _ io.Closer = (*Worker)(nil)

// history is all that is needed to play an episode up to where it is.
type history struct {
	reset   Reset
	actions []string
	hash    string
	total   float64 // of the rewards
}

// Meta returns what the environment says about itself.
func (w *Worker) Meta() Meta { return w.meta }

// Tier returns the name of the sandbox tier that the worker runs in.
func (w *Worker) Tier() string { return w.pool.TierOf(w.src.Runtime) }

// Close ends the worker's process, waits for it and frees its place in the pool. It may be called more than once.
func (w *Worker) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	p := w.proc
	w.proc = nil
	w.mu.Unlock()
	var err error
	if p != nil {
		err = p.close()
	}
	w.pool.dismiss(w)
	return err
}

// current returns the process, or ErrClosed.
func (w *Worker) current() (*proc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.proc == nil {
		return nil, ErrClosed
	}
	return w.proc, nil
}

// fresh replaces the process by a new one. Nothing is loaded into it yet.
func (w *Worker) fresh(ctx context.Context) (*proc, error) {
	w.mu.Lock()
	old, closed := w.proc, w.closed
	w.proc = nil
	w.mu.Unlock()
	if closed {
		return nil, ErrClosed // which has ended the old one
	}
	if old != nil {
		if err := old.close(); err != nil {
			return nil, err
		}
	}
	p, err := w.pool.take(ctx, w.launch)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errors.Join(ErrClosed, p.close())
	}
	w.proc = p
	return p, nil
}

// Reset starts episodes, each from the state right after the source was loaded, and returns one answer for each in
// order. An answer with an outcome means that the episode is over. All episodes of a worker belong to one arm: all of
// them come with the hint, or none.
func (w *Worker) Reset(ctx context.Context, resets []Reset) ([]Started, error) {
	w.calls.Lock()
	defer w.calls.Unlock()
	if err := w.checkResets(resets); err != nil {
		return nil, err
	}
	return run(ctx, w, resetting, resets)
}

// begin opens an episode that has begun, and returns the answer as far as it can be believed.
func (w *Worker) begin(reset Reset, answer Started) Started {
	if answer.Outcome == Solved || answer.Outcome == Failed {
		answer = Started{Episode: reset.Episode, Fault: disbelieved("the worker tells of an outcome before the first action", answer.Fault)}
	}
	if answer.Outcome == Ongoing {
		w.episodes[answer.Episode] = &history{reset: reset, hash: answer.StateHash}
	}
	return answer
}

func (w *Worker) checkResets(resets []Reset) error {
	seen := make(map[int]bool, len(resets))
	for _, r := range resets {
		if _, lost := w.lost[r.Episode]; lost || w.episodes[r.Episode] != nil || seen[r.Episode] || r.Episode < 0 {
			return fmt.Errorf("%w: episode %d is open", ErrMisuse, r.Episode)
		}
		seen[r.Episode] = true
		if w.arm == nil {
			w.arm = &r.WantHint
		}
		if *w.arm != r.WantHint {
			return fmt.Errorf("%w: one worker for both arms", ErrMisuse)
		}
	}
	return nil
}

// Step plays one action in each of several open episodes and returns one answer for each in order. An answer with an
// outcome means that the episode is over and its number free. At max_steps the platform truncates.
func (w *Worker) Step(ctx context.Context, actions []Action) ([]Stepped, error) {
	w.calls.Lock()
	defer w.calls.Unlock()
	out := make([]Stepped, len(actions))
	playable, at := make([]Action, 0, len(actions)), make([]int, 0, len(actions))
	seen := make(map[int]bool, len(actions))
	var refused []int
	for i, a := range actions {
		if f, ok := w.lost[a.Episode]; ok {
			out[i] = Stepped{Episode: a.Episode, Fault: f}
			delete(w.lost, a.Episode)
			continue
		}
		if w.episodes[a.Episode] == nil || seen[a.Episode] {
			return nil, fmt.Errorf("%w: episode %d is not open, or twice in one batch", ErrMisuse, a.Episode)
		}
		seen[a.Episode] = true
		if f := checkAction(a.Text, w.pool.cfg.Limits.Action); f.Outcome != Ongoing {
			out[i] = Stepped{Episode: a.Episode, Fault: f}
			refused = append(refused, a.Episode)
			continue
		}
		playable, at = append(playable, a), append(at, i)
	}
	answers, err := run(ctx, w, stepping, playable)
	if err != nil {
		return nil, err
	}
	for i, a := range answers {
		out[at[i]] = a
	}
	return out, w.drop(ctx, refused)
}

// checkAction refuses what must not reach an environment. It is the agent's doing, so it has an outcome of its own.
func checkAction(text string, limit int) Fault {
	switch {
	case len(text) > limit:
		return Fault{Outcome: Overlong, Cause: wire.CauseLimit, Error: fmt.Sprintf("an action of %d bytes, %d allowed", len(text), limit)}
	case !utf8.ValidString(text):
		return Fault{Outcome: TextEncoding, Cause: wire.CauseEncoding, Error: "the action is not UTF-8"}
	}
	return Fault{}
}

// record adds an action that was answered to its episode, and returns the answer as far as it can be believed.
func (w *Worker) record(action Action, answer Stepped) Stepped {
	h := w.episodes[action.Episode]
	if h == nil {
		return answer // it ended without an answer of its own
	}
	answer = h.believed(answer, w.meta.MaxSteps)
	if answer.Outcome != Ongoing {
		delete(w.episodes, action.Episode)
		return answer
	}
	h.actions = append(h.actions, action.Text)
	h.hash, h.total = answer.StateHash, answer.Return
	return answer
}

// Drop forgets episodes that nobody will play on, and frees their numbers.
func (w *Worker) Drop(ctx context.Context, episodes ...int) error {
	w.calls.Lock()
	defer w.calls.Unlock()
	return w.drop(ctx, episodes)
}

func (w *Worker) drop(ctx context.Context, episodes []int) error {
	if len(episodes) == 0 {
		return nil
	}
	for _, n := range episodes {
		delete(w.episodes, n)
		delete(w.lost, n)
	}
	p, err := w.current()
	if err != nil {
		return err
	}
	defer p.interruptible(ctx)()
	w.pool.dog.enter(p) // what is forgotten may have finalisers
	defer w.pool.dog.leave(p)
	e := wire.Encoder{Buf: wire.AppendHeader(nil, p.nonce, wire.KindDrop)}
	for _, n := range episodes {
		e.Int(n)
	}
	if err := p.send(ctx, e.Buf, w.pool.cfg.CallTimeout); err != nil {
		return w.ignoreDeath(err)
	}
	_, _, err = p.recv(ctx, w.pool.cfg.CallTimeout)
	return w.ignoreDeath(err)
}

// ignoreDeath lets the next call find out that the process is gone and make good for it.
func (w *Worker) ignoreDeath(err error) error {
	var death *deathError
	if errors.As(err, &death) {
		return nil
	}
	return err
}

// timeout is the backstop for one call.
func (w *Worker) timeout() time.Duration { return w.pool.cfg.CallTimeout }
