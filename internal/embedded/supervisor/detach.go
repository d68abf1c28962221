package supervisor

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// inherited are the variables that a supervisor takes over from the client that
// happens to start it. It outlives that client: nothing private is among them.
func inherited() []string {
	return []string{
		"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"SPADE_LIBCHDB", "SPADE_CACHE", "GOCOVERDIR", "GOTRACEBACK", "GOMAXPROCS", "GOMEMLIMIT",
	}
}

// detach starts the supervisor proper in its own session and ends, so that it is
// no child of the client: it may outlive the client, and the client need not
// wait for it. The report goes straight to the client's pipe.
func detach(o Options, args []string, stdout, stderr io.Writer) int {
	exe, err := os.Executable()
	if err != nil {
		return refused(stdout, fmt.Errorf("find the executable: %w", err))
	}
	errors, err := panicLog(o.Data)
	if err != nil {
		return refused(stdout, err)
	}
	defer errors.Close() //nolint:errcheck // the child has its own copy
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--detach" })
	cmd := exec.Command(exe, append([]string{Command}, args...)...) //nolint:gosec,noctx // this program itself; it outlives us
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = stdout, errors
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return refused(stdout, fmt.Errorf("start the supervisor: %w", err))
	}
	if err := cmd.Process.Release(); err != nil {
		fmt.Fprintln(stderr, err)
	}
	return 0
}

func refused(stdout io.Writer, err error) int {
	report(stdout, wire.Report{Class: classOf(err), Error: err.Error()})
	return exitFailed
}

// environment is what of ours the supervisor gets.
func environment() []string {
	var env []string
	for _, name := range inherited() {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// panicLog is where a supervisor's standard error goes: the Go runtime's last
// words. It begins anew once it has grown to 1 MiB.
func panicLog(data string) (*os.File, error) {
	folder, err := datadir.At(data)
	if err != nil {
		return nil, err
	}
	if err := folder.Prepare(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(folder.Logs()+"/supervisor.err", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 1<<20 {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}
