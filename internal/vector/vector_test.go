package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "canary-key-9920"

func serve(t testing.TB, dir, addr string) *qdrant.Server {
	t.Helper()
	s, err := qdrant.New(qdrant.Config{Dir: dir, Addr: addr, APIKey: secret.New(testKey)}, qdrant.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func clientTo(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// realServer is the Qdrant that the user's settings name, which these tests then run
// on instead of the embedded server: what holds here must hold there.
func realServer() Config {
	return Config{
		Addr: os.Getenv("SPADE_QDRANT_ADDR"), APIKey: secret.New(os.Getenv("SPADE_QDRANT_API_KEY")),
		TLS: os.Getenv("SPADE_QDRANT_TLS") == "true", CAFile: os.Getenv("SPADE_QDRANT_CA"),
	}
}

func newClient(t testing.TB) *Client {
	t.Helper()
	cfg := realServer()
	if cfg.Addr == "" {
		cfg = Config{Addr: serve(t, t.TempDir(), "127.0.0.1:0").Addr(), APIKey: secret.New(testKey)}
	}
	c := clientTo(t, cfg)
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, left := range []Collection{things, foreign, benched} {
		if err := c.DeleteCollection(t.Context(), left.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

var things = Collection{Kind: "things", Model: "m/1", Dim: 4, Indexes: map[string]IndexKind{
	"run": KeywordIndex, "n": IntegerIndex, "off": BoolIndex,
}}

var (
	foreign = Collection{Kind: "foreign", Model: "m", Dim: 4}
	benched = Collection{Kind: "bench", Model: "m", Dim: 256, Indexes: map[string]IndexKind{"run": KeywordIndex, "iteration": IntegerIndex}}
)

func ensure(t testing.TB, c *Client) Ensured {
	t.Helper()
	all, err := c.EnsureCollections(t.Context(), things)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func id(n int) uuid.UUID { return uuid.NewSHA1(uuid.Nil, fmt.Append(nil, n)) }

func TestRoundTrip(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	ctx := t.Context()
	var all []Point
	for i := range 600 {
		all = append(all, Point{ID: id(i), Vector: []float32{float32(i), 1, 0, -1}, Payload: map[string]any{
			"run": fmt.Sprint("r", i%3), "n": i, "off": i%2 == 0, "x": 1.5, "none": nil, "list": []any{"a", int64(2)}, "text": "nul \x00 and ü",
		}})
	}
	if err := c.Upsert(ctx, at.Name, all); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(ctx, at.Name, id(5), id(1000), id(3))
	if err != nil || len(got) != 2 || got[0].ID != id(5) || got[1].ID != id(3) {
		t.Fatalf("%v, %v", got, err)
	}
	for key, want := range map[string]any{"run": "r2", "n": int64(5), "off": false, "x": 1.5, "none": nil, "text": "nul \x00 and ü"} {
		if got[0].Payload[key] != want {
			t.Errorf("%s came back as %v", key, got[0].Payload[key])
		}
	}
	for where, want := range map[Condition]int64{
		{}:                                      600,
		All(Equal("run", "r0"), Below("n", 30)): 10,
		All(AtLeast("n", 590), Equal("off", true)): 5,
		Any(Equal("n", 3), Equal("n", int64(4))):   2,
		In("run", "r0", "r1"):                      400,
		In("run"):                                  0,
		Not(In("run", "r0")):                       400,
		HasID(id(1), id(2), id(5000)):              2,
		Never():                                    0,
	} {
		n, err := c.Count(ctx, at.Name, where)
		if err != nil || n != want {
			t.Errorf("%v: %d, %v, want %d", where.filter(), n, err, want)
		}
	}
	there, err := c.Exists(ctx, at.Name, id(1), id(599), id(600))
	if err != nil || len(there) != 2 || !there[id(1)] || !there[id(599)] {
		t.Errorf("%v, %v", there, err)
	}
	seen := map[uuid.UUID]bool{}
	if err := c.Scroll(ctx, at.Name, Equal("run", "r1"), func(h Hit) error {
		seen[h.ID] = true
		return nil
	}); err != nil || len(seen) != 200 {
		t.Errorf("scrolled over %d, %v", len(seen), err)
	}
	boom := errors.New("boom")
	if err := c.Scroll(ctx, at.Name, Condition{}, func(Hit) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if err := c.Delete(ctx, at.Name, id(1), id(2), id(9999)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(ctx, at.Name, Condition{}); err != nil || n != 598 {
		t.Errorf("%d, %v", n, err)
	}
}

// Search gives what a plain scan in float64 gives, bit for bit.
func TestSearchIsExactAndOrdered(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	r := rand.New(rand.NewPCG(5, 6))
	vectors := map[uuid.UUID][]float32{}
	var all []Point
	for i := range 500 {
		v := []float32{float32(r.IntN(3)), float32(r.IntN(3)), float32(r.IntN(3)), 1} // many ties
		vectors[id(i)] = Normalize(v)
		all = append(all, Point{ID: id(i), Vector: v})
	}
	if err := c.Upsert(t.Context(), at.Name, all); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		q := []float32{r.Float32(), r.Float32(), r.Float32(), r.Float32()}
		var scores []float64
		for _, v := range vectors {
			scores = append(scores, Cosine(Normalize(q), v))
		}
		slices.Sort(scores)
		slices.Reverse(scores)
		hits, err := c.Search(t.Context(), at.Name, q, Condition{}, 7)
		if err != nil || len(hits) != 7 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		for i, h := range hits {
			if h.Score != scores[i] || h.Score != Cosine(Normalize(q), vectors[h.ID]) {
				t.Fatalf("hit %d scores %v, want %v", i, h.Score, scores[i])
			}
			if i > 0 && hits[i-1].Score == h.Score && hits[i-1].ID.String() > h.ID.String() {
				t.Fatal("ties are not in id order")
			}
		}
	}
}

func TestInsertLeavesWhatIsThere(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	ctx := t.Context()
	if err := c.Upsert(ctx, at.Name, []Point{{ID: id(1), Vector: []float32{1, 0, 0, 0}, Payload: map[string]any{"by": "first"}}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Insert(ctx, at.Name, []Point{
		{ID: id(1), Vector: []float32{0, 1, 0, 0}, Payload: map[string]any{"by": "second"}},
		{ID: id(2), Vector: []float32{0, 1, 0, 0}, Payload: map[string]any{"by": "second"}},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(ctx, at.Name, id(1), id(2))
	if err != nil || len(got) != 2 || got[0].Payload["by"] != "first" || got[0].Vector[0] != 1 || got[1].Payload["by"] != "second" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCosineIsRounded(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float32
		want float64
	}{
		"same":       {[]float32{1, 2, 3}, []float32{2, 4, 6}, 1},
		"opposite":   {[]float32{1, 0}, []float32{-1, 0}, -1},
		"zero":       {[]float32{0, 0}, []float32{1, 0}, 0},
		"third":      {[]float32{1, 0}, []float32{1, 2.8284271}, 0.333333},
		"other size": {[]float32{1}, []float32{1, 2}, 0},
	} {
		if got := Cosine(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What is stored does not depend on whether a server normalises as well.
func TestStoredVectorsAreTheNormalisedOnes(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	v := []float32{0.1, 0.7, -3, 11}
	if err := c.Upsert(t.Context(), at.Name, []Point{{ID: id(1), Vector: v}}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(t.Context(), at.Name, id(1))
	if err != nil || !slices.Equal(got[0].Vector, Normalize(v)) {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestCollections(t *testing.T) {
	c := newClient(t)
	first := ensure(t, c)
	if again := ensure(t, c); again.Generation != first.Generation || first.Generation == "" {
		t.Errorf("generation %q became %q", first.Generation, again.Generation)
	}
	if err := c.DeleteCollection(t.Context(), first.Name); err != nil {
		t.Fatal(err)
	}
	if anew := ensure(t, c); anew.Generation == first.Generation {
		t.Error("a new collection has the old generation")
	}
	names := map[string]bool{}
	for _, x := range []Collection{
		{Kind: "a", Model: "m", Dim: 2},
		{Kind: "a", Model: "m", Dim: 3},
		{Kind: "b", Model: "m", Dim: 2},
		{Kind: "a", Model: "m/x", Dim: 2},
		{Kind: "a", Model: "m:x", Dim: 2},
		{Kind: "a", Model: strings.Repeat("long", 90), Dim: 2},
	} {
		if names[x.Name()] || len(x.Name()) > 200 || strings.ContainsAny(x.Name(), "/:") {
			t.Errorf("name %q", x.Name())
		}
		names[x.Name()] = true
	}
}

func TestErrorsHaveClasses(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	ctx := t.Context()
	var dim *DimensionError
	if err := c.Upsert(ctx, at.Name, []Point{{ID: id(1), Vector: []float32{1}}}); !errors.As(err, &dim) || dim.Want != 4 || dim.Got != 1 {
		t.Errorf("short vector: %v", err)
	}
	if _, err := c.Search(ctx, at.Name, []float32{1}, Condition{}, 3); !errors.As(err, &dim) {
		t.Errorf("short query: %v", err)
	}
	if _, err := c.Count(ctx, "none", Condition{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("no collection: %v", err)
	}
	if err := c.Upsert(ctx, at.Name, []Point{{ID: id(1), Vector: []float32{1, 2, 3, 4}, Payload: map[string]any{"c": make(chan int)}}}); !errors.Is(err, ErrRejected) {
		t.Errorf("bad payload: %v", err)
	}
	wrong := clientTo(t, Config{Addr: c.cfg.Addr, APIKey: secret.New("canary-wrong")})
	err := wrong.Ready(ctx)
	if !errors.Is(err, ErrUnauthorized) || strings.Contains(err.Error(), "canary") {
		t.Errorf("wrong key: %v", err)
	}
	for name, req := range map[string]*pb.CreateCollection{
		"distance": {VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 4, Distance: pb.Distance_Dot})},
		"model":    {VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 4, Distance: pb.Distance_Cosine})},
		"not made by this program": {
			VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 4, Distance: pb.Distance_Cosine}),
			Metadata:      map[string]*pb.Value{"spade_model": pb.NewValueString("m")},
		},
	} {
		req.CollectionName = foreign.Name()
		if err := c.qdrant.CreateCollection(ctx, req); err != nil {
			t.Fatal(err)
		}
		var mismatch *MismatchError
		if _, err := c.EnsureCollections(ctx, foreign); !errors.As(err, &mismatch) || !strings.Contains(mismatch.Reason, name) {
			t.Errorf("foreign collection: %v, want its %s named", err, name)
		}
		if err := c.DeleteCollection(ctx, foreign.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, addr := range []string{"", "host", "host:", ":6334", "host:0", "host:x", "host:99999"} {
		if _, err := New(Config{Addr: addr}, Settings{}); err == nil {
			t.Errorf("%q was accepted", addr)
		}
	}
}

// A store that is away for a while is waited for; one that stays away gives
// ErrUnavailable when the patience or the context ends.
func TestAbsentStore(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, "127.0.0.1:0")
	addr := s.Addr()
	c := clientTo(t, Config{Addr: addr, APIKey: secret.New(testKey)})
	at := ensure(t, c)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	impatient := clientTo(t, Config{Addr: addr, APIKey: secret.New(testKey), RetryFor: -1})
	if err := impatient.Ready(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("absent store: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("context ended: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Upsert(t.Context(), at.Name, []Point{{ID: id(1), Vector: []float32{1, 2, 3, 4}}}) }()
	serve(t, dir, addr)
	if err := <-done; err != nil {
		t.Errorf("write over a restart: %v", err)
	}
}

type oldServer struct{ pb.UnimplementedQdrantServer }

func (oldServer) HealthCheck(context.Context, *pb.HealthCheckRequest) (*pb.HealthCheckReply, error) {
	return &pb.HealthCheckReply{Version: "1.9.0"}, nil
}

func TestWrongVersion(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	pb.RegisterQdrantServer(g, oldServer{})
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	t.Cleanup(func() { g.Stop(); <-served })
	var wrong *WrongVersionError
	if err := clientTo(t, Config{Addr: l.Addr().String()}).Ready(t.Context()); !errors.As(err, &wrong) || wrong.Server != "1.9.0" {
		t.Fatalf("got %v", err)
	}
	for version, want := range map[string]bool{"1.16.0": true, "v1.18.3": true, "1.19.0": false, "2.17.0": false, "x": false, "": false} {
		if compatible(version) != want {
			t.Errorf("compatible(%q) is %v", version, !want)
		}
	}
}

func TestLargeWritesAreSplit(t *testing.T) {
	c := newClient(t)
	at := ensure(t, c)
	var all []Point
	for i := range 300 {
		all = append(all, Point{ID: id(i), Vector: []float32{1, 0, 0, 0}, Payload: map[string]any{"text": strings.Repeat("x", 256<<10)}})
	}
	if err := c.Upsert(t.Context(), at.Name, all); err != nil { // 75 MiB: over the size of one message
		t.Fatal(err)
	}
	if n, err := c.Count(t.Context(), at.Name, Condition{}); err != nil || n != 300 {
		t.Fatalf("%d, %v", n, err)
	}
}

func BenchmarkDedupQuery(b *testing.B) {
	const n, runs = 100_000, 50
	c := newClient(b)
	all, err := c.EnsureCollections(b.Context(), benched)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, 256)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for i := 0; i < n; i += 1000 {
		points := make([]Point, 1000)
		for j := range points {
			points[j] = Point{ID: id(i + j), Vector: vector(), Payload: map[string]any{"run": fmt.Sprint((i + j) % runs), "iteration": j % 20}}
		}
		if err := c.Upsert(b.Context(), all[0].Name, points); err != nil {
			b.Fatal(err)
		}
	}
	for _, bench := range []struct {
		name  string
		where Condition
	}{
		{"all", Condition{}},
		{"run_and_iteration", All(In("run", "7"), Below("iteration", 15))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var took []float64
			for b.Loop() {
				q := vector()
				began := time.Now()
				if hits, err := c.Search(b.Context(), all[0].Name, q, bench.where, 8); err != nil || len(hits) != 8 {
					b.Fatalf("%d hits, %v", len(hits), err)
				}
				took = append(took, float64(time.Since(began))/1e6)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[int(math.Ceil(float64(len(took))*0.99))-1], "p99-ms")
		})
	}
}
