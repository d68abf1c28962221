package event

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var update = flag.Bool("update", false, "write golden records of event types that have none")

// golden is one event as the first version wrote it, and what it must decode to for ever.
type golden struct {
	Type    string            `json:"type"`
	Headers map[string][]byte `json:"headers"`
	Value   []byte            `json:"value"`
	Decoded json.RawMessage   `json:"decoded"`
}

// Records written by version 1 decode for ever, to the same fields. A golden file is never rewritten: -update only adds
// files for new types.
func TestVersion1RecordsDecodeForEver(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Type, func(t *testing.T) {
			path := filepath.Join("testdata", "v1", strings.TrimPrefix(k.Type, typePrefix)+".json")
			raw, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) && *update {
				raw = write(t, path, k)
			} else if err != nil {
				t.Fatal(err)
			}
			var g golden
			if err := json.Unmarshal(raw, &g); err != nil {
				t.Fatal(err)
			}
			check(t, g)
		})
	}
}

func check(t *testing.T, g golden) {
	t.Helper()
	r := Record{Value: g.Value}
	for name, value := range g.Headers {
		r.Headers = append(r.Headers, Header{name, value})
	}
	ev, lost := new(Assembler).Add(r)
	if ev == nil {
		t.Fatalf("lost: %v", lost)
	}
	msg, err := ev.Message()
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(asJSON(t, msg), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(g.Decoded, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decodes to\n%v\nwas\n%v", got, want)
	}
}

func asJSON(t *testing.T, msg proto.Message) []byte {
	t.Helper()
	out, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, path string, k Kind) []byte {
	t.Helper()
	msg := k.New()
	fill(msg.ProtoReflect(), 1)
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(k.Type))
	ev, err := New(id.String(), id, 0, msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Encode(ev, 0, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	g := golden{Type: k.Type, Headers: map[string][]byte{}, Value: records[0].Value, Decoded: asJSON(t, msg)}
	for _, h := range records[0].Headers {
		g.Headers[h.Key] = h.Value
	}
	raw, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	return raw
}

// fill gives every field a value of its own, so that no two can be mistaken for each other.
func fill(m protoreflect.Message, base int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		n := base*100 + int(f.Number())
		if f.IsList() {
			list := m.Mutable(f).List()
			for j := range 2 {
				if f.Message() != nil {
					fill(list.AppendMutable().Message(), n+j)
				} else {
					list.Append(scalar(f, n+j))
				}
			}
			continue
		}
		if f.Message() != nil {
			fill(m.Mutable(f).Message(), n)
			continue
		}
		m.Set(f, scalar(f, n))
	}
}

func scalar(f protoreflect.FieldDescriptor, n int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n % 1_000_003))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(n) / 8)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) / 7)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%s %d ü\x00", f.Name(), n))
	case protoreflect.BytesKind:
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, f.Name(), n))
		return protoreflect.ValueOfBytes(id[:])
	default:
		panic(fmt.Sprintf("no value for %s", f.Kind()))
	}
}
