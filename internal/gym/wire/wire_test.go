package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func messages() (Load, Loaded, Reset, Started, Action, Stepped, Hello) {
	score := 0.5
	return Load{Runtime: "starlark", Code: "x = '\xff'", Limits: DefaultLimits()},
		Loaded{
			Stage: "meta", Fault: Fault{Outcome: EnvError, Cause: CauseShape, Error: "no"},
			Meta: Meta{Title: "té", Kind: "game", MaxSteps: 9, Tools: []json.RawMessage{[]byte(`{}`)}, HasSolve: true},
		},
		Reset{Episode: 7, Seed: math.MaxUint64, WantHint: true},
		Started{Episode: 7, Observation: "a\x00b", Info: "{}", Actions: []string{"", "b"}, Hint: "h", Solution: []string{"x"}, StateHash: "ff"},
		Action{Episode: 1 << 20, Text: "go"},
		Stepped{
			Episode: 1, Observation: "o", Info: "{}", Reward: -0.5, Return: math.Inf(1), Terminated: true, StateHash: "ee",
			Verify: &score, Fault: Fault{Outcome: VerifierError, Cause: CauseMismatch, Error: "e"},
		},
		Hello{Require: 3, Want: 4, MemoryBytes: 1 << 40, CPUSeconds: 5, OpenFiles: 6}
}

func TestRoundTrip(t *testing.T) {
	load, loaded, reset, started, action, stepped, hello := messages()
	var e Encoder
	e.Load(load)
	e.Loaded(loaded)
	e.Reset(reset)
	e.Started(started)
	e.Action(action)
	e.Stepped(stepped)
	e.Hello(hello)
	whole := string(e.Buf)
	d := NewDecoder(whole)
	for i, pair := range [][2]any{
		{d.Load(), load},
		{d.Loaded(), loaded},
		{d.Reset(), reset},
		{d.Started(), started},
		{d.Action(), action},
		{d.Stepped(), stepped},
		{d.Hello(), hello},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("message %d: got %+v, want %+v", i, pair[0], pair[1])
		}
	}
	if err := d.End(); err != nil {
		t.Error(err)
	}
	// Cut anywhere, it is refused and never read as something shorter.
	for n := range len(whole) {
		d := NewDecoder(whole[:n])
		d.Load()
		d.Loaded()
		d.Reset()
		d.Started()
		d.Action()
		d.Stepped()
		d.Hello()
		if err := d.End(); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	if d := NewDecoder(whole + "x"); d.End() == nil {
		t.Error("what is left over is not noticed")
	}
}

func TestDecoderRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		read func(*Decoder)
	}{
		"endless number":      {strings.Repeat("\xff", 20), func(d *Decoder) { d.Uint() }},
		"number over 64 bits": {strings.Repeat("\xff", 9) + "\x02", func(d *Decoder) { d.Uint() }},
		"large int":           {"\xff\xff\xff\xff\x7f", func(d *Decoder) { d.Int() }},
		"flag of two":         {"\x02", func(d *Decoder) { d.Bool() }},
		"long text":           {"\xff\xff\xff\xff\x0fabc", func(d *Decoder) { _ = d.String() }},
		"long list":           {"\xff\xff\xff\xff\x0f", func(d *Decoder) { d.Strings() }},
		"surrogate":           {"\x03\xed\xa0\x80", func(d *Decoder) { _ = d.String() }},
		"outcome":             {"\x04paid", func(d *Decoder) { d.fault() }},
		"platform's outcome":  {"\x09cancelled", func(d *Decoder) { d.fault() }},
		"cut number":          {"1234567", func(d *Decoder) { d.Float() }},
	} {
		d := NewDecoder(tt.body)
		tt.read(d)
		if !errors.Is(d.Err(), ErrMalformed) {
			t.Errorf("%s: %v", name, d.Err())
		}
		if d.More() {
			t.Errorf("%s: goes on after a fault", name)
		}
	}
}

