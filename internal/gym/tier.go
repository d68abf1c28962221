package gym

import "github.com/seed256f7767/spade/internal/sandbox"

// The values of Config.Sandbox.
const (
	// SandboxFull confines workers by every layer that the runtime needs, and by those that the machine has besides.
	SandboxFull = "full"
	// SandboxLimits is limits on resources and the watchdog only. It is for systems that have nothing else, and for
	// sources that one trusts.
	SandboxLimits = "limits"
	// SandboxNone is the watchdog only.
	SandboxNone = "none"
)

// What is recorded of workers with every layer, by runtime; a suffix names what a machine lacks and is not needed. Of the
// other settings their own names are recorded.
const (
	TierStarlark = "starlark-1"
	TierPython   = "python-1"
)

// tier is what a value of Config.Sandbox means for a runtime: layers without which nothing runs, and layers that are taken
// on where they are to be had. Control groups are made by the parent and are in neither.
type tier struct{ require, want sandbox.Layer }

func tierOf(runtime, setting string) (tier, bool) {
	full := sandbox.Descriptors | sandbox.Rlimits | sandbox.NoNewPrivs | sandbox.Seccomp
	python := runtime == RuntimePython
	switch {
	case setting == SandboxFull && python:
		return tier{require: full | sandbox.Namespaces | sandbox.Root | sandbox.Privileges, want: sandbox.Landlock}, true
	case setting == SandboxFull:
		return tier{require: full, want: sandbox.Landlock}, true
	case setting == SandboxLimits && python:
		return tier{require: sandbox.Rlimits | sandbox.Descriptors&sandbox.Supported}, true
	case setting == SandboxLimits:
		return tier{require: sandbox.Rlimits, want: sandbox.Descriptors}, true
	case setting == SandboxNone:
		return tier{}, true
	}
	return tier{}, false
}

// tierName is what is recorded of a worker with these layers in force.
func tierName(runtime, setting string, have sandbox.Layer) string {
	if setting != SandboxFull {
		return setting
	}
	name := TierStarlark
	if runtime == RuntimePython {
		name = TierPython
		if !have.Has(sandbox.Cgroup) {
			name += "-no-cgroup"
		}
	}
	if !have.Has(sandbox.Landlock) {
		name += "-no-landlock"
	}
	return name
}

// tierOf is what the configuration asks for of a runtime.
func (p *Pool) tierOf(runtime string) tier {
	t, _ := tierOf(runtime, p.cfg.Sandbox) // it has been validated
	return t
}

// tierName is what is recorded of a worker of this pool with these layers in force.
func (p *Pool) tierName(runtime string, have sandbox.Layer) string {
	return tierName(runtime, p.cfg.Sandbox, have)
}

// asked is everything that a worker of this pool is to be confined by.
func (p *Pool) asked(runtime string) sandbox.Layer {
	t := p.tierOf(runtime)
	if runtime == RuntimePython && p.cfg.Sandbox != SandboxNone {
		return t.require | t.want | sandbox.Cgroup
	}
	return t.require | t.want
}
