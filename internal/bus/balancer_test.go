package bus

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/segmentio/kafka-go"
)

func testMembers(n int) []kafka.GroupMember {
	out := make([]kafka.GroupMember, n)
	for i := range out {
		out[i] = kafka.GroupMember{ID: fmt.Sprintf("spade-%d", i), Topics: []string{"a", "b"}}
	}
	return out
}

func testPartitionsOf(n int) (out []kafka.Partition) {
	for i := range n {
		out = append(out, kafka.Partition{Topic: "a", ID: i}, kafka.Partition{Topic: "b", ID: i})
	}
	return out
}

func TestPartitionsAreSharedOutEvenlyAndTogether(t *testing.T) {
	for members := 1; members <= 9; members++ {
		for _, partitions := range []int{1, 2, 8, 64} {
			all := testMembers(members)
			got := copartition{}.AssignGroups(all, testPartitionsOf(partitions))
			var seen []int
			for _, m := range all {
				has := got[m.ID]
				if !slices.Equal(has["a"], has["b"]) {
					t.Errorf("%d of %d: %s has %v of one topic and %v of the other", members, partitions, m.ID, has["a"], has["b"])
				}
				if n := len(has["a"]); n < partitions/members || n > (partitions+members-1)/members {
					t.Errorf("%d of %d: %s has %d", members, partitions, m.ID, n)
				}
				seen = append(seen, has["a"]...)
			}
			slices.Sort(seen)
			if len(seen) != partitions || len(slices.Compact(seen)) != partitions {
				t.Errorf("%d of %d: %v are assigned", members, partitions, seen)
			}
			slices.Reverse(all) // as the broker happens to list them
			if again := (copartition{}).AssignGroups(all, testPartitionsOf(partitions)); !reflect.DeepEqual(got, again) {
				t.Errorf("%d of %d: another order of the members changes the assignment", members, partitions)
			}
		}
	}
}

// Whoever joins gets a share, and the others keep nearly all of the rest: what they have begun to work on stays theirs.
func TestFewPartitionsMoveWhenAMemberJoins(t *testing.T) {
	const partitions = 64
	moved, least := 0, 0
	for members := 1; members <= 15; members++ {
		before := (copartition{}).AssignGroups(testMembers(members), testPartitionsOf(partitions))
		after := (copartition{}).AssignGroups(testMembers(members+1), testPartitionsOf(partitions))
		least += partitions / (members + 1)
		for id, has := range before {
			for _, p := range has["a"] {
				if !slices.Contains(after[id]["a"], p) {
					moved++
				}
			}
		}
	}
	if moved > least*3/2 {
		t.Errorf("%d partitions moved, and %d had to", moved, least)
	}
	t.Logf("%d partitions moved, and %d had to", moved, least)
}
