/* Compute and cache the order of samples of an epoch, and damaged ones. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

		if (bad_set_has(bad, s))
			continue;
		*past = (uint32_t)k;
		*sample = s;
		return 1;
	}
	return 0;
}

/* Return the position of ${sample}, or the one at which to insert it. */
static size_t
bad_set_place(const struct bad_set *b, uint32_t sample)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->sample[middle] < sample)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
bad_set_has(const struct bad_set *b, uint32_t sample)
{
	size_t i = bad_set_place(b, sample);

	return i < b->n && b->sample[i] == sample;
}

int
bad_set_add(struct bad_set *b, uint32_t sample)
{
	size_t i = bad_set_place(b, sample);

	if (i < b->n && b->sample[i] == sample)
		return 0;
	b->sample = array_reserve(b->sample, b->n, &b->cap, sizeof(*b->sample));
	memmove(b->sample + i + 1, b->sample + i, (b->n - i) *
	    sizeof(*b->sample));
	b->sample[i] = sample;
	b->n++;
	return 1;
}

void
bad_set_free(struct bad_set *b)
{
	free(b->sample);
	*b = (struct bad_set){ 0 };
}

char *
bad_set_text(const struct bad_set *b)
{
	struct buffer text = { 0 };

	buffer_add(&text, "", 0);
	for (size_t i = 0; i < b->n; i++)
		buffer_printf(&text, "%s%u", i > 0 ? " " : "", b->sample[i]);
	return text.data;
}

int
bad_set_parse(struct bad_set *b, const char *text, uint32_t samples)
{
	while (*text != '\0') {
		char *end;
		unsigned long long v = strtoull(text, &end, 10);

		if (end == text || v >= samples || (*end != '\0' &&
		    *end != ' '))
			return -1;
		bad_set_add(b, (uint32_t)v);
		text = end + (*end == ' ');
	}
	return 0;
}
