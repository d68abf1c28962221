package config_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/config"
)

func TestNamesOfSettingsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range config.Fields() {
		for _, name := range []string{f.Key, f.Env, "--" + f.Flag} {
			if seen[name] {
				t.Errorf("%s names two settings", name)
			}
			seen[name] = true
		}
		if f.Help == "" {
			t.Errorf("%s has no help", f.Key)
		}
	}
}

func TestDefaultsAreValidAndRoundTripThroughYAML(t *testing.T) {
	l, err := config.Load(config.Sources{File: file(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	again, err := config.Load(config.Sources{File: file(t, out.String())})
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	for _, f := range config.Fields() {
		if f.Text(l.Config) != f.Text(again.Config) {
			t.Errorf("%s: %q became %q", f.Key, f.Text(l.Config), f.Text(again.Config))
		}
	}
}

func TestFlags(t *testing.T) {
	set := pflag.NewFlagSet("x", pflag.ContinueOnError)
	config.BindFlags(set, func(config.Field) bool { return true })
	args := []string{"--seed", "5", "--train-hinted", "--corpus", "a,b", "--corpus=c", "--hint-guard=false"}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Sources{File: file(t, ""), Flags: config.ChangedFlags(set)})
	if err != nil {
		t.Fatal(err)
	}
	if l.Run.Seed != 5 || !l.Run.TrainHinted || l.Run.HintGuard || !slices.Equal(l.Corpus, []string{"a", "b", "c"}) {
		t.Errorf("%+v %v", l.Run, l.Corpus)
	}
	if err := set.Parse([]string{"--seed", "-1"}); err == nil {
		t.Error("a negative seed was accepted")
	}
	if set.Lookup("kafka-password") != nil {
		t.Error("a secret has a flag")
	}
}

// TestSemanticCarriesEverySetting changes each run setting in turn and wants the message to change with it: a setting
// that is accepted and ignored is the commonest fault.
func TestSemanticCarriesEverySetting(t *testing.T) {
	base := config.NewDefaultConfig().Semantic(config.Resolved{})
	other := map[string]string{
		"run.designer": "uniform", "run.runtime": "python", "run.estimator": "learnability", "run.advantage": "rloo",
		"run.group": "env", "run.plugin_config": `{"a":1}`, "run.ablations": "memory",
	}
	notInMessage := []string{"run.name", "run.seed", "run.suites"} // RunStarted's own fields, and Resolved
	for _, f := range config.Fields() {
		if !f.IsSemantic() || slices.Contains(notInMessage, f.Key) {
			continue
		}
		guesses := []string{"3", "0", "0.25", "false", "true", "5000"}
		if text, ok := other[f.Key]; ok {
			guesses = []string{text}
		}
		l, err := otherValue(t, f, guesses)
		if err != nil {
			t.Errorf("%s: no other value is valid: %v", f.Key, err)
		} else if proto.Equal(base, l.Semantic(config.Resolved{})) {
			t.Errorf("%s = %s does not reach the semantic configuration", f.Key, f.Text(l.Config))
		}
	}
}

// otherValue loads a configuration in which f has the first of the guesses that is valid and not the default.
func otherValue(t *testing.T, f config.Field, guesses []string) (l config.Loaded, err error) {
	t.Helper()
	for _, guess := range guesses {
		l, err = config.Load(config.Sources{File: file(t, ""), Flags: map[string]string{f.Key: guess}})
		if err == nil && f.Text(l.Config) != f.Text(config.NewDefaultConfig()) {
			return l, nil
		}
	}
	return l, errors.Join(err, errors.New("all guesses are used up"))
}
