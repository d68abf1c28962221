package ids

import (
	"crypto/sha1" //nolint:gosec // UUIDv5 is defined by it
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Arms of an environment: the agent plays it without and with the privileged hint.
const (
	ArmPlain  = "plain"
	ArmHinted = "hinted"
)

// namespace is the root of all ids: UUIDv5 of the URL namespace and the project's name.
func namespace() uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("spade"))
}

// derive is UUIDv5 in the namespace of one kind of thing; the parts are joined by "/". At most one part of a kind may hold
// one itself, a run's name or a task's, so that no two lists of parts read alike.
func derive(kind string, parts ...string) uuid.UUID {
	return uuid.NewSHA1(space(kind), []byte(strings.Join(parts, "/")))
}

// space is the namespace of one kind of thing.
func space(kind string) uuid.UUID { return uuid.NewSHA1(namespace(), []byte(kind)) }

// Run is the id of the run of that name.
func Run(name string) uuid.UUID { return derive("run", name) }

// Env is the id of one design: an attempt at a slot of an iteration.
func Env(run uuid.UUID, iteration, slot, attempt int) uuid.UUID {
	var room [128]byte
	return hashed(numbers(within(room[:0], &envSpace, run), iteration, slot, attempt))
}

// Rollout is the id of one episode of an environment.
func Rollout(env uuid.UUID, arm string, seedIndex, repeat int) uuid.UUID {
	var room [128]byte
	b := append(within(room[:0], &rolloutSpace, env), '/')
	return hashed(numbers(append(b, arm...), seedIndex, repeat))
}

// Group is the id of the episodes whose returns are compared: one arm of one env seed. A negative seedIndex means the
// whole arm.
func Group(env uuid.UUID, arm string, seedIndex int) uuid.UUID {
	var room [128]byte
	b := append(within(room[:0], &groupSpace, env), '/')
	return hashed(numbers(append(b, arm...), seedIndex))
}

// DesignGroup is the id of the designs of one iteration, whose pay is compared.
func DesignGroup(run uuid.UUID, iteration int) uuid.UUID {
	return derive("design-group", run.String(), strconv.Itoa(iteration))
}

// Batch is the id of one role's training batch of an iteration.
func Batch(run uuid.UUID, iteration int, role string) uuid.UUID {
	return derive("batch", run.String(), strconv.Itoa(iteration), role)
}

// Evaluation is the id of one episode of a held-out task at one policy version.
func Evaluation(run uuid.UUID, version int64, suite, task string, seedIndex int) uuid.UUID {
	return derive("evaluation", run.String(), strconv.FormatInt(version, 10), suite, task, strconv.Itoa(seedIndex))
}

// Document is the id of a document, or of one chunk of it, by the SHA-256 of its title, a line feed and its text.
func Document(sha256 []byte) uuid.UUID { return derive("document", hex.EncodeToString(sha256)) }

// Point is the id of something in a vector collection, by what it is and its own id.
func Point(kind string, id uuid.UUID) uuid.UUID { return derive("point", kind, id.String()) }

// Policy is the subject id of a run's policy update away from a version.
func Policy(run uuid.UUID, from int64) uuid.UUID {
	return derive("policy", run.String(), strconv.FormatInt(from, 10))
}

// Iteration is the subject id of one iteration of a run.
func Iteration(run uuid.UUID, iteration int) uuid.UUID {
	return derive("iteration", run.String(), strconv.Itoa(iteration))
}

// The namespaces of what every event that is read is asked for; they are only read.
var (
	envSpace     = space("env")
	rolloutSpace = space("rollout")
	groupSpace   = space("group")
	eventSpace   = space("event")
)

// Event is the id of an event: its type, what it is about, and which attempt at saying so it is (0 unless the type
// counts attempts of its own). It is derive("event", …), as Env, Rollout and Group are derive of their kinds, worked out
// without garbage.
func Event(ceType string, subject uuid.UUID, attempt int) uuid.UUID {
	var room [128]byte
	b := append(room[:0], eventSpace[:]...)
	b = append(append(b, ceType...), '/')
	return hashed(numbers(appendUUID(b, subject), attempt))
}

// within begins the parts of what belongs to a run or an environment.
func within(b []byte, space *uuid.UUID, whole uuid.UUID) []byte {
	return appendUUID(append(b, space[:]...), whole)
}

func numbers(b []byte, parts ...int) []byte {
	for _, n := range parts {
		b = strconv.AppendInt(append(b, '/'), int64(n), 10)
	}
	return b
}

// hashed is the UUIDv5 of a namespace and the parts that follow it.
func hashed(b []byte) uuid.UUID {
	sum := sha1.Sum(b) //nolint:gosec // UUIDv5 is defined by it
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id
}

const uuidText = 36

func appendUUID(b []byte, id uuid.UUID) []byte {
	b = append(b, make([]byte, uuidText)...)
	dst := b[len(b)-uuidText:]
	hex.Encode(dst, id[:4])
	dst[8] = '-'
	hex.Encode(dst[9:], id[4:6])
	dst[13] = '-'
	hex.Encode(dst[14:], id[6:8])
	dst[18] = '-'
	hex.Encode(dst[19:], id[8:10])
	dst[23] = '-'
	hex.Encode(dst[24:], id[10:])
	return b
}
