package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	pb "github.com/qdrant/go-client/qdrant"
)

// Settings is what code passes to Open.
type Settings struct {
	Logger *slog.Logger
	// MaxVectorBytes bounds the memory of all vectors together; a write over it
	// is refused as Exhausted. Zero means 4 GiB.
	MaxVectorBytes int64
}

const defaultMaxVectorBytes = 4 << 30

// Engine is an open vector store. All methods may be called concurrently.
type Engine struct {
	dir    string
	logger *slog.Logger
	lock   *os.File
	budget *budget

	mu          sync.RWMutex // guards the following
	collections map[string]*Collection
	aliases     map[string]string
	nextFolder  int
	closed      bool
}

// Open opens the store in dir, creating it when there is none, and takes its
// lock. It fails with *LockedError, *FormatError or *oplog.DamagedError rather
// than open half of what was there.
func Open(ctx context.Context, dir string, set Settings) (*Engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open vector store: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	limit := set.MaxVectorBytes
	if limit == 0 {
		limit = defaultMaxVectorBytes
	}
	e := &Engine{
		dir: dir, logger: set.Logger, lock: lock, budget: &budget{limit: limit},
		collections: map[string]*Collection{},
	}
	if err := e.load(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) load(ctx context.Context) error {
	cat, err := readCatalogue(e.dir)
	if err != nil {
		return err
	}
	e.aliases, e.nextFolder = cat.Aliases, cat.NextFolder
	for _, entry := range cat.Collections {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := openCollection(e, entry)
		if err != nil {
			return fmt.Errorf("collection %q: %w", entry.Name, err)
		}
		e.collections[entry.Name] = c
	}
	return e.removeLeftovers(cat)
}

// removeLeftovers deletes collection folders that the catalogue does not name.
func (e *Engine) removeLeftovers(cat catalogue) error {
	listed, err := os.ReadDir(e.dir)
	if err != nil {
		return fmt.Errorf("list vector store: %w", err)
	}
	for _, d := range listed {
		_, notANumber := strconv.Atoi(d.Name())
		known := slices.ContainsFunc(cat.Collections, func(c collectionEntry) bool { return c.Folder == d.Name() })
		if !d.IsDir() || known || notANumber != nil {
			continue
		}
		e.logger.Warn("remove a leftover collection folder", "path", filepath.Join(e.dir, d.Name()))
		if err := os.RemoveAll(filepath.Join(e.dir, d.Name())); err != nil {
			return fmt.Errorf("remove leftover: %w", err)
		}
	}
	return nil
}

// save writes the catalogue; e.mu is held.
func (e *Engine) save() error {
	cat := catalogue{Format: catalogueFormat, NextFolder: e.nextFolder, Aliases: e.aliases}
	for _, name := range slices.Sorted(maps.Keys(e.collections)) {
		cat.Collections = append(cat.Collections, e.collections[name].entry())
	}
	return writeCatalogue(e.dir, cat)
}

// Collection finds a collection by its name or an alias of it.
func (e *Engine) Collection(name string) (*Collection, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if target, ok := e.aliases[name]; ok {
		name = target
	}
	c, ok := e.collections[name]
	if !ok {
		return nil, errNotFound(name)
	}
	return c, nil
}

// Names returns the names of all collections, sorted.
func (e *Engine) Names() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Sorted(maps.Keys(e.collections))
}

// Create makes an empty collection.
func (e *Engine) Create(name string, cfg *pb.CollectionConfig) error {
	if err := checkName("Collection", name); err != nil {
		return err
	}
	if err := checkConfig(cfg); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.collections[name]; taken {
		return &Error{Kind: Exists, Msg: fmt.Sprintf("Wrong input: Collection `%s` already exists!", name)}
	}
	if _, taken := e.aliases[name]; taken {
		return errInvalid("Can't create collection with name %s. Alias with the same name already exists", name)
	}
	c, err := createCollection(e, name, strconv.Itoa(e.nextFolder), cfg)
	if err != nil {
		return err
	}
	e.nextFolder++
	e.collections[name] = c
	if err := e.save(); err != nil {
		delete(e.collections, name)
		return errors.Join(err, c.drop())
	}
	return nil
}

// Delete removes a collection, its points and its aliases; found is false when
// there was none.
func (e *Engine) Delete(name string) (found bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.collections[name]
	if !ok {
		return false, nil
	}
	old := maps.Clone(e.aliases)
	delete(e.collections, name)
	maps.DeleteFunc(e.aliases, func(_, target string) bool { return target == name })
	if err := e.save(); err != nil {
		e.collections[name], e.aliases = c, old
		return true, err
	}
	return true, c.drop()
}

// Close flushes and closes every collection and gives the lock back.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var all []error
	for _, c := range e.collections {
		all = append(all, c.close())
	}
	return errors.Join(append(all, e.lock.Close())...)
}

// budget counts the bytes of vectors in memory over all collections.
type budget struct {
	mu    sync.Mutex // guards used
	used  int64
	limit int64
}

func (b *budget) take(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.limit {
		return &Error{Kind: Exhausted, Msg: fmt.Sprintf(
			"Service internal error: vectors would take %d bytes of memory, the limit is %d", b.used+n, b.limit)}
	}
	b.used += n
	return nil
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}
