package event

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed256f7767/spade/schemas/topics"
)

// shape is what Check knows of a message: how to walk its bytes without decoding it.
type shape struct {
	message string // name of the message
	ceType  string // of an event's payload
	topic   string
	key     topics.KeyKind
	fields  []*rule // by field number; nil: no rule
	// required are the ids without which an event is about nothing.
	required []*rule
}

// rule is what a field may hold.
type rule struct {
	name      string
	kind      ruleKind
	as        fact           // what of facts it is
	low, high int64          // of an integer
	most      int            // bytes of a text
	narrow    bool           // 32 bits
	wire      protowire.Type // when it is not packed
	list      bool
	sub       *shape
}

type ruleKind int

const (
	anything ruleKind = iota
	text
	identifier // 16 bytes or none
	identifiers
	hash
	integer
	double
	float
	message
)

// fact names a part of facts; none is the zero value.
type fact int

const (
	noFact fact = iota
	factRun
	factEnv
	factSubject
	factTopic
	factModel
	factIteration
	factFrom
	factTo
	factOrdinal
	factPartition
	factExpected
	factRepeats
	factSeeds
	factGroup
	factName
	factArm
	factRole
	factSuite
	factTask
	factSlot
	factAttempt
	factSeedIndex
	factRepeat
	factVersion
)

func (f *facts) id(as fact) *[]byte {
	switch as {
	case factRun:
		return &f.run
	case factEnv:
		return &f.env
	case factTopic:
		return &f.topic
	case factModel:
		return &f.model
	case factGroup:
		return &f.group
	case factName:
		return &f.name
	case factArm:
		return &f.arm
	case factRole:
		return &f.role
	case factSuite:
		return &f.suite
	case factTask:
		return &f.task
	default:
		return &f.subject
	}
}

func (f *facts) number(as fact, n int64) {
	switch as {
	case factIteration:
		f.iteration = n
	case factFrom:
		f.from = n
	case factTo:
		f.to = n
	case factOrdinal:
		f.ordinal = n
	case factPartition:
		f.partition = n
	case factExpected:
		f.expected = max(f.expected, n)
	case factRepeats:
		f.repeats = n
	case factSlot:
		f.slot = n
	case factAttempt:
		f.attempt = n
	case factSeedIndex:
		f.seedIndex = n
	case factRepeat:
		f.repeat = n
	case factVersion:
		f.version = n
	}
}

// shapes are the payloads by ce_type; they are only read.
var shapes = func() map[string]*shape {
	keys := map[string]topics.KeyKind{}
	for _, t := range topics.All(1) {
		keys[t.Name] = t.Key
	}
	all := map[string]*shape{}
	for _, k := range Kinds() {
		s := shapeOf(k.New().ProtoReflect().Descriptor())
		s.ceType, s.topic, s.key = k.Type, k.Topic, keys[k.Topic]
		s.identify()
		all[k.Type] = s
	}
	return all
}()

func shapeOf(d protoreflect.MessageDescriptor) *shape {
	s := &shape{message: string(d.Name())}
	fields := d.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		for len(s.fields) <= int(f.Number()) {
			s.fields = append(s.fields, nil)
		}
		s.fields[f.Number()] = ruleOf(s.message, f)
	}
	return s
}

func ruleOf(parent string, f protoreflect.FieldDescriptor) *rule {
	r := &rule{name: string(f.Name()), list: f.IsList(), wire: protowire.BytesType}
	switch f.Kind() {
	case protoreflect.StringKind:
		r.kind, r.most = text, mostText(r.name)
	case protoreflect.BytesKind:
		r.kind = bytesRule(r.name)
	case protoreflect.Int32Kind:
		r.kind, r.narrow, r.wire = integer, true, protowire.VarintType
		r.low, r.high = bounds(parent, r.name)
	case protoreflect.Int64Kind:
		r.kind, r.wire = integer, protowire.VarintType
		r.low, r.high = bounds(parent, r.name)
	case protoreflect.Uint64Kind: // seeds and ordinals: any
		r.kind, r.wire, r.low, r.high = integer, protowire.VarintType, math.MinInt64, math.MaxInt64
	case protoreflect.DoubleKind:
		r.kind, r.wire = double, protowire.Fixed64Type
	case protoreflect.FloatKind:
		r.kind, r.wire = float, protowire.Fixed32Type
	case protoreflect.MessageKind:
		r.kind, r.sub = message, shapeOf(f.Message())
	}
	if parent == "Metric" && r.kind == double {
		r.kind = anything // a training step that diverged says so
	}
	return r
}

