package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/topics"
)

// place is where a command works: its settings and the services, embedded or not.
type place struct {
	*endpoints.Services
	settings config.Loaded
	log      *slog.Logger
}

// makesData is the annotation of commands of inPlace and withLog that begin a data folder where there is none; the others of them only
// read, and have nothing to do there.
const makesData = "makes-data"

// inPlace loads the settings, connects to the services that the command needs and runs fn.
func (c *cli) inPlace(cmd *cobra.Command, needs []embedded.Service, fn func(ctx context.Context, p place) error) (err error) {
	l, log, err := c.load(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	services, err := endpoints.Connect(ctx, l, endpoints.Settings{
		Logger: log, Purpose: cmd.CommandPath(), Services: needs, Existing: cmd.Annotations[makesData] == "",
	})
	if errors.Is(err, endpoints.ErrNoFolder) {
		return withNext(err, "spade run makes one, as do spade up and spade corpus add")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close()) }()
	return fn(ctx, place{services, l, log})
}

// answers waits until ready says that a service can be used. Addresses in the environment may be those of services that
// have ended.
func (p place) answers(ctx context.Context, service embedded.Service, ready func(context.Context) error) error {
	err := app.Answers(ctx, p.log, string(service), ready)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return withNext(err, "spade config print shows the address and where it comes from; without one the embedded service starts")
}

// withLog runs fn with the event log.
func (c *cli) withLog(cmd *cobra.Command, fn func(ctx context.Context, p place, log *bus.Client) error) error {
	return c.inPlace(cmd, []embedded.Service{embedded.Kafka}, func(ctx context.Context, p place) (err error) {
		client, err := bus.New(p.At.Kafka, bus.Settings{Logger: p.log})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, client.Close()) }()
		if err := p.answers(ctx, embedded.Kafka, client.Ready); err != nil {
			return err
		}
		if err := client.EnsureTopics(ctx, topics.All(p.settings.Partitions)); err != nil {
			return err
		}
		return fn(ctx, p, client)
	})
}

// withWarehouse runs fn with the warehouse, as a user who may only read where there is one.
func (c *cli) withWarehouse(cmd *cobra.Command, fn func(ctx context.Context, p place, conn olap.Conn) error) error {
	return c.inPlace(cmd, []embedded.Service{embedded.ClickHouse}, func(ctx context.Context, p place) (err error) {
		conn, err := olap.Open(p.Reader)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		if err := p.answers(ctx, embedded.ClickHouse, func(ctx context.Context) error { return olap.Ready(ctx, conn) }); err != nil {
			return err
		}
		return fn(ctx, p, conn)
	})
}
