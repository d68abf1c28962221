package warehouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Windows implements Store. A setting of the table comes before the server's; which one counts depends on the engine, which on
// a server of the user's own may be a replicated one.
func (c *ClickHouse) Windows(ctx context.Context) (map[string]Window, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT name, engine, engine_full FROM system.tables WHERE database = %s AND engine LIKE '%%MergeTree'", tables.Quote(c.database)))
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	server, err := c.windowSettings(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]Window{}
	for rows.Next() {
		var name, engine, full string
		if err := rows.Scan(&name, &engine, &full); err != nil {
			return nil, class(err)
		}
		out[name] = windowOf(engine, full, server)
	}
	return out, class(rows.Err())
}

// pins are settings of an insert that only newer servers know, and refuse where they do not.
type pins struct {
	conn olap.Conn

	mu   sync.Mutex // guards the following
	text *string    // nil: not asked yet
}

// newer returns them as a statement has them. deduplicate_insert, of a user's profile, would otherwise overrule
// insert_deduplicate.
func (p *pins) newer(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text != nil {
		return *p.text, nil
	}
	var known uint64
	err := p.conn.QueryRow(ctx, "SELECT count() FROM system.settings WHERE name = 'deduplicate_insert'").Scan(&known)
	if err != nil {
		return "", class(err)
	}
	text := ""
	if known > 0 {
		text = ", deduplicate_insert = 'enable'"
	}
	p.text = &text
	return text, nil
}

// windowSettings reads the server's own values, by name. They are the same for replicated tables unless its configuration has a
// section for these.
func (c *ClickHouse) windowSettings(ctx context.Context) (map[string]int64, error) {
	rows, err := c.conn.Query(ctx, "SELECT name, value FROM system.merge_tree_settings WHERE name LIKE '%deduplication_window%'")
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := map[string]int64{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, class(err)
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			out[name] = n
		}
	}
	return out, class(rows.Err())
}

var tableSetting = regexp.MustCompile(`\b(\w*deduplication_window\w*) = (\d+)`)

func windowOf(engine, full string, server map[string]int64) Window {
	value := func(name string) int64 {
		for _, m := range tableSetting.FindAllStringSubmatch(full, -1) {
			if n, err := strconv.ParseInt(m[2], 10, 64); m[1] == name && err == nil {
				return n
			}
		}
		return server[name]
	}
	if strings.HasPrefix(engine, "Replicated") || strings.HasPrefix(engine, "Shared") {
		return Window{
			Blocks: value("replicated_deduplication_window"),
			Age:    time.Duration(value("replicated_deduplication_window_seconds")) * time.Second,
		}
	}
	return Window{Blocks: value("non_replicated_deduplication_window")}
}

// checkWindows refuses a warehouse that recognises no block by its token. A repeated range is compared with what the tables hold,
// so a window only has to reach over inserts that were being executed when their writer lost its answer or its claim. Without
// one these would be doubled.
func (s *Sink) checkWindows(ctx context.Context) error {
	windows, err := s.set.Store.Windows(ctx)
	if err != nil {
		return fmt.Errorf("warehouse: read deduplication windows: %w", err)
	}
	var errs []error
	for _, t := range s.catalogue.Tables {
		if t.Bookkeeping {
			continue
		}
		w, ok := windows[t.Name]
		switch {
		case !ok || w.Blocks == 0:
			errs = append(errs, noWindow(t.Name))
		case w.Blocks < fewBlocks || (w.Age > 0 && w.Age < 2*s.cfg.StatementTimeout):
			s.log.Warn("warehouse table recognises repeated blocks for a short time only", "table", t.Name, "blocks", w.Blocks, "age", w.Age)
		}
	}
	return errors.Join(errs...)
}

// fewBlocks is how many inserts into one table may well be executed while another one is.
const fewBlocks = 100
