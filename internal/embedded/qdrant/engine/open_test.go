package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
)

// filled makes a store with one collection of n points and closes it.
func filled(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	e := openEngine(t, dir)
	if err := e.Create("a", config(3, pb.Distance_Dot)); err != nil {
		t.Fatal(err)
	}
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := c.Upsert([]*pb.PointStruct{{
			Id: pb.NewIDNum(uint64(i)), Vectors: pb.NewVectors(1, 2, 3),
			Payload: pb.NewValueMap(map[string]any{"k": strings.Repeat("v", 900)}),
		}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDamageIsRefusedNotCutAway(t *testing.T) {
	dir := filled(t, 5)
	path := filepath.Join(dir, "1", "points.log")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[100] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), dir, Settings{Logger: slog.New(slog.DiscardHandler)})
	var damaged *oplog.DamagedError
	if !errors.As(err, &damaged) {
		t.Fatalf("got %v", err)
	}
	data[100] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	e := openEngine(t, dir) // the lock was given back
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderOfAnotherVersionIsNamed(t *testing.T) {
	dir := filled(t, 1)
	path := filepath.Join(dir, catalogueName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"format": 1`, `"format": 7`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), dir, Settings{Logger: slog.New(slog.DiscardHandler)})
	var format *FormatError
	if !errors.As(err, &format) || format.Found != 7 || format.Want != 1 {
		t.Fatalf("got %v", err)
	}
}

func TestLeftoversOfACrashAreRemoved(t *testing.T) {
	dir := filled(t, 1)
	for _, name := range []string{"9", "notes"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := openEngine(t, dir)
	if _, err := os.Stat(filepath.Join(dir, "9")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the leftover folder is still there")
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
		t.Error("a folder of somebody else's was removed")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestGarbageIsDroppedOnStart(t *testing.T) {
	dir := filled(t, 2000)
	path := filepath.Join(dir, "1", "points.log")
	e := openEngine(t, dir)
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Delete(pb.NewPointsSelectorFilter(&pb.Filter{MustNot: []*pb.Condition{pb.NewHasID(pb.NewIDNum(7))}}), true); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, dir)
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if after.Size() > before.Size()/100 {
		t.Errorf("%d bytes before, %d after", before.Size(), after.Size())
	}
	if c, err = e.Collection("a"); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get([]*pb.PointId{pb.NewIDNum(7)}, pb.NewWithPayload(true), nil)
	if err != nil || len(got) != 1 || len(got[0].GetPayload()["k"].GetStringValue()) != 900 {
		t.Errorf("%v, %v", got, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryLimitRefusesTheWriteAndKeepsTheRest(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(context.Background(), dir, Settings{Logger: slog.New(slog.DiscardHandler), MaxVectorBytes: chunkVectors * 3 * 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Create("a", config(3, pb.Distance_Dot)); err != nil {
		t.Fatal(err)
	}
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	batch := func(from, n int) []*pb.PointStruct {
		var out []*pb.PointStruct
		for i := range n {
			out = append(out, &pb.PointStruct{Id: pb.NewIDNum(uint64(from + i)), Vectors: pb.NewVectors(1, 2, 3)})
		}
		return out
	}
	if _, err := c.Upsert(batch(0, chunkVectors), true); err != nil {
		t.Fatal(err)
	}
	_, err = c.Upsert(batch(chunkVectors, 1), true)
	var full *Error
	if !errors.As(err, &full) || full.Kind != Exhausted {
		t.Fatalf("got %v", err)
	}
	if n, err := c.Count(nil); err != nil || n != chunkVectors {
		t.Errorf("%d, %v", n, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, dir)
	if c, err = e.Collection("a"); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(nil); err != nil || n != chunkVectors {
		t.Errorf("after reopening: %d, %v", n, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// A collection that is written and emptied for ever stays as small as it is.
func TestDeletedSlotsAreUsedAgain(t *testing.T) {
	e := openEngine(t, t.TempDir())
	if err := e.Create("a", config(3, pb.Distance_Dot)); err != nil {
		t.Fatal(err)
	}
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 6 {
		var batch []*pb.PointStruct
		for i := range 900 {
			batch = append(batch, &pb.PointStruct{Id: pb.NewIDNum(uint64(1000*round + i)), Vectors: pb.NewVectors(1, 2, 3)})
		}
		if _, err := c.Upsert(batch, false); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Delete(pb.NewPointsSelectorFilter(&pb.Filter{}), false); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.ids) != 900 || len(c.vectors) != 1 || c.live != 0 {
		t.Errorf("%d slots, %d chunks, %d bytes live", len(c.ids), len(c.vectors), c.live)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNestedConditionsJudgeOneElement(t *testing.T) {
	e := openEngine(t, t.TempDir())
	if err := e.Create("a", config(1, pb.Distance_Dot)); err != nil {
		t.Fatal(err)
	}
	c, err := e.Collection("a")
	if err != nil {
		t.Fatal(err)
	}
	element := func(name string, v int) any { return map[string]any{"name": name, "v": v} }
	for i, list := range [][]any{{element("x", 1), element("y", 2)}, {element("x", 2), element("y", 1)}} {
		if _, err := c.Upsert([]*pb.PointStruct{{
			Id: pb.NewIDNum(uint64(i)), Vectors: pb.NewVectors(1), Payload: pb.NewValueMap(map[string]any{"facts": list}),
		}}, true); err != nil {
			t.Fatal(err)
		}
	}
	n, err := c.Count(&pb.Filter{Must: []*pb.Condition{pb.NewNestedFilter("facts", &pb.Filter{
		Must: []*pb.Condition{pb.NewMatch("name", "x"), pb.NewMatchInt("v", 2)},
	})}})
	if err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	deep := &pb.Filter{}
	for range 100 {
		deep = &pb.Filter{Must: []*pb.Condition{pb.NewFilterAsCondition(deep)}}
	}
	var bad *Error
	if _, err := c.Count(deep); !errors.As(err, &bad) || bad.Kind != Invalid {
		t.Errorf("a filter 100 deep: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
