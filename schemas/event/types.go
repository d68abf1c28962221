package event

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Kind is one type of event.
type Kind struct {
	Type  string // ce_type
	Topic string // where it is written
	New   func() proto.Message
}

// typePrefix is put before a message's name to make its ce_type; it carries the version of the schema.
const typePrefix = "spade.v1."

// Kinds returns every type of event, in the order of the topic catalogue.
func Kinds() []Kind {
	return []Kind{
		kind[spadepb.RunStarted](topics.Runs),
		kind[spadepb.IterationClosed](topics.Runs),
		kind[spadepb.RunResumed](topics.Runs),
		kind[spadepb.RunFinished](topics.Runs),
		kind[spadepb.DocumentIngested](topics.Documents),
		kind[spadepb.DocumentWithdrawn](topics.Documents),
		kind[spadepb.EmbeddingComputed](topics.Documents),
		kind[spadepb.DesignRequested](topics.Work),
		kind[spadepb.EnvironmentDesigned](topics.Environments),
		kind[spadepb.EnvironmentAccepted](topics.Environments),
		kind[spadepb.EnvironmentRejected](topics.Environments),
		kind[spadepb.RolloutCompleted](topics.Rollouts),
		kind[spadepb.RolloutDropped](topics.Rollouts),
		kind[spadepb.RegretEstimated](topics.Regrets),
		kind[spadepb.RegretUnavailable](topics.Regrets),
		kind[spadepb.DesignerRewarded](topics.Regrets),
		kind[spadepb.BatchBuilt](topics.Policies),
		kind[spadepb.PolicyUpdated](topics.Policies),
		kind[spadepb.EvaluationCompleted](topics.Evaluations),
		kind[spadepb.ReplayChecked](topics.Replays),
		kind[spadepb.DeadLetter](topics.DeadLetters),
	}
}

// kind describes the event whose payload is T.
func kind[T any, P interface {
	*T
	proto.Message
}](topic string) Kind {
	return Kind{
		Type:  TypeOf(P(new(T))),
		Topic: topic,
		New:   func() proto.Message { return P(new(T)) },
	}
}

// TypeOf is the ce_type of a payload.
func TypeOf(msg proto.Message) string {
	return typePrefix + string(msg.ProtoReflect().Descriptor().Name())
}

// catalogue is Kinds by type; it is only read.
var catalogue = func() map[string]Kind {
	all := map[string]Kind{}
	for _, k := range Kinds() {
		all[k.Type] = k
	}
	return all
}()

// Unmarshal decodes a payload of the given ce_type.
func Unmarshal(ceType string, payload []byte) (proto.Message, error) {
	k, ok := catalogue[ceType]
	if !ok {
		return nil, fmt.Errorf("event type %q: %w", ceType, ErrUnknownType)
	}
	msg := k.New()
	if err := proto.Unmarshal(payload, msg); err != nil {
		return nil, fmt.Errorf("decode %s: %w: %w", ceType, ErrMalformed, err)
	}
	if err := checkIDs(msg, idFields[ceType]); err != nil {
		return nil, fmt.Errorf("decode %s: %w: %w", ceType, ErrMalformed, err)
	}
	return msg, nil
}

// idFields are the fields of a type that hold ids; it is only read.
var idFields = func() map[string][]protoreflect.FieldDescriptor {
	all := map[string][]protoreflect.FieldDescriptor{}
	for _, k := range Kinds() {
		fields := k.New().ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			if f.Kind() == protoreflect.BytesKind && !f.IsList() && strings.HasSuffix(string(f.Name()), "_id") {
				all[k.Type] = append(all[k.Type], f)
			}
		}
	}
	return all
}()

// checkIDs makes sure that every id of a payload has the length of one, so that folds need not check again. The id that
// says what an event is about must be there; the others may be empty.
func checkIDs(msg proto.Message, ids []protoreflect.FieldDescriptor) error {
	m := msg.ProtoReflect()
	for _, f := range ids {
		n := len(m.Get(f).Bytes())
		if n != 16 && (n != 0 || required(f.Name())) {
			return fmt.Errorf("%s is %d bytes long", f.Name(), n)
		}
	}
	return nil
}

func required(field protoreflect.Name) bool {
	switch field {
	case "env_id", "rollout_id", "document_id", "batch_id", "evaluation_id", "entity_id":
		return true
	}
	return false
}
