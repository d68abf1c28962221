package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/apache/arrow/go/v17/arrow"
	"google.golang.org/grpc"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/internal/generation"
	"github.com/seed256f7767/spade/plugins/internal/wire"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// server adapts a Trainer to the generated service.
type server struct {
	pluginpb.UnimplementedTrainerServer
	trainer Trainer
	calls   drain
	stop    func() // ends the process, soon
}

// guard counts a call as in progress and turns its error, or its panic, into a status.
func (s *server) guard(call func() error) (err error) {
	if !s.calls.enter() {
		return plugins.ToStatus(&plugins.PermanentError{Message: "plugin is shutting down"})
	}
	defer s.calls.leave()
	defer func() {
		if p := recover(); p != nil {
			err = plugins.ToStatus(&plugins.PermanentError{Message: fmt.Sprintf("plugin panicked: %v\n%s", p, debug.Stack())})
		}
	}()
	return plugins.ToStatus(call())
}

func (s *server) Info(context.Context, *pluginpb.InfoRequest) (*pluginpb.InfoResponse, error) {
	i := s.trainer.Info()
	return &pluginpb.InfoResponse{
		Name: i.Name, Version: i.Version, Roles: i.Roles, Device: i.Device, Capabilities: i.Capabilities,
		CheckpointFormat: i.CheckpointFormat, MaxMessageBytes: plugins.MaxMessageBytes,
	}, nil
}

func (s *server) Open(st grpc.ClientStreamingServer[pluginpb.OpenPart, pluginpb.OpenResponse]) error {
	return s.guard(func() error {
		first, err := st.Recv()
		if err != nil || first.GetBegin() == nil {
			return beginMissing("open", err)
		}
		data, err := collect(func() (wirePart, error) { return st.Recv() })
		if err != nil {
			return err
		}
		ck, err := checkpointFrom(first.GetBegin().Checkpoint, data)
		if err != nil {
			return err
		}
		v, err := s.trainer.Open(st.Context(), first.GetBegin().ConfigJson, first.GetBegin().Version, ck)
		if err != nil {
			return err
		}
		return st.SendAndClose(&pluginpb.OpenResponse{Version: v})
	})
}

func (s *server) Load(st grpc.ClientStreamingServer[pluginpb.LoadPart, pluginpb.LoadResponse]) error {
	return s.guard(func() error {
		first, err := st.Recv()
		if err != nil || first.GetBegin().GetCheckpoint() == nil {
			return beginMissing("load", err)
		}
		data, err := collect(func() (wirePart, error) { return st.Recv() })
		if err != nil {
			return err
		}
		ck, err := checkpointFrom(first.GetBegin().Checkpoint, data)
		if err != nil {
			return err
		}
		if err := s.trainer.Load(st.Context(), first.GetBegin().Version, *ck); err != nil {
			return err
		}
		return st.SendAndClose(&pluginpb.LoadResponse{Version: first.GetBegin().Version})
	})
}

