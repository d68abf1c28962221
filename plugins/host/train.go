package host

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/internal/wire"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// Train streams the batches to the plugin, which learns from them on top of version from and keeps the outcome as
// version to. The result carries the checkpoint, verified.
func (p *Plugin) Train(ctx context.Context, from, to int64, batches plugins.Batches) (plugins.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := p.rpc.Train(ctx)
	if err != nil {
		return plugins.Result{}, p.wrap(err)
	}
	sendErr := p.sendTrain(st, from, to, batches)
	if sendErr != nil && !errors.Is(sendErr, io.EOF) {
		return plugins.Result{}, fmt.Errorf("train: %w", sendErr)
	}
	// EOF from Send means that the plugin has answered early: its answer says why.
	r, err := p.receiveTrain(st)
	if err != nil {
		return plugins.Result{}, err
	}
	if sendErr != nil {
		return plugins.Result{}, fmt.Errorf("train: %w: it answered before it had read all batches", ErrShortStream)
	}
	return r, nil
}

type trainStream interface {
	Send(*pluginpb.TrainPart) error
	Recv() (*pluginpb.TrainResult, error)
	CloseSend() error
}

func (p *Plugin) sendTrain(st trainStream, from, to int64, batches plugins.Batches) error {
	if err := st.Send(&pluginpb.TrainPart{Part: &pluginpb.TrainPart_Begin{Begin: &pluginpb.TrainBegin{From: from, To: to}}}); err != nil {
		return err
	}
	end, err := wire.SendArrow(batches, func(c []byte) error {
		return st.Send(&pluginpb.TrainPart{Part: &pluginpb.TrainPart_Chunk{Chunk: c}})
	})
	if err != nil {
		return err
	}
	if err := st.Send(&pluginpb.TrainPart{Part: &pluginpb.TrainPart_End{End: end}}); err != nil {
		return err
	}
	return st.CloseSend()
}

func (p *Plugin) receiveTrain(st trainStream) (plugins.Result, error) {
	first, err := st.Recv()
	if errors.Is(err, io.EOF) || err == nil && first.GetSummary() == nil {
		return plugins.Result{}, fmt.Errorf("train: %w: no summary", ErrShortStream)
	}
	if err != nil {
		return plugins.Result{}, p.wrap(err)
	}
	s := first.GetSummary()
	r := plugins.Result{Version: s.Version, Rows: int64(s.Rows), Roles: s.Roles}
	for _, m := range s.Metrics {
		r.Metrics = append(r.Metrics, plugins.Metric{Name: m.Name, Value: m.Value})
	}
	r.Checkpoint, err = p.receiveCheckpoint(s.Checkpoint, func() (bytesPart, error) { return st.Recv() })
	return r, err
}

type bytesPart interface {
	GetChunk() []byte
	GetEnd() *pluginpb.BytesEnd
}

func (p *Plugin) receiveCheckpoint(c *pluginpb.Checkpoint, next func() (bytesPart, error)) (plugins.Checkpoint, error) {
	ck := plugins.Checkpoint{SHA256: c.GetSha256(), Bytes: int64(c.GetBytes()), Format: c.GetFormat(), Location: c.GetLocation()}
	col := wire.Collector{Limit: plugins.MaxCheckpointBytes}
	for {
		part, err := next()
		if errors.Is(err, io.EOF) {
			return ck, fmt.Errorf("checkpoint: %w: it stopped before its end mark", ErrShortStream)
		}
		if err != nil {
			return ck, p.wrap(err)
		}
		if end := part.GetEnd(); end != nil {
			if ck.Data, err = col.End(end.Bytes); err != nil {
				return ck, fmt.Errorf("checkpoint: %w", err)
			}
			break
		}
		if err := col.Add(part.GetChunk()); err != nil {
			return ck, fmt.Errorf("checkpoint: %w", err)
		}
	}
	if ck.Location != "" {
		return ck, nil
	}
	return ck, ck.Verify()
}

// Score returns one batch per part of the log-probabilities of the completions, in row order. The records must be
// released.
func (p *Plugin) Score(ctx context.Context, version int64, batches plugins.Batches) ([]arrow.Record, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := p.rpc.Score(ctx)
	if err != nil {
		return nil, p.wrap(err)
	}
	err = st.Send(&pluginpb.ScorePart{Part: &pluginpb.ScorePart_Begin{Begin: &pluginpb.ScoreBegin{Version: version}}})
	var end *pluginpb.ArrowEnd
	if err == nil {
		end, err = wire.SendArrow(batches, func(c []byte) error {
			return st.Send(&pluginpb.ScorePart{Part: &pluginpb.ScorePart_Chunk{Chunk: c}})
		})
	}
	if err == nil {
		err = st.Send(&pluginpb.ScorePart{Part: &pluginpb.ScorePart_End{End: end}})
	}
	if err == nil {
		err = st.CloseSend()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("score: %w", err)
	}
	var out []arrow.Record
	var rows int64
	for rec, err := range wire.ReceiveArrow(func() (wire.Part, error) {
		r, err := st.Recv()
		return wire.Part{Chunk: r.GetChunk(), End: r.GetEnd()}, err
	}) {
		if err != nil {
			releaseAll(out)
			return nil, fmt.Errorf("score: %w", p.wrap(err))
		}
		rec.Retain()
		out = append(out, rec)
		rows += rec.NumRows()
	}
	if end == nil || uint64(rows) != end.Rows {
		releaseAll(out)
		return nil, fmt.Errorf("score: %w: %d rows came back", ErrShortStream, rows)
	}
	return out, nil
}

func releaseAll(recs []arrow.Record) {
	for _, r := range recs {
		r.Release()
	}
}
