/* Which instruction set to run. */
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

static enum isa
isa_detect(void)
{
	enum isa best = ISA_BASE;
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
	for (int i = ISA_BASE; limit != NULL && i < (int)best; i++)
		if (strcmp(limit, isa_name((enum isa)i)) == 0)
			return (enum isa)i;
	return best;
}

enum isa
isa_best(void)
{
	static int known = -1;		/* every thread would write the same */
	int i = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (i < 0) {
		i = (int)isa_detect();
		__atomic_store_n(&known, i, __ATOMIC_RELAXED);
	}
	return (enum isa)i;
}

#if defined(__x86_64__)
/* Linux, arch/x86/include/uapi/asm/prctl.h: tiles are asked for, since they
 * make what is saved of a thread larger. */
enum { REQUEST_STATE = 0x1023, STATE_TILES = 18 };

static int
isa_detect_amx(void)
{
	const unsigned bf16 = 1u << 22, tiles = 1u << 24, rounding = 1u << 5;
	const char *limit = getenv("VT_ISA");
	unsigned a, b, c, d;

	if (isa_best() != ISA_AVX512 || (limit != NULL &&
	    strcmp(limit, isa_name(ISA_AVX512)) == 0))
		return 0;
	/* Rounding is avx512_bf16's, which all of them have. */
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	    (d & (bf16 | tiles)) == (bf16 | tiles) &&
	    __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & rounding) != 0 &&
	    syscall(SYS_arch_prctl, REQUEST_STATE, STATE_TILES) == 0;
}
#else
static int
isa_detect_amx(void)
{
	return 0;
}
#endif

int
isa_amx(void)
{
	static int known = -1;
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (is < 0) {
		is = isa_detect_amx();
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is;
}
