//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"

	"github.com/seed256f7767/spade/schemas/ids"
)

// verification is what of `spade verify --json` the oracle reads.
type verification struct {
	Runs        []json.RawMessage `json:"runs"`
	Behind      []string          `json:"behind"`
	Differences []struct {
		Area   string `json:"area"`
		Kind   string `json:"kind"`
		Detail string `json:"detail"`
	} `json:"differences"`
	Sums []struct {
		Area  string `json:"area"`
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	} `json:"differences_by_kind"`
}

// judgeVerify: the program's own comparison finds nothing but what the appender planted: records that cannot be read, and a run
// that nobody began. On servers that others use it looks at the world's runs only.
func (w *world) judgeVerify() {
	if !w.servers.ownKafka || !w.servers.ownClickHouse || !w.servers.ownQdrant {
		for _, name := range w.runs {
			if _, err := w.tool("verify", name); err != nil {
				w.problem("%v", err)
			}
		}
		w.log.add("spade verify agrees on %d runs", len(w.runs))
		return
	}
	out, failed := w.tool("verify", "--json")
	var v verification
	if err := json.Unmarshal(out, &v); err != nil {
		w.problem("spade verify: %v: %v", failed, err)
		return
	}
	for _, what := range v.Behind {
		w.problem("spade verify could not compare all: %s", what)
	}
	planted := map[string]int{"unknown run": 1, "unreadable record": len(w.append.poison) + w.append.unsure}
	for _, sum := range v.Sums {
		if sum.Area == "log" && sum.Count <= planted[sum.Kind] {
			continue
		}
		example := ""
		for _, d := range v.Differences {
			if d.Area == sum.Area && d.Kind == sum.Kind {
				example = d.Detail
			}
		}
		w.problem("spade verify finds %d of %s, %s, such as: %s", sum.Count, sum.Area, sum.Kind, example)
	}
	w.log.add("spade verify agrees on %d runs, log, warehouse, memory and checkpoints", len(v.Runs)-1)
}

// judgeDigests: every run has the digest of the same run in a quiet folder.
func (w *world) judgeDigests(l *logged) {
	quiet := w.quiet()
	for _, name := range w.runs {
		got := fmt.Sprintf("%x", l.digests[ids.Run(name)].Sum())
		if want := quiet[name]; got != want {
			w.problem("run %s has the digest %s, uninterrupted it has %s", name, got, want)
		}
	}
	w.log.add("%d runs compared with uninterrupted ones", len(w.runs))
}
