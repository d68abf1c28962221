package sdk

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// stopDelay lets the answer to Shutdown leave before the server goes.
const stopDelay = 50 * time.Millisecond

// Serve runs the plugin until its host shuts it down or goes away. It must be the only thing that main does: whatever is
// printed to standard output before it breaks the handshake.
func Serve(t Trainer) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go watchParent(ctx, os.Getppid())
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugins.Handshake(),
		Plugins:         plugin.PluginSet{plugins.Name: &trainerPlugin{trainer: t}},
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
		GRPCServer:      NewGRPCServer,
	})
}

// NewGRPCServer sets the limits of the contract on top of go-plugin's options.
func NewGRPCServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(plugins.MaxMessageBytes),
		grpc.MaxSendMsgSize(plugins.MaxMessageBytes),
		grpc.InitialWindowSize(16<<20),
		grpc.InitialConnWindowSize(32<<20),
		grpc.ReadBufferSize(256<<10),
		grpc.WriteBufferSize(256<<10),
	)...)
}

// Register serves t on any gRPC server, without go-plugin. stop is called after a Shutdown has been answered.
func Register(s *grpc.Server, t Trainer, stop func()) {
	pluginpb.RegisterTrainerServer(s, &server{trainer: t, stop: stop})
}

type trainerPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	trainer Trainer
}

var errHostSide = errors.New("the SDK has no host side")

func (p *trainerPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	var once sync.Once
	Register(s, p.trainer, func() {
		once.Do(func() { time.AfterFunc(stopDelay, s.Stop) })
	})
	return nil
}

func (p *trainerPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errHostSide
}

// watchParent ends the process when its parent has changed: the host is gone, and nobody else would end it. The host asks
// the kernel for the same where it can; this is for where it cannot.
func watchParent(ctx context.Context, parent int) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent {
				os.Exit(3)
			}
		}
	}
}
