package config

import (
	"strings"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Config is every setting. A field's key is its path of `key` tags joined by dots; its variable is SPADE_ and the key in
// capitals with underscores for dots.
type Config struct {
	Data        string     `key:"data" help:"folder of the embedded services' data and secrets"`
	Corpus      []string   `key:"corpus" help:"files and folders ingested before a run begins"`
	Workers     int        `key:"workers" help:"episodes and gate checks in parallel; 0 = one a core"`
	Partitions  int        `key:"partitions" help:"partitions of every topic keyed by environment; fixed for a cluster's life"`
	Drain       int        `key:"drain" help:"seconds that a process gets to finish what it has begun when it is asked to end"`
	Checkpoints string     `key:"checkpoints" help:"folder or s3:// URL of checkpoints over 8 MiB"`
	Libchdb     string     `key:"libchdb" help:"path of the embedded ClickHouse engine; empty = the installed one"`
	Cache       string     `key:"cache" help:"folder the engine is installed to; empty = in the user's cache folder"`
	Run         Run        `key:"run"`
	Log         Log        `key:"log"`
	Sandbox     Sandbox    `key:"sandbox"`
	Python      Python     `key:"python"`
	Plugin      Plugin     `key:"plugin"`
	Kafka       Kafka      `key:"kafka"`
	ClickHouse  ClickHouse `key:"clickhouse"`
	Qdrant      Qdrant     `key:"qdrant"`
	Embeddings  Embeddings `key:"embeddings"`
	S3          S3         `key:"s3"`
	Policy      Policy     `key:"policy"`
	Metrics     Metrics    `key:"metrics"`
	Trace       Trace      `key:"trace"`
}

// Run is what, with the seed, determines a run's payloads.
type Run struct {
	Name                string   `key:"name" help:"name of the run; empty = derived from seed and settings"`
	Seed                uint64   `key:"seed" help:"seed of all randomness"`
	Iterations          int      `key:"iterations" help:"policy updates"`
	Designs             int      `key:"designs" help:"environments designed an iteration"`
	EnvSeeds            int      `key:"env_seeds" help:"seeds an environment is played on"`
	Repeats             int      `key:"repeats" help:"attempts a seed and arm"`
	HintBudget          int      `key:"hint_budget" help:"hinted episodes of an environment, over all its seeds; 0 = as many as plain ones"`
	MaxAttempts         int      `key:"max_attempts" help:"designs a slot may take; 1 = no repair"`
	MaxPolicyLag        int      `key:"max_policy_lag" help:"versions an iteration may start early; 0 = on-policy"`
	Designer            string   `key:"designer" help:"policy, uniform, or fixed:POOL to play the environments that spade env import brought in under that name"`
	Runtime             string   `key:"runtime" help:"language of the environments that are designed: starlark or python"`
	DocumentsPerDesign  int      `key:"documents_per_design" help:"documents a design is grounded in"`
	RecalledPerDesign   int      `key:"recalled_per_design" help:"neighbours recalled from the environment memory"`
	DuplicateThreshold  float64  `key:"duplicate_threshold" help:"cosine from which a design is a near-duplicate"`
	Estimator           string   `key:"estimator" help:"regret estimator that pays the designer: hint_gap, paired_hint_gap, antagonist_max, maxmc or learnability"`
	Pay                 Pay      `key:"pay"`
	CoverageWindow      int      `key:"coverage_window" help:"recent designs that the coverage part looks at"`
	CoveragePower       float64  `key:"coverage_power" help:"power of a kind's share that its pay is divided by"`
	CoverageFloor       float64  `key:"coverage_floor" help:"share of the recent designs that a kind may hold unreduced"`
	CoverageSimilarity  float64  `key:"coverage_similarity" help:"cosine from which two designs count as one kind"`
	HintGuard           bool     `key:"hint_guard" help:"pay nothing for hints that carry facts no observation holds"`
	Advantage           string   `key:"advantage" help:"advantage estimator: grpo, dr_grpo, maxrl or rloo"`
	AdvantageEps        float64  `key:"advantage_eps" help:"added to the standard deviation of a group"`
	AdvantageDDOF       int      `key:"advantage_ddof" help:"delta degrees of freedom of a group's standard deviation: 0 or 1"`
	Group               string   `key:"group" help:"what advantages compare: seed or env"`
	TrainHinted         bool     `key:"train_hinted" help:"train the agent on hinted episodes too, in their own groups"`
	PluginConfig        string   `key:"plugin_config" kind:"json" help:"the trainer plugin's own settings, a JSON object"`
	AgentTemperature    float64  `key:"agent_temperature" help:"sampling temperature of the agent"`
	DesignerTemperature float64  `key:"designer_temperature" help:"sampling temperature of the designer"`
	Suites              []string `key:"suites" help:"folders of held-out environments that are evaluated"`
	EvalEvery           int      `key:"eval_every" help:"iterations between evaluations; 0 = only before and after"`
	EvalSeeds           int      `key:"eval_seeds" help:"env seeds a suite's task is played on"`
	Ablations           []string `key:"ablations" help:"parts switched off: dedup, grounding or memory"`
	MaxStepsBudget      int      `key:"max_steps_budget" help:"interpreter steps one call of a Starlark source may take"`
	NoHintArm           bool     `key:"no_hint_arm" help:"play no hinted arm and pay no regret: the no-hint baseline"`
}

// Pay is the weights of the parts of a designer's reward.
type Pay struct {
	Regret   float64 `key:"regret" help:"weight of the chosen regret"`
	Validity float64 `key:"validity" help:"what a design costs that the gate refuses"`
	Novelty  float64 `key:"novelty" help:"weight of the distance to the nearest environment"`
	Coverage float64 `key:"coverage" help:"weight of the rarity of the design's kind"`
}

// Log is how the program logs to standard error.
type Log struct {
	Level  string `key:"level" help:"debug, info, warn or error"`
	Format string `key:"format" help:"text or json"`
}

// Sandbox is how generated code is contained.
type Sandbox struct {
	Tier string `key:"tier" flag:"sandbox" help:"full, limits (on resources only) or none; a layer of the tier that is missing here refuses to run"`
}

// Python is where the Python runtime is found. Nothing of it is needed while every environment is Starlark.
type Python struct {
	Interpreter string   `key:"interpreter" help:"the Python 3.10 or later that environments run in: a path or a name on the PATH"`
	Packages    []string `key:"packages" help:"package sets that spade env install did not put in place, as NAME=FOLDER of its site-packages"`
}

// Plugin is how the trainer plugin is started.
type Plugin struct {
	Command []string `key:"command" help:"the trainer plugin and its arguments; empty = the native one beside this program"`
}

// Kafka is the log. Without brokers the embedded one is used.
type Kafka struct {
	Brokers     []string    `key:"brokers" help:"addresses of a cluster; empty = embedded"`
	User        string      `key:"user" help:"SASL user"`
	Password    secret.Text `key:"password" help:"SASL password"`
	SASL        string      `key:"sasl" help:"plain, scram-sha-256 or scram-sha-512; empty = plain with a user, else none"`
	TLS         bool        `key:"tls" help:"connect by TLS"`
	CA          string      `key:"ca" help:"file of the certificates to trust; empty = the system's"`
	Cert        string      `key:"cert" help:"file of the client's certificate, where the cluster wants one"`
	Key         string      `key:"key" help:"file of that certificate's key"`
	Prefix      string      `key:"prefix" help:"put before the names of topics and groups on a cluster that several installations share"`
	Replication int         `key:"replication" help:"replicas of topics that are created; 0 = the cluster's default"`
	Fsync       bool        `key:"fsync" help:"have the embedded log wait for the disk at every append, so that acknowledged events survive a power cut"`
}

// ClickHouse is the warehouse. Without a URL the embedded one is used.
type ClickHouse struct {
	URL      string      `key:"url" help:"http:// or https:// address of a server; empty = embedded"`
	User     string      `key:"user" help:"user of the warehouse"`
	Password secret.Text `key:"password" help:"password of that user"`
	CA       string      `key:"ca" help:"file of the certificates to trust; empty = the system's"`
}

// Qdrant is the vector store. Without an address the embedded one is used.
type Qdrant struct {
	Addr   string      `key:"addr" help:"host:port of a server's gRPC; empty = embedded"`
	APIKey secret.Text `key:"api_key" help:"API key"`
	TLS    bool        `key:"tls" help:"connect by TLS"`
	CA     string      `key:"ca" help:"file of the certificates to trust; empty = the system's"`
}

// Embeddings is what turns text into vectors. Without a URL the built-in embedder is used.
type Embeddings struct {
	URL   string      `key:"url" help:"OpenAI-compatible /v1/embeddings endpoint; empty = built in"`
	Key   secret.Text `key:"key" help:"bearer key of the endpoint"`
	Model string      `key:"model" help:"model the endpoint is asked for"`
	Dim   int         `key:"dim" help:"dimensions the endpoint answers with"`
}

// S3 is how the object store of an s3:// checkpoints URL is reached.
type S3 struct {
	Endpoint  string      `key:"endpoint" help:"http:// or https:// address of the object store; empty = that of the region"`
	Region    string      `key:"region" help:"region of the bucket"`
	AccessKey string      `key:"access_key" help:"name of the access key; empty = what the environment of other S3 programs says"`
	SecretKey secret.Text `key:"secret_key" help:"secret of the access key"`
}

// Policy is where the policy answers. Without an address a process starts the trainer plugin for itself.
type Policy struct {
	Addr   string      `key:"addr" help:"host:port of a spade worker policy that answers for this process; empty = a plugin of its own"`
	Token  secret.Text `key:"token" help:"what a policy worker and those that ask it share"`
	CA     string      `key:"ca" help:"file of the certificates to trust a policy worker by; empty = no TLS"`
	Listen string      `key:"listen" help:"host:port that spade worker policy answers on"`
	Cert   string      `key:"cert" help:"file of the policy worker's certificate; empty = no TLS"`
	Key    string      `key:"key" help:"file of that certificate's key"`
}

// Metrics is what a process tells of itself while it works.
type Metrics struct {
	Listen string `key:"listen" help:"host:port of /metrics, /livez and /readyz; empty = none"`
}

// Trace is where spans go.
type Trace struct {
	Endpoint string `key:"endpoint" help:"OTLP/HTTP address that spans are sent to, as http://localhost:4318; empty = none"`
}

// PackageFolders are the site-packages folders by the names of their sets.
func (p Python) PackageFolders() map[string]string {
	folders := map[string]string{}
	for _, item := range p.Packages {
		name, folder, _ := strings.Cut(item, "=")
		folders[name] = folder
	}
	return folders
}

// NewDefaultConfig is what holds when nothing is set: everything embedded, twenty iterations.
func NewDefaultConfig() Config {
	return Config{
		Data:       ".spade",
		Partitions: topics.DefaultPartitions,
		Run: Run{
			Seed: 1, Iterations: 20, Designs: 8, EnvSeeds: 4, Repeats: 4, MaxAttempts: 1,
			Designer: "policy", Runtime: "starlark",
			DocumentsPerDesign: 2, RecalledPerDesign: 2, DuplicateThreshold: 0.97,
			Estimator: "hint_gap", Pay: Pay{Regret: 1, Coverage: 1},
			CoverageWindow: 64, CoveragePower: 1.5, CoverageFloor: 0.0625, CoverageSimilarity: 0.75, HintGuard: true,
			Advantage: "grpo", AdvantageEps: 1e-6, AdvantageDDOF: 1, Group: "seed",
			PluginConfig: "{}", AgentTemperature: 1, DesignerTemperature: 1,
			EvalSeeds: 4, MaxStepsBudget: 2_000_000,
		},
		Drain:   20,
		Policy:  Policy{Listen: "127.0.0.1:7777"},
		Log:     Log{Level: "warn", Format: "text"},
		Sandbox: Sandbox{Tier: "full"},
		Python:  Python{Interpreter: "python3"},
	}
}
