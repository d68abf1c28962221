package corpus

import (
	"errors"
	"strings"
	"testing"
)

func TestMarkdownTitle(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"first line", "# Water\n\nWet.", "Water"},
		{"deeper and closed", "intro\n\n### Deep water ###\n", "Deep water"},
		{"anchor", "## Tools {#tools}", "Tools"},
		{"braces that are no anchor", "# Sets {1}", "Sets {1}"},
		{"underlined", "Water\n=====\n\nWet.", "Water"},
		{"underlined with dashes", "Water\n-----\n", "Water"},
		{"a rule is no heading", "\n---\n\n# Real", "Real"},
		{"hash without space", "#hashtag\n\n## Real", "Real"},
		{"seven hashes", "####### no\n# yes", "yes"},
		{"in a fence", "```sh\n# comment\n```\n# Real", "Real"},
		{"in a tilde fence", "~~~\n# comment\n~~~\n# Real", "Real"},
		{"front matter", "---\nlang: en\ntitle: \"Quoted title\"\n---\n# Other", "Quoted title"},
		{"front matter without title", "---\nlang: en\n---\n# Other", "Other"},
		{"none", "just text", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := markdownTitle(tt.text); got != tt.want {
				t.Errorf("title = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNewDocumentTitle(t *testing.T) {
	long := strings.Repeat("müde ", 60)
	tests := []struct{ name, title, text, want string }{
		{"given", " A\n title\x1b ", "text", "A title"},
		{"first line of the text", "", "First line.\nSecond.", "First line."},
		{"first line is a heading", "", "## Water ##\nWet.", "Water"},
		{"control characters alone", "\x1b\x07", "text", "text"},
		{"cut at a word", long, "text", strings.TrimSpace(strings.Repeat("müde ", 33))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := newDocument("s", tt.title, tt.text, mediaPlain).title; got != tt.want {
				t.Errorf("title = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNormalise(t *testing.T) {
	got := normalise("\ufeff\r\n one\r\ntwo\rthree\n\n\tfour \n\n")
	if want := "one\ntwo\nthree\n\n\tfour"; got != want {
		t.Errorf("normalise = %q, want %q", got, want)
	}
}

func TestCheckText(t *testing.T) {
	tests := []struct {
		name, data string
		want       error
	}{
		{"text", "é\n", nil},
		{"empty", "", ErrEmpty},
		{"zero byte", "a\x00b", ErrBinary},
		{"UTF-16", "\xff\xfea\x00", ErrEncoding},
		{"latin-1", "caf\xe9", ErrEncoding},
		{"surrogate", "\xed\xa0\x80", ErrEncoding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := checkText([]byte(tt.data)); !errors.Is(got, tt.want) {
				t.Errorf("class = %v, want %v", got, tt.want)
			}
		})
	}
}
