package qdrant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
)

func TestLifecycle(t *testing.T) {
	ctx := context.Background()
	cfg := NewDefaultConfig()
	cfg.Dir = t.TempDir()
	s, err := New(cfg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatalf("shutdown without start: %v", err)
	}
	if err := s.Start(ctx); err == nil {
		t.Fatal("start after shutdown succeeded")
	}
	s = startIn(t, cfg.Dir)
	if err := s.Start(ctx); err == nil {
		t.Fatal("second start succeeded")
	}
	cfg.Addr = s.Addr()
	taken, err := New(cfg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var locked *engine.LockedError
	if err := taken.Start(ctx); !errors.As(err, &locked) || locked.Owner != os.Getpid() {
		t.Fatalf("second server in one folder: %v", err)
	}
	cfg.Dir = t.TempDir()
	if taken, err = New(cfg, Settings{}); err != nil {
		t.Fatal(err)
	}
	if err := taken.Start(ctx); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatalf("taken port: %v", err)
	}
	stop(t, s)
	stop(t, s)
	again := startIn(t, s.cfg.Dir)
	if again.Addr() == "" {
		t.Fatal("no address")
	}
}

func TestConfigErrorsAreAllNamed(t *testing.T) {
	_, err := New(Config{Addr: "0.0.0.0:1", MaxVectorBytes: -1}, Settings{})
	for _, want := range []string{"no folder", "loopback", "memory limit"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
}

// The version that is answered must suit the client library that is linked in.
func TestVersionSuitsTheClient(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`qdrant/go-client v(\S+)`).FindSubmatch(mod)
	if m == nil || !pb.IsCompatible(string(m[1]), protocolVersion) {
		t.Fatalf("client %s, served %s", m, protocolVersion)
	}
	_, c := newTestClient(t)
	h, err := c.HealthCheck(t.Context())
	if err != nil || h.GetVersion() != protocolVersion {
		t.Fatalf("%v, %v", h, err)
	}
}

func TestAuthentication(t *testing.T) {
	s := startIn(t, t.TempDir())
	for name, key := range map[string]string{"none": "", "wrong": "x", "prefix": testKey[:5]} {
		_, err := clientOf(t, s, key).ListCollections(t.Context())
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: the key is in the error", name)
		}
	}
	bearer := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+testKey)
	if _, err := clientOf(t, s, "").ListCollections(bearer); err != nil {
		t.Errorf("bearer: %v", err)
	}
}

