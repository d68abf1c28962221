package tracing

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver is a collector that decodes what it is sent.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex // guards the following
	spans []received
	hold  chan struct{} // nil: answers at once
	code  int
}

// received is a span and the process that sent it.
type received struct {
	*otlp.Span
	role string
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{code: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-req.Context().Done():
			return
		}
	}
	var msg collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &msg)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.code != http.StatusOK {
		w.WriteHeader(r.code)
		return
	}
	for _, of := range msg.GetResourceSpans() {
		role := ""
		for _, a := range of.GetResource().GetAttributes() {
			if a.GetKey() == "spade.role" {
				role = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				r.spans = append(r.spans, received{s, role})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (r *receiver) got() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

func exporter(t *testing.T, endpoint, role string) *Exporter {
	t.Helper()
	e, err := New(t.Context(), Config{Endpoint: endpoint}, Settings{Role: role})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Shutdown(context.Background()) })
	return e
}

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// happened is an event that took a second from a second on.
func happened(t *testing.T, second int, key string, subject uuid.UUID, msg proto.Message) event.Event {
	t.Helper()
	m := msg.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if f.Kind() == protoreflect.BytesKind && !f.IsList() && strings.HasSuffix(string(f.Name()), "_id") && !m.Has(f) {
			id := uuid.NewSHA1(uuid.Nil, []byte(f.Name()))
			m.Set(f, protoreflect.ValueOfBytes(id[:]))
		}
	}
	ev, err := event.New(key, subject, 0, msg, &spadepb.Observed{
		Worker: "w", StartedAt: timestamppb.New(epoch.Add(time.Duration(second) * time.Second)),
		FinishedAt: timestamppb.New(epoch.Add(time.Duration(second+1) * time.Second)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// story is the events of one environment and a repair of it, by the process that appends them.
func story(t *testing.T, hostile string) (env, repair uuid.UUID, byRole map[string][]event.Event) {
	t.Helper()
	run := ids.Run("traced")
	env, repair = ids.Env(run, 2, 1, 0), ids.Env(run, 2, 1, 1)
	group := ids.DesignGroup(run, 2)
	first, second := ids.Rollout(env, ids.ArmPlain, 0, 0), ids.Rollout(env, ids.ArmHinted, 0, 0)
	agent, designer := ids.Batch(run, 2, "agent"), ids.Batch(run, 2, "designer")
	key := "k"
	byRole = map[string][]event.Event{
		"trainer": {
			happened(t, 0, key, env, &spadepb.DesignRequested{RunId: run[:], EnvId: env[:], Iteration: 2, Slot: 1, DesignGroup: group[:]}),
			happened(t, 9, key, agent, &spadepb.BatchBuilt{
				RunId: run[:], BatchId: agent[:], Role: "agent", Iteration: 2,
				Advantages: []*spadepb.Advantage{{SubjectId: first[:], EnvId: env[:]}, {SubjectId: second[:], EnvId: env[:]}},
			}),
			happened(t, 9, key, designer, &spadepb.BatchBuilt{
				RunId: run[:], BatchId: designer[:], Role: "designer", Iteration: 2,
				Advantages: []*spadepb.Advantage{{SubjectId: env[:], EnvId: env[:]}, {SubjectId: repair[:], EnvId: repair[:]}},
			}),
			happened(t, 10, key, ids.Policy(run, 2), &spadepb.PolicyUpdated{
				RunId: run[:], PolicyFrom: 2, PolicyTo: 3, Iteration: 2, BatchIds: [][]byte{designer[:], agent[:]},
			}),
		},
		"designer": {
			happened(t, 1, key, env, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: env[:], Iteration: 2, Slot: 1, DesignGroup: group[:], Code: hostile}),
			happened(t, 2, key, env, &spadepb.EnvironmentAccepted{RunId: run[:], EnvId: env[:], Iteration: 2, Slot: 1, Title: hostile}),
			happened(t, 3, key, repair, &spadepb.EnvironmentDesigned{RunId: run[:], EnvId: repair[:], Iteration: 2, Slot: 1, Attempt: 1, DesignGroup: group[:]}),
			happened(t, 4, key, repair, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: repair[:], Iteration: 2, Slot: 1, Attempt: 1, Stage: "verify", Reason: hostile}),
		},
		"rollout": {
			happened(t, 5, key, first, &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: first[:], Arm: "plain", Outcome: "failed", Error: hostile, FinalObservation: hostile}),
			happened(t, 5, key, second, &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: second[:], Arm: "hinted", Outcome: "solved"}),
		},
		"scorer": {
			happened(t, 7, key, env, &spadepb.RegretEstimated{RunId: run[:], EnvId: env[:], Iteration: 2}),
			happened(t, 8, key, env, &spadepb.DesignerRewarded{RunId: run[:], EnvId: env[:], Iteration: 2, Slot: 1, Measured: true}),
			happened(t, 8, key, repair, &spadepb.DesignerRewarded{RunId: run[:], EnvId: repair[:], Iteration: 2, Slot: 1, Attempt: 1}),
		},
	}
	return env, repair, byRole
}

