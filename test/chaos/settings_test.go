//go:build linux

package chaos

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// settings are what the environment says of a chaos run.
type settings struct {
	target string // of make, which runs the test
	rounds int
	seed   uint64
	only   []string // faults to cause; empty means all
	bin    string   // folder of the built programs; empty: they are built
	broker string   // shell command that kills and restarts a broker that is not the world's own
	keep   string   // folder of what a failure leaves behind
	roomy  bool     // the data folder has all the room there is: no fault fills the disk
}

func readSettings(t *testing.T, target, variable string) settings {
	t.Helper()
	s := settings{
		target: target,
		rounds: number(t, variable, 0), seed: uint64(number(t, "SPADE_TEST_CHAOS_SEED", int(time.Now().Unix()))),
		bin: os.Getenv("SPADE_TEST_CHAOS_BIN"), broker: os.Getenv("SPADE_TEST_CHAOS_BROKER"), keep: os.Getenv("SPADE_TEST_CHAOS_KEEP"),
	}
	if s.rounds == 0 {
		t.Skipf("%s is not set; make chaos sets it", variable)
	}
	if names := os.Getenv("SPADE_TEST_CHAOS_FAULTS"); names != "" {
		s.only = strings.Split(names, ",")
	}
	return s
}

// wants reports whether a fault is to be caused.
func (s settings) wants(name string) bool { return len(s.only) == 0 || slices.Contains(s.only, name) }

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is %q: %v", name, v, err)
	}
	return n
}
