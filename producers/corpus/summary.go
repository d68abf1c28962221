package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxProblems is how many problems a Summary keeps; further ones are only counted.
const maxProblems = 1000

// Progress is how far an ingestion has come.
type Progress struct {
	Files, FilesTotal int
	Bytes, BytesTotal int64 // of the files read
	Documents         int   // found so far
	Added             int   // chunks appended so far
	Problems          int
	Current           string // source of the file being read
}

// Skipped counts files of one kind that were passed over.
type Skipped struct {
	Kind  string // ".gz", "hidden", "symbolic link", …
	Files int
}

// Summary is what an ingestion did. Documents are whole; chunks are what events carry.
type Summary struct {
	Files     int   // read
	FileBytes int64 // of those files
	Documents int   // found, those with problems not counted
	Added     int   // documents of which at least one chunk was appended
	Known     int   // documents of which the log, or this ingestion, held every chunk already
	Withdrawn int   // documents left out because they were withdrawn earlier

	Chunks      int   // appended
	ChunksKnown int   // not appended, since the log held them
	Bytes       int64 // of text appended

	// IDs are the chunks found that are not withdrawn, known ones included, in the order they were found and as often.
	// They are what a run on this corpus may sample.
	IDs []uuid.UUID

	Skipped      []Skipped  // by number of files, then by kind
	Problems     []*Problem // the first 1000, in the order of the files
	ProblemCount int
}

// problem counts a problem.
func (s *Summary) problem(p *Problem) {
	s.ProblemCount++
	if len(s.Problems) < maxProblems {
		s.Problems = append(s.Problems, p)
	}
}

// skipped lists counts by kind.
func skippedList(counts map[string]int) []Skipped {
	var out []Skipped
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Skipped{Kind: kind, Files: counts[kind]})
	}
	slices.SortStableFunc(out, func(a, b Skipped) int {
		if a.Files != b.Files {
			return b.Files - a.Files
		}
		return strings.Compare(a.Kind, b.Kind)
	})
	return out
}
