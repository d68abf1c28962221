package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeLog is a log that stands as the test says.
type fakeLog struct {
	groups []bus.Group
	err    error
	stats  bus.Stats
}

func (f *fakeLog) Stats() bus.Stats {
	st := f.stats
	st.Appended += 7
	st.Rebalances += 2
	return st
}

func (f *fakeLog) Groups(context.Context) ([]bus.Group, error) { return f.groups, f.err }

func (f *fakeLog) Ready(context.Context) error { return f.err }

func TestEveryMetricIsWellFormed(t *testing.T) {
	p := New(Config{Data: t.TempDir()}, Settings{})
	p.Add(logSampler(&fakeLog{}))
	p.health.watch()
	p.health.saw(time.Now(), []bus.Group{{Name: "spade.rollout.x", Joined: true, Places: []bus.Place{{Topic: "spade.environments", End: 3}}}}, nil, 0)
	p.Appended([]event.Event{rolled(t, "solved")})
	families, err := p.gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	names := map[string]bool{}
	for _, m := range Catalogue() {
		if names[m.Name] || !strings.HasPrefix(m.Name, "spade_") || !strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s: twice in the catalogue, of another program, or its help is no sentence", m.Name)
		}
		names[m.Name] = true
		if total := strings.HasSuffix(m.Name, "_total"); total != (m.Kind == Counter) {
			t.Errorf("%s is a %s", m.Name, m.Kind)
		}
	}
}

func rolled(t *testing.T, outcome string) event.Event {
	t.Helper()
	run := ids.Run("t")
	env := ids.Env(run, 0, 0, 0)
	return made(t, &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], Arm: "plain", Outcome: outcome})
}

// made is an event of a message whose ids are filled in where the test does not care.
func made(t *testing.T, msg proto.Message) event.Event {
	t.Helper()
	m := msg.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if f.Kind() == protoreflect.BytesKind && strings.HasSuffix(string(f.Name()), "_id") && !m.Has(f) {
			id := uuid.New()
			m.Set(f, protoreflect.ValueOfBytes(id[:]))
		}
	}
	key := "k"
	if of, ok := msg.(interface{ GetRunId() []byte }); ok {
		key = topics.RunKey(uuid.UUID(of.GetRunId()))
	}
	ev, err := event.New(key, uuid.New(), 0, msg, &spadepb.Observed{DurationUs: 250_000})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// text is what /metrics answers, without comments.
func text(t *testing.T, p *Process) string {
	t.Helper()
	return get(t, p, "/metrics", http.StatusOK)
}

