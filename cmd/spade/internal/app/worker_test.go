package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// staff is workers of a test, each with connections of its own, as processes have.
type staff struct {
	t    *testing.T
	at   Endpoints
	work sync.WaitGroup
}

// hire starts a worker. fire ends it and waits for it.
func (s *staff) hire(l config.Loaded, role Role, run string) (fire func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	log := slog.New(slog.NewTextHandler(s.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	services, err := Open(ctx, l, s.at, log)
	must(s.t, err)
	w := &Worker{Services: services, Config: l, Role: role, Run: run}
	done := make(chan struct{})
	s.work.Go(func() {
		defer close(done)
		if err := errors.Join(w.Work(ctx), services.Close(context.WithoutCancel(ctx))); err != nil {
			s.t.Errorf("%s: %v", role, err)
		}
	})
	return func() {
		cancel()
		<-done
	}
}

func submit(t *testing.T, l config.Loaded, at Endpoints) runs.Run {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := Open(t.Context(), l, at, log)
	must(t, err)
	run, there, err := s.Submit(t.Context(), l, nil)
	must(t, errors.Join(err, s.Close(context.WithoutCancel(t.Context()))))
	if there {
		t.Errorf("run %s was there", run.Name)
	}
	return run
}

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, l.Close()) }()
	return l.Addr().String()
}

// waitFor waits until a topic holds events of a run.
func waitFor(t *testing.T, at Endpoints, l config.Loaded, run runs.Run, topic string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := Open(t.Context(), l, Endpoints{Kafka: at.Kafka}, log)
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		end, err := s.Bus.HighWatermarks(t.Context(), topic)
		must(t, err)
		for partition, offset := range end {
			if offset > run.Positions[topic][partition] {
				return
			}
		}
	}
	t.Fatalf("%s holds nothing of run %s", topic, run.Name)
}

func TestWorkersThatComeAndGoGiveTheSameLog(t *testing.T) {
	command := plugin(t)
	l := small(t, command)
	l.Run.Name = "shared"
	l.Run.Iterations = 3
	want := play(t, l, servers(t, t.TempDir()))

	at := servers(t, t.TempDir())
	at.Kafka.StopTimeout = 5 * time.Second
	run := submit(t, l, at)
	s := &staff{t: t, at: at}
	served := l
	served.Policy.Listen, served.Policy.Token = freeAddr(t), secret.New("shared by the test")
	asking := l
	asking.Policy.Addr, asking.Policy.Token = served.Policy.Listen, served.Policy.Token

	fires := []func(){
		s.hire(l, RoleMemory, ""), s.hire(l, RoleWarehouse, ""), s.hire(l, RoleScorer, ""),
		s.hire(served, RolePolicy, ""), s.hire(asking, RoleDesigner, ""), s.hire(asking, RoleRollout, ""),
	}
	leader := s.hire(l, RoleTrainer, "")
	waitFor(t, at, l, run, topics.Environments)
	// The leader leaves while designs are on their way; designers, players and another leader join.
	fires = append(fires, s.hire(l, RoleTrainer, ""), s.hire(l, RoleDesigner, "shared"), s.hire(asking, RoleRollout, run.ID.String()))
	leader()
	waitFor(t, at, l, run, topics.Regrets)
	fires[4]() // the designer that began
	fires = append(fires[:4], fires[5:]...)

	// A process that runs the run by itself joins the others, waits for its end with them and sums it up.
	got := play(t, l, at)
	for _, fire := range fires {
		fire()
	}
	s.work.Wait()
	if got.LogDigest != want.LogDigest || got.Events != want.Events {
		t.Errorf("one process: digest %s of %d events; workers: %s of %d", want.LogDigest, want.Events, got.LogDigest, got.Events)
	}
}

func TestAWorkerThatIsNotFitForARunSaysSo(t *testing.T) {
	l := small(t, plugin(t))
	l.Run.Name = "unfit"
	at := servers(t, t.TempDir())
	run := submit(t, l, at)
	run.Config.PluginVersion = "0.0.1"
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := Open(t.Context(), l, at, log)
	must(t, err)
	w := &Worker{Services: s, Config: l, Role: RoleRollout}
	if err := w.work(t.Context(), t.Context(), run); !errors.Is(err, ErrUnfit) {
		t.Errorf("another plugin: %v", err)
	}
	w.Role = RoleTrainer
	run.Config.Suites = []string{"one@00"}
	if err := w.work(t.Context(), t.Context(), run); !errors.Is(err, ErrUnfit) {
		t.Errorf("other suites: %v", err)
	}
	run.Config.EmbeddingModel = "another"
	if err := w.work(t.Context(), t.Context(), run); !errors.Is(err, ErrUnfit) {
		t.Errorf("another embedder: %v", err)
	}
	must(t, s.Close(context.WithoutCancel(t.Context())))
}

// silentAddr is an address where connections are taken and nothing is answered. asked is closed at the first.
func silentAddr(t *testing.T) (addr string, asked <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	first := make(chan struct{})
	var taken sync.WaitGroup
	taken.Go(func() {
		for once := sync.OnceFunc(func() { close(first) }); ; once() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	})
	t.Cleanup(func() { must(t, l.Close()); taken.Wait() })
	return l.Addr().String(), first
}

func TestAPolicyThatDoesNotAnswerIsWaitedForWhileTheRunLasts(t *testing.T) {
	l := small(t, plugin(t))
	l.Run.Name = "alone"
	at := servers(t, t.TempDir())
	run := submit(t, l, at)
	asking := l
	addr, asked := silentAddr(t)
	asking.Policy.Addr, asking.Policy.Token = addr, secret.New("of nobody")
	s := &staff{t: t, at: at}
	fire := s.hire(asking, RoleRollout, "alone")
	defer fire()
	log, err := Open(t.Context(), l, Endpoints{Kafka: at.Kafka}, slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, log.Close(context.WithoutCancel(t.Context()))) }()

	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the worker asks no policy")
	}
	over, err := event.New(topics.RunKey(run.ID), run.ID, 0, &spadepb.RunFinished{RunId: run.ID[:], Status: "finished"}, nil)
	must(t, err)
	must(t, log.Bus.Append(t.Context(), over))
	ended := make(chan struct{})
	go func() { s.work.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the worker waits for a policy after its run's end")
	}
}
