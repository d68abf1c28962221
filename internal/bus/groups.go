package bus

import (
	"context"

	"github.com/segmentio/kafka-go"
)

// Members is how many processes are in a consumer group now; 0 for a group that never was. One that was killed counts until
// its session times out.
func (c *Client) Members(ctx context.Context, group string) (int, error) {
	members := 0
	err := c.retry(ctx, "describe group "+group, func(ctx context.Context) error {
		res, err := c.kafka.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{c.onWire(group)}})
		if err != nil {
			return err
		}
		members = 0
		for _, g := range res.Groups {
			if g.Error != nil {
				return g.Error
			}
			members += len(g.Members)
		}
		return nil
	})
	return members, err
}
