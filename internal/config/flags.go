package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// BindFlags defines a flag for each setting that pick chooses. Their values reach Load through ChangedFlags.
func BindFlags(set *pflag.FlagSet, pick func(Field) bool) {
	defaults := NewDefaultConfig()
	for _, f := range Fields() {
		if f.Secret || !pick(f) {
			continue // a secret on a command line is seen by every user of the machine
		}
		v := &flagValue{field: f, text: f.Text(defaults)}
		flag := set.VarPF(v, f.Flag, "", f.Help)
		flag.Annotations = map[string][]string{annotation: {f.Key}}
		if f.kind == kindBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// annotation marks the flags that BindFlags defined with their setting's key.
const annotation = "spade_setting"

// ChangedFlags is the text of every flag that was given, by key.
func ChangedFlags(set *pflag.FlagSet) map[string]string {
	given := map[string]string{}
	set.Visit(func(f *pflag.Flag) {
		if key := f.Annotations[annotation]; len(key) == 1 {
			given[key[0]] = f.Value.String()
		}
	})
	return given
}

// flagValue is a flag that checks its text and keeps it.
type flagValue struct {
	field Field
	text  string
	given bool
}

// String is the flag's text.
func (v *flagValue) String() string { return v.text }

// Set takes the flag's text. A list may be given in several flags.
func (v *flagValue) Set(text string) error {
	if err := v.field.set(new(Config), text); err != nil {
		return err
	}
	if v.field.kind == kindList && v.given {
		text = strings.Join([]string{v.text, text}, ",")
	}
	v.text, v.given = text, true
	return nil
}

// Type is what help shows after the flag's name.
func (v *flagValue) Type() string {
	return [...]string{"text", "int", "uint", "number", "bool", "list", "text", "json"}[v.field.kind]
}
