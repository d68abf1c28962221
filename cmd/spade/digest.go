package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/runlist"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/bus"
)

func newDigest(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "digest RUN",
		Short: "Print the digest of a run's log",
		Long: `Prints the SHA-256 over the run's events. The same name, seed, settings and architecture give the same
digest, whatever the machine, the parallelism or the data folder. On standard error it says what else
was found: an unfinished run, events that a clock had a part in, and repeated ids with another payload.`,
		Example: `  spade digest demo
  spade digest demo --json`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				run, err := app.FindRun(ctx, log, args[0])
				if err != nil {
					return err
				}
				// What is finished before the events are read has all of them; a run that ends meanwhile may not.
				status, err := runlist.Status(ctx, log, run.ID)
				if err != nil {
					return err
				}
				d, err := app.Digest(ctx, log, run)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(screen.JSONWriter(c.out)).Encode(map[string]any{
						"run_id": run.ID, "name": run.Name, "status": status, "log_digest": fmt.Sprintf("%x", d.Sum()), "events": d.Len(),
						"nondeterministic": d.Nondeterministic(), "repeats": len(d.Repeats()),
					})
				}
				if status == runlist.Running {
					fmt.Fprintln(c.err, "the run is not finished: its digest is that of its events so far")
				}
				if n := d.Nondeterministic(); n > 0 {
					fmt.Fprintf(c.err, "a clock had a part in %d events\n", n)
				}
				if n := len(d.Repeats()); n > 0 {
					fmt.Fprintf(c.err, "%d events repeat an id with another payload; the first counts\n", n)
				}
				_, err = fmt.Fprintf(c.out, "%x\n", d.Sum())
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
