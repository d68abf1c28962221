package trainer

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/designer"
)

// Format names the layout of a checkpoint. It changes with the features and the grammar too: their numbers are the
// meaning of the weights.
const Format = "spade-native/1"

// maxState bounds what a checkpoint may unpack to.
const maxState = 16 << 20

// state is one policy version. It is immutable.
type state struct {
	agent    *agent.Model
	designer *designer.Model
}

func fresh(bits int) *state { return &state{agent: agent.New(bits), designer: designer.New()} }

// encode writes magic, version, checksum and the packed state. Equal states give equal bytes.
func (s *state) encode(version int64) (plugins.Checkpoint, error) {
	var plain []byte
	plain = s.agent.Append(plain)
	plain = s.designer.Append(plain)
	var out bytes.Buffer
	out.WriteString(Format + "\n")
	_ = binary.Write(&out, binary.BigEndian, version)
	_ = binary.Write(&out, binary.BigEndian, uint32(len(plain)))
	_ = binary.Write(&out, binary.BigEndian, crc32.ChecksumIEEE(plain))
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return plugins.Checkpoint{}, fmt.Errorf("pack checkpoint: %w", err)
	}
	return plugins.NewCheckpoint(Format, out.Bytes()), nil
}

// decode reads a checkpoint and the version that it was written as.
func decode(ck plugins.Checkpoint) (*state, int64, error) {
	plain, version, err := unpack(ck.Data)
	if err != nil {
		return nil, 0, &plugins.PermanentError{Message: fmt.Sprintf("checkpoint of %d bytes: %v", len(ck.Data), err)}
	}
	s := &state{}
	if s.agent, plain, err = agent.Decode(plain); err == nil {
		s.designer, plain, err = designer.Decode(plain)
	}
	if err == nil && len(plain) != 0 {
		err = fmt.Errorf("%d bytes too many", len(plain))
	}
	if err != nil {
		return nil, 0, &plugins.PermanentError{Message: "checkpoint: " + err.Error()}
	}
	return s, version, nil
}

func unpack(data []byte) ([]byte, int64, error) {
	rest, ok := bytes.CutPrefix(data, []byte(Format+"\n"))
	if !ok {
		return nil, 0, fmt.Errorf("not of format %s", Format)
	}
	if len(rest) < 16 {
		return nil, 0, io.ErrUnexpectedEOF
	}
	version := int64(binary.BigEndian.Uint64(rest))
	size, sum := binary.BigEndian.Uint32(rest[8:]), binary.BigEndian.Uint32(rest[12:])
	if size > maxState {
		return nil, 0, fmt.Errorf("unpacks to %d bytes, allowed %d", size, maxState)
	}
	plain := make([]byte, size)
	r := flate.NewReader(bytes.NewReader(rest[16:]))
	if _, err := io.ReadFull(r, plain); err != nil {
		return nil, 0, fmt.Errorf("unpack: %w", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, 0, fmt.Errorf("unpack: more data than stated")
	}
	if crc32.ChecksumIEEE(plain) != sum {
		return nil, 0, fmt.Errorf("checksum differs")
	}
	return plain, version, nil
}
