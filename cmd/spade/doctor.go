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
	return cmd
}

// examiner makes the checks that need more than the machine. The services are connected to by the first check that needs
// them.
type examiner struct {
	loaded   config.Loaded
	log      *slog.Logger
	services *endpoints.Services
}

// checks are what the doctor looks at, cheap things first.
func (e *examiner) checks() []doctor.Check {
	l := e.loaded
	checks := []doctor.Check{
		doctor.Platform(observe.Build()), doctor.DataFolder(l.Data), doctor.Loopback(), doctor.Plugin(pluginCommand(l.Plugin)), doctor.Python(),
		doctor.Sandbox(e.sandbox),
	}
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
	if e.services == nil {
		return nil
	}
	return e.services.Close()
}

// sandbox starts a pool of workers, which proves the sandbox first.
func (e *examiner) sandbox(ctx context.Context) (string, error) {
	pool, err := app.StartPool(ctx, e.loaded.Config, e.loaded.Workers, e.log)
	if err != nil {
		return "", err
	}
	return pool.Tier(), pool.Shutdown(context.WithoutCancel(ctx))
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
