package fetchwire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/seed256f7767/spade/internal/bus/fetchwire"
)

// written is record batches as kafka-go writes them, one for each list.
func written(tb testing.TB, codec kafka.Compression, base int64, batches ...[]protocol.Record) []byte {
	tb.Helper()
	var data []byte
	for _, records := range batches {
		set := protocol.RecordSet{Version: 2, Attributes: protocol.Attributes(codec), Records: protocol.NewRecordReader(records...)}
		var b bytes.Buffer
		if _, err := set.WriteTo(&b); err != nil {
			tb.Fatal(err)
		}
		batch := b.Bytes()[4:]
		binary.BigEndian.PutUint64(batch, uint64(base)) // as a broker does
		base += int64(len(records))
		data = append(data, batch...)
	}
	return data
}

func framed(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// seal makes a changed batch's checksum right again.
func seal(batch []byte) []byte {
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	return batch
}

// read is what Each passes on, as text.
func read(tb testing.TB, data []byte) (records []string, next int64, err error) {
	tb.Helper()
	var b fetchwire.Batches
	if n, err := b.ReadFrom(bytes.NewReader(framed(data))); err != nil || n != int64(len(data)+4) {
		tb.Fatalf("%d bytes of %d: %v", n, len(data)+4, err)
	}
	defer b.Release()
	next, err = b.Each(func(r *fetchwire.Record) error {
		text := fmt.Sprintf("%d %s %s %s", r.Offset, r.Time.Format(time.RFC3339Nano), null(r.Key), null(r.Value))
		for _, h := range r.Headers {
			text += fmt.Sprintf(" %s=%s", h.Key, null(h.Value))
		}
		records = append(records, text)
		return nil
	})
	return records, next, err
}

func null(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func record(at time.Time, key, value []byte, headers ...protocol.Header) protocol.Record {
	return protocol.Record{Time: at, Key: protocol.NewBytes(key), Value: protocol.NewBytes(value), Headers: headers}
}

func sample() []protocol.Record {
	return []protocol.Record{
		record(noon, []byte("k"), []byte("v"), protocol.Header{Key: "ce_id", Value: []byte("1")}, protocol.Header{Key: "none"}),
		record(noon.Add(time.Hour), nil, []byte(strings.Repeat("long ", 1000))),
		record(noon.Add(-time.Second), []byte{}, []byte{}),
		record(noon, []byte("deleted"), nil),
	}
}

func TestReadsWhatIsWritten(t *testing.T) {
	long := fmt.Sprintf("%q", strings.Repeat("long ", 1000))
	want := []string{
		`7 2026-11-30T12:00:00Z "k" "v" ce_id="1" none=null`,
		`8 2026-11-30T13:00:00Z null ` + long,
		`9 2026-11-30T11:59:59Z "" ""`,
		`10 2026-11-30T12:00:00Z "deleted" null`,
		`11 2026-11-30T12:00:00Z "second" "batch"`,
	}
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		data := written(t, codec, 7, sample(), []protocol.Record{record(noon, []byte("second"), []byte("batch"))})
		got, next, err := read(t, data)
		if err != nil || next != 12 || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%v: next %d, %v\n%.2000s", codec, next, err, strings.Join(got, "\n"))
		}
	}
}

// A broker ends its answer where it is long enough, in the middle of a batch.
func TestABatchThatIsCutOffIsLeftOut(t *testing.T) {
	first := written(t, 0, 0, sample())
	data := append(first[:len(first):len(first)], written(t, 0, 4, sample())...)
	for n := len(first); n < len(data); n += 7 {
		got, next, err := read(t, data[:n])
		if err != nil || next != 4 || len(got) != 4 {
			t.Fatalf("%d of %d bytes: %d records, next %d, %v", n, len(data), len(got), next, err)
		}
	}
	if got, next, err := read(t, first[:40]); err != nil || next != -1 || got != nil {
		t.Errorf("nothing but a piece: %v, next %d, %v", got, next, err)
	}
	if got, next, err := read(t, nil); err != nil || next != -1 || got != nil {
		t.Errorf("nothing: %v, next %d, %v", got, next, err)
	}
}

