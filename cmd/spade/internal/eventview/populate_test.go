package eventview_test

import (
	"math"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// populate sets every field of a message, lists to two elements.
func populate(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.IsList() {
			list := m.Mutable(f).List()
			for range 2 {
				if f.Message() != nil {
					populate(list.AppendMutable().Message(), depth+1)
				} else {
					list.Append(scalar(f))
				}
			}
			continue
		}
		if f.Message() != nil {
			populate(m.Mutable(f).Message(), depth+1)
		} else {
			m.Set(f, scalar(f))
		}
	}
}

func scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(-7)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(math.MinInt64)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(math.MaxUint64)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(math.Inf(1)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.NaN())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{1, 2, 3})
	default:
		return protoreflect.ValueOfString("text\x00\xe2\x80\xa8\"")
	}
}
