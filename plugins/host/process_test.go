package host

import (
	"context"
	"io"
	"os/exec"
	"testing"
	"time"
)

// What a process said last is read even by who comes after the time that its pipes may stay open.
func TestLastWordsAreReadLate(t *testing.T) {
	p, err := newProcess(exec.Command("sh", "-c", "echo handshake; echo cause >&2"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-p.done
	time.Sleep(pipeGrace + 100*time.Millisecond)
	for want, pipe := range map[string]io.Reader{"handshake\n": p.Stdout(), "cause\n": p.Stderr()} {
		if got, err := io.ReadAll(pipe); string(got) != want || err != nil {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
	}
	if err := p.Wait(context.Background()); err != nil {
		t.Error(err)
	}
}