func TestWhatIsNotBuiltIsNamed(t *testing.T) {
	_, c := newTestClient(t)
	createCollection(t, c, "a", 2, pb.Distance_Dot)
	_, facet := c.Facet(t.Context(), &pb.FacetCounts{CollectionName: "a", Key: "k"})
	_, snapshot := c.CreateSnapshot(t.Context(), "a")
	_, prefetch := c.Query(t.Context(), &pb.QueryPoints{CollectionName: "a", Prefetch: []*pb.PrefetchQuery{{}}})
	_, sample := c.Query(t.Context(), &pb.QueryPoints{CollectionName: "a", Query: pb.NewQuerySample(pb.Sample_Random)})
	_, order := c.Scroll(t.Context(), &pb.ScrollPoints{CollectionName: "a", OrderBy: &pb.OrderBy{Key: "k"}})
	_, geo := c.Count(t.Context(), &pb.CountPoints{CollectionName: "a", Filter: &pb.Filter{
		Must: []*pb.Condition{pb.NewGeoRadius("g", 1, 2, 3)},
	}})
	named := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: "n", VectorsConfig: pb.NewVectorsConfigMap(map[string]*pb.VectorParams{"x": {Size: 2}}),
	})
	for want, err := range map[string]error{
		"/qdrant.Points/Facet": facet, "/qdrant.Snapshots/Create": snapshot, "prefetch": prefetch,
		"Query_Sample": sample, "order_by": order, "geo condition": geo, "named vectors": named,
	} {
		if status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestErrorsAreThoseOfQdrant(t *testing.T) {
	_, c := newTestClient(t)
	ctx := t.Context()
	createCollection(t, c, "a", 3, pb.Distance_Cosine)
	_, missing := c.Count(ctx, &pb.CountPoints{CollectionName: "nope"})
	twice := c.CreateCollection(ctx, &pb.CreateCollection{
		CollectionName: "a", VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 3, Distance: pb.Distance_Dot}),
	})
	_, dim := c.Upsert(ctx, &pb.UpsertPoints{CollectionName: "a", Points: []*pb.PointStruct{point(1, nil, 1, 2)}})
	_, queryDim := c.Query(ctx, &pb.QueryPoints{CollectionName: "a", Query: pb.NewQuery(1, 2)})
	_, empty := c.Upsert(ctx, &pb.UpsertPoints{CollectionName: "a"})
	_, badID := c.Upsert(ctx, &pb.UpsertPoints{CollectionName: "a", Points: []*pb.PointStruct{
		{Id: pb.NewID("not-a-uuid"), Vectors: pb.NewVectors(1, 2, 3)},
	}})
	_, noPoint := c.SetPayload(ctx, &pb.SetPayloadPoints{
		CollectionName: "a", PointsSelector: pb.NewPointsSelector(pb.NewIDNum(9)), Payload: pb.NewValueMap(map[string]any{"k": 1}),
	})
	zeroDim := c.CreateCollection(ctx, &pb.CreateCollection{
		CollectionName: "z", VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Distance: pb.Distance_Dot}),
	})
	for _, e := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{missing, codes.NotFound, "Not found: Collection `nope` doesn't exist!"},
		{twice, codes.AlreadyExists, "Wrong input: Collection `a` already exists!"},
		{dim, codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: 3, got 2"},
		{queryDim, codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: 3, got 2"},
		{empty, codes.InvalidArgument, "Empty update request"},
		{badID, codes.InvalidArgument, "Unable to parse UUID: not-a-uuid"},
		{noPoint, codes.NotFound, "No point with id 9 found"},
		{zeroDim, codes.InvalidArgument, "vector size 0"},
	} {
		if status.Code(e.err) != e.code || !strings.Contains(e.err.Error(), e.text) {
			t.Errorf("want %v %q, got %v", e.code, e.text, e.err)
		}
	}
}

