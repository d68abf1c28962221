package corpus

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name        string
		text        string
		least, most int
		want        []string
	}{
		{"empty", "", 4, 16, nil},
		{"short", "one two", 4, 16, []string{"one two"}},
		{"exactly the most", "0123456789abcdef", 4, 16, []string{"0123456789abcdef"}},
		{"heading before paragraph", "aaaa.\n\nbb\n\n# H\ncc\n\ndd", 4, 20, []string{"aaaa.\n\nbb\n\n", "# H\ncc\n\ndd"}},
		{"last paragraph in reach", "aaaa\n\nbbbb\n\ncccc", 2, 13, []string{"aaaa\n\nbbbb\n\n", "cccc"}},
		{"paragraph before line", "aaaa\n\nbb\ncccccccc", 2, 12, []string{"aaaa\n\n", "bb\ncccccccc"}},
		{"line before sentence", "aaaa\nbb. cccccccc", 2, 12, []string{"aaaa\n", "bb. cccccccc"}},
		{"sentence before word", "One. two three four", 2, 16, []string{"One. ", "two three four"}},
		{"boundary at the most", "aa bbbbbbbbbbbbb cccc", 2, 17, []string{"aa bbbbbbbbbbbbb ", "cccc"}},
		{"word", "alpha beta gamma delta", 2, 16, []string{"alpha beta ", "gamma delta"}},
		{"runs of blank lines stay with the text before", "aaaaaa\n\n\n\nbbbbbb", 2, 12, []string{"aaaaaa\n\n\n\n", "bbbbbb"}},
		{"too early is no boundary", "a b\n\ncccccccccccccccccc", 8, 16, []string{"a b\n\nccccccccccc", "ccccccc"}},
		{"no boundary but runes", strings.Repeat("é", 10), 2, 17, []string{strings.Repeat("é", 8), strings.Repeat("é", 2)}},
		{"ideographic full stop", "これは水です。それは火です", 4, 36, []string{"これは水です。", "それは火です"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Split(tt.text, tt.least, tt.most); !slices.Equal(got, tt.want) {
				t.Errorf("Split = %q, want %q", got, tt.want)
			}
		})
	}
}

// checkSplit holds for every text.
func checkSplit(t *testing.T, text string, least, most int) {
	t.Helper()
	chunks := Split(text, least, most)
	if joined := strings.Join(chunks, ""); joined != text {
		t.Fatalf("chunks join to %q, want %q", joined, text)
	}
	for i, c := range chunks {
		if c == "" || len(c) > most {
			t.Fatalf("chunk %d has %d bytes, allowed are 1 to %d", i, len(c), most)
		}
		if utf8.ValidString(text) && !utf8.ValidString(c) {
			t.Fatalf("chunk %d is cut within a rune: %q", i, c)
		}
		if i < len(chunks)-1 && len(c) < min(least, most-utf8.UTFMax+1) {
			t.Fatalf("chunk %d has %d bytes, least are %d", i, len(c), least)
		}
	}
}

func TestSplitProperty(t *testing.T) {
	parts := []string{
		"word", " ", "  ", "\n", "\n\n", "\n\n\n", ". ", "! ", "# ", "## Heading\n\n", "é", "日本語。", "𝄞", "\u200d", "- item\n", "\t",
		strings.Repeat("x", 40), "e\u0301",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(200) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		most := 16 + rng.IntN(200)
		text := normalise(b.String())
		checkSplit(t, text, 1+rng.IntN(most), most)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("One. Two.\n\n# Three\n\nfour five six seven eight", uint16(8), uint16(20))
	f.Add(strings.Repeat("日", 100), uint16(1), uint16(17))
	f.Add("\xff\xfe\xfd\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", uint16(1), uint16(16))
	f.Fuzz(func(t *testing.T, text string, least, most uint16) {
		m := 16 + int(most)%4096
		checkSplit(t, text, 1+int(least)%m, m)
	})
}
