package jail

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// Command is the hidden command under which the program's binary is this stage.
const Command = "__jail"

// resultFD is the descriptor of the results.
const resultFD = 3

// Exit codes, as those of every worker.
const (
	exitProtocol = 65
	exitRefused  = 69
)

// Main runs the stage. It returns only when the process could not become the program.
func Main(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	o, err := decode(args)
	if err != nil {
		fmt.Fprintf(stderr, "options: %v\n", err) //nolint:errcheck // there is nobody else to tell
		return exitProtocol
	}
	nonce, hello, err := readHello(os.NewFile(0, "messages"))
	if err != nil {
		fmt.Fprintf(stderr, "hello: %v\n", err) //nolint:errcheck // there is nobody else to tell
		return exitProtocol
	}
	err = sandbox.Enter(o.program(hello))
	return refuse(nonce, err)
}

func (o Options) program(m wire.Hello) sandbox.Program {
	return sandbox.Program{
		Layers: sandbox.Layer(m.Require), Want: sandbox.Layer(m.Want),
		Path: o.Program, Args: o.argv, Env: o.Env, KeepDescriptors: resultFD + 1,
		Mounts: o.Mounts, Hidden: o.Hidden, ScratchBytes: o.ScratchBytes,
		MemoryBytes: m.MemoryBytes, CPUSeconds: m.CPUSeconds, OpenFiles: m.OpenFiles, Threads: o.Threads, StackBytes: o.StackBytes,
	}
}

// refuse tells the platform why there is no program.
func refuse(nonce wire.Nonce, reason error) int {
	var e wire.Encoder
	e.String(reason.Error())
	if err := wire.WriteFrame(os.NewFile(resultFD, "results"), nonce, wire.KindRefused, e.Buf); err != nil {
		return exitProtocol
	}
	return exitRefused
}

// maxHello bounds the first message.
const maxHello = 4 << 10

// readHello reads the first message and not a byte more: what follows is for the program.
func readHello(in io.Reader) (wire.Nonce, wire.Hello, error) {
	var nonce wire.Nonce
	frame := wire.AppendHeader(nil, nonce, wire.KindHello)
	if _, err := io.ReadFull(in, frame); err != nil {
		return nonce, wire.Hello{}, err
	}
	size := binary.BigEndian.Uint32(frame)
	if size > maxHello {
		return nonce, wire.Hello{}, fmt.Errorf("%w: %d bytes", wire.ErrFrameSize, size)
	}
	frame = append(frame, make([]byte, size)...)
	if _, err := io.ReadFull(in, frame[len(frame)-int(size):]); err != nil {
		return nonce, wire.Hello{}, err
	}
	nonce, kind, body, err := wire.NewReader(bytes.NewReader(frame)).Next()
	if err != nil {
		return nonce, wire.Hello{}, err
	}
	d := wire.NewDecoder(string(body))
	hello := d.Hello()
	if kind != wire.KindHello {
		return nonce, hello, errors.New("another message")
	}
	return nonce, hello, d.End()
}
