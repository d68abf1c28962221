package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/scaffold"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/gym"
)

// beginning is what `spade env new` was asked for.
type beginning struct{ kind, runtime, form, path string }

func newEnvNew(c *cli) *cobra.Command {
	var b beginning
	cmd := &cobra.Command{
		Use:   "new --kind KIND [PATH]",
		Short: "Begin an environment with a documented example",
		Long: `Writes the source of a small environment that passes the gate, with comments that explain each part. PATH is
a file that is not there yet, or a folder; without it, the file is called after the kind, here. Its ending says
the runtime where --runtime does not: .star is Starlark, .py is Python.`,
		Example: `  spade env new --kind game
  spade env new --kind tools --runtime python
  spade env new --kind reasoning --form class riddles.py`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				b.path = args[0]
			}
			if err := b.settle(); err != nil {
				return withNext(usage(err), cmd.CommandPath()+" --help shows examples")
			}
			code, err := scaffold.Source(b.kind, b.runtime, b.form)
			if errors.Is(err, scaffold.ErrNone) {
				return withNext(usage(err), "--form class needs --runtime python")
			}
			if err != nil {
				return err
			}
			err = scaffold.Write(b.path, code)
			if errors.Is(err, fs.ErrExist) {
				return withNext(err, "nothing was written; give another PATH")
			}
			if err != nil {
				return err
			}
			return c.showBeginning(b)
		},
	}
	choice := func(to *string, name, value, help string, values []string) {
		cmd.Flags().StringVar(to, name, value, help)
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	}
	choice(&b.kind, "kind", "", strings.Join(scaffold.Kinds(), ", "), scaffold.Kinds())
	choice(&b.runtime, "runtime", "", runtimeHelp, gym.Runtimes())
	choice(&b.form, "form", scaffold.FormFunctional, "functional, or class (Python only)", scaffold.Forms())
	return cmd
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exactArgs("PATH")(cmd, args)
}

// settle checks what was asked for and finds out the rest.
func (b *beginning) settle() error {
	if !slices.Contains(scaffold.Kinds(), b.kind) {
		if b.kind == "" {
			return errors.New("--kind is missing: " + strings.Join(scaffold.Kinds(), ", "))
		}
		return fmt.Errorf("--kind %q is none of %s", b.kind, strings.Join(scaffold.Kinds(), ", "))
	}
	if !slices.Contains(scaffold.Forms(), b.form) {
		return fmt.Errorf("--form %q is none of %s", b.form, strings.Join(scaffold.Forms(), ", "))
	}
	folder := b.path == "" || isFolder(b.path)
	if b.runtime == "" && !folder {
		b.runtime = gym.RuntimeOfFile(b.path)
	}
	if b.runtime == "" {
		b.runtime = gym.Runtimes()[0]
		if b.form == scaffold.FormClass {
			b.runtime = "python"
		}
	}
	if err := checkRuntime(b.runtime); err != nil {
		return err
	}
	if folder {
		b.path = filepath.Join(b.path, b.kind+gym.Suffix(b.runtime))
	}
	if other := gym.RuntimeOfFile(b.path); other != "" && other != b.runtime {
		return fmt.Errorf("a file called %s holds %s, and --runtime is %s", filepath.Base(b.path), other, b.runtime)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (c *cli) showBeginning(b beginning) error {
	runtime := ""
	if gym.RuntimeOfFile(b.path) == "" {
		runtime = " --runtime " + b.runtime
	}
	style, file := c.style(c.out), endpoints.Quote(b.path)
	if strings.HasPrefix(b.path, "-") {
		file = endpoints.Quote("./" + b.path)
	}
	next := [][2]string{
		{fmt.Sprintf("%s env play %s%s", c.program(), file, runtime), "see what the agent sees"},
		{fmt.Sprintf("%s env check %s%s", c.program(), file, runtime), "put it through the acceptance gate"},
	}
	if runtime == "" {
		next = append(next, [2]string{fmt.Sprintf("%s env import %s", c.program(), file), "bring it into the log, to train on"})
	}
	width := 0
	for _, n := range next {
		width = max(width, screen.Width(screen.Escape(n[0])))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "wrote %s\n\nnext\n", style.Bold(screen.Escape(b.path)))
	for _, n := range next {
		command := screen.Escape(n[0])
		fmt.Fprintf(&out, "  %s%s  %s\n", style.Accent(command), strings.Repeat(" ", width-screen.Width(command)), style.Dim(n[1]))
	}
	_, err := fmt.Fprint(c.out, out.String())
	return err
}
