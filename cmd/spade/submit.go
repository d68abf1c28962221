package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/runlist"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
)

// submit opens a run for workers and says which.
func (c *cli) submit(ctx context.Context, l config.Loaded, asJSON bool) (err error) {
	log, err := newLogger(c.err, l.Log)
	if err != nil {
		return err
	}
	at, err := endpoints.Connect(ctx, l, endpoints.Settings{
		Logger: log, Purpose: "spade run --submit", Services: []embedded.Service{embedded.Kafka},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	to := at.At
	to.ClickHouse, to.Qdrant = olap.Config{}, vector.Config{}
	services, err := app.Open(ctx, l, to, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close(context.WithoutCancel(ctx))) }()
	run, there, err := services.Submit(ctx, l, nil)
	if err != nil {
		return err
	}
	status := runlist.Running
	if there {
		if status, err = runlist.Status(ctx, services.Bus, run.ID); err != nil {
			return err
		}
	}
	over := status != runlist.Running
	if asJSON {
		return json.NewEncoder(c.out).Encode(map[string]any{"run_id": run.ID, "name": run.Name, "was_there": there, "finished": over})
	}
	verb, next := submitted(there, over)
	if _, err := fmt.Fprintf(c.out, "run %s %s (%s)\n", verb, run.Name, run.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.err, next+"\n", c.program())
	return err
}

// submitted says what became of a run, and what a person can do next with the program called %s.
func submitted(there, over bool) (verb, next string) {
	switch {
	case over:
		return "is finished already:", "nothing is left to work on; %s run with the same settings prints its summary, another --name begins another run"
	case there:
		return "was there already:", "%s worker --help shows how to work on it"
	}
	return "opened", "%s worker --help shows how to work on it"
}
