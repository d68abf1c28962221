package warehouse

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v17/arrow/memory"

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
	s.fullFor = time.Second
	if _, err := s.assigned(t.Context(), &bus.Claim{}); !errors.Is(err, ErrDiskFull) {
		t.Errorf("error %v", err)
	}
	if got := s.stats.retries.Load(); got == 0 {
		t.Error("it was not waited for")
	}
}

// deaf is a store whose answers to claims are lost at first.
type deaf struct {
	*fakeStore
	tokens []uint64
}

func (d *deaf) Claim(ctx context.Context, places []Place, w Writer) error {
	d.tokens = append(d.tokens, w.Token)
	err := d.fakeStore.Claim(ctx, places, w)
	if len(d.tokens) < 3 {
		return errors.Join(err, ErrTransient)
	}
	return err
}

// A claim without an answer may be executed at any later time, also after another writer has gone on. If it had the token of the claim
// that was answered, it would let this writer in again with what it had read before.
func TestEveryTryToClaimHasATokenOfItsOwn(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(1, 2)), 3)
	store := &deaf{fakeStore: newFakeStore(t, 10)}
	s := testSink(t, store, memory.DefaultAllocator, func(event.Record) {})
	p, err := s.open(t.Context(), newFakeClaim(t, l, map[string]int64{}), Group, 1, testPartition)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(store.tokens)
	if got := len(slices.Compact(store.tokens)); got != 4 || p.writer.Token == 0 {
		t.Errorf("%d tokens for 4 claims", got)
	}
}
