package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/pools"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// entries are environments that pass the gate, one of them in Python, one on three env seeds only, one that gives no hint,
// and two that do not pass.
func entries() []pools.Entry {
	star := func(name, code string) pools.Entry {
		return pools.Entry{Name: name, Source: gym.Source{Runtime: gym.RuntimeStarlark, Code: code}, SeedTo: math.MaxUint64}
	}
	few := star("few.star", strings.Replace(gymtest.Counting, "Counting", "Few", 1))
	few.SeedFrom, few.SeedTo = 1000, 1002
	few.Package, few.Version = "somebody's", "1.2.3"
	mute := gymtest.Counting[:strings.Index(gymtest.Counting, "def hint")] + "def hint(state):\n    return \"\"\n\n" +
		gymtest.Counting[strings.Index(gymtest.Counting, "def verify"):]
	python := star("whole.py", gymtest.Counting)
	python.Source.Runtime = gym.RuntimePython
	return []pools.Entry{
		python,
		star("whole.star", gymtest.Counting), few, star("mute.star", mute),
		star("broken.star", "def"), star("bytes.star", "x = '\xff'"),
	}
}

// importing opens services on servers and imports entries; broken off, when after is positive, after that many verdicts.
func importing(t *testing.T, l config.Loaded, at Endpoints, in Import, after int) (Imported, error) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	s, err := Open(t.Context(), l, at, log)
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	_, _, err = s.OpenImport(t.Context(), nil)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, err := s.ImportPool(ctx, in, func(done, _ int, _ ImportedEntry) {
		if done == after {
			stop()
		}
	})
	if err == nil {
		run, err := FindRun(t.Context(), s.Bus, out.Name)
		must(t, err)
		v, err := s.Verify(t.Context(), run)
		must(t, err)
		for _, d := range v.Differences {
			t.Errorf("pool %s: %s", out.Name, d)
		}
	}
	return out, err
}

func TestAnImportIsTheSameWhateverInterruptsIt(t *testing.T) {
	l := withPython(small(t, nil))
	l.Workers = 1
	in := Import{Name: "pool", Seed: 1, Entries: entries()}
	want, err := importing(t, l, servers(t, t.TempDir()), in, 0)
	must(t, err)
	var verdicts []string
	for _, e := range want.Entries {
		verdicts = append(verdicts, e.Name+" "+e.Stage)
	}
	if got := strings.Join(verdicts, ", "); got != "broken.star parse, bytes.star parse, few.star , mute.star , whole.py , whole.star " {
		t.Fatalf("verdicts: %s", got)
	}
	if want.Accepted != 4 || want.Rejected != 2 || want.Known || want.Resumed {
		t.Errorf("%+v", want)
	}

	other := servers(t, t.TempDir())
	l.Workers = 4
	slices.Reverse(in.Entries)
	if _, err := importing(t, l, other, in, 2); !errors.Is(err, context.Canceled) {
		t.Fatalf("broken off: %v", err)
	}
	got, err := importing(t, l, other, in, 0)
	must(t, err)
	if got.Digest != want.Digest || !got.Resumed {
		t.Errorf("taken up: digest %s, want %s; resumed %v", got.Digest, want.Digest, got.Resumed)
	}
	again, err := importing(t, l, other, in, 0)
	must(t, err)
	if again.Digest != want.Digest || !again.Known || fmt.Sprint(again.Entries) != fmt.Sprint(want.Entries) {
		t.Errorf("asked for once more: %+v", again)
	}

	in.Entries = in.Entries[1:]   // without bytes.star
	in.Entries[2].Version = "2.0" // few.star, in this order
	_, err = importing(t, l, other, in, 0)
	if want := "asked for without bytes.star; another content of few.star (somebody's 1.2.3, asked for 2.0)"; !errors.Is(err, runs.ErrDiffers) ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("another content: %v", err)
	}
}

// drawing runs a run that draws from the pool, and checks what is in its log.
func drawing(t *testing.T, l config.Loaded, at Endpoints, digest string) Summary {
	t.Helper()
	sum := play(t, l, at)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := Open(t.Context(), l, at, log)
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	run, err := FindRun(t.Context(), s.Bus, sum.RunID)
	must(t, err)
	if got := run.Config.GetPool(); got != "pool@"+digest {
		t.Errorf("the run pins %q, the import has digest %s", got, digest)
	}
	names, bounded := map[string]string{}, 0
	for _, topic := range []string{topics.Environments, topics.Rollouts, topics.Policies} {
		must(t, s.Bus.Read(t.Context(), topic, nil, nil, func(ev event.Event) error {
			msg, err := ev.Message()
			must(t, err)
			switch m := msg.(type) {
			case *spadepb.EnvironmentDesigned:
				names[string(m.GetEnvId())] = m.GetName()
			case *spadepb.RolloutCompleted:
				name := names[string(m.GetEnvId())]
				if name == "few.star" {
					bounded++
				}
				if name == "few.star" && (m.GetEnvSeed() < 1000 || m.GetEnvSeed() > 1002) {
					t.Errorf("few.star is played on seed %d", m.GetEnvSeed())
				}
				if name == "mute.star" && m.GetArm() != "plain" {
					t.Errorf("mute.star is played in the %s arm", m.GetArm())
				}
				if tier := ev.Observed.GetSandboxTier(); tier != "limits" {
					t.Errorf("an episode in sandbox tier %q", tier)
				}
			case *spadepb.BatchBuilt:
				if m.GetRole() != "agent" {
					t.Errorf("a batch for the %s", m.GetRole())
				}
			}
			return nil
		}))
	}
	if bounded == 0 {
		t.Error("few.star was never played")
	}
	return sum
}

func TestRunsOnAFixedPoolAreAlike(t *testing.T) {
	l := withPython(small(t, plugin(t)))
	l.Run.Name, l.Run.Designer, l.Run.Designs = "drawn", "fixed:pool", 4
	in := Import{Name: "pool", Seed: 1, Entries: entries()}
	var first Summary
	for i, workers := range []int{1, 5} {
		at := servers(t, t.TempDir())
		l.Workers = workers
		imported, err := importing(t, l, at, in, 0)
		must(t, err)
		sum := drawing(t, l, at, imported.Digest)
		if sum.Designed != 8 || sum.Accepted != 8 || sum.Rollouts == 0 || sum.NoRegret {
			t.Errorf("%+v", sum)
		}
		if i == 0 {
			first = sum
		} else if sum.LogDigest != first.LogDigest {
			t.Errorf("digest %s, then %s", first.LogDigest, sum.LogDigest)
		}
		if i > 0 {
			refused(t, l, at)
		}
	}
}

// refused asks for what cannot be drawn from.
func refused(t *testing.T, l config.Loaded, at Endpoints) {
	t.Helper()
	s, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	for name, want := range map[string]string{"nowhere": "never imported", "drawn": "kind train"} {
		if _, err := ReadPool(t.Context(), s.Bus, name); !errors.Is(err, ErrPool) || !strings.Contains(err.Error(), want) {
			t.Errorf("pool %s: %v", name, err)
		}
	}
}
