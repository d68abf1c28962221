package vector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// IndexKind is what a payload index holds.
type IndexKind int

// The kinds of payload index.
const (
	KeywordIndex IndexKind = iota + 1
	IntegerIndex
	BoolIndex
)

// Collection describes a collection of one kind of thing under one embedding.
type Collection struct {
	// Kind is what the points are, "environments" or "documents".
	Kind string
	// Model and Dim are the embedding's.
	Model string
	Dim   int
	// Indexes are the payload keys that filters use.
	Indexes map[string]IndexKind
}

// Name is the collection's name: kind, model and dimension. A model name with
// characters that a collection name cannot have keeps its letters and gets a
// part of its digest.
func (c Collection) Name() string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, c.Model)
	if len(clean) > 100 {
		clean = clean[:100]
	}
	if clean != c.Model {
		sum := sha256.Sum256([]byte(c.Model))
		clean += "-" + hex.EncodeToString(sum[:4])
	}
	return fmt.Sprintf("spade_%s_%s_%d", c.Kind, clean, c.Dim)
}

// generationKey is the metadata key of a collection's generation.
const generationKey = "spade_generation"

// Ensured is what EnsureCollections found or made.
type Ensured struct {
	Name string
	// Generation is new whenever the collection is.
	Generation string
	Points     uint64
}

// EnsureCollections makes the collections that are missing, with their payload
// indexes, and checks the others. Several processes may do so at once.
func (c *Client) EnsureCollections(ctx context.Context, all ...Collection) ([]Ensured, error) {
	out := make([]Ensured, len(all))
	for i, one := range all {
		var err error
		if out[i], err = c.ensure(ctx, one); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Client) ensure(ctx context.Context, want Collection) (Ensured, error) {
	name := want.Name()
	info, err := c.info(ctx, name)
	if errors.Is(err, ErrNotFound) {
		// The generation names a store, not a run: it is in no payload.
		if err := c.create(ctx, want, name, uuid.NewString()); err != nil {
			return Ensured{}, err
		}
		info, err = c.info(ctx, name)
	}
	if err != nil {
		return Ensured{}, err
	}
	return c.complete(ctx, want, name, info)
}

func (c *Client) info(ctx context.Context, name string) (*pb.CollectionInfo, error) {
	var out *pb.CollectionInfo
	err := c.call(ctx, "look up collection "+name, func(ctx context.Context) error {
		reply, err := c.qdrant.GetCollectionsClient().Get(ctx, &pb.GetCollectionInfoRequest{CollectionName: name})
		out = reply.GetResult()
		return err
	})
	return out, err
}

func (c *Client) create(ctx context.Context, want Collection, name, generation string) error {
	req := &pb.CreateCollection{
		CollectionName: name,
		VectorsConfig:  pb.NewVectorsConfig(&pb.VectorParams{Size: uint64(want.Dim), Distance: pb.Distance_Cosine}),
		Metadata: map[string]*pb.Value{
			generationKey: pb.NewValueString(generation),
			"spade_model": pb.NewValueString(want.Model),
		},
	}
	return c.call(ctx, "create collection "+name, func(ctx context.Context) error {
		_, err := c.qdrant.GetCollectionsClient().Create(ctx, req)
		if status.Code(err) == codes.AlreadyExists {
			return nil // another process was faster, or an earlier try was carried out
		}
		return err
	})
}

func check(want Collection, info *pb.CollectionInfo) (generation string, err error) {
	params := info.GetConfig().GetParams().GetVectorsConfig().GetParams()
	if got := int(params.GetSize()); got != want.Dim {
		return "", &DimensionError{Collection: want.Name(), Want: got, Got: want.Dim}
	}
	if params.GetDistance() != pb.Distance_Cosine {
		return "", &MismatchError{Collection: want.Name(), Reason: "its distance is " + params.GetDistance().String() + ", not Cosine"}
	}
	meta := info.GetConfig().GetMetadata()
	if model := meta["spade_model"].GetStringValue(); model != want.Model {
		return "", &MismatchError{Collection: want.Name(), Reason: fmt.Sprintf("its metadata names the embedding model %q, not %q", model, want.Model)}
	}
	generation = meta[generationKey].GetStringValue()
	if generation == "" {
		return "", &MismatchError{Collection: want.Name(), Reason: "it was not made by this program: its metadata has no " + generationKey}
	}
	return generation, nil
}

func (c *Client) createIndex(ctx context.Context, name, key string, kind IndexKind) error {
	field, ok := map[IndexKind]pb.FieldType{
		KeywordIndex: pb.FieldType_FieldTypeKeyword, IntegerIndex: pb.FieldType_FieldTypeInteger, BoolIndex: pb.FieldType_FieldTypeBool,
	}[kind]
	if !ok {
		return fmt.Errorf("index %s of %s: unknown kind %d", key, name, kind)
	}
	return c.call(ctx, "index "+key+" of "+name, func(ctx context.Context) error {
		_, err := c.qdrant.GetPointsClient().CreateFieldIndex(ctx, &pb.CreateFieldIndexCollection{
			CollectionName: name, FieldName: key, FieldType: &field, Wait: pb.PtrOf(true),
		})
		return err
	})
}

// DeleteCollection removes a collection, which may be named by an alias; one that is not there is no error.
func (c *Client) DeleteCollection(ctx context.Context, name string) error {
	live, _, err := c.layout(ctx)
	if err != nil {
		return err
	}
	if target, ok := live[name]; ok {
		name = target
	}
	return c.call(ctx, "delete collection "+name, func(ctx context.Context) error {
		_, err := c.qdrant.GetCollectionsClient().Delete(ctx, &pb.DeleteCollection{CollectionName: name})
		return err
	})
}

func (c *Client) remember(name string, dim int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dims[name] = dim
}

// checkDim refuses a vector of another size than EnsureCollections saw, before
// it costs a request; of a collection it has not seen, the server judges.
func (c *Client) checkDim(name string, got int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if want, known := c.dims[name]; known && want != got {
		return &DimensionError{Collection: name, Want: want, Got: got}
	}
	return nil
}