func bytesRule(name string) ruleKind {
	switch {
	case strings.HasSuffix(name, "_id"), name == "design_group", name == "nearest_designed_env":
		return identifier
	case name == "batch_ids":
		return identifier
	case name == "ids":
		return identifiers
	case strings.HasSuffix(name, "sha256"), strings.HasSuffix(name, "_hash"):
		return hash
	}
	return anything
}

// mostText is the contract's limit of a text, and of a short one what any of them may take.
func mostText(name string) int {
	switch name {
	case "observation", "final_observation":
		return 256 << 10
	case "info_json", "final_info_json", "hint":
		return 64 << 10
	case "title", "kind", "arm", "role", "stage", "outcome", "estimator", "chosen", "runtime", "status", "designer",
		"entity_kind", "media_type", "architecture", "exactness", "consumer", "topic":
		return 64 << 10
	}
	return topics.MaxEventBytes
}

// Bounds of counts. Those who fold events make room for as many, or wait for as many.
const (
	mostIterations = 1 << 20
	mostSlots      = 1 << 20
	mostAttempts   = 1 << 10
	mostRollouts   = 1 << 24 // of one arm: 4096 env seeds played 4096 times
	mostDim        = 1 << 16
	mostInexact    = 1 << 53 // whole numbers beyond are not exact in a float64
)

// bounds are the least and the most that an integer may be.
func bounds(parent, name string) (low, high int64) {
	switch name {
	case "policy_from", "first_divergent_step", "staleness", "fork_iteration", "exact_until":
		return -1, mostInexact
	case "iteration":
		if parent == "PolicyUpdated" {
			return -1, mostIterations
		}
		return 0, mostIterations
	case "iterations":
		return 0, mostIterations
	case "slot", "designs", "expected_designs", "rank", "chunk", "chunks", "partition":
		return 0, mostSlots
	case "attempt", "max_attempts", "ddof", "advantage_ddof":
		return 0, mostAttempts
	case "env_seeds", "repeats", "repeat", "seed_index", "expected_attempts", "expected_plain", "expected_hinted",
		"n_hinted", "n_plain", "invalid_hinted", "invalid_plain", "n_pairs", "hint_budget", "max_steps":
		return 0, mostRollouts
	case "dim", "embedding_dim":
		return 0, mostDim
	case "token_ids":
		return math.MinInt32, math.MaxInt32
	}
	return 0, mostInexact
}

// identify marks the fields that key and ids depend on.
func (s *shape) identify() {
	mark := func(name string, as fact, required bool) {
		for _, r := range s.fields {
			if r == nil || r.name != name {
				continue
			}
			r.as = as
			if required {
				s.required = append(s.required, r)
			}
		}
	}
	mark("run_id", factRun, s.key == topics.KeyRun || s.key == topics.KeyRunEnv)
	mark("env_id", factEnv, s.key == topics.KeyRunEnv)
	for _, name := range []string{"rollout_id", "batch_id", "evaluation_id", "document_id", "entity_id"} {
		mark(name, factSubject, true)
	}
	mark("iteration", factIteration, false)
	mark("policy_from", factFrom, false)
	mark("policy_to", factTo, false)
	mark("ordinal", factOrdinal, false)
	mark("topic", factTopic, false)
	mark("partition", factPartition, false)
	mark("expected_plain", factExpected, false)
	mark("expected_hinted", factExpected, false)
	mark("repeats", factRepeats, false)
	mark("env_seeds", factSeeds, false)
	for name, as := range parts(s.message) {
		mark(name, as, false)
	}
}

// parts are the fields of a message that ids are derived from, besides run, environment and iteration.
func parts(message string) map[string]fact {
	switch message {
	case "RunStarted":
		return map[string]fact{"name": factName}
	case "EmbeddingComputed":
		return map[string]fact{"model": factModel}
	case "DesignRequested", "EnvironmentDesigned", "EnvironmentAccepted", "EnvironmentRejected", "DesignerRewarded":
		return map[string]fact{"slot": factSlot, "attempt": factAttempt, "design_group": factGroup}
	case "RolloutCompleted", "RolloutDropped":
		return map[string]fact{"arm": factArm, "seed_index": factSeedIndex, "repeat": factRepeat, "group_id": factGroup}
	case "BatchBuilt":
		return map[string]fact{"role": factRole}
	case "EvaluationCompleted":
		return map[string]fact{"policy_version": factVersion, "suite": factSuite, "task_id": factTask, "seed_index": factSeedIndex}
	}
	return nil
}
