package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestConcurrencyHasTheBoundsOfWorkers: the flag takes the place of the setting.
func TestConcurrencyHasTheBoundsOfWorkers(t *testing.T) {
	for _, text := range []string{"-1", "1025", "abc", "1.5", ""} {
		r := spade(t, nil, "worker", "rollout", "--concurrency="+text)
		if r.code != exitUsage || !strings.Contains(r.stderr, "is not a whole number from 0 to 1024") {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if r := spade(t, []string{"SPADE_WORKERS=1025"}, "config", "print"); r.code != exitUsage {
		t.Errorf("the setting takes more than the flag: %+v", r)
	}
	if r := spade(t, []string{"SPADE_WORKERS=1024"}, "config", "print"); r.code != exitOK {
		t.Errorf("the setting takes less than the flag: %+v", r)
	}
}

// TestExamplesOfWorkersUseTheirFlags: an example with a flag that the command lacks is one that fails.
func TestExamplesOfWorkersUseTheirFlags(t *testing.T) {
	for _, cmd := range newRoot(&cli{}).Commands() {
		if cmd.Name() != "worker" {
			continue
		}
		for _, role := range cmd.Commands() {
			examplesUseFlags(t, role)
		}
	}
}

func examplesUseFlags(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	for _, word := range strings.Fields(cmd.Example) {
		if name, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s shows --%s, which it does not have", cmd.CommandPath(), name)
		}
	}
}

func TestWhatASubmittedRunIs(t *testing.T) {
	for _, c := range []struct {
		there, over bool
		verb, next  string
	}{
		{false, false, "opened", "worker --help"},
		{true, false, "was there already:", "worker --help"},
		{true, true, "is finished already:", "prints its summary"},
	} {
		if verb, next := submitted(c.there, c.over); verb != c.verb || !strings.Contains(next, c.next) {
			t.Errorf("there %t, over %t: %q, %q", c.there, c.over, verb, next)
		}
	}
}

func TestDeadLettersAreNamedInOneWay(t *testing.T) {
	if r := spade(t, nil, "deadletters", "retry", "--all", "3a265812"); r.code != exitUsage || !strings.Contains(r.stderr, "exclude each other") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, nil, "deadletters", "retry"); r.code != exitUsage || !strings.Contains(r.stderr, "give the ids") {
		t.Errorf("%+v", r)
	}
}
