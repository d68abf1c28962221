package vector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"
)

// Live is the alias that users of a collection read and write it by: which collection it stands for changes when a new one was
// made beside it.
func (c Collection) Live() string { return c.Name() + "_live" }

// besidePart is between a collection's name and what tells the ones beside it apart.
const besidePart = "_r"

// EnsureLive makes sure that each of these has its alias, and behind it a collection, which it makes where there is none. What it
// returns names the aliases.
func (c *Client) EnsureLive(ctx context.Context, all ...Collection) ([]Ensured, error) {
	out := make([]Ensured, len(all))
	for i, want := range all {
		info, err := c.info(ctx, want.Live())
		if errors.Is(err, ErrNotFound) {
			if _, err = c.ensure(ctx, want); err == nil {
				err = c.changeAliases(ctx, pb.NewAliasCreate(want.Live(), want.Name()))
			}
			if err == nil {
				info, err = c.info(ctx, want.Live())
			}
		}
		if err != nil {
			return nil, err
		}
		if out[i], err = c.complete(ctx, want, want.Live(), info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// FindLive is EnsureLive for who only looks: it makes nothing, and what is missing is ErrNotFound.
func (c *Client) FindLive(ctx context.Context, all ...Collection) ([]Ensured, error) {
	out := make([]Ensured, len(all))
	for i, want := range all {
		info, err := c.info(ctx, want.Live())
		if err != nil {
			return nil, err
		}
		generation, err := check(want, info)
		if err != nil {
			return nil, err
		}
		c.remember(want.Live(), want.Dim)
		out[i] = Ensured{Name: want.Live(), Generation: generation, Points: info.GetPointsCount()}
	}
	return out, nil
}

// Behind is the collection that the alias stands for now. Where there is none the error is ErrNotFound.
func (c *Client) Behind(ctx context.Context, want Collection) (name string, err error) {
	live, _, err := c.layout(ctx)
	if err != nil {
		return "", err
	}
	if name = live[want.Live()]; name == "" {
		return "", fmt.Errorf("collection %s: %w", want.Live(), ErrNotFound)
	}
	c.remember(name, want.Dim)
	return name, nil
}

// EnsureBeside makes an empty collection beside each of these, with the generation of the one that is live, whose place it is to
// take. suffix tells it apart from others.
func (c *Client) EnsureBeside(ctx context.Context, suffix string, all ...Collection) ([]Ensured, error) {
	live, err := c.EnsureLive(ctx, all...)
	if err != nil {
		return nil, err
	}
	out := make([]Ensured, len(all))
	for i, want := range all {
		name := want.Name() + besidePart + suffix
		if err := c.create(ctx, want, name, live[i].Generation); err != nil {
			return nil, err
		}
		info, err := c.info(ctx, name)
		if err != nil {
			return nil, err
		}
		if out[i], err = c.complete(ctx, want, name, info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Switch makes the collections beside the live ones, all at the same moment. Without one of them it changes nothing: the server
// might take the old name away before it notices.
func (c *Client) Switch(ctx context.Context, suffix string, all ...Collection) error {
	_, names, err := c.layout(ctx)
	if err != nil {
		return err
	}
	var actions []*pb.AliasOperations
	for _, want := range all {
		if !slices.Contains(names, want.Name()+besidePart+suffix) {
			return fmt.Errorf("collection %s%s%s is not there any more: somebody deleted it", want.Name(), besidePart, suffix)
		}
		actions = append(actions, pb.NewAliasDelete(want.Live()), pb.NewAliasCreate(want.Live(), want.Name()+besidePart+suffix))
	}
	return c.changeAliases(ctx, actions...)
}

// Leftovers are the collections of these that are not live: what a rebuild that did not end left, and what one replaced.
func (c *Client) Leftovers(ctx context.Context, all ...Collection) ([]string, error) {
	live, names, err := c.layout(ctx)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, want := range all {
		if live[want.Live()] == "" {
			continue // whatever there is, nothing takes its place
		}
		for _, name := range names {
			ours := name == want.Name() || strings.HasPrefix(name, want.Name()+besidePart)
			if ours && name != live[want.Live()] {
				left = append(left, name)
			}
		}
	}
	return left, nil
}

// Sweep deletes the Leftovers.
func (c *Client) Sweep(ctx context.Context, all ...Collection) (deleted []string, err error) {
	return c.sweep(ctx, func(string) bool { return true }, all)
}

// Discard deletes those of the Leftovers that EnsureBeside made with this suffix, and none that Switch made the live ones.
func (c *Client) Discard(ctx context.Context, suffix string, all ...Collection) (deleted []string, err error) {
	return c.sweep(ctx, func(name string) bool { return strings.HasSuffix(name, besidePart+suffix) }, all)
}

func (c *Client) sweep(ctx context.Context, which func(name string) bool, all []Collection) (deleted []string, err error) {
	left, err := c.Leftovers(ctx, all...)
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		if !which(name) {
			continue
		}
		if err := c.DeleteCollection(ctx, name); err != nil {
			return deleted, err
		}
		deleted = append(deleted, name)
	}
	return deleted, nil
}

// layout is which collection each alias stands for, and the names of all collections.
func (c *Client) layout(ctx context.Context) (live map[string]string, names []string, err error) {
	err = c.call(ctx, "list collections", func(ctx context.Context) error {
		aliases, err := c.qdrant.GetCollectionsClient().ListAliases(ctx, &pb.ListAliasesRequest{})
		if err != nil {
			return err
		}
		live = map[string]string{}
		for _, a := range aliases.GetAliases() {
			live[a.GetAliasName()] = a.GetCollectionName()
		}
		list, err := c.qdrant.GetCollectionsClient().List(ctx, &pb.ListCollectionsRequest{})
		names = nil
		for _, one := range list.GetCollections() {
			names = append(names, one.GetName())
		}
		return err
	})
	return live, names, err
}

func (c *Client) changeAliases(ctx context.Context, actions ...*pb.AliasOperations) error {
	return c.call(ctx, "change aliases", func(ctx context.Context) error {
		_, err := c.qdrant.GetCollectionsClient().UpdateAliases(ctx, &pb.ChangeAliases{Actions: actions})
		return err
	})
}

// complete checks a collection that is there and makes the indexes that it lacks.
func (c *Client) complete(ctx context.Context, want Collection, name string, info *pb.CollectionInfo) (Ensured, error) {
	generation, err := check(want, info)
	if err != nil {
		return Ensured{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(want.Indexes)) {
		if _, there := info.GetPayloadSchema()[key]; there {
			continue
		}
		if err := c.createIndex(ctx, name, key, want.Indexes[key]); err != nil {
			return Ensured{}, fmt.Errorf("complete %s: %w", name, err)
		}
	}
	c.remember(name, want.Dim)
	return Ensured{Name: name, Generation: generation, Points: info.GetPointsCount()}, nil
}
