package tables_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

func FuzzKeyIDs(f *testing.F) {
	a, b := uuid.NewSHA1(uuid.Nil, []byte("a")), uuid.NewSHA1(uuid.Nil, []byte("b"))
	for _, key := range []string{"", "/", a.String(), topics.EnvKey(a, b), "spade.rollouts/3", a.String() + "/", "urn:uuid:" + a.String()} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		run, last, err := tables.KeyIDs(key)
		switch {
		case err != nil:
		case run == uuid.Nil:
			if len(key) != 36 && len(key) != 73 {
				t.Errorf("%q is no key of ids", key)
			}
		default:
			if again, last2, err := tables.KeyIDs(topics.EnvKey(run, last)); err != nil || again != run || last2 != last {
				t.Errorf("%q: %s/%s", key, run, last)
			}
		}
	})
}
