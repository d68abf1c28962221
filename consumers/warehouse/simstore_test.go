package warehouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
)

// server is a warehouse in memory that executes a statement in two steps, as a real one does: it evaluates it, which compares the
// writer with the claim, and later puts the rows in place, which looks at the tokens. In between the client may be gone, and
// other statements may be executed.
//
// It has no locks: the scheduler lets one actor take one step at a time.
type server struct {
	sim     *sim
	window  int // tokens that a table remembers
	claims  map[Place]uint64
	before  map[Place][]uint64 // claims that were replaced and are in its files
	plans   map[Place][]planned
	clock   int
	offsets map[Place]int64
	ids     map[Place]string
	tokens  map[string][]string       // by table, newest last
	rows    map[string]map[rowKey]int // by table: how often
	texts   map[textKey]string
	pending map[string][]*statement // inserts that are being executed, by table
}

// planned is a plan and when it was compared with the claim.
type planned struct {
	Range
	at int
}

// rowKey is an event's rows in a table.
type rowKey struct {
	place  Place
	offset int64
}

type textKey struct {
	rowKey
	document uuid.UUID
}

// statement is one that is being executed.
type statement struct {
	put     func()
	token   func() // leaves the token and no rows, as a server does that is killed at the wrong moment
	over    bool   // it is in place, or was dropped
	overlap int    // inserts into the same table that were put in place meanwhile
}

// end puts the statement in place, once.
func (s *statement) end() {
	if !s.over {
		s.over = true
		s.put()
	}
}

func newServer(s *sim, window int) *server {
	return &server{
		sim: s, window: window,
		claims: map[Place]uint64{}, before: map[Place][]uint64{}, plans: map[Place][]planned{}, offsets: map[Place]int64{},
		ids: map[Place]string{}, tokens: map[string][]string{}, rows: map[string]map[rowKey]int{}, texts: map[textKey]string{},
		pending: map[string][]*statement{},
	}
}

// restart forgets what a server that restarts may: it reads its claims in no particular order, so an older one may be the last.
func (v *server) restart(pick func(int) int) {
	for _, p := range slices.SortedFunc(maps.Keys(v.claims), comparePlaces) {
		if old := v.before[p]; len(old) > 0 {
			v.claims[p] = old[pick(len(old))]
		}
	}
}

// session is the server as one writer sees it.
type session struct {
	server *server
	actor  *actor
	// wrong is what was broken on purpose, so that the checks can be seen failing.
	wrong string
}

var (
	_ Store = (*session)(nil)

	errNoAnswer = fmt.Errorf("no answer: %w", ErrTransient)
)

// read is a statement that changes nothing.
func (c *session) read(what string, fn func()) error {
	switch c.actor.step(what) {
	case crash:
		return errCrash
	case lose, leave, forget:
		return errNoAnswer
	}
	fn()
	return nil
}

// write is a statement that changes something. The scheduler decides at each of its stages what happens to it and to its client.
func (c *session) write(what string, evaluate func() (*statement, error)) error {
	switch c.actor.step(what) {
	case crash:
		return errCrash
	case lose, leave, forget:
		return errNoAnswer
	}
	st, err := evaluate()
	if err != nil {
		return err
	}
	switch c.actor.step(what + stageExecuting) {
	case crash:
		c.server.sim.outlive(what, st)
		return errCrash
	case leave, lose:
		c.server.sim.outlive(what, st)
		return errNoAnswer
	case forget:
		st.over = true
		st.token()
		return errNoAnswer
	}
	st.end()
	switch c.actor.step(what + stageAnswer) {
	case crash:
		return errCrash
	case lose, leave, forget:
		return errNoAnswer
	}
	return nil
}

func (c *session) Claim(_ context.Context, places []Place, w Writer) error {
	err := c.write("claim", func() (*statement, error) {
		return &statement{put: func() {
			for _, p := range places {
				if old := c.server.claims[p]; old != 0 {
					c.server.before[p] = append(c.server.before[p], old)
				}
				c.server.claims[p] = w.Token
			}
		}}, nil
	})
	if err != nil || c.wrong == "old claims" {
		return err
	}
	return c.read("claim, others forgotten", func() { clear(c.server.before) })
}

func (c *session) fenced(p Place, token uint64) bool {
	if c.server.claims[p] == token || c.wrong == "no fence" {
		return false
	}
	c.server.sim.reach("fenced writer")
	return true
}

func (c *session) Windows(context.Context) (map[string]Window, error) {
	return nil, errors.New("not asked here")
}

func (c *session) Incarnations(context.Context, string) (map[string]string, error) {
	return nil, errors.New("not asked here")
}

func (c *session) Load(_ context.Context, _ string, places []Place) (out map[Place]State, err error) {
	err = c.read("load", func() {
		out = map[Place]State{}
		for _, p := range places {
			s := State{Next: c.server.offsets[p], Incarnation: c.server.ids[p]}
			if plans := c.server.plans[p]; len(plans) > 0 {
				newest := slices.MaxFunc(plans, func(a, b planned) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.at, b.at)) })
				s.Plan = &newest.Range
			}
			switch {
			case s.Plan != nil && s.Plan.Last < s.Next:
				s.Plan = nil
			case s.Plan != nil:
				s.Next = min(s.Next, s.Plan.First)
			}
			out[p] = s
		}
	})
	return out, err
}

