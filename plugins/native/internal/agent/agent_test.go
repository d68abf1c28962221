package agent

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func ask(turns ...string) []Message {
	var out []Message
	for i, t := range turns {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		out = append(out, Message{Role: role, Content: t})
	}
	return out
}

var towns = []string{"town arden", "town brill", "town corby"}

const trail = "Depot: tell the town\nBook: moss lives in arden\nBook: pike lives in brill\nBook: reed lives in corby\nAsked: pike"

func TestUntrainedAgentIsUniform(t *testing.T) {
	m := New(Bits)
	for i := range towns {
		if p := math.Exp(m.Logprob(ask(trail), towns, i)); math.Abs(p-1.0/3) > 1e-12 {
			t.Errorf("probability of %s is %v", towns[i], p)
		}
	}
}

// TestRelationsCarryOver trains on some words and asks about others.
func TestRelationsCarryOver(t *testing.T) {
	m := New(Bits)
	words := strings.Fields("ash birch cedar dogwood elm fir gorse hazel ivy juniper larch maple")
	var samples []Sample
	for i := range 60 {
		a, b, c := words[i%12], words[(i+5)%12], words[(i+7)%12]
		screen := fmt.Sprintf("Desk: look it up\nCard: %s is x%d\nCard: %s is y%d\nCard: %s is z%d\nAsked: y%d", a, i, b, i, c, i, i)
		choices := []string{"pick " + a, "pick " + b, "pick " + c}
		for j, adv := range []float64{-0.7, 1.4, -0.7} {
			samples = append(samples, Sample{Messages: ask(screen), Choices: choices, Chosen: j, Advantage: adv})
		}
	}
	m.Learn(samples, Options{})
	if p := math.Exp(m.Logprob(ask(trail), towns, 1)); p < 0.8 {
		t.Errorf("the right town has probability %.3f", p)
	}
}

func TestLearningRaisesWhatPaid(t *testing.T) {
	m := New(Bits)
	before := m.Logprob(ask(trail), towns, 2)
	st := m.Learn([]Sample{{Messages: ask(trail), Choices: towns, Chosen: 2, Advantage: 1}}, Options{})
	if after := m.Logprob(ask(trail), towns, 2); after <= before {
		t.Errorf("log-probability went from %v to %v", before, after)
	}
	if st.Samples == 0 || st.Entropy <= 0 || st.GradNorm <= 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestLearningIsRepeatable(t *testing.T) {
	samples := []Sample{
		{Messages: ask(trail), Choices: towns, Chosen: 2, Advantage: 1},
		{Messages: ask(trail, towns[0], trail), Choices: towns, Chosen: 1, Advantage: -0.5},
	}
	a, b := New(Bits), New(Bits)
	a.Learn(samples, Options{})
	b.Learn(samples, Options{})
	if !reflect.DeepEqual(a.Append(nil), b.Append(nil)) {
		t.Error("the same samples made other weights")
	}
}

func TestChoiceFollowsTheDraw(t *testing.T) {
	m := New(Bits)
	for i, u := range []float64{0.1, 0.5, 0.9} {
		if got, logprob := m.Choose(ask(trail), towns, 1, u); got != i || math.Abs(logprob-math.Log(1.0/3)) > 1e-9 {
			t.Errorf("u %v: choice %d with %v", u, got, logprob)
		}
	}
	if got, _ := m.Choose(ask(trail), towns, 0, 0.99); got != 0 {
		t.Errorf("greedy choice %d of equals, want the first", got)
	}
}

func TestHintIsFollowedStepByStep(t *testing.T) {
	m := New(Bits)
	plan := "Hint: In turn: town corby, then town arden, then town corby"
	prompt := []Message{{"user", trail}, {"user", plan}}
	for step, want := range []int{2, 0, 2} {
		if p := math.Exp(m.Logprob(prompt, towns, want)); p < 0.95 {
			t.Errorf("step %d: the hinted action has probability %.3f", step, p)
		}
		prompt = append(prompt, Message{"assistant", towns[want]}, Message{"user", trail})
	}
}

func TestObservationIsNoHint(t *testing.T) {
	prompt := ask("Door: shut", towns[0], "Hint: "+towns[2])
	for i := range towns {
		if p := math.Exp(New(Bits).Logprob(prompt, towns, i)); math.Abs(p-1.0/3) > 1e-12 {
			t.Errorf("probability of %s is %v", towns[i], p)
		}
	}
}

func TestHintNamesToolCallsInPlainWords(t *testing.T) {
	calls := []string{`{"arguments":{"value":"tin"},"name":"pick"}`, `{"arguments":{"value":"zinc"},"name":"pick"}`}
	prompt := []Message{{"user", "Metals: pick one"}, {"user", "Hint: Do this: pick zinc"}}
	if p := math.Exp(New(Bits).Logprob(prompt, calls, 1)); p < 0.9 {
		t.Errorf("the hinted call has probability %.3f", p)
	}
}

func TestNothingIsLearnedFromOneChoice(t *testing.T) {
	m := New(Bits)
	st := m.Learn([]Sample{{Messages: ask("Go"), Choices: []string{"go on"}, Advantage: 3}}, Options{})
	if st.Samples != 0 {
		t.Errorf("%d samples", st.Samples)
	}
}

func TestPlainActionSortsArguments(t *testing.T) {
	if got := plainAction(`{"name":"move","arguments":{"b":2,"a":"x"}}`); got != "move 2 x" {
		t.Errorf("got %q", got)
	}
	if got := plainAction(`{broken`); got != `{broken` {
		t.Errorf("got %q", got)
	}
}

func TestManyChoicesAndLinesAreBounded(t *testing.T) {
	choices := make([]string, 1000)
	for i := range choices {
		choices[i] = fmt.Sprint("number ", i)
	}
	screen := strings.Repeat("Line: "+strings.Repeat("word 7 ", 500)+"\n", 500)
	if i, logprob := New(Bits).Choose(ask(screen), choices, 1, 0.5); i >= maxChoices || logprob >= 0 {
		t.Errorf("choice %d, %v", i, logprob)
	}
	m := New(Bits)
	m.Learn([]Sample{{Messages: ask(screen), Choices: choices, Chosen: 999, Advantage: 1}}, Options{})
}

func TestWeightsComeBackEqual(t *testing.T) {
	m := New(6)
	m.Learn([]Sample{{Messages: ask(trail), Choices: towns, Chosen: 2, Advantage: 1}}, Options{})
	raw := append(m.Append(nil), "rest"...)
	back, rest, err := Decode(raw)
	if err != nil || string(rest) != "rest" || !reflect.DeepEqual(back, m) {
		t.Errorf("%v, rest %q", err, rest)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(New(4).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, rest, err := Decode(b)
		if err == nil && !reflect.DeepEqual(append(m.Append(nil), rest...), b) {
			t.Error("what was read is not what was written")
		}
	})
}

func FuzzScene(f *testing.F) {
	f.Add(trail, "town arden", "Hint: town brill", 3)
	f.Add(":\n::\n-", "{", "", 0)
	f.Fuzz(func(t *testing.T, screen, choice, hint string, n int) {
		prompt := []Message{{"user", screen}, {"user", hint}, {"assistant", choice}, {"user", screen + "\n" + hint}}
		i, logprob := New(6).Choose(prompt, []string{choice, "other", screen}, 1, 0.4)
		if i < 0 || i > 2 || math.IsNaN(logprob) {
			t.Errorf("choice %d, %v", i, logprob)
		}
	})
}
