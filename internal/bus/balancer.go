package bus

import (
	"cmp"
	"slices"

	"github.com/segmentio/kafka-go"
)

// copartition gives a partition number of all topics to one member, in ranges
// by member id. Every member of a group must use it, and want the same topics.
type copartition struct{}

var _ kafka.GroupBalancer = copartition{}

// ProtocolName tells the group which assignment this is.
func (copartition) ProtocolName() string { return "spade-copartition" }

// UserData is empty: the assignment needs no history.
func (copartition) UserData() ([]byte, error) { return nil, nil }

// AssignGroups divides the partition numbers.
func (copartition) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	members = slices.SortedFunc(slices.Values(members), func(a, b kafka.GroupMember) int { return cmp.Compare(a.ID, b.ID) })
	partitions = slices.SortedFunc(slices.Values(partitions), func(a, b kafka.Partition) int { return cmp.Compare(a.ID, b.ID) })
	numbers := 0
	for _, p := range partitions {
		numbers = max(numbers, p.ID+1)
	}
	out := kafka.GroupMemberAssignments{}
	for i, m := range members {
		out[m.ID] = map[string][]int{}
		from, to := i*numbers/len(members), (i+1)*numbers/len(members)
		for _, p := range partitions {
			if p.ID >= from && p.ID < to && slices.Contains(m.Topics, p.Topic) {
				out[m.ID][p.Topic] = append(out[m.ID][p.Topic], p.ID)
			}
		}
	}
	return out
}
