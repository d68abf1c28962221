package config

import (
	"slices"
	"strings"
)

// Idle is a setting that was set and that nothing will read, because of another one.
type Idle struct {
	Where   string // "--hint-budget", "spade.yaml:3"
	Key     string
	Because string
}

// rule says which settings have no effect on a run while holds.
type rule struct {
	keys    []string // one that ends in a dot stands for all below it
	because string
	holds   func(Config) bool
}

func rules() []rule {
	designs := []string{
		"run.runtime", "run.max_attempts", "run.documents_per_design", "run.recalled_per_design", "run.duplicate_threshold",
		"run.coverage_window", "run.coverage_power", "run.coverage_floor", "run.coverage_similarity", "run.designer_temperature",
		"run.hint_guard", "run.pay.", "run.ablations", "corpus",
	}
	ablated := func(part string) func(Config) bool {
		return func(c Config) bool { return slices.Contains(c.Run.Ablations, part) }
	}
	return []rule{
		{designs, "a fixed pool is played: nothing is designed", func(c Config) bool { return c.Run.FixedPool() != "" }},
		{[]string{"run.designer_temperature"}, "a uniform designer does not sample from a model", func(c Config) bool { return c.Run.Designer == "uniform" }},
		{
			[]string{"run.hint_budget"},
			"run.no_hint_arm plays no hinted arm",
			func(c Config) bool { return c.Run.NoHintArm },
		},
		{[]string{"run.eval_every", "run.eval_seeds"}, "run.suites names none", func(c Config) bool { return len(c.Run.Suites) == 0 }},
		{[]string{"run.documents_per_design", "corpus"}, "run.ablations switches grounding off", ablated("grounding")},
		{[]string{"run.recalled_per_design"}, "run.ablations switches memory off", ablated("memory")},
		{[]string{"run.duplicate_threshold"}, "run.ablations switches dedup off", ablated("dedup")},
		{
			[]string{"run.coverage_window", "run.coverage_power", "run.coverage_floor", "run.coverage_similarity"},
			"run.pay.coverage is 0", func(c Config) bool { return c.Run.Pay.Coverage == 0 },
		},
		{[]string{"run.advantage_ddof"}, "only run.advantage grpo divides by a deviation", func(c Config) bool { return c.Run.Advantage != "grpo" }},
		{
			[]string{"run.advantage_eps"},
			"only run.advantage grpo and maxrl divide by what it is added to",
			func(c Config) bool { return c.Run.Advantage != "grpo" && c.Run.Advantage != "maxrl" },
		},
		{
			[]string{"embeddings.model", "embeddings.dim", "embeddings.key"},
			"embeddings.url is empty: the built-in embedder is used",
			func(c Config) bool { return c.Embeddings.URL == "" },
		},
		{
			[]string{
				"kafka.user", "kafka.password", "kafka.sasl", "kafka.tls", "kafka.ca", "kafka.cert", "kafka.key", "kafka.prefix",
				"kafka.replication",
			},
			"kafka.brokers is empty: the embedded one is used",
			func(c Config) bool { return len(c.Kafka.Brokers) == 0 },
		},
		{
			[]string{"kafka.ca", "kafka.cert", "kafka.key"},
			"kafka.tls is off",
			func(c Config) bool { return !c.Kafka.TLS },
		},
		{
			[]string{"kafka.fsync"},
			"kafka.brokers names a cluster: its own settings say when it writes to the disk",
			func(c Config) bool { return len(c.Kafka.Brokers) > 0 },
		},
		{
			[]string{"clickhouse.user", "clickhouse.password", "clickhouse.ca"},
			"clickhouse.url is empty: the embedded one is used",
			func(c Config) bool { return c.ClickHouse.URL == "" },
		},
		{
			[]string{"qdrant.api_key", "qdrant.tls", "qdrant.ca"},
			"qdrant.addr is empty: the embedded one is used",
			func(c Config) bool { return c.Qdrant.Addr == "" },
		},
		{
			[]string{"s3."},
			"checkpoints is not an s3:// URL",
			func(c Config) bool { return !strings.HasPrefix(c.Checkpoints, bucket) },
		},
	}
}

// Idle lists what was set for a run and has no effect on it, in the order of the settings.
func (l Loaded) Idle() []Idle {
	var found []Idle
	for _, f := range Fields() {
		origin := l.Origin(f.Key)
		if origin == OriginDefault || f.Text(l.Config) == f.Text(NewDefaultConfig()) {
			continue // what stands at its default changes nothing anyway
		}
		for _, r := range rules() {
			if r.holds(l.Config) && slices.ContainsFunc(r.keys, func(key string) bool { return f.Key == key || below(f.Key, key) }) {
				found = append(found, Idle{Where: string(origin), Key: f.Key, Because: r.because})
				break
			}
		}
	}
	return found
}

func below(key, section string) bool {
	return strings.HasSuffix(section, ".") && strings.HasPrefix(key, section)
}
