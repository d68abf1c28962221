package audit

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/google/uuid"
)

// BenchmarkLedger enters ten rows for each of 100,000 keys on both sides. bytes/key is what the ledger keeps.
func BenchmarkLedger(b *testing.B) {
	const keys, rows = 100_000, 10
	row := make([]byte, 600)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		l, err := NewLedger(Settings{})
		if err != nil {
			b.Fatal(err)
		}
		count := &Count{}
		for _, log := range []bool{true, false} {
			for k := range keys {
				key := Key{Run: uuid.Max, Last: uuid.UUID(binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(k)))}
				for r := range rows {
					binary.BigEndian.PutUint32(row, uint32(k*rows+r))
					l.enter(key, row, log, count)
				}
			}
		}
		if n := len(l.Differing()); n != 0 {
			b.Fatalf("%d keys differ", n)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(l)
		l.Release()
	}
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/keys, "bytes/key")
	b.ReportMetric(2*keys*rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
