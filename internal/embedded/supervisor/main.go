package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// Command is the argument that makes the program a supervisor.
const Command = "__supervisor"

// DefaultLinger is how long a supervisor waits for another lease.
const DefaultLinger = 3 * time.Second

// Options are what a client passes on the command line. Nothing secret is
// among them: others can read command lines.
type Options struct {
	Data       string
	Linger     time.Duration
	SyncWrites bool
	Library    string // of ClickHouse; empty: found
	Cache      string // where Library is looked for
	// Addresses that a service must have, by name; others keep the port they had.
	Addresses map[string]string
	// Detach makes the process start another one in its own session, and end.
	Detach bool
}

// Args is the command line for the options.
func (o Options) Args() []string {
	args := []string{
		"--data", o.Data, "--linger", o.Linger.String(), fmt.Sprintf("--sync-writes=%t", o.SyncWrites),
		"--library", o.Library, "--cache", o.Cache,
	}
	for _, name := range serviceNames() {
		if addr := o.Addresses[name]; addr != "" {
			args = append(args, "--"+name, addr)
		}
	}
	if o.Detach {
		args = append(args, "--detach")
	}
	return args
}

func parse(args []string, stderr io.Writer) (Options, error) {
	o := Options{Addresses: map[string]string{}}
	fs := flag.NewFlagSet(Command, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.Data, "data", "", "data folder")
	fs.DurationVar(&o.Linger, "linger", DefaultLinger, "how long to wait for another lease")
	fs.BoolVar(&o.SyncWrites, "sync-writes", false, "fsync every batch of the log")
	fs.StringVar(&o.Library, "library", "", "path of libchdb")
	fs.StringVar(&o.Cache, "cache", "", "where libchdb is installed")
	fs.BoolVar(&o.Detach, "detach", false, "run in a session of its own")
	for _, name := range serviceNames() {
		fs.Func(name, "address of "+name, func(v string) error { o.Addresses[name] = v; return nil })
	}
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.Data == "" {
		return o, errors.New("no data folder given")
	}
	return o, nil
}

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

// Main runs a supervisor until nobody wants it any more. It prints one line, a
// wire.Report, when clients can reach it or when it cannot begin.
func Main(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		report(stdout, wire.Report{Error: err.Error()})
		return exitUsage
	}
	if o.Detach {
		return detach(o, args, stdout, stderr)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailed
	}
	return 0
}

// run is the supervisor's life.
func run(ctx context.Context, o Options, stdout io.Writer) (err error) {
	folder, err := datadir.At(o.Data)
	if err != nil {
		return refuse(stdout, err)
	}
	if err := folder.Prepare(); err != nil {
		return refuse(stdout, err)
	}
	lock, err := folder.Lock()
	if err != nil {
		return refuse(stdout, err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	secrets, err := folder.Secrets()
	if err != nil {
		return refuse(stdout, err)
	}
	logFile, err := folder.OpenLog("supervisor.log")
	if err != nil {
		return refuse(stdout, err)
	}
	defer func() { err = errors.Join(err, logFile.Close()) }()
	log := slog.New(slog.NewTextHandler(logFile, nil)).With("pid", os.Getpid())
	ln, err := wire.Listen(folder.Path())
	if err != nil {
		return refuse(stdout, err)
	}
	s := newSupervisor(o, folder, secrets, log)
	contact := datadir.Contact{Socket: ln.Addr().String(), PID: os.Getpid(), Host: hostname()}
	if err := folder.SetContact(contact); err != nil {
		return errors.Join(refuse(stdout, err), ln.Close())
	}
	log.Info("supervisor started", "data", folder.Path(), "socket", contact.Socket)
	report(stdout, wire.Report{Socket: contact.Socket, PID: contact.PID})
	closeReport(stdout)
	s.serve(ctx, ln)
	err = folder.ClearContact()
	log.Info("supervisor ended")
	return err
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// refuse reports why there is no supervisor.
func refuse(stdout io.Writer, err error) error {
	report(stdout, wire.Report{Class: classOf(err), Error: err.Error()})
	return err
}

func report(stdout io.Writer, r wire.Report) {
	r.PID = os.Getpid()
	// A client that has gone no longer reads; the supervisor goes on without it.
	_ = json.NewEncoder(stdout).Encode(r)
}

// closeReport lets the client see the end of the report: the supervisor has
// nothing more to say there.
func closeReport(stdout io.Writer) {
	if f, ok := stdout.(*os.File); ok {
		_ = f.Close() // nothing depends on it
	}
}

// Classes of refusal that cross the process boundary by name.
func classes() map[string]error {
	return map[string]error{
		"locked": datadir.ErrLocked, "format": datadir.ErrFormat, "half-written": datadir.ErrHalfWritten, "disk-full": datadir.ErrDiskFull,
	}
}

func classOf(err error) string {
	for name, class := range classes() {
		if errors.Is(err, class) {
			return name
		}
	}
	return ""
}

// ReportError is the error that a report carries, of its class.
func ReportError(r wire.Report) error {
	if class, ok := classes()[r.Class]; ok {
		return &refusal{class: class, text: r.Error}
	}
	return errors.New(r.Error)
}

// refusal is an error of another process: its text and its class.
type refusal struct {
	class error
	text  string
}

// Error is the text that the other process gave.
func (r *refusal) Error() string { return r.text }

// Unwrap is the class.
func (r *refusal) Unwrap() error { return r.class }
