package designer

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// fixed is a designer that draws from a pool of n environments; the last of them gives no hint and is played on few seeds.
func fixed(t *testing.T, n int) (*loop, *Designer) {
	l, d := newLoop(t, config())
	d.Policy, d.Gate, d.Memory, d.Documents = nil, nil, nil, nil // whoever asks them panics
	for i := range n {
		id := uuid.UUID{byte(i + 1)}
		hint := 5.0
		if i == n-1 {
			hint = 0
		}
		d.Pool = append(d.Pool, Pooled{
			Tier: "tested",
			Designed: &spadepb.EnvironmentDesigned{
				EnvId: id[:], Name: fmt.Sprint(i), Runtime: "python", Code: fmt.Sprintf("source %d", i),
				Package: "dist", PackageSet: "set", PackageVersion: "1.2", SeedsBounded: i == n-1, SeedFrom: 7, SeedTo: 8,
			},
			Accepted: &spadepb.EnvironmentAccepted{
				EnvId: id[:], Title: "title", Kind: "game", MaxSteps: 9, Iteration: 3, Slot: 1000,
				Stats: []*spadepb.Stat{{Name: stats.HintBytes, Value: hint}},
			},
		})
	}
	return l, d
}

// drawn are the names that an iteration's slots got, by slot, with the verdicts beside them.
func drawn(t *testing.T, l *loop) ([]string, map[string]*spadepb.EnvironmentAccepted) {
	names, verdicts := map[int32]string{}, map[string]*spadepb.EnvironmentAccepted{}
	for _, ev := range l.events {
		msg, err := ev.Message()
		if err != nil {
			t.Fatal(err)
		}
		switch m := msg.(type) {
		case *spadepb.EnvironmentDesigned:
			names[m.GetSlot()] = m.GetName()
			if m.GetPackageSet() != "set" || m.GetPackageVersion() != "1.2" || m.GetRuntime() != "python" || len(m.GetPoolEnvId()) != 16 {
				t.Errorf("design %v", m)
			}
		case *spadepb.EnvironmentAccepted:
			verdicts[names[m.GetSlot()]] = m
			if got := ev.Observed.GetSandboxTier(); got != "tested" {
				t.Errorf("tier %q", got)
			}
		}
	}
	list := make([]string, len(names))
	for slot, name := range names {
		list[slot] = name
	}
	return list, verdicts
}

func TestAFixedPoolIsDealtOutWithoutRepeatsWhileItLasts(t *testing.T) {
	var first []string
	for _, order := range [][]int32{{0, 1, 2, 3, 4, 5, 6, 7}, {7, 3, 1, 0, 2, 6, 5, 4}} {
		l, d := fixed(t, 4)
		var work sync.WaitGroup
		for _, slot := range order {
			work.Go(func() {
				if err := d.Design(t.Context(), request(d, 2, slot, 0)); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		names, verdicts := drawn(t, l)
		if len(names) != 8 || len(l.events) != 16 {
			t.Fatalf("%d events for slots %v", len(l.events), names)
		}
		for round := range 2 {
			if got := slices.Sorted(slices.Values(names[4*round : 4*round+4])); !slices.Equal(got, []string{"0", "1", "2", "3"}) {
				t.Errorf("round %d has %v", round, got)
			}
		}
		if first == nil {
			first = names
		} else if !slices.Equal(first, names) {
			t.Errorf("slots got %v, in another order %v", first, names)
		}
		if v := verdicts["0"]; v.GetExpectedHinted() != 4 || v.GetExpectedPlain() != 4 || v.GetTitle() != "title" || v.GetIteration() != 2 {
			t.Errorf("verdict %v", v)
		}
		v := verdicts["3"]
		if v.GetExpectedHinted() != 0 || v.GetExpectedPlain() != 4 {
			t.Errorf("without a hint: %v", v)
		}
		if got := slices.Sorted(slices.Values(v.GetEnvSeeds())); !slices.Equal(got, []uint64{7, 8}) {
			t.Errorf("env seeds %v of 7 and 8", got)
		}
	}
}

func TestADrawIsTakenUpWhereTheLogStands(t *testing.T) {
	l, d := fixed(t, 3)
	if err := d.Design(t.Context(), request(d, 0, 1, 0)); err != nil {
		t.Fatal(err)
	}
	for kept := range len(l.events) + 1 {
		again, d := fixed(t, 3)
		for _, ev := range l.events[:kept] {
			if err := again.Append(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Design(t.Context(), request(d, 0, 1, 0)); err != nil {
			t.Fatal(err)
		}
		if len(again.events) != 2 || again.events[1].ID != l.events[1].ID || string(again.events[0].Payload) != string(l.events[0].Payload) {
			t.Errorf("with %d kept there are %d events, or others", kept, len(again.events))
		}
	}
}

func TestARequestThatTheRunCannotHaveMadeIsRefused(t *testing.T) {
	_, d := newLoop(t, config())
	d.Run.Config.Iterations = 3
	if err := d.check(request(d, 2, 7, 0)); err != nil {
		t.Error(err)
	}
	other := request(d, 2, 7, 0)
	other.Slot = 6
	for _, req := range []*spadepb.DesignRequested{request(d, 3, 0, 0), request(d, -1, 0, 0), request(d, 0, 8, 0), request(d, 0, -1, 0), other} {
		if err := d.check(req); !errors.Is(err, event.ErrMalformed) {
			t.Errorf("%v: %v", req, err)
		}
	}
}
