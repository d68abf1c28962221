package host

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/internal/wire"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Open configures the plugin with its own settings in the run's semantic config (JSON) and restores a checkpoint, when there is one, as
// policy version version. It returns the version that is loaded.
func (p *Plugin) Open(ctx context.Context, config string, version int64, ck *plugins.Checkpoint) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := p.rpc.Open(ctx)
	if err != nil {
		return 0, p.wrap(err)
	}
	begin := &pluginpb.OpenBegin{ConfigJson: config, Version: version, Checkpoint: checkpointTo(ck)}
	err = st.Send(&pluginpb.OpenPart{Part: &pluginpb.OpenPart_Begin{Begin: begin}})
	if err == nil {
		err = sendData(ck,
			func(c []byte) error { return st.Send(&pluginpb.OpenPart{Part: &pluginpb.OpenPart_Chunk{Chunk: c}}) },
			func(e *pluginpb.BytesEnd) error {
				return st.Send(&pluginpb.OpenPart{Part: &pluginpb.OpenPart_End{End: e}})
			})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, p.wrap(err)
	}
	r, err := st.CloseAndRecv()
	if err != nil {
		return 0, p.wrap(err)
	}
	return r.Version, nil
}

// Load restores one more version.
func (p *Plugin) Load(ctx context.Context, version int64, ck plugins.Checkpoint) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := p.rpc.Load(ctx)
	if err != nil {
		return p.wrap(err)
	}
	begin := &pluginpb.LoadBegin{Version: version, Checkpoint: checkpointTo(&ck)}
	err = st.Send(&pluginpb.LoadPart{Part: &pluginpb.LoadPart_Begin{Begin: begin}})
	if err == nil {
		err = sendData(&ck,
			func(c []byte) error { return st.Send(&pluginpb.LoadPart{Part: &pluginpb.LoadPart_Chunk{Chunk: c}}) },
			func(e *pluginpb.BytesEnd) error {
				return st.Send(&pluginpb.LoadPart{Part: &pluginpb.LoadPart_End{End: e}})
			})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return p.wrap(err)
	}
	_, err = st.CloseAndRecv()
	return p.wrap(err)
}

func sendData(ck *plugins.Checkpoint, chunk func([]byte) error, end func(*pluginpb.BytesEnd) error) error {
	var data []byte
	if ck != nil {
		data = ck.Data
	}
	if err := wire.SendBytes(data, chunk); err != nil {
		return err
	}
	return end(&pluginpb.BytesEnd{Bytes: uint64(len(data))})
}

// Save returns the checkpoint of a loaded version.
func (p *Plugin) Save(ctx context.Context, version int64) (plugins.Checkpoint, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := p.rpc.Save(ctx, &pluginpb.SaveRequest{Version: version})
	if err != nil {
		return plugins.Checkpoint{}, p.wrap(err)
	}
	first, err := st.Recv()
	if errors.Is(err, io.EOF) || err == nil && first.GetCheckpoint() == nil {
		return plugins.Checkpoint{}, fmt.Errorf("save: %w: no checkpoint", ErrShortStream)
	}
	if err != nil {
		return plugins.Checkpoint{}, p.wrap(err)
	}
	return p.receiveCheckpoint(first.GetCheckpoint(), func() (bytesPart, error) { return st.Recv() })
}

// Health asks for the state and the loaded versions.
func (p *Plugin) Health(ctx context.Context) (plugins.Health, error) {
	h, err := p.rpc.Health(ctx, &pluginpb.HealthRequest{})
	if err != nil {
		return plugins.Health{}, p.wrap(err)
	}
	return plugins.Health{Ready: h.Ready, Message: h.Message, Versions: h.Versions}, nil
}
