package letters

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const partitions = 3

// setup is a log with the topics of the catalogue.
func setup(t *testing.T) *bus.Client {
	t.Helper()
	c := bustest.Open(t).Client(t)
	must(t, c.EnsureTopics(t.Context(), topics.All(partitions)))
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run() uuid.UUID { return ids.Run("letters") }

func key() string { return topics.EnvKey(run(), ids.Env(run(), 0, 0, 0)) }

// episode makes an event of about that many bytes.
func episode(t *testing.T, repeat, size int) event.Event {
	t.Helper()
	env := ids.Env(run(), 0, 0, 0)
	id := ids.Rollout(env, ids.ArmPlain, 0, repeat)
	id0 := run()
	msg := &spadepb.RolloutCompleted{
		RunId: id0[:], RolloutId: id[:], EnvId: env[:], Arm: ids.ArmPlain, Repeat: int32(repeat), Outcome: "failed",
	}
	for range size / (100 << 10) {
		msg.Steps = append(msg.Steps, &spadepb.Step{Observation: strings.Repeat("x", 100<<10)})
	}
	ev, err := event.New(key(), id, 0, msg, &spadepb.Observed{Host: "where it was made"})
	must(t, err)
	return ev
}

// records reads all records of a topic.
func records(t *testing.T, c *bus.Client, topic string) []event.Record {
	t.Helper()
	var out []event.Record
	must(t, c.ReadRecords(t.Context(), topic, nil, nil, func(r event.Record) error { out = append(out, r); return nil }))
	return out
}

// write writes a letter about a record as a consumer does.
func write(t *testing.T, c *bus.Client, r event.Record, consumer, reason string) {
	t.Helper()
	w := deadletter.Writer{Log: c, Source: observe.NewSource("test"), Consumer: consumer}
	must(t, w.Record(t.Context(), r, errors.New(reason)))
}

func list(t *testing.T, c *bus.Client, q Query) []Letter {
	t.Helper()
	out, err := Read(t.Context(), c, q)
	must(t, err)
	return out
}

func actions(t *testing.T, c *bus.Client, o Options) []string {
	t.Helper()
	done, err := Retry(t.Context(), c, list(t, c, Query{}), o)
	must(t, err)
	var out []string
	for _, d := range done {
		out = append(out, d.Action+": "+d.Reason)
	}
	return out
}

func TestARetryRepeatsTheRecordOnce(t *testing.T) {
	c := setup(t)
	must(t, c.Append(t.Context(), episode(t, 0, 0), episode(t, 1, 0)))
	first := records(t, c, topics.Rollouts)
	write(t, c, first[1], "warehouse", "the row was too large")
	write(t, c, first[1], "memory", "the endpoint refused")

	if got := actions(t, c, Options{DryRun: true}); len(got) != 2 || !strings.HasPrefix(got[0], Would) {
		t.Fatalf("dry run: %q", got)
	}
	if n := len(records(t, c, topics.Rollouts)); n != 2 {
		t.Fatalf("a dry run left %d records", n)
	}
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[0], Appended) || !strings.Contains(got[1], "same record") {
		t.Fatalf("%q", got)
	}
	after := records(t, c, topics.Rollouts)
	if len(after) != 3 {
		t.Fatalf("%d records", len(after))
	}
	again := after[2]
	if again.Partition != first[1].Partition || !bytes.Equal(again.Key, first[1].Key) || !bytes.Equal(again.Value, first[1].Value) {
		t.Errorf("appended %+v", again)
	}
	for _, h := range first[1].Headers {
		if !slices.ContainsFunc(again.Headers, func(a event.Header) bool { return a.Key == h.Key && bytes.Equal(a.Value, h.Value) }) {
			t.Errorf("header %s is lost", h.Key)
		}
	}
	// What was retried is seen in the log, and is not retried again by itself.
	for _, l := range list(t, c, Query{}) {
		if l.Retried == nil || l.Retried.Offset != again.Offset {
			t.Errorf("letter %+v", l)
		}
	}
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[0], Skipped) || len(records(t, c, topics.Rollouts)) != 3 {
		t.Errorf("a second time: %q", got)
	}
	if got := actions(t, c, Options{Again: true}); !strings.HasPrefix(got[0], Appended) || len(records(t, c, topics.Rollouts)) != 4 {
		t.Errorf("again: %q", got)
	}
	// One that fails again is not tried for ever.
	write(t, c, records(t, c, topics.Rollouts)[2], "warehouse", "still too large")
	if got := actions(t, c, Options{}); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "failed again") }) {
		t.Errorf("after a failure: %q", got)
	}
	// All of them once more is each record once more, not every repetition of it too.
	before := len(records(t, c, topics.Rollouts))
	if got := actions(t, c, Options{Again: true}); len(records(t, c, topics.Rollouts)) != before+1 {
		t.Errorf("all again: %q", got)
	}
}

