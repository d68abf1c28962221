// Package observe stamps events with what was merely seen while they were made: who made them, where and how long it
// took. None of it enters a digest. Begin with Source.
package observe

import (
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Source is one producer instance. It may be used concurrently.
type Source struct {
	producer string
	host     string
	worker   string
	build    string
	sequence atomic.Uint64
}

// NewSource makes a source for a worker of that name, such as "rollout".
func NewSource(worker string) *Source {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Source{producer: uuid.NewString(), host: host, worker: worker, build: Build()}
}

// Stamp is the observation of work that began at started and ends now.
func (s *Source) Stamp(started time.Time) *spadepb.Observed { return s.Span(started, time.Now()) }

// Span is the observation of work that began and has ended.
func (s *Source) Span(started, finished time.Time) *spadepb.Observed {
	return &spadepb.Observed{
		Producer:   s.producer,
		Sequence:   s.sequence.Add(1),
		Build:      s.build,
		Host:       s.host,
		Worker:     s.worker,
		StartedAt:  timestamppb.New(started.UTC()),
		FinishedAt: timestamppb.New(finished.UTC()),
		DurationUs: finished.Sub(started).Microseconds(),
	}
}

// version is set by the linker; the Makefile takes it from the repository.
var version string

// Build is the version of this program, else what the Go tool recorded.
func Build() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