func TestTheSpansOfSeveralProcessesAreOneTrace(t *testing.T) {
	r := receive(t)
	const hostile = "\x1b[2J hostile"
	env, repair, byRole := story(t, hostile)
	for role, events := range byRole {
		e := exporter(t, r.URL, role)
		e.Add(events)
		e.Shutdown(t.Context())
		if s := e.Stats(); s.Sent == 0 || s.Dropped+s.Failed != 0 {
			t.Errorf("%s: %+v", role, s)
		}
	}
	byID := map[string]received{}
	for _, s := range r.got() {
		if string(s.GetTraceId()) == string(env[:]) {
			if _, twice := byID[string(s.GetSpanId())]; twice {
				t.Errorf("%s has the id of another span", s.GetName())
			}
			byID[string(s.GetSpanId())] = s
		}
		for _, a := range s.GetAttributes() {
			if strings.Contains(a.GetValue().GetStringValue(), "hostile") {
				t.Errorf("%s tells what an environment wrote in %s", s.GetName(), a.GetKey())
			}
		}
	}
	parents := map[string][]string{
		"DesignRequested": {""}, "EnvironmentDesigned": {"DesignRequested"}, "EnvironmentAccepted": {"EnvironmentDesigned"},
		"RolloutCompleted": {"EnvironmentAccepted", "EnvironmentAccepted"}, "RegretEstimated": {"EnvironmentAccepted"},
		"DesignerRewarded": {"RegretEstimated"}, "BatchBuilt": {"DesignerRewarded", "EnvironmentAccepted"}, "PolicyUpdated": {"BatchBuilt"},
	}
	got, roles := map[string][]string{}, map[string]bool{}
	for _, s := range byID {
		above := ""
		if len(s.GetParentSpanId()) > 0 {
			p, there := byID[string(s.GetParentSpanId())]
			if !there {
				t.Errorf("%s has a parent that nobody sent", s.GetName())
				continue
			}
			above = p.GetName()
			if s.GetStartTimeUnixNano() < p.GetStartTimeUnixNano() {
				t.Errorf("%s begins before its parent %s", s.GetName(), above)
			}
		}
		got[s.GetName()] = append(got[s.GetName()], above)
		roles[s.role] = true
		if s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano() != uint64(time.Second) {
			t.Errorf("%s lasted %d ns, want 1 s", s.GetName(), s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano())
		}
	}
	for name, want := range parents {
		slices.Sort(got[name])
		slices.Sort(want)
		if !slices.Equal(got[name], want) {
			t.Errorf("%s is below %q, want %q", name, got[name], want)
		}
	}
	if len(got) != len(parents) || len(roles) != 4 {
		t.Errorf("spans %v of processes %v", got, roles)
	}
	checkRepair(t, r.got(), env, repair)
}

// checkRepair checks the trace of a repair: it begins with the design, which links to the request.
func checkRepair(t *testing.T, spans []received, env, repair uuid.UUID) {
	t.Helper()
	names := []string{}
	for _, s := range spans {
		if string(s.GetTraceId()) != string(repair[:]) {
			continue
		}
		names = append(names, s.GetName())
		if s.GetName() != "EnvironmentDesigned" {
			continue
		}
		request := SpanOf(ids.Event(event.TypeOf((*spadepb.DesignRequested)(nil)), env, 0))
		if len(s.GetParentSpanId()) != 0 || len(s.GetLinks()) != 1 || string(s.GetLinks()[0].GetSpanId()) != string(request[:]) {
			t.Errorf("a repair has parent %x and links %v, want a link to %x", s.GetParentSpanId(), s.GetLinks(), request)
		}
	}
	slices.Sort(names)
	want := []string{"BatchBuilt", "DesignerRewarded", "EnvironmentDesigned", "EnvironmentRejected", "PolicyUpdated"}
	if !slices.Equal(names, want) {
		t.Errorf("the trace of a repair is %q, want %q", names, want)
	}
}

