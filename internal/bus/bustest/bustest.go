// Package bustest gives tests a log.
//
// Begin at Open, which takes the cluster that SPADE_KAFKA_BROKERS names, under a prefix that nobody else has, and the embedded
// Kafka where it names none. Start is always the embedded Kafka: tests that stop it, or inject faults, need that one.
package bustest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
)

const (
	user     = "spade"
	password = "bustest"
)

// Broker is a running embedded Kafka.
type Broker struct {
	Log
	*kafka.Server
	cfg kafka.Config
}

// Log is a cluster as a client reaches it.
type Log struct {
	cfg bus.Config
}

// Start runs a broker on a fresh folder until the test ends.
func Start(tb testing.TB) *Broker {
	tb.Helper()
	return start(tb, false)
}

// StartDurable is Start for a broker that calls fsync before it acknowledges.
func StartDurable(tb testing.TB) *Broker {
	tb.Helper()
	return start(tb, true)
}

func start(tb testing.TB, durable bool) *Broker {
	tb.Helper()
	b := &Broker{cfg: kafka.Config{
		Dir: filepath.Join(tb.TempDir(), "kafka"), User: user, Password: secret.New(password), SyncWrites: durable,
	}}
	b.start(tb)
	tb.Cleanup(func() { b.Stop(tb) })
	return b
}

func (b *Broker) start(tb testing.TB) {
	tb.Helper()
	s, err := kafka.New(b.cfg, kafka.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	b.Server, b.cfg.Addr = s, s.Addr()
	b.Log = Log{times(bus.Config{
		Brokers: []string{s.Addr()}, Mechanism: kafka.Mechanism, User: user, Password: secret.New(password),
	}, patience)}
}

// Stop ends the broker; Restart brings it back.
func (b *Broker) Stop(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.Shutdown(ctx); err != nil {
		tb.Fatal(err)
	}
}

// Restart runs the broker again on its folder and address.
func (b *Broker) Restart(tb testing.TB) {
	tb.Helper()
	b.start(tb)
}

// Keep notes what the folder holds now; forget ends the broker and begins it again with that. It is what a power cut does
// to a log that was not synced.
func (b *Broker) Keep(tb testing.TB) (forget func()) {
	tb.Helper()
	kept := filepath.Join(tb.TempDir(), "kept")
	if err := os.CopyFS(kept, os.DirFS(b.cfg.Dir)); err != nil {
		tb.Fatal(err)
	}
	return func() {
		tb.Helper()
		b.Stop(tb)
		if err := errors.Join(os.RemoveAll(b.cfg.Dir), os.CopyFS(b.cfg.Dir, os.DirFS(kept))); err != nil {
			tb.Fatal(err)
		}
		b.Restart(tb)
	}
}

// patience is how long a member may be silent, on a machine that does much else, before the group takes it for dead.
const patience = 15 * time.Second

// Config is a client's configuration for the log, with times that suit tests.
func (l *Log) Config() bus.Config { return l.cfg }

// times makes a configuration one for tests.
func times(cfg bus.Config, session time.Duration) bus.Config {
	cfg.SessionTimeout, cfg.Heartbeat, cfg.FetchWait = session, 50*time.Millisecond, 200*time.Millisecond
	cfg.IdleInterval = 10 * time.Millisecond
	return cfg
}

// Client opens a client that is closed when the test ends.
func (l *Log) Client(tb testing.TB) *bus.Client {
	tb.Helper()
	return l.ClientWith(tb, l.Config(), bus.Settings{})
}

// ClientWith is Client with a configuration and settings of the test's own. Without a check of the test's own, events are
// not checked, nor where they stand: tests of transport move what is no run's.
func (l *Log) ClientWith(tb testing.TB, cfg bus.Config, set bus.Settings) *bus.Client {
	tb.Helper()
	if set.Check == nil {
		set.Check, set.AnyPartition = func(event.Event) error { return nil }, true
	}
	c, err := bus.New(cfg, set)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}
