package learnbench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"text/tabwriter"
)

// Gain is the change of the mean plain reward over some tasks and seeds.
type Gain struct {
	Name          string
	N             int
	Before, After float64
	Mean, Half    float64 // of after - before; Half is half of its 95 % interval over seeds × tasks
}

// Clear reports whether the interval is above zero.
func (g Gain) Clear() bool { return g.Mean-g.Half > 0 }

// Runs makes one run for each seed, two at a time.
func Runs(cfg Config, seeds []uint64) ([]Outcome, error) {
	outs := make([]Outcome, len(seeds))
	errs := make([]error, len(seeds))
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < len(seeds); i += 2 {
				c := cfg
				c.Seed = seeds[i]
				outs[i], errs[i] = Run(c)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seeds[i], err)
		}
	}
	return outs, nil
}

// Gains groups the tasks of all runs by a key; tasks without one are left out. They come in the order of the keys.
func Gains(outs []Outcome, key func(Task) string) []Gain {
	diffs := map[string][]Task{}
	for _, o := range outs {
		for _, t := range o.Tasks {
			if k := key(t); k != "" {
				diffs[k] = append(diffs[k], t)
			}
		}
	}
	var names []string
	for k := range diffs {
		names = append(names, k)
	}
	slices.Sort(names)
	gains := make([]Gain, len(names))
	for i, k := range names {
		gains[i] = gainOf(k, diffs[k])
	}
	return gains
}

func gainOf(name string, ts []Task) Gain {
	g := Gain{Name: name, N: len(ts)}
	n := float64(len(ts))
	for _, t := range ts {
		g.Before += t.Before / n
		g.After += t.After / n
	}
	g.Mean = g.After - g.Before
	var ss float64
	for _, t := range ts {
		d := t.After - t.Before - g.Mean
		ss += d * d
	}
	if n > 1 {
		g.Half = 1.96 * math.Sqrt(ss/(n-1)/n)
	}
	return g
}

// Print writes a table of gains: of everything, by suite, category and group.
func Print(w io.Writer, outs []Outcome, each bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "tasks\tn\tbefore\tafter\tgain\t95 %")
	keys := []func(Task) string{
		func(Task) string { return "all" },
		func(t Task) string { return t.Suite },
		func(t Task) string { return t.Category },
		func(t Task) string { return t.Suite + "/" + t.Category },
		func(t Task) string { return t.Suite + ", " + t.Group },
	}
	if each {
		keys = append(keys, func(t Task) string { return t.Suite + "/" + t.ID })
	}
	for _, key := range keys {
		for _, g := range Gains(outs, key) {
			fmt.Fprintf(tw, "%s\t%d\t%.3f\t%.3f\t%+.3f\t± %.3f\n", g.Name, g.N, g.Before, g.After, g.Mean, g.Half)
		}
	}
	return tw.Flush()
}
