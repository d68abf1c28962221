package warehouse

import (
	"fmt"

	"github.com/seed256f7767/spade/schemas/topics"
)

// Groups sorts topics by the consumer group that reads them: a group shares out partition numbers, so its topics must have the
// same ones.
func Groups(all []topics.Topic) map[string][]string {
	most := 0
	for _, t := range all {
		most = max(most, t.Partitions)
	}
	out := map[string][]string{}
	for _, t := range all {
		name := Group
		if t.Partitions != most {
			name = fmt.Sprintf("%s.%d", Group, t.Partitions)
		}
		out[name] = append(out[name], t.Name)
	}
	return out
}
