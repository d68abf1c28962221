package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/cmd/spade/internal/scaffold"
	"github.com/seed256f7767/spade/internal/gym"
)

const runtimeHelp = "starlark or python (default by the file's ending)"

// sourceFlags say of a file what its name does not.
type sourceFlags struct{ runtime, pkg string }

func (f *sourceFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.runtime, "runtime", "", runtimeHelp)
	_ = cmd.RegisterFlagCompletionFunc("runtime", cobra.FixedCompletions(scaffold.Runtimes(), cobra.ShellCompDirectiveNoFileComp)) // it is there
	cmd.Flags().StringVar(&f.pkg, "package", "", "package set that a Python source imports, as spade env install names it")
}

// read reads the source in a file.
func (f sourceFlags) read(path string) (gym.Source, error) {
	runtime := f.runtime
	if runtime == "" {
		runtime = runtimeOf(path)
	}
	if err := checkRuntime(runtime); err != nil {
		return gym.Source{}, usage(err)
	}
	if f.pkg != "" && runtime != gym.RuntimePython {
		return gym.Source{}, withNext(usage(fmt.Errorf("--package is for Python, and the runtime is %s", runtime)), "add --runtime python")
	}
	src, err := readSource(path, runtime)
	src.Package = f.pkg
	return src, err
}

func checkRuntime(name string) error {
	if !slices.Contains(scaffold.Runtimes(), name) {
		return fmt.Errorf("--runtime %q is none of %s", name, strings.Join(scaffold.Runtimes(), ", "))
	}
	return nil
}

// runtimeOfName is the language that a file's name tells; empty where it tells none.
func runtimeOfName(path string) string {
	for _, runtime := range scaffold.Runtimes() {
		if filepath.Ext(path) == scaffold.Suffix(runtime) {
			return runtime
		}
	}
	return ""
}

// runtimeOf is the language of a source by its file's name: Starlark where it tells none.
func runtimeOf(path string) string {
	if runtime := runtimeOfName(path); runtime != "" {
		return runtime
	}
	return gym.RuntimeStarlark
}
