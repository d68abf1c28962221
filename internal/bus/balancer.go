package bus

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// copartition gives a partition number of all topics to one member, to each as many as to the others or one more. A member that
// joins or leaves moves few: each partition prefers the members in an order of its own, which no other member changes
// (rendezvous hashing). What a process has begun to work on mostly stays with it. Every member of a group must use it, and want
// the same topics.
type copartition struct{}

var _ kafka.GroupBalancer = copartition{}

// ProtocolName tells the group which assignment this is.
func (copartition) ProtocolName() string { return "spade-copartition" }

// UserData is empty: the assignment needs no history.
func (copartition) UserData() ([]byte, error) { return nil, nil }

// AssignGroups divides the partition numbers.
func (copartition) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	byNumber := map[int][]string{}
	for _, p := range partitions {
		byNumber[p.ID] = append(byNumber[p.ID], p.Topic)
	}
	numbers := make([]int, 0, len(byNumber))
	for n := range byNumber {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	out := kafka.GroupMemberAssignments{}
	for _, m := range members {
		out[m.ID] = map[string][]int{}
	}
	for i, m := range owners(members, numbers) {
		for _, topic := range byNumber[numbers[i]] {
			if slices.Contains(m.Topics, topic) {
				out[m.ID][topic] = append(out[m.ID][topic], numbers[i])
			}
		}
	}
	return out
}

// owners are the members that the partition numbers go to.
func owners(members []kafka.GroupMember, numbers []int) []kafka.GroupMember {
	type choice struct {
		member, number int // indices
		score          uint64
	}
	choices := make([]choice, 0, len(members)*len(numbers))
	for m := range members {
		for n, number := range numbers {
			choices = append(choices, choice{m, n, preference(members[m].ID, number)})
		}
	}
	slices.SortFunc(choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(members[a.member].ID, members[b.member].ID), cmp.Compare(a.number, b.number))
	})
	share, more := len(numbers)/len(members), len(numbers)%len(members)
	held := make([]int, len(members))
	out := make([]kafka.GroupMember, len(numbers))
	for _, c := range choices {
		switch {
		case out[c.number].ID != "" || held[c.member] > share:
			continue
		case held[c.member] == share:
			if more == 0 {
				continue
			}
			more--
		}
		held[c.member]++
		out[c.number] = members[c.member]
	}
	return out
}

// preference is how much a partition number prefers a member.
func preference(member string, number int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(member + "/" + strconv.Itoa(number)))
	x := h.Sum64() // its last byte changes few bits: mixed as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
