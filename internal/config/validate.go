package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Choices lists what a setting that names one of several ways may be; nil for other settings. The packages that implement
// the ways define what they mean.
func Choices(key string) []string {
	switch key {
	case "run.estimator":
		return []string{"antagonist_max", "hint_gap", "learnability", "maxmc", "paired_hint_gap"}
	case "run.advantage":
		return []string{"dr_grpo", "grpo", "maxrl", "rloo"}
	case "run.ablations":
		return []string{"dedup", "grounding", "memory"}
	case "run.runtime":
		return []string{"starlark", "python"}
	case "run.group":
		return []string{"seed", "env"}
	case "sandbox.tier":
		return []string{"full", "limits", "none"}
	case "log.level":
		return []string{"debug", "info", "warn", "error"}
	case "log.format":
		return []string{"text", "json"}
	case "kafka.sasl":
		return []string{"plain", "scram-sha-256", "scram-sha-512"}
	}
	return nil
}

// Validate joins every problem of the values, each naming its setting and where it was set.
func (l Loaded) Validate() error {
	c := checker{l: l}
	c.general()
	c.run()
	c.services()
	return errors.Join(c.problems...)
}

type checker struct {
	l        Loaded
	problems []error
}

func (c *checker) fail(key, format string, args ...any) {
	c.problems = append(c.problems, &Problem{
		Where: c.l.where(key), Key: key, What: fmt.Sprintf(format, args...), class: ErrInvalid,
	})
}

func (c *checker) between(key string, n, low, high int) {
	if n < low || n > high {
		c.fail(key, "%d is not between %d and %d", n, low, high)
	}
}

func (c *checker) upTo(key string, x, high float64) {
	if x < 0 || x > high {
		c.fail(key, "%v is not between 0 and %v", x, high)
	}
}

// temperature wants what logits can be divided by: 0 takes the likeliest.
func (c *checker) temperature(key string, x float64) {
	const low, high = 0.001, 1000
	if x != 0 && (x < low || x > high) {
		c.fail(key, "%v is neither 0 nor between %v and %v", x, low, high)
	}
}

func (c *checker) oneOf(key, text string) {
	choices := Choices(key)
	if !slices.Contains(choices, text) {
		c.fail(key, "%q is not one of %s", text, strings.Join(choices, ", "))
	}
}

func (c *checker) general() {
	if c.l.Data == "" {
		c.fail("data", "names no folder")
	}
	c.between("workers", c.l.Workers, 0, 1024)
	c.between("partitions", c.l.Partitions, 1, 1024)
	c.oneOf("log.level", c.l.Log.Level)
	c.oneOf("log.format", c.l.Log.Format)
	c.oneOf("sandbox.tier", c.l.Sandbox.Tier)
	c.between("drain", c.l.Drain, 1, 3600)
	c.python()
	c.watched()
}

// watched checks where the process is watched from.
func (c *checker) watched() {
	if at := c.l.Metrics.Listen; at != "" {
		if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
			c.fail("metrics.listen", "%q is not host:port", at)
		}
	}
	if at := c.l.Trace.Endpoint; at != "" {
		u, err := url.Parse(at)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			c.fail("trace.endpoint", "is not an http:// or https:// address without a user")
		}
	}
}

func (c *checker) python() {
	if c.l.Python.Interpreter == "" {
		c.fail("python.interpreter", "names no program")
	}
	seen := map[string]bool{}
	for _, item := range c.l.Python.Packages {
		name, folder, found := strings.Cut(item, "=")
		switch {
		case !found || name == "" || folder == "":
			c.fail("python.packages", "%q is not NAME=FOLDER", item)
		case seen[name]:
			c.fail("python.packages", "%q is there twice", name)
		}
		seen[name] = true
	}
}

func (c *checker) run() {
	r := c.l.Run
	c.name(r.Name)
	c.between("run.iterations", r.Iterations, 1, 1_000_000)
	c.between("run.designs", r.Designs, 1, 4096)
	c.between("run.env_seeds", r.EnvSeeds, 1, 4096)
	c.between("run.repeats", r.Repeats, 1, 4096)
	c.between("run.hint_budget", r.HintBudget, 0, max(0, r.EnvSeeds*r.Repeats))
	c.between("run.max_attempts", r.MaxAttempts, 1, 16)
	c.between("run.max_policy_lag", r.MaxPolicyLag, 0, 15) // the native plugin keeps 16 versions
	c.between("run.documents_per_design", r.DocumentsPerDesign, 0, 64)
	c.between("run.recalled_per_design", r.RecalledPerDesign, 0, 64)
	c.between("run.coverage_window", r.CoverageWindow, 1, 1_000_000)
	c.between("run.advantage_ddof", r.AdvantageDDOF, 0, 1)
	c.between("run.eval_every", r.EvalEvery, 0, 1_000_000)
	c.between("run.eval_seeds", r.EvalSeeds, 1, 4096)
	c.between("run.max_steps_budget", r.MaxStepsBudget, 1000, 1_000_000_000)
	c.floats(r)
	c.choices(r)
}

