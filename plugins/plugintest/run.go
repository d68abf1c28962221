package plugintest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/host"
	"github.com/seed256f7767/spade/schemas/training"
)

// Launcher starts the plugin under test. The suite shuts it down.
type Launcher func(ctx context.Context) (*host.Plugin, error)

// Run is the conformance suite: every plugin must pass all of it. What depends on a capability is left out without it.
func Run(t *testing.T, launch Launcher) {
	for name, test := range map[string]func(*testing.T, Launcher){
		"info names the plugin":               infoNames,
		"open without checkpoint":             openFresh,
		"answers are choices":                 answersAreChoices,
		"batching changes nothing":            batchingChangesNothing,
		"designer answers":                    designerAnswers,
		"no prompts":                          noPrompts,
		"unknown version":                     unknownVersion,
		"train makes a version":               trainMakesVersion,
		"train repeats":                       trainRepeats,
		"train without rows":                  trainWithoutRows,
		"train of many small batches":         trainManyBatches,
		"foreign schema":                      foreignSchema,
		"broken source of batches":            brokenSource,
		"save and load":                       saveAndLoad,
		"damaged checkpoint":                  damagedCheckpoint,
		"cancelled call":                      cancelledCall,
		"large prompts":                       largePrompts,
		"score":                               score,
		"shutdown twice":                      shutdownTwice,
		"text with NUL and wide characters":   oddText,
		"concurrent generation while trained": concurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, launch) })
	}
}

