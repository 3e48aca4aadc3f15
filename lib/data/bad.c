/*
 * The set of damaged samples, a sorted array: it is small, and searched for
 * every clip.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/bad.h"

/* Return the position of ${sample}, or the one at which to insert it. */
static size_t
bad_place(const struct bad_set *b, uint32_t sample)
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
bad_has(const struct bad_set *b, uint32_t sample)
{
	size_t i = bad_place(b, sample);

	return i < b->n && b->sample[i] == sample;
}

int
bad_add(struct bad_set *b, uint32_t sample)
{
	size_t i = bad_place(b, sample);

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
bad_free(struct bad_set *b)
{
	free(b->sample);
	*b = (struct bad_set){ 0 };
}

char *
bad_text(const struct bad_set *b)
{
	struct buffer text = { 0 };

	buffer_add(&text, "", 0);
	for (size_t i = 0; i < b->n; i++)
		buffer_printf(&text, "%s%u", i > 0 ? " " : "", b->sample[i]);
	return text.data;
}

int
bad_parse(struct bad_set *b, const char *text, uint32_t samples)
{
	while (*text != '\0') {
		char *end;
		unsigned long long v = strtoull(text, &end, 10);

		if (end == text || v >= samples || (*end != '\0' &&
		    *end != ' '))
			return -1;
		bad_add(b, (uint32_t)v);
		text = end + (*end == ' ');
	}
	return 0;
}
