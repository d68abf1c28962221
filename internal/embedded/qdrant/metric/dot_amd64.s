#include "textflag.h"

// func dotAVX2(a, b *float32, n int) float32
//
// Four 8-wide sums hide the latency of the fused multiply-add; the rest of the
// vector goes 8 wide and then one by one.
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

wide:
	CMPQ CX, $32
	JLT  narrow
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VFMADD231PS (DI), Y4, Y0
	VFMADD231PS 32(DI), Y5, Y1
	VFMADD231PS 64(DI), Y6, Y2
	VFMADD231PS 96(DI), Y7, Y3
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JMP  wide

narrow:
	CMPQ CX, $8
	JLT  fold
	VMOVUPS (SI), Y4
	VFMADD231PS (DI), Y4, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  narrow

fold:
	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0

single:
	TESTQ CX, CX
	JZ   done
	VMOVSS (SI), X4
	VMOVSS (DI), X5
	VFMADD231SS X5, X4, X0
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ CX
	JMP  single

done:
	VZEROUPPER
	MOVSS X0, ret+24(FP)
	RET

// func dotBytesAVX2(a, b *int8, n int) int32
//
// Bytes are widened to 16 bits, so that the pairwise products of -127..127 fit;
// the sums of n of them fit into 32 bits up to n = 133 000.
TEXT ·dotBytesAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

bytes:
	VPMOVSXBW (SI), Y2
	VPMOVSXBW (DI), Y3
	VPMADDWD Y3, Y2, Y2
	VPADDD Y2, Y0, Y0
	VPMOVSXBW 16(SI), Y4
	VPMOVSXBW 16(DI), Y5
	VPMADDWD Y5, Y4, Y4
	VPADDD Y4, Y1, Y1
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JNE  bytes

	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VPADDD X1, X0, X0
	VZEROUPPER
	VMOVD X0, AX
	MOVL AX, ret+24(FP)
	RET
