package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// Standings tells how the environments of each runtime are confined here; an error says that not even a test is possible.
type Standings func(ctx context.Context) ([]gym.Standing, error)

// open is what the tiers below full leave to code.
const open = "code can read your files and use the network"

// Sandbox proves that environments of a runtime can be confined. Where they cannot, that is in the way if they are needed;
// where the configured tier confines nothing, nothing was proven.
func Sandbox(name, runtime string, needed bool, look Standings) Check {
	return Check{name, func(ctx context.Context) Finding {
		s, err := standing(ctx, runtime, look)
		var missing *sandbox.MissingError
		switch {
		case err == nil && s.Tier == gym.SandboxNone:
			return Poor("set sandbox.tier to full; none is for debugging", "%s: generated code is not confined: %s has the watchdog only; "+open, runtime, s.Tier)
		case err == nil && s.Tier == gym.SandboxLimits:
			return Poor("set sandbox.tier to full; limits is for systems that have nothing else, and sources that you trust",
				"%s: generated code is limited, not confined: %s ends a memory hog; "+open, runtime, s.Tier)
		case err == nil:
			return Good("%s: %s holds against a memory hog and attempts to break out", runtime, s.Tier)
		case needed && errors.As(err, &missing):
			return Bad(missing.Remedy, "%s: %v", runtime, short(err, missing))
		case needed:
			return Bad("generated code does not run without its sandbox", "%s: %v", runtime, err)
		case errors.As(err, &missing):
			return Poor(missing.Remedy, "environments in %s do not run: %v", runtime, short(err, missing))
		}
		return Poor("only environments in that language need it", "environments in %s do not run: %v", runtime, err)
	}}
}

// short leaves the remedy out of an error's text, for it has a line of its own.
func short(err error, missing *sandbox.MissingError) string {
	if missing.Remedy == "" {
		return err.Error()
	}
	return strings.Replace(err.Error(), " ("+missing.Remedy+")", "", 1)
}

func standing(ctx context.Context, runtime string, look Standings) (gym.Standing, error) {
	all, err := look(ctx)
	if err != nil {
		return gym.Standing{}, err
	}
	for _, s := range all {
		if s.Runtime == runtime {
			return s, s.Err
		}
	}
	return gym.Standing{}, fmt.Errorf("nothing is known of %s", runtime)
}

// Layers is a check for each layer of the sandbox: which runtimes have it, and what to do where one lacks it.
func Layers(look Standings) []Check {
	var checks []Check
	for _, l := range sandbox.Layers() {
		checks = append(checks, Check{l.String(), func(ctx context.Context) Finding {
			all, err := look(ctx)
			if err != nil {
				return Poor("", "not tried: %v", err)
			}
			return layer(l, all)
		}})
	}
	return checks
}

func layer(l sandbox.Layer, all []gym.Standing) Finding {
	var have, lack, untried []string
	groups := ""
	for _, s := range all {
		var missing *sandbox.MissingError
		switch {
		case !s.Asked.Has(l):
		case s.Have.Has(l):
			have = append(have, s.Runtime)
		case s.Err != nil && !(errors.As(s.Err, &missing) && missing.Layer.Has(l)):
			untried = append(untried, s.Runtime)
		default:
			lack = append(lack, s.Runtime)
		}
		if l == sandbox.Cgroup && s.Groups != "" {
			groups = ": " + s.Groups
		}
	}
	switch {
	case len(lack) > 0:
		return Poor(sandbox.Remedy(l), "missing for %s%s", strings.Join(lack, " and "), groups)
	case len(have) > 0:
		return Good("in force for %s%s", strings.Join(have, " and "), groups)
	case len(untried) > 0:
		return Poor("", "not tried for %s", strings.Join(untried, " and "))
	}
	return Poor("", "not asked for: sandbox.tier is less than full")
}
