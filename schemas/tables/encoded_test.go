package tables_test

import (
	"errors"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// episode is a payload of RolloutCompleted whose steps are given as they are encoded.
func episode(tb testing.TB, steps ...[]byte) []byte {
	tb.Helper()
	id := make([]byte, 16)
	b, err := proto.Marshal(&spadepb.RolloutCompleted{RunId: id, RolloutId: id, EnvId: id, Arm: "plain", TotalReward: 2})
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range steps {
		b = protowire.AppendBytes(protowire.AppendTag(b, 19, protowire.BytesType), s)
	}
	return protowire.AppendString(protowire.AppendTag(b, 15, protowire.BytesType), "after the steps")
}

// field is one field of a message.
func field(number protowire.Number, wire protowire.Type, value ...byte) []byte {
	return append(protowire.AppendTag(nil, number, wire), value...)
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// oddEpisodes are payloads at which a decoder could be read otherwise.
func oddEpisodes(tb testing.TB) map[string][]byte {
	tb.Helper()
	whole, err := proto.Marshal(&spadepb.Step{
		Observation: "ö", InfoJson: "{}", Action: "a", ToolName: "t", Reward: -1.5, Terminated: true, Truncated: true, Logprob: -0.5,
		StateHash: []byte{1, 2}, TokenIds: []int32{1, -1, 1 << 30}, Logprobs: []float32{1, 2},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return map[string][]byte{
		"none":                  episode(tb),
		"empty":                 episode(tb, nil, nil),
		"whole":                 episode(tb, whole, whole),
		"twice":                 episode(tb, join(whole, whole, field(3, protowire.BytesType, 1, 'z'), field(6, protowire.VarintType, 0))),
		"other types":           episode(tb, join(field(1, protowire.VarintType, 7), field(5, protowire.VarintType, 7), field(6, protowire.BytesType, 1, 1))),
		"later fields":          episode(tb, join(field(99, protowire.BytesType, 1, 0xff), field(98, protowire.Fixed32Type, 1, 2, 3, 4))),
		"group":                 episode(tb, join(field(97, protowire.StartGroupType), field(1, protowire.VarintType, 1), field(97, protowire.EndGroupType))),
		"flag of two":           episode(tb, field(6, protowire.VarintType, 2)),
		"not UTF-8":             episode(tb, field(1, protowire.BytesType, 1, 0xff)),
		"name not UTF-8":        episode(tb, field(4, protowire.BytesType, 1, 0xff)),
		"hash of any bytes":     episode(tb, field(9, protowire.BytesType, 1, 0xff)),
		"tokens one by one":     episode(tb, join(field(10, protowire.VarintType, 5), field(11, protowire.Fixed32Type, 0, 0, 0, 0))),
		"tokens cut short":      episode(tb, field(10, protowire.BytesType, 1, 0x80)),
		"logprobs cut short":    episode(tb, field(11, protowire.BytesType, 3, 0, 0, 0)),
		"field number too high": episode(tb, protowire.AppendVarint(nil, 1<<32)),
		"field number zero":     episode(tb, []byte{0}),
		"cut short":             episode(tb, field(1, protowire.BytesType, 9, 'x')),
		"a step as a number":    append(episode(tb, whole), field(19, protowire.VarintType, 1)...),
		"message cut short":     episode(tb, whole)[:60],
		"head not UTF-8":        append(episode(tb, whole), field(5, protowire.BytesType, 1, 0xff)...),
		"head field too high":   append(episode(tb, whole), append(protowire.AppendVarint(nil, 1<<32), 0)...),
		"no ids":                field(19, protowire.BytesType, 0),
	}
}

// same appends a payload to two sets, once encoded and once decoded, and compares rows and errors.
func same(t *testing.T, c *tables.Catalogue, payload []byte) error {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	encoded, decoded := tables.NewSet(mem, c, 7), tables.NewSet(mem, c, 7)
	defer encoded.Release()
	defer decoded.Release()
	ev := &event.Event{Topic: topics.Rollouts, Type: "spade.v1.RolloutCompleted", Payload: payload, Time: time.Unix(1, 0), LastOffset: 5}
	msg, want := ev.Message()
	if want == nil {
		ev.Key = fuzzKey(msg)
		want = decoded.Append(ev, msg)
	}
	_, got := encoded.AppendEncoded(ev)
	for _, class := range []error{nil, event.ErrMalformed, tables.ErrInvalid} {
		if errors.Is(got, class) != errors.Is(want, class) {
			t.Errorf("error %v, want %v", got, want)
		}
	}
	a, b := encoded.Blocks(), decoded.Blocks()
	if len(a) != len(b) {
		t.Errorf("%d tables, want %d", len(a), len(b))
	}
	for i := range a {
		if i < len(b) && !array.RecordEqual(a[i].Record, b[i].Record) {
			t.Errorf("%v\nwant\n%v", a[i].Record, b[i].Record)
		}
	}
	for _, block := range append(a, b...) {
		block.Record.Release()
	}
	return got
}

// An episode becomes the same rows whether or not its steps are decoded first, and is refused in the same cases.
func TestAppendEncodedIsAppend(t *testing.T) {
	c := catalogue(t)
	refused := 0
	for name, payload := range oddEpisodes(t) {
		t.Run(name, func(t *testing.T) {
			if same(t, c, payload) != nil {
				refused++
			}
		})
	}
	if refused < 8 || refused > len(oddEpisodes(t))-8 {
		t.Errorf("%d are refused", refused)
	}
}

// FuzzAppendEncoded is TestAppendEncodedIsAppend for any payload.
func FuzzAppendEncoded(f *testing.F) {
	for _, payload := range oddEpisodes(f) {
		f.Add(payload)
	}
	c := catalogue(f)
	f.Fuzz(func(t *testing.T, payload []byte) { _ = same(t, c, payload) })
}
