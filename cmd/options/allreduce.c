/* Check the options of vt-bench allreduce. */
#include <inttypes.h>

#include "base/text.h"

#include "allreduce.h"

void
allreduce_options_check(const struct bench_sums *o, int ranks)
{
	if (o->min > o->max)
		options_wrong("--min=%" PRId64 " is more than --max=%" PRId64,
		    o->min, o->max);
	for (size_t i = 0; i < o->algorithms.n; i++)
		if (bench_allreduce_check(o->algorithms.item[i]) != 0)
			options_wrong("--algorithm=%s (wanted exact, native, "
			    "ring, torus, torus:XxY or halving)",
			    text_quote(o->algorithms.item[i]));
	if (o->vectors > 0 && o->vectors < ranks)
		options_wrong("--vectors=%" PRId64 ": fewer than the %d ranks",
		    o->vectors, ranks);
}
