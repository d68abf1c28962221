package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/access"
	"github.com/seed256f7767/spade/test/kafka/broker"
)

// The documented ACLs suffice on Kafka's own authorizer, and hold.
func TestARoleMayDoWhatItNeedsAndNothingElse(t *testing.T) {
	cl := cluster(t)
	cfg := config(cl)
	allow(t, cl, cfg.Prefix)
	bustest.CheckRoles(t, client(t, cfg), func(t *testing.T, role string) *bus.Client {
		own := cfg
		own.User = role
		return client(t, own)
	})
}

// allow makes the ACLs of every role.
func allow(t *testing.T, cl *broker.Cluster, prefix string) {
	t.Helper()
	req := kmsg.NewPtrCreateACLsRequest()
	for _, r := range access.Roles() {
		for _, rule := range r.Rules(prefix) {
			for _, op := range rule.Operations {
				acl := kmsg.NewCreateACLsRequestCreation()
				acl.Principal, acl.Host, acl.PermissionType = "User:"+r.Name, "*", kmsg.ACLPermissionTypeAllow
				acl.ResourceName, acl.ResourcePatternType = rule.Name, kmsg.ACLResourcePatternTypeLiteral
				if rule.Prefixed {
					acl.ResourcePatternType = kmsg.ACLResourcePatternTypePrefixed
				}
				must(t, acl.ResourceType.UnmarshalText([]byte(rule.Resource)))
				must(t, acl.Operation.UnmarshalText([]byte(op)))
				req.Creations = append(req.Creations, acl)
			}
		}
	}
	res, err := req.RequestWith(t.Context(), ask(t, cl))
	must(t, err)
	for _, r := range res.Results {
		must(t, kerr.ErrorForCode(r.ErrorCode))
	}
}