func TestARetrySaysWhenItCannotHelp(t *testing.T) {
	c := setup(t)
	bad := event.Record{Topic: topics.Rollouts, Key: []byte("\x1b[2Jnobody"), Value: []byte("no event")}
	must(t, c.AppendRecords(t.Context(), bad))
	parts, err := event.Encode(episode(t, 0, 3<<20), 0, uuid.New())
	must(t, err)
	must(t, c.AppendRecords(t.Context(), parts[:2]...))
	for _, r := range records(t, c, topics.Rollouts) {
		if r.Partition != 0 || len(r.Headers) == 0 || string(r.Value) == "no event" || bytes.Equal(r.Value, parts[0].Value) {
			write(t, c, r, "bus", "malformed record")
		}
	}
	write(t, c, event.Record{Topic: topics.Rollouts, Partition: 1, Offset: 9000, Key: []byte(key())}, "bus", "gone")
	must(t, c.Append(t.Context(), episode(t, 7, 0)))
	all := records(t, c, topics.Rollouts)
	for _, r := range all {
		if len(r.Value) < 1000 && len(r.Headers) > 0 {
			write(t, c, r, "memory", "embed: "+embedding.ErrTextRefused.Error())
		}
	}
	write(t, c, event.Record{Topic: "another.topic", Partition: 1, Offset: 1}, "bus", "strange")
	got := strings.Join(actions(t, c, Options{}), "\n")
	for _, want := range []string{"it would fail again: no ce_id", "other parts are not in the log", "no longer holds its record", "none whose records", "vector of zeros"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, Appended) {
		t.Errorf("something was appended:\n%s", got)
	}
	before := len(records(t, c, topics.Rollouts))
	if got := strings.Join(actions(t, c, Options{Force: true}), "\n"); strings.Count(got, Appended) != 2 {
		t.Errorf("forced:\n%s", got)
	}
	if n := len(records(t, c, topics.Rollouts)); n != before+2 {
		t.Errorf("%d records after %d", n, before)
	}
}

// TestTheRolesOfARunThatIsOverTakeNothingUp: what reads the whole log still does.
func TestTheRolesOfARunThatIsOverTakeNothingUp(t *testing.T) {
	c := setup(t)
	must(t, c.Append(t.Context(), episode(t, 0, 0)))
	first := records(t, c, topics.Rollouts)[0]
	write(t, c, first, "scorer", "decode")
	if got := actions(t, c, Options{DryRun: true}); !strings.HasPrefix(got[0], Would) {
		t.Errorf("while the run goes on: %q", got)
	}
	id := run()
	ev, err := event.New(topics.RunKey(id), id, 0, &spadepb.RunFinished{RunId: id[:], Status: "finished"}, &spadepb.Observed{})
	must(t, err)
	must(t, c.Append(t.Context(), ev))
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[0], Refused) || !strings.Contains(got[0], "no scorer works on it") {
		t.Errorf("when it is over: %q", got)
	}
	write(t, c, first, "warehouse", "too large")
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[1], Appended) {
		t.Errorf("with a letter of the warehouse: %q", got)
	}
}

// A retry is tried once more by itself where the record that it repeats is refused.
func TestARetryOfWhatIsRefusedIsTriedAgain(t *testing.T) {
	c := setup(t)
	must(t, c.Append(t.Context(), episode(t, 0, 0)))
	write(t, c, records(t, c, topics.Rollouts)[0], "scorer", "decode")
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[0], Appended) {
		t.Fatalf("%q", got)
	}
	write(t, c, records(t, c, topics.Rollouts)[1], "warehouse", "too large")
	id := run()
	ev, err := event.New(topics.RunKey(id), id, 0, &spadepb.RunFinished{RunId: id[:], Status: "finished"}, &spadepb.Observed{})
	must(t, err)
	must(t, c.Append(t.Context(), ev))
	got := actions(t, c, Options{Again: true})
	if !strings.HasPrefix(got[0], Refused) || !strings.HasPrefix(got[1], Appended) {
		t.Errorf("%q", got)
	}
}

