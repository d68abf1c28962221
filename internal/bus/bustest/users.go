package bustest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/access"
)

// Guarded is a broker that holds its users to their ACLs.
type Guarded struct {
	Log // of the superuser
}

// StartGuarded runs a broker in memory with a user for each role, who may do what the role needs.
func StartGuarded(tb testing.TB) *Guarded {
	tb.Helper()
	opts := []kfake.Opt{
		kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("SCRAM-SHA-512", user, password),
	}
	for _, r := range access.Roles() {
		opts = append(opts, kfake.User("SCRAM-SHA-512", r.Name, password, acls(r)...))
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return &Guarded{Log{times(bus.Config{
		Brokers: c.ListenAddrs(), Mechanism: "SCRAM-SHA-512", User: user, Password: secret.New(password),
	}, leastSession)}}
}

// As is a client of a role's user.
func (g *Guarded) As(tb testing.TB, role string) *bus.Client {
	tb.Helper()
	cfg := g.Config()
	cfg.User = role
	return g.ClientWith(tb, cfg, bus.Settings{})
}

func acls(r access.Role) []kfake.ACL {
	resources := map[access.Resource]kmsg.ACLResourceType{
		access.Topic: kmsg.ACLResourceTypeTopic, access.Group: kmsg.ACLResourceTypeGroup,
	}
	operations := map[access.Operation]kmsg.ACLOperation{
		access.Read: kmsg.ACLOperationRead, access.Write: kmsg.ACLOperationWrite, access.Create: kmsg.ACLOperationCreate,
		access.Describe: kmsg.ACLOperationDescribe, access.DescribeConfigs: kmsg.ACLOperationDescribeConfigs,
	}
	var out []kfake.ACL
	for _, rule := range r.Rules("") {
		pattern := kmsg.ACLResourcePatternTypeLiteral
		if rule.Prefixed {
			pattern = kmsg.ACLResourcePatternTypePrefixed
		}
		for _, op := range rule.Operations {
			out = append(out, kfake.ACL{
				Resource: resources[rule.Resource], Name: rule.Name, Pattern: pattern, Operation: operations[op], Allow: true,
			})
		}
	}
	return out
}
