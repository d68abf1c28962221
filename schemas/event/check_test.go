package event

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// world is two runs and an environment of each.
type world struct{ run, other, env, theirs, rollout, group uuid.UUID }

func newWorld() world {
	w := world{run: ids.Run("mine"), other: ids.Run("theirs")}
	w.env, w.theirs = ids.Env(w.run, 0, 0, 0), ids.Env(w.other, 0, 0, 0)
	w.rollout = ids.Rollout(w.env, ids.ArmPlain, 0, 0)
	w.group = ids.Group(w.env, ids.ArmPlain, 0)
	return w
}

func (w world) accepted() *spadepb.EnvironmentAccepted {
	return &spadepb.EnvironmentAccepted{
		RunId: w.run[:], EnvId: w.env[:], ExpectedPlain: 8, ExpectedHinted: 4, EnvSeeds: []uint64{1, 2, math.MaxUint64, 1 << 40}, Repeats: 2,
	}
}

func (w world) completed() *spadepb.RolloutCompleted {
	return &spadepb.RolloutCompleted{
		RunId: w.run[:], EnvId: w.env[:], RolloutId: w.rollout[:], GroupId: w.group[:], Arm: ids.ArmPlain, TotalReward: 0.5,
		Steps: []*spadepb.Step{{Observation: "ü\x00", Action: "go", Reward: 1, Logprob: -1, Logprobs: []float32{-1, -2}, TokenIds: []int32{-7, 9}}},
	}
}

