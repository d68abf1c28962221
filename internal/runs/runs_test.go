package runs

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func spec() Spec {
	return Spec{
		Name: "demo", Seed: 7, Documents: []uuid.UUID{{3}, {1}, {2, 9}, {1}},
		Config: &spadepb.SemanticConfig{
			Iterations: 3, EnvSeeds: 2, Repeats: 4, HintBudget: 5,
			PayWeights: []*spadepb.Weight{{Name: "regret", Value: 1}}, Ablations: []string{"memory"},
		},
	}
}

func started(t *testing.T, s Spec) Run {
	t.Helper()
	ev, err := Start(s, observe.NewSource("test"), Setting{
		Positions: Positions{"spade.work": {1: 20, 0: 10}}, Deployment: `{"data":".spade"}`, Tier: "tier",
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := FromEvent(ev)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestARunComesBackFromItsFirstEvent(t *testing.T) {
	run := started(t, spec())
	if run.ID != ids.Run("demo") || run.Seed != 7 || !proto.Equal(run.Config, spec().Config) {
		t.Errorf("run %+v", run)
	}
	if len(run.Documents) != 3 || run.Documents[0] != (uuid.UUID{1}) {
		t.Errorf("documents %v, want three, sorted", run.Documents)
	}
	if at := run.Positions["spade.work"]; at[0] != 10 || at[1] != 20 {
		t.Errorf("positions %v", run.Positions)
	}
	if run.Attempts(ids.ArmPlain) != 8 || run.Attempts(ids.ArmHinted) != 5 {
		t.Errorf("attempts %d and %d", run.Attempts(ids.ArmPlain), run.Attempts(ids.ArmHinted))
	}
	if !run.Ablated("memory") || run.Ablated("grounding") {
		t.Error("memory is switched off, grounding is not")
	}
	if err := Check(run, spec()); err != nil {
		t.Errorf("the same spec: %v", err)
	}
}

func TestADifferenceIsNamed(t *testing.T) {
	run := started(t, spec())
	for name, tc := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"seed":      {func(s *Spec) { s.Seed = 8 }, "seed is 7, asked for 8"},
		"field":     {func(s *Spec) { s.Config.Repeats = 5 }, "repeats is 4, asked for 5"},
		"weight":    {func(s *Spec) { s.Config.PayWeights[0].Value = 2 }, "pay_weights is [regret=1], asked for [regret=2]"},
		"list":      {func(s *Spec) { s.Config.Ablations = nil }, "ablations is [memory], asked for []"},
		"documents": {func(s *Spec) { s.Documents = s.Documents[:1] }, "documents are 3, asked for 1"},
	} {
		t.Run(name, func(t *testing.T) {
			other := spec()
			tc.change(&other)
			if err := Check(run, other); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}

// A corpus that has grown since is no reason to refuse a run that is to go on, unless other documents are asked for by name.
func TestWhoNamesNoDocumentsGoesOnWithThePinnedOnes(t *testing.T) {
	run := started(t, spec())
	grown := spec()
	grown.Documents = append(grown.Documents, uuid.UUID{99})
	if err := Check(run, grown); !errors.Is(err, ErrDiffers) {
		t.Errorf("other documents: %v", err)
	}
	grown.Unnamed = true
	if err := Check(run, grown); err != nil {
		t.Errorf("no documents: %v", err)
	}
	grown.Seed++
	if err := Check(run, grown); !errors.Is(err, ErrDiffers) {
		t.Errorf("another seed: %v", err)
	}
}

func TestAMissingNameComesFromSeedAndConfig(t *testing.T) {
	name := func(change func(*Spec)) string {
		s := spec()
		s.Name = ""
		change(&s)
		return started(t, s).Name
	}
	same := name(func(*Spec) {})
	if same != name(func(*Spec) {}) {
		t.Error("the same settings give two names")
	}
	if same == name(func(s *Spec) { s.Seed++ }) || same == name(func(s *Spec) { s.Config.Iterations++ }) {
		t.Error("other settings give the same name")
	}
}

func TestPinIsOfTheSet(t *testing.T) {
	sum := func(docs ...uuid.UUID) string { return hex.EncodeToString(Pin(docs).GetSha256()) }
	a, b := uuid.UUID{3}, uuid.UUID{1}
	if sum(a, b, a) != sum(b, a) {
		t.Error("order or repetition makes a difference")
	}
	if sum(a) == sum(b) || sum() == sum(a) {
		t.Error("the set makes no difference")
	}
}

func TestWhatIsNoRunIsTold(t *testing.T) {
	for name, msg := range map[string]proto.Message{
		"another type": &spadepb.RunFinished{RunId: make([]byte, 16)},
		"no config":    &spadepb.RunStarted{RunId: make([]byte, 16)},
		"odd documents": &spadepb.RunStarted{
			RunId: make([]byte, 16), Config: &spadepb.SemanticConfig{}, Documents: &spadepb.PinnedDocuments{Ids: []byte{1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ev, err := event.New("k", uuid.New(), 0, msg, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := FromEvent(ev); !errors.Is(err, event.ErrMalformed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAnotherPoolIsNamed(t *testing.T) {
	entry := func(name string, change func(*spadepb.PoolEntry)) *spadepb.PoolEntry {
		e := &spadepb.PoolEntry{Name: name, Runtime: "python", CodeSha256: []byte{1}, Package: "p", PackageVersion: "1"}
		if change != nil {
			change(e)
		}
		return e
	}
	base := Spec{Name: "pool", Kind: KindPool, Config: &spadepb.SemanticConfig{}, Pool: []*spadepb.PoolEntry{entry("a", nil), entry("b", nil)}}
	run := started(t, base)
	if err := Check(run, base); err != nil {
		t.Fatal(err)
	}
	for want, pool := range map[string][]*spadepb.PoolEntry{
		"it has not c":                             {entry("a", nil), entry("b", nil), entry("c", nil)},
		"asked for without b":                      {entry("a", nil)},
		"b (p 1, asked for 2)":                     {entry("a", nil), entry("b", func(e *spadepb.PoolEntry) { e.PackageVersion = "2" })},
		"b (package \"p\", asked for \"q\")":       {entry("a", nil), entry("b", func(e *spadepb.PoolEntry) { e.Package = "q" })},
		"b (runtime python, asked for starlark)":   {entry("a", nil), entry("b", func(e *spadepb.PoolEntry) { e.Runtime = "starlark" })},
		"b (its source)":                           {entry("a", nil), entry("b", func(e *spadepb.PoolEntry) { e.CodeSha256 = []byte{2} })},
		"b (its env seeds)":                        {entry("a", nil), entry("b", func(e *spadepb.PoolEntry) { e.SeedsBounded, e.SeedTo = true, 3 })},
		"it has not 0, 1, 2 and 2 more; asked for": {entry("0", nil), entry("1", nil), entry("2", nil), entry("3", nil), entry("4", nil)},
	} {
		other := base
		other.Pool = pool
		if err := Check(run, other); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	train := base
	train.Kind = ""
	if err := Check(run, train); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "kind is pool, asked for train") {
		t.Error(err)
	}
}