// Marks that end transactions, and batches that were compacted until nothing was left, move the position and are no records.
func TestBatchesWithoutRecords(t *testing.T) {
	control := written(t, 0, 5, sample())
	control[22] |= 0x20
	empty := written(t, 0, 5, sample())[:61]
	binary.BigEndian.PutUint32(empty[8:], 61-12)
	binary.BigEndian.PutUint32(empty[57:], 0)
	for name, b := range map[string][]byte{"control": control, "compacted": empty} {
		if got, next, err := read(t, seal(b)); err != nil || next != 9 || got != nil {
			t.Errorf("%s: %v, next %d, %v", name, got, next, err)
		}
	}
}

func TestTheBrokersTime(t *testing.T) {
	b := written(t, 0, 0, sample())
	b[22] |= 0x08
	binary.BigEndian.PutUint64(b[35:], uint64(noon.Add(time.Minute).UnixMilli()))
	got, _, err := read(t, seal(b))
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	for _, r := range got {
		if !strings.Contains(r, " 2026-11-30T12:01:00Z ") {
			t.Error(r)
		}
	}
}

func TestWhatIsNoBatch(t *testing.T) {
	change := func(at int, to ...byte) []byte {
		b := written(t, 0, 0, sample())
		copy(b[at:], to)
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"checksum":        {change(70, 0xff), fetchwire.ErrChecksum},
		"old format":      {seal(change(16, 1)), fetchwire.ErrBatch},
		"negative length": {change(8, 0xff), fetchwire.ErrBatch},
		"short":           {append(change(8, 0, 0, 0, 20)[:32], make([]byte, 10)...), fetchwire.ErrBatch},
	} {
		if _, _, err := read(t, c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What somebody wrote into a batch instead of records stops nobody: it is passed on as something that is no event, and what comes after
// it is read.
func TestRecordsThatAreNone(t *testing.T) {
	change := func(at int, to ...byte) []byte {
		b := written(t, 0, 0, sample())
		copy(b[at:], to)
		return seal(b)
	}
	after := written(t, 0, 4, sample())
	short := written(t, kafka.Gzip, 0, sample())
	short = short[:len(short)-9] // gzip that ends early
	binary.BigEndian.PutUint32(short[8:], uint32(len(short)-12))
	for name, c := range map[string]struct {
		data  []byte
		whole int // records before the trouble
	}{
		"unknown codec":   {change(22, 7), 0},
		"not compressed":  {change(22, 1), 0},
		"gzip cut off":    {seal(short), 0},
		"more records":    {change(57, 0, 0, 0, 9), 4},
		"record length":   {change(61, 0xff, 0xff, 0x7f), 0},
		"endless varint":  {change(61, bytes.Repeat([]byte{0xff}, 12)...), 0},
		"key length":      {change(65, 0x7f), 0},
		"negative length": {change(61, 0x05), 0},
	} {
		got, next, err := read(t, append(c.data, after...))
		if err != nil || next != 8 || len(got) != c.whole+1+4 {
			t.Errorf("%s: %d records, next %d, %v", name, len(got), next, err)
			continue
		}
		want := fmt.Sprintf("%d 1970-01-01T00:00:00Z null \"", c.whole)
		if bad := got[c.whole]; !strings.HasPrefix(bad, want) {
			t.Errorf("%s: %.100s", name, bad)
		}
	}
}

// What was whole before is passed on, so that its reader gets to where the trouble is.
func TestWhatStandsBeforeTheTrouble(t *testing.T) {
	data := written(t, 0, 0, sample(), sample())
	data[len(data)-1]++
	got, next, err := read(t, data)
	if len(got) != 4 || next != 4 || !errors.Is(err, fetchwire.ErrChecksum) {
		t.Errorf("%d records, next %d, %v", len(got), next, err)
	}
}

// A few bytes that unfold to gigabytes do not take them.
func TestABombIsRefused(t *testing.T) {
	big := record(noon, nil, make([]byte, 300<<20))
	data := written(t, kafka.Zstd, 0, []protocol.Record{big})
	got, next, err := read(t, data)
	if err != nil || next != 1 || len(got) != 1 || len(got[0]) > 64<<10 || len(data) > 1<<20 {
		t.Errorf("%d bytes: %d records, next %d, %v", len(data), len(got), next, err)
	}
}

func TestTheFunctionsErrorEndsIt(t *testing.T) {
	var b fetchwire.Batches
	if _, err := b.ReadFrom(bytes.NewReader(framed(written(t, 0, 0, sample())))); err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	stop, calls := errors.New("stop"), 0
	_, err := b.Each(func(*fetchwire.Record) error { calls++; return stop })
	if calls != 1 || err != stop { //nolint:errorlint // as it is
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestAnAnswerThatEndsEarly(t *testing.T) {
	data := framed(written(t, 0, 0, sample()))
	for _, n := range []int{0, 3, 4, len(data) - 1} {
		var b fetchwire.Batches
		if _, err := b.ReadFrom(bytes.NewReader(data[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
		b.Release()
	}
	var b fetchwire.Batches
	if n, err := b.ReadFrom(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff})); n != 4 || err != nil {
		t.Errorf("none: %d, %v", n, err)
	}
}

func TestTheLeaderIsAsked(t *testing.T) {
	cluster := protocol.Cluster{
		Brokers: map[int32]protocol.Broker{1: {ID: 1}, 2: {ID: 2}},
		Topics: map[string]protocol.Topic{"t": {Name: "t", Partitions: map[int32]protocol.Partition{
			0: {ID: 0, Leader: 1}, 1: {ID: 1, Leader: 2}, 2: {ID: 2, Leader: 3},
		}}},
	}
	if b, err := fetchwire.New("t", 1, 0, 0, 1).Broker(cluster); err != nil || b.ID != 2 {
		t.Error(b, err)
	}
	both := fetchwire.New("t", 0, 0, 0, 1)
	both.Topics[0].Partitions = append(both.Topics[0].Partitions, fetchwire.RequestPartition{Partition: 1})
	if _, err := both.Broker(cluster); err == nil {
		t.Error("partitions of two leaders in one request")
	}
	for want, r := range map[error]*fetchwire.Request{
		protocol.ErrNoTopic: fetchwire.New("u", 0, 0, 0, 1), protocol.ErrNoPartition: fetchwire.New("t", 9, 0, 0, 1),
		protocol.ErrNoLeader: fetchwire.New("t", 2, 0, 0, 1),
	} {
		if _, err := r.Broker(cluster); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// FuzzEach: nothing that a broker sends does worse than an error, and what kafka-go reads too is the same.
func FuzzEach(f *testing.F) {
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Lz4} {
		f.Add(written(f, codec, 3, sample()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = read(t, data)
		if len(data) < 61 || binary.BigEndian.Uint32(data[57:]) > 1000 { // kafka-go makes room for as many as are announced
			return
		}
		binary.BigEndian.PutUint32(data[8:], uint32(len(data)-12))
		got, _, err := read(t, seal(data))
		if err != nil {
			return
		}
		if theirs, ok := kafkaGo(data); ok && len(theirs) == len(got) && strings.Join(theirs, "\n") != strings.Join(got, "\n") {
			t.Errorf("%q\nkafka-go: %q", got, theirs)
		}
	})
}

// kafkaGo reads with kafka-go what it can; control batches, and times given by the broker, it does not treat as Kafka does.
func kafkaGo(data []byte) (records []string, ok bool) {
	defer func() { ok = ok && recover() == nil }()
	var set protocol.RecordSet
	if data[22]&0x28 != 0 {
		return nil, false
	}
	if _, err := set.ReadFrom(bytes.NewReader(framed(data))); err != nil || set.Records == nil {
		return nil, false
	}
	for {
		r, err := set.Records.ReadRecord()
		if err != nil {
			return records, errors.Is(err, io.EOF)
		}
		text := fmt.Sprintf("%d %s %s %s", r.Offset, r.Time.UTC().Format(time.RFC3339Nano), null(all(r.Key)), null(all(r.Value)))
		for _, h := range r.Headers {
			text += fmt.Sprintf(" %s=%s", h.Key, null(h.Value))
		}
		records = append(records, text)
	}
}

func all(b protocol.Bytes) []byte {
	if b == nil {
		return nil
	}
	data, _ := io.ReadAll(b)
	return data
}
