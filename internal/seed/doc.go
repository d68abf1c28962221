// Package seed is the only source of randomness in the platform.
//
// Every random stream is a [Rand]: PCG64 (XSL-RR 128/64, the generator numpy calls PCG64), so that other languages can
// reproduce it. There are two ways to get one, and neither reads a clock, a host or a global:
//
//   - [Stream] derives a stream from (run seed, purpose, iteration, slot, attempt, arm, index) and nothing else. No two
//     units of work share a stream, so results do not depend on how work is spread over workers.
//   - [FromEnvSeed] is the generator bound to one episode of an environment (`rng` in environment code).
//
// The derivations and the sampling rules are fixed by the test vectors in schemas/vectors/rng.json, which an independent
// Python implementation beside them (rng.py) produces.
package seed
