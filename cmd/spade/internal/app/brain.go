package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed256f7767/spade/consumers/trainer"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/host"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// brain is the policy of a run: a trainer plugin, started again with its last state when it crashes.
type brain struct {
	*keeper
	config string // the run's semantic configuration, JSON
	// load fetches a checkpoint that is not in its event.
	load func(ctx context.Context, ck *spadepb.Checkpoint) ([]byte, error)

	train sync.Mutex // held while the plugin opens or trains: one of these at a time

	// find reads the update that led to an older version from the log. Nil: such a version cannot be had.
	find func(ctx context.Context, version int64) (*spadepb.PolicyUpdated, error)

	// versions is how many of the newest versions may be asked for: 1 on-policy, more with a policy lag.
	versions int

	versionsMu sync.Mutex     // guards the following
	states     []versionState // the newest versions, oldest first
	changed    chan struct{}  // closed and replaced when a version comes
}

// versionState is the state of one policy version.
type versionState struct {
	version    int64
	checkpoint plugins.Checkpoint
}

var (
	_ policy.Generator = (*brain)(nil)
	_ restorer         = (*brain)(nil)
	_ adopter          = (*brain)(nil)
)

// launch starts the plugin, so that its name is known.
func launch(ctx context.Context, command []string, log *slog.Logger) (*brain, error) {
	b := &brain{changed: make(chan struct{}), versions: 1}
	var err error
	if b.keeper, err = newKeeper(ctx, command, b.open, log); err != nil {
		return nil, err
	}
	return b, nil
}

// Name and version of the plugin.
func (b *brain) Name() (name, version string) { return b.info.Name, b.info.Version }

// Begin opens the plugin without a state and saves the version it begins with.
func (b *brain) Begin(ctx context.Context) (trainer.Update, error) {
	b.train.Lock()
	defer b.train.Unlock()
	var out trainer.Update
	err := b.call(ctx, func(p *host.Plugin) error {
		if _, err := p.Open(ctx, b.config, 0, nil); err != nil {
			return err
		}
		ck, err := p.Save(ctx, 0)
		if err != nil {
			return err
		}
		b.keep(0, ck)
		out = update(p, plugins.Result{Version: 0, Checkpoint: ck, Roles: p.Info().Roles})
		return nil
	})
	return out, err
}

// Adopt makes the plugin hold the version that an update of the log led to. Where this process trained the same version to
// another state, the log's counts.
func (b *brain) Adopt(ctx context.Context, u *spadepb.PolicyUpdated) error {
	return b.Restore(ctx, []*spadepb.PolicyUpdated{u})
}

// Restore makes the plugin hold the versions that updates led to, given oldest first.
func (b *brain) Restore(ctx context.Context, updates []*spadepb.PolicyUpdated) error {
	b.train.Lock()
	defer b.train.Unlock()
	fresh := b.newest() < 0
	for _, u := range updates {
		if b.holds(u) {
			continue
		}
		state, err := b.state(ctx, u)
		if err != nil {
			return err
		}
		if !fresh {
			if err := b.call(ctx, func(p *host.Plugin) error { return p.Load(ctx, u.GetPolicyTo(), state) }); err != nil {
				return err
			}
		}
		b.keep(u.GetPolicyTo(), state)
	}
	if !fresh {
		return nil
	}
	return b.call(ctx, func(p *host.Plugin) error { return b.open(ctx, p) })
}

// holds reports whether the state of an update is what the plugin has of its version.
func (b *brain) holds(u *spadepb.PolicyUpdated) bool {
	b.versionsMu.Lock()
	defer b.versionsMu.Unlock()
	return slices.ContainsFunc(b.states, func(s versionState) bool {
		return s.version == u.GetPolicyTo() && s.checkpoint.SHA256 == hex.EncodeToString(u.GetCheckpoint().GetSha256())
	})
}

// state is the checkpoint of an update, from its event or from where large ones are kept.
func (b *brain) state(ctx context.Context, u *spadepb.PolicyUpdated) (plugins.Checkpoint, error) {
	ck := u.GetCheckpoint()
	data := ck.GetInline()
	if int64(len(data)) != ck.GetBytes() {
		var err error
		if data, err = b.load(ctx, ck); err != nil {
			return plugins.Checkpoint{}, fmt.Errorf("load checkpoint of version %d: %w", u.GetPolicyTo(), err)
		}
	}
	state := plugins.NewCheckpoint(ck.GetFormat(), data)
	if state.SHA256 != hex.EncodeToString(ck.GetSha256()) {
		return state, fmt.Errorf("checkpoint of version %d has another content than its SHA-256 says", u.GetPolicyTo())
	}
	return state, nil
}

