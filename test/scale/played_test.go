//go:build linux

package scale

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// arm is one environment's episodes with the hint or without: what a worker plays at a time.
type arm struct {
	env  uuid.UUID
	name string
}

// turn is an arm's time in a worker's hands: from when that worker had the one before it finished.
type turn struct {
	arm
	from, to time.Time
}

// played is what the log tells of a run's episodes.
type played struct {
	turns    map[string][]turn // by worker, in order
	episodes int
}

// read takes apart what workers played. Everything that a worker does is in some turn of it, fetching and appending too, but
// for what comes before its first arm.
func (b *bench) read(events []event.Event, workers int) *played {
	b.Helper()
	p := &played{turns: map[string][]turn{}}
	seen := map[uuid.UUID]bool{}
	began := map[string]time.Time{}
	last := map[string]map[arm]time.Time{} // by worker
	var e event.Episode
	for _, ev := range events {
		if ev.Type != event.TypeOf((*spadepb.RolloutCompleted)(nil)) {
			b.Fatalf("%s in the log, of an environment that cannot be played", ev.Type)
		}
		if err := e.Decode(ev.Payload); err != nil {
			b.Fatal(err)
		}
		if seen[ev.ID] {
			continue // of an arm that another worker had when the partition was given on
		}
		seen[ev.ID] = true
		p.episodes++
		who, a := ev.Observed.GetProducer(), arm{uuid.UUID(e.Head.GetEnvId()), e.Head.GetArm()}
		start, end := ev.Observed.GetStartedAt().AsTime(), ev.Observed.GetFinishedAt().AsTime()
		if at, ok := began[who]; !ok || start.Before(at) {
			began[who] = start
		}
		if last[who] == nil {
			last[who] = map[arm]time.Time{}
		}
		last[who][a] = end
	}
	if len(last) != workers {
		b.Fatalf("%d workers played, %d were started", len(last), workers)
	}
	for who, arms := range last {
		for a, end := range arms {
			p.turns[who] = append(p.turns[who], turn{arm: a, to: end})
		}
		turns := p.turns[who]
		slices.SortFunc(turns, func(x, y turn) int { return cmp.Or(x.to.Compare(y.to), cmp.Compare(x.name, y.name)) })
		from := began[who]
		for i := range turns {
			turns[i].from, from = from, turns[i].to
		}
	}
	return p
}

// window is the time in which every worker played: from when all had finished something, as a worker that joins makes the
// others pause first, until one had finished everything.
func (p *played) window() (from, to time.Time) {
	for _, turns := range p.turns {
		if at := turns[0].to; at.After(from) {
			from = at
		}
		if at := turns[len(turns)-1].to; to.IsZero() || at.Before(to) {
			to = at
		}
	}
	return from, to
}

// rate is episodes a second of one worker.
func (p *played) rate() float64 {
	var took time.Duration
	for _, turns := range p.turns {
		took += turns[len(turns)-1].to.Sub(turns[0].from)
	}
	return float64(p.episodes) / took.Seconds()
}

// times is how much faster these workers were than one that played the same run, while all of them played. Environments differ in
// what a step of them takes, and workers play different ones, so an arm counts for the time that it took the one worker: the mean
// of several times that it played.
func (p *played) times(ones ...*played) (times float64, window time.Duration) {
	took := map[arm]float64{}
	for _, one := range ones {
		for _, turns := range one.turns {
			for _, t := range turns {
				took[t.arm] += t.to.Sub(t.from).Seconds() / float64(len(ones))
			}
		}
	}
	from, to := p.window()
	work := 0.0
	for _, turns := range p.turns {
		for _, t := range turns {
			if in := earlier(t.to, to).Sub(later(t.from, from)); in > 0 {
				work += took[t.arm] * in.Seconds() / t.to.Sub(t.from).Seconds()
			}
		}
	}
	return work / to.Sub(from).Seconds(), to.Sub(from)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
