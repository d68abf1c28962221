package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/doctor"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/observe"
)

func newDoctor(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine can run the platform",
		Long: `Looks at what the platform needs and says what to do where something is missing. It starts the sandbox
and, unless others are configured, the embedded services. The exit code is 1 when a check failed.`,
		Example: `  spade doctor
  SPADE_KAFKA_BROKERS=kafka:9092 spade doctor --json`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			l, log, err := c.load(cmd)
			if err != nil {
				return err
			}
			e := examiner{loaded: l, log: log}
			defer func() { err = errors.Join(err, e.close()) }()
			good, err := doctor.Run(cmd.Context(), e.checks(), doctor.Output{Out: c.out, JSON: asJSON, Style: c.style(c.out)})
			if err == nil && !good {
				err = errRefused
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	config.BindFlags(cmd.Flags(), func(f config.Field) bool { return f.Key == "sandbox.tier" || f.Key == "python.interpreter" })
	return cmd
}

// examiner makes the checks that need more than the machine. The services are connected to by the first check that needs
// them.
type examiner struct {
	loaded   config.Loaded
	log      *slog.Logger
	services *endpoints.Services
	// pool and known are the sandbox, tested by the first check that asks.
	pool  *gym.Pool
	known []gym.Standing
}

// checks are what the doctor looks at, cheap things first.
func (e *examiner) checks() []doctor.Check {
	l := e.loaded
	checks := []doctor.Check{
		doctor.Platform(observe.Build()), doctor.DataFolder(l.Data), doctor.Loopback(), doctor.Plugin(pluginCommand(l.Plugin)), doctor.Python(l.Python.Interpreter),
		doctor.Sandbox("sandbox", gym.RuntimeStarlark, true, e.standings),
		doctor.Sandbox("sandbox", gym.RuntimePython, l.Run.Runtime == gym.RuntimePython, e.standings),
	}
	checks = append(checks, doctor.Layers(e.standings)...)
	if !endpoints.AllExternal(l.Config) {
		checks = append(checks, doctor.NPM(engineConfig(l)), doctor.Engine(engineConfig(l)))
	}
	return append(checks,
		e.service(embedded.Kafka, func() doctor.Check { return doctor.Kafka(e.services.At.Kafka, l.Partitions) }),
		e.service(embedded.ClickHouse, func() doctor.Check { return doctor.Warehouse(e.services.At.ClickHouse) }),
		e.service(embedded.Qdrant, func() doctor.Check { return doctor.Vectors(e.services.At.Qdrant) }),
	)
}

// service looks at a service once it is there.
func (e *examiner) service(name embedded.Service, check func() doctor.Check) doctor.Check {
	return doctor.Check{Name: string(name), Look: func(ctx context.Context) doctor.Finding {
		if e.services == nil {
			s, err := endpoints.Open(ctx, e.loaded, endpoints.Settings{Logger: e.log, Purpose: "spade doctor"})
			if err != nil {
				return doctor.Bad("choose another folder with --data, or end what uses this one", "%v", err)
			}
			e.services = s
		}
		if err := e.services.Wait(ctx, name); err != nil {
			return doctor.Bad("see the logs in the data folder", "%v", err)
		}
		return check().Look(ctx)
	}}
}

func (e *examiner) close() error {
	var errs []error
	if e.pool != nil {
		errs = append(errs, e.pool.Shutdown(context.Background()))
	}
	if e.services != nil {
		errs = append(errs, e.services.Close())
	}
	return errors.Join(errs...)
}

// standings starts a pool of workers, which proves the sandbox of Starlark, and proves that of Python. Each layer's check
// asks, and the first one does it.
func (e *examiner) standings(ctx context.Context) ([]gym.Standing, error) {
	if e.known != nil {
		return e.known, nil
	}
	if e.pool == nil {
		pool, err := app.StartPool(ctx, e.loaded.Config, e.loaded.Workers, nil, e.log)
		if err != nil {
			return nil, err
		}
		e.pool = pool
	}
	for _, runtime := range []string{gym.RuntimeStarlark, gym.RuntimePython} {
		e.known = append(e.known, e.pool.Standing(ctx, runtime))
	}
	return e.known, nil
}

// pluginCommand is the configured trainer plugin, or the native one beside this program.
func pluginCommand(p config.Plugin) []string {
	if len(p.Command) > 0 {
		return p.Command
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(self), "spade-plugin-native")}
}
