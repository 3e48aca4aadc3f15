/* Choose the instruction set at run time: the best that the processor has,
 * limited by VT_ISA. */
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/isa.h"

const char *
isa_name(enum isa i)
{
	static const char *const names[] = { "base", "avx2", "avx512" };

	return names[i];
}

/* The AVX-512 copies are compiled for the subset of Skylake-SP: F, BW, DQ
 * and VL. */
static int
isa_detect(void)
{
	int best = ISA_BASE;
	const char *limit = getenv("VT_ISA");

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		best = ISA_AVX2;
	if (best == ISA_AVX2 && __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		best = ISA_AVX512;
#endif
	for (int i = ISA_BASE; limit != NULL && i < best; i++)
		if (strcmp(limit, isa_name((enum isa)i)) == 0)
			return i;
	return best;
}

/* Return the result of ${detect}, which ${*known} keeps; -1 at first. */
static int
isa_once(int *known, int (*detect)(void))
{
	int i = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (i < 0) {
		i = detect();	/* racing threads store the same */
		__atomic_store_n(known, i, __ATOMIC_RELAXED);
	}
	return i;
}

enum isa
isa_best(void)
{
	static int known = -1;

	return (enum isa)isa_once(&known, isa_detect);
}

/* Return 1 if VT_ISA limits this process to AVX-512 without extensions. */
static int
isa_is_limited(void)
{
	const char *limit = getenv("VT_ISA");

	return isa_best() != ISA_AVX512 || (limit != NULL &&
	    strcmp(limit, isa_name(ISA_AVX512)) == 0);
}

#if defined(__x86_64__)
static int
isa_detect_vbmi(void)
{
	return !isa_is_limited() && __builtin_cpu_supports("avx512vbmi") &&
	    __builtin_cpu_supports("avx512vnni");
}

/* From Linux, arch/x86/include/uapi/asm/prctl.h.  A process must request AMX
 * tile data, because it enlarges the saved state of each thread by 8 KiB. */
enum { REQUEST_STATE = 0x1023, STATE_TILES = 18 };

/* CPUID leaf 7: EDX bits 22 and 24 of subleaf 0 are amx-bf16 and amx-tile.
 * EAX bit 5 of subleaf 1 is avx512_bf16. */
static int
isa_detect_amx(void)
{
	const unsigned bf16 = 1u << 22, tiles = 1u << 24, rounding = 1u << 5;
	unsigned a, b, c, d;

	if (isa_is_limited())
		return 0;
	/* The kernels convert fp32 to bf16 with an instruction of
	 * avx512_bf16.  All processors with AMX have it. */
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	    (d & (bf16 | tiles)) == (bf16 | tiles) &&
	    __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & rounding) != 0 &&
	    syscall(SYS_arch_prctl, REQUEST_STATE, STATE_TILES) == 0;
}
#else
static int
isa_detect_vbmi(void)
{
	return 0;
}

static int
isa_detect_amx(void)
{
	return 0;
}
#endif

int
isa_vbmi(void)
{
	static int known = -1;

	return isa_once(&known, isa_detect_vbmi);
}

int
isa_amx(void)
{
	static int known = -1;

	return isa_once(&known, isa_detect_amx);
}
