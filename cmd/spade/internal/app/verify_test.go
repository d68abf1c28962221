package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/cmd/spade/internal/letters"
	"github.com/seed256f7767/spade/consumers/verify"
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
