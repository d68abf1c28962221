package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/secret"
)

// set parses text, as a flag or variable gives it, into the field.
func (f Field) set(c *Config, text string) error {
	v := f.value(c)
	switch f.kind {
	case kindString:
		v.SetString(text)
	case kindSecret:
		*v.Addr().Interface().(*secret.Text) = secret.New(text)
	case kindInt, kindUint, kindFloat, kindBool:
		return f.setScalar(c, text)
	case kindList:
		*v.Addr().Interface().(*[]string) = splitList(text)
	case kindJSON:
		canonical, err := canonicalJSON(text)
		if err != nil {
			return err
		}
		v.SetString(canonical)
	default:
		return fmt.Errorf("setting of unknown kind %d", f.kind)
	}
	return nil
}

func (f Field) setScalar(c *Config, text string) error {
	v, text := f.value(c), strings.TrimSpace(text)
	wrong := fmt.Errorf("%q is not a %s", text, f.kind)
	if f.kind == kindBool {
		wrong = fmt.Errorf("%q is neither true nor false", text)
	}
	switch f.kind {
	case kindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return wrong
		}
		v.SetInt(n)
	case kindUint:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return wrong
		}
		v.SetUint(n)
	case kindFloat:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return wrong
		}
		v.SetFloat(x)
	default:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wrong
		}
		v.SetBool(b)
	}
	return nil
}

// splitList reads a list from one line: items separated by commas, blanks around them ignored, no empty items.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// canonicalJSON checks that text is one JSON object and returns it with sorted keys and no blanks.
func canonicalJSON(text string) (string, error) {
	var object map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&object); err != nil || object == nil || dec.More() {
		return "", errors.New("not a JSON object")
	}
	out, err := json.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("write JSON object: %w", err)
	}
	return string(out), nil
}

// Text is the field's value as it would be given in a variable, secrets masked.
func (f Field) Text(c Config) string {
	v := f.value(&c)
	switch f.kind {
	case kindList:
		return strings.Join(v.Interface().([]string), ",")
	case kindFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	default:
		return fmt.Sprint(v.Interface())
	}
}

// Value is the field's value for a JSON document, secrets masked.
func (f Field) Value(c Config) any {
	v := f.value(&c).Interface()
	switch v := v.(type) {
	case secret.Text:
		return v.String()
	case []string:
		if v == nil {
			return []string{}
		}
	}
	if f.kind == kindJSON {
		return json.RawMessage(v.(string))
	}
	return v
}
