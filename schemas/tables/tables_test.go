package tables_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func catalogue(t testing.TB) *tables.Catalogue {
	t.Helper()
	c, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStatements pins the warehouse's definition: a change of it is a change of version.
func TestStatements(t *testing.T) {
	var b strings.Builder
	for _, s := range catalogue(t).Statements() {
		b.WriteString("-- " + s.Name + "\n" + s.SQL + ";\n\n")
	}
	path := filepath.Join("testdata", "statements.sql")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the statements differ from %s; when that is meant, raise SchemaVersion and run with -update", path)
	}
}

func TestEveryColumnIsDescribed(t *testing.T) {
	c := catalogue(t)
	check := func(name, comment string, columns []tables.Column) {
		if comment == "" {
			t.Errorf("%s has no comment", name)
		}
		seen := map[string]bool{}
		for _, col := range columns {
			if col.Comment == "" {
				t.Errorf("%s.%s has no comment", name, col.Name)
			}
			if seen[col.Name] {
				t.Errorf("%s.%s is there twice", name, col.Name)
			}
			seen[col.Name] = true
		}
	}
	for _, tab := range c.Tables {
		check(tab.Name, tab.Comment, tab.Columns)
	}
	for _, v := range c.Views {
		check(v.Name, v.Comment, v.Columns)
	}
}

// TestContract holds the names of the contract's section 5, which users' queries rely on.
func TestContract(t *testing.T) {
	have := map[string][]tables.Column{}
	c := catalogue(t)
	for _, tab := range c.Tables {
		have[tab.Name] = tab.Columns
	}
	for _, v := range c.Views {
		have[v.Name] = v.Columns
	}
	text, err := os.ReadFile(filepath.Join("testdata", "contract.txt"))
	if err != nil {
		t.Fatal(err)
	}
	origin := []string{"event_id", "kafka_topic", "kafka_partition", "kafka_offset", "event_time", "ingested_at"}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, columns, _ := strings.Cut(line, ": ")
		for _, want := range append(strings.Split(columns, ", "), origin...) {
			if !slices.ContainsFunc(have[name], func(col tables.Column) bool { return col.Name == want }) {
				t.Errorf("%s has no column %s", name, want)
			}
		}
	}
}

// fill sets every field of a message to something that is not its zero value.
func fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsList():
			list := m.Mutable(f).List()
			for range 2 {
				if f.Message() != nil {
					fill(list.AppendMutable().Message(), depth+1)
					continue
				}
				list.Append(value(f))
			}
		case f.Message() != nil:
			if depth < 3 {
				fill(m.Mutable(f).Message(), depth+1)
			}
		default:
			m.Set(f, value(f))
		}
	}
}

func value(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(f.Name()) + "\x00é")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("0123456789abcdef"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(2)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(2)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(1<<63 + 1)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(0.25)
	default:
		return protoreflect.ValueOfFloat64(0.25)
	}
}

// keyOf is the key that the event of a filled message has: its ids are all the same.
func keyOf(msg proto.Message) string {
	id := uuid.UUID([]byte("0123456789abcdef"))
	_, run := msg.(interface{ GetRunId() []byte })
	_, env := msg.(interface{ GetEnvId() []byte })
	if run && env {
		return topics.EnvKey(id, id)
	}
	return id.String()
}

func filled(k event.Kind, n int64) (*event.Event, proto.Message) {
	msg := k.New()
	fill(msg.ProtoReflect(), 0)
	return &event.Event{
		Topic: k.Topic, Type: k.Type, Key: keyOf(msg), ID: uuid.NewSHA1(uuid.Nil, []byte(k.Type)), Time: time.Unix(1_700_000_000, 123_456_000),
		Partition: 3, Offset: n, LastOffset: n,
		Observed: &spadepb.Observed{
			StartedAt: timestamppb.New(time.Unix(-1, 0)), FinishedAt: timestamppb.New(time.Unix(1, 0)),
			DurationUs: 1500, Worker: "w", SandboxTier: "full", Device: "cpu", Nondeterministic: true,
		},
	}, msg
}

