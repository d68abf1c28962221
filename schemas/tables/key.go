package tables

import (
	"bytes"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
)

// checkKey refuses an event whose payload is about something else than its key says. Rows are looked up by the key when the
// event is met again, so a row under another id would not be found and be doubled.
func checkKey(ev *event.Event, msg proto.Message) error {
	var want [2][]byte
	switch m := msg.(type) {
	case interface{ GetEntityId() []byte }:
		want[1] = m.GetEntityId()
	case interface{ GetDocumentId() []byte }:
		want[1] = m.GetDocumentId()
	case interface {
		GetRunId() []byte
		GetEnvId() []byte
	}:
		want = [2][]byte{m.GetRunId(), m.GetEnvId()}
	case interface{ GetRunId() []byte }:
		want[1] = m.GetRunId()
	default:
		return nil
	}
	run, last, err := KeyIDs(ev.Key)
	if err != nil || !bytes.Equal(last[:], want[1]) || (want[0] != nil && !bytes.Equal(run[:], want[0])) {
		return fmt.Errorf("key %q is not that of the payload: %w", ev.Key, ErrInvalid)
	}
	return nil
}

// KeyIDs takes a record's key apart: the id after the slash, or the only one, and the id before it, which is uuid.Nil when
// there is none.
func KeyIDs(key string) (run, last uuid.UUID, err error) {
	const n = 36 // characters of an id
	if len(key) == 2*n+1 && key[n] == '/' {
		if run, err = uuid.Parse(key[:n]); err != nil {
			return uuid.Nil, uuid.Nil, fmt.Errorf("key %q: %w", key, err)
		}
		key = key[n+1:]
	}
	if len(key) != n {
		return uuid.Nil, uuid.Nil, fmt.Errorf("key %q is not made of ids: %w", key, ErrInvalid)
	}
	if last, err = uuid.Parse(key); err != nil {
		return uuid.Nil, uuid.Nil, fmt.Errorf("key %q: %w", key, err)
	}
	return run, last, nil
}
