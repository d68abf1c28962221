package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Plugin is a running plugin. Generate, Score, Save and Health may be called concurrently; Open, Load, Train and Shutdown
// one at a time. Errors are of the classes of package plugins, of this package, or a context's.
type Plugin struct {
	cfg    Config
	log    *slog.Logger
	proc   *process
	client *plugin.Client
	rpc    pluginpb.TrainerClient
	dir    *socketDir
	stderr *tail
	info   plugins.Info

	mu     sync.Mutex // guards the following
	closed bool
}

var _ policy.Generator = (*Plugin)(nil)

// Launch starts the plugin and completes the handshake. ctx bounds the start only. The caller must Shutdown the plugin.
func Launch(ctx context.Context, cfg Config, set Settings) (*Plugin, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Plugin{cfg: cfg.withDefaults(), log: set.Logger, stderr: &tail{}}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	dir, err := makeSocketDir(p.cfg.SocketDir)
	if err != nil {
		return nil, err
	}
	p.dir = dir
	if err := p.start(ctx); err != nil {
		p.discard()
		return nil, errors.Join(err, dir.remove())
	}
	p.log.Info("plugin started", "plugin", p.info.Name, "plugin_version", p.info.Version, "device", p.info.Device, "pid", p.proc.Pid())
	return p, nil
}

func (p *Plugin) start(ctx context.Context) error {
	p.client = plugin.NewClient(p.clientConfig())
	// go-plugin's Start takes no context: end the child instead, which ends Start.
	stop := context.AfterFunc(ctx, func() { p.discardProcess() })
	defer stop()
	proto, err := p.client.Client()
	if err == nil {
		var raw any
		if raw, err = proto.Dispense(plugins.Name); err == nil {
			p.rpc = raw.(pluginpb.TrainerClient)
		}
	}
	if err != nil {
		return p.handshakeError(ctx, err)
	}
	in, err := p.rpc.Info(ctx, &pluginpb.InfoRequest{})
	if err != nil {
		return p.wrap(err)
	}
	p.info = infoFrom(in)
	return nil
}

func (p *Plugin) clientConfig() *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  plugins.Handshake(),
		Plugins:          plugin.PluginSet{plugins.Name: clientSide{}},
		RunnerFunc:       p.run,
		SkipHostEnv:      true,
		StartTimeout:     p.cfg.StartTimeout,
		Stderr:           p.stderr,
		SyncStdout:       p.stderr, // what the plugin prints after the handshake is for people
		SyncStderr:       p.stderr,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: p.dir.path},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithContextDialer(p.dial),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(plugins.MaxMessageBytes), grpc.MaxCallSendMsgSize(plugins.MaxMessageBytes)),
			grpc.WithInitialWindowSize(16 << 20),
			grpc.WithInitialConnWindowSize(32 << 20),
			grpc.WithReadBufferSize(256 << 10),
			grpc.WithWriteBufferSize(256 << 10),
		},
	}
}

// run is go-plugin's hook to start the child: cmd carries the variables of the handshake.
func (p *Plugin) run(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
	c := exec.Command(p.cfg.Command[0], p.cfg.Command[1:]...)
	c.Dir = p.cfg.Dir
	c.Env = append(p.cfg.environment(), cmd.Env...)
	proc, err := newProcess(c)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.proc = proc
	p.mu.Unlock()
	return proc, nil
}

// dial is called once there is a process that has named its address.
func (p *Plugin) dial(ctx context.Context, _ string) (net.Conn, error) {
	return p.process().link.dial(ctx)
}

func (p *Plugin) process() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc
}

func (p *Plugin) handshakeError(ctx context.Context, cause error) error {
	proc := p.process()
	if proc == nil || proc.Pid() == 0 {
		return fmt.Errorf("start plugin %s: %w", p.cfg.Command[0], cause)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start plugin %s: %w", p.cfg.Command[0], ctx.Err())
	}
	exited := "" // go-plugin has killed what did not answer, and the end of a pipe may come before the end of its process
	if p.waitEnd(proc, endGrace) {
		exited = proc.Exit()
	}
	p.discard()
	return &HandshakeError{Command: p.cfg.Command[0], Line: offending(proc.stdout.Line()), Exit: exited, Stderr: p.stderr.Lines(), Cause: cause}
}

func (p *Plugin) waitEnd(proc *process, within time.Duration) bool {
	select {
	case <-proc.done:
		return true
	case <-time.After(within):
		return false
	}
}

// Info describes the plugin.
func (p *Plugin) Info() plugins.Info { return p.info }

// Exited is closed once the process has ended.
func (p *Plugin) Exited() <-chan struct{} { return p.proc.done }

// discardProcess kills the group, if there is one.
func (p *Plugin) discardProcess() {
	if proc := p.process(); proc != nil {
		_ = proc.Kill(context.Background())
	}
}

// discard kills the process and ends go-plugin's goroutines. It may be called again.
func (p *Plugin) discard() {
	p.discardProcess()
	if proc := p.process(); proc != nil && proc.Pid() != 0 {
		<-proc.done
	}
	p.client.Kill()
}

// wrap gives an error its class. When the connection broke, the reason is the process: it gets a moment to end by itself, so
// that its exit tells why, and is killed if it does not. However long that takes on a slow machine, it is a crash then.
func (p *Plugin) wrap(err error) error {
	if err == nil {
		return nil
	}
	code := status.Code(err)
	err = plugins.FromStatus(err)
	if code != codes.Unavailable {
		return err
	}
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if !p.waitEnd(p.proc, pipeGrace) {
		if !p.proc.link.broken.Load() {
			return err // the plugin's own answer, or a connection that is slow to come up
		}
		p.discardProcess()
		<-p.proc.done
	}
	return &CrashError{Exit: p.proc.Exit(), Stderr: p.settledStderr()}
}

// settledStderr gives the last lines time to arrive: the process has ended, its pipe may not be drained.
func (p *Plugin) settledStderr() []string {
	deadline := time.Now().Add(endGrace)
	for !p.client.Exited() && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	return p.stderr.Lines()
}
