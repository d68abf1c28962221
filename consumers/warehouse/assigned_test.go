package warehouse

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

var errRefused = errors.New("refused")

// refusing is a store that lets nobody in.
type refusing struct{ Store }

func (refusing) Claim(context.Context, []Place, Writer) error { return errRefused }

// A partition that cannot be opened must not become a Processor, on which the bus would call Lost.
func TestAPartitionThatCannotBeOpenedIsNoProcessor(t *testing.T) {
	client := nowhere{}
	s, err := New(Config{}, Settings{
		Log: client, Store: refusing{}, Topics: topics.All(1),
		DeadLetter: func(context.Context, event.Record, error) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.assigned(t.Context(), &bus.Claim{})
	if p != nil || !errors.Is(err, errRefused) {
		t.Errorf("processor %v, error %v", p, err)
	}
}

// full is a store without room.
type full struct{ Store }

func (full) Claim(context.Context, []Place, Writer) error {
	return class(&clickhouse.Exception{Code: olap.CodeDiskFull, Message: "no room"})
}

// A full disk is waited for, but not for ever: somebody has to make room.
func TestAFullDiskEndsTheSink(t *testing.T) {
	s, err := New(Config{}, Settings{
		Log: nowhere{}, Store: full{}, Topics: topics.All(1),
		DeadLetter: func(context.Context, event.Record, error) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.fullFor = 50 * time.Millisecond
	if _, err := s.assigned(t.Context(), &bus.Claim{}); !errors.Is(err, ErrDiskFull) {
		t.Errorf("error %v", err)
	}
	if got := s.stats.retries.Load(); got == 0 {
		t.Error("it was not waited for")
	}
}
