package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/embedded"
)

func newRebuild(c *cli) *cobra.Command {
	var warehouse, memory, asJSON bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the warehouse and the memory anew from the log",
		Long: `Reads the log from its first record and makes the projections anew beside the live ones, then switches to
them. Without --warehouse or --memory both are made. Meanwhile queries are answered and runs go on; whoever writes
waits for the moment of the switch. What the live ones hold does not matter: they may be damaged, emptied or gone.
Broken off, it leaves them as they were. Killed while it switches the warehouse, it is completed or taken back by
whoever fills that, or by running it again. Of two at once the second waits, but not for long.`,
		Example: `  spade rebuild                 make both anew
  spade rebuild --warehouse     only the warehouse
  spade rebuild --json          one JSON object a projection`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !warehouse && !memory {
				warehouse, memory = true, true
			}
			needs := []embedded.Service{embedded.Kafka}
			if warehouse {
				needs = append(needs, embedded.ClickHouse)
			}
			if memory {
				needs = append(needs, embedded.Qdrant)
			}
			return c.inPlace(cmd, needs, func(ctx context.Context, p place) (err error) {
				s, err := app.Open(ctx, p.settings, p.At, p.log)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
				if warehouse {
					w, err := s.RebuildWarehouse()
					if err == nil {
						err = c.rebuild(ctx, "warehouse", w, asJSON)
					}
					if err != nil {
						return err
					}
				}
				if !memory {
					return nil
				}
				m, err := s.RebuildMemory(ctx)
				if err != nil {
					return err
				}
				return c.rebuild(ctx, "memory", m, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&warehouse, "warehouse", false, "make the warehouse anew")
	cmd.Flags().BoolVar(&memory, "memory", false, "make the memory anew")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a projection")
	return cmd
}

// rebuild runs one and says how far it is, then what it did.
func (c *cli) rebuild(ctx context.Context, name string, r app.Rebuild, asJSON bool) error {
	began := time.Now()
	if err := c.runRebuild(ctx, name, r); err != nil {
		return withNext(err, "spade rebuild can be run again; spade verify compares the projections with the log")
	}
	took, at := time.Since(began).Seconds(), r.Progress()
	if asJSON {
		return json.NewEncoder(screen.JSONWriter(c.out)).Encode(map[string]any{
			"projection": name, "events": at.Events, "records": at.Records, "rows": at.Rows, "repeats": at.Repeats, "unfit": at.Dead,
			"seconds": took, "events_per_second": float64(at.Events) / took,
		})
	}
	fmt.Fprintf(c.out, "%-10s %s events in %.1f s, %s a second\n", name, progress.Items(at.Events), took, progress.Items(int64(float64(at.Events)/took)))
	if at.Rows > 0 {
		fmt.Fprintf(c.out, "%-10s %s rows\n", "", progress.Items(at.Rows))
	}
	if at.Repeats > 0 {
		fmt.Fprintf(c.out, "%-10s %s events repeat an id; the first counts\n", "", progress.Items(at.Repeats))
	}
	if at.Dead > 0 {
		fmt.Fprintf(c.out, "%-10s %s events cannot be projected; they are in the dead letters\n", "", progress.Items(at.Dead))
	}
	return nil
}

// runRebuild runs a rebuild and draws how far it is.
func (c *cli) runRebuild(ctx context.Context, name string, r app.Rebuild) (err error) {
	bar := progress.NewBar(c.progressSettings(), name, progress.Items)
	defer func() { err = errors.Join(err, bar.Close()) }()
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			at := r.Progress()
			return errors.Join(err, bar.Set(at.Records, at.Total))
		case <-tick.C:
			at := r.Progress()
			if err := bar.Set(at.Records, at.Total); err != nil {
				return errors.Join(err, <-done)
			}
		}
	}
}
