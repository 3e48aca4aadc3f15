/* Options of the all-reduce. */
#include <string.h>

#include "base/text.h"
#include "train/reduce/sum_options.h"

/* How the exact sum is done is part of what it promises. */
void
sum_options_check(const struct sum_settings *s)
{
	static const char exact[] = "is for --deterministic=fast (it is exact)";

	if (sums_check(s->allreduce) != 0)
		options_wrong("--allreduce=%s (wanted auto, native, ring, torus, "
		    "torus:XxY or halving)", text_quote(s->allreduce));
	if (s->deterministic == FAST)
		return;
	if (strcmp(s->allreduce, "auto") != 0)
		options_wrong("--allreduce=%s %s", s->allreduce, exact);
	if (s->table != NULL)
		options_wrong("--allreduce-table=%s %s", text_quote(s->table),
		    exact);
	if (s->wire != WIRE_FP32)
		options_wrong("--comm-dtype=%s %s", wires[s->wire].name, exact);
}
