package designer

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// contract tells the policy what to write, by the language to write it in. It is part of every prompt, so a change of it
// changes every digest.
func contract(runtime string) string {
	if runtime == gym.RuntimePython {
		return contractOpening + contractPython + contractForm
	}
	return contractOpening + contractStarlark + contractForm
}

const contractOpening = `You design training environments. Answer with one complete source file and nothing else.

`

const contractStarlark = `The file is Starlark. It defines:
`

const contractPython = `The file is Python 3.10 and needs nothing beyond the standard library and what is named below. It defines:
`

const contractForm = `  META = {"title": text, "kind": "reasoning" | "tools" | "game", "max_steps": number, "tools": [JSON Schema, ...]}
  reset(seed) -> (state, observation, info)
  step(state, action) -> (state, observation, reward, terminated, truncated, info)
  hint(state) -> text that lets an agent solve the episode
  verify(state) -> score from 0 to 1 that judges the state on its own and does not change it
  solve(state) -> list of actions that solves the episode
The state is JSON data. Observations and actions are text; a tool call is a JSON object in the action.
info["actions"] may list the legal actions. The rewards of an episode add up to a number from 0 to 1, equal to what
verify says of the last state. An episode ends within max_steps.
Randomness comes only from rng, text functions from text, data from json, numbers from math.
The task must be solvable with the hint and not trivial without it; everything an agent needs to find the answer
without the hint must be in what it can observe. Do not repeat the neighbours.`

// buildPrompt renders the designer's prompt. previous is the rejected attempt that is to be repaired, or zero.
func buildPrompt(runtime string, g grounds, previous attempt) []policy.Message {
	var user strings.Builder
	for _, doc := range g.documents {
		section(&user, fmt.Sprintf("document id=%s title=%s", doc.ID, oneLine(doc.Title)), doc.Text)
	}
	for _, n := range g.recalled {
		head := fmt.Sprintf("neighbour id=%s similarity=%.6f kind=%s", n.EnvID, n.Similarity, oneLine(n.Kind))
		section(&user, head, n.Title)
	}
	if previous.rejected != nil {
		head := fmt.Sprintf("rejected id=%s stage=%s", previous.env, oneLine(previous.rejected.GetStage()))
		section(&user, head, previous.rejected.GetReason()+"\n"+previous.designed.GetCode())
	}
	user.WriteString("Write one environment grounded in the documents.")
	return []policy.Message{
		{Role: "system", Content: contract(runtime)},
		{Role: "user", Content: user.String()},
	}
}

// section writes a delimited block. Lines of the body that would open or close a block are indented, so that a document
// cannot pose as another one.
func section(b *strings.Builder, head, body string) {
	fmt.Fprintf(b, "<<<%s\n", head)
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasPrefix(line, "<<<") || strings.HasPrefix(line, ">>>") {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteString(">>>\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sourceOf takes the source out of a completion: models like to put code in a fence, with prose around it.
func sourceOf(completion string) string {
	_, rest, found := strings.Cut(completion, "```")
	if !found {
		return completion
	}
	if _, rest, found = strings.Cut(rest, "\n"); !found {
		return completion
	}
	code, _, found := strings.Cut(rest, "\n```")
	if !found {
		return completion
	}
	return code + "\n"
}

// promptMessages is a prompt as its event keeps it, and the SHA-256 over its length-prefixed parts.
func promptMessages(messages []policy.Message) ([]*spadepb.ChatMessage, []byte) {
	h := sha256.New()
	out := make([]*spadepb.ChatMessage, len(messages))
	for i, m := range messages {
		out[i] = &spadepb.ChatMessage{Role: m.Role, Content: m.Content}
		fmt.Fprintf(h, "%d:%s%d:%s", len(m.Role), m.Role, len(m.Content), m.Content)
	}
	return out, h.Sum(nil)
}
