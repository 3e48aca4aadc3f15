/* The steps of a schedule. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "sched/schedule.h"

void
schedule_free(struct schedule *s)
{
	if (s == NULL)
		return;
	for (int i = 0; i < s->stages; i++)
		free(s->stage[i].lr);
	free(s->stage);
	free(s->path);
	free(s);
}

int
schedule_sets_momentum(const struct schedule *s)
{
	return s->stage[0].sets_momentum;
}

int
schedule_epochs(const struct schedule *s)
{
	return s->stage[s->stages - 1].epoch_end;
}

/* Return the first stage that ends after ${epoch}, or the last. */
const struct stage *
schedule_stage(const struct schedule *s, int epoch)
{
	int low = 0, high = s->stages - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (epoch < s->stage[middle].epoch_end)
			high = middle;
		else
			low = middle + 1;
	}
	return &s->stage[low];
}

/*
 * Return step ${step}, which begins at ${clip} and takes cell ${turn} of its
 * stage.
 */
static struct schedule_step
schedule_place(const struct schedule *s, uint64_t samples, uint64_t step,
    uint64_t clip, int turn)
{
	struct schedule_step at = { .step = step, .clip = clip,
		.momentum = -1 };
	const struct stage *g;

	at.epoch = (int)(clip / samples);
	at.exact_epoch = (double)clip / (double)samples;
	g = schedule_stage(s, at.epoch);
	at.stage = (int)(g - s->stage);
	if (at.epoch >= g->epoch_end)
		return at;		/* the schedule has ended */
	at.cycle_position = turn;
	at.lr = lr_at(g->lr, g->pieces, at.exact_epoch);
	if (g->sets_momentum)
		at.momentum = g->momentum;
	at.cell = &g->cell[turn];
	return at;
}

struct schedule_step
schedule_start(const struct schedule *s, uint64_t samples)
{
	assert(samples > 0 && samples <= SCHEDULE_SAMPLES);
	return schedule_place(s, samples, 0, 0, 0);
}

struct schedule_step
schedule_next(const struct schedule *s, uint64_t samples,
    const struct schedule_step *at)
{
	uint64_t clip;
	int same;

	if (at->cell == NULL)
		return *at;
	clip = at->clip + (uint64_t)at->cell->batch;
	/* Each epoch restarts the short cycle. */
	same = clip / samples == (uint64_t)at->epoch;
	return schedule_place(s, samples, at->step + 1, clip, same ?
	    (at->cycle_position + 1) % s->stage[at->stage].cells : 0);
}

/*
 * From the first step of an epoch, skip whole short cycles, at most ${largest},
 * but stay in that epoch.  Return their number.  With r clips left in the epoch
 * and c in a cycle, (r - 1) / c cycles leave at least one clip.
 */
static uint64_t
schedule_skip_cycles(const struct schedule *s, uint64_t samples,
    struct schedule_step *at, uint64_t largest)
{
	const struct stage *g = &s->stage[at->stage];
	uint64_t left = ((uint64_t)at->epoch + 1) * samples - at->clip;
	uint64_t clips = 0, n;

	for (int k = 0; k < g->cells; k++)
		clips += (uint64_t)g->cell[k].batch;
	n = (left - 1) / clips;
	if (n > largest)
		n = largest;
	*at = schedule_place(s, samples, at->step + n * (uint64_t)g->cells,
	    at->clip + n * clips, at->cycle_position);
	return n;
}

struct schedule_step
schedule_seek(const struct schedule *s, uint64_t samples, uint64_t step)
{
	struct schedule_step at = schedule_start(s, samples);

	while (at.cell != NULL && at.step < step) {
		if (at.cycle_position == 0)
			schedule_skip_cycles(s, samples, &at, (step - at.step) /
			    (uint64_t)s->stage[at.stage].cells);
		if (at.step < step)
			at = schedule_next(s, samples, &at);
	}
	return at;
}

void
schedule_count(const struct schedule *s, uint64_t samples,
    uint64_t (*steps)[SCHEDULE_CYCLE])
{
	struct schedule_step at = schedule_start(s, samples);

	memset(steps, 0, (size_t)s->stages * sizeof(*steps));
	while (at.cell != NULL) {
		if (at.cycle_position == 0) {
			uint64_t n = schedule_skip_cycles(s, samples, &at,
			    UINT64_MAX);

			for (int k = 0; k < s->stage[at.stage].cells; k++)
				steps[at.stage][k] += n;
		}
		steps[at.stage][at.cycle_position]++;
		at = schedule_next(s, samples, &at);
	}
}

