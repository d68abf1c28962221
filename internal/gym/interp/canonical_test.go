package interp

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// The vectors come from Python's json, see schemas/vectors/canonical.py.
func TestCanonicalVectors(t *testing.T) {
	data, err := os.ReadFile("../../../schemas/vectors/canonical.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Text      string
		Canonical *string
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 500 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		value, err := Decode(v.Text)
		if v.Canonical == nil {
			if err == nil {
				t.Errorf("%.60q is read as %v", v.Text, value)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.60q: %v", v.Text, err)
			continue
		}
		got, err := Canonical(value, 1<<20)
		if err != nil || got != *v.Canonical {
			t.Errorf("%.60q: got %.60q, %v; want %.60q", v.Text, got, err, *v.Canonical)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	inItself := starlark.NewList(nil)
	if err := inItself.Append(inItself); err != nil {
		t.Fatal(err)
	}
	numbered := starlark.NewDict(1)
	if err := numbered.SetKey(starlark.MakeInt(1), starlark.None); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		value starlark.Value
		want  error
	}{
		"NaN":            {starlark.Float(math.NaN()), errNotJSON},
		"infinity":       {starlark.Float(math.Inf(-1)), errNotJSON},
		"in itself":      {inItself, errNotJSON},
		"number as key":  {numbered, errNotJSON},
		"function":       {starlark.Universe["len"], errNotJSON},
		"bytes":          {starlark.Bytes("a"), errNotJSON},
		"cut character":  {starlark.String("\xc3"), errEncoding},
		"surrogate":      {starlark.String("\xed\xa0\x80"), errEncoding},
		"long text":      {starlark.String(strings.Repeat("x", 101)), errTooLarge},
		"many elements":  {starlark.Tuple(make([]starlark.Value, 0)), nil},
		"a long integer": {starlark.MakeInt(1).Lsh(4000), errNotJSON},
	} {
		_, err := Canonical(tt.value, 100)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := make([]starlark.Value, 1000)
	for i := range many {
		many[i] = starlark.MakeInt(i)
	}
	if _, err := Canonical(starlark.NewList(many), 100); !errors.Is(err, errTooLarge) {
		t.Errorf("many elements: %v", err)
	}
}

// Whatever is read and written canonically reads back as the same text, and the copy that a state is passed on as is what
// reading would give.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.5,"é"],"a":null}`, "[[[]]]", "-0.0", `"\ud83d\ude00"`, "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Decode(s)
		if err != nil {
			return
		}
		c := canonicalizer{limit: 1 << 20, copying: true}
		copied, err := c.value(v, 0)
		if err != nil {
			if errors.Is(err, errTooLarge) {
				return
			}
			t.Fatalf("%q is read and cannot be written: %v", s, err)
		}
		text := string(c.buf)
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q becomes %q", s, text)
		}
		again, err := Decode(text)
		if err != nil {
			t.Fatalf("%q cannot be read back: %v", text, err)
		}
		for name, w := range map[string]starlark.Value{"read back": again, "copy": copied} {
			if got, err := Canonical(w, 1<<20); err != nil || got != text {
				t.Fatalf("%s of %q is %q, %v", name, text, got, err)
			}
			if w.String() != again.String() {
				t.Fatalf("the %s of %q is %s, want %s", name, text, w, again)
			}
		}
	})
}
