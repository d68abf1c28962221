package play_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/play"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is an environment whose goal is to say "up" three times.
type counter struct {
	at      map[int]int
	actions []string
	err     error
}

func (c *counter) Meta() wire.Meta {
	return wire.Meta{Title: "Count\x1b[2J", Kind: "reasoning", MaxSteps: 5, Tools: []json.RawMessage{json.RawMessage(`{"name":"up"}`)}}
}

func (c *counter) Reset(_ context.Context, resets []wire.Reset) ([]wire.Started, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.at[resets[0].Episode] = 0
	return []wire.Started{{
		Episode: resets[0].Episode, Observation: "at 0\nof 3\n", Actions: []string{"up", "down"},
		Hint: "go \x1bup", Solution: []string{"up", "up", "up"},
	}}, nil
}

func (c *counter) Step(_ context.Context, actions []wire.Action) ([]wire.Stepped, error) {
	a := actions[0]
	c.actions = append(c.actions, a.Text)
	s := wire.Stepped{Episode: a.Episode, Actions: []string{"up", "1"}}
	switch a.Text {
	case "up":
		c.at[a.Episode]++
		s.Reward, s.Observation = 1.0/3, "higher"
	case "crash":
		s.Fault = wire.Fault{Outcome: wire.EnvError, Cause: wire.CauseException, Error: "division by zero\x07"}
		return []wire.Stepped{s}, nil
	default:
		s.Observation = "as before"
	}
	s.Return = float64(c.at[a.Episode]) / 3
	if c.at[a.Episode] == 3 {
		one := 1.0
		s.Terminated, s.Verify, s.Fault = true, &one, wire.Fault{Outcome: wire.Solved}
	}
	return []wire.Stepped{s}, nil
}

const script = `:help
:hint
:solve
1
2
1

up
up
up
:seed x
:hnt
:seed 9
crash
:restart
:quit
never reached
`

func TestASitting(t *testing.T) {
	c := &counter{at: map[int]int{}}
	var out bytes.Buffer
	if err := play.Play(t.Context(), c, play.Settings{In: strings.NewReader(script), Out: &out, Seed: 4}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/sitting.golden", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/sitting.golden")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if strings.ContainsAny(out.String(), "\x1b\x07") {
		t.Error("control characters reach the terminal")
	}
	// The first 1 is the list's first action; the second 2 is too many for the new list's names; then the list has "1" itself.
	if got := strings.Join(c.actions, ","); got != "up,1,1,up,up,crash" {
		t.Errorf("actions %s", got)
	}
}

func TestTheInputEnds(t *testing.T) {
	err := play.Play(t.Context(), &counter{at: map[int]int{}}, play.Settings{In: strings.NewReader("up"), Out: io.Discard, Prompt: true})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, writer := io.Pipe()
	defer writer.Close()
	done := make(chan error, 1)
	go func() {
		done <- play.Play(ctx, &counter{at: map[int]int{}}, play.Settings{In: in, Out: io.Discard})
	}()
	if _, err := io.WriteString(writer, "up\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAWorkerThatFails(t *testing.T) {
	broken := errors.New("broken")
	err := play.Play(t.Context(), &counter{at: map[int]int{}, err: broken}, play.Settings{In: strings.NewReader(""), Out: io.Discard})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
