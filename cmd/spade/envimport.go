package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/poolview"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym/pools"
	"github.com/seed256f7767/spade/internal/runs"
)

// importing is what `spade env import` was asked for.
type importing struct {
	app.Import
	specs          []pools.Spec
	pkg            string
	dryRun, asJSON bool
}

func newEnvImport(c *cli) *cobra.Command {
	var in importing
	cmd := &cobra.Command{
		Use:   "import SPEC...",
		Short: "Bring other people's environments into the log as a fixed pool",
		Long: `Puts environments through the acceptance gate and writes each with its verdict into the log, as a run of
kind pool. spade run --designer fixed:POOL plays those that were accepted. A SPEC is SET:NAME or SET:* of
a package set that spade env install put in place, or a folder or file of .py and .star sources.
The same import again changes nothing; one that was interrupted is taken up.`,
		Example: `  spade env import gymnasium:FrozenLake-v1
  spade env import 'reasoning-gym:*' --name puzzles
  spade env import lake.py --package gymnasium
  spade env import examples/environments --dry-run`,
		Args: atLeastOne("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.parse(args); err != nil {
				return err
			}
			l, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			out, err := c.importPool(cmd.Context(), l, in)
			if err != nil {
				return resumableImport(cmd, in, err)
			}
			return c.showImport(cmd, in, out)
		},
	}
	config.BindFlags(cmd.Flags(), func(f config.Field) bool { return f.Key == "run.max_steps_budget" })
	cmd.Flags().StringVar(&in.Name, "name", "", "name of the pool (default derived from SPEC)")
	cmd.Flags().StringVar(&in.pkg, "package", "", "package set that the Python sources of a folder or file import, as spade env install names it")
	cmd.Flags().Uint64Var(&in.Seed, "seed", 1, "seed of the env seeds and the random policy that the gate plays")
	cmd.Flags().BoolVar(&in.Unsolved, "unsolved", false, "accept environments without a reference solution; what needs one is not checked")
	cmd.Flags().BoolVar(&in.dryRun, "dry-run", false, "judge and show, write nothing")
	cmd.Flags().BoolVar(&in.asJSON, "json", false, "print one line that holds one JSON object")
	return cmd
}

// parse reads the specs and names the pool after them where it has no name.
func (in *importing) parse(args []string) error {
	in.specs = nil
	var errs []error
	var names []string
	for _, arg := range args {
		spec, err := pools.Parse(arg)
		if spec.Path != "" {
			spec.Package = in.pkg
		}
		in.specs, errs = append(in.specs, spec), append(errs, err)
		names = append(names, poolName(spec))
	}
	if err := errors.Join(errs...); err != nil {
		return usage(err)
	}
	if in.pkg != "" && !slices.ContainsFunc(in.specs, func(s pools.Spec) bool { return s.Path != "" }) {
		return usage(errors.New("--package is for a folder or file of Python sources; what is of a set has that set"))
	}
	if in.Name == "" {
		in.Name = strings.Join(names, "+")
		if len(in.Name) > config.MaxName {
			sum := sha256.Sum256([]byte(in.Name))
			in.Name = fmt.Sprintf("%s and %d more %x", names[0][:min(len(names[0]), 80)], len(names)-1, sum[:4])
		}
	}
	if err := config.CheckName(in.Name); err != nil {
		return withNext(usage(fmt.Errorf("--name %w", err)), "give the pool another name with --name")
	}
	return nil
}

// poolName is what a spec is called: a set without its star, the last part of a path.
func poolName(spec pools.Spec) string {
	if spec.Path == "" {
		return strings.TrimSuffix(spec.String(), ":*")
	}
	path := spec.Path
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// importPool judges the environments and, unless it is a dry run, writes them into the log.
func (c *cli) importPool(ctx context.Context, l config.Loaded, in importing) (out app.Imported, err error) {
	bar := progress.NewBar(c.progressSettings(), "environments", progress.Items)
	defer func() { err = errors.Join(err, bar.Close()) }()
	judged := func(done, total int, _ app.ImportedEntry) {
		_ = bar.Set(int64(done), int64(total)) // a bar that cannot be drawn is no reason to stop
	}
	log, err := newLogger(bar.Logs(c.err), l.Log)
	if err != nil {
		return out, err
	}
	if in.dryRun {
		pool, err := app.StartPool(ctx, l.Config, l.Workers, app.SetsOf(in.specs), log)
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, pool.Shutdown(context.WithoutCancel(ctx))) }()
		var absent []pools.Absent
		if in.Entries, absent, err = app.ListEntries(ctx, pool, in.specs); err != nil {
			return out, err
		}
		out, err = app.Judge(ctx, pool, in.Import, l.Workers, judged)
		return withAbsent(out, absent), err
	}
	at, err := endpoints.Connect(ctx, l, endpoints.Settings{Logger: log, Purpose: "spade env import"})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	services, err := app.Open(ctx, l, at.At, log)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, services.Close(context.WithoutCancel(ctx))) }()
	guarded, stop := at.Guard(ctx)
	defer stop()
	var absent []pools.Absent
	if in.Entries, absent, err = services.OpenImport(guarded, in.specs); err == nil {
		out, err = services.ImportPool(guarded, in.Import, judged)
	}
	out = withAbsent(out, absent)
	if lost := context.Cause(guarded); err != nil && lost != nil && ctx.Err() == nil {
		return out, lost // what the import says of it is only that it was ended
	}
	return out, err
}

// withAbsent adds what the sets have that cannot be imported.
func withAbsent(out app.Imported, absent []pools.Absent) app.Imported {
	for _, a := range absent {
		out.Absent = append(out.Absent, app.AbsentEntry(a))
	}
	return out
}

func (c *cli) showImport(cmd *cobra.Command, in importing, out app.Imported) error {
	if in.asJSON {
		return poolview.JSON(c.out, out)
	}
	switch {
	case out.Known:
		fmt.Fprintln(c.err, "the log held this import already; nothing was written")
	case out.Resumed:
		fmt.Fprintln(c.err, "an import that was interrupted has been finished")
	case in.dryRun:
		fmt.Fprintln(c.err, "dry run: nothing was written")
	}
	set := poolview.Settings{Style: c.style(c.out), Program: c.program(), Flags: placeFlags(cmd)}
	if screen.IsTerminal(c.out, c.getenv) {
		set.Columns, _ = screen.Size(c.out)
	}
	return poolview.Text(c.out, out, set)
}

// resumableImport says what to do about an import that did not come to its end.
func resumableImport(cmd *cobra.Command, in importing, err error) error {
	if cmd.Context().Err() != nil {
		if in.dryRun {
			return withNext(err, "the same command judges them all again; a dry run keeps nothing")
		}
		return withNext(err, "the same command takes the import up where it stands")
	}
	if errors.Is(err, runs.ErrDiffers) {
		return withNext(err, "ask for the same as before to take that import up, or give this one another --name")
	}
	if missing, ok := errors.AsType[*pools.MissingError](err); ok {
		return withNext(err, missing.Command())
	}
	return err
}
