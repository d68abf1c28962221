//go:build linux

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// tellTime is the variable that makes this test's program a clock.
const tellTime = "SPADE_TEST_CHAOS_CLOCK"

func TestMain(m *testing.M) {
	if os.Getenv(tellTime) != "" {
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			fmt.Println(time.Now().Unix(), int(time.Since(began).Seconds()))
		}
	}
	os.Exit(m.Run())
}

// The clock of a process really jumps, and its monotonic one does not.
func TestClockJump(t *testing.T) {
	if canJump != "" {
		t.Skip(canJump)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), tellTime+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()         //nolint:errcheck // it is killed
	defer cmd.Process.Kill() //nolint:errcheck // it may have ended
	lines := bufio.NewScanner(out)
	for _, by := range []time.Duration{0, 48 * time.Hour, -time.Hour} {
		if err := jump(cmd.Process.Pid, by); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("a clock that is off by %s", by), func() bool {
			var wall, mono int64
			if !lines.Scan() {
				t.Fatal("the process ended")
			}
			if _, err := fmt.Fscan(strings.NewReader(lines.Text()), &wall, &mono); err != nil || mono > 60 {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			off := wall - time.Now().Add(by).Unix()
			return off > -10 && off < 10
		})
	}
}

// jump is jumpClock, tried again while a thread is in the way.
func jump(pid int, by time.Duration) (err error) {
	for range 50 {
		if err = jumpClock(pid, by); !errors.Is(err, errBusy) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

func eventually(t *testing.T, what string, fn func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !fn(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
