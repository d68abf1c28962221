package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/supervisor"
)

// Service is the name of a service.
type Service string

// The services.
const (
	Kafka      Service = datadir.Kafka
	ClickHouse Service = datadir.ClickHouse
	Qdrant     Service = datadir.Qdrant
)

// All services, in the order in which a command needs them.
func All() []Service { return []Service{Kafka, Qdrant, ClickHouse} }

// Config is what a user writes.
type Config struct {
	// Dir is the data folder. Required where any service is embedded.
	Dir string
	// External are the services that run elsewhere: one that is named there is
	// used as it is, the others are embedded.
	External Endpoints
	// Linger is how long the embedded servers wait for another command.
	// Default 3 s. It counts for the command that starts them.
	Linger time.Duration
	// SyncWrites makes the embedded Kafka call fsync after every batch.
	SyncWrites bool
	// Library is the path of libchdb, Cache the folder it is installed in. Empty
	// means that they are looked for.
	Library, Cache string
	// Addresses are loopback addresses that embedded services must have. Others
	// have a free port, and keep it from start to start where they can.
	Addresses map[Service]string
}

// Settings is what the code passes.
type Settings struct {
	// Logger receives changes of state. Nil drops them.
	Logger *slog.Logger
	// Purpose names the command in the supervisor's log.
	Purpose string
	// Services that the command may need; nil means all. Only these are started.
	Services []Service
	// Command begins the argument list of the supervisor. Nil: this executable
	// with supervisor.Command.
	Command []string
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Dir == "" && len(c.embedded(All())) > 0 {
		errs = append(errs, errors.New("embedded services: no data folder given"))
	}
	if c.Linger < 0 {
		errs = append(errs, fmt.Errorf("embedded services: linger of %s is negative", c.Linger))
	}
	for s := range c.Addresses {
		if !slices.Contains(All(), s) {
			errs = append(errs, fmt.Errorf("embedded services: there is no service %q", s))
		}
	}
	return errors.Join(errs...)
}

// embedded are those of the services that do not run elsewhere.
func (c Config) embedded(services []Service) []Service {
	var out []Service
	for _, s := range services {
		if !c.External.has(s) {
			out = append(out, s)
		}
	}
	return out
}

func (c Config) options() supervisor.Options {
	o := supervisor.Options{
		Data: c.Dir, Linger: c.Linger, SyncWrites: c.SyncWrites, Library: c.Library, Cache: c.Cache,
		Addresses: map[string]string{}, Detach: true,
	}
	if o.Linger == 0 {
		o.Linger = supervisor.DefaultLinger
	}
	for s, addr := range c.Addresses {
		o.Addresses[string(s)] = addr
	}
	return o
}
