package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/runview"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/producers/corpus"
)

func newRun(c *cli) *cobra.Command {
	var asJSON, submit bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the self-play loop",
		Long: `Designs environments, plays them with and without their hints, scores them and trains, iteration by
iteration. A run of the same name and settings is taken up where the log says it stands; a finished one
prints its summary again. With --designer fixed:POOL it plays what spade env import brought in instead of
designing. Progress is live on a terminal and plain lines in a pipe. Other processes may work on the same run:
spade worker, or the same command again. With --submit it only opens the run, for workers to work on.`,
		Example: `  spade run --corpus examples/corpus
  spade run --name first --seed 7 --iterations 5 --designs 4
  spade run --designer fixed:gymnasium
  spade run --json | tail -n 1 | jq .log_digest
  spade run --submit --name big --iterations 100 --corpus examples/corpus`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			if submit {
				return c.submit(cmd.Context(), l, asJSON)
			}
			summary, err := c.run(cmd.Context(), l, asJSON)
			if err != nil {
				return resumable(cmd, err)
			}
			if asJSON {
				return runview.JSON(c.out, summary)
			}
			return runview.Text(c.out, summary, c.style(c.out), c.program(), placeFlags(cmd))
		},
	}
	addRunFlags(cmd)
	cmd.Flags().BoolVar(&submit, "submit", false, "open the run and end; workers work on it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "end with one line that holds one JSON object; progress goes to standard error")
	return cmd
}

// run shows a run while it goes on. With --json standard output is the script's, so that progress goes to standard error.
func (c *cli) run(ctx context.Context, l config.Loaded, asJSON bool) (summary app.Summary, err error) {
	var out io.Writer = c.out
	if asJSON {
		out = c.err
	}
	view := progress.NewRun(progress.Settings{
		Out: out, Terminal: screen.IsTerminal(out, c.getenv), Style: c.style(out),
	})
	defer func() { err = errors.Join(err, view.Close()) }()
	logs := c.err
	if screen.IsTerminal(c.err, c.getenv) {
		logs = view.Logs(c.err)
	}
	log, err := newLogger(logs, l.Log)
	if err != nil {
		return summary, err
	}
	for _, s := range l.Idle() {
		log.Warn("a setting has no effect", "setting", s.Key, "from", s.Where, "because", s.Because)
	}
	if l.Log.Format == "json" {
		log = identified(log, "run")
	}
	w, err := watchProcess(ctx, l, "run", log)
	if err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	show := func(phase, note string) {
		// A view that cannot be drawn is no reason to end a run.
		_ = view.Update(progress.State{Name: l.Run.Name, Iterations: l.Run.Iterations, Phase: phase, Note: note})
	}
	show("starting the services", "")
	at, err := endpoints.Connect(ctx, l, endpoints.Settings{Logger: log, Purpose: "spade run"})
	if err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	// The roles end first, then the projections: each gets half of what draining may take.
	at.At.Kafka.StopTimeout = time.Duration(l.Drain) * time.Second / 2
	services, err := app.Open(ctx, l, at.At, log)
	if err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, services.Close(context.WithoutCancel(ctx))) }()
	w.over(services)
	guarded, stop := at.Guard(ctx)
	defer stop()
	summary, err = services.RunLoop(guarded, l, view, func(p corpus.Progress) {
		show("reading the corpus", fmt.Sprintf("%d of %d files", p.Files, p.FilesTotal))
	})
	if lost := context.Cause(guarded); err != nil && lost != nil && ctx.Err() == nil {
		return summary, lost // what the run says of it is only that it was ended
	}
	return summary, err
}

// resumable says how a run that was interrupted goes on.
func resumable(cmd *cobra.Command, err error) error {
	if cmd.Context().Err() == nil {
		return err
	}
	return withNext(err, "the same command takes the run up where it stands")
}

// program is how to call the program again: as it was called where that was by a path, which need not be in PATH.
func (c *cli) program() string {
	if strings.Contains(c.called, "/") {
		return endpoints.Quote(c.called)
	}
	return "spade"
}

// placeFlags are how the next commands find the settings and the data folder.
func placeFlags(cmd *cobra.Command) string {
	var flags []string
	for _, name := range []string{"config", "data"} {
		if f := cmd.Flag(name); f != nil && f.Changed {
			flags = append(flags, "--"+name+" "+endpoints.Quote(f.Value.String()))
		}
	}
	return strings.Join(flags, " ")
}
