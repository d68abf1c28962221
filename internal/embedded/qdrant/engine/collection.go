package engine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/index"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/oplog"
	"github.com/seed256f7767/spade/internal/embedded/qdrant/payload"
)

// chunkVectors is the number of vectors in one allocation: large enough to scan
// fast, small enough that a small collection stays small.
const chunkVectors = 1024

// Collection is one collection of points. All methods may be called
// concurrently.
type Collection struct {
	engine   *Engine
	name     string
	folder   string
	config   *pb.CollectionConfig
	dim      int
	distance pb.Distance

	write sync.Mutex // serialises writers; guards the following
	next  uint64     // version of the next operation

	mu      sync.RWMutex // guards the following; writers hold write too
	log     *oplog.Log
	dropped bool
	slotOf  map[ID]uint32
	ids     []ID // by slot; the zero ID is a free slot
	vectors [][]float32
	// sketches are of the vectors, chunk by chunk as they are; none where they do
	// not make searches faster.
	sketches []sketches
	where    []place
	version  []uint64
	free     []uint32
	live     int64 // bytes of the log that a rewrite would keep, about
	fields   map[string]*field

	sorted sortedIDs
}

// place is where a point's payload lies in the log.
type place struct {
	offset int64
	size   uint32
}

// field is one indexed key; values is nil for types evaluated from payloads.
type field struct {
	kind   pb.FieldType
	path   payload.Path
	values *index.Field
}

func newCollection(e *Engine, name, folder string, cfg *pb.CollectionConfig) *Collection {
	params := cfg.GetParams().GetVectorsConfig().GetParams()
	return &Collection{
		engine: e, name: name, folder: folder, config: cfg,
		dim: int(params.GetSize()), distance: params.GetDistance(),
		next: 1, slotOf: map[ID]uint32{}, fields: map[string]*field{},
	}
}

func createCollection(e *Engine, name, folder string, cfg *pb.CollectionConfig) (*Collection, error) {
	c := newCollection(e, name, folder, cfg)
	if err := os.MkdirAll(filepath.Dir(c.logPath()), 0o700); err != nil {
		return nil, fmt.Errorf("create collection: %w", err)
	}
	if err := oplog.SyncDir(e.dir); err != nil {
		return nil, err
	}
	return c, c.openLog()
}

func openCollection(e *Engine, entry collectionEntry) (*Collection, error) {
	cfg := &pb.CollectionConfig{}
	if err := proto.Unmarshal(entry.Config, cfg); err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	if err := checkConfig(cfg); err != nil {
		return nil, err
	}
	c := newCollection(e, entry.Name, entry.Folder, cfg)
	for key, kind := range entry.Indexes {
		f, err := newField(key, pb.FieldType(kind))
		if err != nil {
			return nil, err
		}
		c.fields[key] = f
	}
	if err := c.openLog(); err != nil {
		return nil, err
	}
	if err := c.compactIf(c.log.Size()-c.live > max(c.live, compactMinBytes)); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *Collection) logPath() string {
	return filepath.Join(c.engine.dir, c.folder, "points.log")
}

func (c *Collection) openLog() error {
	log, err := oplog.Open(c.logPath(), c.engine.logger, c.replay)
	if err != nil {
		return err
	}
	c.log = log
	return nil
}

// entry describes the collection for the catalogue; e.mu is held.
func (c *Collection) entry() collectionEntry {
	cfg, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.config)
	if err != nil {
		// Not reachable: the config came out of a request or the catalogue, so it
		// is valid; an entry without config is refused on open.
		cfg = nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	indexes := make(map[string]int32, len(c.fields))
	for key, f := range c.fields {
		indexes[key] = int32(f.kind)
	}
	return collectionEntry{Name: c.name, Folder: c.folder, Config: cfg, Indexes: indexes}
}

// Info describes the collection as Qdrant's collection info does.
func (c *Collection) Info() *pb.CollectionInfo {
	c.mu.RLock()
	defer c.mu.RUnlock()
	n := uint64(len(c.slotOf))
	info := &pb.CollectionInfo{
		Status: pb.CollectionStatus_Green, OptimizerStatus: &pb.OptimizerStatus{Ok: true},
		SegmentsCount: 1, Config: c.config, PointsCount: &n, IndexedVectorsCount: &n,
		PayloadSchema: make(map[string]*pb.PayloadSchemaInfo, len(c.fields)),
	}
	for key, f := range c.fields {
		points := n
		if f.values != nil {
			points = uint64(f.values.Points())
		}
		info.PayloadSchema[key] = &pb.PayloadSchemaInfo{DataType: schemaType(f.kind), Points: &points}
	}
	return info
}

// drop closes the collection and deletes its files.
func (c *Collection) drop() error {
	err := c.close()
	return errors.Join(err, os.RemoveAll(filepath.Join(c.engine.dir, c.folder)))
}

func (c *Collection) close() error {
	c.write.Lock()
	defer c.write.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped {
		return nil
	}
	c.dropped = true
	c.engine.budget.give(int64(len(c.vectors)) * c.chunkBytes())
	c.vectors, c.sketches, c.slotOf, c.ids = nil, nil, map[ID]uint32{}, nil
	return c.log.Close()
}

func (c *Collection) chunkBytes() int64 {
	bytes := int64(chunkVectors) * int64(c.dim) * 4
	if c.sketched() {
		bytes += sketchChunkBytes(c.dim)
	}
	return bytes
}

// vector is the stored vector of a slot; c.mu is held.
func (c *Collection) vector(slot uint32) []float32 {
	at := int(slot%chunkVectors) * c.dim
	return c.vectors[slot/chunkVectors][at : at+c.dim : at+c.dim]
}

// fields of a payload as stored; c.mu is held.
func (c *Collection) payload(slot uint32) (map[string]*pb.Value, error) {
	raw, err := c.rawPayload(slot)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	s := &pb.Struct{}
	if err := proto.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("decode payload: %w", err)
	}
	return s.GetFields(), nil
}

func (c *Collection) rawPayload(slot uint32) ([]byte, error) {
	w := c.where[slot]
	if w.size == 0 {
		return nil, nil
	}
	raw := make([]byte, w.size)
	if _, err := c.log.ReadAt(raw, w.offset); err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	return raw, nil
}

func encodePayload(fields map[string]*pb.Value) ([]byte, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.Struct{Fields: maps.Clone(fields)})
	if err != nil {
		return nil, errInvalid("payload cannot be encoded: %v", err)
	}
	return raw, nil
}
