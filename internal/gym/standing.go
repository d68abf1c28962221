package gym

import (
	"context"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// Standing is how the environments of a runtime are confined on this machine.
type Standing struct {
	Runtime, Tier string
	// Asked are the layers that the configured tier is made of, those that it can do without included; Have are in force.
	Asked, Have sandbox.Layer
	// Groups says which control groups there are or why there are none.
	Groups string
	// Err says why environments of the runtime do not run here.
	Err error
}

// Standing tests a runtime's sandbox, unless that has been done, and tells what came of it. The pool must be running.
func (p *Pool) Standing(ctx context.Context, runtime string) Standing {
	s := Standing{Runtime: runtime, Asked: p.asked(runtime)}
	if runtime == RuntimePython {
		s.Err = p.readyPython(ctx)
		s.Groups = p.python.groups()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Have = p.layers[runtime]
	s.Tier = p.tiers[runtime]
	return s
}
