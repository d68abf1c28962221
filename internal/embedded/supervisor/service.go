package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/embedded/qdrant"
)

// service is one embedded server: it starts once and ends once.
type service interface {
	Start(ctx context.Context) error
	Addr() string
	Shutdown(ctx context.Context) error
	// Done is closed when the server has ended, by itself or by Shutdown.
	Done() <-chan struct{}
}

var (
	_ service = (*kafka.Server)(nil)
	_ service = (*clickhouse.Server)(nil)
	_ service = inProcess{}
)

// inProcess is a server that cannot end by itself.
type inProcess struct{ *qdrant.Server }

// Done never ends.
func (inProcess) Done() <-chan struct{} { return nil }

func serviceNames() []string { return []string{datadir.Kafka, datadir.ClickHouse, datadir.Qdrant} }

// factory makes the servers of a folder.
type factory struct {
	o       Options
	folder  datadir.Folder
	secrets datadir.Secrets
	log     *slog.Logger
}

// make returns a server that will listen on addr, where port 0 is a free one.
func (f factory) make(name, addr string) (service, error) {
	dir, log := f.folder.Sub(name), f.log.With("service", name)
	switch name {
	case datadir.Kafka:
		return kafka.New(kafka.Config{
			Dir: dir, Addr: addr, User: datadir.User, Password: f.secrets.Kafka, SyncWrites: f.o.SyncWrites,
		}, kafka.Settings{Logger: log})
	case datadir.ClickHouse:
		return clickhouse.New(clickhouse.Config{
			Dir: dir, Addr: addr, User: datadir.User, Password: f.secrets.ClickHouse, ReaderPassword: f.secrets.Reader,
			Library: chdblib.Config{Path: f.o.Library, CacheDir: f.o.Cache},
		}, clickhouse.Settings{Logger: log})
	case datadir.Qdrant:
		s, err := qdrant.New(qdrant.Config{Dir: dir, Addr: addr, APIKey: f.secrets.Qdrant}, qdrant.Settings{Logger: log})
		return inProcess{s}, err
	default:
		return nil, fmt.Errorf("there is no service %q", name)
	}
}

// portTaken reports that another process listens on the address.
func portTaken(err error) bool {
	var taken *kafka.PortTakenError
	return errors.As(err, &taken) || errors.Is(err, clickhouse.ErrAddress) || errors.Is(err, syscall.EADDRINUSE)
}

// hopeless reports that starting again would fail in the same way.
func hopeless(err error) bool {
	for _, class := range []error{
		chdblib.ErrMissing, chdblib.ErrUnsupported, clickhouse.ErrLibrary, clickhouse.ErrFolder, kafka.ErrDamaged,
		syscall.ENOSPC, syscall.EACCES, syscall.EROFS,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}
