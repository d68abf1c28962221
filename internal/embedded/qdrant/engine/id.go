package engine

import (
	"cmp"
	"encoding/binary"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
)

// ID is a point id: an unsigned number or a UUID. Numbers sort before UUIDs.
type ID struct {
	kind   idKind
	hi, lo uint64
}

type idKind uint8

const (
	idNone idKind = iota // the zero ID: no point
	idNumber
	idUUID
)

// ParseID reads a point id of a request.
func ParseID(p *pb.PointId) (ID, error) {
	switch o := p.GetPointIdOptions().(type) {
	case *pb.PointId_Num:
		return ID{kind: idNumber, lo: o.Num}, nil
	case *pb.PointId_Uuid:
		u, err := uuid.Parse(o.Uuid)
		if err != nil {
			return ID{}, &Error{Kind: Invalid, Msg: "Unable to parse UUID: " + o.Uuid}
		}
		return idOf(u), nil
	}
	return ID{}, &Error{Kind: Invalid, Msg: "Expected at least one point id"}
}

func parseIDs(in []*pb.PointId) ([]ID, error) {
	out := make([]ID, len(in))
	for i, p := range in {
		id, err := ParseID(p)
		if err != nil {
			return nil, err
		}
		out[i] = id
	}
	return out, nil
}

func idOf(u uuid.UUID) ID {
	return ID{kind: idUUID, hi: binary.BigEndian.Uint64(u[:8]), lo: binary.BigEndian.Uint64(u[8:])}
}

// Proto is the id as it goes into an answer.
func (id ID) Proto() *pb.PointId {
	if id.kind == idNumber {
		return pb.NewIDNum(id.lo)
	}
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], id.hi)
	binary.BigEndian.PutUint64(u[8:], id.lo)
	return pb.NewIDUUID(u.String())
}

func (id ID) compare(other ID) int {
	return cmp.Or(cmp.Compare(id.kind, other.kind), cmp.Compare(id.hi, other.hi), cmp.Compare(id.lo, other.lo))
}
