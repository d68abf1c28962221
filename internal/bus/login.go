package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/segmentio/kafka-go/sasl"
)

// maxLogins is how many logins in a row must fail until the cluster counts as
// refusing them: a broker that is stopping cuts one off as well.
const maxLogins = 3

// logins watches the SASL exchanges. Some brokers, kfake among them, refuse a
// password by closing the connection, which looks like any broken connection.
type logins struct {
	sasl.Mechanism
	started, done atomic.Int64
}

// Start begins an exchange.
func (l *logins) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	l.started.Add(1)
	sess, first, err := l.Mechanism.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	return loginSession{StateMachine: sess, l: l}, first, nil
}

type loginSession struct {
	sasl.StateMachine
	l *logins
}

// Next takes the broker's answer.
func (s loginSession) Next(ctx context.Context, challenge []byte) (bool, []byte, error) {
	done, response, err := s.StateMachine.Next(ctx, challenge)
	if done {
		s.l.done.Add(1)
	}
	return done, response, err
}

// attempts counts the refused logins among the tries of one operation.
type attempts struct {
	l             *logins
	started, done int64
	refused       int
}

func (l *logins) attempts() *attempts {
	if l == nil {
		return &attempts{}
	}
	return &attempts{l: l, started: l.started.Load(), done: l.done.Load()}
}

// class is classify, with ErrLogin once the login has been cut off maxLogins
// times in a row.
func (a *attempts) class(op string, err error) error {
	class := classify(op, err)
	cut := errors.Is(class, ErrLogin)
	if a.l != nil {
		started, done := a.l.started.Load(), a.l.done.Load()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			cut = cut || (started > a.started && done == a.done)
		}
		a.started, a.done = started, done
	}
	if !cut {
		a.refused = 0
		return class
	}
	a.refused++
	if a.final() && !errors.Is(class, ErrLogin) {
		return fmt.Errorf("%s: %w: %w", op, ErrLogin, withoutMethod(err))
	}
	return class
}

// worked notes a success: refusals count in a row only.
func (a *attempts) worked() { a.refused = 0 }

// final reports that trying on is useless.
func (a *attempts) final() bool { return a.refused >= maxLogins }
