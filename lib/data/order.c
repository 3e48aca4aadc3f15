/* Compute and cache the order of samples of an epoch. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/order.h"

/*
 * Orders to cache.  A batch spans at most two epochs, unless it is larger than
 * the dataset; then orders are short and recomputed quickly.
 */
#define KEPT 2

struct order {
	uint64_t seed;
	uint32_t samples;
	const struct class_balance *balance;	/* NULL: none */
	struct { uint64_t epoch; uint32_t *sample; } kept[KEPT];
};

struct order *
order_new(uint64_t seed, uint32_t samples,
    const struct class_balance *balance)
{
	struct order *o = xcalloc(1, sizeof(*o));

	assert(samples > 0);
	o->seed = seed;
	o->samples = samples;
	o->balance = balance;
	return o;
}

void
order_free(struct order *o)
{
	if (o == NULL)
		return;
	for (int i = 0; i < KEPT; i++)
		free(o->kept[i].sample);
	free(o);
}

uint32_t
order_sample(struct order *o, uint64_t clip)
{
	uint64_t epoch = clip / o->samples;
	int k = (int)(epoch % KEPT);

	if (o->kept[k].sample == NULL || o->kept[k].epoch != epoch) {
		if (o->kept[k].sample == NULL)
			o->kept[k].sample = xcalloc(o->samples,
			    sizeof(*o->kept[k].sample));
		o->kept[k].epoch = epoch;
		if (o->balance != NULL)
			class_balance_order(o->balance, o->seed, epoch,
			    o->kept[k].sample);
		else
			rng_shuffle(o->seed, (uint32_t)epoch, o->samples,
			    o->kept[k].sample);
	}
	return o->kept[k].sample[clip % o->samples];
}

int
order_next_intact(struct order *o, uint64_t clip, const struct bad_set *bad,
    uint32_t *past, uint32_t *sample)
{
	uint64_t first = clip / o->samples * o->samples;

	for (uint64_t k = *past; k < o->samples; k++) {
		uint32_t s = order_sample(o, first +
		    (clip - first + k) % o->samples);

		if (bad_has(bad, s))
			continue;
		*past = (uint32_t)k;
		*sample = s;
		return 1;
	}
	return 0;
}
