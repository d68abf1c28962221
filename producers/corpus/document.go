package corpus

import (
	"crypto/sha256"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Media types that events carry.
const (
	mediaMarkdown = "text/markdown"
	mediaPlain    = "text/plain"
	mediaHTML     = "text/html"
	mediaJSONL    = "application/jsonl"
	mediaParquet  = "application/vnd.apache.parquet"
)

// document is one document as a format's reader found it. The text is normalised and not empty.
type document struct {
	source    string
	title     string
	text      string
	mediaType string
}

// chunk is one event to be: a payload and its document id.
type chunk struct {
	id      uuid.UUID
	payload *spadepb.DocumentIngested
}

// chunks cuts a document. Pieces of white space alone are left out.
func (d document) chunks(least, most int) []chunk {
	var pieces []string
	for _, piece := range Split(d.text, least, most) {
		if normalise(piece) != "" {
			pieces = append(pieces, piece)
		}
	}
	parent := documentID(d.title, d.text)
	out := make([]chunk, len(pieces))
	for i, piece := range pieces {
		sum := sha256.Sum256([]byte(piece))
		id := documentID(d.title, piece)
		out[i] = chunk{id: id, payload: &spadepb.DocumentIngested{
			DocumentId: id[:],
			ParentId:   parent[:],
			Chunk:      int32(i),
			Chunks:     int32(len(pieces)),
			Source:     d.source,
			Title:      d.title,
			Text:       piece,
			Sha256:     sum[:],
			MediaType:  d.mediaType,
		}}
	}
	return out
}

// documentID is the id of a text under a title: of all that a designer gets to see of it. Without the title in it, a run's
// prompts would depend on which title the log had met first with a text, since chunks of different documents may be equal.
func documentID(title, text string) uuid.UUID {
	h := sha256.New()
	h.Write([]byte(title))
	h.Write([]byte{'\n'}) // a title is one line
	h.Write([]byte(text))
	return ids.Document(h.Sum(nil))
}
