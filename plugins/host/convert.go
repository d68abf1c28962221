package host

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

var errPluginSide = errors.New("the host has no plugin side")

// clientSide dispenses the generated client.
type clientSide struct{ plugin.NetRPCUnsupportedPlugin }

func (clientSide) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return errPluginSide }

func (clientSide) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return pluginpb.NewTrainerClient(conn), nil
}

// offending returns the line unless it is a handshake.
func offending(line string) string {
	if parts := strings.Split(line, "|"); len(parts) >= 4 {
		return ""
	}
	return line
}

func infoFrom(in *pluginpb.InfoResponse) plugins.Info {
	return plugins.Info{
		Name: in.Name, Version: in.Version, Roles: in.Roles, Device: in.Device, Capabilities: in.Capabilities,
		CheckpointFormat: in.CheckpointFormat,
	}
}

func checkpointTo(c *plugins.Checkpoint) *pluginpb.Checkpoint {
	if c == nil {
		return nil
	}
	return &pluginpb.Checkpoint{Sha256: c.SHA256, Bytes: uint64(c.Bytes), Format: c.Format, Location: c.Location}
}