func (s *server) Generate(req *pluginpb.GenerateRequest, st grpc.ServerStreamingServer[pluginpb.GenerateResponse]) error {
	return s.guard(func() error {
		return generation.Answer(req, st, func(role policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error {
			return s.trainer.Generate(st.Context(), role, version, prompts, emit)
		})
	})
}

func (s *server) Train(st grpc.BidiStreamingServer[pluginpb.TrainPart, pluginpb.TrainResult]) error {
	return s.guard(func() error {
		first, err := st.Recv()
		if err != nil || first.GetBegin() == nil {
			return beginMissing("train", err)
		}
		batches := wire.ReceiveArrow(func() (wire.Part, error) {
			p, err := st.Recv()
			return wire.Part{Chunk: p.GetChunk(), End: p.GetEnd()}, err
		})
		r, err := s.trainer.Train(st.Context(), first.GetBegin().From, first.GetBegin().To, batches)
		if err != nil {
			return asInvalid(err)
		}
		if err := st.Send(&pluginpb.TrainResult{Part: &pluginpb.TrainResult_Summary{Summary: summaryTo(r)}}); err != nil {
			return err
		}
		err = wire.SendBytes(r.Checkpoint.Data, func(c []byte) error {
			return st.Send(&pluginpb.TrainResult{Part: &pluginpb.TrainResult_Chunk{Chunk: c}})
		})
		if err != nil {
			return err
		}
		end := &pluginpb.BytesEnd{Bytes: uint64(len(r.Checkpoint.Data))}
		return st.Send(&pluginpb.TrainResult{Part: &pluginpb.TrainResult_End{End: end}})
	})
}

func (s *server) Score(st grpc.BidiStreamingServer[pluginpb.ScorePart, pluginpb.ScoreResult]) error {
	return s.guard(func() error {
		scorer, ok := s.trainer.(Scorer)
		if !ok {
			return &plugins.PermanentError{Message: "plugin does not score"}
		}
		first, err := st.Recv()
		if err != nil || first.GetBegin() == nil {
			return beginMissing("score", err)
		}
		batches := wire.ReceiveArrow(func() (wire.Part, error) {
			p, err := st.Recv()
			return wire.Part{Chunk: p.GetChunk(), End: p.GetEnd()}, err
		})
		var out []arrow.Record
		defer func() { release(out) }()
		err = scorer.Score(st.Context(), first.GetBegin().Version, batches, func(rec arrow.Record) error {
			rec.Retain()
			out = append(out, rec)
			return nil
		})
		if err != nil {
			return asInvalid(err)
		}
		end, err := wire.SendArrow(wire.Records(out), func(c []byte) error {
			return st.Send(&pluginpb.ScoreResult{Part: &pluginpb.ScoreResult_Chunk{Chunk: c}})
		})
		if err != nil {
			return err
		}
		return st.Send(&pluginpb.ScoreResult{Part: &pluginpb.ScoreResult_End{End: end}})
	})
}

func (s *server) Save(req *pluginpb.SaveRequest, st grpc.ServerStreamingServer[pluginpb.SavePart]) error {
	return s.guard(func() error {
		ck, err := s.trainer.Save(st.Context(), req.Version)
		if err != nil {
			return err
		}
		if err := st.Send(&pluginpb.SavePart{Part: &pluginpb.SavePart_Checkpoint{Checkpoint: checkpointTo(ck)}}); err != nil {
			return err
		}
		err = wire.SendBytes(ck.Data, func(c []byte) error {
			return st.Send(&pluginpb.SavePart{Part: &pluginpb.SavePart_Chunk{Chunk: c}})
		})
		if err != nil {
			return err
		}
		return st.Send(&pluginpb.SavePart{Part: &pluginpb.SavePart_End{End: &pluginpb.BytesEnd{Bytes: uint64(len(ck.Data))}}})
	})
}

func (s *server) Health(ctx context.Context, _ *pluginpb.HealthRequest) (*pluginpb.HealthResponse, error) {
	h := s.trainer.Health(ctx)
	return &pluginpb.HealthResponse{Ready: h.Ready, Message: h.Message, Versions: h.Versions}, nil
}

func (s *server) Shutdown(ctx context.Context, _ *pluginpb.ShutdownRequest) (*pluginpb.ShutdownResponse, error) {
	if err := s.calls.close(ctx); err != nil {
		return nil, plugins.ToStatus(err)
	}
	err := s.trainer.Shutdown(ctx)
	s.stop()
	return &pluginpb.ShutdownResponse{}, plugins.ToStatus(err)
}

func release(recs []arrow.Record) {
	for _, r := range recs {
		r.Release()
	}
}

func beginMissing(what string, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return &plugins.PermanentError{Message: what + ": the first message of the stream is no begin part"}
}

// asInvalid gives a short stream its class: the batch is not what the sender meant it to be.
func asInvalid(err error) error {
	if errors.Is(err, wire.ErrShort) {
		return &plugins.InvalidBatchError{Row: -1, Message: err.Error()}
	}
	return err
}

// wirePart is what Open and Load parts have in common.
type wirePart interface {
	GetChunk() []byte
	GetEnd() *pluginpb.BytesEnd
}

func collect(next func() (wirePart, error)) ([]byte, error) {
	c := wire.Collector{Limit: plugins.MaxCheckpointBytes}
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it stopped before its end mark", wire.ErrShort)
		}
		if err != nil {
			return nil, err
		}
		if end := p.GetEnd(); end != nil {
			return c.End(end.Bytes)
		}
		if err := c.Add(p.GetChunk()); err != nil {
			return nil, err
		}
	}
}
