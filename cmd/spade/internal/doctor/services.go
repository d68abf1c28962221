package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/topics"
)

// reach is how long a service gets to answer.
const reach = 15 * time.Second

// Kafka looks whether the log can be reached and whether its topics are what the program needs.
func Kafka(cfg bus.Config, partitions int) Check {
	const remedy = "check kafka.brokers and its credentials: spade config print"
	return Check{"kafka", func(ctx context.Context) Finding {
		ctx, cancel := context.WithTimeout(ctx, reach)
		defer cancel()
		client, err := bus.New(cfg, bus.Settings{})
		if err != nil {
			return Bad(remedy, "%v", err)
		}
		err = client.Ready(ctx)
		if err == nil {
			err = client.EnsureTopics(ctx, topics.All(partitions))
		}
		err = errors.Join(err, client.Close())
		if _, mismatch := errors.AsType[*bus.MismatchError](err); mismatch {
			return Bad("change the topics' settings, or use another cluster", "%v", err)
		}
		if err != nil {
			return Bad(remedy, "%s: %v", strings.Join(cfg.Brokers, ", "), err)
		}
		return Good("%s: every topic is there with its settings", strings.Join(cfg.Brokers, ", "))
	}}
}

// oldestClickHouse is the first version with what the warehouse needs, by year and month.
const oldestYear, oldestMonth = 25, 3

// Warehouse looks whether ClickHouse can be reached and is new enough.
func Warehouse(cfg olap.Config) Check {
	const remedy = "check clickhouse.url and its credentials: spade config print"
	return Check{"clickhouse", func(ctx context.Context) (f Finding) {
		ctx, cancel := context.WithTimeout(ctx, reach)
		defer cancel()
		conn, err := olap.Open(cfg)
		if err != nil {
			return Bad(remedy, "%v", err)
		}
		defer func() {
			if err := conn.Close(); err != nil && f.Status == OK {
				f = Bad(remedy, "%v", err)
			}
		}()
		if err := olap.Ready(ctx, conn); err != nil {
			return Bad(remedy, "%s: %v", cfg.URL, err)
		}
		var version string
		if err := conn.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
			return Bad(remedy, "%s: %v", cfg.URL, err)
		}
		if old(version) {
			return Bad("use ClickHouse 25.3 or newer", "%s: ClickHouse %s is too old", cfg.URL, version)
		}
		return Good("%s: ClickHouse %s", cfg.URL, version)
	}}
}

// Vectors looks whether Qdrant can be reached and is of a version that the client speaks.
func Vectors(cfg vector.Config) Check {
	const remedy = "check qdrant.addr and its API key: spade config print"
	return Check{"qdrant", func(ctx context.Context) Finding {
		ctx, cancel := context.WithTimeout(ctx, reach)
		defer cancel()
		client, err := vector.New(cfg, vector.Settings{})
		if err != nil {
			return Bad(remedy, "%v", err)
		}
		if err := errors.Join(client.Ready(ctx), client.Close()); err != nil {
			return Bad(remedy, "%s: %v", cfg.Addr, err)
		}
		return Good("%s: answers, of a version that the client speaks", cfg.Addr)
	}}
}
