#ifndef BASE_ISA_H
#define BASE_ISA_H

/*
 * A file named *.isa.c is compiled once for each instruction set that the
 * Makefile lists, and ISA(f) gives each copy of a function its own name.  The
 * copies are called through ISA_PICK, which chooses by what the processor has.
 */
#define ISA_PASTE2(f, isa) f##_##isa
#define ISA_PASTE(f, isa) ISA_PASTE2(f, isa)
#ifdef VT_ISA
#define ISA(f) ISA_PASTE(f, VT_ISA)
#endif

/* For functions whose result depends on the processor alone: the compiler may call
 * them once for a whole loop. */
#define ISA_CONST __attribute__((const))

enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISAS };

/*
 * isa_best(): the best one this processor and system can run; the environment
 * variable VT_ISA=base, avx2 or avx512 lowers it, to reproduce results of an
 * older machine.
 */
enum isa isa_best(void) ISA_CONST;
const char *isa_name(enum isa i);

/*
 * isa_amx(): the processor multiplies tiles of bf16, on top of AVX-512 and its
 * bf16, and the system lets this process use them; not with VT_ISA=avx512 or
 * less.  *.amx.c are compiled for that, once, on x86-64.
 */
int isa_amx(void);

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
