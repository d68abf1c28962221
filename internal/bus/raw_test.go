package bus_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed256f7767/spade/schemas/event"
)

func TestRecordsAreReadAndAppendedAsTheyAre(t *testing.T) {
	_, c := setup(t)
	want := []event.Record{
		{Topic: topic, Key: []byte("a"), Value: []byte("no event"), Headers: []event.Header{{Key: "x", Value: []byte{0xff}}}},
		{Topic: topic, Key: []byte("a"), Value: nil},
		{Topic: topic, Key: []byte("b"), Value: []byte("another")},
	}
	if err := c.AppendRecords(t.Context(), want...); err != nil {
		t.Fatal(err)
	}
	appendAll(t, c, newEvent(topic, "a", "an event"))
	p, err := c.PartitionOf(t.Context(), topic, []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(from, to map[int32]int64) []event.Record {
		t.Helper()
		var got []event.Record
		if err := c.ReadRecords(t.Context(), topic, from, to, func(r event.Record) error { got = append(got, r); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	of := read(nil, map[int32]int64{p: 2})
	if len(of) != 2 || !bytes.Equal(of[0].Value, want[0].Value) || of[1].Offset != 1 || len(of[0].Headers) != 1 || of[0].Headers[0].Value[0] != 0xff {
		t.Errorf("read %+v", of)
	}
	if got := read(map[int32]int64{p: 1}, map[int32]int64{p: 2}); len(got) != 1 || got[0].Offset != 1 {
		t.Errorf("from 1 to 2: %+v", got)
	}
	if got := read(nil, nil); len(got) != 4 {
		t.Errorf("%d records in all", len(got))
	}
	stop := errors.New("stop")
	if err := c.ReadRecords(t.Context(), topic, nil, nil, func(event.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	large := event.Record{Topic: topic, Key: []byte("a"), Value: make([]byte, 2<<20)}
	var refused *event.TooLargeError
	if err := c.AppendRecords(t.Context(), large); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}

func TestAGroupThatNeverWasHasNoOffsets(t *testing.T) {
	_, c := setup(t)
	got, err := c.CommittedOffsets(t.Context(), "nobody", topic)
	if err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	stop := consume(t, c, &recorder{}, nil, topic)
	appendAll(t, c, newEvents(topic, "x", 20)...)
	eventually(t, "all are committed", func() bool {
		got, err := c.CommittedOffsets(t.Context(), group, topic)
		return err == nil && len(got) == testPartitions && sum(got) == 20
	})
	mustStop(t, stop)
}
