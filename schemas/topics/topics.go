package topics

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Names of the topics.
const (
	Runs         = "spade.runs"
	Documents    = "spade.documents"
	Work         = "spade.work"
	Environments = "spade.environments"
	Rollouts     = "spade.rollouts"
	Regrets      = "spade.regrets"
	Policies     = "spade.policies"
	Evaluations  = "spade.evaluations"
	Replays      = "spade.replays"
	DeadLetters  = "spade.deadletters"
)

// DefaultPartitions is the partition count of every topic keyed by run/env. They are co-partitioned: an environment's
// request, design, rollouts and regret lie in the same partition number of their topics.
const DefaultPartitions = 8

// MaxRecordBytes bounds one record's value; a larger event is split into continuation records. It leaves headroom for key and
// headers below MaxMessageBytes, which is the topics' max.message.bytes.
const (
	MaxRecordBytes  = 960 << 10
	MaxMessageBytes = 1 << 20
	MaxEventBytes   = 64 << 20
)

// KeyKind says what a topic's records are keyed by.
type KeyKind int

// Kinds of key.
const (
	KeyRun      KeyKind = iota // the run's id
	KeyRunEnv                  // run id "/" environment id
	KeyDocument                // the document's id
	KeySource                  // dead letters: topic "/" partition of the record
)

// Topic is one entry of the catalogue.
type Topic struct {
	Name       string
	Key        KeyKind
	Partitions int
	Settings   map[string]string // Kafka topic configuration; checked at start
}

// All returns the catalogue in a fixed order, with partitions for every topic keyed by run/env. partitions must be the
// same for the whole life of a cluster.
func All(partitions int) []Topic {
	entry := func(name string, key KeyKind, n int) Topic {
		return Topic{Name: name, Key: key, Partitions: n, Settings: settings()}
	}
	return []Topic{
		entry(Runs, KeyRun, 1),
		entry(Documents, KeyDocument, partitions),
		entry(Work, KeyRunEnv, partitions),
		entry(Environments, KeyRunEnv, partitions),
		entry(Rollouts, KeyRunEnv, partitions),
		entry(Regrets, KeyRunEnv, partitions),
		entry(Policies, KeyRun, 1),
		entry(Evaluations, KeyRun, partitions),
		entry(Replays, KeyRunEnv, partitions),
		entry(DeadLetters, KeySource, 1),
	}
}

func settings() map[string]string {
	return map[string]string{
		"cleanup.policy":    "delete",
		"retention.ms":      "-1",
		"retention.bytes":   "-1",
		"max.message.bytes": fmt.Sprint(MaxMessageBytes),
	}
}

// RunKey is the key of records keyed by run.
func RunKey(run uuid.UUID) string { return run.String() }

// EnvKey is the key of records keyed by run/env.
func EnvKey(run, env uuid.UUID) string { return run.String() + "/" + env.String() }

// OfRun reports whether a record with that key belongs to the run.
func OfRun(key string, run uuid.UUID) bool {
	rest, ok := strings.CutPrefix(key, run.String())
	return ok && (rest == "" || rest[0] == '/')
}
