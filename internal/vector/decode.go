package vector

import (
	"fmt"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
)

func hitOf(id *pb.PointId, payload map[string]*pb.Value, vectors *pb.VectorsOutput) (Hit, error) {
	u, err := uuid.Parse(id.GetUuid())
	if err != nil {
		return Hit{}, fmt.Errorf("point id %v: %w", id, err)
	}
	h := Hit{ID: u, Vector: vectors.GetVector().GetDenseVector().GetData(), Payload: make(map[string]any, len(payload))}
	for key, v := range payload {
		h.Payload[key] = plain(v)
	}
	return h, nil
}

// plain turns a payload value into an ordinary one.
func plain(v *pb.Value) any {
	switch k := v.GetKind().(type) {
	case *pb.Value_StringValue:
		return k.StringValue
	case *pb.Value_IntegerValue:
		return k.IntegerValue
	case *pb.Value_DoubleValue:
		return k.DoubleValue
	case *pb.Value_BoolValue:
		return k.BoolValue
	case *pb.Value_ListValue:
		out := make([]any, len(k.ListValue.GetValues()))
		for i, item := range k.ListValue.GetValues() {
			out[i] = plain(item)
		}
		return out
	case *pb.Value_StructValue:
		out := make(map[string]any, len(k.StructValue.GetFields()))
		for key, item := range k.StructValue.GetFields() {
			out[key] = plain(item)
		}
		return out
	}
	return nil
}