func (c *session) Positions(context.Context, string) (bus.Positions, error) {
	return nil, errors.New("not asked here")
}

func (c *session) Present(_ context.Context, p Place, first int64, events []event.Event) (out map[uuid.UUID]bool, err error) {
	err = c.read("look up", func() {
		out = map[uuid.UUID]bool{}
		for _, a := range tables.Anchors(p.Topic) {
			for key := range c.server.rows[a.Table] {
				if key.place == p && key.offset < first {
					out[c.server.sim.logs[p].id(key.offset)] = true
				}
			}
		}
	})
	return out, err
}

func (c *session) Plan(_ context.Context, p Place, w Writer, r Range) error {
	return c.write("plan", func() (*statement, error) {
		if c.fenced(p, w.Token) {
			return nil, ErrFenced
		}
		if c.wrong == "no plan" {
			return &statement{put: func() {}}, nil
		}
		c.server.clock++
		made := planned{r, c.server.clock}
		return &statement{put: func() { c.server.plans[p] = append(c.server.plans[p], made) }}, nil
	})
}

func (c *session) Finish(_ context.Context, p Place, w Writer, next int64) error {
	return c.write("finish", func() (*statement, error) {
		if c.fenced(p, w.Token) {
			return nil, ErrFenced
		}
		return &statement{put: func() {
			c.server.offsets[p] = max(c.server.offsets[p], next)
			c.server.sim.complete(p, c.server.offsets[p])
		}}, nil
	})
}

func (c *session) Insert(_ context.Context, t *tables.Table, token string, rec arrow.Record) error {
	place := Place{text(rec, "kafka_topic", 0), rec.Column(index(rec, "kafka_partition")).(*array.Int32).Value(0)}
	writer := rec.Column(index(rec, "writer")).(*array.Uint64).Value(0)
	offsets := slices.Clone(rec.Column(index(rec, tables.OffsetColumn)).(*array.Int64).Int64Values())
	var ids, texts []string
	if t.Name == tables.DocumentEvents {
		for i := range offsets {
			ids, texts = append(ids, string(rec.Column(index(rec, "document_id")).(*array.FixedSizeBinary).Value(i))), append(texts, text(rec, "text", i))
		}
	}
	return c.write(stepInsert, func() (*statement, error) {
		if c.fenced(place, writer) {
			return nil, ErrFenced
		}
		st := &statement{}
		st.put = func() {
			if !c.server.remember(t.Name, token) && c.wrong != "no token" {
				return
			}
			for i, at := range offsets {
				key := rowKey{place, at}
				c.server.add(t.Name, key)
				if texts != nil {
					c.server.texts[textKey{key, uuid.UUID([]byte(ids[i]))}] = texts[i]
				}
			}
		}
		c.server.pending[t.Name] = append(c.server.pending[t.Name], st)
		st.token = func() { c.server.tokens[t.Name] = append(c.server.tokens[t.Name], token) }
		return st, nil
	})
}

// remember notes a token, unless it is remembered already. An insert is executed while fewer others are put in place than the
// window holds: that is what the window is for. So one that has been overtaken by as many ends first.
func (v *server) remember(table, token string) bool {
	for _, st := range slices.Clone(v.pending[table]) { // ending one changes the list
		if st.over {
			continue
		}
		if st.overlap++; st.overlap >= v.window {
			st.end()
		}
	}
	v.pending[table] = slices.DeleteFunc(v.pending[table], func(st *statement) bool { return st.over })
	if slices.Contains(v.tokens[table], token) {
		v.sim.reach("dedup hit")
		return false
	}
	v.tokens[table] = append(v.tokens[table], token)
	if n := len(v.tokens[table]); n > v.window {
		v.tokens[table] = v.tokens[table][n-v.window:]
		v.sim.reach("token forgotten")
	}
	return true
}

func (v *server) add(table string, key rowKey) {
	if v.rows[table] == nil {
		v.rows[table] = map[rowKey]int{}
	}
	v.rows[table][key]++
	v.sim.added(table, key)
}

func (c *session) Held(_ context.Context, t *tables.Table, p Place, r Range) (out map[int64]bool, err error) {
	err = c.read("held", func() {
		out = map[int64]bool{}
		for key := range c.server.rows[t.Name] {
			if key.place == p && key.offset >= r.First && key.offset <= r.Last && c.wrong != "no look" {
				out[key.offset] = true
			}
		}
		if len(out) > 0 {
			c.server.sim.reach("rows found")
		}
	})
	return out, err
}

func (c *session) Redact(_ context.Context, p Place, withdrawn []Withdrawal) error {
	return c.write("redact", func() (*statement, error) {
		return &statement{put: func() {
			for key := range c.server.texts {
				for _, w := range withdrawn {
					if key.document == w.Document && key.place == p && key.offset < w.Before {
						c.server.texts[key] = ""
					}
				}
			}
		}}, nil
	})
}

func index(rec arrow.Record, column string) int { return rec.Schema().FieldIndices(column)[0] }

func text(rec arrow.Record, column string, row int) string {
	return rec.Column(index(rec, column)).ValueStr(row)
}
