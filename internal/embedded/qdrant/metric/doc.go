// Package metric holds the distance kernels of the embedded vector server:
// dot product, Euclidean and Manhattan distance over float32.
//
// Begin with Dot. On amd64 with AVX2 and FMA it runs in assembly, elsewhere in
// unrolled Go. The two may differ in the last bits of a sum, so a score from
// here orders candidates and nothing else: whoever compares a similarity with a
// threshold recomputes it (internal/vector does).
//
// A Sketch is a vector in a quarter of the space, with MaxDot as an upper bound
// of Dot.
package metric
