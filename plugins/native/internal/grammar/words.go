package grammar

import (
	"sort"
	"strings"

	"github.com/seed256f7767/spade/internal/seed"
)

// Doc is a document that a design is grounded in.
type Doc struct{ ID, Title, Text string }

// fact is one sentence of a document and the word that it is asked for.
type fact struct {
	term     string
	sentence string // without the term's place filled: see blank
	blank    string
}

const (
	minTerm, maxTerm         = 4, 10
	minSentence, maxSentence = 24, 110
)

// common are words that carry no subject.
const common = ` about above after again against also although always among another because been before being below between both cannot come could does
 down during each either enough even every example first from gives given goes have hence here himself however into itself just known less like made make
 makes many mean means more most much must near need needs never next none often once only other over part same second shall should since some still such
 take takes than that their them then there therefore these they thing things this those three through thus together toward under until upon used uses
 using very well were what when where whether which while whose will with within without would year years your called form forms into kind kinds long `

func isCommon(w string) bool { return strings.Contains(common, " "+w+" ") }

// words splits a text into lower-case ASCII words.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
}

func isTerm(w string) bool { return len(w) >= minTerm && len(w) <= maxTerm && !isCommon(w) }

// terms are the content words of the documents, each once, the more frequent first and then by name.
func terms(docs []Doc) []string {
	count := map[string]int{}
	for _, d := range docs {
		for _, w := range words(d.Title + " " + d.Text) {
			if isTerm(w) {
				count[w]++
			}
		}
	}
	out := make([]string, 0, len(count))
	for w := range count {
		out = append(out, w)
	}
	sort.Slice(out, func(i, j int) bool {
		if count[out[i]] != count[out[j]] {
			return count[out[i]] > count[out[j]]
		}
		return out[i] < out[j]
	})
	return out
}

// sentences cuts a text into plain printable sentences of a useful length.
func sentences(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
			continue
		}
		for _, s := range strings.SplitAfter(line, ". ") {
			s = strings.TrimRight(strings.TrimSpace(s), ".")
			if len(s) >= minSentence && len(s) <= maxSentence && plain(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// plain refuses what would need escapes or would break a line of an observation.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == ':' || c == '{' || c == '}' {
			return false
		}
	}
	return true
}

// facts takes up to n sentences with a term each, no term twice and none in another's sentence.
func facts(docs []Doc, n int, r *seed.Rand) []fact {
	var all []string
	for _, d := range docs {
		all = append(all, sentences(d.Text)...)
	}
	seed.Shuffle(r, all)
	var out []fact
	for _, s := range all {
		if len(out) == n {
			break
		}
		if f, ok := factOf(s, out); ok {
			out = append(out, f)
		}
	}
	return out
}

func factOf(s string, others []fact) (fact, bool) {
	in := words(s)
	for _, w := range in {
		if !isTerm(w) || strings.Count(strings.ToLower(s), w) != 1 || clashes(w, in, others) {
			continue
		}
		at := strings.Index(strings.ToLower(s), w)
		return fact{term: w, sentence: s, blank: s[:at] + "what" + s[at+len(w):]}, true
	}
	return fact{}, false
}

func clashes(term string, in []string, others []fact) bool {
	for _, o := range others {
		for _, w := range words(o.sentence) {
			if w == term {
				return true
			}
		}
		for _, w := range in {
			if w == o.term {
				return true
			}
		}
	}
	return false
}

// spare are words for documents that hold too few.
func spare() []string {
	return strings.Fields(`anchor basket candle dragon engine feather garden hammer island jacket kettle ladder magnet needle
 orchard pepper quarry ribbon saddle timber umbrella violin wagon yarn zipper bottle cactus desert falcon guitar hollow
 insect jungle kernel lantern meadow nectar oyster pebble rabbit saucer tunnel valley walnut arrow bridge copper dolphin`)
}
