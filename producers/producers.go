package producers

import (
	"context"

	"github.com/seed256f7767/spade/schemas/event"
)

// Appender appends events to the log. Append returns when all of them are acknowledged, or an error after which any of
// them may or may not be in the log: appending them again is harmless, because an event's id does not change. Events of
// one key keep their order. It may be called concurrently.
type Appender interface {
	Append(ctx context.Context, events ...event.Event) error
}
