package seed

import "math/bits"

// The multiplier of the 128-bit linear congruential generator under PCG64, high and low half.
const (
	mulHi = 0x2360ed051fc65da4
	mulLo = 0x4385df649fccf645
)

// pcg64 is the PCG XSL-RR 128/64 generator with a selectable sequence.
type pcg64 struct {
	hi, lo       uint64
	incHi, incLo uint64
}

// newPCG64 seeds as pcg64_srandom_r of the reference implementation does; numpy's PCG64 with its state set is equal.
func newPCG64(stateHi, stateLo, seqHi, seqLo uint64) pcg64 {
	p := pcg64{incHi: seqHi<<1 | seqLo>>63, incLo: seqLo<<1 | 1}
	p.step()
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, stateLo, 0)
	p.hi, _ = bits.Add64(p.hi, stateHi, carry)
	p.step()
	return p
}

func (p *pcg64) step() {
	hi, lo := bits.Mul64(p.lo, mulLo)
	hi += p.hi*mulLo + p.lo*mulHi
	var carry uint64
	p.lo, carry = bits.Add64(lo, p.incLo, 0)
	p.hi, _ = bits.Add64(hi, p.incHi, carry)
}

// next advances the state and then takes the output from the new state, as the reference implementation does.
func (p *pcg64) next() uint64 {
	p.step()
	return bits.RotateLeft64(p.hi^p.lo, -int(p.hi>>58))
}
