package training

import (
	"errors"
	"fmt"
)

// ErrInvalidRow is the class of rows that no batch may hold.
var ErrInvalidRow = errors.New("invalid training row")

func (r *Row) check() error {
	if r.Role != RoleAgent && r.Role != RoleDesigner {
		return fmt.Errorf("%w: role %q", ErrInvalidRow, r.Role)
	}
	if n := len(r.Logprobs); n != 0 && n != len(r.TokenIDs) {
		return fmt.Errorf("%w: %d logprobs for %d tokens", ErrInvalidRow, n, len(r.TokenIDs))
	}
	if n := len(r.LossMask); n != 0 && n != len(r.TokenIDs) {
		return fmt.Errorf("%w: loss mask of %d for %d tokens", ErrInvalidRow, n, len(r.TokenIDs))
	}
	if !finite(r.Reward) || !finite(r.Advantage) {
		return fmt.Errorf("%w: reward %v and advantage %v must be finite", ErrInvalidRow, r.Reward, r.Advantage)
	}
	if n := r.size(); n > maxRowBytes {
		return fmt.Errorf("%w: %d bytes, allowed %d", ErrInvalidRow, n, maxRowBytes)
	}
	return nil
}

func finite(v float64) bool { return v-v == 0 }

// size estimates the bytes that the row adds to a batch: values and offsets.
func (r *Row) size() int {
	n := 96 + len(r.Role) + len(r.RolloutID) + len(r.EnvID) + len(r.GroupID) + len(r.Arm) + len(r.Completion)
	for i := range r.Messages {
		n += 8 + len(r.Messages[i].Role) + len(r.Messages[i].Content)
	}
	for _, c := range r.Choices {
		n += 4 + len(c)
	}
	return n + 8*len(r.TokenIDs) + len(r.LossMask)
}
