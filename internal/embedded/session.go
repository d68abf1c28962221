package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// session is one connection to a supervisor.
type session struct {
	conn  *net.UnixConn
	lines *bufio.Scanner
	first wire.State
}

// errNoSupervisor: nobody answers; one has to be started.
var errNoSupervisor = errors.New("no supervisor answers")

// unreachableAfter is how long a folder may be locked by a supervisor that
// cannot be reached. One that is ending needs some seconds.
const unreachableAfter = 15 * time.Second

// maxLaunches is how many supervisors are started for one lease: one may end
// before it is reached, more than a few do not by chance.
const maxLaunches = 3

// open connects to the folder's supervisor, starting one where none answers.
// Two clients may do so at once: the lock lets one of the supervisors live, and
// both clients find it.
func (l *Lease) open(ctx context.Context) (*session, error) {
	folder, err := datadir.At(l.cfg.Dir)
	if err != nil {
		return nil, err
	}
	began, launched := time.Now(), 0
	var locked error // the last answer that the folder is in use
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		s, err := l.join(ctx, folder)
		if err == nil || !errors.Is(err, errNoSupervisor) {
			return s, afterLock(ctx, locked, err)
		}
		unreachable := err
		err = l.launch(ctx)
		switch {
		case err == nil:
			if launched++; launched > maxLaunches {
				return nil, fmt.Errorf("start the embedded services: %d supervisors were started and none can be reached (%s has their logs): %w",
					launched, folder.Logs(), unreachable)
			}
			continue
		case !errors.Is(err, ErrLocked), time.Since(began) > unreachableAfter:
			return nil, fmt.Errorf("start the embedded services: %w", afterLock(ctx, locked, err))
		}
		locked = err
		if ended := wait(ctx, pause); ended != nil {
			return nil, fmt.Errorf("start the embedded services: %w: %w", err, ended)
		}
	}
}

// afterLock is an error with what was waited for before, where that is why there
// was no time left.
func afterLock(ctx context.Context, locked, err error) error {
	if err == nil || locked == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", locked, err)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join opens a lease with the supervisor that the folder names.
func (l *Lease) join(ctx context.Context, folder datadir.Folder) (*session, error) {
	contact, err := folder.Contact()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSupervisor
	}
	if err != nil {
		return nil, fmt.Errorf("find the supervisor: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", contact.Socket)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connect to the supervisor: %w", ctx.Err())
		}
		return nil, fmt.Errorf("%w: %w", errNoSupervisor, err)
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("the supervisor's socket is no unix socket"), conn.Close())
	}
	s := &session{conn: uc, lines: bufio.NewScanner(uc)}
	defer context.AfterFunc(ctx, s.close)()
	if err := s.greet(l); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// greet asks for the lease.
func (s *session) greet(l *Lease) error {
	if err := wire.CheckPeer(s.conn, os.Getuid()); err != nil {
		return err
	}
	hello := wire.Hello{Version: wire.Version, PID: os.Getpid(), Lease: l.id, Purpose: l.set.Purpose, Services: names(l.services)}
	b, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if _, err := s.conn.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errNoSupervisor, err)
	}
	// One that is just ending closes the connection instead.
	if s.first, err = s.next(); err != nil {
		return fmt.Errorf("%w: %w", errNoSupervisor, err)
	}
	if s.first.Refused != "" {
		return errors.New(s.first.Refused)
	}
	return nil
}

// next reads a state.
func (s *session) next() (wire.State, error) {
	var st wire.State
	if !s.lines.Scan() {
		return st, errors.Join(errors.New("the supervisor hung up"), s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), &st); err != nil {
		return st, fmt.Errorf("the supervisor said something else: %w", err)
	}
	return st, nil
}

func (s *session) close() { _ = s.conn.Close() } // closing again is no harm
