package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/consumers/coordinator"
	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// What another program wrote under a run's key ends neither the run nor a slot of it.
func TestALeaderPassesOverWhatTheRunCannotHaveWritten(t *testing.T) {
	run := runs.Run{ID: ids.Run("led"), Config: &spadepb.SemanticConfig{Iterations: 1, Designs: 2}}
	l := &leader{
		run: run, board: &board{}, coord: coordinator.New(coordinator.Settings{Run: run, Source: observe.NewSource("test")}),
		trainer: trainer.New(trainer.Settings{Run: run, Source: observe.NewSource("test"), Allocator: memory.NewGoAllocator()}),
	}
	must(t, l.addMessage(&spadepb.PolicyUpdated{RunId: run.ID[:], PolicyFrom: -1}))
	requests, err := l.coord.Next()
	must(t, err)
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	env := ids.Env(run.ID, 99, 0, 0)
	other, err := event.New(topics.EnvKey(run.ID, env), env, 0, &spadepb.DesignRequested{RunId: run.ID[:], EnvId: env[:], Iteration: 99}, nil)
	must(t, err)
	spoilt := requests[1]
	spoilt.Payload = []byte{0xff}
	unknown := requests[0]
	unknown.Type = "spade.v1.Nothing"
	unknown.Topic = topics.Regrets
	for _, ev := range []event.Event{other, spoilt, unknown} {
		if err := l.add(ev); err != nil {
			t.Errorf("%s: %v", ev.Type, err)
		}
	}
	again, err := l.coord.Next()
	must(t, err)
	if len(again) != 1 || again[0].ID != spoilt.ID {
		t.Errorf("asked again for %v", again)
	}
}

// Whoever runs workers without a terminal sees how far a run is.
func TestALeaderTellsOfIterations(t *testing.T) {
	run := runs.Run{ID: ids.Run("told"), Name: "told", Config: &spadepb.SemanticConfig{Iterations: 3}}
	var out bytes.Buffer
	l := &leader{run: run, log: slog.New(slog.NewTextHandler(&out, nil))}
	closed, err := event.New(topics.RunKey(run.ID), ids.Iteration(run.ID, 1), 0, &spadepb.IterationClosed{RunId: run.ID[:], Iteration: 1, Regret: 0.5}, nil)
	must(t, err)
	other, err := event.New(topics.RunKey(run.ID), run.ID, 0, &spadepb.RunFinished{RunId: run.ID[:]}, nil)
	must(t, err)
	l.tell(closed)
	l.tell(other)
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "iteration=1 of=3") || !strings.Contains(text, "regret=0.5") {
		t.Error(text)
	}
}