func TestFrames(t *testing.T) {
	nonce := Nonce{1, 2, 3}
	bodies := []string{"", "a", strings.Repeat("b", 200_000), "c"}
	var stream bytes.Buffer
	for i, b := range bodies {
		if err := WriteFrame(&stream, nonce, Kind(i+1), []byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	whole := stream.Bytes()
	for name, r := range map[string]io.Reader{
		"at once": bytes.NewReader(whole), "by bytes": iotest.OneByteReader(bytes.NewReader(whole)),
		"with the end": iotest.DataErrReader(bytes.NewReader(whole)),
	} {
		frames := NewReader(r)
		for i, want := range bodies {
			n, kind, body, err := frames.Next()
			if err != nil || n != nonce || kind != Kind(i+1) || string(body) != want {
				t.Fatalf("%s, frame %d: %v %v %d bytes, %v", name, i, n, kind, len(body), err)
			}
		}
		if _, _, _, err := frames.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: at the end %v", name, err)
		}
	}
	for _, n := range []int{1, headerSize - 1, headerSize + headerSize, len(whole) - 1} {
		frames := NewReader(bytes.NewReader(whole[:n]))
		err := error(nil)
		for err == nil {
			_, _, _, err = frames.Next()
		}
		if !errors.Is(err, ErrCut) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	if err := WriteFrame(io.Discard, nonce, 1, make([]byte, MaxFrame+1)); !errors.Is(err, ErrFrameSize) {
		t.Errorf("a frame over the limit: %v", err)
	}
}

// A length is not believed before the bytes are there.
func TestAnnouncedLengthCostsNothing(t *testing.T) {
	header := AppendHeader(nil, Nonce{}, KindLast)
	header[0], header[1] = 0x03, 0xff // 67 million bytes, just below the limit
	data := append(header, make([]byte, 100_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, _, err := NewReader(bytes.NewReader(data)).Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrCut) {
		t.Errorf("error is %v", err)
	}
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 1<<20 {
		t.Errorf("%d bytes were allocated", cost)
	}
	header[0] = 0xff
	if _, _, _, err := NewReader(bytes.NewReader(header)).Next(); !errors.Is(err, ErrFrameSize) {
		t.Errorf("error is %v", err)
	}
}

func FuzzReader(f *testing.F) {
	var stream bytes.Buffer
	if err := WriteFrame(&stream, Nonce{1}, KindLast, []byte("body")); err != nil {
		f.Fatal(err)
	}
	f.Add(stream.Bytes())
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		frames := NewReader(bytes.NewReader(data))
		var again bytes.Buffer
		for {
			nonce, kind, body, err := frames.Next()
			if err != nil {
				break
			}
			if err := WriteFrame(&again, nonce, kind, body); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(data, again.Bytes()) {
			t.Fatalf("%x is read as %x", data, again.Bytes())
		}
	})
}

// Whatever a worker sends as an answer, reading it ends, allocates no more than a small multiple of it, and what was read
// without a fault is written as the same message again.
func FuzzAnswers(f *testing.F) {
	_, loaded, _, started, _, stepped, _ := messages()
	for kind := range 3 {
		var e Encoder
		switch kind {
		case 0:
			e.Loaded(loaded)
		case 1:
			e.Started(started)
		case 2:
			e.Stepped(stepped)
		}
		f.Add(byte(kind), string(e.Buf))
	}
	f.Fuzz(func(t *testing.T, kind byte, body string) {
		d := NewDecoder(body)
		var e Encoder
		var read, again any
		switch kind % 3 {
		case 0:
			m := d.Loaded()
			e.Loaded(m)
			read, again = m, NewDecoder(string(e.Buf)).Loaded()
		case 1:
			m := d.Started()
			e.Started(m)
			read, again = m, NewDecoder(string(e.Buf)).Started()
		case 2:
			m := d.Stepped()
			m.Reward, m.Return, m.Verify = 0, 0, nil // NaN is not equal to itself
			e.Stepped(m)
			read, again = m, NewDecoder(string(e.Buf)).Stepped()
		}
		if d.Err() == nil && !reflect.DeepEqual(read, again) {
			t.Fatalf("%+v is read back as %+v", read, again)
		}
	})
}

func TestTitles(t *testing.T) {
	for title, want := range map[string]bool{
		"a": true, " \U0001f600 é ": true, strings.Repeat("é", 100): true,
		"": false, " ": false, "\u3000\u00a0": false, "a\x00b": false, "a\nb": false, "\u009b2J": false, strings.Repeat("é", 101): false,
	} {
		m := Meta{Title: title, Kind: "game", MaxSteps: 1}
		if err := m.Check(); (err == nil) != want {
			t.Errorf("title %q: %v", title, err)
		}
	}
}