func TestACollectorThatHangsStopsNothing(t *testing.T) {
	r := receive(t)
	r.hold = make(chan struct{})
	defer close(r.hold)
	_, _, byRole := story(t, "")
	var logged bytes.Buffer
	e, err := New(t.Context(), Config{Endpoint: r.URL}, Settings{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * queueEvents {
		e.Add(byRole["rollout"])
	}
	if e.Stats().Dropped == 0 {
		t.Error("nothing was dropped: the queue has no bound")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.Shutdown(ctx) // returns although the collector does not answer
	if s := e.Stats(); s.Sent != 0 || s.Failed == 0 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(logged.String(), "context canceled") {
		t.Errorf("shutdown waited for the collector: %s", logged.String())
	}
	e.Add(byRole["rollout"]) // nobody listens any more; it must not block
}

// hanging is the way to a collector that takes nothing until it may answer, however long that is.
type hanging struct{ asked, answer chan struct{} }

func (h *hanging) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	select {
	case h.asked <- struct{}{}:
	default:
	}
	<-h.answer
	return nil
}

func (*hanging) Shutdown(context.Context) error { return nil }

// TestACollectorThatHangsHoldsNoMemory: what waits for it is bounded in bytes, and all of it is given back.
func TestACollectorThatHangsHoldsNoMemory(t *testing.T) {
	c := &hanging{asked: make(chan struct{}, 1), answer: make(chan struct{})}
	_, _, byRole := story(t, "")
	e := start(c, Settings{})
	answer := sync.OnceFunc(func() { close(c.answer) })
	t.Cleanup(func() {
		answer()
		e.Shutdown(context.Background())
	})
	large := byRole["rollout"][:1]
	large[0].Payload = append(slices.Clone(large[0].Payload), make([]byte, queueBytes/8)...) // of which nothing can be decoded
	e.Add(byRole["rollout"][1:2])                                                            // a single one, so that nothing is queued while its span is sent
	<-c.asked
	for range 100 {
		e.Add(large)
	}
	if n := len(e.queue); n > 8 || e.Stats().Dropped < 92 {
		t.Errorf("%d events of %d bytes wait, %+v", n, len(large[0].Payload), e.Stats())
	}
	answer()
	await(t, "all is given back", func() bool { return e.held.Load() == 0 })
	large[0].Payload = make([]byte, queueBytes+1)
	before := e.Stats().Dropped
	e.Add(large)
	if e.Stats().Dropped != before {
		t.Error("an empty queue has no room for a large event")
	}
}

func TestACollectorThatComesBackGetsLaterSpans(t *testing.T) {
	r := receive(t)
	_, _, byRole := story(t, "")
	e := exporter(t, r.URL, "rollout")
	r.mu.Lock()
	r.code = http.StatusServiceUnavailable
	r.mu.Unlock()
	e.Add(byRole["rollout"])
	await(t, "the failure is counted", func() bool { return e.Stats().Failed == 2 })
	r.mu.Lock()
	r.code = http.StatusOK
	r.mu.Unlock()
	e.Add(byRole["rollout"])
	await(t, "later spans come", func() bool { return e.Stats().Sent == 2 && len(r.got()) == 2 })
}

func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestTheAddressOfACollector(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://localhost:4318": "http://localhost:4318/v1/traces", "https://c.example/": "https://c.example/v1/traces",
		"https://c.example/otlp/x": "https://c.example/otlp/x",
	} {
		if got := address(endpoint); got != want {
			t.Errorf("%s: %s, want %s", endpoint, got, want)
		}
	}
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://user:secret@x", "http://"} {
		err := Config{Endpoint: bad}.Validate()
		if err == nil {
			t.Errorf("%q is accepted", bad)
		} else if strings.Contains(err.Error(), "secret") {
			t.Error("an error tells a password")
		}
	}
}

func TestEventsOfNoEnvironmentHaveNoSpans(t *testing.T) {
	m := newMapper()
	run := ids.Run("traced")
	for _, ev := range []event.Event{
		happened(t, 0, "k", run, &spadepb.IterationClosed{RunId: run[:]}),
		{Type: "spade.v1.RolloutCompleted", Payload: []byte{0xff}},
		{Type: "no.such"},
	} {
		if got := m.spans(ev); len(got) != 0 {
			t.Errorf("%s: %v", ev.Type, got)
		}
	}
	for i := range 3 * keptBatches {
		id := uuid.NewSHA1(uuid.Nil, []byte{byte(i)})
		m.remember(id[:], nil)
	}
	if len(m.batches) != keptBatches || len(m.order) != keptBatches {
		t.Errorf("%d batches are remembered, want %d", len(m.batches), keptBatches)
	}
}

// What has no span is not kept until it is decoded.
func TestOnlyWhatMayHaveASpanIsQueued(t *testing.T) {
	described := map[string]bool{
		event.TypeOf((*spadepb.BatchBuilt)(nil)): true, event.TypeOf((*spadepb.PolicyUpdated)(nil)): true,
	}
	for _, k := range event.Kinds() {
		var s Span
		if s.describe(uuid.Nil, k.New()) {
			described[k.Type] = true
		}
		e := &Exporter{queue: make(chan event.Event, 1)}
		e.Add([]event.Event{{Type: k.Type}})
		if queued := len(e.queue) == 1; queued != described[k.Type] || e.Stats().Dropped != 0 {
			t.Errorf("%s is queued: %t, and has spans: %t", k.Type, queued, described[k.Type])
		}
	}
}
