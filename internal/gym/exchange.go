package gym

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// A batch is cut into messages of at most this many calls and about this many bytes.
const (
	messageCalls = 64
	messageBytes = 4 << 20
)

// verb is one of the two calls that come in batches: how a call is written, how its answer is read, which episode each
// belongs to, the answer that stands for a fault, and what an answer changes in the worker's books, which gives
// the answer to tell.
type verb[Q, A any] struct {
	kind    wire.Kind
	encode  func(*wire.Encoder, Q)
	decode  func(*wire.Decoder) A
	asked   func(Q) int
	told    func(A) int
	size    func(Q) int
	faulty  func(Q, Fault) A
	flagged func(*A)
	settle  func(*Worker, Q, A) A
}

var (
	resetting = &verb[Reset, Started]{
		kind:    wire.KindResets,
		encode:  (*wire.Encoder).Reset,
		decode:  (*wire.Decoder).Started,
		asked:   func(q Reset) int { return q.Episode },
		told:    func(a Started) int { return a.Episode },
		size:    func(Reset) int { return 16 },
		faulty:  func(q Reset, f Fault) Started { return Started{Episode: q.Episode, Fault: f} },
		flagged: func(a *Started) { a.Nondeterministic = true },
		settle:  (*Worker).begin,
	}
	stepping = &verb[Action, Stepped]{
		kind:    wire.KindActions,
		encode:  (*wire.Encoder).Action,
		decode:  (*wire.Decoder).Stepped,
		asked:   func(q Action) int { return q.Episode },
		told:    func(a Stepped) int { return a.Episode },
		size:    func(q Action) int { return len(q.Text) + 16 },
		faulty:  func(q Action, f Fault) Stepped { return Stepped{Episode: q.Episode, Fault: f} },
		flagged: func(a *Stepped) { a.Nondeterministic = true },
		settle:  (*Worker).record,
	}
)

// exchange sends calls and reads their answers, in order. When the process dies in between, the answers that came before
// are returned with the *deathError.
func exchange[Q, A any](ctx context.Context, w *Worker, p *proc, v *verb[Q, A], calls []Q, careful bool) ([]A, error) {
	defer p.interruptible(ctx)()
	w.pool.dog.enter(p)
	defer w.pool.dog.leave(p)
	answers := make([]A, 0, len(calls))
	for len(answers) < len(calls) {
		part := cut(v, calls[len(answers):])
		e := wire.Encoder{Buf: wire.AppendHeader(make([]byte, 0, 4<<10), p.nonce, v.kind)}
		e.Bool(careful)
		for _, q := range part {
			v.encode(&e, q)
		}
		if err := p.send(ctx, e.Buf, w.timeout()); err != nil {
			return answers, err
		}
		var err error
		if answers, err = collect(ctx, w, p, v, part, answers); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

func cut[Q, A any](v *verb[Q, A], calls []Q) []Q {
	bytes := 0
	for i, q := range calls {
		if bytes += v.size(q); i > 0 && (i == messageCalls || bytes > messageBytes) {
			return calls[:i]
		}
	}
	return calls
}

// collect reads the answers to part until the frame that says it is the last.
func collect[Q, A any](ctx context.Context, w *Worker, p *proc, v *verb[Q, A], part []Q, answers []A) ([]A, error) {
	first := len(answers)
	for {
		kind, body, err := p.recv(ctx, w.timeout())
		if err != nil {
			return answers, err
		}
		read, err := readAnswers(v, part[len(answers)-first:], wire.NewDecoder(body).Within(w.pool.cfg.Limits))
		at := len(answers) - first + len(read)
		last := kind == wire.KindLast
		// A frame without answers would be no progress, and each has the time of a whole call.
		if err == nil && (!last && (kind != wire.KindResults || len(read) == 0) || last != (at == len(part))) {
			err = fmt.Errorf("message kind %d after %d of %d answers", kind, at, len(part))
		}
		if err != nil {
			return answers, p.death(&deathError{cause: causeProtocol, text: err.Error()}) // nothing of such a frame counts
		}
		answers = append(answers, read...)
		if last {
			return answers, nil
		}
	}
}

// readAnswers reads one frame of answers, which must be to the first of the calls that are waiting.
func readAnswers[Q, A any](v *verb[Q, A], waiting []Q, d *wire.Decoder) ([]A, error) {
	read := make([]A, 0, len(waiting))
	for d.More() {
		a := v.decode(d)
		if err := d.Err(); err != nil {
			return nil, err
		}
		if len(read) == len(waiting) || v.told(a) != v.asked(waiting[len(read)]) {
			return nil, errors.New("an answer out of place")
		}
		read = append(read, a)
	}
	return read, d.Err()
}

// run makes calls and answers for every one of them, whatever happens to the process. When it dies, the open episodes are
// played again in a fresh one and the calls that are still without an answer are made one by one. A call under which the
// process dies twice gets the fault; one that goes well the second time gets its answer, marked where a clock had a part.
func run[Q, A any](ctx context.Context, w *Worker, v *verb[Q, A], calls []Q) ([]A, error) {
	p, err := w.current()
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	answers, err := exchange(ctx, w, p, v, calls, false)
	r := recovery[Q, A]{w: w, v: v, calls: calls, answers: answers, suspects: [2]int{}}
	for err != nil {
		var death *deathError
		if !errors.As(err, &death) {
			return nil, errors.Join(err, w.Close())
		}
		err = r.after(ctx, death)
	}
	r.mark()
	r.settle()
	return r.answers, nil
}
