package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"
)

const modelDim = 5

func openEngine(t *testing.T, dir string) *Engine {
	t.Helper()
	e, err := Open(context.Background(), dir, Settings{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

func config(dim uint64, d pb.Distance) *pb.CollectionConfig {
	return &pb.CollectionConfig{Params: &pb.CollectionParams{
		VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: dim, Distance: d}),
	}}
}

// modelPoint is what the plain map of the model test holds for an id.
type modelPoint struct {
	vector  []float32
	payload map[string]*pb.Value
}

// model runs random operations on a collection and on a map, and compares.
type model struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	engine *Engine
	c      *Collection
	points map[uint64]modelPoint
}

func (m *model) reopen(crash bool) {
	m.t.Helper()
	if crash {
		// A killed process leaves the file as the last write left it; copying the
		// folder while the store is open gives just that.
		next := m.t.TempDir()
		if err := os.CopyFS(next, os.DirFS(m.dir)); err != nil {
			m.t.Fatal(err)
		}
		log := filepath.Join(next, m.c.folder, "points.log")
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			m.t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, m.r.IntN(40))); err != nil { // a torn record
			m.t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			m.t.Fatal(err)
		}
		m.close()
		m.dir = next
	} else {
		m.close()
	}
	m.engine = openEngine(m.t, m.dir)
	c, err := m.engine.Collection("m")
	if err != nil {
		m.t.Fatal(err)
	}
	m.c = c
}

func (m *model) close() {
	m.t.Helper()
	if err := m.engine.Close(); err != nil {
		m.t.Fatalf("close: %v", err)
	}
}

