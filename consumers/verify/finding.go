package verify

import (
	"fmt"
	"slices"
	"strings"
)

// Areas of findings.
const (
	AreaLog         = "log"
	AreaWarehouse   = "warehouse"
	AreaMemory      = "memory"
	AreaCheckpoints = "checkpoints"
)

// Areas lists them in the order in which they are reported.
func Areas() []string { return []string{AreaLog, AreaWarehouse, AreaMemory, AreaCheckpoints} }

// Finding is one thing that is not as it should be.
type Finding struct {
	Area    string `json:"area"`
	Kind    string `json:"kind"`    // such as "missing rollout"
	Subject string `json:"subject"` // the id or place that it is about
	Detail  string `json:"detail"`
}

// String names the finding.
func (f Finding) String() string {
	s := f.Area + ": " + f.Kind + " " + f.Subject
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// MaxKept is how many findings of a kind are kept; the rest is counted.
const MaxKept = 100

// Report collects findings. The zero value is ready. It is not safe for concurrent use.
type Report struct {
	kept   []Finding
	counts map[[2]string]int
}

// Add takes a finding in.
func (r *Report) Add(area, kind, subject, detail string, args ...any) {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	if r.Count(area, kind, 1); r.counts[[2]string{area, kind}] > MaxKept {
		return
	}
	r.kept = append(r.kept, Finding{Area: area, Kind: kind, Subject: subject, Detail: detail})
}

// Count counts findings that are not named.
func (r *Report) Count(area, kind string, n int) {
	if r.counts == nil {
		r.counts = map[[2]string]int{}
	}
	r.counts[[2]string{area, kind}] += n
}

// Findings are those that were kept, by area, and within it in the order in which they were found.
func (r *Report) Findings() []Finding {
	out := slices.Clone(r.kept)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return slices.Index(Areas(), a.Area) - slices.Index(Areas(), b.Area)
	})
	return out
}

// Total is the number of findings, those that were not kept included.
func (r *Report) Total() int {
	n := 0
	for _, c := range r.counts {
		n += c
	}
	return n
}

// Sum is how often a kind of finding was met.
type Sum struct {
	Area  string `json:"area"`
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Sums are the counts by area and kind.
func (r *Report) Sums() []Sum {
	out := make([]Sum, 0, len(r.counts))
	for k, n := range r.counts {
		out = append(out, Sum{k[0], k[1], n})
	}
	slices.SortFunc(out, func(a, b Sum) int {
		if d := slices.Index(Areas(), a.Area) - slices.Index(Areas(), b.Area); d != 0 {
			return d
		}
		return strings.Compare(a.Kind, b.Kind)
	})
	return out
}
