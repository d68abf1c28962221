package olaptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// CPUSeconds is the processor time that this process and its running children have used.
func CPUSeconds(tb testing.TB) float64 {
	tb.Helper()
	var ticks float64
	self := fmt.Sprint(os.Getpid())
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		if len(f) < 13 || (f[1] != self && filepath.Base(filepath.Dir(path)) != self) {
			continue
		}
		for _, v := range f[11:13] {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				tb.Fatal(err)
			}
			ticks += n
		}
	}
	return ticks / 100
}
