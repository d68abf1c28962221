package screen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONKeepsWhatItSaysAndHidesNothing(t *testing.T) {
	text := "a\u202egnirts\u200b\u0085\u007f \U000e0041 é 😀 👩\u200d🚀 \u2028\n\x1b[2J\""
	var out bytes.Buffer
	enc := json.NewEncoder(JSONWriter(&out))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{"text": text}); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSuffix(out.String(), "\n"); Escape(got) != got {
		t.Errorf("%q reaches the terminal", got)
	}
	for _, kept := range []string{"é 😀 👩\u200d🚀", `\u202e`, `\u007f`, `\udb40\udc41`} {
		if !strings.Contains(out.String(), kept) {
			t.Errorf("%q is not in %s", kept, out.String())
		}
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != text {
		t.Errorf("%v: read back as %q", err, back["text"])
	}
}
