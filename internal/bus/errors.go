package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Classes of errors, for errors.Is.
var (
	// ErrClosed: the client was closed.
	ErrClosed = errors.New("kafka: client closed")
	// ErrUnavailable: no broker answered in time; trying again may help.
	ErrUnavailable = errors.New("kafka: broker unavailable")
	// ErrUnknownOutcome: the events may or may not have been appended. Appending
	// them again is safe, since the first record of an id wins.
	ErrUnknownOutcome = errors.New("kafka: outcome unknown")
	// ErrBackpressure: no room in flight before the context ended; nothing was
	// appended.
	ErrBackpressure = errors.New("kafka: too much in flight")
	// ErrLogin: the cluster refused user or password.
	ErrLogin = errors.New("kafka: login refused")
	// ErrNoTopic: the topic does not exist.
	ErrNoTopic = errors.New("kafka: topic does not exist")
	// ErrNotAllowed: no ACL of the cluster allows this user what it tried; the error says what.
	ErrNotAllowed = errors.New("kafka: not allowed")
	// ErrClock: the cluster refuses the time of an event, which is too far ahead of its own clock.
	ErrClock = errors.New("kafka: the clock of this machine is ahead of the cluster's")
	// ErrOutOfRange: the log no longer holds the offset.
	ErrOutOfRange = errors.New("kafka: offset out of range")
	// ErrHandedBack: a handler gives its partition back before its work is done. What it has declared durable is committed,
	// the rest is delivered again.
	ErrHandedBack = errors.New("kafka: partition handed back")
	// ErrMisplaced: an event stands in another partition than its key's. Its writer
	// does not partition as Kafka's Java clients do.
	ErrMisplaced = errors.New("kafka: event in a wrong partition")
	// ErrCommit: a handler tried to commit what it was not given. It is a bug in
	// the handler.
	ErrCommit = errors.New("kafka: commit beyond what was delivered")
)

// several is what ended the partitions of a group. What ends many of them is mostly one thing: the first says it, the others are
// counted.
type several []error

// severalOf is nil for none.
func severalOf(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return several(errs)
}

func (s several) Error() string {
	if others := len(s) - 1; others > 0 {
		return fmt.Sprintf("%v (and %d more partitions)", s[0], others)
	}
	return s[0].Error()
}

func (s several) Unwrap() []error { return s }

// RejectedError says which events of an Append were refused before anything
// was sent. The others were appended.
type RejectedError struct {
	Rejected []Rejection
}

// Rejection is one refused event.
type Rejection struct {
	Index int    // position in the call
	ID    string // event id
	Err   error  // *event.TooLargeError or *event.RefusedError
}

// Error names refused events: the first ones, where there are many.
func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events refused:", len(e.Rejected))
	for i, r := range e.Rejected {
		if i == mostNamed {
			fmt.Fprintf(&b, " and %d more;", len(e.Rejected)-i)
			break
		}
		fmt.Fprintf(&b, " %s: %v;", r.ID, r.Err)
	}
	return strings.TrimSuffix(b.String(), ";")
}

// mostNamed is how many refused events an error names: enough to see what is wrong.
const mostNamed = 5

// Unwrap gives the causes to errors.As.
func (e *RejectedError) Unwrap() []error {
	errs := make([]error, len(e.Rejected))
	for i, r := range e.Rejected {
		errs[i] = r.Err
	}
	return errs
}

// MismatchError lists how existing topics differ from the catalogue.
type MismatchError struct {
	Differences []Difference
}

// Difference is one setting of one topic.
type Difference struct {
	Topic, Setting, Want, Got string
}

// Error names every difference and what to do.
func (e *MismatchError) Error() string {
	var b strings.Builder
	b.WriteString("kafka: topics differ from what this program needs:")
	for _, d := range e.Differences {
		fmt.Fprintf(&b, " %s: %s is %s, must be %s;", d.Topic, d.Setting, d.Got, d.Want)
		if d.Setting == settingPartitions {
			b.WriteString(" (the partition count of a topic is fixed: use another cluster or data folder);")
		}
	}
	return strings.TrimSuffix(b.String(), ";")
}

// transient reports whether trying again may help.
func transient(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		return code.Temporary() || code == kafka.BrokerNotAvailable || code == kafka.Unknown
	}
	return network(err) || staleLayout(err)
}

// network reports a broken, refused or timed out connection. kafka-go's own
// error codes also satisfy net.Error and must be told apart before.
func network(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

// staleLayout reports that the cached picture of the cluster may be old:
// kafka-go answers from it without asking a broker.
func staleLayout(err error) bool {
	for _, code := range []error{
		kafka.UnknownTopicOrPartition, kafka.LeaderNotAvailable, kafka.NotLeaderForPartition, kafka.BrokerNotAvailable,
		protocol.ErrNoTopic, protocol.ErrNoPartition, protocol.ErrNoLeader,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// notAllowed reports that an authorizer refused.
func notAllowed(err error) bool {
	return errors.Is(err, kafka.TopicAuthorizationFailed) || errors.Is(err, kafka.GroupAuthorizationFailed) ||
		errors.Is(err, kafka.ClusterAuthorizationFailed)
}

// fenced reports that the group has given this member up.
func fenced(err error) bool {
	return errors.Is(err, kafka.UnknownMemberId) || errors.Is(err, kafka.IllegalGeneration) ||
		errors.Is(err, kafka.RebalanceInProgress)
}

// classify puts a failed request into one of the package's classes.
func classify(op string, err error) error {
	err = withoutMethod(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kafka.SASLAuthenticationFailed), errors.Is(err, kafka.UnsupportedSASLMechanism):
		return fmt.Errorf("%s: %w: %w", op, ErrLogin, err)
	case notAllowed(err):
		return fmt.Errorf("%s: %w: the cluster has no ACL for it that names this user (docs/kafka.md lists them): %w", op, ErrNotAllowed, err)
	case errors.Is(err, kafka.InvalidTimestamp):
		return fmt.Errorf("%s: %w: set the clock, or raise message.timestamp.after.max.ms of the topic: %w", op, ErrClock, err)
	case errors.Is(err, kafka.OffsetOutOfRange):
		return fmt.Errorf("%s: %w: %w", op, ErrOutOfRange, err)
	case errors.Is(err, kafka.UnknownTopicOrPartition):
		return fmt.Errorf("%s: %w: %w", op, ErrNoTopic, err)
	case transient(err):
		return fmt.Errorf("%s: %w: %w", op, ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", op, err)
	}
}

// withoutMethod takes away the library's method that an error names first: what was done is said already.
func withoutMethod(err error) error {
	for err != nil && strings.HasPrefix(err.Error(), "kafka.(*") {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
	return err
}
