package qdrant

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/secret"
)

// childDir tells a copy of the test binary to be a server in that folder.
const childDir = "SPADE_TEST_QDRANT_DIR"

// serveForever is the child: it serves until it is killed.
func serveForever(dir string) int {
	cfg := NewDefaultConfig()
	cfg.Dir, cfg.APIKey = dir, secret.New(testKey)
	s, err := New(cfg, Settings{})
	if err == nil {
		err = s.Start(context.Background())
	}
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("addr", s.Addr())
	time.Sleep(time.Minute) // the parent kills long before; a lost parent leaves no child behind
	return 1
}

// Whatever was acknowledged with wait=true is there after kill -9.
func TestKillNineLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	var acknowledged atomic.Uint64
	for round := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "addr ")
		if err != nil || !ok {
			t.Fatalf("child said %q, %v", line, err)
		}
		c := clientOf(t, &Server{addr: addr}, testKey)
		if round == 0 {
			createCollection(t, c, "a", 8, pb.Distance_Dot)
		}
		stopped := make(chan struct{})
		go func() { // writes until the server dies under it
			defer close(stopped)
			for {
				next := acknowledged.Load() + 1
				_, err := c.Upsert(context.Background(), &pb.UpsertPoints{CollectionName: "a", Wait: pb.PtrOf(true), Points: []*pb.PointStruct{
					point(next, map[string]any{"text": strings.Repeat("x", 5000)}, 1, 2, 3, 4, 5, 6, 7, 8),
				}})
				if err != nil {
					return
				}
				acknowledged.Store(next)
			}
		}()
		for before := acknowledged.Load(); acknowledged.Load() < before+5+uint64(round); {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // reports the kill
		<-stopped
	}
	c := clientOf(t, startIn(t, dir), testKey)
	n, err := c.Count(t.Context(), &pb.CountPoints{CollectionName: "a"})
	if err != nil || n < acknowledged.Load() || n > acknowledged.Load()+4 {
		t.Fatalf("%d points, %v; %d were acknowledged", n, err, acknowledged.Load())
	}
}
