package warehouse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

const testPartition = 3

// memoryLog is the records of one partition number, by topic: events with the offsets they have, and gaps where records
// are no events.
type memoryLog struct {
	events map[string][]event.Event
	ends   map[string]int64
}

func testID(kind string, n int) []byte {
	id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s %d", kind, n))
	return id[:]
}

// makeLog makes n records of each of three topics: events of every kind of them, repeats with another payload, payloads that
// cannot be decoded, records that are no events, and large events that other records lie between.
func makeLog(rng *rand.Rand, n int) *memoryLog {
	l := &memoryLog{events: map[string][]event.Event{}, ends: map[string]int64{}}
	for _, topic := range []string{topics.Environments, topics.Rollouts, topics.Documents} {
		var offset int64
		for i := range n {
			switch rng.IntN(12) {
			case 0: // no event
				offset++
				continue
			case 1: // an event of several records
				offset += 2
			}
			ev := makeEvent(rng, topic, i)
			if have := l.events[topic]; len(have) > 0 && rng.IntN(8) == 0 {
				old := have[rng.IntN(len(have))]
				ev.ID, ev.Key = old.ID, old.Key
			}
			if rng.IntN(15) == 0 {
				ev.Payload = []byte{0xff, 0xff, 0xff}
			}
			ev.Partition, ev.Offset, ev.LastOffset = testPartition, offset, offset
			if offset > 0 && rng.IntN(10) == 0 {
				ev.Offset--
			}
			offset++
			l.events[topic] = append(l.events[topic], ev)
		}
		l.ends[topic] = offset + 1 // the last record is no event
	}
	return l
}

func makeEvent(rng *rand.Rand, topic string, i int) event.Event {
	run, env := testID("run", 1), testID("env", i/4)
	var msg proto.Message
	subject := testID(topic, i)
	key := topics.EnvKey(uuid.UUID(run), uuid.UUID(env))
	switch topic {
	case topics.Environments:
		msg = makeDesign(rng, run, env)
	case topics.Rollouts:
		r := &spadepb.RolloutCompleted{RunId: run, RolloutId: subject, EnvId: env, Arm: "plain", TotalReward: rng.Float64()}
		for range rng.IntN(4) {
			r.Steps = append(r.Steps, &spadepb.Step{Observation: fmt.Sprint("saw ", rng.IntN(100)), Action: "go", Reward: 0.5})
		}
		msg = r
		if rng.IntN(5) == 0 {
			msg = &spadepb.RolloutDropped{RunId: run, RolloutId: subject, EnvId: env, Reason: "stale"}
		}
	default:
		document := testID("document", i)
		msg = &spadepb.DocumentIngested{DocumentId: document, Text: fmt.Sprint("text ", i), Title: "t"}
		if i > 0 && rng.IntN(4) == 0 {
			document = testID("document", rng.IntN(i))
			msg = &spadepb.DocumentWithdrawn{DocumentId: document}
		}
		key = uuid.UUID(document).String()
	}
	ev, err := event.New(key, uuid.UUID(subject), 0, msg, nil)
	if err != nil {
		panic(err)
	}
	ev.Time = time.Unix(1_700_000_000+int64(i), 0).UTC()
	return ev
}

func makeDesign(rng *rand.Rand, run, env []byte) proto.Message {
	switch rng.IntN(3) {
	case 0:
		return &spadepb.EnvironmentAccepted{
			RunId: run, EnvId: env, Novelty: 1, Kind: "game",
			Nearest: []*spadepb.Neighbour{{EnvId: testID("env", 99), Similarity: 0.5}},
		}
	case 1:
		return &spadepb.EnvironmentRejected{RunId: run, EnvId: env, Stage: "load", Reason: "no"}
	}
	return &spadepb.EnvironmentDesigned{
		RunId: run, EnvId: env, Code: "def reset(seed): pass",
		Documents: []*spadepb.Attribution{{DocumentId: testID("document", 1), Score: 0.5}},
		Recalled:  []*spadepb.Neighbour{{EnvId: testID("env", 98)}, {EnvId: testID("env", 97), Rank: 1}},
	}
}

// Read makes the log one that an audit can read.
func (l *memoryLog) Read(_ context.Context, topic string, _, _ map[int32]int64, fn func(event.Event) error) error {
	for _, ev := range l.events[topic] {
		if err := fn(ev); err != nil {
			return err
		}
	}
	return nil
}

func (l *memoryLog) topics() []string {
	return []string{topics.Documents, topics.Environments, topics.Rollouts}
}
