package corpus

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// readLines runs the JSONL reader over content.
func readLines(ctx context.Context, cfg Config, content string) (docs []document, problems []string, err error) {
	in := input{source: "f.jsonl", size: int64(len(content)), file: bytes.NewReader([]byte(content))}
	err = readJSONL(ctx, cfg, in, sink{
		doc:     func(d document) error { docs = append(docs, d); return nil },
		problem: func(p *Problem) { problems = append(problems, p.Error()) },
	})
	return docs, problems, err
}

func TestReadJSONL(t *testing.T) {
	good := `{"text": "Good."}`
	tests := []struct {
		name, content string
		docs          []document
		problems      []string
	}{
		{"one", good, []document{{"f.jsonl#1", "Good.", "Good.", mediaJSONL}}, nil},
		{
			"all fields", `{"text": "T", "title": "Ti", "id": "x1", "source": "https://user:secret@host/p?q"}` + "\r\n\r\n",
			[]document{{"https://host/p?q#x1", "Ti", "T", mediaJSONL}},
			nil,
		},
		{"number as id", `{"text": "T", "id": 12345678901234567890}`, []document{{"f.jsonl#12345678901234567890", "T", "T", mediaJSONL}}, nil},
		{"url for source", `{"text": "T", "url": "http://h/x"}`, []document{{"http://h/x", "T", "T", mediaJSONL}}, nil},
		{"labels of other types", `{"text": "T", "title": null, "id": [1], "source": {}}`, []document{{"f.jsonl#1", "T", "T", mediaJSONL}}, nil},
		{"byte order mark", "\ufeff" + good, []document{{"f.jsonl#1", "Good.", "Good.", mediaJSONL}}, nil},
		{"zero in text", `{"text": "a\u0000b"}`, []document{{"f.jsonl#1", "a b", "a\x00b", mediaJSONL}}, nil},
		{"replacement character is text", `{"text": "\ufffd �"}`, []document{{"f.jsonl#1", "� �", "� �", mediaJSONL}}, nil},
		{
			"faults by line", strings.Join([]string{`{"text": "Good."`, good, "", `["text"]`, `{"txt": "x"}`, `{"text": 5}`, `{"text": "  "}`, "{\"text\": \"\xff\"}", `{"Text": "no"}`, `{"text": "\ud800"}`, `{"text": "a"} {"text": "b"}`, `null`}, "\n"),
			[]document{{"f.jsonl#2", "Good.", "Good.", mediaJSONL}},
			[]string{
				"f.jsonl:1: malformed: unexpected end of JSON input",
				"f.jsonl:4: malformed: json: cannot unmarshal array into Go value of type map[string]json.RawMessage",
				`f.jsonl:5: malformed: no field "text"`,
				`f.jsonl:6: malformed: field "text": json: cannot unmarshal number into Go value of type string`,
				"f.jsonl:7: holds no text",
				"f.jsonl:8: not valid UTF-8",
				`f.jsonl:9: malformed: no field "text"`,
				`f.jsonl:10: not valid UTF-8: field "text" has an unpaired surrogate`,
				"f.jsonl:11: malformed: invalid character '{' after top-level value",
				`f.jsonl:12: malformed: no field "text"`,
			},
		},
		{"empty", "\n\n", nil, []string{"f.jsonl: holds no text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, problems, err := readLines(t.Context(), NewDefaultConfig(), tt.content)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(docs, tt.docs) {
				t.Errorf("documents %q, want %q", docs, tt.docs)
			}
			if !slices.Equal(problems, tt.problems) {
				t.Errorf("problems %q, want %q", problems, tt.problems)
			}
		})
	}
}

func TestReadJSONLLongLine(t *testing.T) {
	cfg := NewDefaultConfig()
	cfg.MaxRecordBytes = 100
	fits := `{"text": "` + strings.Repeat("a", 88) + `"}` // 100 bytes
	long := `{"text": "` + strings.Repeat("b", 300<<10) + `"}`
	docs, problems, err := readLines(t.Context(), cfg, fits+"\n"+long+"\n"+`{"text": "c"}`+"\n"+long)
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[1].source != "f.jsonl#3" {
		t.Errorf("documents %q", docs)
	}
	want := []string{"f.jsonl:2: too large: a line may have 100 bytes", "f.jsonl:4: too large: a line may have 100 bytes"}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

func TestWithoutUserinfo(t *testing.T) {
	tests := map[string]string{
		"https://u:p@host/x":       "https://host/x",
		"https://u@host":           "https://host",
		"https://host/a@b":         "https://host/a@b",
		"me@example.org":           "me@example.org",
		"ftp://u:p%zz@host/x":      "ftp://host/x",
		"x://a:b@c@host:port/@?@#": "x://host:port/@?@#",
	}
	for in, want := range tests {
		if got := withoutUserinfo(in); got != want {
			t.Errorf("withoutUserinfo(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzReadJSONL(f *testing.F) {
	f.Add(`{"text": "a", "id": 1}` + "\n{\n\n" + `{"text": "\ud83d\ude00"}`)
	f.Add("\ufeff{\"text\":\"\\ud800\"}\r\n\xff")
	f.Fuzz(func(t *testing.T, content string) {
		cfg := NewDefaultConfig()
		cfg.MaxRecordBytes = 256
		docs, problems, err := readLines(t.Context(), cfg, content)
		if err != nil {
			t.Fatal(err)
		}
		if len(docs)+len(problems) == 0 {
			t.Fatal("neither a document nor a problem")
		}
		for _, d := range docs {
			if d.text == "" || d.title == "" && normalise(cleanTitle(d.text)) != "" || !utf8.ValidString(d.text+d.title+d.source) {
				t.Fatalf("document %q", d)
			}
		}
	})
}
