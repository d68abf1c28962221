package vector

import (
	"context"
	"slices"
	"testing"
)

// TestLive: users of an alias read and write what it stands for, before and after another collection has taken the place of the
// first; what is not live is swept away, and only that.
func TestLive(t *testing.T) {
	c := newClient(t)
	ctx := t.Context()
	other := Collection{Kind: "other", Model: "m/1", Dim: 4}
	live, err := c.EnsureLive(ctx, things, other)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, one := range live {
			if err := c.DeleteCollection(context.WithoutCancel(ctx), one.Name); err != nil {
				t.Error(err)
			}
		}
	})
	put := func(name string, n int) {
		t.Helper()
		if err := c.Upsert(ctx, name, []Point{{ID: id(n), Vector: []float32{1, 2, 3, float32(n)}, Payload: map[string]any{"n": n}}}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want ...int) {
		t.Helper()
		var got []int
		err := c.Scroll(ctx, live[0].Name, Condition{}, func(h Hit) error {
			got = append(got, int(h.Payload["n"].(int64)))
			return nil
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("points %v, want %v: %v", got, want, err)
		}
	}
	put(live[0].Name, 1)
	beside, err := c.EnsureBeside(ctx, "one", things, other)
	if err != nil {
		t.Fatal(err)
	}
	put(beside[0].Name, 2)
	has(1)
	if err := c.Switch(ctx, "one", things, other); err != nil {
		t.Fatal(err)
	}
	has(2)
	again, err := c.EnsureLive(ctx, things, other)
	if err != nil || again[0].Generation != live[0].Generation || again[0].Points != 1 {
		t.Errorf("%+v, %v; was %+v", again, err, live)
	}
	if _, err := c.EnsureBeside(ctx, "left", things, other); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EnsureBeside(ctx, "failed", things, other); err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string][]string{"failed": {other.Name() + "_rfailed", things.Name() + "_rfailed"}, "one": nil} {
		deleted, err := c.Discard(ctx, suffix, things, other)
		slices.Sort(deleted)
		if err != nil || !slices.Equal(deleted, want) {
			t.Errorf("of %s it discarded %v, want %v: %v", suffix, deleted, want, err)
		}
	}
	deleted, err := c.Sweep(ctx, things, other)
	slices.Sort(deleted)
	want := []string{other.Name(), other.Name() + "_rleft", things.Name(), things.Name() + "_rleft"}
	if err != nil || !slices.Equal(deleted, want) {
		t.Errorf("swept %v, want %v: %v", deleted, want, err)
	}
	put(live[0].Name, 3)
	has(2, 3)
}
