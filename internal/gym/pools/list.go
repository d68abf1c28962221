package pools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
)

// Opener starts a sandboxed worker with a source loaded; *gym.Pool is one.
type Opener interface {
	Open(ctx context.Context, src gym.Source) (*gym.Worker, error)
}

// List returns the entries that a spec stands for, in a fixed order. An environment that a set has not is an error that
// names those it has.
func List(ctx context.Context, workers Opener, spec Spec) ([]Entry, error) {
	if spec.Path != "" {
		f, err := spec.folder()
		return f.entries, err
	}
	s, known := setOf(spec.Set)
	if !known {
		return nil, fmt.Errorf("%w: %q is none of %s", ErrSpec, spec.Set, strings.Join(Names(), ", "))
	}
	c, err := read(ctx, workers, s)
	if err != nil {
		return nil, fmt.Errorf("catalogue of %s: %w", s.name, err)
	}
	return c.entries(s, spec)
}

// Missing returns what cannot be entries of all that a spec stands for, and why: environments of a whole set, files of a
// folder. A spec that names something stands for that alone.
func Missing(ctx context.Context, workers Opener, spec Spec) ([]Absent, error) {
	if spec.Path != "" {
		f, err := spec.folder()
		return f.absent, err
	}
	if spec.Name != "*" {
		return nil, nil
	}
	s, known := setOf(spec.Set)
	if !known {
		return nil, fmt.Errorf("%w: %q is none of %s", ErrSpec, spec.Set, strings.Join(Names(), ", "))
	}
	c, err := read(ctx, workers, s)
	if err != nil {
		return nil, fmt.Errorf("catalogue of %s: %w", s.name, err)
	}
	absent := make([]Absent, len(c.Missing))
	for i, m := range c.Missing {
		absent[i] = Absent(m)
	}
	return absent, nil
}

// read opens the catalogue source and reads its first observation.
func read(ctx context.Context, workers Opener, s set) (c catalogue, err error) {
	w, err := workers.Open(ctx, catalogueSource(s))
	if err != nil {
		return catalogue{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	started, err := w.Reset(ctx, []gym.Reset{{}})
	if err != nil {
		return catalogue{}, err
	}
	if first := started[0]; first.Outcome != gym.Ongoing {
		return catalogue{}, fmt.Errorf("%w: %s", ErrCatalogue, first.Error)
	}
	return decode(started[0].Observation)
}

// entries picks what the spec means.
func (c catalogue) entries(s set, spec Spec) ([]Entry, error) {
	var found []Entry
	for _, e := range c.Entries {
		if !spec.means(e) {
			continue
		}
		src, err := entrySource(s, c, e)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
		}
		found = append(found, Entry{
			Name: s.name + ":" + e.Name, Source: src, Package: s.distribution, Version: c.Version,
			SeedFrom: e.Seeds[0], SeedTo: e.Seeds[1],
		})
	}
	if len(found) == 0 {
		return nil, c.nothing(s, spec)
	}
	return found, nil
}

// means says whether the spec stands for the entry: by its name, by "*" for all that are no part of another, or by the
// beginning of names before a "*", parts included.
func (s Spec) means(e listed) bool {
	start, wild := strings.CutSuffix(s.Name, "*")
	if !wild {
		return s.Name == e.Name
	}
	return strings.HasPrefix(e.Name, start) && (start != "" || !e.Part)
}

func (c catalogue) nothing(s set, spec Spec) error {
	for _, m := range c.Missing {
		if m.Name == spec.Name {
			return fmt.Errorf("%w: %s cannot be imported: %s", ErrSpec, spec, m.Reason)
		}
	}
	var names []string
	for _, e := range c.Entries {
		if !e.Part {
			names = append(names, e.Name)
		}
	}
	return fmt.Errorf("%w: %s %s has no environment %q; it has %s", ErrSpec, s.distribution, c.Version, spec.Name, strings.Join(names, ", "))
}
