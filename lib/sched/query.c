/* Finds the step of an epoch or sample of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "sched/query.h"

struct schedule_step
query_clip(const struct schedule *s, uint64_t samples, uint64_t clip)
{
	uint64_t low = 0, high = schedule_steps(s, samples);

	/* Find the last step that begins at or before it. */
	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;

		if (schedule_seek(s, samples, middle).clip <= clip)
			low = middle;
		else
			high = middle;
	}
	return schedule_seek(s, samples, low);
}

/*
 * Find the step of ${item}.  Return 1 if it exists, 0 if it is after the end,
 * or -1 if ${item} is invalid.
 */
static int
query_find(const struct schedule *s, uint64_t samples, const char *item,
    struct schedule_step *at)
{
	const char *colon = strchr(item, ':'), *value;
	size_t n = colon != NULL ? (size_t)(colon - item) : 0;
	uint64_t clip;
	int64_t number;
	double epoch;

	if (colon == NULL)
		return -1;
	value = colon + 1;
	if (n == 4 && strncmp(item, "step", n) == 0) {
		if (text_int(value, 0, INT64_MAX, &number) != 0)
			return -1;
		*at = schedule_seek(s, samples, (uint64_t)number);
		return at->cell != NULL;
	}
	if (n == 6 && strncmp(item, "sample", n) == 0) {
		if (text_int(value, 0, INT64_MAX, &number) != 0)
			return -1;
		clip = (uint64_t)number;
	} else if (n == 5 && strncmp(item, "epoch", n) == 0) {
		if (text_real(value, 0, SCHEDULE_EPOCHS, &epoch) != 0)
			return -1;
		/* The clip during which that exact epoch is reached. */
		clip = (uint64_t)floor(epoch * (double)samples);
	} else {
		return -1;
	}
	*at = query_clip(s, samples, clip);
	return at->cell != NULL && clip < at->clip +
	    (uint64_t)at->cell->batch;
}

static void
query_print_row(const struct schedule_step *at, struct buffer *out)
{
	const struct cell *c = at->cell;
	char epoch[32], lr[32];

	buffer_printf(out, "%llu\t%s\t%llu\t%d\t%d\t%d\t%d\t%d\t%d",
	    (unsigned long long)at->step, text_real_write(epoch,
	    at->exact_epoch), (unsigned long long)at->clip, at->stage,
	    at->cycle_position, c->batch, c->frames, c->crop, c->group);
	if (c->run != 0)
		buffer_printf(out, "/%d", c->run);
	buffer_printf(out, "\t%s\n", text_real_write(lr, at->lr));
}

int
query_print(const struct schedule *s, uint64_t samples, const char *list,
    struct buffer *out)
{
	char *copy = xstrdup(list), *next = copy, *item;
	int bad = 0;

	buffer_text(out, "#step\tepoch\tsample\tstage\tcycle\tbatch\tframes\t"
	    "crop\tbn\tlr\n");
	while (!bad && (item = strsep(&next, ",")) != NULL) {
		struct schedule_step at;
		int got = query_find(s, samples, item, &at);

		if (got < 0)
			bad = fail("--locate: %s (wanted step:N, epoch:X or "
			    "sample:N)", text_quote(item));
		else if (got == 0)
			bad = fail("--locate: %s is after the end: %llu "
			    "steps of %llu samples in %d epochs",
			    text_quote(item),
			    (unsigned long long)schedule_steps(s, samples),
			    (unsigned long long)schedule_seek(s, samples,
			    UINT64_MAX).clip, schedule_epochs(s));
		else
			query_print_row(&at, out);
	}
	free(copy);
	return bad;
}