func mustEvent(t testing.TB, key string, subject uuid.UUID, attempt int, msg proto.Message) Event {
	t.Helper()
	ev, err := New(key, subject, attempt, msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// honest is one event of every type, made as its producer makes it.
func (w world) honest(t testing.TB) []Event {
	run, pair, doc := topics.RunKey(w.run), topics.EnvKey(w.run, w.env), ids.Document([]byte("d"))
	batch, evaluation := ids.Batch(w.run, 0, "agent"), ids.Evaluation(w.run, 1, "s", "t", 0)
	r, e := w.run[:], w.env[:]
	all := []Event{
		mustEvent(t, run, w.run, 0, &spadepb.RunStarted{RunId: r, Name: "mine", Config: &spadepb.SemanticConfig{Iterations: 2}}),
		mustEvent(t, run, ids.Iteration(w.run, 3), 0, &spadepb.IterationClosed{RunId: r, Iteration: 3}),
		mustEvent(t, run, w.run, 7, &spadepb.RunResumed{RunId: r, Ordinal: 7}),
		mustEvent(t, run, w.run, 0, &spadepb.RunFinished{RunId: r}),
		mustEvent(t, doc.String(), doc, 0, &spadepb.DocumentIngested{DocumentId: doc[:], Text: "t"}),
		mustEvent(t, doc.String(), doc, 0, &spadepb.DocumentWithdrawn{DocumentId: doc[:]}),
		mustEvent(t, doc.String(), uuid.NewSHA1(doc, []byte("m")), 0, &spadepb.EmbeddingComputed{EntityId: doc[:], Model: "m", Dim: 1, Vector: []float32{1}}),
		mustEvent(t, pair, uuid.NewSHA1(w.env, []byte("m")), 0, &spadepb.EmbeddingComputed{RunId: r, EntityId: e, Model: "m", Dim: 1, Vector: []float32{1}}),
		mustEvent(t, pair, w.env, 0, &spadepb.DesignRequested{RunId: r, EnvId: e, ExpectedDesigns: 4}),
		mustEvent(t, pair, w.env, 0, &spadepb.EnvironmentDesigned{RunId: r, EnvId: e, Code: "c"}),
		mustEvent(t, pair, w.env, 0, w.accepted()),
		mustEvent(t, pair, w.env, 0, &spadepb.EnvironmentRejected{RunId: r, EnvId: e}),
		mustEvent(t, pair, w.rollout, 0, w.completed()),
		mustEvent(t, pair, w.rollout, 0, &spadepb.RolloutDropped{RunId: r, EnvId: e, RolloutId: w.rollout[:], Arm: ids.ArmPlain}),
		mustEvent(t, pair, w.env, 0, &spadepb.RegretEstimated{RunId: r, EnvId: e}),
		mustEvent(t, pair, w.env, 0, &spadepb.RegretUnavailable{RunId: r, EnvId: e}),
		mustEvent(t, pair, w.env, 0, &spadepb.DesignerRewarded{RunId: r, EnvId: e}),
		mustEvent(t, run, batch, 0, &spadepb.BatchBuilt{RunId: r, BatchId: batch[:], Role: "agent"}),
		mustEvent(t, run, ids.Policy(w.run, -1), 0, &spadepb.PolicyUpdated{
			RunId: r, PolicyFrom: -1, Iteration: -1, Metrics: []*spadepb.Metric{{Name: "loss", Value: math.NaN()}},
		}),
		mustEvent(t, run, evaluation, 0, &spadepb.EvaluationCompleted{
			RunId: r, EvaluationId: evaluation[:], PolicyVersion: 1, Suite: "s", TaskId: "t",
		}),
		mustEvent(t, pair, w.rollout, 0, &spadepb.ReplayChecked{RunId: r, EnvId: e, RolloutId: w.rollout[:], FirstDivergentStep: -1}),
		mustEvent(t, "spade.runs/3", w.run, 0, &spadepb.DeadLetter{Topic: topics.Runs, Partition: 3, Payload: []byte{0xff}}),
	}
	return all
}

func TestHonestEventsOfEveryTypePass(t *testing.T) {
	seen := map[string]bool{}
	for _, ev := range newWorld().honest(t) {
		if err := Check(ev); err != nil {
			t.Error(err)
		}
		seen[ev.Type] = true
	}
	if len(seen) != len(Kinds()) {
		t.Errorf("%d of %d types are tried", len(seen), len(Kinds()))
	}
}

// Whatever the type, an event that stands under another key, in another topic or under another id is refused.
func TestEventsOfEveryTypeThatLieAreRefused(t *testing.T) {
	w := newWorld()
	for _, ev := range w.honest(t) {
		name := strings.TrimPrefix(ev.Type, typePrefix)
		lie := func(what string, want error, change func(*Event)) {
			t.Helper()
			liar := ev
			change(&liar)
			var refused *RefusedError
			if err := Check(liar); !errors.Is(err, want) || !errors.As(err, &refused) || refused.Reason == "" {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		lie("another run's key", ErrKey, func(e *Event) { e.Key = strings.Replace(e.Key, e.Key[:4], "0000", 1) })
		lie("no key", ErrKey, func(e *Event) { e.Key = "" })
		lie("capitals", ErrKey, func(e *Event) { e.Key = strings.ToUpper(e.Key) + "A" })
		lie("a key and more", ErrKey, func(e *Event) { e.Key += "/" })
		lie("another topic", ErrKey, func(e *Event) { e.Topic = "spade.elsewhere" })
		lie("a type of tomorrow", ErrUnknownType, func(e *Event) { e.Type = "spade.v2.RunStarted" })
		lie("noise", ErrMalformed, func(e *Event) { e.Payload = append(e.Payload[:len(e.Payload):len(e.Payload)], 0xff) })
		lie("nothing", ErrValue, func(e *Event) {
			if e.Payload = nil; e.Type == TypeOf(&spadepb.DeadLetter{}) {
				e.Payload = []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0x0f} // partition -1
			}
		})
		if name != "DeadLetter" && name != "ReplayChecked" {
			lie("another id", ErrID, func(e *Event) { e.ID[3] ^= 1 })
		}
	}
}

// Versions follow each other: who believed an update that jumps would wait for batches that nobody builds.
func TestAnUpdateLeadsToTheNextVersion(t *testing.T) {
	w := newWorld()
	for _, from := range []int64{-1, 0, 7} {
		for _, to := range []int64{-1, 0, 1, 7, 8, 9, 1_000_000} {
			ev := mustEvent(t, topics.RunKey(w.run), ids.Policy(w.run, from), 0, &spadepb.PolicyUpdated{RunId: w.run[:], PolicyFrom: from, PolicyTo: to})
			var refused *RefusedError
			switch err := Check(ev); {
			case to == from+1:
				if err != nil {
					t.Error(err)
				}
			case to < 0: // no version at all
				if err == nil {
					t.Errorf("from %d to %d passes", from, to)
				}
			case !errors.As(err, &refused) || refused.Field != "policy_to" || !errors.Is(err, ErrValue):
				t.Errorf("from %d to %d: %v", from, to, err)
			}
		}
	}
}

// Where a payload holds the parts of an id it holds that id: whoever finds an episode by its place and whoever finds it by
// its id find the same one.
func TestIDsFollowFromThePartsBesideThem(t *testing.T) {
	w := newWorld()
	run, pair := topics.RunKey(w.run), topics.EnvKey(w.run, w.env)
	r, e, group := w.run[:], w.env[:], ids.DesignGroup(w.run, 0)
	g := group[:]
	batch, evaluation := ids.Batch(w.run, 0, "agent"), ids.Evaluation(w.run, 1, "s", "t", 0)
	wholeArm, nextSeed := ids.Group(w.env, ids.ArmPlain, -1), ids.Group(w.env, ids.ArmPlain, 1)
	completed := func(change func(*spadepb.RolloutCompleted)) Event {
		m := w.completed()
		change(m)
		return mustEvent(t, pair, w.rollout, 0, m)
	}
	dropped := func(m *spadepb.RolloutDropped) Event {
		m.RunId, m.EnvId, m.RolloutId = r, e, w.rollout[:]
		return mustEvent(t, pair, w.rollout, 0, m)
	}
	env := func(m proto.Message) Event { return mustEvent(t, pair, w.env, 0, m) }
	evaluated := func(change func(*spadepb.EvaluationCompleted)) Event {
		m := &spadepb.EvaluationCompleted{RunId: r, EvaluationId: evaluation[:], PolicyVersion: 1, Suite: "s", TaskId: "t"}
		change(m)
		return mustEvent(t, run, evaluation, 0, m)
	}
	for name, tc := range map[string]struct {
		field string // empty: it is as a producer writes it
		ev    Event
	}{
		"a run by another name":              {"run_id", mustEvent(t, run, w.run, 0, &spadepb.RunStarted{RunId: r, Name: "theirs"})},
		"a request with its group":           {"", env(&spadepb.DesignRequested{RunId: r, EnvId: e, DesignGroup: g})},
		"a request for another slot":         {"env_id", env(&spadepb.DesignRequested{RunId: r, EnvId: e, DesignGroup: g, Slot: 1})},
		"a request of another iteration":     {"env_id", env(&spadepb.DesignRequested{RunId: r, EnvId: e, Iteration: 1})},
		"a request in an environment's name": {"design_group", env(&spadepb.DesignRequested{RunId: r, EnvId: e, DesignGroup: e})},
		"a design of another attempt":        {"env_id", env(&spadepb.EnvironmentDesigned{RunId: r, EnvId: e, Attempt: 1})},
		"a design in another group":          {"design_group", env(&spadepb.EnvironmentDesigned{RunId: r, EnvId: e, DesignGroup: r})},
		"an acceptance of another slot":      {"env_id", env(&spadepb.EnvironmentAccepted{RunId: r, EnvId: e, Slot: 7})},
		"a rejection of another attempt":     {"env_id", env(&spadepb.EnvironmentRejected{RunId: r, EnvId: e, Attempt: 2})},
		"a reward of another slot":           {"env_id", env(&spadepb.DesignerRewarded{RunId: r, EnvId: e, Slot: 1})},
		"a reward in another group":          {"design_group", env(&spadepb.DesignerRewarded{RunId: r, EnvId: e, DesignGroup: r})},
		"an episode of another arm":          {"rollout_id", completed(func(m *spadepb.RolloutCompleted) { m.Arm = ids.ArmHinted })},
		"an episode of no arm":               {"rollout_id", completed(func(m *spadepb.RolloutCompleted) { m.Arm = "" })},
		"an episode of another seed":         {"rollout_id", completed(func(m *spadepb.RolloutCompleted) { m.SeedIndex = 1 })},
		"another repeat":                     {"rollout_id", completed(func(m *spadepb.RolloutCompleted) { m.Repeat = 1 })},
		"an episode among those of a seed":   {"", completed(func(*spadepb.RolloutCompleted) {})},
		"an episode among those of an arm":   {"", completed(func(m *spadepb.RolloutCompleted) { m.GroupId = wholeArm[:] })},
		"an episode in no group":             {"", completed(func(m *spadepb.RolloutCompleted) { m.GroupId = nil })},
		"an episode in another seed's group": {"group_id", completed(func(m *spadepb.RolloutCompleted) { m.GroupId = nextSeed[:] })},
		"a dropped one":                      {"", dropped(&spadepb.RolloutDropped{Arm: ids.ArmPlain})},
		"a dropped one of another seed":      {"rollout_id", dropped(&spadepb.RolloutDropped{Arm: ids.ArmPlain, SeedIndex: 1})},
		"another role's batch":               {"batch_id", mustEvent(t, run, batch, 0, &spadepb.BatchBuilt{RunId: r, BatchId: batch[:], Role: "designer"})},
		"a batch of another iteration":       {"batch_id", mustEvent(t, run, batch, 0, &spadepb.BatchBuilt{RunId: r, BatchId: batch[:], Role: "agent", Iteration: 1})},
		"an evaluation":                      {"", evaluated(func(*spadepb.EvaluationCompleted) {})},
		"of another version":                 {"evaluation_id", evaluated(func(m *spadepb.EvaluationCompleted) { m.PolicyVersion = 2 })},
		"of another suite":                   {"evaluation_id", evaluated(func(m *spadepb.EvaluationCompleted) { m.Suite = "x" })},
		"of another task":                    {"evaluation_id", evaluated(func(m *spadepb.EvaluationCompleted) { m.TaskId = "x" })},
		"with another seed":                  {"evaluation_id", evaluated(func(m *spadepb.EvaluationCompleted) { m.SeedIndex = 1 })},
	} {
		var refused *RefusedError
		switch err := Check(tc.ev); {
		case tc.field == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, ErrID) || !errors.As(err, &refused) || refused.Field != tc.field:
			t.Errorf("%s: %v", name, err)
		}
	}
	honest := completed(func(*spadepb.RolloutCompleted) {})
	if n := testing.AllocsPerRun(100, func() { _ = Check(honest) }); n != 0 {
		t.Errorf("%v pieces of garbage", n)
	}
}

// A writer of one run may name the other run in the key or in the payload: both are caught.
func TestAWriterThatLiesAboutItsRunIsRefused(t *testing.T) {
	w := newWorld()
	mine := w.completed()
	stolen := w.completed()
	stolen.RunId, stolen.EnvId = w.other[:], w.theirs[:]
	for name, ev := range map[string]Event{
		"its event under another run's key":      mustEvent(t, topics.EnvKey(w.other, w.env), w.rollout, 0, mine),
		"its event under another run's place":    mustEvent(t, topics.EnvKey(w.other, w.theirs), w.rollout, 0, mine),
		"another run's payload under its key":    mustEvent(t, topics.EnvKey(w.run, w.env), w.rollout, 0, stolen),
		"another run's end under its key":        mustEvent(t, topics.RunKey(w.run), w.other, 0, &spadepb.RunFinished{RunId: w.other[:]}),
		"its end under another run's key":        mustEvent(t, topics.RunKey(w.other), w.run, 0, &spadepb.RunFinished{RunId: w.run[:]}),
		"another environment's key in its run":   mustEvent(t, topics.EnvKey(w.run, w.theirs), w.rollout, 0, mine),
		"a vector of another run's environment":  mustEvent(t, topics.EnvKey(w.run, w.env), uuid.NewSHA1(w.env, nil), 0, &spadepb.EmbeddingComputed{RunId: w.other[:], EntityId: w.env[:]}),
		"a document's vector under a run's name": mustEvent(t, topics.EnvKey(w.run, w.env), uuid.NewSHA1(w.env, nil), 0, &spadepb.EmbeddingComputed{EntityId: w.env[:]}),
	} {
		if err := Check(ev); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The last one of a field that is there twice counts, as it does to a decoder.
	twice := mustEvent(t, topics.EnvKey(w.run, w.env), w.rollout, 0, mine)
	twice.Payload = protowire.AppendBytes(protowire.AppendTag(twice.Payload, 1, protowire.BytesType), w.other[:])
	if err := Check(twice); !errors.Is(err, ErrKey) {
		t.Errorf("a second run id: %v", err)
	}
}

// What has the number of a field and not its type is a field of no version; a decoder passes it by.
func TestFieldsOfAnotherTypeArePassedBy(t *testing.T) {
	w := newWorld()
	ev := mustEvent(t, topics.EnvKey(w.run, w.env), w.rollout, 0, w.completed())
	ev.Payload = protowire.AppendVarint(protowire.AppendTag(ev.Payload, 1, protowire.VarintType), 7)          // run_id
	ev.Payload = protowire.AppendFixed32(protowire.AppendTag(ev.Payload, 4, protowire.Fixed32Type), 1<<31)    // iteration
	ev.Payload = protowire.AppendBytes(protowire.AppendTag(ev.Payload, 12, protowire.BytesType), []byte("x")) // total_reward
	msg, err := ev.Message()
	if err != nil || !bytes.Equal(msg.(*spadepb.RolloutCompleted).GetRunId(), w.run[:]) {
		t.Fatalf("a decoder: %v, %v", msg, err)
	}
	if err := Check(ev); err != nil {
		t.Error(err)
	}
}

func TestValuesNoProducerWritesAreRefused(t *testing.T) {
	w := newWorld()
	pair := topics.EnvKey(w.run, w.env)
	completed := func(change func(*spadepb.RolloutCompleted)) Event {
		m := w.completed()
		change(m)
		return mustEvent(t, pair, w.rollout, 0, m)
	}
	accepted := func(change func(*spadepb.EnvironmentAccepted)) Event {
		m := w.accepted()
		change(m)
		return mustEvent(t, pair, w.env, 0, m)
	}
	for field, ev := range map[string]Event{
		"total_reward":   completed(func(m *spadepb.RolloutCompleted) { m.TotalReward = math.NaN() }),
		"verify_score":   completed(func(m *spadepb.RolloutCompleted) { m.VerifyScore = math.Inf(1) }),
		"steps.reward":   completed(func(m *spadepb.RolloutCompleted) { m.Steps[0].Reward = math.Inf(-1) }),
		"steps.logprob":  completed(func(m *spadepb.RolloutCompleted) { m.Steps[0].Logprob = math.NaN() }),
		"steps.logprobs": completed(func(m *spadepb.RolloutCompleted) { m.Steps[0].Logprobs[1] = float32(math.Inf(-1)) }),
		"steps.observation": completed(func(m *spadepb.RolloutCompleted) {
			m.Steps[0].Observation = strings.Repeat("x", 256<<10+1)
		}),
		"group_id":          completed(func(m *spadepb.RolloutCompleted) { m.GroupId = []byte("short") }),
		"iteration":         completed(func(m *spadepb.RolloutCompleted) { m.Iteration = -1 }),
		"seed_index":        completed(func(m *spadepb.RolloutCompleted) { m.SeedIndex = math.MaxInt32 }),
		"final_state_hash":  completed(func(m *spadepb.RolloutCompleted) { m.FinalStateHash = make([]byte, 1<<20) }),
		"rollout_id":        completed(func(m *spadepb.RolloutCompleted) { m.RolloutId = nil }),
		"env_id":            completed(func(m *spadepb.RolloutCompleted) { m.EnvId = nil }),
		"expected_plain":    accepted(func(m *spadepb.EnvironmentAccepted) { m.ExpectedPlain = 9 }),
		"expected_plain ":   accepted(func(m *spadepb.EnvironmentAccepted) { m.Repeats = 0 }),
		"expected_hinted":   accepted(func(m *spadepb.EnvironmentAccepted) { m.ExpectedHinted = math.MaxInt32 }),
		"repeats":           accepted(func(m *spadepb.EnvironmentAccepted) { m.Repeats = math.MinInt32 }),
		"nearest.env_id":    accepted(func(m *spadepb.EnvironmentAccepted) { m.Nearest = []*spadepb.Neighbour{{EnvId: []byte{1}}} }),
		"slot":              accepted(func(m *spadepb.EnvironmentAccepted) { m.Slot = math.MaxInt32 }),
		"config.iterations": mustEvent(t, topics.RunKey(w.run), w.run, 0, &spadepb.RunStarted{RunId: w.run[:], Name: "mine", Config: &spadepb.SemanticConfig{Iterations: math.MaxInt32}}),
		"documents.ids":     mustEvent(t, topics.RunKey(w.run), w.run, 0, &spadepb.RunStarted{RunId: w.run[:], Name: "mine", Documents: &spadepb.PinnedDocuments{Ids: make([]byte, 17)}}),
	} {
		var refused *RefusedError
		if err := Check(ev); !errors.Is(err, ErrValue) || !errors.As(err, &refused) || refused.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	text := mustEvent(t, pair, w.rollout, 0, w.completed())
	text.Payload = protowire.AppendBytes(protowire.AppendTag(text.Payload, 5, protowire.BytesType), []byte("\xff"))
	if err := Check(text); !errors.Is(err, ErrValue) {
		t.Errorf("no UTF-8: %v", err)
	}
}

// What a refusal says may stand in a terminal, a log line and a dead letter.
func TestARefusalQuotesNothingRaw(t *testing.T) {
	ev := mustEvent(t, "k", uuid.New(), 0, &spadepb.RunFinished{})
	ev.Key, ev.Topic = "\x1b[31m\xff"+strings.Repeat("k", 1<<20), "spade.\x1b\xff"
	err := Check(ev)
	if err == nil || strings.Contains(err.Error(), "\x1b") || !utf8.ValidString(err.Error()) || len(err.Error()) > 1000 {
		t.Errorf("%.300q", fmt.Sprint(err))
	}
}

func TestAReaderWithACheckLosesWhatIsRefused(t *testing.T) {
	ev := sample(t, 90)
	ev.Key = "nobody's"
	for limit := range map[int]string{0: "one record", 30: "several"} {
		records, err := Encode(ev, limit, uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		a := Assembler{Check: Check}
		var lost []Lost
		for i, r := range records {
			r.Offset = int64(i)
			got, l := a.Add(r)
			if got != nil {
				t.Fatal("it is delivered")
			}
			lost = append(lost, l...)
		}
		if len(lost) != 1 || lost[0].Record.Offset != 0 || !errors.Is(lost[0].Err, ErrKey) {
			t.Errorf("lost %v", lost)
		}
		if _, open := a.OldestOpen(); open {
			t.Error("a set stays open")
		}
	}
}

func TestHeadersWithoutEndAreRefused(t *testing.T) {
	records, err := Encode(sample(t, 3), 0, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	many, long := records[0], records[0]
	for range maxHeaders {
		many.Headers = append(many.Headers, Header{"x", nil})
	}
	long.Headers = append(long.Headers[:len(long.Headers):len(long.Headers)], Header{"x", make([]byte, maxHeaderBytes)})
	for name, r := range map[string]Record{"many": many, "long": long} {
		if ev, lost := new(Assembler).Add(r); ev != nil || len(lost) != 1 || !errors.Is(lost[0].Err, ErrMalformed) {
			t.Errorf("%s: %v", name, lost)
		}
	}
}

// Somebody who begins large events and ends none takes no more room than maxOpenSets of them.
func TestSetsThatNobodyEndsAreBounded(t *testing.T) {
	var a Assembler
	lost := 0
	for i := range 3 * maxOpenSets {
		ev := sample(t, 90)
		ev.ID = uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i))
		records, err := Encode(ev, 30, uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		records[0].Offset = int64(i)
		_, l := a.Add(records[0])
		lost += len(l)
	}
	oldest, _ := a.OldestOpen()
	if lost != 2*maxOpenSets || len(a.open) != maxOpenSets || oldest != 2*maxOpenSets {
		t.Errorf("%d given up, %d open, the oldest at %d", lost, len(a.open), oldest)
	}
}

// FuzzCheck: whatever passes can be decoded, and says what its key says.
func FuzzCheck(f *testing.F) {
	w := newWorld()
	for i, ev := range w.honest(f) {
		f.Add(i, ev.Key, ev.Payload)
	}
	kinds := Kinds()
	f.Fuzz(func(t *testing.T, i int, key string, payload []byte) {
		k := kinds[abs(i)%len(kinds)]
		ev := Event{Topic: k.Topic, Key: key, Type: k.Type, Payload: payload}
		err := Check(ev)
		if err != nil && !errors.Is(err, ErrID) {
			return
		}
		msg, err := ev.Message()
		if err != nil {
			t.Fatalf("passes and does not decode: %v", err)
		}
		if m, ok := msg.(interface{ GetRunId() []byte }); ok && len(m.GetRunId()) > 0 && !topics.OfRun(key, uuid.UUID(m.GetRunId())) {
			t.Fatalf("key %q passes for run %x", key, m.GetRunId())
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	w := newWorld()
	m := w.completed()
	for range 10 {
		m.Steps = append(m.Steps, &spadepb.Step{
			Observation: strings.Repeat("You are in a room. ", 6), InfoJson: `{"actions":["north","east","take coin"]}`, Action: "take coin",
			Reward: 0.1, Logprob: -1.25, StateHash: make([]byte, 32),
		})
	}
	ev := mustEvent(b, topics.EnvKey(w.run, w.env), w.rollout, 0, m)
	b.SetBytes(int64(len(ev.Payload)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is what a reader does with each record, with and without the check.
func BenchmarkRead(b *testing.B) {
	w := newWorld()
	ev := mustEvent(b, topics.EnvKey(w.run, w.env), w.rollout, 0, w.completed())
	ev.Observed = &spadepb.Observed{Producer: "p", Worker: "rollout", SandboxTier: "full"}
	records, err := Encode(ev, 0, uuid.New())
	if err != nil {
		b.Fatal(err)
	}
	for name, check := range map[string]func(Event) error{"unchecked": nil, "checked": Check} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			a := Assembler{Check: check}
			for b.Loop() {
				if got, _ := a.Add(records[0]); got == nil {
					b.Fatal("lost")
				}
			}
		})
	}
}