func get(t *testing.T, p *Process, path string, code int) string {
	t.Helper()
	res, err := http.Get("http://" + p.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != code {
		t.Fatalf("%s answers %d, want %d: %s", path, res.StatusCode, code, body)
	}
	return string(body)
}

func serve(t *testing.T, now func() time.Time) *Process {
	t.Helper()
	p := New(Config{Listen: "127.0.0.1:0", Data: t.TempDir()}, Settings{Now: now})
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestMetricsTellWhatHappened(t *testing.T) {
	p := serve(t, nil)
	now := time.Now()
	p.health.watch()
	p.health.saw(now, []bus.Group{
		{Name: "spade.rollout." + ids.Run("a").String(), Joined: true, Places: []bus.Place{
			{Topic: "spade.environments", Partition: 0, Committed: 10, Next: 12, End: 15, Oldest: now.Add(-90 * time.Second)},
			{Topic: "spade.environments", Partition: 1, Committed: 4, Next: 4, End: 4},
		}},
		{Name: "spade.rollout." + ids.Run("b").String(), Joined: false, Places: []bus.Place{
			{Topic: "spade.environments", Partition: 0, Committed: 1, Next: 1, End: 3, Oldest: now.Add(-30 * time.Second)},
		}},
		{Name: "spade.trainer." + ids.Run("a").String(), Joined: true, Places: []bus.Place{{Topic: "spade.runs"}}},
		{Name: "spade.trainer." + ids.Run("b").String(), Joined: true},
		{Name: "somebody.else", Joined: true},
	}, nil, 1)
	run := ids.Run("a")
	p.Appended([]event.Event{
		rolled(t, "solved"), rolled(t, "solved"), rolled(t, "env_error"),
		made(t, &spadepb.DeadLetter{Consumer: "warehouse"}),
		made(t, &spadepb.BatchBuilt{RunId: run[:], Role: "agent", Groups: 8, GroupsWithoutSignal: 3}),
		made(t, &spadepb.IterationClosed{RunId: run[:], Iteration: 4, UnlearnableGapShare: 0.25}),
		made(t, &spadepb.PolicyUpdated{RunId: run[:], PolicyTo: 5}),
	})
	p.Add(logSampler(&fakeLog{}))
	got := text(t, p)
	for _, want := range []string{
		`spade_consumer_lag_records{role="rollout",topic="spade.environments"} 7`, // 5 and 2, over partitions and runs
		`spade_consumer_oldest_record_age_seconds{role="rollout",topic="spade.environments"} 90`,
		`spade_consumer_joined_groups{role="rollout"} 1`, `spade_consumer_groups{role="rollout"} 2`,
		`spade_consumer_groups{role="other"} 1`,
		`spade_run_leader{run="` + run.String() + `"} 1`, `spade_run_leader{run="` + ids.Run("b").String() + `"} 0`,
		`spade_run_iteration{run="` + run.String() + `"} 5`, `spade_run_policy_version{run="` + run.String() + `"} 5`,
		`spade_run_unlearnable_gap_share{run="` + run.String() + `"} 0.25`,
		`spade_episodes_total{arm="plain",outcome="solved"} 2`, `spade_episodes_total{arm="plain",outcome="env_error"} 1`,
		`spade_dead_letters_total{consumer="warehouse"} 1`, `spade_dead_letters_total{consumer="memory"} 0`,
		`spade_training_groups_total{role="agent"} 8`, `spade_training_groups_without_signal_total{role="agent"} 3`,
		`spade_train_duration_seconds_sum 0.25`, `spade_log_appended_records_total 7`, `spade_log_rebalances_total 2`,
		`spade_log_up 1`, `spade_draining 0`, "spade_data_free_bytes ", "go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(got, "spade.trainer") || strings.Contains(got, "somebody") {
		t.Error("a group's name is a label")
	}
	if promtool, err := exec.LookPath("promtool"); err == nil { // CI installs it; the lint above is the same without
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(got)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v: %s", err, out)
		}
	}
}

func TestLabelsStayFew(t *testing.T) {
	p := serve(t, nil)
	for i := range 200 {
		run := uuid.NewSHA1(uuid.Nil, []byte{byte(i)})
		p.Appended([]event.Event{
			made(t, &spadepb.EnvironmentRejected{RunId: run[:], Stage: uuid.NewString()}),
			made(t, &spadepb.RolloutCompleted{RunId: run[:], Arm: uuid.NewString(), Outcome: uuid.NewString()}),
			made(t, &spadepb.IterationClosed{RunId: run[:]}),
		})
	}
	count := func(prefix string) (n int) {
		for line := range strings.Lines(text(t, p)) {
			if strings.HasPrefix(line, prefix+"{") {
				n++
			}
		}
		return n
	}
	for name, most := range map[string]int{Environments: maxLabels + 2, Episodes: maxLabels + 1, RunIteration: maxRuns} {
		if n := count(name); n == 0 || n > most {
			t.Errorf("%s has %d series, at most %d are allowed", name, n, most)
		}
	}
}

func TestAFinishedRunIsForgotten(t *testing.T) {
	p := serve(t, nil)
	run := ids.Run("a")
	p.Appended([]event.Event{made(t, &spadepb.IterationClosed{RunId: run[:]})})
	if !strings.Contains(text(t, p), run.String()) {
		t.Fatal("a run is not told of")
	}
	p.Appended([]event.Event{made(t, &spadepb.RunFinished{RunId: run[:]})})
	if strings.Contains(text(t, p), run.String()) {
		t.Error("a finished run is told of for ever")
	}
	p.Appended([]event.Event{made(t, &spadepb.IterationClosed{RunId: run[:]})})
	p.Forget(run)
	if strings.Contains(text(t, p), run.String()) {
		t.Error("a run that another process finished is told of for ever")
	}
}

// Who appends waits until the event is counted: nothing but the fields that are told of is read, and what is no payload
// counts by its type.
func TestCountingReadsLittle(t *testing.T) {
	counting := newTally()
	big := rolled(t, "solved")
	big.Payload = protowire.AppendTag(big.Payload, 19, protowire.BytesType) // steps
	big.Payload = protowire.AppendBytes(big.Payload, []byte("no step"))
	noise := rolled(t, "failed")
	noise.Payload = []byte{0xff}
	run := ids.Run("t")
	document := made(t, &spadepb.DocumentIngested{})
	document.Payload = []byte{0xff}
	document.Key = run.String()
	request := made(t, &spadepb.DesignRequested{RunId: run[:]})
	request.Payload = []byte{0xff}
	unknown := request
	unknown.Type = "spade.v1.Unheard"
	counting.add([]event.Event{big, noise, document})
	if n := counting.counts[counted{Episodes, "plain", "solved"}]; n != 1 || len(counting.labels[Episodes]) != 2 {
		t.Errorf("%v episodes, labels %v", n, counting.labels)
	}
	if n := counting.counts[counted{Events, big.Type, ""}]; n != 2 {
		t.Errorf("%v of 2 events of a type", n)
	}
	delete(counting.runs, run)
	if counting.add([]event.Event{document}); len(counting.runs) != 0 {
		t.Error("a document is a run")
	}
	if counting.add([]event.Event{request, unknown}); len(counting.runs) != 1 || counting.counts[counted{Events, unknown.Type, ""}] != 1 {
		t.Errorf("runs %v, counts %v", counting.runs, counting.counts)
	}
}

func TestAMetricThatTheCatalogueLacksIsAnError(t *testing.T) {
	p := New(Config{}, Settings{})
	p.Add(func(s Sample) { s.Value("spade_unheard_of", 1) })
	if _, err := p.gatherer.Gather(); err == nil {
		t.Error("no error")
	}
}

func TestGenerationsAreCountedByRole(t *testing.T) {
	p := serve(t, nil)
	p.Generated("agent", time.Now(), nil)
	p.Generated("designer", time.Now(), errors.New("no"))
	p.PluginRestarted()
	got := text(t, p)
	for _, want := range []string{
		`spade_generate_duration_seconds_count{role="agent"} 1`, `spade_generate_failures_total{role="designer"} 1`,
		`spade_generate_failures_total{role="agent"} 0`, `spade_plugin_restarts_total 1`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestHistogramsAddUp(t *testing.T) {
	a, b := observe.NewHistogram(observe.Fast), observe.NewHistogram(observe.Fast)
	a.Observe(time.Millisecond) // the end of a bucket belongs to it
	b.Observe(2 * time.Second)
	b.Observe(time.Hour)
	d := a.Snapshot().Add(b.Snapshot())
	if d.Count != 3 || d.Buckets[0.001] != 1 || d.Buckets[1] != 1 || d.Buckets[2.5] != 2 || d.Buckets[30] != 2 {
		t.Errorf("%+v", d)
	}
	var none *observe.Histogram
	none.Observe(time.Second)
	if none.Snapshot().Count != 0 {
		t.Error("nothing counts")
	}
}

func TestALabelIsShortText(t *testing.T) {
	if got := bounded("a\xff" + strings.Repeat("é", 9999)); len(got) > maxLabel || !strings.HasPrefix(got, "a\uFFFDé") || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

func TestRolesAreFew(t *testing.T) {
	var got []string
	for _, g := range []string{"spade.rollout.x", "spade.warehouse", "spade.memory.abc", "spade.rollouts", "rollout.x", "x", "spade."} {
		got = append(got, roleOf(g))
	}
	if want := []string{"rollout", "warehouse", "memory", "other", "other", "other", "other"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