func (m *model) randomPayload() map[string]*pb.Value {
	p := map[string]any{}
	if m.r.IntN(5) > 0 {
		p["run"] = fmt.Sprintf("r%d", m.r.IntN(4))
	}
	if m.r.IntN(5) > 0 {
		p["n"] = m.r.IntN(6)
	} else if m.r.IntN(3) == 0 {
		p["n"] = 2.5 // a fraction under a key with an integer index
	}
	if m.r.IntN(3) > 0 {
		p["tags"] = []any{fmt.Sprintf("t%d", m.r.IntN(3)), fmt.Sprintf("t%d", m.r.IntN(3))}
	}
	out, err := pb.TryValueMap(p)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

func (m *model) step() {
	id := func() uint64 { return uint64(m.r.IntN(50)) }
	switch m.r.IntN(10) {
	case 0:
		sel := pb.NewPointsSelector(pb.NewIDNum(id()), pb.NewIDNum(id()))
		if _, err := m.c.Delete(sel, m.r.IntN(2) == 0); err != nil {
			m.t.Fatal(err)
		}
		for _, p := range sel.GetPoints().GetIds() {
			delete(m.points, p.GetNum())
		}
	case 1:
		f := m.randomFilter()
		if m.r.IntN(4) > 0 {
			return // rarely: it empties the collection
		}
		if _, err := m.c.Delete(pb.NewPointsSelectorFilter(f), true); err != nil {
			m.t.Fatal(err)
		}
		maps.DeleteFunc(m.points, func(id uint64, p modelPoint) bool { return modelMatch(f, id, p) })
	case 2:
		one := id()
		add := m.randomPayload()
		_, err := m.c.ChangePayload(pb.NewPointsSelector(pb.NewIDNum(one)), SetPayload(maps.Clone(add)), true)
		p, ok := m.points[one]
		var e *Error
		if !ok {
			if !errors.As(err, &e) || e.Kind != NotFound {
				m.t.Fatalf("set payload of an absent point: %v", err)
			}
			return
		}
		if err != nil {
			m.t.Fatal(err)
		}
		merged := maps.Clone(p.payload)
		maps.Copy(merged, add)
		m.points[one] = modelPoint{vector: p.vector, payload: merged}
	default:
		var batch []*pb.PointStruct
		for range 1 + m.r.IntN(4) {
			v := make([]float32, modelDim)
			for i := range v {
				v[i] = float32(m.r.IntN(9) - 4)
			}
			one, fields := id(), m.randomPayload()
			batch = append(batch, &pb.PointStruct{Id: pb.NewIDNum(one), Vectors: pb.NewVectorsDense(v), Payload: fields})
			m.points[one] = modelPoint{vector: v, payload: fields}
		}
		if _, err := m.c.Upsert(batch, m.r.IntN(2) == 0); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *model) randomCondition(depth int) *pb.Condition {
	switch m.r.IntN(9) {
	case 0:
		return pb.NewMatch("run", fmt.Sprintf("r%d", m.r.IntN(5)))
	case 1:
		return pb.NewMatchInt("n", int64(m.r.IntN(7)))
	case 2:
		return pb.NewRange("n", &pb.Range{Lt: pb.PtrOf(float64(m.r.IntN(7)))})
	case 3:
		return pb.NewMatchKeywords("tags", "t0", "t2")
	case 4:
		return pb.NewIsEmpty("run")
	case 5:
		return pb.NewHasID(pb.NewIDNum(uint64(m.r.IntN(50))), pb.NewIDNum(uint64(m.r.IntN(50))), pb.NewIDNum(7))
	case 6:
		return pb.NewMatchExcept("run", "r1")
	case 7:
		return pb.NewMatchInts("n", 1, 3)
	}
	if depth > 2 {
		return pb.NewMatch("tags", "t1")
	}
	return pb.NewFilterAsCondition(m.randomFilterAt(depth + 1))
}

func (m *model) randomFilter() *pb.Filter { return m.randomFilterAt(0) }

func (m *model) randomFilterAt(depth int) *pb.Filter {
	conditions := func() []*pb.Condition {
		var out []*pb.Condition
		for range m.r.IntN(3) {
			out = append(out, m.randomCondition(depth))
		}
		return out
	}
	f := &pb.Filter{Must: conditions(), Should: conditions(), MustNot: conditions()}
	if m.r.IntN(4) == 0 {
		f.MinShould = &pb.MinShould{Conditions: append(conditions(), conditions()...), MinCount: uint64(m.r.IntN(3))}
	}
	return f
}

// modelMatch is the plain meaning of a filter.
func modelMatch(f *pb.Filter, id uint64, p modelPoint) bool {
	count := func(all []*pb.Condition) (n int) {
		for _, c := range all {
			if modelCondition(c, id, p) {
				n++
			}
		}
		return n
	}
	if count(f.GetMust()) != len(f.GetMust()) || count(f.GetMustNot()) > 0 {
		return false
	}
	if len(f.GetShould()) > 0 && count(f.GetShould()) == 0 {
		return false
	}
	return f.GetMinShould() == nil || count(f.GetMinShould().GetConditions()) >= int(f.GetMinShould().GetMinCount())
}

func modelCondition(c *pb.Condition, id uint64, p modelPoint) bool {
	if f := c.GetFilter(); f != nil {
		return modelMatch(f, id, p)
	}
	if h := c.GetHasId(); h != nil {
		return slices.ContainsFunc(h.GetHasId(), func(x *pb.PointId) bool { return x.GetNum() == id })
	}
	if e := c.GetIsEmpty(); e != nil {
		return p.payload[e.GetKey()] == nil
	}
	v := p.payload[c.GetField().GetKey()]
	items := v.GetListValue().GetValues()
	if v != nil && v.GetListValue() == nil {
		items = []*pb.Value{v}
	}
	return slices.ContainsFunc(items, func(v *pb.Value) bool { return modelValue(c.GetField(), v) })
}

func modelValue(f *pb.FieldCondition, v *pb.Value) bool {
	_, isInt := v.GetKind().(*pb.Value_IntegerValue)
	if r := f.GetRange(); r != nil {
		x := v.GetDoubleValue()
		if isInt {
			x = float64(v.GetIntegerValue())
		}
		return x < r.GetLt()
	}
	switch k := f.GetMatch().GetMatchValue().(type) {
	case *pb.Match_Keyword:
		return v.GetStringValue() == k.Keyword
	case *pb.Match_Keywords:
		return slices.Contains(k.Keywords.GetStrings(), v.GetStringValue())
	case *pb.Match_ExceptKeywords:
		return !slices.Contains(k.ExceptKeywords.GetStrings(), v.GetStringValue())
	case *pb.Match_Integer:
		return isInt && v.GetIntegerValue() == k.Integer
	case *pb.Match_Integers:
		return isInt && slices.Contains(k.Integers.GetIntegers(), v.GetIntegerValue())
	}
	return false
}

func (m *model) check() {
	m.t.Helper()
	f := m.randomFilter()
	var want []uint64
	for id, p := range m.points {
		if modelMatch(f, id, p) {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	m.checkScroll(f, want)
	if n, err := m.c.Count(f); err != nil || n != uint64(len(want)) {
		m.t.Fatalf("count %d, %v, want %d for %v", n, err, len(want), f)
	}
	m.checkSearch(f, want)
}

func (m *model) checkScroll(f *pb.Filter, want []uint64) {
	m.t.Helper()
	var got []uint64
	req := &pb.ScrollPoints{Filter: f, WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true)}
	for {
		page, err := m.c.Scroll(context.Background(), req, 1+m.r.IntN(5))
		if err != nil {
			m.t.Fatal(err)
		}
		for _, p := range page.Points {
			got = append(got, p.GetId().GetNum())
			want := m.points[p.GetId().GetNum()]
			if !slices.Equal(p.GetVectors().GetVector().GetDense().GetData(), want.vector) ||
				!proto.Equal(&pb.Struct{Fields: p.GetPayload()}, &pb.Struct{Fields: want.payload}) {
				m.t.Fatalf("point %d came back as %v, want %v", p.GetId().GetNum(), p, want)
			}
		}
		if page.Next == nil {
			break
		}
		req.Offset = page.Next
	}
	if !slices.Equal(got, want) {
		m.t.Fatalf("scroll gave %v, want %v for %v", got, want, f)
	}
}

func (m *model) checkSearch(f *pb.Filter, want []uint64) {
	m.t.Helper()
	q := []float32{1, -2, 3, 0, 1}
	score := func(id uint64) float64 {
		var s float64
		for i, x := range m.points[id].vector {
			d := float64(x) - float64(q[i])
			s += d * d
		}
		return math.Sqrt(s)
	}
	slices.SortFunc(want, func(a, b uint64) int { return cmp.Or(cmp.Compare(score(a), score(b)), cmp.Compare(a, b)) })
	k := 1 + m.r.IntN(8)
	hits, err := m.c.Search(context.Background(), Query{Vector: q, Filter: f, Limit: uint64(k)})
	if err != nil {
		m.t.Fatal(err)
	}
	if len(hits) != min(k, len(want)) {
		m.t.Fatalf("%d hits of %d for k=%d", len(hits), len(want), k)
	}
	for i, h := range hits {
		if h.GetId().GetNum() != want[i] || math.Abs(float64(h.GetScore())-score(want[i])) > 1e-5 {
			m.t.Fatalf("hit %d is %v, want %d at %v", i, h, want[i], score(want[i]))
		}
	}
}

// Random operations with reopening and crashes give what a map gives.
func TestModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{t: t, r: rand.New(rand.NewPCG(seed, 9)), dir: t.TempDir(), points: map[uint64]modelPoint{}}
			m.engine = openEngine(t, m.dir)
			if err := m.engine.Create("m", config(modelDim, pb.Distance_Euclid)); err != nil {
				t.Fatal(err)
			}
			var err error
			if m.c, err = m.engine.Collection("m"); err != nil {
				t.Fatal(err)
			}
			for i := range 600 {
				m.step()
				switch {
				case i == 50 && seed > 0:
					m.index("run", pb.FieldType_FieldTypeKeyword)
					m.index("n", pb.FieldType_FieldTypeInteger)
					m.index("tags", pb.FieldType_FieldTypeKeyword)
				case i == 400 && seed > 3:
					if err := m.engine.DeleteIndex(m.c, "n"); err != nil {
						t.Fatal(err)
					}
				case i%97 == 0:
					m.reopen(m.r.IntN(2) == 0)
				case i%83 == 0:
					m.compact()
				}
				m.check()
			}
			m.reopen(true)
			m.check()
			m.close()
		})
	}
}

func (m *model) index(key string, kind pb.FieldType) {
	m.t.Helper()
	if err := m.engine.CreateIndex(m.c, key, kind); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) compact() {
	m.t.Helper()
	m.c.write.Lock()
	defer m.c.write.Unlock()
	if err := m.c.compactIf(true); err != nil {
		m.t.Fatal(err)
	}
	if garbage := m.c.log.Size() - m.c.live; garbage > 2000 {
		m.t.Fatalf("%d bytes of garbage after a rewrite", garbage)
	}
}