func (c *checker) floats(r Run) {
	if r.DuplicateThreshold <= 0 || r.DuplicateThreshold > 1.000001 {
		c.fail("run.duplicate_threshold", "%v is not a cosine above 0 and at most 1", r.DuplicateThreshold)
	}
	// What is beyond these is no setting that anybody means, and would end in infinities while the run goes on.
	c.upTo("run.coverage_power", r.CoveragePower, 64)
	c.upTo("run.coverage_floor", r.CoverageFloor, 1e6)
	c.upTo("run.coverage_similarity", r.CoverageSimilarity, 1e6)
	c.upTo("run.advantage_eps", r.AdvantageEps, 1e6)
	c.temperature("run.agent_temperature", r.AgentTemperature)
	c.temperature("run.designer_temperature", r.DesignerTemperature)
	c.upTo("run.pay.regret", r.Pay.Regret, 1e6)
	c.upTo("run.pay.validity", r.Pay.Validity, 1e6)
	c.upTo("run.pay.novelty", r.Pay.Novelty, 1e6)
	c.upTo("run.pay.coverage", r.Pay.Coverage, 1e6)
}

func (c *checker) choices(r Run) {
	pool, fixed := strings.CutPrefix(r.Designer, "fixed:")
	if !fixed && r.Designer != "policy" && r.Designer != "uniform" {
		c.fail("run.designer", "%q is not one of policy, uniform, fixed:POOL", r.Designer)
	}
	if fixed && pool == "" {
		c.fail("run.designer", "names no pool after \"fixed:\"")
	}
	c.oneOf("run.runtime", r.Runtime)
	c.oneOf("run.estimator", r.Estimator)
	c.oneOf("run.advantage", r.Advantage)
	c.oneOf("run.group", r.Group)
	for _, a := range r.Ablations {
		c.oneOf("run.ablations", a)
	}
	if r.NoHintArm && r.TrainHinted {
		c.fail("run.train_hinted", "cannot train on hinted episodes while run.no_hint_arm plays none")
	}
}

// name keeps run names printable and short: they stand in tables, file names and headers.
func (c *checker) name(name string) {
	if err := CheckName(name); err != nil {
		c.fail("run.name", "%v", err)
	}
}

// MaxName is how many bytes the name of a run or a pool may have.
const MaxName = 128

// CheckName says what is wrong with the name of a run or a pool.
func CheckName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("%d bytes, at most %d are allowed", len(name), MaxName)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%q is not UTF-8", name)
	}
	if strings.TrimSpace(name) != name {
		return fmt.Errorf("%q begins or ends with a space", name)
	}
	if _, err := uuid.Parse(name); err == nil {
		return fmt.Errorf("%q has the form of an id, and would be taken for one", name)
	}
	for _, r := range name {
		if !strconv.IsPrint(r) {
			return fmt.Errorf("%q holds a character that cannot be printed", name)
		}
	}
	return nil
}

func (c *checker) services() {
	for _, b := range c.l.Kafka.Brokers {
		c.hostPort("kafka.brokers", b)
	}
	if c.l.Kafka.SASL != "" {
		c.oneOf("kafka.sasl", c.l.Kafka.SASL)
	}
	if c.l.Kafka.User == "" && (c.l.Kafka.SASL != "" || !c.l.Kafka.Password.IsZero()) {
		c.fail("kafka.user", "is empty although a SASL mechanism or password is set")
	}
	if (c.l.Kafka.Cert == "") != (c.l.Kafka.Key == "") {
		c.fail("kafka.cert", "a client certificate needs both kafka.cert and kafka.key")
	}
	c.between("kafka.replication", c.l.Kafka.Replication, 0, 100)
	if !kafkaName(c.l.Kafka.Prefix) {
		c.fail("kafka.prefix", "%q holds what no topic's name may: letters, digits, dots, dashes and underscores, at most %d, can be there",
			c.l.Kafka.Prefix, maxPrefix)
	}
	c.httpURL("clickhouse.url", c.l.ClickHouse.URL)
	if c.l.Qdrant.Addr != "" {
		c.hostPort("qdrant.addr", c.l.Qdrant.Addr)
	}
	c.httpURL("embeddings.url", c.l.Embeddings.URL)
	if c.l.Embeddings.URL != "" {
		if c.l.Embeddings.Model == "" {
			c.fail("embeddings.model", "is empty although embeddings.url is set")
		}
		c.between("embeddings.dim", c.l.Embeddings.Dim, 1, 65536)
	}
	if c.l.Policy.Addr != "" {
		c.hostPort("policy.addr", c.l.Policy.Addr)
	}
	c.secured()
}

// maxPrefix leaves a topic's name room in Kafka's 249 characters.
const maxPrefix = 200

// kafkaName reports whether a text can stand in the name of a topic.
func kafkaName(text string) bool {
	return len(text) <= maxPrefix && !strings.ContainsFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("._-", r))
	})
}

func (c *checker) hostPort(key, addr string) {
	if strings.Contains(addr, "@") { // not quoted: it may hold a password
		c.fail(key, "carries a user or password; give it apart from the address")
		return
	}
	host, port, err := net.SplitHostPort(addr)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 || host == "" {
		c.fail(key, "%q is not host:port", addr)
	}
}

func (c *checker) httpURL(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		c.fail(key, "is not an http:// or https:// address")
	case carriesLogin(u):
		c.fail(key, "carries a login in its query; give it apart from the address")
	}
}
