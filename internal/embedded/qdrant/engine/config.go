package engine

import (
	pb "github.com/qdrant/go-client/qdrant"
)

// maxDim is Qdrant's limit on the size of a vector.
const maxDim = 65536

// checkConfig refuses what a collection here cannot be: everything but one
// unnamed float32 vector a point.
func checkConfig(cfg *pb.CollectionConfig) error {
	params := cfg.GetParams()
	if len(params.GetSparseVectorsConfig().GetMap()) > 0 {
		return errUnsupported("a sparse vector config")
	}
	if params.GetVectorsConfig().GetParamsMap() != nil {
		return errUnsupported("a collection with named vectors")
	}
	v := params.GetVectorsConfig().GetParams()
	switch {
	case v == nil:
		return errInvalid("a collection needs a vectors config")
	case v.GetSize() < 1 || v.GetSize() > maxDim:
		return errInvalid("vector size %d is not within 1 to %d", v.GetSize(), maxDim)
	case v.GetMultivectorConfig() != nil:
		return errUnsupported("a multivector config")
	case v.Datatype != nil && v.GetDatatype() != pb.Datatype_Default && v.GetDatatype() != pb.Datatype_Float32:
		return errUnsupported("vector datatype " + v.GetDatatype().String())
	}
	switch v.GetDistance() {
	case pb.Distance_Cosine, pb.Distance_Dot, pb.Distance_Euclid, pb.Distance_Manhattan:
		return nil
	}
	return errInvalid("distance %s is none of Cosine, Dot, Euclid, Manhattan", v.GetDistance())
}

func schemaType(t pb.FieldType) pb.PayloadSchemaType {
	switch t {
	case pb.FieldType_FieldTypeKeyword:
		return pb.PayloadSchemaType_Keyword
	case pb.FieldType_FieldTypeInteger:
		return pb.PayloadSchemaType_Integer
	case pb.FieldType_FieldTypeFloat:
		return pb.PayloadSchemaType_Float
	case pb.FieldType_FieldTypeText:
		return pb.PayloadSchemaType_Text
	case pb.FieldType_FieldTypeBool:
		return pb.PayloadSchemaType_Bool
	case pb.FieldType_FieldTypeDatetime:
		return pb.PayloadSchemaType_Datetime
	case pb.FieldType_FieldTypeUuid:
		return pb.PayloadSchemaType_Uuid
	}
	return pb.PayloadSchemaType_UnknownType
}
