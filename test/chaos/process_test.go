//go:build linux

package chaos

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// slot is a place that one process of a role fills. Its keeper starts another process whenever one ends.
type slot struct {
	place
	w       *world
	name    string // role and number
	args    []string
	links   *links // nil: the process holds a lease on the data folder
	metrics string // where it tells its metrics; empty: it does not
	policy  string // where it answers as a policy worker; empty: it is none

	done chan struct{} // closed when the keeper has ended

	mu      sync.Mutex // guards the following
	process *os.Process
	starts  int
	soon    int  // processes in a row that ended soon after they began
	leaving bool // no other process is to be started
	started time.Time
}

// start begins to keep a process in the slot.
func (s *slot) start() {
	s.done = make(chan struct{})
	go s.keep()
}

// restartDelay is what a process manager waits before it starts a process that ended again.
const restartDelay = 200 * time.Millisecond

func (s *slot) keep() {
	// A child is killed when the thread that started it ends, so that nothing survives this test.
	runtime.LockOSThread()
	defer close(s.done)
	for {
		cmd, output, err := s.launch()
		if err != nil {
			s.w.problem("%s cannot be started: %v", s.name, err)
			return
		}
		if cmd == nil {
			return
		}
		err = cmd.Wait()
		_ = output.Close() // it is for people to read
		s.ended(cmd, err)
		s.mu.Lock()
		s.process = nil
		leaving := s.leaving
		s.mu.Unlock()
		if leaving {
			return
		}
		time.Sleep(s.delay())
	}
}

// delay grows while processes end soon after they began.
func (s *slot) delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.started) > 5*time.Second {
		s.soon = 0
	}
	s.soon++
	return min(restartDelay*time.Duration(s.soon), 2*time.Second)
}

// launch starts a process, unless the slot is to be empty.
func (s *slot) launch() (*exec.Cmd, *os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return nil, nil, nil
	}
	output, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	s.starts++
	fmt.Fprintf(output, "-- start %d of %s\n", s.starts, s.name)
	cmd := exec.Command(s.w.bin, s.args...)
	cmd.Env = s.environ()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	s.process, s.started = cmd.Process, time.Now()
	return cmd, output, nil
}

func (s *slot) environ() []string {
	env := s.w.servers.external()
	if s.links != nil {
		env = s.links.env(s.w.servers)
	}
	return append(env, "SPADE_POLICY_TOKEN="+s.w.nonce)
}

func (s *slot) logFile() string { return filepath.Join(s.w.dir, s.name+".log") }

// exitUsage is the program's status for a wrong command line, and Go's for a panic.
const exitUsage = 2

// ended notes how a process ended. One that was killed, or that failed because of what was done to its servers, is replaced;
// a panic is never explained.
func (s *slot) ended(cmd *exec.Cmd, err error) {
	code := cmd.ProcessState.ExitCode()
	s.mu.Lock()
	leaving := s.leaving
	s.mu.Unlock()
	switch {
	case code == exitUsage:
		s.w.problem("%s ended with %v:\n%s", s.name, err, s.tail())
	case leaving && code != 0 && code != -1 && !bytes.Contains(s.tail(), []byte("interrupted")):
		s.w.problem("%s was asked to end and ended with %v:\n%s", s.name, err, s.tail())
	case code == 1:
		s.w.log.add("%s ended with an error and is started again: %s", s.name, lastLine(s.tail()))
	case !leaving && code == 0:
		s.w.problem("%s ended as if all was well, and nobody had asked it to:\n%s", s.name, s.tail())
	case !leaving:
		s.w.log.add("%s ended: %v", s.name, cmd.ProcessState)
	}
}

// whole is what the slot's processes printed.
func (s *slot) whole() []byte {
	b, err := os.ReadFile(s.logFile())
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// tail is the end of it.
func (s *slot) tail() []byte {
	b := s.whole()
	return b[max(0, len(b)-2000):]
}

func lastLine(b []byte) string {
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return string(lines[len(lines)-1])
}

// pid is the process of now, 0 for none.
func (s *slot) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}

// who names the process of now.
func (s *slot) who() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s start %d", s.name, s.starts)
}

// signal reaches the process of now, if there is one.
func (s *slot) signal(sig syscall.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && syscall.Kill(s.process.Pid, sig) == nil
}

// stop asks the process to end and keeps the slot empty. It reports whether the process ended by itself.
func (s *slot) stop(deadline time.Duration) bool {
	s.mu.Lock()
	s.leaving = true
	if s.process != nil {
		_ = syscall.Kill(s.process.Pid, syscall.SIGCONT) // it may be stopped
		_ = syscall.Kill(s.process.Pid, syscall.SIGTERM) // it may be gone
	}
	s.mu.Unlock()
	select {
	case <-s.done:
		return true
	case <-time.After(deadline):
	}
	s.signal(syscall.SIGKILL)
	<-s.done
	return false
}