// Train streams an iteration's rows to the plugin.
func (b *brain) Train(ctx context.Context, from int64, records []arrow.Record) (trainer.Update, error) {
	b.train.Lock()
	defer b.train.Unlock()
	var out trainer.Update
	err := b.call(ctx, func(p *host.Plugin) error {
		result, err := p.Train(ctx, from, from+1, func(yield func(arrow.Record, error) bool) {
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		b.keep(result.Version, result.Checkpoint)
		out = update(p, result)
		return nil
	})
	return out, err
}

// Generate asks the plugin, once it holds the version. What is asked for is always in the log, or on its way there.
func (b *brain) Generate(
	ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt,
) (out []policy.Completion, err error) {
	if err := b.await(ctx, version); err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		err = b.call(ctx, func(p *host.Plugin) error {
			out, err = p.Generate(ctx, role, version, prompts)
			return err
		})
		// An old version is asked for by work that was delivered again, and may be let go of again while others load theirs.
		if !errors.Is(err, policy.ErrVersionNotLoaded) || b.find == nil || tries == maxRestarts {
			return out, err
		}
		if err := b.recall(ctx, version); err != nil {
			return nil, err
		}
	}
}

// await waits until the plugin has been given a version at least as new.
func (b *brain) await(ctx context.Context, version int64) error {
	for {
		b.versionsMu.Lock()
		changed := b.changed
		there := len(b.states) > 0 && b.states[len(b.states)-1].version >= version
		b.versionsMu.Unlock()
		if there {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for policy version %d: %w", version, ctx.Err())
		}
	}
}

// recall loads a version that is not among the newest.
func (b *brain) recall(ctx context.Context, version int64) error {
	u, err := b.find(ctx, version)
	if err != nil {
		return err
	}
	state, err := b.state(ctx, u)
	if err != nil {
		return err
	}
	b.train.Lock()
	defer b.train.Unlock()
	return b.call(ctx, func(p *host.Plugin) error { return p.Load(ctx, version, state) })
}

// newest is the newest version that the plugin was given, -1 for none.
func (b *brain) newest() int64 {
	b.versionsMu.Lock()
	defer b.versionsMu.Unlock()
	if len(b.states) == 0 {
		return -1
	}
	return b.states[len(b.states)-1].version
}

// keep notes the state of a version and forgets those that nobody may ask for any more.
func (b *brain) keep(version int64, ck plugins.Checkpoint) {
	b.versionsMu.Lock()
	defer b.versionsMu.Unlock()
	b.states = slices.DeleteFunc(b.states, func(s versionState) bool { return s.version == version })
	b.states = append(b.states, versionState{version, ck})
	slices.SortFunc(b.states, func(a, b versionState) int { return cmp.Compare(a.version, b.version) })
	b.states = b.states[max(0, len(b.states)-max(1, b.versions)):]
	close(b.changed)
	b.changed = make(chan struct{})
}

func update(p *host.Plugin, r plugins.Result) trainer.Update {
	u := trainer.Update{
		Version: r.Version, Roles: slices.Sorted(slices.Values(r.Roles)), Device: p.Info().Device,
		Checkpoint: r.Checkpoint.Data, Format: r.Checkpoint.Format,
	}
	for _, m := range r.Metrics {
		u.Metrics = append(u.Metrics, &spadepb.Metric{Name: m.Name, Value: m.Value})
	}
	return u
}

// open gives the plugin the states that are kept.
func (b *brain) open(ctx context.Context, p *host.Plugin) error {
	b.versionsMu.Lock()
	states := slices.Clone(b.states)
	b.versionsMu.Unlock()
	return openAt(ctx, p, b.config, states)
}

// openAt opens a plugin at the last of the states and loads the others beside it.
func openAt(ctx context.Context, p *host.Plugin, config string, states []versionState) error {
	for i, s := range slices.Backward(states) {
		if i == len(states)-1 {
			if _, err := p.Open(ctx, config, s.version, &s.checkpoint); err != nil {
				return err
			}
			continue
		}
		if err := p.Load(ctx, s.version, s.checkpoint); err != nil {
			return err
		}
	}
	return nil
}
