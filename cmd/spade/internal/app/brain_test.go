package app

import (
	"context"
	"errors"
	"testing"

	"github.com/seed256f7767/spade/plugins/host"
)

// A call that another call's revival cuts off goes to the new plugin.
func TestACallThatARevivalEndsIsMadeAgain(t *testing.T) {
	crashed, revived := new(host.Plugin), new(host.Plugin)
	b := &brain{plugin: crashed}
	var asked []*host.Plugin
	err := b.retry(t.Context(), func(p *host.Plugin) error {
		asked = append(asked, p)
		if p == revived {
			return nil
		}
		// Another call saw the crash, and replaces the plugin while this one still waits.
		b.mu.Lock()
		b.plugin = revived
		b.mu.Unlock()
		return context.Canceled
	})
	if err != nil || len(asked) != 2 {
		t.Errorf("asked %d plugins: %v", len(asked), err)
	}
}

func TestACallsOwnErrorIsReturned(t *testing.T) {
	b := &brain{plugin: new(host.Plugin)}
	own, calls := errors.New("invalid"), 0
	err := b.retry(t.Context(), func(*host.Plugin) error {
		calls++
		return own
	})
	if !errors.Is(err, own) || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
}
