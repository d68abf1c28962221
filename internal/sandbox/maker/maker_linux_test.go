package maker

import (
	"os"
	"strings"
	"testing"
)

func TestGone(t *testing.T) {
	ours, err := Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(ours, "-")
	for thing, want := range map[string]bool{
		ours + "-1": false,
		strings.Join([]string{Prefix, parts[1], parts[2], "1", "9"}, "-"):        true, // our number, another start
		strings.Join([]string{Prefix, "1", parts[2], "1", "9"}, "-"):             false,
		strings.Join([]string{Prefix, parts[1], "99999999", "1", "9"}, "-"):      true,
		strings.Join([]string{"other", parts[1], "99999999", "1", "9"}, "-"):     false,
		strings.Join([]string{Prefix, parts[1], "99999999", "1", "9", "x"}, "-"): false,
		Prefix: false,
	} {
		if got := Gone(thing); got != want {
			t.Errorf("%s: %v", thing, got)
		}
	}
}
