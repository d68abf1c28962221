package seed

import (
	"crypto/sha256"
	"encoding/binary"
)

// Domain tags keep the two derivations apart from each other and from every other use of SHA-256.
const (
	streamDomain = "spade/stream/1"
	envDomain    = "spade/env/1"
)

// Key names one unit of work that needs randomness. Fields that have no meaning for a purpose stay zero.
type Key struct {
	// Purpose says what the randomness is for, for example "designer.documents" or "gate.random".
	Purpose string
	// Iteration, Slot and Attempt place the work in the run.
	Iteration, Slot, Attempt int
	// Arm is "plain", "hinted" or empty.
	Arm string
	// Index counts within the unit, for example an episode number.
	Index int
}

// Derive returns the 64-bit seed of the stream that belongs to k in the run with the given seed. It is what an
// environment episode or a policy prompt gets as its seed.
func Derive(run uint64, k Key) uint64 {
	sum := digest(run, k)
	return binary.BigEndian.Uint64(sum[:8])
}

// Stream returns the random stream that belongs to k in the run with the given seed.
func Stream(run uint64, k Key) *Rand {
	return fromDigest(digest(run, k))
}

// FromEnvSeed returns the generator of one episode: PCG64 seeded by SHA-256 of the environment seed.
func FromEnvSeed(seed uint64) *Rand {
	buf := appendField(nil, []byte(envDomain))
	buf = appendInt(buf, seed)
	return fromDigest(sha256.Sum256(buf))
}

// digest hashes a length-prefixed encoding, so that no two keys share an encoding whatever their strings hold.
func digest(run uint64, k Key) [sha256.Size]byte {
	buf := make([]byte, 0, 128)
	buf = appendField(buf, []byte(streamDomain))
	buf = appendInt(buf, run)
	buf = appendField(buf, []byte(k.Purpose))
	buf = appendInt(buf, uint64(int64(k.Iteration)))
	buf = appendInt(buf, uint64(int64(k.Slot)))
	buf = appendInt(buf, uint64(int64(k.Attempt)))
	buf = appendField(buf, []byte(k.Arm))
	buf = appendInt(buf, uint64(int64(k.Index)))
	return sha256.Sum256(buf)
}

func appendField(buf, field []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(field)))
	return append(buf, field...)
}

func appendInt(buf []byte, v uint64) []byte {
	buf = binary.BigEndian.AppendUint32(buf, 8)
	return binary.BigEndian.AppendUint64(buf, v)
}

// fromDigest takes the first half of a digest as the initial state and the second half as the sequence.
func fromDigest(sum [sha256.Size]byte) *Rand {
	return &Rand{pcg: newPCG64(
		binary.BigEndian.Uint64(sum[0:8]), binary.BigEndian.Uint64(sum[8:16]),
		binary.BigEndian.Uint64(sum[16:24]), binary.BigEndian.Uint64(sum[24:32]),
	)}
}