func opened(t *testing.T, launch Launcher) *host.Plugin {
	t.Helper()
	p, err := launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := p.Open(t.Context(), "{}", 0, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func generate(t *testing.T, p *host.Plugin, role policy.Role, version int64, prompts []policy.Prompt) []policy.Completion {
	t.Helper()
	out, err := p.Generate(t.Context(), role, version, prompts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func train(t *testing.T, p *host.Plugin, from, to int64, b plugins.Batches) plugins.Result {
	t.Helper()
	r, err := p.Train(t.Context(), from, to, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func infoNames(t *testing.T, launch Launcher) {
	i := opened(t, launch).Info()
	if i.Name == "" || i.Version == "" || i.Device == "" || i.CheckpointFormat == "" || len(i.Roles) == 0 {
		t.Errorf("info is incomplete: %+v", i)
	}
}

func openFresh(t *testing.T, launch Launcher) {
	h, err := opened(t, launch).Health(t.Context())
	if err != nil || !h.Ready || !slices.Equal(h.Versions, []int64{0}) {
		t.Errorf("health %+v, %v; want ready with version 0", h, err)
	}
}

func answersAreChoices(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	prompts := AgentPrompts(50)
	for i, c := range generate(t, p, policy.Agent, 0, prompts) {
		if c.ID != prompts[i].ID || !slices.Contains(prompts[i].Choices, c.Text) {
			t.Errorf("answer %d is %+v", i, c)
		}
		if p.Info().Has(plugins.CapTokens) && len(c.TokenIDs) == 0 || p.Info().Has(plugins.CapLogprobs) && len(c.Logprobs) != len(c.TokenIDs) {
			t.Errorf("answer %d: tokens %v, logprobs %v", i, c.TokenIDs, c.Logprobs)
		}
	}
}

func batchingChangesNothing(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	if !p.Info().Has(plugins.CapDeterministic) {
		return
	}
	prompts := AgentPrompts(20)
	all := generate(t, p, policy.Agent, 0, prompts)
	for i := len(prompts) - 1; i >= 0; i-- {
		if one := generate(t, p, policy.Agent, 0, prompts[i:i+1]); !reflect.DeepEqual(one[0], all[i]) {
			t.Errorf("alone: %+v, in a batch: %+v", one[0], all[i])
		}
	}
}

func designerAnswers(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	if !slices.Contains(p.Info().Roles, string(policy.Designer)) {
		return
	}
	for _, c := range generate(t, p, policy.Designer, 0, DesignerPrompts(5)) {
		if c.Text == "" || p.Info().Has(plugins.CapTokens) && len(c.TokenIDs) == 0 {
			t.Errorf("answer %+v", c)
		}
	}
}

func noPrompts(t *testing.T, launch Launcher) {
	if out := generate(t, opened(t, launch), policy.Agent, 0, nil); len(out) != 0 {
		t.Errorf("%d answers to no prompt", len(out))
	}
}

func unknownVersion(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	var missing *plugins.VersionNotLoadedError
	_, err := p.Generate(t.Context(), policy.Agent, 41, AgentPrompts(1))
	if !errors.Is(err, plugins.ErrVersionNotLoaded) || !errors.As(err, &missing) || missing.Version != 41 {
		t.Errorf("generate: got %v", err)
	}
	if _, err := p.Train(t.Context(), 41, 42, Batches(t, 0, AgentRows(4))); !errors.Is(err, plugins.ErrVersionNotLoaded) {
		t.Errorf("train: got %v", err)
	}
	if _, err := p.Save(t.Context(), 41); !errors.Is(err, plugins.ErrVersionNotLoaded) {
		t.Errorf("save: got %v", err)
	}
}

func trainMakesVersion(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	before := generate(t, p, policy.Agent, 0, AgentPrompts(20))
	r := train(t, p, 0, 1, Batches(t, 0, AgentRows(40)))
	if r.Version != 1 || r.Rows != 40 || !slices.IsSortedFunc(r.Metrics, func(a, b plugins.Metric) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("result %+v", r)
	}
	if h, err := p.Health(t.Context()); err != nil || !slices.Equal(h.Versions, []int64{0, 1}) {
		t.Errorf("health %+v, %v", h, err)
	}
	generate(t, p, policy.Agent, 1, AgentPrompts(5))
	if after := generate(t, p, policy.Agent, 0, AgentPrompts(20)); p.Info().Has(plugins.CapDeterministic) && !reflect.DeepEqual(before, after) {
		t.Error("training changed the version that it started from")
	}
}

func trainRepeats(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	if !p.Info().Has(plugins.CapDeterministic) {
		return
	}
	a := train(t, p, 0, 1, Batches(t, 0, AgentRows(40)))
	b := train(t, p, 0, 1, Batches(t, 0, AgentRows(40)))
	c := train(t, opened(t, launch), 0, 1, Batches(t, 0, AgentRows(40)))
	if a.Checkpoint.SHA256 != b.Checkpoint.SHA256 || a.Checkpoint.SHA256 != c.Checkpoint.SHA256 {
		t.Error("the same training made another checkpoint")
	}
}

func trainWithoutRows(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	if r := train(t, p, 0, 1, func(func(arrow.Record, error) bool) {}); r.Version != 1 || r.Rows != 0 {
		t.Errorf("result %+v", r)
	}
}

func trainManyBatches(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	if r := train(t, p, 0, 1, Batches(t, 2000, AgentRows(400))); r.Rows != 400 {
		t.Errorf("%d rows arrived, 400 were sent", r.Rows)
	}
}

func foreignSchema(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	sc := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer rb.Release()
	rb.Field(0).(*array.Int32Builder).Append(1)
	rec := rb.NewRecord()
	defer rec.Release()
	_, err := p.Train(t.Context(), 0, 1, func(yield func(arrow.Record, error) bool) { yield(rec, nil) })
	if !errors.Is(err, plugins.ErrInvalidBatch) {
		t.Errorf("got %v, want ErrInvalidBatch", err)
	}
	train(t, p, 0, 1, Batches(t, 0, AgentRows(4)))
}

func brokenSource(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	broken := errors.New("log is gone")
	_, err := p.Train(t.Context(), 0, 1, func(yield func(arrow.Record, error) bool) {
		for rec := range Batches(t, 0, AgentRows(4)) {
			if !yield(rec, nil) {
				return
			}
		}
		yield(nil, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the source's error", err)
	}
	train(t, p, 0, 1, Batches(t, 0, AgentRows(4)))
}

func saveAndLoad(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	r := train(t, p, 0, 1, Batches(t, 0, AgentRows(40)))
	ck, err := p.Save(t.Context(), 1)
	if err != nil || ck.SHA256 != r.Checkpoint.SHA256 {
		t.Fatalf("saved %s, trained %s, %v", ck.SHA256, r.Checkpoint.SHA256, err)
	}
	q := opened(t, launch)
	if err := q.Load(t.Context(), 1, ck); err != nil {
		t.Fatal(err)
	}
	s := opened(t, launch)
	if v, err := s.Open(t.Context(), "{}", 1, &ck); err != nil || v != 1 {
		t.Fatalf("opened version %d, %v", v, err)
	}
	if !p.Info().Has(plugins.CapDeterministic) {
		return
	}
	want := generate(t, p, policy.Agent, 1, AgentPrompts(20))
	for _, other := range []*host.Plugin{q, s} {
		if got := generate(t, other, policy.Agent, 1, AgentPrompts(20)); !reflect.DeepEqual(got, want) {
			t.Error("a restored version answers otherwise")
		}
	}
	trainOn(t, p, q, s)
}

// trainOn trains all plugins further: one that never stopped and ones that were restored must stay the same, or a run that
// was interrupted would go on differently.
func trainOn(t *testing.T, never *host.Plugin, restored ...*host.Plugin) {
	t.Helper()
	for from := int64(1); from < 4; from++ {
		rows := AgentRows(40 + int(from))
		want := train(t, never, from, from+1, Batches(t, 0, rows))
		for _, other := range restored {
			if got := train(t, other, from, from+1, Batches(t, 0, rows)); got.Checkpoint.SHA256 != want.Checkpoint.SHA256 {
				t.Errorf("version %d: trained on from a restored one it has another checkpoint", from+1)
			}
		}
	}
}

func damagedCheckpoint(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	ck, err := p.Save(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	short := plugins.NewCheckpoint(ck.Format, ck.Data[:len(ck.Data)/2])
	if err := p.Load(t.Context(), 5, short); !errors.Is(err, plugins.ErrPermanent) {
		t.Errorf("half a checkpoint: got %v, want ErrPermanent", err)
	}
	wrong := ck
	wrong.SHA256 = strings.Repeat("0", 64)
	if err := p.Load(t.Context(), 5, wrong); !errors.Is(err, plugins.ErrPermanent) {
		t.Errorf("wrong digest: got %v, want ErrPermanent", err)
	}
}

func cancelledCall(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Generate(ctx, policy.Agent, 0, AgentPrompts(5)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	generate(t, p, policy.Agent, 0, AgentPrompts(5))
}

func largePrompts(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	for _, size := range []int{4<<20 - 1, 4 << 20, 64 << 20} {
		prompt := AgentPrompts(1)
		prompt[0].Messages[0].Content = strings.Repeat("word ", size/5)
		generate(t, p, policy.Agent, 0, prompt)
	}
}

func score(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	recs, err := p.Score(t.Context(), 0, Batches(t, 2000, AgentRows(40)))
	if !p.Info().Has(plugins.CapScore) {
		if !errors.Is(err, plugins.ErrPermanent) {
			t.Errorf("got %v, want ErrPermanent", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		r.Release()
	}
}

func shutdownTwice(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	for range 2 {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	<-p.Exited()
	if _, err := p.Generate(t.Context(), policy.Agent, 0, AgentPrompts(1)); err == nil {
		t.Error("a plugin that is shut down answered")
	}
}

func oddText(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	prompt := policy.Prompt{ID: "odd", Choices: []string{"a\x00b", "ελ", "\u2028"}, Messages: []policy.Message{{Role: "user", Content: "x\x00y\nλόγος: \U0001F600"}}}
	if c := generate(t, p, policy.Agent, 0, []policy.Prompt{prompt}); !slices.Contains(prompt.Choices, c[0].Text) {
		t.Errorf("answer %q", c[0].Text)
	}
}

func concurrent(t *testing.T, launch Launcher) {
	p := opened(t, launch)
	done := make(chan error)
	for range 4 {
		go func() {
			var err error
			for range 20 {
				if _, e := p.Generate(t.Context(), policy.Agent, 0, AgentPrompts(10)); e != nil {
					err = e
				}
			}
			done <- err
		}()
	}
	var rows []training.Row = AgentRows(40)
	train(t, p, 0, 1, Batches(t, 0, rows))
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
