package eventview_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed256f7767/spade/cmd/spade/internal/eventview"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func sample(t *testing.T, msg proto.Message) event.Event {
	t.Helper()
	run := ids.Run("first")
	at := time.Date(2026, 5, 4, 3, 2, 1, 500_000_000, time.UTC)
	ev, err := event.New(topics.RunKey(run), run, 0, msg, &spadepb.Observed{Producer: "p", StartedAt: timestamppb.New(at)})
	if err != nil {
		t.Fatal(err)
	}
	ev.Time, ev.Partition, ev.Offset, ev.LastOffset = at, 3, 17, 18
	return ev
}

func started() *spadepb.RunStarted {
	run := ids.Run("first")
	return &spadepb.RunStarted{
		RunId: run[:], Name: "evil\x1b[2J\u009b\u202e\U000e0041", Seed: 1<<64 - 1,
		Config:    &spadepb.SemanticConfig{Designs: 8, PayWeights: []*spadepb.Weight{{Name: "regret", Value: 0.5}}, Suites: []string{"a", "b"}},
		Documents: &spadepb.PinnedDocuments{Sha256: bytes.Repeat([]byte{0xab}, 32), Count: 2},
	}
}

const wantJSON = `{"topic":"spade.runs","partition":3,"offset":17,"last_offset":18,` +
	`"key":"RUN","headers":{"ce_id":"EVENT",` +
	`"ce_type":"spade.v1.RunStarted","ce_time":"2026-05-04T03:02:01.5Z"},"observed":{"producer":"p",` +
	`"started_at":"2026-05-04T03:02:01.5Z"},"payload":{"run_id":"RUN",` +
	`"name":"evil\u001b[2J\u009b\u202e\udb40\udc41","seed":18446744073709551615,"config":{"designs":8,"pay_weights":[{"name":"regret",` +
	`"value":0.5}],"suites":["a","b"]},"documents":{"sha256":"HASH","count":2}}}` + "\n"

func TestJSON(t *testing.T) {
	ev := sample(t, started())
	var out bytes.Buffer
	if err := (eventview.Printer{Out: &out, JSON: true}).Print(ev); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("RUN", ids.Run("first").String(), "EVENT", ev.ID.String(), "HASH", strings.Repeat("ab", 32)).Replace(wantJSON)
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	var doc struct {
		Payload struct{ Name string }
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc.Payload.Name != started().Name {
		t.Errorf("%q does not come back: %v", doc.Payload.Name, err)
	}
}

func TestLine(t *testing.T) {
	var out bytes.Buffer
	p := eventview.Printer{Out: &out, Columns: 100}
	if err := p.Print(sample(t, started())); err != nil {
		t.Fatal(err)
	}
	const want = "3@17  2026-05-04T03:02:01.500Z  RunStarted  {\"run_id\":"
	if !strings.HasPrefix(out.String(), want) || !strings.HasSuffix(out.String(), "…\n") || strings.ContainsAny(out.String(), "\x1b\u009b") {
		t.Errorf("got %q", out.String())
	}
}

// TestEveryKindOfEvent writes each payload, filled in every field, and wants JSON.
func TestEveryKindOfEvent(t *testing.T) {
	for _, k := range event.Kinds() {
		for _, fill := range []bool{false, true} {
			msg := k.New()
			if fill {
				populate(msg.ProtoReflect(), 0)
			}
			out, err := eventview.Message(msg)
			if err != nil || !json.Valid(out) {
				t.Errorf("%s: %v in %s", k.Type, err, out)
			}
		}
	}
}

func TestAnUnreadablePayloadIsAnError(t *testing.T) {
	ev := event.Event{Topic: topics.Runs, Type: "spade.v1.RunStarted", ID: uuid.New(), Payload: []byte{0xff}}
	if err := (eventview.Printer{Out: &bytes.Buffer{}}).Print(ev); err == nil {
		t.Error("no error")
	}
}
