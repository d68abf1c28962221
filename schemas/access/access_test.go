package access_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/schemas/access"
)

var update = flag.Bool("update", false, "write the table and the commands into the page")

const page = "../../docs/kafka.md"

// The page has what the code says, between marks.
func TestThePageListsTheRoles(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, want := range map[string]string{
		"roles": "\n" + access.Table(), "acls": "\n```sh\n" + access.Script("") + "```\n",
	} {
		begin, end := "<!-- "+name+" -->", "<!-- /"+name+" -->"
		head, rest, found := strings.Cut(text, begin)
		got, tail, ended := strings.Cut(rest, end)
		switch {
		case !found || !ended:
			t.Errorf("%s: no place marked %s", page, name)
		case *update:
			text = head + begin + want + end + tail
		case got != want:
			t.Errorf("%s: %s differ from the code: go test ./schemas/access -update", page, name)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A prefix stands before every name, so that the users of one installation reach nothing of another.
func TestEveryRuleHasThePrefix(t *testing.T) {
	for _, r := range access.Roles() {
		for _, rule := range r.Rules("team.") {
			if !strings.HasPrefix(rule.Name, "team.spade.") {
				t.Errorf("%s: %s %s", r.Name, rule.Resource, rule.Name)
			}
		}
	}
}
