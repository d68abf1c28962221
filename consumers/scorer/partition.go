package scorer

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Partition folds one partition number of spade.environments and spade.rollouts for one run. The two topics are
// co-partitioned, so an environment's verdict and its episodes meet here; they may arrive in any order and more than
// once. It is not safe for concurrent use.
type Partition struct {
	run    runs.Run
	source *observe.Source
	groups map[uuid.UUID]*group
	closed map[uuid.UUID]bool
}

// group is what has been seen of an environment that is not closed.
type group struct {
	accepted *spadepb.EnvironmentAccepted
	ends     map[uuid.UUID]terminal // by rollout
	first    map[string]int64       // offset of the first event, by topic
	opened   time.Time
}

// terminal is what became of an episode: one of the two.
type terminal struct {
	offset    int64
	completed *spadepb.RolloutCompleted
	dropped   *spadepb.RolloutDropped
}

// end notes what became of an episode. Of several events about it the first in the log counts: one worker may have played what
// another one, that took over from it, dropped.
func (g *group) end(id []byte, t terminal) {
	if was, known := g.ends[uuid.UUID(id)]; !known || t.offset < was.offset {
		g.ends[uuid.UUID(id)] = t
	}
}

// NewPartition makes an empty fold.
func NewPartition(run runs.Run, source *observe.Source) *Partition {
	return &Partition{run: run, source: source, groups: map[uuid.UUID]*group{}, closed: map[uuid.UUID]bool{}}
}

// Add folds one event and returns the events that follow from it, to be appended before any offset at or past
// OldestOpen's is committed. Events of other runs are ignored. An error wraps one of package event's.
func (p *Partition) Add(ev event.Event) ([]event.Event, error) {
	if !topics.OfRun(ev.Key, p.run.ID) {
		return nil, nil
	}
	msg, err := ev.Message()
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	switch m := msg.(type) {
	case *spadepb.EnvironmentRejected:
		return p.rejected(m)
	case *spadepb.EnvironmentAccepted:
		if g := p.open(ev, m.GetEnvId()); g != nil && g.accepted == nil {
			g.accepted = m
		}
		return p.close(uuid.UUID(m.GetEnvId()))
	case *spadepb.RolloutCompleted:
		if g := p.open(ev, m.GetEnvId()); g != nil {
			g.end(m.GetRolloutId(), terminal{offset: ev.Offset, completed: slim(m)})
		}
		return p.close(uuid.UUID(m.GetEnvId()))
	case *spadepb.RolloutDropped:
		if g := p.open(ev, m.GetEnvId()); g != nil {
			g.end(m.GetRolloutId(), terminal{offset: ev.Offset, dropped: m})
		}
		return p.close(uuid.UUID(m.GetEnvId()))
	}
	return nil, nil
}

// Scored notes an event that an earlier fold of this partition made: the last one of a group closes it. Others are ignored.
func (p *Partition) Scored(ev event.Event) error {
	if !topics.OfRun(ev.Key, p.run.ID) || ev.Type != event.TypeOf((*spadepb.DesignerRewarded)(nil)) {
		return nil
	}
	msg, err := ev.Message()
	if err != nil {
		return nil //nolint:nilerr // the warehouse keeps it as a dead letter; the group is scored again
	}
	env := uuid.UUID(msg.(*spadepb.DesignerRewarded).GetEnvId())
	delete(p.groups, env)
	p.closed[env] = true
	return nil
}

// OldestOpen is the offset in a topic of the first event that an open group still needs.
func (p *Partition) OldestOpen(topic string) (offset int64, open bool) {
	for _, g := range p.groups {
		if first, ok := g.first[topic]; ok && (!open || first < offset) {
			offset, open = first, true
		}
	}
	return offset, open
}

// open finds or makes the group of an environment; nil when it is closed already.
func (p *Partition) open(ev event.Event, envID []byte) *group {
	env := uuid.UUID(envID)
	if p.closed[env] {
		return nil
	}
	g := p.groups[env]
	if g == nil {
		g = &group{
			ends:   map[uuid.UUID]terminal{},
			first:  map[string]int64{},
			opened: time.Now(),
		}
		p.groups[env] = g
	}
	if _, ok := g.first[ev.Topic]; !ok {
		g.first[ev.Topic] = ev.Offset
	}
	return g
}

// slim keeps what scoring needs of an episode.
func slim(m *spadepb.RolloutCompleted) *spadepb.RolloutCompleted {
	m.Steps = nil
	return m
}

// abandonedAfter is the number of records of a partition after which episodes of an environment that nobody accepted are
// given up.
const abandonedAfter = 10_000

// Forget drops the groups of environments that were never accepted, of which nothing closes: episodes are appended after the
// acceptance, so it must be called only when all of spade.environments was added, and next is where reading spade.rollouts
// goes on.
func (p *Partition) Forget(next int64) {
	for env, g := range p.groups {
		if first, ok := g.first[topics.Rollouts]; ok && g.accepted == nil && next-first > abandonedAfter {
			delete(p.groups, env)
		}
	}
}

// close makes the events that end a group, once every expected episode has its terminal event.
func (p *Partition) close(env uuid.UUID) ([]event.Event, error) {
	g := p.groups[env]
	if g == nil || g.accepted == nil {
		return nil, nil
	}
	expected := int(g.accepted.GetExpectedPlain() + g.accepted.GetExpectedHinted())
	if len(g.ends) < expected {
		return nil, nil
	}
	regret := summarise(p.run.Config, g)
	pay := identify(payAccepted(p.run.Config, g.accepted, regret.estimated), p.run, g.accepted)
	events, err := p.events(env, g.opened, regret.message(), pay)
	if err != nil {
		return nil, err
	}
	delete(p.groups, env)
	p.closed[env] = true
	return events, nil
}

func (p *Partition) rejected(m *spadepb.EnvironmentRejected) ([]event.Event, error) {
	env := uuid.UUID(m.GetEnvId())
	if p.closed[env] {
		return nil, nil
	}
	pay := identify(payRejected(p.run.Config), p.run, m)
	events, err := p.events(env, time.Now(), pay)
	if err != nil {
		return nil, err
	}
	p.closed[env] = true
	return events, nil
}

func (p *Partition) events(env uuid.UUID, started time.Time, messages ...proto.Message) ([]event.Event, error) {
	events := make([]event.Event, len(messages))
	for i, msg := range messages {
		var err error
		events[i], err = event.New(topics.EnvKey(p.run.ID, env), env, 0, msg, p.source.Stamp(started))
		if err != nil {
			return nil, fmt.Errorf("score: %w", err)
		}
	}
	return events, nil
}
