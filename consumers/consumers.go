package consumers

import (
	"context"

	"github.com/seed256f7767/spade/schemas/event"
)

// Appender appends events to the log, as producers do: it returns when all are acknowledged, and appending an event
// again is harmless because its id does not change.
type Appender interface {
	Append(ctx context.Context, events ...event.Event) error
}
