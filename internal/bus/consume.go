package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/internal/outage"
	"github.com/seed256f7767/spade/schemas/event"
)

// Handler opens the work on partitions that the group gives to this process.
type Handler interface {
	// Assigned is called once for each partition number of a generation, before
	// anything is read, and returns what will process it. The claim covers that
	// number of every topic. Assigned may move the claim's start. It may be
	// called concurrently for different partitions. An error ends Consume.
	Assigned(ctx context.Context, claim *Claim) (Processor, error)
}

// HandlerFunc is a Handler that is a function.
type HandlerFunc func(ctx context.Context, claim *Claim) (Processor, error)

// Assigned calls the function.
func (f HandlerFunc) Assigned(ctx context.Context, claim *Claim) (Processor, error) {
	return f(ctx, claim)
}

// Processor works on one partition number of all topics of a group. Its methods
// and those of its claim are called from one goroutine. Their context ends when
// the partition is lost, RevokeTimeout after the partition is taken away, or
// StopTimeout after Consume is asked to stop. An error ends Consume for this
// process, after the other partitions were revoked, but for ErrHandedBack; a
// panic counts as an error.
type Processor interface {
	// Process takes the next events. What is not committed when the process
	// ends is delivered again, to this or another process.
	Process(ctx context.Context, b Batch) error
	// Idle is called when there is nothing to read, at once and then every
	// IdleInterval: the moment to flush what Process has gathered.
	Idle(ctx context.Context) error
	// Revoked is the last call while the claim can still commit: the partition
	// goes to another process, or Consume stops.
	Revoked(ctx context.Context) error
	// Lost is the last call after an error, ErrHandedBack too, and when the
	// claim can no longer commit, because the group has given this process up
	// or the broker is gone. What is not committed is delivered again, and is
	// to be forgotten.
	Lost()
}

// Batch is the next events of one topic.
type Batch struct {
	Topic     string
	Partition int32
	// Events in offset order; it may be empty when all records were parts of
	// larger events. They are the Processor's to keep.
	Events []event.Event
	// Next is the offset after the last record. Committing it says that all
	// events delivered of this topic are durable.
	Next int64
	// End is the offset that the partition's next record will get, as far as is
	// known: End-Next is what is left to read.
	End int64
}

// Consume joins a consumer group and processes topics until ctx ends, which
// returns nil, or something fails for good.
//
// The topics must exist and have the same number of partitions; a partition
// number goes to one process with all its topics. A partition without a commit
// begins at start, and where start says nothing at its first offset. Brokers
// that go away and come back are waited for.
func (c *Client) Consume(ctx context.Context, group string, topics []string, start Positions, h Handler) error {
	at := &standing{name: group}
	defer c.enrol(at)()
	g := &consumer{c: c, group: group, topics: slices.Clone(topics), start: start, handler: watched{h, at}, at: at, began: time.Now()}
	if err := g.check(ctx); err != nil {
		return fmt.Errorf("consume %s: %w", group, err)
	}
	// The group has connections of its own: closing them is what interrupts a
	// member that waits for the others to join.
	dial := newDialer(c.cfg.RequestTimeout, c.cfg.Brokers)
	dial.patience = c.cfg.RequestTimeout
	dialer := *c.groups
	dialer.DialFunc = dial.DialContext
	cg, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: c.onWire(group), Brokers: c.cfg.Brokers, Dialer: &dialer, Topics: c.allOnWire(g.topics),
		GroupBalancers:    []kafka.GroupBalancer{copartition{}},
		HeartbeatInterval: c.cfg.Heartbeat, SessionTimeout: c.cfg.SessionTimeout, RebalanceTimeout: c.cfg.RequestTimeout,
		JoinGroupBackoff: 50 * time.Millisecond, StartOffset: kafka.FirstOffset, Timeout: c.cfg.RequestTimeout,
	})
	if err != nil {
		return fmt.Errorf("consume %s: %w", group, err)
	}
	err = g.run(ctx, cg)
	leave(cg, dial)
	g.depart()
	if err != nil {
		return fmt.Errorf("consume %s: %w", group, err)
	}
	return nil
}

// leaveTimeout is what leaving a group politely may take.
const leaveTimeout = 2 * time.Second

// leave leaves the group, so that the others need not wait for the session to
// end; a broker that does not answer is cut off.
func leave(cg *kafka.ConsumerGroup, dial *dialer) {
	t := time.AfterFunc(leaveTimeout, dial.closeAll)
	defer t.Stop()
	_ = cg.Close() // never fails
	dial.closeAll()
}

// depart takes the member out of the group that it was last in, where the library has not: one that is told to join again while it
// is closed stays, and its partitions would be nobody's until its session times out.
func (g *consumer) depart() {
	if g.member == "" {
		return
	}
	ctx, cancel := context.WithTimeout(g.c.ctx, leaveTimeout)
	defer cancel()
	_, err := g.c.kafka.LeaveGroup(ctx, &kafka.LeaveGroupRequest{
		GroupID: g.c.onWire(g.group), Members: []kafka.LeaveGroupRequestMember{{ID: g.member}},
	})
	if err != nil { // its session ends all the same
		g.c.log.Debug("kafka group was not left", "group", g.group, "error", err)
	}
}

// consumer is one Consume.
type consumer struct {
	c       *Client
	group   string
	topics  []string
	start   Positions
	handler Handler
	at      *standing
	outage  outage.Outage
	began   time.Time
	joined  bool   // once at least
	member  string // of the group, as of the last generation
}

