package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
)

// file writes a settings file and returns its path.
func file(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	const yaml = "run:\n  seed: 2\n  designs: 3\n  repeats: 5\n"
	environ := []string{"SPADE_RUN_SEED=3", "SPADE_RUN_DESIGNS=6", "HOME=/x", "SPADE_TEST_ANYTHING=1", "SPADE_RUN_REPEATS="}
	flags := map[string]string{"run.seed": "4"}
	l, err := config.Load(config.Sources{File: file(t, yaml), Environ: environ, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		got    any
		want   any
		origin config.Origin
	}{
		{"run.seed", l.Run.Seed, uint64(4), "--seed"},
		{"run.designs", l.Run.Designs, 6, "SPADE_RUN_DESIGNS"},
		{"run.repeats", l.Run.Repeats, 5, "my.yaml:4"},
		{"run.iterations", l.Run.Iterations, 20, "default"},
	} {
		if c.got != c.want || l.Origin(c.key) != c.origin {
			t.Errorf("%s = %v from %s, want %v from %s", c.key, c.got, l.Origin(c.key), c.want, c.origin)
		}
	}
}

func TestFileIsFoundByVariable(t *testing.T) {
	path := file(t, "run: {seed: 9}")
	l, err := config.Load(config.Sources{Environ: []string{"SPADE_CONFIG=" + path}})
	if err != nil || l.Run.Seed != 9 {
		t.Fatalf("seed %d, %v", l.Run.Seed, err)
	}
	if _, err := config.Load(config.Sources{File: path + ".none"}); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a file that was asked for and is not there: %v", err)
	}
}

func TestEveryKindOfValue(t *testing.T) {
	const yaml = `
corpus: [docs, "more docs"]
run:
  duplicate_threshold: 0.5
  train_hinted: true
  plugin_config: {width: 3, a: [1, 2]}
  ablations: grounding, memory
  seed: 18446744073709551615
kafka:
  password: hush
  user: me
`
	l, err := config.Load(config.Sources{File: file(t, yaml)})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.Corpus, "|"); got != "docs|more docs" {
		t.Errorf("corpus %q", got)
	}
	if l.Run.DuplicateThreshold != 0.5 || !l.Run.TrainHinted || l.Run.Seed != 1<<64-1 {
		t.Errorf("scalars: %+v", l.Run)
	}
	if l.Run.PluginConfig != `{"a":[1,2],"width":3}` {
		t.Errorf("plugin config %s", l.Run.PluginConfig)
	}
	if got := strings.Join(l.Run.Ablations, "|"); got != "grounding|memory" {
		t.Errorf("ablations %q", got)
	}
	if l.Kafka.Password.Reveal() != "hush" {
		t.Error("the password was not read")
	}
}

