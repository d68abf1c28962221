package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// DropClient removes the group members of a client that has ended. The broker
// would otherwise keep a killed process's partitions until its session times
// out, and the next process would wait that long.
func (s *Server) DropClient(ctx context.Context, clientID string) error {
	auth := scram.Auth{User: s.cfg.User, Pass: s.cfg.Password.Reveal()}
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.Addr()), kgo.SASL(auth.AsSha256Mechanism()))
	if err != nil {
		return fmt.Errorf("drop client %s: %w", clientID, err)
	}
	defer cl.Close()
	groups, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("drop client %s: list groups: %w", clientID, err)
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	for _, g := range groups.Groups {
		describe.Groups = append(describe.Groups, g.Group)
	}
	if len(describe.Groups) == 0 {
		return nil
	}
	described, err := describe.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("drop client %s: describe groups: %w", clientID, err)
	}
	var errs []error
	for _, g := range described.Groups {
		errs = append(errs, dropMembers(ctx, cl, g, clientID))
	}
	return errors.Join(errs...)
}

func dropMembers(ctx context.Context, cl *kgo.Client, g kmsg.DescribeGroupsResponseGroup, clientID string) error {
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = g.Group
	for _, m := range g.Members {
		if m.ClientID == clientID {
			member := kmsg.NewLeaveGroupRequestMember()
			member.MemberID = m.MemberID
			leave.Members = append(leave.Members, member)
		}
	}
	if len(leave.Members) == 0 {
		return nil
	}
	res, err := leave.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(res.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("drop client %s from group %s: %w", clientID, g.Group, err)
	}
	return nil
}