// check makes sure of what co-partitioning needs. A group that subscribes to a
// topic before it exists would be assigned nothing and stay silent.
func (g *consumer) check(ctx context.Context) error {
	if len(g.topics) == 0 {
		return errors.New("no topics given")
	}
	counts := map[int][]string{}
	for _, t := range g.topics {
		info, err := g.c.topic(ctx, t)
		if err != nil {
			return err
		}
		n := len(info.partitions)
		counts[n] = append(counts[n], t+" has "+strconv.Itoa(n))
	}
	if len(counts) > 1 {
		var all []string
		for _, n := range counts {
			all = append(all, n...)
		}
		slices.Sort(all)
		return fmt.Errorf("topics of one group must have the same number of partitions: %s", strings.Join(all, ", "))
	}
	return nil
}

// run processes generation after generation.
func (g *consumer) run(ctx context.Context, cg *kafka.ConsumerGroup) error {
	tries := g.c.login.attempts()
	for {
		gen, err := g.next(ctx, cg)
		switch {
		case ctx.Err() != nil:
			return nil
		case g.c.ctx.Err() != nil:
			return ErrClosed
		case err == nil:
			tries.worked()
			g.joined, g.member = true, gen.MemberID
			if err := g.generation(ctx, gen); err != nil {
				return err
			}
		case errors.Is(err, kafka.RebalanceInProgress): // others came or went while this one joined
		case g.settling(err): // the cluster makes room for its first groups, or for this one
			g.c.stats.retries.Add(1)
		case g.c.untrusted(err) != nil:
			return g.c.untrusted(err)
		default:
			class := tries.class("join the group", err)
			if tries.final() || (!isLogin(class) && !transient(err) && !fenced(err)) {
				return class
			}
			g.trouble(ctx, class)
			g.c.stats.retries.Add(1)
		}
	}
}

// settleTime is how long a cluster may take to say who keeps a group that was never there.
const settleTime = 10 * time.Second

// settling reports that a new group is not kept anywhere yet, which is no outage.
func (g *consumer) settling(err error) bool {
	return !g.joined && time.Since(g.began) < settleTime && (errors.Is(err, kafka.GroupCoordinatorNotAvailable) ||
		errors.Is(err, kafka.NotCoordinatorForGroup) || errors.Is(err, kafka.GroupLoadInProgress))
}

// next waits for a generation, also no longer than the client lives.
func (g *consumer) next(ctx context.Context, cg *kafka.ConsumerGroup) (*kafka.Generation, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.c.ctx, cancel)()
	return cg.Next(ctx)
}

// generation runs a worker for each assigned partition number and returns when
// all have ended: the group rebalances, ctx ended, or one failed.
func (g *consumer) generation(ctx context.Context, gen *kafka.Generation) error {
	g.c.stats.rebalances.Add(1)
	if lasted, over := g.outage.End(); over {
		g.c.log.Info("kafka group works again", "group", g.group, "after", lasted)
	}
	claims := g.claims(gen)
	if len(claims) == 0 {
		g.c.log.Info("kafka group has more members than partitions: this one stands by",
			"group", g.group, "generation", gen.ID)
	}
	g.at.join(gen.ID, claims)
	defer g.at.leave()
	whole := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(g.c.ctx, stop)()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	ended := make(chan struct{}) // closed once all have
	for _, claim := range claims {
		wg.Add(1)
		gen.Start(func(genCtx context.Context) {
			// The generation is over, and no heartbeat holds it, as soon as one function returns: who has nothing left to do when
			// Consume is asked to stop waits for the others, which have StopTimeout.
			defer func() {
				wg.Done()
				if ctx.Err() != nil {
					waitEither(ended, genCtx.Done())
				}
			}()
			err := newWorker(g.c, claim).run(ctx, genCtx, g.handler)
			if errors.Is(err, ErrHandedBack) {
				return
			}
			if errors.Is(err, errGone) {
				g.trouble(whole, fmt.Errorf("partition %d: %w", claim.Partition, err))
				return
			}
			if err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("partition %d: %w", claim.Partition, err))
				mu.Unlock()
				stop()
			}
		})
	}
	if len(claims) == 0 {
		wg.Add(1)
		gen.Start(func(genCtx context.Context) { defer wg.Done(); waitEither(ctx.Done(), genCtx.Done()) })
	}
	wg.Wait()
	close(ended)
	return severalOf(errs)
}

// trouble notes that the group does not work. The first report of an outage is
// for people; the others, and what stopping brings with it, are not.
func (g *consumer) trouble(ctx context.Context, reason error) {
	level := slog.LevelDebug
	if ctx.Err() == nil && g.c.ctx.Err() == nil && g.outage.Begin() {
		level = slog.LevelWarn
	}
	g.c.log.Log(ctx, level, "kafka group is interrupted", "group", g.group, "reason", reason)
}

func waitEither(a, b <-chan struct{}) {
	select {
	case <-a:
	case <-b:
	}
}

// claims gathers the assignments by partition number.
func (g *consumer) claims(gen *kafka.Generation) []*Claim {
	byNumber := map[int]*Claim{}
	var order []int
	for _, t := range g.topics {
		for _, a := range gen.Assignments[g.c.onWire(t)] {
			cl := byNumber[a.ID]
			if cl == nil {
				cl = newClaim(g.c, g.group, gen, int32(a.ID))
				byNumber[a.ID] = cl
				order = append(order, a.ID)
			}
			cl.add(t, a.Offset, g.start)
			cl.topics[t].asm = g.c.assembler(t)
		}
	}
	slices.Sort(order)
	claims := make([]*Claim, len(order))
	for i, n := range order {
		claims[i] = byNumber[n]
	}
	return claims
}
