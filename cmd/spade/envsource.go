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
	runtime := cmp.Or(f.runtime, gym.RuntimeOfFile(path))
	if runtime != "" {
		if err := checkRuntime(runtime); err != nil {
			return gym.Source{}, usage(err)
		}
	}
	if f.pkg != "" && runtime != "" && runtime != gym.RuntimePython {
		return gym.Source{}, withNext(usage(fmt.Errorf("--package is for Python, and the runtime is %s", runtime)), "add --runtime python")
	}
	code, err := pools.ReadFile(path)
	if err != nil {
		return gym.Source{}, err
	}
	if runtime == "" {
		return gym.Source{}, withNext(usage(pools.EndingError(path)), "--runtime starlark or --runtime python says what it holds")
	}
	return gym.Source{Runtime: runtime, Code: code, Package: f.pkg}, nil
}

func checkRuntime(name string) error {
	if !slices.Contains(gym.Runtimes(), name) {
		return fmt.Errorf("--runtime %q is none of %s", name, strings.Join(gym.Runtimes(), ", "))
	}
	return nil
}

// lacksModule says whether a source without a package set was refused because it imports what is not there.
func lacksModule(src gym.Source, reason string) bool {
	return src.Runtime == gym.RuntimePython && src.Package == "" && strings.Contains(reason, "ModuleNotFoundError")
}

// bringsPackages is what to do about it.
func bringsPackages() string {
	return "--package NAME brings an installed package set: " + strings.Join(pools.Names(), ", ")
}
