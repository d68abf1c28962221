package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestVerifyTellsWhatIsInFlightFromWhatIsMissing: what an open iteration lacks is in flight, what a finished run lacks is
// missing.
func TestVerifyTellsWhatIsInFlightFromWhatIsMissing(t *testing.T) {
	l, err := config.Load(config.Sources{})
	must(t, err)
	l.Checkpoints = t.TempDir()
	s := open(t, l, servers(t, t.TempDir()))
	run := ids.Run("crafted")
	key := topics.RunKey(run)
	env := ids.Env(run, 0, 0, 0)
	events := []event.Event{
		newEvent(t, key, run, &spadepb.RunStarted{
			RunId: run[:], Name: "crafted", Kind: runs.KindTrain, Config: &spadepb.SemanticConfig{Iterations: 1, Designs: 2, EnvSeeds: 2, Repeats: 1},
		}),
		newEvent(t, topics.EnvKey(run, env), env, &spadepb.DesignRequested{RunId: run[:], EnvId: env[:]}),
		newEvent(t, topics.EnvKey(run, env), env, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: env[:], Code: "x = 1"}),
		newEvent(t, topics.EnvKey(run, env), env, &spadepb.EnvironmentAccepted{
			RunId: run[:], EnvId: env[:], ExpectedPlain: 2, ExpectedHinted: 2, Repeats: 1, EnvSeeds: []uint64{1, 2},
		}),
	}
	one := ids.Rollout(env, ids.ArmPlain, 0, 0)
	events = append(events, newEvent(t, topics.EnvKey(run, env), one, &spadepb.RolloutCompleted{
		RunId: run[:], RolloutId: one[:], EnvId: env[:], Arm: ids.ArmPlain,
	}))
	must(t, s.Bus.Append(t.Context(), events...))
	v, err := s.VerifyAll(t.Context(), VerifyOptions{})
	must(t, err)
	for _, f := range v.Differences {
		t.Errorf("unfinished: %s", f)
	}
	if got := v.Runs[0].InFlight; got.Rollouts != 3 || got.Regrets != 1 || v.Runs[0].Status != "running" {
		t.Errorf("%+v", v.Runs[0])
	}

	// Its checkpoints: one in the log that is not what it says, one that no folder holds, one whose file is another.
	state := []byte("state")
	sum := sha256.Sum256(state)
	lost := sha256.Sum256([]byte("lost"))
	spoilt := sha256.Sum256([]byte("spoilt"))
	update := func(from int64, c *spadepb.Checkpoint) event.Event {
		return newEvent(t, key, ids.Policy(run, from), &spadepb.PolicyUpdated{RunId: run[:], PolicyFrom: from, PolicyTo: from + 1, Checkpoint: c})
	}
	must(t, os.WriteFile(filepath.Join(l.Checkpoints, fmt.Sprintf("%x", spoilt)), []byte("something else"), 0o600))
	must(t, os.WriteFile(filepath.Join(l.Checkpoints, fmt.Sprintf("%x", sum)), state, 0o600))
	must(t, s.Bus.Append(t.Context(),
		update(-1, &spadepb.Checkpoint{Sha256: sum[:], Bytes: 5, Inline: []byte("other")}),
		update(0, &spadepb.Checkpoint{Sha256: lost[:], Bytes: 9 << 20}),
		update(1, &spadepb.Checkpoint{Sha256: spoilt[:], Bytes: 9 << 20}),
		update(2, &spadepb.Checkpoint{Sha256: sum[:], Bytes: 5}),
		newEvent(t, key, run, &spadepb.RunFinished{RunId: run[:], Status: "finished", Designed: 1, Accepted: 1}),
	))
	v, err = s.VerifyAll(t.Context(), VerifyOptions{})
	must(t, err)
	found := differences(v)
	wants(t, found, "checkpoints: corrupt "+ids.Policy(run, -1).String())
	wants(t, found, "checkpoints: missing or corrupt "+ids.Policy(run, 0).String(), "no such checkpoint")
	wants(t, found, "checkpoints: missing or corrupt "+ids.Policy(run, 1).String(), "corrupt")
	wants(t, found, "log: missing rollout "+ids.Rollout(env, ids.ArmHinted, 1, 0).String(), "hinted arm, seed 1")
	wants(t, found, "log: missing terminal "+ids.Env(run, 0, 1, 0).String(), "slot 1")
	wants(t, found, "log: missing request "+ids.Env(run, 0, 1, 0).String())
	wants(t, found, "log: missing reward "+env.String())
	wants(t, found, "log: missing batch")
	wants(t, found, "log: wrong count "+run.String(), "says 0 rollouts, the log has 1")
	if v.Checkpoints.Stored != 3 || v.Checkpoints.Inline != 1 {
		t.Errorf("%+v", v.Checkpoints)
	}
	s.checkpoints = nil
	v, err = s.VerifyAll(t.Context(), VerifyOptions{Only: []string{verify.AreaCheckpoints}})
	must(t, err)
	if len(v.Differences) < 3 || !strings.Contains(v.Differences[1].Detail, "SPADE_CHECKPOINTS is not set") {
		t.Errorf("without a store: %v", v.Differences)
	}
}

