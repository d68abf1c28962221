//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// appender is a producer that is not the program's: it appends episodes of a run that nobody works on and knows what was
// acknowledged. An event that was not is appended again with its id, as every producer does.
type appender struct {
	run    uuid.UUID
	log    *bus.Client
	raw    *bus.Client // appends what no consumer can read
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex            // guards the following
	acked  map[string][]appended // by key, in order
	tried  map[uuid.UUID]bool
	poison map[uuid.UUID]bool // acknowledged records that cannot be read, by the id in their payload
	unsure int                // records that cannot be read and may be in the log
	again  int                // events that were appended more than once
	begun  time.Time          // of the newest append that was acknowledged
}

// appended is an acknowledged event.
type appended struct {
	id    uuid.UUID
	steps int
}

const (
	appenders   = 2
	keysEach    = 6
	largeEvery  = 150 // events; each is several records
	poisonEvery = 100
	repeatEvery = 40 // an event is appended once more, as by a producer that was killed before it saw the answer
)

func newAppender(t *testing.T, w *world) *appender {
	t.Helper()
	unchecked := bus.Settings{Check: func(event.Event) error { return nil }}
	ctx, cancel := context.WithCancel(context.Background())
	a := &appender{
		run: ids.Run(w.name("appender")), log: w.client(bus.Settings{}), raw: w.client(unchecked), cancel: cancel,
		acked: map[string][]appended{}, tried: map[uuid.UUID]bool{}, poison: map[uuid.UUID]bool{},
	}
	for n := range appenders {
		random := rand.New(rand.NewPCG(w.set.seed, uint64(n)))
		a.wg.Go(func() { a.work(ctx, n, random) })
	}
	return a
}

// stop ends the appender. What it was appending may or may not be in the log.
func (a *appender) stop() {
	a.cancel()
	a.wg.Wait()
}

func (a *appender) work(ctx context.Context, n int, random *rand.Rand) {
	next := make([]int, keysEach)
	for count := 1; ctx.Err() == nil; count++ {
		k := random.IntN(keysEach)
		env := ids.Env(a.run, n, k, 0)
		ev, steps := a.episode(env, next[k], count, random)
		if !a.append(ctx, ev, steps) {
			return
		}
		next[k]++
		if count%repeatEvery == 0 && a.log.Append(ctx, ev) == nil {
			a.mu.Lock()
			a.again++
			a.mu.Unlock()
		}
		if count%poisonEvery == 0 {
			a.plant(ctx, n, count, random)
		}
		select {
		case <-time.After(time.Duration(random.IntN(60)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// episode is the n-th event of a key. Its env seed is n.
func (a *appender) episode(env uuid.UUID, n, count int, random *rand.Rand) (event.Event, int) {
	id := ids.Rollout(env, "plain", n, 0)
	r := &spadepb.RolloutCompleted{
		RunId: a.run[:], EnvId: env[:], RolloutId: id[:], Arm: "plain", SeedIndex: int32(n), EnvSeed: uint64(n), Outcome: "solved",
		TotalReward: random.Float64(), Terminated: true, Model: "chaos",
	}
	steps, size := 1+random.IntN(4), 20+random.IntN(200)
	if count%largeEvery == 0 {
		steps, size = 12, 200<<10
	}
	for i := range steps {
		r.Steps = append(r.Steps, &spadepb.Step{
			Observation: strings.Repeat(string(rune('a'+random.IntN(26))), size), Action: fmt.Sprint("act ", i), Reward: 0.5,
		})
	}
	ev, err := event.New(topics.EnvKey(a.run, env), id, 0, r, nil)
	if err != nil {
		panic(err) // of the test itself
	}
	return ev, steps
}

// append appends until the event is acknowledged. It reports false when the appender was stopped before.
func (a *appender) append(ctx context.Context, ev event.Event, steps int) bool {
	a.mu.Lock()
	a.tried[ev.ID] = true
	a.mu.Unlock()
	for tries := 0; ; tries++ {
		began := time.Now()
		err := a.log.Append(ctx, ev)
		if err == nil {
			a.mu.Lock()
			a.begun = began
			a.acked[ev.Key] = append(a.acked[ev.Key], appended{ev.ID, steps})
			a.again += min(tries, 1)
			a.mu.Unlock()
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// plant appends a record that is no event, or an event whose payload cannot be decoded.
func (a *appender) plant(ctx context.Context, n, count int, random *rand.Rand) {
	env := ids.Env(a.run, n, random.IntN(keysEach), 0)
	mark := uuid.NewSHA1(a.run, fmt.Appendf(nil, "poison %d %d", n, count))
	ev := event.Event{
		Topic: topics.Rollouts, Key: topics.EnvKey(a.run, env), Type: "spade.v1.RolloutCompleted", ID: mark,
		Payload: append([]byte{0xff, 0xff, 0xff}, mark[:]...), Time: time.Now(),
	}
	switch random.IntN(3) {
	case 0:
		ev.Type = "spade.v1.Unheard"
	case 1:
		ev.ID = uuid.Nil
	}
	err := a.raw.Append(ctx, ev)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.unsure++
		return
	}
	a.poison[mark] = true
}

// acknowledges reports whether something was acknowledged that was appended after a moment.
func (a *appender) acknowledges(after time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begun.After(after)
}

// count is how many events were acknowledged.
func (a *appender) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, evs := range a.acked {
		n += len(evs)
	}
	return n
}
