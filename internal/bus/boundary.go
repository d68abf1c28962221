package bus

import (
	"fmt"

	"github.com/seed256f7767/spade/schemas/event"
)

// Assembler is for those who read records: it makes events of one of a topic's partitions as every reader of events does.
func (c *Client) Assembler(topic string) event.Assembler { return c.assembler(topic) }

// assembler puts the records of one of a topic's partitions together again, and loses what is no event: what does not pass
// the check of the settings, and what stands in another partition than its key's, where those who look for it by its key do
// not find it and another copy of it may stand in the right one.
func (c *Client) assembler(topic string) event.Assembler {
	c.mu.Lock()
	partitions := c.known[topic].partitions
	c.mu.Unlock()
	if c.set.AnyPartition || len(partitions) < 2 {
		return event.Assembler{Check: c.set.Check}
	}
	return event.Assembler{Check: func(ev event.Event) error {
		if err := c.set.Check(ev); err != nil {
			return err
		}
		if want := partition([]byte(ev.Key), partitions); want != int(ev.Partition) {
			return fmt.Errorf("%w: %s of %s stands in partition %d and belongs in %d", ErrMisplaced, ev.Type, ev.Key, ev.Partition, want)
		}
		return nil
	}}
}
