// Command learnbench measures how well the native policy learns: it runs the loop in one process for several seeds and
// prints the gain on the held-out suites with its 95 % interval.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
	"github.com/seed256f7767/spade/plugins/native/internal/learnbench"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("learnbench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	cfg := learnbench.Config{}
	seeds := fs.Int("seeds", 5, "run seeds 1 to `n`")
	corpus := fs.String("corpus", "examples/corpus", "folder of Markdown documents that ground the designs")
	tasks := fs.Bool("tasks", false, "print every task")
	fs.IntVar(&cfg.Iterations, "iterations", 20, "iterations")
	fs.IntVar(&cfg.Designs, "designs", 8, "designs an iteration")
	fs.IntVar(&cfg.EnvSeeds, "env-seeds", 2, "environment seeds a design")
	fs.IntVar(&cfg.Repeats, "repeats", 8, "repeats of each environment seed and arm")
	fs.IntVar(&cfg.EvalSeeds, "eval-seeds", 20, "episodes of each suite task before and after")
	fs.IntVar(&cfg.Bits, "bits", agent.Bits, "binary logarithm of the number of weights")
	fs.StringVar(&cfg.Suite, "suite", "", "one suite only; empty: all")
	fs.BoolVar(&cfg.Uniform, "uniform", false, "the designer does not learn")
	fs.Float64Var(&cfg.Agent.Rate, "rate", 0, "learning rate; 0: the default")
	fs.IntVar(&cfg.Agent.Epochs, "epochs", 0, "passes over a batch; 0: the default")
	fs.Float64Var(&cfg.Agent.Cool, "cool", 0, "cooling of the learning rate; 0: the default")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if err := measure(cfg, *seeds, *corpus, *tasks, stdout); err != nil {
		fmt.Fprintln(stderr, "learnbench:", err)
		return 1
	}
	return 0
}

func measure(cfg learnbench.Config, n int, corpus string, tasks bool, w io.Writer) error {
	var err error
	if cfg.Docs, err = documents(corpus); err != nil {
		return err
	}
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	start := time.Now()
	outs, err := learnbench.Runs(cfg, seeds)
	if err != nil {
		return err
	}
	took := time.Since(start)
	for i, o := range outs {
		last := len(o.Plain) - 1
		fmt.Fprintf(w, "seed %d: %d episodes, %d steps, plain %.2f to %.2f, hinted %.2f to %.2f, %d designs refused\n",
			seeds[i], o.Episodes, o.Steps, o.Plain[0], o.Plain[last], o.Hinted[0], o.Hinted[last], o.Rejected)
	}
	fmt.Fprintf(w, "%d runs in %.1f s\n\n", n, took.Seconds())
	return learnbench.Print(w, outs, tasks)
}

// documents reads the Markdown files of a folder and its subfolders, in the order of their paths.
func documents(dir string) ([]grammar.Doc, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.md"))
	if err != nil {
		return nil, err
	}
	var docs []grammar.Doc
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "# "), "\n")
		docs = append(docs, grammar.Doc{ID: f, Title: title, Text: string(raw)})
	}
	return docs, nil
}
