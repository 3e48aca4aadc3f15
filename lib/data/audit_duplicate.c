/* Choose the microbatch of a step that is computed twice. */
#include "base/cpus.h"
#include "base/rng.h"
#include "data/audit_duplicate.h"

struct audit_duplicate
audit_duplicate_at(uint64_t seed, const struct schedule_step *at, int64_t every,
    int ranks)
{
	uint64_t step = at->step + 1, p = (uint64_t)ranks, turn;
	struct audit_duplicate t = { 0 };
	int count, first;
	uint32_t draw;

	if (every <= 0 || step % (uint64_t)every != 0)
		return t;
	/* Audit ${turn} is of rank turn mod p.  The rank that repeats it
	 * follows after 1 + (turn div p) mod (p - 1) ranks.  So all ordered
	 * pairs occur once in p (p - 1) audits. */
	turn = step / (uint64_t)every - 1;
	t.rank = (int)(turn % p);
	if (ranks > 1)
		t.repeat_rank = (int)((turn % p + 1 + turn / p % (p - 1)) % p);
	count = split(at->cell->batch / at->cell->group, t.rank, ranks, &first);
	if (count == 0)
		return t;
	/* index = first + floor(draw / 2^32 * count) */
	draw = rng_philox(seed, (uint32_t)step, (uint32_t)(step >> 32), 0,
	    RNG_AUDIT).w[0];
	t.index = first + (int)((uint64_t)draw * (uint64_t)count >> 32);
	t.due = 1;
	return t;
}
