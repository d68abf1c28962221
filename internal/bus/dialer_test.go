package bus

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestAddressesArePassedOverForOthersOnly: when no broker answers, none is at fault, and all of them are asked again at once.
func TestAddressesArePassedOverForOthersOnly(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	addr := l.Addr().String()
	refused := func(d *dialer) bool {
		t.Helper()
		conn, err := d.DialContext(t.Context(), "tcp", addr)
		if err == nil {
			err = conn.Close()
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		return err != nil
	}
	d := newDialer(time.Second, []string{addr, "b:9092", "c:9092"})
	d.patience = time.Hour
	for i, silent := range d.first {
		d.noteSilent(silent)
		if last := i == len(d.first)-1; refused(d) == last {
			t.Errorf("%d of %d are silent: passed over %v", i+1, len(d.first), !last)
		}
	}
	d.noteSilent(addr)
	if !refused(d) {
		t.Error("afterwards one is no longer passed over")
	}
	alone := newDialer(time.Second, []string{addr})
	alone.patience = time.Hour
	if alone.noteSilent(addr); refused(alone) {
		t.Error("the only one is passed over")
	}
}

// TestAMachineThatIsGoneLeavesTimeForTheOthers: nothing answers at its address, not even that nobody listens.
func TestAMachineThatIsGoneLeavesTimeForTheOthers(t *testing.T) {
	d := newDialer(time.Second, []string{"gone:9092", "there:9092"})
	began := time.Now()
	ctx, cancel := context.WithDeadline(t.Context(), began.Add(time.Second))
	defer cancel()
	silent := errors.New("nothing came back")
	d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		if end, ok := ctx.Deadline(); !ok || end.After(began.Add(time.Second/2)) {
			t.Errorf("it is waited for until %s after the request began, which has a second", end.Sub(began))
		}
		return silent
	}
	if _, err := d.DialContext(ctx, "tcp", "127.0.0.1:9"); !errors.Is(err, silent) {
		t.Error(err)
	}
}
