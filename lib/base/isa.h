#ifndef BASE_ISA_H
#define BASE_ISA_H

/*
 * A file named *.isa.c is compiled once for each instruction set that the
 * Makefile lists.  ISA(f) gives each copy of the function f its own name.
 * Callers use ISA_PICK(f), which selects the copy for this processor.
 */
#define ISA_PASTE2(f, isa) f##_##isa
#define ISA_PASTE(f, isa) ISA_PASTE2(f, isa)
#ifdef VT_ISA
#define ISA(f) ISA_PASTE(f, VT_ISA)
#endif

/* For functions whose result depends on the processor alone.  The compiler
 * may then call them once for a whole loop. */
#define ISA_CONST __attribute__((const))

/* Instruction sets in ascending order.  ISAS is their number. */
enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISAS };

/*
 * isa_best():
 * Return the best instruction set that this processor and system can run.  The
 * environment variable VT_ISA=base, avx2 or avx512 lowers it, to reproduce the
 * results of an older machine.  An unknown value of VT_ISA has no effect.  The
 * result is constant during a run.  Any thread may call this.
 */
enum isa isa_best(void) ISA_CONST;

/* isa_name(i): Return "base", "avx2" or "avx512".  The result is static. */
const char *isa_name(enum isa i);

/*
 * isa_amx():
 * Return 1 if this process can use AMX tiles for bf16, 0 otherwise.  It needs
 * AVX-512 with avx512_bf16, and permission from the kernel, which the first
 * call requests.  VT_ISA=avx512 or lower turns AMX off.  The files *.amx.c are
 * compiled once, for x86-64 with AMX.  Any thread may call this.
 */
int isa_amx(void);

/*
 * isa_vbmi():
 * Return 1 if this process can use the byte permutations and dot products of
 * AVX-512 VBMI and VNNI, 0 otherwise.  VT_ISA=avx512 or lower turns them off.
 * The files *.vbmi.c are compiled once, for x86-64 with both.  Any thread may
 * call this.
 */
int isa_vbmi(void) ISA_CONST;

/*
 * ISA_PICK(f): the copy of f for isa_best().
 * AMX_PICK(f): the AMX version of f, or NULL if isa_amx() is 0.
 * ISA_DECLARE(type, f, args): declare all copies of f.
 */
#if defined(__x86_64__)
#define ISA_PICK(f) (isa_best() == ISA_AVX512 ? f##_avx512 : \
    isa_best() == ISA_AVX2 ? f##_avx2 : f##_base)
#define AMX_PICK(f) (isa_amx() ? f##_amx : NULL)
#define ISA_DECLARE(type, f, args) \
	type f##_base args; type f##_avx2 args; type f##_avx512 args
#else
#define ISA_PICK(f) (f##_base)
#define AMX_PICK(f) (NULL)
#define ISA_DECLARE(type, f, args) type f##_base args
#endif

#endif
