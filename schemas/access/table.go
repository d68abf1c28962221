package access

import (
	"fmt"
	"strings"
)

// Table is the roles as a table in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| user | for | reads | writes | groups |\n|---|---|---|---|---|\n")
	for _, r := range Roles() {
		groups := append(list(r.Groups, "*"), seen(r)...)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Name, r.Does, topicList(r.Reads), topicList(r.Writes), strings.Join(groups, ", "))
	}
	return b.String()
}

func seen(r Role) []string {
	if len(r.Groups) > 0 {
		return nil
	}
	var out []string
	for _, w := range list(r.Watches, "*") {
		out = append(out, w+" (to look at)")
	}
	return out
}

func topicList(names []string) string {
	if len(names) == len(every()) {
		return "all"
	}
	return strings.Join(list(names, ""), ", ")
}

// list is the names in the type of code.
func list(names []string, tail string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + tail + "`"
	}
	return out
}

// Script is the commands that give every role's user, of the role's name, its rights.
func Script(prefix string) string {
	var b strings.Builder
	for _, r := range Roles() {
		fmt.Fprintf(&b, "# %s\n", r.Name)
		for _, command := range Commands(r.Name, r.Rules(prefix)) {
			b.WriteString(command + "\n")
		}
	}
	return b.String()
}
