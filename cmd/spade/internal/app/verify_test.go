package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/cmd/spade/internal/letters"
	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// damaged is a stack with a finished run that tests damage. Its services stay open.
type damaged struct {
	*Services
	at  Endpoints
	run runs.Run
}

// newDamaged plays a small run and sees that nothing is wrong with it.
func newDamaged(t *testing.T) *damaged {
	t.Helper()
	l := small(t, plugin(t))
	l.Run.Name, l.Run.Iterations, l.Checkpoints = "damaged", 1, t.TempDir()
	d := &damaged{at: servers(t, t.TempDir())}
	summary := play(t, l, d.at)
	d.Services = open(t, l, d.at)
	must(t, d.StartSinks(t.Context()))
	var err error
	d.run, err = FindRun(t.Context(), d.Bus, summary.RunID)
	must(t, err)
	if found := d.found(t, VerifyOptions{}); len(found) > 0 {
		t.Fatalf("before any damage:\n%s", strings.Join(found, "\n"))
	}
	return d
}

// open opens services until the test ends.
func open(t *testing.T, l config.Loaded, at Endpoints) *Services {
	t.Helper()
	s, err := Open(t.Context(), l, at, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// found verifies and returns the differences as text.
func (d *damaged) found(t *testing.T, o VerifyOptions) []string {
	t.Helper()
	v, err := d.VerifyAll(t.Context(), o)
	must(t, err)
	return differences(v)
}

func differences(v Verification) []string {
	var out []string
	for _, f := range v.Differences {
		out = append(out, f.String())
	}
	return out
}

// appends appends crafted events.
func (d *damaged) appends(t *testing.T, events ...event.Event) {
	t.Helper()
	must(t, d.Bus.Append(t.Context(), events...))
}

// wants fails unless a difference holds all of the parts.
func wants(t *testing.T, found []string, parts ...string) {
	t.Helper()
	for _, f := range found {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(f, p)
		}
		if all {
			return
		}
	}
	t.Errorf("no difference holds %q:\n%s", parts, strings.Join(found, "\n"))
}

// newEvent makes an event of a run.
func newEvent(t *testing.T, key string, subject uuid.UUID, msg proto.Message) event.Event {
	t.Helper()
	ev, err := event.New(key, subject, 0, msg, &spadepb.Observed{})
	must(t, err)
	return ev
}

// TestVerifyNamesEveryDamage plants one damage after the other in the stack of a finished run.
func TestVerifyNamesEveryDamage(t *testing.T) {
	d := newDamaged(t)
	t.Run("a dead letter and its retry", d.retryLetter)
	t.Run("warehouse", d.damageWarehouse)
	t.Run("memory", d.damageMemory)
	t.Run("withdrawn texts", d.damageWithdrawn)
	t.Run("lies", d.lie)
	t.Run("log", d.damageLog)
}

// retryLetter: rows that the warehouse could not take are missing, and a dead letter says so; once its record is appended
// again they are there, and nothing is wrong although they come from another record than the log's first one.
func (d *damaged) retryLetter(t *testing.T) {
	var lost event.Event
	must(t, d.Bus.Read(t.Context(), topics.Regrets, nil, nil, func(ev event.Event) error {
		if ev.Type == event.TypeOf((*spadepb.RegretEstimated)(nil)) {
			lost = ev
		}
		return nil
	}))
	must(t, d.warehouse.Exec(t.Context(), fmt.Sprintf("ALTER TABLE spade.regrets DELETE WHERE event_id = '%s' SETTINGS mutations_sync = 1", lost.ID)))
	must(t, d.poison("warehouse").Event(t.Context(), lost, errors.New("the row was too large")))
	found := d.found(t, VerifyOptions{})
	wants(t, found, "log: dead letter", "warehouse could not apply spade.regrets/", "too large")
	wants(t, found, "warehouse: missing row regrets", lost.ID.String())

	list, err := letters.Read(t.Context(), d.Bus, letters.Query{Run: d.run.ID})
	must(t, err)
	done, err := letters.Retry(t.Context(), d.Bus, list, letters.Options{})
	must(t, err)
	if len(done) != 1 || done[0].Action != letters.Appended {
		t.Fatalf("%+v", done)
	}
	v, err := d.VerifyAll(t.Context(), VerifyOptions{Run: &d.run})
	must(t, err)
	for _, f := range differences(v) {
		t.Errorf("after the retry: %s", f)
	}
	if len(v.Letters) != 1 || !v.Letters[0].Retried || v.Counts.Retried != 1 {
		t.Errorf("letters %+v, counts %+v", v.Letters, v.Counts)
	}
	before, err := Digest(t.Context(), d.Bus, d.run)
	must(t, err)
	if v.Log.Sum() != before.Sum() {
		t.Error("verify and digest do not agree")
	}
}

func (d *damaged) damageWarehouse(t *testing.T) {
	only := VerifyOptions{Only: []string{verify.AreaWarehouse}}
	for _, tc := range []struct {
		name, damage string
		parts        []string
	}{
		{
			"a row deleted", "ALTER TABLE spade.iterations DELETE WHERE iteration = 0 SETTINGS mutations_sync = 1",
			[]string{"warehouse: missing row iterations", d.run.ID.String()},
		},
		{
			"a row changed", "ALTER TABLE spade.designer_rewards UPDATE novelty_part = 0.123 WHERE 1 SETTINGS mutations_sync = 1",
			[]string{"warehouse: changed row designer_rewards", `novelty_part is "0.123" in the warehouse`, "in the log"},
		},
		{
			"a row doubled", "INSERT INTO spade.policy_events SELECT * FROM spade.policy_events WHERE policy_from = 0",
			[]string{"warehouse: doubled row policy_events"},
		},
		{
			"a phantom row",
			"INSERT INTO spade.regrets SELECT * REPLACE (generateUUIDv4() AS event_id, 'invented' AS estimator) FROM spade.regrets LIMIT 1",
			[]string{"warehouse: phantom row regrets"},
		},
		{
			"a row of a record that the log does not have",
			"INSERT INTO spade.design_requests SELECT * REPLACE (generateUUIDv4() AS event_id, 900000 AS kafka_offset) FROM spade.design_requests LIMIT 1",
			[]string{"warehouse: phantom row", "at 900000", "the log ends at"},
		},
		{
			"a document's row deleted",
			"ALTER TABLE spade.document_events DELETE WHERE document_id = (SELECT min(document_id) FROM spade.document_events) SETTINGS mutations_sync = 1",
			[]string{"warehouse: missing row document_events"},
		},
		{
			"an embedding changed",
			"ALTER TABLE spade.embeddings UPDATE vector = arrayMap(x -> x / 2, vector) WHERE entity_kind = 'environment' SETTINGS mutations_sync = 1",
			[]string{"warehouse: changed row embeddings", "vector is"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			must(t, d.warehouse.Exec(t.Context(), tc.damage))
			wants(t, d.found(t, only), tc.parts...)
		})
	}
	ofRun := d.found(t, VerifyOptions{Only: only.Only, Run: &d.run})
	wants(t, ofRun, "missing row iterations")
	for _, f := range ofRun {
		if strings.Contains(f, "document_events") {
			t.Errorf("documents belong to no run: %s", f)
		}
	}
}

func (d *damaged) damageMemory(t *testing.T) {
	only := VerifyOptions{Only: []string{verify.AreaMemory}}
	environments, documents := d.memory.Collections()
	points := map[string][]vector.Hit{}
	for _, c := range []string{environments, documents} {
		must(t, d.Vectors.Scroll(t.Context(), c, vector.Condition{}, func(h vector.Hit) error {
			points[c] = append(points[c], h)
			return nil
		}))
	}
	if len(points[environments]) < 3 || len(points[documents]) < 3 {
		t.Fatalf("%d environments, %d documents", len(points[environments]), len(points[documents]))
	}
	env, doc := points[environments], points[documents]
	upsert := func(collection string, id uuid.UUID, v []float32, payload map[string]any) {
		must(t, d.Vectors.Upsert(t.Context(), collection, []vector.Point{{ID: id, Vector: v, Payload: payload}}))
	}
	must(t, d.Vectors.Delete(t.Context(), environments, env[0].ID))
	changed := env[1]
	changed.Payload["title"] = "another"
	upsert(environments, changed.ID, changed.Vector, changed.Payload)
	upsert(environments, env[2].ID, env[1].Vector, env[2].Payload)
	phantom := map[string]any{"run_id": d.run.ID.String(), "env_id": uuid.New().String(), "iteration": 0, "slot": 0}
	upsert(environments, uuid.UUID{1}, env[1].Vector, phantom)
	must(t, d.Vectors.Delete(t.Context(), documents, doc[0].ID))
	upsert(documents, uuid.UUID{2}, doc[1].Vector, map[string]any{"document_id": uuid.New().String(), "withdrawn": false})
	found := d.found(t, only)
	wants(t, found, "memory: missing point "+env[0].ID.String())
	wants(t, found, "memory: changed point "+env[1].ID.String(), `title is "another"`)
	wants(t, found, "memory: changed point "+env[2].ID.String(), "of its vector is")
	wants(t, found, "memory: phantom point "+uuid.UUID{1}.String())
	wants(t, found, "memory: missing point "+doc[0].ID.String())
	wants(t, found, "memory: phantom point "+uuid.UUID{2}.String())
	if len(found) != 6 {
		t.Errorf("%d differences:\n%s", len(found), strings.Join(found, "\n"))
	}
	if ofRun := d.found(t, VerifyOptions{Only: only.Only, Run: &d.run}); len(ofRun) != 5 {
		t.Errorf("%d differences of the run:\n%s", len(ofRun), strings.Join(ofRun, "\n"))
	}
}

// damageWithdrawn: a text that is still there although its document was withdrawn shows.
func (d *damaged) damageWithdrawn(t *testing.T) {
	_, documents := d.memory.Collections()
	var kept vector.Hit
	must(t, d.Vectors.Scroll(t.Context(), documents, vector.Condition{}, func(h vector.Hit) error {
		if h.Payload["text"] != nil {
			kept = h
		}
		return nil
	}))
	id := uuid.MustParse(kept.Payload["document_id"].(string))
	must(t, d.Bus.Append(t.Context(), newEvent(t, id.String(), id, &spadepb.DocumentWithdrawn{DocumentId: id[:], Reason: "test"})))
	for _, f := range d.found(t, VerifyOptions{}) {
		if strings.Contains(f, id.String()) {
			t.Errorf("after the withdrawal: %s", f)
		}
	}
	must(t, d.Vectors.Upsert(t.Context(), documents, []vector.Point{{ID: kept.ID, Vector: kept.Vector, Payload: kept.Payload}}))
	must(t, d.warehouse.Exec(t.Context(), fmt.Sprintf(
		"ALTER TABLE spade.document_events UPDATE text = 'canary' WHERE document_id = '%s' AND event = 'ingested' SETTINGS mutations_sync = 1", id)))
	found := d.found(t, VerifyOptions{})
	wants(t, found, "memory: changed point "+kept.ID.String())
	wants(t, found, "warehouse: changed row document_events", `text is "canary" in the warehouse`)
}

// lie: a record that no reader takes for an event is named, and is in neither the digest nor the counts.
func (d *damaged) lie(t *testing.T) {
	before, err := d.VerifyAll(t.Context(), VerifyOptions{Run: &d.run, Only: []string{verify.AreaLog}})
	must(t, err)
	env := ids.Env(d.run.ID, 0, 0, 0)
	id := ids.Rollout(env, ids.ArmPlain, 0, 77)
	records, err := event.Encode(newEvent(t, topics.EnvKey(d.run.ID, env), id, &spadepb.RolloutCompleted{
		RunId: d.run.ID[:], EnvId: env[:], RolloutId: id[:], Arm: ids.ArmPlain, Repeat: 77, TotalReward: math.NaN(),
	}), 0, uuid.New())
	must(t, err)
	must(t, d.Bus.AppendRecords(t.Context(), records...))
	v, err := d.VerifyAll(t.Context(), VerifyOptions{Run: &d.run})
	must(t, err)
	wants(t, differences(v), "log: unreadable record spade.rollouts/", "total_reward")
	sum, err := Digest(t.Context(), d.Bus, d.run)
	must(t, err)
	if v.Log.Sum() != sum.Sum() || v.Counts.Records != before.Counts.Records {
		t.Errorf("the digest or the counts have changed: %+v, before %+v", v.Counts, before.Counts)
	}
}

func (d *damaged) damageLog(t *testing.T) {
	key := topics.RunKey(d.run.ID)
	env := ids.Env(d.run.ID, 0, 0, 0)
	envKey := topics.EnvKey(d.run.ID, env)

	// The same id with another payload, and one with the same.
	var request event.Event
	must(t, d.Bus.Read(t.Context(), topics.Work, nil, nil, func(ev event.Event) error {
		if ev.Key == envKey {
			request = ev
		}
		return nil
	}))
	again := newEvent(t, envKey, env, &spadepb.DesignRequested{RunId: d.run.ID[:], EnvId: env[:], PolicyVersion: 77})
	d.appends(t, request, again)

	// An update that comes too late, an acceptance that was never designed, a run that nobody started.
	d.appends(t, newEvent(t, key, ids.Policy(d.run.ID, 0), &spadepb.PolicyUpdated{
		RunId: d.run.ID[:], PolicyFrom: 0, PolicyTo: 1, Checkpoint: &spadepb.Checkpoint{},
	}))
	stray := ids.Env(d.run.ID, 0, 0, 7)
	d.appends(t, newEvent(t, topics.EnvKey(d.run.ID, stray), stray, &spadepb.EnvironmentAccepted{
		RunId: d.run.ID[:], EnvId: stray[:], Attempt: 7, ExpectedPlain: 2, Repeats: 1, EnvSeeds: []uint64{1, 2},
	}))
	other := ids.Run("never started")
	otherEnv := ids.Env(other, 0, 0, 0)
	d.appends(t, newEvent(t, topics.EnvKey(other, otherEnv), otherEnv, &spadepb.DesignRequested{RunId: other[:], EnvId: otherEnv[:]}))

	// Poison: a record that is no event, and one whose payload cannot be decoded.
	appendRaw(t, d.at.Kafka, kafka.Message{Topic: topics.Rollouts, Key: []byte(envKey), Value: []byte("no event")})
	records, err := event.Encode(newEvent(t, envKey, ids.Rollout(env, ids.ArmPlain, 0, 99), &spadepb.RolloutCompleted{}), 0, uuid.New())
	must(t, err)
	records[0].Value = []byte{0xff, 0xff, 0xff}
	must(t, d.Bus.AppendRecords(t.Context(), records...))

	v, err := d.VerifyAll(t.Context(), VerifyOptions{Run: &d.run})
	must(t, err)
	found := differences(v)
	wants(t, found, "log: repeated id "+again.ID.String(), "DesignRequested", "spade.work/", "repeats offset", "the first counts")
	wants(t, found, "log: repeated id", "PolicyUpdated")
	wants(t, found, "log: missing design "+stray.String())
	wants(t, found, "log: missing rollout "+ids.Rollout(stray, ids.ArmPlain, 1, 0).String(), "plain arm, seed 1, repeat 0")
	wants(t, found, "log: missing regret "+stray.String())
	wants(t, found, "log: wrong count", "IterationClosed 0 says")
	wants(t, found, "log: unreadable record spade.rollouts/", "no ce_id", "in the dead letters of bus")
	wants(t, found, "log: unreadable record spade.rollouts/", "RolloutCompleted")
	if v.Counts.Repeated != 2 || v.Counts.RepeatedOther != 2 || v.Counts.VoidUpdates != 1 {
		t.Errorf("counts %+v", v.Counts)
	}
	if len(v.Letters) < 2 {
		t.Errorf("dead letters %v", v.Letters)
	}
	wants(t, d.found(t, VerifyOptions{}), "log: unknown run "+other.String())
}

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
