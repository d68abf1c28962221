package bus

import (
	"errors"
	"net"
	"os"
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
	d := newDialer(time.Second)
	d.patience, d.first = time.Hour, []string{addr, "b:9092", "c:9092"}
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
	alone := newDialer(time.Second)
	alone.patience, alone.first = time.Hour, []string{addr}
	if alone.noteSilent(addr); refused(alone) {
		t.Error("the only one is passed over")
	}
}