// TestEveryEventHasRows converts each type of event, with every field set and with none but the ids, and expects rows in
// an anchor of its topic.
func TestEveryEventHasRows(t *testing.T) {
	c := catalogue(t)
	for _, k := range event.Kinds() {
		t.Run(k.Type, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			set := tables.NewSet(mem, c, 7)
			defer set.Release()
			ev, msg := filled(k, 5)
			if err := set.Append(ev, msg); err != nil {
				t.Fatal(err)
			}
			anchored := false
			for _, b := range set.Blocks() {
				checkBlock(t, b)
				anchored = anchored || slices.ContainsFunc(tables.Anchors(k.Topic), func(a tables.Anchor) bool { return a.Table == b.Table.Name })
				b.Record.Release()
			}
			if !anchored {
				t.Errorf("no row in %v", tables.Anchors(k.Topic))
			}
			if set.Bytes() != 0 || len(set.Blocks()) != 0 {
				t.Error("the set is not empty after its blocks were taken")
			}
		})
	}
}

// checkBlock wants every column of every row to be filled in, and the origin to be the event's.
func checkBlock(t *testing.T, b tables.Block) {
	t.Helper()
	rec := b.Record
	if !rec.Schema().Equal(b.Table.Schema()) {
		t.Errorf("%s: schema differs", b.Table.Name)
	}
	for i, f := range rec.Schema().Fields() {
		col := rec.Column(i)
		if int64(col.Len()) != rec.NumRows() {
			t.Errorf("%s.%s has %d values in %d rows", b.Table.Name, f.Name, col.Len(), rec.NumRows())
		}
		switch f.Name {
		case "kafka_offset":
			if got := col.(*array.Int64).Value(0); got != 5 {
				t.Errorf("%s: offset %d", b.Table.Name, got)
			}
		case "writer":
			if got := col.(*array.Uint64).Value(0); got != 7 {
				t.Errorf("%s: writer %d", b.Table.Name, got)
			}
		}
	}
}

// TestValues spot-checks what converters derive.
func TestValues(t *testing.T) {
	cell := func(t *testing.T, msg proto.Message, table, column string) string {
		t.Helper()
		c := catalogue(t)
		set := tables.NewSet(memory.DefaultAllocator, c, 0)
		defer set.Release()
		ev, _ := filled(event.Kinds()[0], 1)
		ev.Type, ev.Key = event.TypeOf(msg), keyOf(msg)
		if err := set.Append(ev, msg); err != nil {
			t.Fatal(err)
		}
		for _, b := range set.Blocks() {
			defer b.Record.Release()
			if b.Table.Name == table {
				return b.Record.Column(b.Record.Schema().FieldIndices(column)[0]).ValueStr(0)
			}
		}
		t.Fatalf("no rows of %s", table)
		return ""
	}
	id := []byte("0123456789abcdef")
	for _, tc := range []struct {
		name, table, column, want string
		msg                       proto.Message
	}{
		{
			"no valid episode has no mean", "regrets", "reward_plain", array.NullValueStr,
			&spadepb.RegretEstimated{RunId: id, EnvId: id, Estimates: []*spadepb.Estimate{{}}},
		},
		{
			"one episode has no variance", "regrets", "var_plain", array.NullValueStr,
			&spadepb.RegretEstimated{RunId: id, EnvId: id, NPlain: 1, Estimates: []*spadepb.Estimate{{}}},
		},
		{
			"two episodes have a variance", "regrets", "var_plain", "0",
			&spadepb.RegretEstimated{RunId: id, EnvId: id, NPlain: 2, Estimates: []*spadepb.Estimate{{}}},
		},
		{
			"an estimator without data has no regret", "regrets", "regret", array.NullValueStr,
			&spadepb.RegretEstimated{RunId: id, EnvId: id, Estimates: []*spadepb.Estimate{{Value: 1}}},
		},
		{
			"the chosen estimator is marked", "regrets", "chosen", "true",
			&spadepb.RegretEstimated{RunId: id, EnvId: id, Chosen: "a", Estimates: []*spadepb.Estimate{{Estimator: "a"}}},
		},
		{
			"no verification", "rollouts", "verify_score", array.NullValueStr,
			&spadepb.RolloutCompleted{RunId: id, RolloutId: id, EnvId: id},
		},
		{
			"digests are hexadecimal", "rollouts", "hint_sha256", "00ff",
			&spadepb.RolloutCompleted{RunId: id, RolloutId: id, EnvId: id, HintSha256: []byte{0, 255}},
		},
		{
			"equal replays diverge nowhere", "replay_checks", "first_divergent_step", array.NullValueStr,
			&spadepb.ReplayChecked{RunId: id, RolloutId: id, EnvId: id, Equal: true, FirstDivergentStep: -1},
		},
		{
			"unreached duplicate check", "environment_events", "novelty", array.NullValueStr,
			&spadepb.EnvironmentRejected{RunId: id, EnvId: id, Stage: "load"},
		},
		{
			"empty memory", "environment_events", "nearest_similarity", array.NullValueStr,
			&spadepb.EnvironmentAccepted{RunId: id, EnvId: id, Novelty: 1},
		},
		{
			"a metric by name", "policy_events", "kl", "0.5",
			&spadepb.PolicyUpdated{RunId: id, Metrics: []*spadepb.Metric{{Name: "kl", Value: 0.5}}},
		},
		{"a missing metric", "policy_events", "loss", array.NullValueStr, &spadepb.PolicyUpdated{RunId: id}},
		{
			"a designer's credit has no rollout", "advantages", "rollout_id", array.NullValueStr,
			&spadepb.BatchBuilt{RunId: id, BatchId: id, Role: "designer", Advantages: []*spadepb.Advantage{{SubjectId: id, EnvId: id}}},
		},
		{
			"prompts are JSON", "environment_events", "prompt", `[{"role":"user","content":"<a>\u0000"}]`,
			&spadepb.EnvironmentDesigned{RunId: id, EnvId: id, Prompt: []*spadepb.ChatMessage{{Role: "user", Content: "<a>\x00"}}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := cell(t, tc.msg, tc.table, tc.column); got != tc.want {
				t.Errorf("%s.%s = %s, want %s", tc.table, tc.column, got, tc.want)
			}
		})
	}
}

