package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/checkpoints"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/telemetry"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Endpoints says where the three services are and how to log in. A process that does not need the warehouse or the vector
// store leaves its address empty.
type Endpoints struct {
	Kafka      bus.Config
	ClickHouse olap.Config
	Qdrant     vector.Config
}

// Services is the connections of one process and the projections that it keeps up. Close ends them.
type Services struct {
	Config   config.Config
	Bus      *bus.Client
	Vectors  *vector.Client
	Embedder embedding.Embedder
	Pool     *gym.Pool
	Log      *slog.Logger

	told        *telemetry.Process // nil: nobody watches
	sandbox     gym.Meter          // of all pools
	memory      *recall
	warehouse   olap.Conn
	sink        *warehouse.Sink
	checkpoints checkpoints.Store // nil: every checkpoint must fit into its event
	deployment  string            // the deployment half of the configuration, for the record of a run
	tier        string            // the sandbox tier that environments run in, for the record of a run

	sinks        *errgroup.Group
	stopSinks    context.CancelFunc
	sinksContext context.Context //nolint:containedctx // ends when a sink fails or all are stopped
}

// Open connects to the log and makes sure of its topics. The projections start with StartSinks.
func Open(ctx context.Context, l config.Loaded, at Endpoints, log *slog.Logger) (*Services, error) {
	deployment, err := l.DeploymentJSON()
	if err != nil {
		return nil, err
	}
	s := &Services{Config: l.Config, Log: log, deployment: deployment}
	if err := s.open(ctx, at); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Services) open(ctx context.Context, at Endpoints) (err error) {
	settings := bus.Settings{Logger: s.Log, DeadLetter: s.keepUndecodable}
	if at.ClickHouse.URL != "" {
		settings.Letters = keepsLetters
	}
	if s.Bus, err = bus.New(at.Kafka, settings); err != nil {
		return err
	}
	if err = Answers(ctx, s.Log, "kafka", s.Bus.Ready); err != nil {
		return err
	}
	if err = s.Bus.EnsureTopics(ctx, topics.All(s.Config.Partitions)); err != nil {
		return err
	}
	if s.Embedder, err = newEmbedder(s.Config.Embeddings); err != nil {
		return err
	}
	if at.Qdrant.Addr != "" {
		if s.Vectors, err = vector.New(at.Qdrant, vector.Settings{Logger: s.Log}); err != nil {
			return err
		}
	}
	if at.ClickHouse.URL != "" {
		if s.warehouse, err = olap.Open(at.ClickHouse); err != nil {
			return err
		}
	}
	if s.Config.Checkpoints != "" {
		at := s.Config.S3
		s.checkpoints, err = checkpoints.Open(s.Config.Checkpoints, checkpoints.S3{
			Endpoint: at.Endpoint, Region: at.Region, AccessKey: at.AccessKey, SecretKey: at.SecretKey,
		})
	}
	return err
}

// A service that somebody waits for gets reach to answer, and after quiet they are told that it has not. Later the clients wait as
// long as it takes.
const (
	reach = 30 * time.Second
	quiet = 2 * time.Second
)

// Answers waits until ready says that a service can be used. An address that was configured may be nobody's.
func Answers(ctx context.Context, log *slog.Logger, service string, ready func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	told := time.AfterFunc(quiet, func() { log.Warn("a service does not answer, waiting for it", "service", service, "at_most", reach) })
	defer told.Stop()
	return ready(waiting)
}

// keepsLetters reports whether a group writes the dead letters of records that are no events: those of the warehouse do, which read
// everything. The groups of each run would only repeat them.
func keepsLetters(group string) bool {
	return group == warehouse.Group || strings.HasPrefix(group, warehouse.Group+".")
}

// keepUndecodable keeps a record that is no event. Where no warehouse is configured several groups do; the letter has the same id
// from each of them.
func (s *Services) keepUndecodable(ctx context.Context, r event.Record, reason error) error {
	return s.poison("bus").Record(ctx, r, reason)
}

// cachedVectors is how many vectors of the built-in embedder are remembered: the designs of an iteration and the documents
// that they are grounded in are asked for again and again.
const cachedVectors = 4096

// newEmbedder is the endpoint that was configured, or the built-in one.
func newEmbedder(cfg config.Embeddings) (embedding.Embedder, error) {
	if cfg.URL == "" {
		return embedding.NewCached(embedding.NewBuiltin(), cachedVectors), nil
	}
	return embedding.NewEndpoint(embedding.EndpointConfig{
		URL: cfg.URL, Key: cfg.Key, Model: cfg.Model, Dim: cfg.Dim,
	})
}

// parallelism is how many environments are worked on at once.
func (s *Services) parallelism() int {
	if s.Config.Workers > 0 {
		return s.Config.Workers
	}
	return runtime.NumCPU()
}

// awaitWarehouse waits until the warehouse holds everything that is in the log now.
func (s *Services) awaitWarehouse(ctx context.Context) error {
	end, err := ends(ctx, s.Bus, allTopics(s.Config.Partitions))
	if err != nil {
		return fmt.Errorf("find the end of the log: %w", err)
	}
	// A sink that fails would be waited for for ever.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.sinksContext, cancel)()
	if err := s.sink.WaitFor(ctx, end); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	return nil
}

// closeTimeout bounds what closing may take. The projections end by themselves within the bus's StopTimeout.
const closeTimeout = 10 * time.Second

// Close drains the projections and ends every connection.
func (s *Services) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var errs []error
	s.told.Unwatch()
	if s.sinks != nil {
		s.stopSinks()
		errs = append(errs, s.sinks.Wait())
	}
	if s.Pool != nil {
		errs = append(errs, s.Pool.Shutdown(ctx))
	}
	if s.Bus != nil {
		errs = append(errs, s.Bus.Close())
	}
	if s.Vectors != nil {
		errs = append(errs, s.Vectors.Close())
	}
	if s.warehouse != nil {
		errs = append(errs, s.warehouse.Close())
	}
	return errors.Join(errs...)
}
