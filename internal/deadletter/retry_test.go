package deadletter

import (
	"testing"

	"github.com/seed256f7767/spade/schemas/event"
)

func TestARetrySaysWhatItRepeats(t *testing.T) {
	first := event.Record{Topic: "a", Partition: 3, Offset: 17, Headers: []event.Header{{Key: "ce_id", Value: []byte("x")}}}
	again := Retry(first)
	if p, o, ok := RetryOf(again); !ok || p != 3 || o != 17 {
		t.Errorf("%d, %d, %v", p, o, ok)
	}
	if len(first.Headers) != 1 || len(again.Headers) != 2 {
		t.Errorf("headers %v, then %v", first.Headers, again.Headers)
	}
	// A retry of a retry names the record that it was made from, and only that.
	again.Partition, again.Offset = 3, 40
	third := Retry(again)
	if p, o, ok := RetryOf(third); !ok || p != 3 || o != 40 || len(third.Headers) != 2 {
		t.Errorf("%d, %d, %v, %v", p, o, ok, third.Headers)
	}
}

func TestOtherRecordsRepeatNothing(t *testing.T) {
	for _, value := range []string{"", "3", "/", "3/", "/17", "x/17", "3/x", "99999999999/1", "3/17/4"} {
		r := event.Record{Headers: []event.Header{{Key: headerRetry, Value: []byte(value)}}}
		if _, _, ok := RetryOf(r); ok {
			t.Errorf("%q says what it repeats", value)
		}
	}
	if _, _, ok := RetryOf(event.Record{}); ok {
		t.Error("a record without headers says what it repeats")
	}
}
