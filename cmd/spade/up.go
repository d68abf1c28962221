package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
)

// printedLinger is how long services that only --print-env started wait for the client that the lines are for.
const printedLinger = 10 * time.Minute

func newUp(c *cli) *cobra.Command {
	var printEnv bool
	var linger time.Duration
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Keep the embedded services running in the foreground",
		Long: `Starts the embedded Kafka, ClickHouse and Qdrant of the data folder, unless they run, and keeps them until
it is interrupted. Other commands start them by themselves. --print-env prints what other clients need to
reach them, passwords included, and ends; services that it started stay for --linger.`,
		Example: `  spade up
  eval "$(spade up --print-env)" && curl -u "$CLICKHOUSE_READER_USER:$CLICKHOUSE_READER_PASSWORD" "$SPADE_CLICKHOUSE_URL" --data 'SELECT 1'`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			l, log, err := c.load(cmd)
			if err != nil {
				return err
			}
			set := endpoints.Settings{Logger: log, Purpose: "spade up"}
			if printEnv {
				set.Linger = linger
			}
			s, err := endpoints.Connect(cmd.Context(), l, set)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if printEnv {
				return s.WriteEnv(c.out)
			}
			w, err := watchUp(cmd.Context(), l, s, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w()) }()
			return c.hold(cmd.Context(), s)
		},
	}
	config.BindFlags(cmd.Flags(), func(f config.Field) bool { return f.Key == "metrics.listen" })
	cmd.Flags().DurationVar(&linger, "linger", printedLinger, "how long services that --print-env started wait for a client of the program")
	cmd.Flags().BoolVar(&printEnv, "print-env", false, "print the environment of other clients and end")
	return cmd
}

// watchUp tells, where metrics are asked for, whether the log answers and how full the disk is, until stop is called.
func watchUp(ctx context.Context, l config.Loaded, s *endpoints.Services, log *slog.Logger) (stop func() error, err error) {
	if l.Metrics.Listen == "" {
		return func() error { return nil }, nil
	}
	l.Trace.Endpoint = "" // nothing is appended here
	client, err := bus.New(s.At.Kafka, bus.Settings{Logger: log})
	if err != nil {
		return nil, err
	}
	w, err := watchProcess(ctx, l, "up", log)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	w.process.Watch(client)
	return func() error { return errors.Join(w.close(), client.Close()) }, nil
}

// hold says where the services are and waits for the end, the user's or theirs.
func (c *cli) hold(ctx context.Context, s *endpoints.Services) error {
	style := c.style(c.out)
	for _, line := range [][2]string{
		{string(embedded.Kafka), strings.Join(s.At.Kafka.Brokers, ", ")},
		{string(embedded.ClickHouse), s.At.ClickHouse.URL},
		{string(embedded.Qdrant), s.At.Qdrant.Addr},
	} {
		if _, err := fmt.Fprintf(c.out, "%s  %-10s  %s\n", style.Good("ready"), line[0], line[1]); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.err, "interrupt to stop; spade up --print-env prints what other clients need")
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.err, "let go: the services end once no other command uses them")
		return nil
	case <-s.Lease.Done():
		return s.Lease.Err()
	}
}