const struct cell *
schedule_cell(const struct schedule *s, const struct cell *c)
{
	const struct stage *g = s->stage;

	if (c == NULL)
		return s->stages > 0 ? g->cell : NULL;
	while (c >= g->cell + SCHEDULE_CYCLE)
		g++;
	if (c + 1 < g->cell + g->cells)
		return c + 1;
	return g + 1 < s->stage + s->stages ? (g + 1)->cell : NULL;
}

uint64_t
schedule_steps(const struct schedule *s, uint64_t samples)
{
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	uint64_t sum = 0;

	schedule_count(s, samples, steps);
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++)
			sum += steps[i][k];
	free(steps);
	return sum;
}

struct hash128
schedule_prefix_hash(const struct schedule *s, uint64_t samples, uint64_t step)
{
	struct schedule_step at = schedule_start(s, samples);
	struct hasher *h = hasher_new();
	struct hash128 hash;
	unsigned char record[64];

	put64(record, samples);
	hasher_add(h, record, 8);
	for (; at.cell != NULL && at.step < step;
	    at = schedule_next(s, samples, &at)) {
		const struct cell *c = at.cell;
		const int number[] = { c->batch, c->frames, c->crop, c->group,
			c->run, c->stride_min, c->stride_max };
		uint64_t lr;

		for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
			put32(record + 4 * i, (uint32_t)number[i]);
		/* Hash the bits: equal runs have equal learning rates. */
		memcpy(&lr, &at.lr, sizeof(lr));
		put64(record + sizeof(number), lr);
		hasher_add(h, record, sizeof(number) + 8);
		/* Only a schedule that sets the momentum has it in its hash. */
		if (at.momentum < 0)
			continue;
		memcpy(&lr, &at.momentum, sizeof(lr));
		put64(record, lr);
		hasher_add(h, record, 8);
	}
	hash = hasher_128(h);
	hasher_free(h);
	return hash;
}


int
cell_clip(const struct cell *c, int group, int i)
{
	int groups;		/* that interleave in a run */

	if (c->run == 0)
		return group * c->group + i;
	groups = c->run / c->group;
	return group / groups * c->run + group % groups + i * groups;
}

double
cell_cost(const struct cell *c)
{
	return (double)c->frames * c->crop * c->crop;
}

enum { COLUMNS = 7, VALUE = 64 };

/* Write the columns of the table at a step. */
static void
schedule_columns(const struct schedule_step *at, char text[COLUMNS][VALUE])
{
	const struct cell *c = at->cell;

	snprintf(text[0], VALUE, "%d", c->batch);
	snprintf(text[1], VALUE, "%d", c->frames);
	snprintf(text[2], VALUE, "%d", c->crop);
	snprintf(text[3], VALUE, "%d", c->group);
	if (c->run != 0)
		snprintf(text[3], VALUE, "%d/%d", c->group, c->run);
	snprintf(text[4], VALUE, "%d to %d", c->stride_min, c->stride_max);
	snprintf(text[5], VALUE, "%.17g", at->lr);
	strcpy(text[6], "missing");
	if (at->momentum >= 0)
		snprintf(text[6], VALUE, "%.17g", at->momentum);
}

char *
schedule_difference(const struct schedule *was, const struct schedule *now,
    uint64_t samples, uint64_t steps)
{
	static const char *const column[COLUMNS] = { "batch", "frames", "crop",
		"bn", "stride", "lr", "momentum" };
	struct schedule_step a = schedule_start(was, samples);
	struct schedule_step b = schedule_start(now, samples);
	char x[COLUMNS][VALUE], y[COLUMNS][VALUE];

	for (; a.step < steps && a.cell != NULL;
	    a = schedule_next(was, samples, &a),
	    b = schedule_next(now, samples, &b)) {
		if (b.cell == NULL)
			return xprintf("schedule: ends after step %" PRIu64
			    " now, but the run did %" PRIu64 " steps", b.step,
			    steps);
		schedule_columns(&a, x);
		schedule_columns(&b, y);
		for (int i = 0; i < COLUMNS; i++)
			if (strcmp(x[i], y[i]) != 0)
				return xprintf("schedule: in step %" PRIu64
				    " (epoch %.2f) %s was %s and is %s now",
				    a.step + 1, a.exact_epoch, column[i], x[i],
				    y[i]);
	}
	return NULL;
}
