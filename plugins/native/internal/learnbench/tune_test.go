package learnbench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
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
	flagRate   = flag.Float64("rate", 0.5, "rate")
	flagEpochs = flag.Int("epochs", 1, "epochs")
	flagBits   = flag.Int("bits", 14, "bits")
	flagUni    = flag.Bool("uniform", false, "uniform designer")
	flagTasks  = flag.Bool("tasks", false, "each task")
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
	for s := 1; s <= *flagSeeds; s++ {
		out, err := Run(Config{Seed: uint64(s), Iterations: *flagIter, Designs: 8, EnvSeeds: *flagES, Repeats: *flagRep, EvalSeeds: 20, Bits: *flagBits,
			Agent: agent.Options{Rate: *flagRate, Epochs: *flagEpochs}, Uniform: *flagUni, Docs: docs})
		if err != nil {
			t.Fatal(err)
		}
		var b, a float64
		for _, x := range out.Tasks {
			add(x.Suite, x.Before, x.After)
			add(x.Suite+"/"+x.Group, x.Before, x.After)
			if x.Suite == *flagSuite || *flagSuite == "all" {
				add(x.Suite+"/"+x.Category, x.Before, x.After)
				if *flagTasks {
					add(x.Suite+"/"+x.ID, x.Before, x.After)
				}
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
