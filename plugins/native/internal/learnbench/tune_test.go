package learnbench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

var (
	flagSeeds  = flag.Int("seeds", 0, "run seeds to tune with; 0: skip the figures")
	flagIter   = flag.Int("iter", 20, "iterations")
	flagES     = flag.Int("es", 2, "env seeds")
	flagRep    = flag.Int("rep", 8, "repeats")
	flagRate   = flag.Float64("rate", 0, "rate")
	flagEpochs = flag.Int("epochs", 0, "epochs")
	flagBits   = flag.Int("bits", 14, "bits")
	flagUni    = flag.Bool("uniform", false, "uniform designer")
	flagTasks  = flag.Bool("tasks", false, "each task")
	flagCool   = flag.Float64("cool", 0, "cooling")
	flagShrink = flag.Float64("shrink", 0, "shrink")
	flagLex    = flag.Float64("lex", 0.5, "lexical scale")
	flagCross  = flag.Float64("cross", 0.5, "cross scale")
	flagSuite  = flag.String("suite", "development", "suite to print")
)

func corpus(t testing.TB) []grammar.Doc {
	files, _ := filepath.Glob("../../../../examples/corpus/*/*.md")
	var docs []grammar.Doc
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "# "), "\n")
		docs = append(docs, grammar.Doc{ID: f, Title: title, Text: string(raw)})
	}
	return docs
}

func TestTune(t *testing.T) {
	if *flagSeeds == 0 {
		return
	}
	docs := corpus(t)
	sum := map[string][3]float64{}
	add := func(k string, b, a float64) {
		v := sum[k]
		sum[k] = [3]float64{v[0] + b, v[1] + a, v[2] + 1}
	}
	start := time.Now()
	agent.GroupScale[1], agent.GroupScale[2] = *flagLex, *flagCross
	outs := make([]Outcome, *flagSeeds)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for s := w; s < *flagSeeds; s += 2 {
				var err error
				outs[s], err = Run(Config{
					Seed: uint64(s + 1), Iterations: *flagIter, Designs: 8, EnvSeeds: *flagES, Repeats: *flagRep, EvalSeeds: 20, Bits: *flagBits,
					Agent: agent.Options{Rate: *flagRate, Epochs: *flagEpochs, Shrink: *flagShrink, Cool: *flagCool}, Uniform: *flagUni, Docs: docs, Suite: *flagSuite,
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for s, out := range outs {
		var b, a float64
		for k, v := range out.Learned {
			add("mechanic "+k, 0, v)
		}
		for _, x := range out.Tasks {
			add(x.Suite, x.Before, x.After)
			add(x.Suite+"/"+x.Group, x.Before, x.After)
			add(x.Suite+"/"+x.Category, x.Before, x.After)
			if *flagTasks {
				add(x.Suite+"/"+x.ID, x.Before, x.After)
			}
			b += x.Before / float64(len(out.Tasks))
			a += x.After / float64(len(out.Tasks))
		}
		fmt.Printf("seed %d: suites %.3f -> %.3f; rejected %d, episodes %d, steps %d; plain %.2f..%.2f hinted %.2f..%.2f %v\n", s, b, a, out.Rejected, out.Episodes, out.Steps,
			out.Plain[0], out.Plain[len(out.Plain)-1], out.Hinted[0], out.Hinted[len(out.Hinted)-1], out.Mechanics)
	}
	fmt.Println("took", time.Since(start)/time.Duration(*flagSeeds), "a run")
	var keys []string
	for k := range sum {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v := sum[k]
		fmt.Printf("%-40s %.3f -> %.3f (%+.3f)\n", k, v[0]/v[2], v[1]/v[2], (v[1]-v[0])/v[2])
	}
}
