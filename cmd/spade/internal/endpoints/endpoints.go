package endpoints

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/internal/bus/busconfig"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
)

// Settings is what code passes.
type Settings struct {
	Logger   *slog.Logger // nil drops what is logged
	Purpose  string       // the command, for the supervisor's log
	Services []embedded.Service
	Linger   time.Duration // how long embedded services outlive the command; 0 = a few seconds
	Command  []string      // starts the supervisor; nil = this program
	Existing bool          // a data folder that somebody named is not made: who only reads has nothing to read in a new one
}

// Services is where the services are.
type Services struct {
	At app.Endpoints
	// Reader is the warehouse as a person's SQL reaches it: by the user who may only read, where there is one.
	Reader olap.Config
	// ReaderLimits go with a person's SQL where the server has no such user. Nil: it has.
	ReaderLimits *sqlguard.Limits
	Lease        *embedded.Lease
	Endpoints    embedded.Endpoints
}

// Connect finds the services that set asks for, all where it asks for none, and waits until they can be used. Close gives
// them up.
func Connect(ctx context.Context, l config.Loaded, set Settings) (*Services, error) {
	s, err := Open(ctx, l, set)
	if err != nil {
		return nil, err
	}
	if err := s.Wait(ctx, set.Services...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Open is Connect without the wait.
func Open(ctx context.Context, l config.Loaded, set Settings) (*Services, error) {
	if set.Logger != nil {
		for _, told := range l.InPlainText() {
			set.Logger.Warn(told)
		}
	}
	if !allExternal(l.Config, set.Services) {
		err := exists(l)
		if err != nil && set.Existing && l.Origin("data") != config.OriginDefault {
			return nil, err
		}
		if err != nil && set.Logger != nil {
			set.Logger.Info("services of its own begin in a new data folder", "reason", err)
		}
	}
	lease, err := embedded.Connect(ctx, leaseConfig(l.Config, set), embedded.Settings{
		Logger: set.Logger, Purpose: set.Purpose, Services: set.Services, Command: set.Command,
	})
	if err != nil {
		return nil, orFolder(l, err)
	}
	return &Services{Lease: lease}, nil
}

// Wait waits until the services can be used, all that were asked for when none is named, and learns where they are.
func (s *Services) Wait(ctx context.Context, services ...embedded.Service) error {
	e, err := s.Lease.Wait(ctx, services...)
	if err != nil {
		return err
	}
	s.fill(e)
	return nil
}

// Close gives the services up; embedded ones end when nobody else needs them.
func (s *Services) Close() error { return s.Lease.Close() }

func (s *Services) fill(e embedded.Endpoints) {
	s.Endpoints = e
	s.At = app.Endpoints{
		Kafka: e.Kafka,
		ClickHouse: olap.Config{
			URL: e.ClickHouse.URL, User: e.ClickHouse.User, Password: e.ClickHouse.Password, CAFile: e.ClickHouse.CAFile,
		},
		Qdrant: vector.Config{Addr: e.Qdrant.Addr, APIKey: e.Qdrant.APIKey, TLS: e.Qdrant.TLS, CAFile: e.Qdrant.CAFile},
	}
	s.Reader = s.At.ClickHouse
	s.Reader.Database = clickhouse.DefaultDatabase
	s.ReaderLimits = nil
	if e.ClickHouse.Reader.IsZero() {
		s.ReaderLimits = &sqlguard.Limits{}
	} else {
		s.Reader.User, s.Reader.Password = clickhouse.Reader, e.ClickHouse.Reader
	}
}

func leaseConfig(c config.Config, set Settings) embedded.Config {
	return embedded.Config{
		Dir: c.Data, External: external(c), SyncWrites: c.Kafka.Fsync, Linger: set.Linger, Library: c.Libchdb, Cache: c.Cache,
	}
}

// external are the services whose addresses the configuration names.
func external(c config.Config) embedded.Endpoints {
	var e embedded.Endpoints
	e.Kafka = busconfig.From(c.Kafka)
	if c.ClickHouse.URL != "" {
		e.ClickHouse = embedded.ClickHouseEndpoint{
			URL: c.ClickHouse.URL, User: c.ClickHouse.User, Password: c.ClickHouse.Password, CAFile: c.ClickHouse.CA,
		}
	}
	if c.Qdrant.Addr != "" {
		e.Qdrant = embedded.QdrantEndpoint{Addr: c.Qdrant.Addr, APIKey: c.Qdrant.APIKey, TLS: c.Qdrant.TLS, CAFile: c.Qdrant.CA}
	}
	return e
}

// AllExternal reports whether the configuration names every service, so that nothing embedded is needed.
func AllExternal(c config.Config) bool { return allExternal(c, nil) }

// allExternal is AllExternal of some services; none are all of them.
func allExternal(c config.Config, services []embedded.Service) bool {
	named := map[embedded.Service]bool{
		embedded.Kafka: len(c.Kafka.Brokers) > 0, embedded.ClickHouse: c.ClickHouse.URL != "", embedded.Qdrant: c.Qdrant.Addr != "",
	}
	if len(services) == 0 {
		services = slices.Collect(maps.Keys(named))
	}
	return !slices.ContainsFunc(services, func(s embedded.Service) bool { return !named[s] })
}
