package sdk

import (
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

func checkpointTo(c plugins.Checkpoint) *pluginpb.Checkpoint {
	return &pluginpb.Checkpoint{Sha256: c.SHA256, Bytes: uint64(c.Bytes), Format: c.Format, Location: c.Location}
}

func checkpointFrom(c *pluginpb.Checkpoint, data []byte) (*plugins.Checkpoint, error) {
	if c == nil {
		return nil, nil
	}
	ck := &plugins.Checkpoint{SHA256: c.Sha256, Bytes: int64(c.Bytes), Format: c.Format, Location: c.Location, Data: data}
	if c.Location != "" {
		ck.Data = nil
		return ck, nil
	}
	return ck, ck.Verify()
}

func summaryTo(r plugins.Result) *pluginpb.TrainSummary {
	s := &pluginpb.TrainSummary{Version: r.Version, Rows: uint64(r.Rows), Roles: r.Roles, Checkpoint: checkpointTo(r.Checkpoint)}
	for _, m := range r.Metrics {
		s.Metrics = append(s.Metrics, &pluginpb.Metric{Name: m.Name, Value: m.Value})
	}
	return s
}
