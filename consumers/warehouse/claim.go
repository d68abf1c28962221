package warehouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// claimQueue makes claims one after the other, for those made at the same time get into each other's way; and those that wait
// meanwhile are made together, for each takes the server as long as many do.
type claimQueue struct {
	turn *semaphore.Weighted

	mu      sync.Mutex
	waiting []*queuedClaim
}

type queuedClaim struct {
	places []Place
	token  uint64
	made   bool // by whoever had the turn; err is what came of it
	err    error
}

func newClaimQueue() *claimQueue { return &claimQueue{turn: semaphore.NewWeighted(1)} }

func (q *claimQueue) join(c *queuedClaim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, c)
}

func (q *claimQueue) leave(c *queuedClaim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, c); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

func (q *claimQueue) take() []*queuedClaim {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}

// Claim implements Store. A Join table appends every claim to its files, and some versions of the server read these back in no
// particular order, so the claims that were replaced are taken out: otherwise a restart could let a writer in again that was stopped
// long ago. Whoever claims does nothing before that.
func (c *ClickHouse) Claim(ctx context.Context, places []Place, w Writer) error {
	own := &queuedClaim{places: places, token: w.Token}
	c.claims.join(own)
	if err := c.claims.turn.Acquire(ctx, 1); err != nil {
		c.claims.leave(own)
		return class(fmt.Errorf("wait for other claims: %w", err))
	}
	defer c.claims.turn.Release(1)
	if own.made {
		return own.err
	}
	all := c.claims.take()
	err := c.claimAll(ctx, all)
	for _, q := range all {
		q.made = true
		if err != nil && ctx.Err() != nil && q != own { // it is not the others who gave up
			q.err = fmt.Errorf("%w: the claim was made by another, who stopped: %w", ErrTransient, err)
		} else if err != nil {
			q.err = err
		}
	}
	return own.err
}

// claimAll makes claims, in their order, and notes for each whether it stands.
func (c *ClickHouse) claimAll(ctx context.Context, all []*queuedClaim) error {
	var rows []string
	for _, q := range all {
		for _, p := range q.places {
			rows = append(rows, fmt.Sprintf("(%s, %d)", tables.Quote(tables.ClaimOf(p.Topic, p.Partition)), q.token))
		}
	}
	err := c.exec(ctx, "INSERT INTO %s.%s (place, writer) VALUES %s", c.database, tables.ClaimsTable, strings.Join(rows, ", "))
	if err != nil {
		return collided(err)
	}
	// Any mutation writes the table anew as it is in memory, where each place has its last claim.
	if err := collided(c.exec(ctx, "ALTER TABLE %s.%s DELETE WHERE place = ''", c.database, tables.ClaimsTable)); err != nil {
		return err
	}
	holders, err := c.holders(ctx, all)
	if err != nil {
		return err
	}
	for _, q := range all {
		lost := 0
		for _, p := range q.places {
			if holders[p] != q.token {
				lost++
			}
		}
		if lost > 0 {
			q.err = fmt.Errorf("%w: %d of %d claims were lost to others made at the same time", ErrTransient, lost, len(q.places))
		}
	}
	return nil
}

// holders reads whose the places are. A claim may not have stood: a mutation replaces the table by what it held when the mutation
// began, without the claims that came meanwhile. Mutations run one after the other, so once ours has ended, all that began before
// these claims have, and a claim that is there then stays.
func (c *ClickHouse) holders(ctx context.Context, all []*queuedClaim) (map[Place]uint64, error) {
	var places []Place
	var keys []string
	for _, q := range all {
		for _, p := range q.places {
			places, keys = append(places, p), append(keys, tables.Quote(tables.ClaimOf(p.Topic, p.Partition)))
		}
	}
	var tokens []uint64
	err := c.conn.QueryRow(ctx, fmt.Sprintf("SELECT arrayMap(place -> joinGet('%s.%s', 'writer', place), [%s])",
		c.database, tables.ClaimsTable, strings.Join(keys, ", "))).Scan(&tokens)
	if err == nil && len(tokens) != len(places) {
		err = fmt.Errorf("%d claims were asked for, and the server tells of %d", len(places), len(tokens))
	}
	if err != nil {
		return nil, class(err)
	}
	holders := make(map[Place]uint64, len(places))
	for i, p := range places {
		holders[p] = tokens[i]
	}
	return holders, nil
}

// Codes of errors of the C++ library and of those that are nothing else.
const (
	codeStdException     = 1001
	codeUnknownException = 1002
)

// collided sorts an error of a claim: while a Join table is written anew, the server clears its folder, and another claim that is
// just being written finds its file gone. Claiming again is safe.
func collided(err error) error {
	if code := olap.Code(err); code == codeStdException || code == codeUnknownException {
		return fmt.Errorf("%w: %w", ErrTransient, err)
	}
	return err
}
