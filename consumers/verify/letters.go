package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Letter is one dead letter.
type Letter struct {
	ID       uuid.UUID `json:"id"`
	Place    Place     `json:"record"`
	Key      string    `json:"key"`
	Consumer string    `json:"consumer"`
	Error    string    `json:"error"`
	Retried  bool      `json:"retried"`
}

// letters are the dead letters of the records that count, by record.
type letters struct {
	byPlace map[Place][]Letter
	retried map[Place]bool
}

func newLetters() letters {
	return letters{byPlace: map[Place][]Letter{}, retried: map[Place]bool{}}
}

func (l *RunLog) letter(e *Entry) {
	m, ok := message[*spadepb.DeadLetter](e)
	if !ok || !e.First || !l.ours(string(m.GetKey())) {
		return
	}
	at := Place{m.GetTopic(), m.GetPartition(), m.GetOffset()}
	l.byPlace[at] = append(l.byPlace[at], Letter{
		ID: e.ID, Place: at, Key: string(m.GetKey()), Consumer: m.GetConsumer(), Error: m.GetError(),
	})
}

// lettered says what was done about a record.
func (l *letters) lettered(at Place) string {
	var by []string
	for _, one := range l.byPlace[at] {
		by = append(by, one.Consumer)
	}
	if len(by) == 0 {
		return "no consumer has met it"
	}
	slices.Sort(by)
	return "in the dead letters of " + strings.Join(slices.Compact(by), ", ")
}

// judgeLetters names the dead letters that nobody retried and whose records can be decoded; the others are named as
// unreadable records.
func (l *RunLog) judgeLetters() {
	for _, one := range l.DeadLetters() {
		if one.Retried || refusedText(one) || (l.poison[one.Place] != nil && !l.poison[one.Place].healed) {
			continue
		}
		l.report.Add(AreaLog, "dead letter", one.ID.String(), "%s could not apply %s (key %q): %s", one.Consumer, one.Place, one.Key, one.Error)
	}
}

// refusedText reports whether a letter is about a text that the embedder refused: its point is there all the same.
func refusedText(l Letter) bool {
	return l.Consumer == "memory" && strings.Contains(l.Error, embedding.ErrTextRefused.Error())
}

// DeadLetters are those of the records that count, in the order of their records.
func (l *RunLog) DeadLetters() []Letter {
	var out []Letter
	for _, at := range slices.SortedFunc(maps.Keys(l.byPlace), comparePlaces) {
		for _, one := range l.byPlace[at] {
			one.Retried = l.retried[at]
			out = append(out, one)
		}
	}
	return out
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// MarshalText writes a place as it is printed.
func (p Place) MarshalText() ([]byte, error) { return fmt.Append(nil, p.String()), nil }
