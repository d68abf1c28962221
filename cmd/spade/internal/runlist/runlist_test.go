package runlist_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/cmd/spade/internal/runlist"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestRunsOfALog(t *testing.T) {
	client := bustest.Open(t).Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	add := func(run, subject uuid.UUID, msg proto.Message) {
		t.Helper()
		ev, err := event.New(topics.RunKey(run), subject, 0, msg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := client.Append(t.Context(), ev, ev); err != nil { // twice: the first record counts
			t.Fatal(err)
		}
	}
	one, two, three := ids.Run("one"), ids.Run("two\x1b[2J"), ids.Run("three")
	add(one, one, &spadepb.RunStarted{RunId: one[:], Name: "one", Kind: "train", Seed: 7, Config: &spadepb.SemanticConfig{Iterations: 2}})
	add(two, two, &spadepb.RunStarted{RunId: two[:], Name: "two\x1b[2J", Kind: "train", Seed: 8, Config: &spadepb.SemanticConfig{Iterations: 3}})
	for i := range 2 {
		add(one, ids.Iteration(one, i), &spadepb.IterationClosed{
			RunId: one[:], Iteration: int32(i), Designed: 8, Accepted: 6, Rejected: 2, RolloutsCompleted: 100, Steps: 500,
			RewardPlain: 0.25 * float64(i+1), Regret: 0.125, RegretsEstimated: 6,
		})
	}
	add(one, one, &spadepb.RunFinished{RunId: one[:], Status: "finished"})
	add(two, ids.Iteration(two, 0), &spadepb.IterationClosed{RunId: two[:], RegretsUnavailable: 1})
	four := ids.Run("four")
	add(four, four, &spadepb.RunStarted{RunId: four[:], Name: "four", Kind: "train", Config: &spadepb.SemanticConfig{Iterations: 1}})
	add(three, three, &spadepb.RunStarted{RunId: three[:], Name: "three", Kind: "train", Config: &spadepb.SemanticConfig{Iterations: 1, NoHintArm: true}})
	add(three, ids.Iteration(three, 0), &spadepb.IterationClosed{RunId: three[:], RewardPlain: 0.5, RegretsUnavailable: 6})

	if status, err := runlist.Status(t.Context(), client, two); err != nil || status != runlist.Running {
		t.Errorf("the second run is %q, %v", status, err)
	}
	pool := ids.Run("pool")
	add(pool, pool, &spadepb.RunStarted{RunId: pool[:], Name: "pool", Kind: "pool", Config: &spadepb.SemanticConfig{}})
	half := ids.Run("half")
	add(half, half, &spadepb.RunStarted{RunId: half[:], Name: "half", Kind: "pool", Config: &spadepb.SemanticConfig{}})
	add(pool, pool, &spadepb.RunFinished{RunId: pool[:], Status: "finished", Designed: 7, Accepted: 5, Rejected: 2})
	list, err := runlist.Read(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	err = runlist.Interrupted(t.Context(), list, func(_ context.Context, run uuid.UUID) (bool, error) { return run == three, nil })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := runlist.Write(&out, list); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`NAME         KIND  STATUS    SEED  ITERATIONS  ACCEPTED  ROLLOUTS  PLAIN  REGRET  STARTED              RUN ID`,
		`one          train finished     7         2/2     12/16       200  0.500  +0.125  2026-01-02 03:04:05  ` + one.String(),
		`two\x1b[2J   train interrupted      8         1/3       0/0         0  0.000    none  2026-01-02 03:04:05  ` + two.String(),
		`four         train waiting      0         0/1       0/0         0                 2026-01-02 03:04:05  ` + four.String(),
		`three        train running      0         1/1       0/0         0  0.500    none  2026-01-02 03:04:05  ` + three.String(),
		`pool         pool finished      0                      5/7                                     2026-01-02 03:04:05  ` + pool.String(),
		`half         pool unfinished    0                      0/0                                     2026-01-02 03:04:05  ` + half.String(),
		``,
	}, "\n")
	if got := out.String(); got != want && strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out.Reset()
	if err := runlist.WriteJSON(&out, list); err != nil || !strings.Contains(out.String(), `"reward_plain": 0.5`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
