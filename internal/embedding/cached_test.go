package embedding

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// counting counts the texts that reach the embedder below the cache.
type counting struct {
	Builtin

	texts int
}

func (c *counting) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	c.texts += len(texts)
	return c.Builtin.Embed(ctx, texts, kind)
}

func TestCachedGivesWhatItsEmbedderGives(t *testing.T) {
	below := &counting{}
	c := NewCached(below, 3)
	ask := func(kind Kind, texts ...string) {
		t.Helper()
		got, err := c.Embed(context.Background(), texts, kind)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Builtin{}.Embed(context.Background(), texts, kind)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%v differ from the embedder's", texts)
		}
	}
	ask(Document, "one fish", "two fish")
	ask(Document, "two fish", "red fish", "one fish")
	if below.texts != 3 {
		t.Errorf("%d texts embedded, want 3", below.texts)
	}
	ask(CodeQuery, "one fish") // another kind is another vector, and pushes the oldest out
	if below.texts != 4 {
		t.Errorf("%d texts embedded, want 4", below.texts)
	}
	for i := range 100 {
		ask(Document, fmt.Sprint("word", i%7))
	}
	if len(c.at) != 3 || len(c.ring) != 3 {
		t.Errorf("%d vectors kept, want 3", len(c.at))
	}
}
