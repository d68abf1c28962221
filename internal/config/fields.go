package config

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/seed256f7767/spade/internal/secret"
)

// Field is one setting.
type Field struct {
	Key    string // "run.env_seeds"
	Env    string // "SPADE_RUN_ENV_SEEDS"
	Flag   string // "env-seeds": the key without "run.", in dashes, unless its field names another
	Help   string
	Secret bool
	kind   kind
	index  []int // of the field in Config
}

type kind int

const (
	kindString kind = iota
	kindInt
	kindUint
	kindFloat
	kindBool
	kindList
	kindSecret
	kindJSON
)

// String names the kind as it is shown in messages and help.
func (k kind) String() string {
	return [...]string{"text", "whole number", "whole number from 0", "number", "true or false", "list", "text", "JSON object"}[k]
}

// EnvPrefix begins the name of every variable that is a setting.
const EnvPrefix = "SPADE_"

// Fields lists every setting in the order of the Config struct.
func Fields() []Field {
	return fieldsOf(reflect.TypeOf(Config{}), "", nil)
}

func fieldsOf(t reflect.Type, prefix string, index []int) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("key")
		at := append(index[:len(index):len(index)], i)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeOf(secret.Text{}) {
			all = append(all, fieldsOf(f.Type, key+".", at)...)
			continue
		}
		k := kindOf(f)
		all = append(all, Field{
			Key: key, Env: EnvOf(key), Flag: cmp.Or(f.Tag.Get("flag"), flagOf(key)), Help: f.Tag.Get("help"),
			Secret: k == kindSecret, kind: k, index: at,
		})
	}
	return all
}

func kindOf(f reflect.StructField) kind {
	if f.Tag.Get("kind") == "json" {
		return kindJSON
	}
	switch f.Type.Kind() {
	case reflect.Int:
		return kindInt
	case reflect.Uint64:
		return kindUint
	case reflect.Float64:
		return kindFloat
	case reflect.Bool:
		return kindBool
	case reflect.Slice:
		return kindList
	case reflect.Struct:
		return kindSecret
	default:
		return kindString
	}
}

// EnvOf is the variable of a key.
func EnvOf(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func flagOf(key string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(strings.TrimPrefix(key, "run."))
}

// value is the field of a Config that f describes.
func (f Field) value(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(f.index)
}

// IsSemantic reports whether the setting belongs to the half that determines a run's payloads.
func (f Field) IsSemantic() bool { return strings.HasPrefix(f.Key, "run.") }