// TestVerifyWhileOthersWrite: a verification beside a process that fills the projections takes no part in their groups, and
// finds nothing wrong with what has come so far.
func TestVerifyWhileOthersWrite(t *testing.T) {
	l := small(t, plugin(t))
	l.Run.Name = "busy"
	at := servers(t, t.TempDir())
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		s, err := Open(ctx, l, at, slog.New(slog.DiscardHandler))
		if err == nil {
			_, err = s.RunLoop(ctx, l, silent{}, nil)
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
		done <- err
	}()
	live := 0
	for running := true; running; {
		select {
		case err := <-done:
			must(t, err)
			running = false
		default:
			v := verifyOnce(t, l, at)
			if v.Live {
				live++
			}
			for _, f := range v.Differences {
				t.Errorf("%d runs, live %v: %s", len(v.Runs), v.Live, f)
			}
		}
	}
	if live == 0 {
		t.Error("no verification met the running processes")
	}
}

// wedged is a processor that never comes back.
type wedged struct{}

func (wedged) Process(ctx context.Context, _ bus.Batch) error { <-ctx.Done(); return nil }
func (wedged) Idle(context.Context) error                     { return nil }
func (wedged) Revoked(context.Context) error                  { return nil }
func (wedged) Lost()                                          {}

// TestVerifyBesideAProcessThatGetsNowhere: that nothing differs in what was not compared is no good news.
func TestVerifyBesideAProcessThatGetsNowhere(t *testing.T) {
	l, err := config.Load(config.Sources{})
	must(t, err)
	l.Checkpoints = t.TempDir()
	s := open(t, l, servers(t, t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan error, 1)
	go func() {
		stuck <- s.Bus.Consume(ctx, warehouse.Group, []string{topics.Runs}, nil, bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
			return wedged{}, nil
		}))
	}()
	defer func() { cancel(); <-stuck }()
	for n := 0; n == 0; {
		n, err = s.Bus.Members(t.Context(), warehouse.Group)
		must(t, err)
	}
	run, document := ids.Run("waits"), uuid.New()
	must(t, s.Bus.Append(t.Context(),
		newEvent(t, topics.RunKey(run), run, &spadepb.RunStarted{RunId: run[:], Name: "waits", Kind: runs.KindTrain, Config: &spadepb.SemanticConfig{}}),
		newEvent(t, document.String(), document, &spadepb.DocumentIngested{DocumentId: document[:], Title: "title", Text: "text"}),
	))
	v, err := s.VerifyAll(t.Context(), VerifyOptions{})
	must(t, err)
	if len(v.Behind) != 2 || !strings.Contains(v.Behind[0], "warehouse has not come to the last 2 events") || !strings.Contains(v.Behind[1], "1 of its points") {
		t.Errorf("behind %q, differences %v", v.Behind, differences(v))
	}
}

// TestVerifyAsItIs: who only looks joins no group, writes nothing, and compares what is there.
func TestVerifyAsItIs(t *testing.T) {
	l, err := config.Load(config.Sources{})
	must(t, err)
	l.Checkpoints = t.TempDir()
	at := servers(t, t.TempDir())
	looker := open(t, l, at)
	look := func() (Verification, error) { return looker.VerifyAll(t.Context(), VerifyOptions{AsIs: true}) }
	if _, err := look(); !errors.Is(err, ErrNeverFilled) {
		t.Errorf("of nothing: %v", err)
	}
	document := func(text string) event.Event {
		id := ids.Document([]byte(text))
		return newEvent(t, id.String(), id, &spadepb.DocumentIngested{DocumentId: id[:], Title: "title", Text: text})
	}
	filler, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	must(t, filler.Bus.Append(t.Context(), document("one")))
	v, err := filler.VerifyAll(t.Context(), VerifyOptions{})
	must(t, errors.Join(err, filler.Close(context.WithoutCancel(t.Context()))))
	if v.Total != 0 || len(v.Behind) > 0 {
		t.Fatalf("filled: behind %q, %v", v.Behind, differences(v))
	}
	wrote := func() (n uint64) {
		t.Helper()
		must(t, looker.warehouse.QueryRow(t.Context(), "SELECT sum(total_rows) FROM system.tables WHERE database = 'spade'").Scan(&n))
		return n
	}
	before := wrote()
	v, err = look()
	must(t, err)
	if !v.AsIs || v.Total != 0 || len(v.Behind) > 0 || v.Memory.Documents != 1 || v.Keys == 0 {
		t.Errorf("as it is: %+v", v)
	}
	must(t, looker.Bus.Append(t.Context(), document("two")))
	v, err = look()
	must(t, err)
	if v.Total != 0 || len(v.Behind) != 2 || !strings.Contains(v.Behind[0], "the last 1 events") || !strings.Contains(v.Behind[1], "1 of its points") {
		t.Errorf("behind %q, differences %v", v.Behind, differences(v))
	}
	if after := wrote(); after != before {
		t.Errorf("%d rows, before it was looked at %d", after, before)
	}
	must(t, looker.warehouse.Exec(t.Context(), "TRUNCATE TABLE spade.document_events"))
	v, err = look()
	must(t, err)
	wants(t, differences(v), "warehouse", "missing")
	for _, group := range append(looker.warehouseGroups(), looker.memory.Group()) {
		if n, err := looker.Bus.Members(t.Context(), group); err != nil || n > 0 {
			t.Errorf("%d members of %s: %v", n, group, err)
		}
	}
	if looker.sinks != nil || looker.sink != nil {
		t.Error("projections were begun")
	}
}

// verifyOnce verifies as a process of its own does.
func verifyOnce(t *testing.T, l config.Loaded, at Endpoints) Verification {
	t.Helper()
	s, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	v, err := s.VerifyAll(t.Context(), VerifyOptions{})
	must(t, errors.Join(err, s.Close(context.WithoutCancel(t.Context()))))
	return v
}