func TestAliases(t *testing.T) {
	_, c := newTestClient(t)
	ctx := t.Context()
	createCollection(t, c, "one", 2, pb.Distance_Dot)
	createCollection(t, c, "two", 2, pb.Distance_Dot)
	if err := c.CreateAlias(ctx, "now", "one"); err != nil {
		t.Fatal(err)
	}
	upsert(t, c, "now", point(1, nil, 1, 2))
	if n, err := c.Count(ctx, &pb.CountPoints{CollectionName: "one"}); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	if err := c.RenameAlias(ctx, "now", "later"); err != nil {
		t.Fatal(err)
	}
	all, err := c.ListAliases(ctx)
	if err != nil || len(all) != 1 || all[0].GetAliasName() != "later" || all[0].GetCollectionName() != "one" {
		t.Fatalf("%v, %v", all, err)
	}
	if of, err := c.ListCollectionAliases(ctx, "two"); err != nil || len(of) != 0 {
		t.Fatalf("%v, %v", of, err)
	}
	if err := c.CreateAlias(ctx, "two", "one"); status.Code(err) != codes.AlreadyExists {
		t.Fatalf("alias over a collection: %v", err)
	}
	if err := c.DeleteCollection(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if all, err = c.ListAliases(ctx); err != nil || len(all) != 0 {
		t.Fatalf("aliases outlived their collection: %v, %v", all, err)
	}
	names, err := c.ListCollections(ctx)
	if err != nil || !slices.Equal(names, []string{"two"}) {
		t.Fatalf("%v, %v", names, err)
	}
}

func TestGzipAndRawStub(t *testing.T) {
	s := startIn(t, t.TempDir())
	conn, err := grpc.NewClient(s.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "api-key", testKey)
	reply, err := pb.NewQdrantClient(conn).HealthCheck(ctx, &pb.HealthCheckRequest{}, grpc.UseCompressor(gzip.Name))
	if err != nil || reply.GetVersion() == "" {
		t.Fatalf("%v, %v", reply, err)
	}
}

func TestPayloadChangesAndIndexesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	s := startIn(t, dir)
	c := clientOf(t, s, testKey)
	ctx := t.Context()
	createCollection(t, c, "a", 2, pb.Distance_Cosine)
	if _, err := c.CreateFieldIndex(ctx, &pb.CreateFieldIndexCollection{
		CollectionName: "a", FieldName: "run", FieldType: pb.FieldType_FieldTypeKeyword.Enum(),
	}); err != nil {
		t.Fatal(err)
	}
	upsert(t, c, "a", point(1, map[string]any{"run": "r", "drop": 1}, 3, 4), point(2, map[string]any{"run": "q"}, 1, 0))
	sel := pb.NewPointsSelectorFilter(&pb.Filter{Must: []*pb.Condition{pb.NewMatch("run", "r")}})
	if _, err := c.SetPayload(ctx, &pb.SetPayloadPoints{
		CollectionName: "a", Wait: pb.PtrOf(true), PointsSelector: sel, Payload: pb.NewValueMap(map[string]any{"withdrawn": true}),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeletePayload(ctx, &pb.DeletePayloadPoints{
		CollectionName: "a", Wait: pb.PtrOf(true), PointsSelector: sel, Keys: []string{"drop"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ClearPayload(ctx, &pb.ClearPayloadPoints{
		CollectionName: "a", Wait: pb.PtrOf(true), Points: pb.NewPointsSelector(pb.NewIDNum(2)),
	}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	c = clientOf(t, startIn(t, dir), testKey)
	got, err := c.Get(ctx, &pb.GetPoints{
		CollectionName: "a", Ids: []*pb.PointId{pb.NewIDNum(2), pb.NewIDNum(1), pb.NewIDNum(5)},
		WithPayload: pb.NewWithPayload(true), WithVectors: pb.NewWithVectors(true),
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if len(got[0].GetPayload()) != 0 || len(got[1].GetPayload()) != 2 || !got[1].GetPayload()["withdrawn"].GetBoolValue() {
		t.Errorf("payloads: %v", got)
	}
	if v := got[1].GetVectors().GetVector().GetDenseVector().GetData(); !slices.Equal(v, []float32{0.6, 0.8}) {
		t.Errorf("cosine vector came back as %v", v)
	}
	info, err := c.GetCollectionInfo(ctx, "a")
	if err != nil || info.GetPointsCount() != 2 || info.GetPayloadSchema()["run"].GetPoints() != 1 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestScoresAndThresholds(t *testing.T) {
	_, c := newTestClient(t)
	for d, want := range map[pb.Distance][]float32{
		pb.Distance_Cosine: {1, 0}, pb.Distance_Dot: {2, 0}, pb.Distance_Euclid: {1, 3.1622777}, pb.Distance_Manhattan: {1, 4},
	} {
		name := d.String()
		createCollection(t, c, name, 2, d)
		upsert(t, c, name, point(1, nil, 2, 0), point(2, nil, 0, 3))
		hits, err := c.Query(t.Context(), &pb.QueryPoints{CollectionName: name, Query: pb.NewQuery(1, 0)})
		if err != nil || len(hits) != 2 || hits[0].GetScore() != want[0] || hits[1].GetScore() != want[1] {
			t.Errorf("%s: %v, %v", name, hits, err)
		}
		threshold := want[0]
		hits, err = c.Query(t.Context(), &pb.QueryPoints{CollectionName: name, Query: pb.NewQuery(1, 0), ScoreThreshold: &threshold})
		if err != nil || len(hits) != 1 || hits[0].GetId().GetNum() != 1 {
			t.Errorf("%s with threshold: %v, %v", name, hits, err)
		}
	}
}

func TestQueryByStoredPointLeavesItOut(t *testing.T) {
	_, c := newTestClient(t)
	createCollection(t, c, "a", 2, pb.Distance_Dot)
	upsert(t, c, "a", point(1, nil, 1, 0), point(2, nil, 2, 0), point(3, nil, 0, 1))
	hits, err := c.Query(t.Context(), &pb.QueryPoints{CollectionName: "a", Query: pb.NewQueryID(pb.NewIDNum(1))})
	if err != nil || len(hits) != 2 || hits[0].GetId().GetNum() != 2 {
		t.Fatalf("%v, %v", hits, err)
	}
}

// Readers and writers at once, under the race detector.
func TestConcurrentUse(t *testing.T) {
	_, c := newTestClient(t)
	createCollection(t, c, "a", 4, pb.Distance_Dot)
	ctx := t.Context()
	var wg sync.WaitGroup
	fail := make(chan error, 64)
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				id := uint64(w*1000 + i)
				_, err := c.Upsert(ctx, &pb.UpsertPoints{CollectionName: "a", Points: []*pb.PointStruct{point(id, map[string]any{"w": w}, 1, 2, 3, float32(i))}})
				fail <- err
				_, err = c.Query(ctx, &pb.QueryPoints{CollectionName: "a", Query: pb.NewQuery(1, 1, 1, 1), Filter: &pb.Filter{
					Must: []*pb.Condition{pb.NewMatchInt("w", int64(w))},
				}})
				fail <- err
				if i == 20 {
					_, err = c.CreateFieldIndex(ctx, &pb.CreateFieldIndexCollection{
						CollectionName: "a", FieldName: "w", FieldType: pb.FieldType_FieldTypeInteger.Enum(),
					})
					fail <- err
				}
			}
		})
	}
	go func() { wg.Wait(); close(fail) }()
	for err := range fail {
		if err != nil {
			t.Error(err)
		}
	}
	if n, err := c.Count(ctx, &pb.CountPoints{CollectionName: "a"}); err != nil || n != 200 {
		t.Fatalf("%d, %v", n, err)
	}
}

func TestCodesOfErrorsBelow(t *testing.T) {
	for want, err := range map[codes.Code]error{
		codes.ResourceExhausted: fmt.Errorf("append to log: %w", &os.PathError{Op: "write", Err: syscall.ENOSPC}),
		codes.Unavailable:       fmt.Errorf("sync: %w", oplog.ErrUnusable),
		codes.Canceled:          fmt.Errorf("search: %w", context.Canceled),
		codes.DeadlineExceeded:  context.DeadlineExceeded,
		codes.Internal:          errors.New("something else"),
	} {
		if got := codeOf(err); got != want {
			t.Errorf("%v gives %v, want %v", err, got, want)
		}
	}
}

func TestUpsertWithAFilterReplacesWhatMatches(t *testing.T) {
	_, c := newTestClient(t)
	ctx := t.Context()
	createCollection(t, c, "a", 2, pb.Distance_Dot)
	upsert(t, c, "a", point(1, map[string]any{"open": true}, 1, 0), point(2, map[string]any{"open": false}, 1, 0))
	put := func(filter *pb.Filter) {
		t.Helper()
		if _, err := c.Upsert(ctx, &pb.UpsertPoints{
			CollectionName: "a", Wait: pb.PtrOf(true), UpdateFilter: filter,
			Points: []*pb.PointStruct{point(1, nil, 0, 2), point(2, nil, 0, 2), point(3, nil, 0, 2)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	replaced := func() (ids []uint64) {
		t.Helper()
		found, err := c.Query(ctx, &pb.QueryPoints{CollectionName: "a", Query: pb.NewQuery(0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if p.GetScore() == 2 {
				ids = append(ids, p.GetId().GetNum())
			}
		}
		slices.Sort(ids)
		return ids
	}
	put(&pb.Filter{Must: []*pb.Condition{pb.NewHasID()}})
	if got := replaced(); !slices.Equal(got, []uint64{3}) {
		t.Errorf("a filter that never holds replaced or did not insert: %v", got)
	}
	put(&pb.Filter{Must: []*pb.Condition{pb.NewMatchBool("open", true)}})
	if got := replaced(); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("a filter replaced %v", got)
	}
}
