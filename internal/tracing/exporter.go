package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/telemetry"
	"github.com/seed256f7767/spade/schemas/event"
)

// Config is what a user writes.
type Config struct {
	// Endpoint is the OTLP/HTTP address of a collector, as http://localhost:4318. Required.
	Endpoint string
}

// Settings is what code passes.
type Settings struct {
	Logger *slog.Logger // nil drops what is logged
	Role   string       // what this process is, as "rollout"
}

// Sizes and times.
const (
	queueEvents = 4096     // events that wait to become spans
	queueBytes  = 32 << 20 // what they hold: an episode may have many MiB
	batchSpans  = 512
	batchEvery  = time.Second
	sendTimeout = 5 * time.Second
)

// Stats is what became of spans.
type Stats struct {
	Sent    int64 // spans that the collector took
	Dropped int64 // events that found the queue full
	Failed  int64 // spans that the collector did not take
}

// Exporter sends spans of events to a collector. A collector that is slow or gone costs spans, never work: Add does not wait.
type Exporter struct {
	log   *slog.Logger
	out   sdktrace.SpanExporter
	queue chan event.Event
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once

	ctx    context.Context //nolint:containedctx // ends the sending, which belongs to no call
	cancel context.CancelFunc

	held                  atomic.Int64 // bytes in the queue
	sent, dropped, failed atomic.Int64
	down                  bool // the collector; of the one goroutine
	batch                 []sdktrace.ReadOnlySpan
	tracer                trace.Tracer
	mapper                *mapper
}

// Validate says what is wrong with the configuration.
func (c Config) Validate() error {
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil:
		return errors.New("trace endpoint is no URL") // what it holds may be secret
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New("trace endpoint must begin with http:// or https:// and a host")
	case u.User != nil:
		return errors.New("trace endpoint must not hold a user or password")
	}
	return nil
}

// New makes an exporter and starts it. It does not connect: that the collector is not there is no reason not to work.
func New(ctx context.Context, cfg Config, set Settings) (*Exporter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	out, err := otlptracehttp.New(
		ctx, otlptracehttp.WithEndpointURL(address(cfg.Endpoint)), otlptracehttp.WithTimeout(sendTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}),
	)
	if err != nil {
		return nil, fmt.Errorf("trace exporter: %w", err)
	}
	return start(out, set), nil
}

// address is where traces are posted to: the usual path where the endpoint names none.
func address(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("v1", "traces").String()
	}
	return endpoint
}

// start begins to send to out.
func start(out sdktrace.SpanExporter, set Settings) *Exporter {
	e := &Exporter{
		log: set.Logger, out: out, mapper: newMapper(),
		queue: make(chan event.Event, queueEvents), quit: make(chan struct{}), done: make(chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxWord
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(derived{}), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithSpanProcessor((*gather)(e)), sdktrace.WithResource(process(set.Role)),
	)
	e.tracer = provider.Tracer("github.com/seed256f7767/spade")
	go e.run()
	return e
}

// process is what the spans are told to come from.
func process(role string) *resource.Resource {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return resource.NewSchemaless(
		attribute.String("service.name", "spade"), attribute.String("service.version", observe.Build()),
		attribute.String("service.instance.id", host), attribute.String("spade.role", role),
	)
}

// Add takes events that are in the log. It decodes none, and does not wait: what the queue has no room for is dropped and counted.
func (e *Exporter) Add(events []event.Event) {
	for _, ev := range events {
		if spanned[ev.Type] && !e.enqueue(ev) {
			e.dropped.Add(1)
		}
	}
}

// enqueue puts an event into the queue, which has room for one of any size where it is empty.
func (e *Exporter) enqueue(ev event.Event) bool {
	n := size(ev)
	if held := e.held.Add(n); held <= queueBytes || held == n {
		select {
		case e.queue <- ev:
			return true
		default:
		}
	}
	e.held.Add(-n)
	return false
}

// size is about what an event holds.
func size(ev event.Event) int64 { return int64(len(ev.Payload) + len(ev.Key) + 512) }

// Stats returns what became of spans until now.
func (e *Exporter) Stats() Stats {
	return Stats{Sent: e.sent.Load(), Dropped: e.dropped.Load(), Failed: e.failed.Load()}
}

// Sample tells what became of spans.
func (e *Exporter) Sample(s telemetry.Sample) {
	st := e.Stats()
	s.Value(telemetry.TraceSpans, float64(st.Sent), "sent")
	s.Value(telemetry.TraceSpans, float64(st.Dropped), "dropped")
	s.Value(telemetry.TraceSpans, float64(st.Failed), "failed")
}

// Shutdown sends what is queued, as long as ctx allows, and ends the exporter. It may be called again. What is not sent by
// then counts as failed.
func (e *Exporter) Shutdown(ctx context.Context) {
	e.once.Do(func() { close(e.quit) })
	defer context.AfterFunc(ctx, e.cancel)()
	<-e.done
	e.cancel()
	_ = e.out.Shutdown(ctx) // it only closes: what was sent was sent by run
}

// run makes spans of the queue and sends them.
func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(batchEvery)
	defer tick.Stop()
	for {
		select {
		case ev := <-e.queue:
			e.add(ev)
		case <-tick.C:
			e.flush()
		case <-e.quit:
			e.drain()
			return
		}
	}
}

