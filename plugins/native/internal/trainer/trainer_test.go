package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/plugintest"
	"github.com/seed256f7767/spade/schemas/training"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, config string) *Trainer {
	t.Helper()
	tr := New("test")
	if _, err := tr.Open(t.Context(), config, 0, nil); err != nil {
		t.Fatal(err)
	}
	return tr
}

func generate(t *testing.T, tr *Trainer, role policy.Role, prompts []policy.Prompt) []policy.Completion {
	t.Helper()
	var out []policy.Completion
	err := tr.Generate(t.Context(), role, 0, prompts, func(cs []policy.Completion) error {
		out = append(out, cs...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func designRows(t *testing.T, tr *Trainer) []training.Row {
	t.Helper()
	var rows []training.Row
	for i, c := range generate(t, tr, policy.Designer, plugintest.DesignerPrompts(8)) {
		rows = append(rows, training.Row{Role: training.RoleDesigner, EnvID: c.ID, Completion: c.Text, TokenIDs: c.TokenIDs, Logprobs: c.Logprobs, Reward: float64(i) / 8})
	}
	return rows
}

func TestHowBatchesAreCutChangesNothing(t *testing.T) {
	tr := open(t, "")
	rows := append(plugintest.AgentRows(60), designRows(t, tr)...)
	var sums []string
	for _, cut := range []int{0, 1000, 5000} {
		r, err := tr.Train(t.Context(), 0, 1, plugintest.Batches(t, cut, rows))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Roles, []string{"agent", "designer"}) {
			t.Errorf("roles %v", r.Roles)
		}
		sums = append(sums, r.Checkpoint.SHA256)
	}
	if sums[0] != sums[1] || sums[0] != sums[2] {
		t.Errorf("checkpoints differ: %v", sums)
	}
}

func TestCheckpointStaysSmall(t *testing.T) {
	tr := open(t, "")
	for v := range int64(6) {
		r, err := tr.Train(t.Context(), v, v+1, plugintest.Batches(t, 0, append(plugintest.AgentRows(200), designRows(t, tr)...)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Checkpoint.Bytes > 300<<10 {
			t.Errorf("checkpoint of version %d has %d bytes", v+1, r.Checkpoint.Bytes)
		}
	}
}

func TestOldVersionsAreLetGo(t *testing.T) {
	tr := open(t, `{"bits":6}`)
	for v := range int64(keep + 5) {
		if _, err := tr.Train(t.Context(), v, v+1, plugintest.Batches(t, 0, plugintest.AgentRows(4))); err != nil {
			t.Fatal(err)
		}
	}
	h := tr.Health(t.Context())
	if len(h.Versions) != keep || h.Versions[keep-1] != keep+5 {
		t.Errorf("versions %v", h.Versions)
	}
}

func TestBadRowsAreNamed(t *testing.T) {
	tr := open(t, "")
	for column, spoil := range map[string]func(r *training.Row){
		training.ColCompletion: func(r *training.Row) { r.Completion, r.TokenIDs, r.Logprobs = "fly", nil, nil },
		training.ColTokenIDs:   func(r *training.Row) { r.Role, r.TokenIDs, r.Logprobs = training.RoleDesigner, []int32{5}, nil },
	} {
		rows := plugintest.AgentRows(3)
		spoil(&rows[2])
		_, err := tr.Train(t.Context(), 0, 1, plugintest.Batches(t, 0, rows))
		var bad *plugins.InvalidBatchError
		if !errors.As(err, &bad) || bad.Row != 2 || bad.Column != column {
			t.Errorf("%s: got %v", column, err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, config := range []string{`{`, `{"bits":40}`, `{"rate":-1}`, `{"epochs":1000}`, `{"bit":12}`} {
		if _, err := New("test").Open(t.Context(), config, 0, nil); !errors.Is(err, plugins.ErrPermanent) {
			t.Errorf("%s: got %v", config, err)
		}
	}
}

func TestUnknownRole(t *testing.T) {
	err := open(t, "").Generate(t.Context(), "judge", 0, plugintest.AgentPrompts(1), nil)
	if !errors.Is(err, plugins.ErrPermanent) {
		t.Errorf("got %v", err)
	}
}

func TestCheckpointOfAnotherVersion(t *testing.T) {
	tr := open(t, "")
	ck, err := tr.Save(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Load(t.Context(), 3, ck); !errors.Is(err, plugins.ErrPermanent) {
		t.Errorf("got %v", err)
	}
}

func TestDesignsVary(t *testing.T) {
	prompts := make([]policy.Prompt, 300)
	for i := range prompts {
		prompts[i] = plugintest.DesignerPrompts(1)[0]
		prompts[i].ID, prompts[i].Seed = fmt.Sprint(i), uint64(i)
	}
	texts := map[string]bool{}
	for _, c := range generate(t, open(t, ""), policy.Designer, prompts) {
		texts[c.Text] = true
	}
	if len(texts) != len(prompts) {
		t.Errorf("%d different sources for %d seeds", len(texts), len(prompts))
	}
}

func FuzzCheckpoint(f *testing.F) {
	ck, err := fresh(6).encode(1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ck.Data)
	f.Add([]byte(Format + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, v, err := decode(plugins.NewCheckpoint(Format, data))
		if err != nil {
			if !errors.Is(err, plugins.ErrPermanent) {
				t.Errorf("class of %v", err)
			}
			return
		}
		if _, err := s.encode(v); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkGenerateAgent(b *testing.B) {
	tr := New("bench")
	if _, err := tr.Open(context.Background(), "", 0, nil); err != nil {
		b.Fatal(err)
	}
	prompts := plugintest.AgentPrompts(256)
	b.ReportAllocs()
	for b.Loop() {
		if err := tr.Generate(context.Background(), policy.Agent, 0, prompts, func([]policy.Completion) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
