// Command report puts every environment of the installed package sets through the acceptance gate and prints, as
// Markdown, which pass and which do not and why. docs/pools-report.md is what it printed:
//
//	spade env install all && go run ./test/pools/report > docs/pools-report.md
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/pools"
	"github.com/seed256f7767/spade/internal/seed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := dispatch(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// dispatch runs a worker where this process was started as one.
func dispatch(ctx context.Context, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case gym.ChildCommand:
			return gym.Main(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr)
		case gym.JailCommand:
			return gym.JailMain(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr)
		}
	}
	if err := run(ctx, args, os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "report:", err)
		return 1
	}
	return 0
}

// specs are the sets to report on; of BFCL's category every task is judged by itself.
func specs(names []string) ([]pools.Spec, error) {
	if len(names) == 0 {
		names = pools.Names()
	}
	var list []pools.Spec
	for _, name := range names {
		text := name + ":*"
		if name == "bfcl" {
			text = name + ":multi_turn_base*"
		}
		spec, err := pools.Parse(text)
		if err != nil {
			return nil, err
		}
		list = append(list, spec)
	}
	return list, nil
}

func run(ctx context.Context, names []string, out, progress io.Writer) (err error) {
	list, err := specs(names)
	if err != nil {
		return err
	}
	packages, err := pools.Installed(ctx, pools.Config{})
	if err != nil {
		return err
	}
	cfg := gym.NewDefaultConfig()
	cfg.Python.Packages = packages
	workers, err := gym.NewPool(cfg, gym.Settings{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workers.Shutdown(context.WithoutCancel(ctx))) }()
	if err := workers.Start(ctx); err != nil {
		return err
	}
	var parts []*part
	for _, spec := range list {
		p, err := judge(ctx, workers, spec, progress)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	return write(out, parts)
}

// part is what came of one set.
type part struct {
	set, version    string
	tier            string
	total, accepted int
	refused         []refusal
	absent          []pools.Absent
}

type refusal struct{ name, stage, reason string }

func judge(ctx context.Context, workers *gym.Pool, spec pools.Spec, progress io.Writer) (*part, error) {
	entries, err := pools.List(ctx, workers, spec)
	if err != nil {
		return nil, err
	}
	absent, err := pools.Missing(ctx, workers, spec)
	if err != nil {
		return nil, err
	}
	p := &part{set: spec.Set, version: entries[0].Version, total: len(entries), absent: absent}
	for i, e := range entries {
		seeds := seed.Between(1, seed.Key{Purpose: "gate.seed"}, e.SeedFrom, e.SeedTo, 4)
		report, err := gate.Check(ctx, workers, e.Source, gate.Options{Seed: 1, Seeds: seeds, RequireSolve: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		p.tier = report.Tier
		if report.Accepted {
			p.accepted++
		} else {
			p.refused = append(p.refused, refusal{strings.TrimPrefix(e.Name, spec.Set+":"), report.Stage, report.Reason})
		}
		_, _ = fmt.Fprintf(progress, "%d of %d  %s  %s\n", i+1, len(entries), e.Name, verdict(report))
	}
	return p, nil
}

func verdict(r gate.Report) string {
	if r.Accepted {
		return "accepted"
	}
	return r.Stage
}

func write(out io.Writer, parts []*part) error {
	var b strings.Builder
	b.WriteString("# What of other people's environments passes the gate\n\n" +
		"Printed by `go run ./test/pools/report`; docs/pools.md says what the adapters do and what the reasons mean.\n\n" +
		"| set | version | environments | accepted | refused | cannot be imported | sandbox |\n|---|---|---|---|---|---|---|\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %s |\n", p.set, p.version, p.total, p.accepted, len(p.refused), len(p.absent), p.tier)
	}
	for _, p := range parts {
		if len(p.refused) > 0 {
			fmt.Fprintf(&b, "\n## %s: refused\n\n| environment | stage | reason |\n|---|---|---|\n", p.set)
			for _, r := range p.refused {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", r.name, r.stage, cell(r.reason))
			}
		}
		if groups := byReason(p.absent); len(groups) > 0 {
			fmt.Fprintf(&b, "\n## %s: cannot be imported\n\n| reason | environments |\n|---|---|\n", p.set)
			for _, g := range groups {
				fmt.Fprintf(&b, "| %s | %s |\n", cell(g.reason), g.names)
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// group is the environments that cannot be imported for one reason.
type group struct{ reason, names string }

// shown is how many names of a group are written out.
const shown = 6

func byReason(absent []pools.Absent) []group {
	var groups []group
	for len(absent) > 0 {
		reason := absent[0].Reason
		var names []string
		for _, a := range absent {
			if a.Reason == reason {
				names = append(names, a.Name)
			}
		}
		absent = slices.DeleteFunc(absent, func(a pools.Absent) bool { return a.Reason == reason })
		text := strings.Join(names[:min(len(names), shown)], ", ")
		if len(names) > shown {
			text += fmt.Sprintf(" and %d more", len(names)-shown)
		}
		groups = append(groups, group{reason, text})
	}
	return groups
}

// cell keeps what a package said to one cell of the table.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '|', r == '`', r == '<', r == '>', r < ' ', r == 0x7f:
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