// TestInvalidLeavesNothing: an event that cannot become rows must not leave half of them in the batch.
func TestInvalidLeavesNothing(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	c := catalogue(t)
	set := tables.NewSet(mem, c, 0)
	defer set.Release()
	for _, k := range event.Kinds() {
		if k.Type == "spade.v1.DeadLetter" {
			continue // it has no ids
		}
		ev, msg := filled(k, 1)
		m := msg.ProtoReflect()
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); f.Kind() == protoreflect.BytesKind && strings.HasSuffix(string(f.Name()), "_id") && !f.IsList() {
				m.Set(f, protoreflect.ValueOfBytes([]byte("short")))
				break
			}
		}
		if err := set.Append(ev, msg); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s: error %v", k.Type, err)
		}
		ev, msg = filled(k, 1)
		ev.Key = uuid.Nil.String()
		if err := set.Append(ev, msg); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s under another key: error %v", k.Type, err)
		}
		ev, msg = filled(k, 1)
		ev.Time = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := set.Append(ev, msg); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s with a time out of range: error %v", k.Type, err)
		}
	}
	if err := set.Append(&event.Event{Time: time.Now()}, &spadepb.Step{}); !errors.Is(err, event.ErrUnknownType) {
		t.Errorf("unknown message: error %v", err)
	}
	if blocks := set.Blocks(); len(blocks) != 0 {
		t.Errorf("%d blocks", len(blocks))
	}
}

// TestNoLeaks converts many events and drops a set that was never emptied.
func TestNoLeaks(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	c := catalogue(t)
	set := tables.NewSet(mem, c, 0)
	for i := range int64(300) {
		for _, k := range event.Kinds() {
			ev, msg := filled(k, i)
			if err := set.Append(ev, msg); err != nil {
				t.Fatal(err)
			}
		}
		if i%100 == 0 {
			for _, b := range set.Blocks() {
				b.Record.Release()
			}
		}
	}
	if set.Bytes() == 0 {
		t.Error("no size")
	}
	set.Release()
}

func BenchmarkSteps(b *testing.B) {
	c, err := tables.New()
	if err != nil {
		b.Fatal(err)
	}
	id := []byte("0123456789abcdef")
	m := &spadepb.RolloutCompleted{RunId: id, RolloutId: id, EnvId: id, Arm: "plain"}
	for range 10 {
		m.Steps = append(m.Steps, &spadepb.Step{
			Observation: strings.Repeat("o", 80), Action: "move north", StateHash: make([]byte, 32), InfoJson: `{"actions":["a","b"]}`,
		})
	}
	payload, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	ev := &event.Event{Topic: "spade.rollouts", Type: event.TypeOf(m), Time: time.Now(), Key: keyOf(m), Payload: payload}
	set := tables.NewSet(memory.DefaultAllocator, c, 0)
	defer set.Release()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.AppendEncoded(ev); err != nil {
			b.Fatal(err)
		}
		if set.Bytes() > tables.MaxBlockBytes {
			for _, block := range set.Blocks() {
				block.Record.Release()
			}
		}
	}
	b.ReportMetric(float64(10*b.N)/b.Elapsed().Seconds(), "steps/s")
}
