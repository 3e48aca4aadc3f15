/* Which instruction set to run. */
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"

const char *
isa_name(enum isa i)
{
	static const char *const names[] = { "base", "avx2", "avx512" };

	return names[i];
}

static enum isa
detect(void)
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
		i = (int)detect();
		__atomic_store_n(&known, i, __ATOMIC_RELAXED);
	}
	return (enum isa)i;
}
