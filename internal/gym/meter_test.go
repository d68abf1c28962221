package gym

import (
	"testing"
)

func TestAMeterCountsWhatPoolsDo(t *testing.T) {
	m := &Meter{}
	p, err := NewPool(Config{MaxWorkers: 3, MemoryBytes: 64 << 20}, Settings{Meter: m})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := m.Stats() // the test of the sandbox is over
	w := open(t, p, counting)
	s := m.Stats()
	if s.Slots != 3 || s.Open[RuntimeStarlark] != 1 || s.Started[RuntimeStarlark]-before.Started[RuntimeStarlark] != 1 {
		t.Errorf("with one worker in use: %+v", s)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	hungry := counting + "\nHUNGRY = [0] * (1 << 40)\n"
	if _, err := p.Open(t.Context(), Source{Runtime: RuntimeStarlark, Code: hungry}); err == nil {
		t.Fatal("a source that wants a terabyte was loaded")
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = m.Stats()
	if s.Slots != 0 || s.Open[RuntimeStarlark] != 0 || s.Waiting != 0 {
		t.Errorf("after the pool's end: %+v", s)
	}
	if s.Started[RuntimeStarlark]-before.Started[RuntimeStarlark] < 2 {
		t.Errorf("%d processes were started, want 2 or more", s.Started[RuntimeStarlark])
	}
	var none *Meter
	none.slots(1)
	if none.Stats().Slots != 0 {
		t.Error("no meter counts")
	}
}

func TestAMeterCountsDeathsByCause(t *testing.T) {
	m := &Meter{}
	p := newPool(t, Config{})
	p.meter = m
	w := open(t, p, counting)
	defer w.Close() //nolint:errcheck // the pool ends it
	if _, err := w.Reset(t.Context(), []Reset{{Episode: 1, Seed: 1}}); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	victim := w.proc
	w.mu.Unlock()
	victim.kill(&deathError{cause: causeMemory, text: memoryText})
	if _, err := w.Step(t.Context(), []Action{{Episode: 1, Text: "up"}}); err != nil {
		t.Fatal(err)
	}
	if n := m.Stats().Killed[Death{RuntimeStarlark, causeMemory}]; n != 1 {
		t.Errorf("%d deaths by memory, want 1: %+v", n, m.Stats().Killed)
	}
}
