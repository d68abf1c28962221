package embedded_test

import (
	"path/filepath"
	"testing"

	"github.com/seed256f7767/spade/internal/embedded"
)

// BenchmarkWarmStart is the time from nothing running to a usable Kafka.
func BenchmarkWarmStart(b *testing.B) {
	cfg := embedded.Config{Dir: filepath.Join(b.TempDir(), "data"), Linger: linger}
	for b.Loop() {
		l, err := embedded.Connect(b.Context(), cfg, light)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		for alive(l.SupervisorPID()) {
		}
		b.StartTimer()
	}
}