func TestProblemsNameWhatWhereAndTheNearestKey(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		environ    []string
		flags      map[string]string
		class      error
		want       []string
	}{
		{
			name: "misspelt key", yaml: "run:\n  iteratons: 3\n", class: config.ErrUnknownKey,
			want: []string{"my.yaml:2: run.iteratons: is not a setting; did you mean run.iterations?"},
		},
		{
			name: "right name, wrong section", yaml: "iterations: 3\n", class: config.ErrUnknownKey,
			want: []string{"did you mean run.iterations?"},
		},
		{
			name: "dashes for underscores", yaml: "run: {env-seeds: 3}\n", class: config.ErrUnknownKey,
			want: []string{"did you mean run.env_seeds?"},
		},
		{
			name: "swapped letters", yaml: "run: {sede: 1}\n", class: config.ErrUnknownKey,
			want: []string{"my.yaml:1: run.sede: is not a setting; did you mean run.seed?"},
		},
		{
			name: "nothing near", yaml: "zzzzzzzzzzzzzzz: 3\n", class: config.ErrUnknownKey,
			want: []string{"spade config print"},
		},
		{
			name: "misspelt variable", environ: []string{"SPADE_KAFKA_BROKER=a:1"}, class: config.ErrUnknownKey,
			want: []string{"SPADE_KAFKA_BROKER: is not a setting; did you mean SPADE_KAFKA_BROKERS?"},
		},
		{
			name: "not a number", environ: []string{"SPADE_RUN_SEED=one"}, class: config.ErrInvalid,
			want: []string{`SPADE_RUN_SEED: "one" is not a whole number from 0`},
		},
		{
			name: "several at once", yaml: "run:\n  designs: 0\n  group: pair\nlog: {level: loud}\n", class: config.ErrInvalid,
			flags: map[string]string{"run.repeats": "-1"},
			want: []string{
				"my.yaml:2: run.designs: 0 is not between", `my.yaml:3: run.group: "pair" is not one of seed, env`,
				"--repeats: run.repeats: -1", `my.yaml:4: log.level: "loud"`,
			},
		},
		{
			name: "set twice", yaml: "run: {seed: 1}\nrun: {seed: 2}\n", class: config.ErrInvalid,
			want: []string{"run.seed: is set twice"},
		},
		{
			name: "a list where text belongs", yaml: "data: [a, b]\n", class: config.ErrInvalid,
			want: []string{"my.yaml:1: data: must be a text"},
		},
		{
			name: "a section that is a value", yaml: "run: 3\n", class: config.ErrInvalid,
			want: []string{"my.yaml:1: run: must hold settings"},
		},
		{
			name: "no value", yaml: "data:\n", class: config.ErrInvalid,
			want: []string{"data: has no value"},
		},
		{
			name: "no YAML", yaml: "run: [\n", class: config.ErrInvalid,
			want: []string{"my.yaml:"},
		},
		{
			name: "JSON that is no object", yaml: "run: {plugin_config: '[1]'}\n", class: config.ErrInvalid,
			want: []string{"run.plugin_config: not a JSON object"},
		},
		{
			name: "services", class: config.ErrInvalid,
			environ: []string{
				"SPADE_KAFKA_BROKERS=a,b:99999", "SPADE_CLICKHOUSE_URL=ftp://x", "SPADE_QDRANT_ADDR=:1",
				"SPADE_EMBEDDINGS_URL=http://e", "SPADE_KAFKA_SASL=kerberos", "SPADE_KAFKA_CERT=c.pem", "SPADE_KAFKA_PREFIX=a/b",
				"SPADE_KAFKA_REPLICATION=-1", "SPADE_POLICY_ADDR=foo",
			},
			want: []string{
				`"a" is not host:port`, `"b:99999" is not host:port`, "clickhouse.url: is not an http://", `":1" is not host:port`,
				"embeddings.model: is empty", "embeddings.dim: 0 is not between", `"kerberos" is not one of`, "kafka.user: is empty",
				"kafka.cert: a client certificate needs both", `kafka.prefix: "a/b" holds`, "kafka.replication: -1 is not",
				`policy.addr: "foo" is not host:port`,
			},
		},
		{
			name: "numbers that end in infinities", class: config.ErrInvalid,
			flags: map[string]string{
				"run.pay.regret": "1e308", "run.pay.novelty": "-1", "run.agent_temperature": "1e-320", "run.designer_temperature": "-1",
				"run.coverage_power": "1e3",
			},
			want: []string{
				"run.pay.regret: 1e+308 is not between 0 and 1e+06", "run.pay.novelty: -1 is not between", "run.coverage_power: 1000 is not",
				"run.agent_temperature: 1e-320 is neither 0 nor between 0.001 and 1000", "run.designer_temperature: -1 is neither 0",
			},
		},
		{
			name: "a name like an id", class: config.ErrInvalid,
			flags: map[string]string{"run.name": "38f836dc-203e-5c45-acbf-24e66052c5f5"},
			want:  []string{"run.name: ", "has the form of an id"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(config.Sources{File: file(t, c.yaml), Environ: c.environ, Flags: c.flags})
			if err == nil || !errors.Is(err, c.class) {
				t.Fatalf("got %v, want class %v", err, c.class)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
		})
	}
}
