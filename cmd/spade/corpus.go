package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/ingest"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/bus"
)

func newCorpus(c *cli) *cobra.Command {
	return group("corpus", "Ingest and list the documents that ground the designer", newCorpusAdd(c), newCorpusList(c))
}

// errNothing ends an ingestion that found nothing to ingest.
var errNothing = errors.New("no document was found")

func newCorpusAdd(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "add PATH...",
		Short: "Ingest documents into the log",
		Long: `Ingests .md, .txt, .html, .jsonl (a "text" field a line) and .parquet (a text column) files, folders
with all below them. Long documents are cut into chunks; what the log holds already is not added again.
Files that cannot be read are listed and passed over.`,
		Example: `  spade corpus add examples/corpus
  spade corpus add notes.md wiki.parquet --data /srv/spade`,
		Args:        atLeastOne("PATH"),
		Annotations: map[string]string{makesData: "true"},
		RunE: func(cmd *cobra.Command, paths []string) error {
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				sum, _, err := ingest.Add(ctx, log, paths, c.progressSettings())
				err = errors.Join(err, ingest.WriteSummary(c.out, sum), ingest.WriteProblems(c.err, sum))
				if err == nil && sum.Documents == 0 && sum.ProblemCount > 0 {
					return errNothing
				}
				return errors.Join(err, missing(paths))
			})
		},
	}
}

// missing names the paths that are not there: what was asked for was not all done, whatever else was ingested.
func missing(paths []string) error {
	var errs []error
	for _, p := range paths {
		if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("%s is not there", p))
		}
	}
	return errors.Join(errs...)
}

// progressSettings draws bars on standard error where that is a terminal.
func (c *cli) progressSettings() progress.Settings {
	return progress.Settings{Out: c.err, Terminal: screen.IsTerminal(c.err, c.getenv), Style: c.style(c.err)}
}

func newCorpusList(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the documents of the log",
		Example: `  spade corpus list
  spade corpus list --json`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withLog(cmd, func(ctx context.Context, _ place, log *bus.Client) error {
				index, err := ingest.Index(ctx, log)
				if err != nil {
					return err
				}
				if asJSON {
					return ingest.ListJSON(c.out, index)
				}
				if err := ingest.List(c.out, index); err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.err, "%s documents may be sampled\n", progress.Items(int64(len(index.IDs()))))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}
