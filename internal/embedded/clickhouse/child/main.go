package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/front"
)

// failure is an error with one of the Classes.
type failure struct {
	class string
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errNoSandbox: the process serves unconfined.
var errNoSandbox = errors.New("none: this system has no Landlock")

func fail(class string, err error) error { return &failure{class, err} }

// Main runs the child with the arguments behind Command, and returns its exit status.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdin, stdout, stderr)
	if err == nil {
		return 0
	}
	ready := Ready{Error: err.Error()}
	var f *failure
	if errors.As(err, &f) {
		ready.Class = f.class
	}
	_ = json.NewEncoder(stdout).Encode(ready)
	return 1
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o, err := parseArgs(args, stderr)
	if err != nil {
		return err
	}
	dirs := o.layout()
	if o.confined == "" {
		unlock, err := lockFolder(o.dir)
		if err != nil {
			return fail(ClassLocked, err)
		}
		if err := dirs.make(); err != nil {
			return fail(ClassFolder, err)
		}
		unlock()
		// On success this does not return: the process begins again, confined.
		err = confine(o, args)
		if !errors.Is(err, errNoSandbox) {
			return fmt.Errorf("confine the process: %w", err)
		}
		o.confined = err.Error()
	}
	unlock, err := lockFolder(o.dir)
	if err != nil {
		return fail(ClassLocked, err)
	}
	defer unlock()
	if err := os.Chdir(dirs.cwd); err != nil {
		return fail(ClassFolder, err)
	}
	in := bufio.NewReader(stdin)
	setup, err := readSetup(in)
	if err != nil {
		return err
	}
	ctx, stop := untilClosed(ctx, in)
	defer stop()
	return serve(ctx, o, setup, stdout, stderr)
}

// untilClosed gives a context that ends when in does: the parent is gone or wants an end. The goroutine that waits
// for it ends with the process.
func untilClosed(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx, cancel
}

func serve(ctx context.Context, o options, setup Setup, stdout, stderr io.Writer) (err error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fail(ClassAddress, err)
	}
	defer listener.Close() //nolint:errcheck // closed by the server as well

	lib, err := engine.Load(o.lib)
	if err != nil {
		return fail(ClassLibrary, err)
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	eng, err := open(lib, o, setup, logger)
	if err != nil {
		return fail(ClassFolder, err)
	}
	defer eng.Close()

	room := newRoom(o.dir, logger)
	ctx, end := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { room.watch(ctx, end) })
	defer func() { end(nil); watching.Wait() }()

	ready := &Ready{Addr: listener.Addr().String(), Library: lib.Version(), Sandbox: o.confined}
	handler, err := front.New(front.Config{
		Engine: eng, TempDir: o.layout().tmp, Users: setup.Users, Database: setup.Database, Limits: setup.Limits,
		Health: ready, Logger: logger, Room: room.check,
	})
	if err != nil {
		return err
	}
	ready.Version = handler.Version()
	if err := json.NewEncoder(stdout).Encode(ready); err != nil {
		return fmt.Errorf("tell the parent: %w", err)
	}
	err = listen(ctx, listener, handler)
	if errors.Is(context.Cause(ctx), errRoom) {
		logger.Warn("there is room on the disk again: the engine starts anew, without what a full disk broke")
	}
	return err
}

// open boots the engine and makes the database in which statements run.
func open(lib *engine.Library, o options, setup Setup, logger *slog.Logger) (*engine.Engine, error) {
	serverOptions := map[string]string{}
	if setup.Memory > 0 {
		serverOptions["max_server_memory_usage"] = fmt.Sprint(setup.Memory)
	}
	defs := newDefinitions(o.layout())
	mended, err := defs.mend()
	if err != nil {
		return nil, err
	}
	if len(mended.dropped)+len(mended.restored) > 0 {
		logger.Warn("definitions that a full disk left empty are dropped, or restored where they have data",
			"dropped", mended.dropped, "restored", mended.restored)
	}
	forgotten, err := forgetLostTokens(o.layout().data)
	if err != nil {
		return nil, err
	}
	if forgotten > 0 {
		logger.Warn("inserts that a crash cut short may be repeated: their deduplication tokens are taken back", "tokens", forgotten)
	}
	eng, err := engine.Open(lib, o.layout().data, serverOptions)
	if err != nil {
		return nil, err
	}
	conn, err := eng.Connect("", nil)
	if err == nil {
		defer conn.Close()
		if setup.Database != "" {
			_, _, err = conn.Exec("CREATE DATABASE IF NOT EXISTS "+engine.QuoteIdentifier(setup.Database), "Null")
		}
	}
	if err != nil {
		eng.Close()
		return nil, fmt.Errorf("make the database: %w", err)
	}
	if err := defs.keep(); err != nil {
		logger.Warn("the definitions are not copied", "error", err)
	}
	return eng, nil
}

// listen serves until ctx ends, then lets what runs stop: each request's statement is stopped by its context.
func listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	const patience = 3 * time.Second
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if server.Shutdown(grace) == nil {
		<-ended
		return nil
	}
	cancelRequests()
	hard, cancelHard := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancelHard()
	err := server.Shutdown(hard)
	<-ended
	if err != nil {
		return fmt.Errorf("statements would not stop: %w", err)
	}
	return nil
}