// TestALargeEventIsRetriedWhole: all of its parts are appended, as another writing of it.
func TestALargeEventIsRetriedWhole(t *testing.T) {
	c := setup(t)
	large := episode(t, 0, 3<<20)
	must(t, c.Append(t.Context(), large))
	all := records(t, c, topics.Rollouts)
	write(t, c, all[len(all)-1], "warehouse", "too large")
	if got := actions(t, c, Options{}); !strings.HasPrefix(got[0], Appended) || !strings.Contains(got[0], "large event") {
		t.Fatalf("%q", got)
	}
	after := records(t, c, topics.Rollouts)
	if len(after) != 2*len(all) {
		t.Fatalf("%d records, then %d", len(all), len(after))
	}
	var asm event.Assembler // one that has not seen the first writing
	var whole *event.Event
	for _, r := range after[len(all):] {
		if ev, lost := asm.Add(r); ev != nil || len(lost) > 0 {
			whole = ev
		}
	}
	if whole == nil || !bytes.Equal(whole.Payload, large.Payload) || whole.ID != large.ID {
		t.Errorf("the retry is not the event")
	}
	if l := list(t, c, Query{})[0]; l.Retried == nil {
		t.Errorf("letter %+v", l)
	}
}

func TestLettersAreFoundByRunTopicAndID(t *testing.T) {
	c := setup(t)
	must(t, c.Append(t.Context(), episode(t, 0, 0)))
	write(t, c, records(t, c, topics.Rollouts)[0], "warehouse", "one")
	write(t, c, event.Record{Topic: topics.Runs, Key: []byte("other"), Value: []byte("x")}, "bus", "two")
	if n := len(list(t, c, Query{})); n != 2 {
		t.Fatalf("%d letters", n)
	}
	if got := list(t, c, Query{Run: run()}); len(got) != 1 || got[0].Error != "one" {
		t.Errorf("of the run: %+v", got)
	}
	got := list(t, c, Query{Topic: topics.Runs})
	if len(got) != 1 || got[0].Error != "two" {
		t.Fatalf("of the topic: %+v", got)
	}
	all := list(t, c, Query{})
	if one, err := Choose(all, []string{got[0].ID.String()[:8]}); err != nil || one[0].Error != "two" {
		t.Errorf("%+v, %v", one, err)
	}
	for _, id := range []string{"", "zzzz", got[0].ID.String()[:3]} {
		if _, err := Choose(all, []string{id}); !errors.Is(err, ErrNoLetter) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestHostileBytesAreEscaped: what a letter says reaches no terminal as it is.
func TestHostileBytesAreEscaped(t *testing.T) {
	hostile := "\x1b[2J\xff\u202e"
	l := Letter{ID: uuid.New(), Record: Place{hostile, 1, 2}, Key: []byte(hostile), Consumer: hostile, Error: hostile}
	var text, doc bytes.Buffer
	must(t, Write(&text, []Letter{l}))
	must(t, WriteOutcomes(&text, []Outcome{{l, Refused, hostile}}))
	must(t, WriteJSON(&doc, []Letter{l}))
	for _, out := range []string{text.String(), doc.String()} {
		if strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "\xff") {
			t.Errorf("%q", out)
		}
	}
	var back []map[string]any
	if err := json.Unmarshal(doc.Bytes(), &back); err != nil || len(back) != 1 {
		t.Errorf("%v in %s", err, doc.String())
	}
}

// TestARetryIsShownWithItsPartition: it need not lie in the partition of the record that it repeats.
func TestARetryIsShownWithItsPartition(t *testing.T) {
	var text bytes.Buffer
	must(t, Write(&text, []Letter{{Record: Place{"spade.rollouts", 2, 7}, Retried: &Place{"spade.rollouts", 3, 1024}}}))
	if !strings.Contains(text.String(), "as spade.rollouts/3 at 1024") {
		t.Error(text.String())
	}
}
