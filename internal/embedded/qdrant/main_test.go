package qdrant

import (
	"context"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/secret"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(serveForever(dir))
	}
	goleak.VerifyTestMain(m)
}

const testKey = "canary-key-7731"

func startIn(t testing.TB, dir string) *Server {
	t.Helper()
	cfg := NewDefaultConfig()
	cfg.Dir, cfg.APIKey = dir, secret.New(testKey)
	s, err := New(cfg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

func clientOf(t testing.TB, s *Server, key string) *pb.Client {
	t.Helper()
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pb.NewClient(&pb.Config{Host: host, Port: n, APIKey: key, PoolSize: 1, SkipCompatibilityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return c
}

func newTestClient(t testing.TB) (*Server, *pb.Client) {
	t.Helper()
	s := startIn(t, t.TempDir())
	return s, clientOf(t, s, testKey)
}

func createCollection(t testing.TB, c *pb.Client, name string, dim uint64, d pb.Distance) {
	t.Helper()
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: name, VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: dim, Distance: d}),
	})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
}

func upsert(t testing.TB, c *pb.Client, name string, points ...*pb.PointStruct) {
	t.Helper()
	res, err := c.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: name, Wait: pb.PtrOf(true), Points: points})
	if err != nil {
		t.Fatalf("upsert: %v", err)
	}
	if res.GetStatus() != pb.UpdateStatus_Completed {
		t.Fatalf("upsert with wait answered %v", res.GetStatus())
	}
}

func point(id uint64, payload map[string]any, v ...float32) *pb.PointStruct {
	return &pb.PointStruct{Id: pb.NewIDNum(id), Vectors: pb.NewVectors(v...), Payload: pb.NewValueMap(payload)}
}
