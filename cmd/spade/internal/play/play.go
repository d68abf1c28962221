package play

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Worker runs episodes of one environment.
type Worker interface {
	Meta() wire.Meta
	Reset(ctx context.Context, resets []wire.Reset) ([]wire.Started, error)
	Step(ctx context.Context, actions []wire.Action) ([]wire.Stepped, error)
}

// Settings is what a game is played with.
type Settings struct {
	In     io.Reader
	Out    io.Writer
	Seed   uint64
	Style  screen.Style
	Prompt bool // show a prompt; without, each action is echoed, as for a script
}

// Play plays episodes until the input ends or the player leaves. Meanwhile a goroutine reads In; it ends with Play, but for
// the line that it waits for then.
func Play(ctx context.Context, w Worker, set Settings) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	g := &game{Settings: set, worker: w, seed: set.Seed, lines: readLines(reading, set.In)}
	if err := g.start(ctx); err != nil {
		return err
	}
	for {
		line, err := g.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := g.take(ctx, line); errors.Is(err, errLeft) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// errLeft says that the player has left.
var errLeft = errors.New("left")

// line is one line of input, or how the input ended.
type line struct {
	text string
	err  error
}

// maxLine bounds an action that is typed or piped in.
const maxLine = 1 << 20

func readLines(ctx context.Context, in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			select {
			case lines <- line{text: scan.Text()}:
			case <-ctx.Done():
				return
			}
		}
		err := scan.Err()
		if err == nil {
			err = io.EOF
		}
		select {
		case lines <- line{err: err}:
		case <-ctx.Done():
		}
	}()
	return lines
}

// game is a person's sitting: one episode after another.
type game struct {
	Settings
	worker  Worker
	lines   <-chan line
	seed    uint64
	episode int // of the worker; a new one for each start
	started wire.Started
	actions []string
	steps   int
	ended   bool
}

func (g *game) next(ctx context.Context) (string, error) {
	if g.Prompt {
		g.say("%s ", g.Style.Accent(">"))
	}
	select {
	case <-ctx.Done():
		g.say("\n")
		return "", ctx.Err()
	case l := <-g.lines:
		if l.err == nil && !g.Prompt {
			g.say("> %s\n", screen.Escape(l.text))
		}
		return strings.TrimSuffix(l.text, "\r"), l.err
	}
}

// say prints; a player whose screen is gone sends no more lines either, so the error shows there.
func (g *game) say(format string, args ...any) { fmt.Fprintf(g.Out, format, args...) }

func (g *game) start(ctx context.Context) error {
	g.episode++
	started, err := g.worker.Reset(ctx, []wire.Reset{{Episode: g.episode, Seed: g.seed, WantHint: true, WantSolve: true}})
	if err != nil {
		return fmt.Errorf("begin an episode: %w", err)
	}
	if len(started) != 1 {
		return fmt.Errorf("begin an episode: %d answers", len(started))
	}
	g.started, g.steps, g.ended = started[0], 0, false
	meta := g.worker.Meta()
	g.say("%s  %s\n", g.Style.Bold(screen.Escape(meta.Title)),
		g.Style.Dim(fmt.Sprintf("%s, at most %d steps, seed %d; :help lists commands", screen.Escape(meta.Kind), meta.MaxSteps, g.seed)))
	for _, tool := range meta.Tools {
		g.say("%s %s\n", g.Style.Dim("tool"), screen.Escape(string(tool)))
	}
	g.show(g.started.Observation, g.started.Actions)
	g.fault(g.started.Fault)
	return nil
}

func (g *game) show(observation string, actions []string) {
	if text := strings.TrimRight(observation, "\n"); text != "" {
		g.say("\n%s\n\n", screen.EscapeLines(text))
	}
	g.actions = actions
	width := len(strconv.Itoa(len(actions)))
	for i, a := range actions {
		g.say("  %s  %s\n", g.Style.Dim(fmt.Sprintf("%*d", width, i+1)), screen.Escape(a))
	}
}

// fault says what ended an episode before its time, if something did.
func (g *game) fault(f wire.Fault) {
	if f.Outcome == wire.Ongoing {
		return
	}
	g.ended = true
	if f.Error != "" {
		g.say("%s\n", g.Style.Bad(screen.EscapeLines(f.Error)))
	}
}

func (g *game) take(ctx context.Context, text string) error {
	switch command, rest, _ := strings.Cut(strings.TrimSpace(text), " "); command {
	case "":
		return nil
	case ":quit", ":q":
		return errLeft
	case ":help":
		g.say("%s", help)
	case ":hint":
		g.say("%s\n", screen.EscapeLines(g.started.Hint))
	case ":solve":
		for _, a := range g.started.Solution {
			g.say("  %s\n", screen.Escape(a))
		}
	case ":restart":
		return g.start(ctx)
	case ":seed":
		seed, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
		if err != nil {
			g.say(":seed takes a number from 0\n")
			return nil
		}
		g.seed = seed
		return g.start(ctx)
	default:
		if strings.HasPrefix(text, ":") && !slices.Contains(g.actions, text) {
			g.say("there is no command %s; :help lists them, and a space before it makes it an action\n", screen.Escape(command))
			return nil
		}
		return g.act(ctx, text)
	}
	return nil
}

const help = `  a number     take that action of the list
  any text     take it as the action
  :hint        show the privileged hint
  :solve       show the reference solution from the start
  :restart     begin again on the same seed
  :seed N      begin on another seed
  :quit        leave
`

// act takes an action. A number stands for an action of the list, unless the list has that very text.
func (g *game) act(ctx context.Context, text string) error {
	if g.ended {
		g.say("the episode has ended; :restart or :seed N begins another\n")
		return nil
	}
	stepped, err := g.worker.Step(ctx, []wire.Action{{Episode: g.episode, Text: g.meant(text)}})
	if err != nil {
		return fmt.Errorf("take the action: %w", err)
	}
	if len(stepped) != 1 {
		return fmt.Errorf("take the action: %d answers", len(stepped))
	}
	s := stepped[0]
	g.steps++
	g.say("%s\n", g.Style.Dim(fmt.Sprintf("step %d: reward %.3f, return %.3f", g.steps, s.Reward, s.Return)))
	if s.Outcome == wire.Ongoing {
		g.show(s.Observation, s.Actions)
		return nil
	}
	g.show(s.Observation, nil)
	g.fault(s.Fault)
	g.end(s)
	return nil
}

func (g *game) meant(text string) string {
	for _, a := range g.actions {
		if a == text {
			return a
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(g.actions) {
		return g.actions[n-1]
	}
	return text
}

func (g *game) end(s wire.Stepped) {
	verdict := g.Style.Warn(string(s.Outcome))
	if s.Outcome == wire.Solved {
		verdict = g.Style.Good(string(s.Outcome))
	}
	verified := "not verified"
	if s.Verify != nil {
		verified = fmt.Sprintf("verified %.3f", *s.Verify)
	}
	g.say("%s in step %d: return %.3f, %s\n", verdict, g.steps, s.Return, verified)
}
