package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/telemetry"
	"github.com/seed256f7767/spade/internal/tracing"
	"github.com/seed256f7767/spade/schemas/event"
)

// isWatchSetting reports whether a setting says how a process that stays is watched and how it ends.
func isWatchSetting(f config.Field) bool {
	return f.Key == "metrics.listen" || f.Key == "trace.endpoint" || f.Key == "drain"
}

// watch is how others see a process that stays: metrics and health over HTTP, spans at a collector, as far as they are
// configured.
type watch struct {
	process *telemetry.Process // nil: none
	spans   *tracing.Exporter  // nil: none
	stop    func() bool
}

// watchProcess begins to tell of this process. role is the command, or the worker's role. Once ctx ends the process drains.
func watchProcess(ctx context.Context, l config.Loaded, role string, log *slog.Logger) (*watch, error) {
	w := &watch{stop: func() bool { return true }}
	if l.Metrics.Listen != "" {
		p := telemetry.New(telemetry.Config{Listen: l.Metrics.Listen, Data: l.Data}, telemetry.Settings{Logger: log})
		if err := p.Start(ctx); err != nil {
			return nil, err
		}
		w.process = p
		w.stop = context.AfterFunc(ctx, p.Drain)
	}
	if l.Trace.Endpoint != "" {
		e, err := tracing.New(ctx, tracing.Config{Endpoint: l.Trace.Endpoint}, tracing.Settings{Logger: log, Role: role})
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.spans = e
		w.process.Add(e.Sample)
	}
	return w, nil
}

// over has the services told of. Nothing may have been started with them.
func (w *watch) over(s *app.Services) {
	var traced func([]event.Event)
	if w.spans != nil {
		traced = w.spans.Add
	}
	s.Tell(w.process, traced)
}

// closing is what the last spans and the last scrape get.
const closing = 2 * time.Second

// close ends the telling, after everything that is told of.
func (w *watch) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	w.stop()
	if w.spans != nil {
		w.spans.Shutdown(ctx)
	}
	return w.process.Shutdown(ctx)
}
