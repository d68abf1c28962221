package event

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Classes of what Check refuses, for errors.Is. What is no message at all is ErrMalformed or ErrUnknownType.
var (
	// ErrKey: the event is about another run, environment or document than its key, or in another topic than its type.
	ErrKey = errors.New("key and payload disagree")
	// ErrID: the event id is not the one that follows from the type and what the event is about, or an id in the payload is
	// not the one that follows from the parts beside it.
	ErrID = errors.New("id is not the derived one")
	// ErrValue: a field holds what no producer may write.
	ErrValue = errors.New("value out of bounds")
)

// RefusedError says why an event may not enter the log, nor what is made of it.
type RefusedError struct {
	Type, Key string
	Field     string // empty when it is about the whole event
	Reason    string
	class     error
}

// Error names the event, the field and the reason. What it quotes of the event is escaped and short.
func (e *RefusedError) Error() string {
	where := short(e.Type) + " of " + short(e.Key)
	if e.Field != "" {
		where += ": " + e.Field
	}
	return fmt.Sprintf("%s: %v: %s", where, e.class, e.Reason)
}

// Unwrap is ErrKey, ErrID, ErrValue, ErrMalformed or ErrUnknownType.
func (e *RefusedError) Unwrap() error { return e.class }

// short quotes a text of a stranger's.
func short(s string) string {
	const most = 128
	if len(s) > most {
		return fmt.Sprintf("%.128q…", s)
	}
	return fmt.Sprintf("%q", s)
}

// Check is what every event must pass before it is appended and after it was read: what its key says it is about is what
// its payload says, its ids are the derived ones, and no field holds what would break those who work with it. It walks the
// payload's bytes once and keeps nothing. The error is a *RefusedError.
func Check(ev Event) error {
	refuse := func(class error, field, format string, args ...any) error {
		return &RefusedError{Type: ev.Type, Key: ev.Key, Field: field, Reason: fmt.Sprintf(format, args...), class: class}
	}
	s, ok := shapes[ev.Type]
	if !ok {
		return refuse(ErrUnknownType, "", "this program knows no such type")
	}
	if ev.Topic != s.topic {
		return refuse(ErrKey, "", "it stands in %s and belongs in %s", short(ev.Topic), s.topic)
	}
	if len(ev.Payload) > topics.MaxEventBytes {
		return refuse(ErrValue, "", "%d bytes, allowed are %d", len(ev.Payload), topics.MaxEventBytes)
	}
	var f facts
	if bad := s.walk(ev.Payload, &f); bad != nil {
		return refuse(bad.class, bad.field, "%s", bad.reason)
	}
	if field, reason := s.require(&f); reason != "" {
		return refuse(ErrValue, field, "%s", reason)
	}
	if !s.keyed(ev.Key, &f) {
		return refuse(ErrKey, "", "its payload is about %s", s.about(&f))
	}
	if field, want := s.underived(&f); field != "" {
		return refuse(ErrID, field, "the parts beside it lead to %s", want)
	}
	if want, known := s.id(&f); known && want != ev.ID {
		return refuse(ErrID, "", "%s instead of %s", ev.ID, want)
	}
	return nil
}

// facts are what a payload says of itself, as far as key and ids depend on it.
type facts struct {
	run, env, subject, group, topic, model []byte // parts of the payload
	name, arm, role, suite, task           []byte
	iteration, slot, attempt               int64
	seedIndex, repeat                      int64
	from, to, version, ordinal             int64
	partition, expected, repeats           int64
	seeds                                  int64 // number of env seeds
}

// keyed reports whether key is the one of what the payload is about.
func (s *shape) keyed(key string, f *facts) bool {
	var room [2*uuidText + 1]byte
	switch s.key {
	case topics.KeyRun:
		return string(appendUUID(room[:0], f.run)) == key
	case topics.KeyRunEnv:
		return string(appendPair(room[:0], f.run, f.env)) == key
	case topics.KeyDocument:
		if len(f.run) > 0 { // the vector of an environment
			return string(appendPair(room[:0], f.run, f.subject)) == key
		}
		return string(appendUUID(room[:0], f.subject)) == key
	default:
		return string(fmt.Appendf(nil, "%s/%d", f.topic, f.partition)) == key
	}
}

// about says in words what keyed compares.
func (s *shape) about(f *facts) string {
	text := func(id []byte) uuid.UUID { u, _ := uuid.FromBytes(id); return u }
	switch s.key {
	case topics.KeyRun:
		return fmt.Sprintf("run %s", text(f.run))
	case topics.KeyRunEnv:
		return fmt.Sprintf("environment %s of run %s", text(f.env), text(f.run))
	case topics.KeyDocument:
		return text(f.subject).String()
	default:
		return fmt.Sprintf("%s/%d", short(string(f.topic)), f.partition)
	}
}

// id is the event id that follows from the payload, where it does.
func (s *shape) id(f *facts) (want uuid.UUID, known bool) {
	var subject uuid.UUID
	attempt := 0
	switch s.message {
	case "DeadLetter", "ReplayChecked": // about a reading, which the payload does not name whole
		return uuid.Nil, false
	case "RunStarted", "RunFinished":
		subject = uuid.UUID(f.run)
	case "RunResumed":
		subject, attempt = uuid.UUID(f.run), int(f.ordinal)
	case "IterationClosed":
		subject = ids.Iteration(uuid.UUID(f.run), int(f.iteration))
	case "PolicyUpdated":
		subject = ids.Policy(uuid.UUID(f.run), f.from)
	case "EmbeddingComputed":
		subject = uuid.NewSHA1(uuid.UUID(f.subject), f.model)
	case "DesignRequested", "EnvironmentDesigned", "EnvironmentAccepted", "EnvironmentRejected",
		"RegretEstimated", "RegretUnavailable", "DesignerRewarded":
		subject = uuid.UUID(f.env)
	default:
		subject = uuid.UUID(f.subject)
	}
	return ids.Event(s.ceType, subject, attempt), true
}

// require checks what must be there, and what must fit together.
func (s *shape) require(f *facts) (field, reason string) {
	for _, r := range s.required {
		if len(*f.id(r.as)) != uuidBytes {
			return r.name, "is missing"
		}
	}
	if s.message == "EnvironmentAccepted" && f.expected > 0 && (f.repeats < 1 || f.expected > f.seeds*f.repeats) {
		return "expected_plain", fmt.Sprintf("%d rollouts of an arm with %d env seeds played %d times", f.expected, f.seeds, f.repeats)
	}
	if s.message == "PolicyUpdated" && f.to != f.from+1 {
		return "policy_to", fmt.Sprintf("an update leads from version %d to the next one, not to %d", f.from, f.to)
	}
	return "", ""
}

const (
	uuidBytes = 16
	uuidText  = 36
)

func appendPair(b, run, env []byte) []byte {
	return appendUUID(append(appendUUID(b, run), '/'), env)
}

// appendUUID writes an id as text; one of another length as nothing.
func appendUUID(b, id []byte) []byte {
	if len(id) != uuidBytes {
		return b
	}
	const digits = "0123456789abcdef"
	for i, c := range id {
		switch i {
		case 4, 6, 8, 10:
			b = append(b, '-')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}
