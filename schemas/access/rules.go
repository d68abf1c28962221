package access

import (
	"fmt"
	"slices"
	"strings"
)

// Resource is what a rule is about.
type Resource string

// The resources.
const (
	Topic Resource = "topic"
	Group Resource = "group"
)

// Operation is what a rule allows, by Kafka's name.
type Operation string

// The operations.
const (
	Read            Operation = "Read"
	Write           Operation = "Write"
	Create          Operation = "Create"
	Describe        Operation = "Describe"
	DescribeConfigs Operation = "DescribeConfigs"
)

// Rule is one ACL that allows something.
type Rule struct {
	Resource Resource
	Name     string
	// Prefixed says that Name is the beginning of the names that the rule is about.
	Prefixed   bool
	Operations []Operation
}

// Rules are the ACLs of the role on a cluster where names begin with prefix; see the setting kafka.prefix.
func (r Role) Rules(prefix string) []Rule {
	look := Rule{Resource: Topic, Name: prefix + "spade.", Prefixed: true, Operations: []Operation{Describe, DescribeConfigs}}
	if r.Creates {
		look.Operations = append(look.Operations, Create)
	}
	readsAll, writesAll := len(r.Reads) == len(every()), len(r.Writes) == len(every())
	if readsAll {
		look.Operations = append(look.Operations, Read)
	}
	if writesAll {
		look.Operations = append(look.Operations, Write)
	}
	rules := []Rule{look}
	for _, name := range every() {
		var ops []Operation
		if slices.Contains(r.Reads, name) && !readsAll {
			ops = append(ops, Read)
		}
		if slices.Contains(r.Writes, name) && !writesAll {
			ops = append(ops, Write)
		}
		if len(ops) > 0 {
			rules = append(rules, Rule{Resource: Topic, Name: prefix + name, Operations: ops})
		}
	}
	for _, name := range r.Groups {
		rules = append(rules, Rule{Resource: Group, Name: prefix + name, Prefixed: true, Operations: []Operation{Read}})
	}
	for _, name := range r.Watches {
		if !slices.Contains(r.Groups, name) { // who may read a group may describe it
			rules = append(rules, Rule{Resource: Group, Name: prefix + name, Prefixed: true, Operations: []Operation{Describe}})
		}
	}
	return rules
}

// Commands are calls of Kafka's kafka-acls.sh that make the rules for a user, without how the cluster is reached. Rules that
// allow the same share a call.
func Commands(user string, rules []Rule) []string {
	var heads []string
	names := map[string][]string{}
	for _, r := range rules {
		var b strings.Builder
		fmt.Fprintf(&b, "kafka-acls.sh --add --allow-principal User:%s", user)
		for _, op := range r.Operations {
			fmt.Fprintf(&b, " --operation %s", op)
		}
		if r.Prefixed {
			b.WriteString(" --resource-pattern-type prefixed")
		}
		head := b.String()
		if names[head] == nil {
			heads = append(heads, head)
		}
		names[head] = append(names[head], fmt.Sprintf(" --%s %s", r.Resource, r.Name))
	}
	for i, head := range heads {
		heads[i] = head + strings.Join(names[head], "")
	}
	return heads
}
