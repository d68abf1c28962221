package engine

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/uuid"
)

func TestRecordsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		kind := byte(recordPut + r.IntN(3))
		items := make([]item, 1+r.IntN(4))
		for i := range items {
			items[i] = item{version: r.Uint64(), id: ID{kind: idNumber, lo: r.Uint64()}}
			if r.IntN(2) == 0 {
				items[i].id = idOf(uuid.NewSHA1(uuid.Nil, []byte{byte(i)}))
			}
			if kind == recordPut {
				items[i].vector = []float32{r.Float32(), math.MaxFloat32, -0}
			}
			if kind != recordDelete {
				items[i].payload = bytes.Repeat([]byte{byte(i)}, 1+r.IntN(300))
			}
		}
		body := encodeRecord(kind, items)
		gotKind, got, err := decodeRecord(body)
		if err != nil || gotKind != kind || !reflect.DeepEqual(got, items) {
			t.Fatalf("got %v %v %v, want %v", gotKind, got, err, items)
		}
		for cut := range body {
			if _, _, err := decodeRecord(body[:cut]); err == nil {
				t.Fatalf("a record cut at %d of %d decodes", cut, len(body))
			}
		}
		if _, _, err := decodeRecord(append(body, 0)); err == nil {
			t.Fatal("trailing bytes were accepted")
		}
	}
}

// FuzzDecodeRecord: no bytes panic the decoder or make it allocate more than a
// small multiple of the input, and what it accepts encodes to the same meaning.
func FuzzDecodeRecord(f *testing.F) {
	f.Add(encodeRecord(recordPut, []item{{version: 1, id: ID{kind: idNumber, lo: 7}, vector: []float32{1, 2}, payload: []byte("x")}}))
	f.Add(encodeRecord(recordDelete, []item{{version: 2, id: ID{kind: idUUID, hi: 1, lo: 7}}}))
	f.Add([]byte{1, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, body []byte) {
		kind, items, err := decodeRecord(body)
		if err != nil {
			return
		}
		again, back, err := decodeRecord(encodeRecord(kind, items))
		if err != nil || again != kind || len(back) != len(items) {
			t.Fatalf("%v after re-encoding", err)
		}
		for i := range back {
			if back[i].id != items[i].id || back[i].version != items[i].version || !bytes.Equal(back[i].payload, items[i].payload) {
				t.Fatalf("item %d changed", i)
			}
		}
	})
}
