package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/pools"
)

const runtimeHelp = "starlark or python (default by the file's ending)"

// sourceFlags say of a file what its name does not.
type sourceFlags struct{ runtime, pkg string }

func (f *sourceFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.runtime, "runtime", "", runtimeHelp)
	_ = cmd.RegisterFlagCompletionFunc("runtime", cobra.FixedCompletions(gym.Runtimes(), cobra.ShellCompDirectiveNoFileComp)) // it is there
	cmd.Flags().StringVar(&f.pkg, "package", "", "package set that a Python source imports, as spade env install names it")
}

// read reads the source in a file.
func (f sourceFlags) read(path string) (gym.Source, error) {
	runtime := cmp.Or(f.runtime, gym.RuntimeOfFile(path), gym.RuntimeStarlark)
	if err := checkRuntime(runtime); err != nil {
		return gym.Source{}, usage(err)
	}
	if f.pkg != "" && runtime != gym.RuntimePython {
		return gym.Source{}, withNext(usage(fmt.Errorf("--package is for Python, and the runtime is %s", runtime)), "add --runtime python")
	}
	code, err := pools.ReadFile(path)
	if err != nil {
		return gym.Source{}, err
	}
	return gym.Source{Runtime: runtime, Code: code, Package: f.pkg}, nil
}

func checkRuntime(name string) error {
	if !slices.Contains(gym.Runtimes(), name) {
		return fmt.Errorf("--runtime %q is none of %s", name, strings.Join(gym.Runtimes(), ", "))
	}
	return nil
}
