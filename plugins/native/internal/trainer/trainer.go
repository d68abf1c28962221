package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/sdk"
)

// keep is the number of versions that stay loaded.
const keep = 16

// Trainer is the native policy as a plugin.
type Trainer struct {
	version string

	mu       sync.RWMutex // guards the following
	cfg      Config
	versions map[int64]*state
}

var (
	_ sdk.Trainer = (*Trainer)(nil)
	_ sdk.Scorer  = (*Trainer)(nil)
)

// Config is the native policy's own settings, in a run's semantic config.
type Config struct {
	// Bits is the binary logarithm of the number of weights. Zero means 14.
	Bits int `json:"bits"`
	// Rate is the agent's learning rate. Zero means the default of package agent.
	Rate float64 `json:"rate"`
	// Epochs is the number of passes over a batch. Zero means the default of package agent.
	Epochs int `json:"epochs"`
}

// New returns a trainer without a policy; Open gives it one. version is the build's.
func New(version string) *Trainer { return &Trainer{version: version, versions: map[int64]*state{}} }

// Info describes the plugin.
func (t *Trainer) Info() plugins.Info {
	return plugins.Info{
		Name: "native", Version: t.version, Roles: []string{"agent", "designer"}, Device: "cpu", CheckpointFormat: Format,
		Capabilities: []string{plugins.CapTokens, plugins.CapLogprobs, plugins.CapScore, plugins.CapDeterministic},
	}
}

// Open reads the config and restores the checkpoint, or begins as version 0.
func (t *Trainer) Open(_ context.Context, config string, version int64, ck *plugins.Checkpoint) (int64, error) {
	cfg, err := readConfig(config)
	if err != nil {
		return 0, err
	}
	s := fresh(cfg.Bits)
	if ck == nil {
		version = 0
	} else if s, err = restore(version, *ck); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cfg = cfg
	t.versions = map[int64]*state{version: s}
	return version, nil
}

func readConfig(text string) (Config, error) {
	var c Config
	if text != "" {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&c); err != nil {
			return c, &plugins.PermanentError{Message: "native settings (bits, rate, epochs): " + err.Error()}
		}
	}
	if c.Bits == 0 {
		c.Bits = agent.Bits
	}
	if c.Bits < 4 || c.Bits > 20 || c.Rate < 0 || c.Epochs < 0 || c.Epochs > 100 {
		return c, &plugins.PermanentError{Message: fmt.Sprintf("native: bits %d (4 to 20), rate %v, epochs %d are out of range", c.Bits, c.Rate, c.Epochs)}
	}
	return c, nil
}

func restore(version int64, ck plugins.Checkpoint) (*state, error) {
	if ck.Data == nil {
		return nil, &plugins.PermanentError{Message: "native checkpoints travel in the stream, this one is at a location"}
	}
	s, written, err := decode(ck)
	if err != nil {
		return nil, err
	}
	if written != version {
		return nil, &plugins.PermanentError{Message: fmt.Sprintf("checkpoint is of version %d, not %d", written, version)}
	}
	return s, nil
}

// Load restores one more version.
func (t *Trainer) Load(_ context.Context, version int64, ck plugins.Checkpoint) error {
	s, err := restore(version, ck)
	if err != nil {
		return err
	}
	t.put(version, s)
	return nil
}

// Save writes a loaded version.
func (t *Trainer) Save(_ context.Context, version int64) (plugins.Checkpoint, error) {
	s, err := t.get(version)
	if err != nil {
		return plugins.Checkpoint{}, err
	}
	return s.encode(version)
}

// Health lists the versions.
func (t *Trainer) Health(context.Context) plugins.Health {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return plugins.Health{Ready: len(t.versions) > 0, Versions: t.loaded()}
}

// Shutdown has nothing to flush: every version left with its checkpoint.
func (t *Trainer) Shutdown(context.Context) error { return nil }

func (t *Trainer) loaded() []int64 { return slices.Sorted(maps.Keys(t.versions)) }

func (t *Trainer) get(version int64) (*state, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s, ok := t.versions[version]
	if !ok {
		return nil, &plugins.VersionNotLoadedError{Version: version, Loaded: t.loaded()}
	}
	return s, nil
}

// put keeps a version and lets the oldest go.
func (t *Trainer) put(version int64, s *state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.versions[version] = s
	for len(t.versions) > keep {
		oldest := t.loaded()[0]
		if oldest == version {
			return
		}
		delete(t.versions, oldest)
	}
}

func (t *Trainer) config() Config {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.cfg
}
