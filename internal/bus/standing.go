package bus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// Group is where this process stands in one consumer group that it consumes.
type Group struct {
	Name string
	// Joined says that the group counts this process as a member now. One with no partitions stands by.
	Joined     bool
	Generation int32
	Places     []Place
}

// Place is where a group stands in one partition that it gave to this process. Offsets are of the next record.
type Place struct {
	Topic     string
	Partition int32
	Next      int64 // after what was delivered
	Committed int64 // after what is durable; at most Next
	End       int64 // what the next record appended will get
	// Oldest is when the oldest record that was delivered and is not durable was appended; zero: there is none.
	Oldest time.Time
	// Moved is when Next or Committed last grew.
	Moved time.Time
	// Busy is when the call of the Processor that is under way began; zero: none is.
	Busy time.Time
}

// Lag is how many records of the place are not processed durably.
func (p Place) Lag() int64 { return max(0, p.End-p.Committed) }

// Groups says where this process stands in the groups that it consumes, sorted by name. It asks the log for the ends; with
// an error they are those that were seen when records last came.
func (c *Client) Groups(ctx context.Context) ([]Group, error) {
	c.mu.Lock()
	all := make([]*standing, 0, len(c.standings))
	for s := range c.standings {
		all = append(all, s)
	}
	c.mu.Unlock()
	groups := make([]Group, len(all))
	for i, s := range all {
		groups[i] = s.look()
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	ends := map[string]map[int32]int64{}
	var errs []error
	for _, g := range groups {
		for i := range g.Places {
			p := &g.Places[i]
			if _, asked := ends[p.Topic]; !asked {
				at, err := c.HighWatermarks(ctx, p.Topic)
				ends[p.Topic] = at
				errs = append(errs, err)
			}
			p.End = max(p.End, ends[p.Topic][p.Partition])
		}
	}
	return groups, errors.Join(errs...)
}

// standing is one Consume as others see it.
type standing struct {
	mu         sync.Mutex // guards the following, and the places
	name       string
	joined     bool
	generation int32
	places     map[lanePos]*place
}

// place is one partition of it.
type place struct {
	Place
	open []mark
}

// mark is a batch that was delivered and is not durable.
type mark struct {
	next   int64
	oldest time.Time
}

// maxMarks bounds what is remembered of a partition. More are joined to the last.
const maxMarks = 256

// enrol lets Groups see a Consume until the function that it returns is called.
func (c *Client) enrol(s *standing) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.standings == nil {
		c.standings = map[*standing]struct{}{}
	}
	c.standings[s] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.standings, s)
	}
}

func (s *standing) look() Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := Group{Name: s.name, Joined: s.joined, Generation: s.generation}
	for _, p := range s.places {
		g.Places = append(g.Places, p.Place)
	}
	slices.SortFunc(g.Places, func(a, b Place) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition) - int(b.Partition)
	})
	return g
}

// join notes a generation and the partitions of it.
func (s *standing) join(generation int32, claims []*Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined, s.generation, s.places = true, generation, map[lanePos]*place{}
	for _, cl := range claims {
		for topic, p := range cl.topics {
			at := max(0, p.start)
			s.places[lanePos{topic, int(cl.Partition)}] = &place{Place: Place{
				Topic: topic, Partition: cl.Partition, Next: at, Committed: at, End: at, Moved: time.Now(),
			}}
		}
	}
}

// leave notes the end of a generation.
func (s *standing) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined, s.places = false, nil
}

// deliver notes events that a Processor gets.
func (s *standing) deliver(b Batch) {
	s.at(b.Topic, b.Partition, func(p *place) {
		p.Next, p.End, p.Moved = b.Next, b.End, time.Now()
		if len(b.Events) == 0 {
			return
		}
		if n := len(p.open); n == maxMarks {
			p.open[n-1].next = b.Next
		} else {
			p.open = append(p.open, mark{b.Next, b.Events[0].Time})
		}
		p.Oldest = p.open[0].oldest
	})
}

// settle notes what has become durable.
func (s *standing) settle(topic string, partition int32, next int64) {
	s.at(topic, partition, func(p *place) {
		if next == p.Committed {
			return
		}
		p.Committed, p.Next, p.Moved = next, max(next, p.Next), time.Now()
		done := 0
		for done < len(p.open) && p.open[done].next <= next {
			done++
		}
		p.open = slices.Delete(p.open, 0, done)
		p.Oldest = time.Time{}
		if len(p.open) > 0 {
			p.Oldest = p.open[0].oldest
		}
	})
}

func (s *standing) at(topic string, partition int32, fn func(*place)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.places[lanePos{topic, int(partition)}]; p != nil {
		fn(p)
	}
}

// watched is a Handler whose work others can look at.
type watched struct {
	Handler
	at *standing
}

// Assigned opens the work and watches it.
func (h watched) Assigned(ctx context.Context, claim *Claim) (Processor, error) {
	p, err := h.Handler.Assigned(ctx, claim)
	if err != nil {
		return nil, err
	}
	w := &watchedProcessor{Processor: p, claim: claim, at: h.at}
	w.settle()
	return w, nil
}

// watchedProcessor notes what its calls bring. What a call declared durable is committed after it, so the next one sees it:
// Idle at the latest.
type watchedProcessor struct {
	Processor
	claim *Claim
	at    *standing
}

// Process passes on a batch.
func (w *watchedProcessor) Process(ctx context.Context, b Batch) error {
	w.settle()
	w.at.deliver(b)
	defer w.busy()()
	return w.Processor.Process(ctx, b)
}

// Idle passes on the quiet.
func (w *watchedProcessor) Idle(ctx context.Context) error {
	w.settle()
	defer w.busy()()
	return w.Processor.Idle(ctx)
}

// busy notes that a call is under way until done is called.
func (w *watchedProcessor) busy() (done func()) {
	note := func(since time.Time) {
		for topic := range w.claim.topics {
			w.at.at(topic, w.claim.Partition, func(p *place) { p.Busy = since })
		}
	}
	note(time.Now())
	return func() { note(time.Time{}) }
}

func (w *watchedProcessor) settle() {
	for topic, p := range w.claim.topics {
		if p.committed >= 0 {
			w.at.settle(topic, w.claim.Partition, p.committed)
		}
	}
}