// drain sends what is left. A collector that does not take it is not asked again.
func (e *Exporter) drain() {
	for {
		select {
		case ev := <-e.queue:
			if e.down {
				e.held.Add(-size(ev))
				e.dropped.Add(1)
				continue
			}
			e.add(ev)
		default:
			e.flush()
			return
		}
	}
}

func (e *Exporter) add(ev event.Event) {
	defer e.held.Add(-size(ev)) // the batch that may be sent now holds no events
	for _, s := range e.mapper.spans(ev) {
		ctx := context.WithValue(context.Background(), idsKey{}, spanIDs{s.Trace, s.ID})
		options := []trace.SpanStartOption{trace.WithTimestamp(s.Start), trace.WithAttributes(s.Attributes...)}
		if s.Parent.IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, spanContext(s.Trace, s.Parent))
		} else {
			options = append(options, trace.WithNewRoot())
		}
		for _, l := range s.Links {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: l}))
		}
		_, span := e.tracer.Start(ctx, s.Name, options...)
		span.End(trace.WithTimestamp(s.End))
	}
	if len(e.batch) >= batchSpans {
		e.flush()
	}
}

// flush sends the batch once. The first failure of an outage is logged.
func (e *Exporter) flush() {
	if len(e.batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, sendTimeout)
	defer cancel()
	n := int64(len(e.batch))
	err := e.out.ExportSpans(ctx, e.batch)
	clear(e.batch)
	e.batch = e.batch[:0]
	switch {
	case err != nil && !e.down:
		e.log.Warn("spans cannot be sent, later ones are tried", "error", err)
		fallthrough
	case err != nil:
		e.down = true
		e.failed.Add(n)
	default:
		if e.down {
			e.log.Info("spans are sent again")
		}
		e.down = false
		e.sent.Add(n)
	}
}

// gather is the exporter as a span processor: ended spans join the batch, in the exporter's one goroutine.
type gather Exporter

// OnStart does nothing.
func (*gather) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd takes a span.
func (g *gather) OnEnd(s sdktrace.ReadOnlySpan) { g.batch = append(g.batch, s) }

// Shutdown does nothing: the exporter has its own.
func (*gather) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (*gather) ForceFlush(context.Context) error { return nil }

// derived gives spans the ids that follow from their events.
type derived struct{}

type (
	idsKey  struct{}
	spanIDs struct {
		trace trace.TraceID
		span  trace.SpanID
	}
)

// NewIDs are those of a root.
func (derived) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	of, _ := ctx.Value(idsKey{}).(spanIDs)
	return of.trace, of.span
}

// NewSpanID is that of a child.
func (derived) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	of, _ := ctx.Value(idsKey{}).(spanIDs)
	return of.span
}
