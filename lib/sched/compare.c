/* Compares schedules at points of equal work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sched/compare.h"
#include "sched/query.h"

enum { PARTS = 20 };

/*
 * Return the epoch at which ${work} is done, or -1 if the schedule does less.
 */
static double
compare_epoch_at(const struct schedule *s, const struct cost *cost, double work)
{
	double done = 0;

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double each = stage_cost(g, cost);
		double all = (g->epoch_end - g->epoch_begin) * each;

		if (work < done + all)
			return g->epoch_begin + (work - done) / each;
		done += all;
	}
	return -1;
}

/* Return 0 if ${cost} is known for all cells, else -1. */
static int
compare_check_costs(const struct schedule *s, const struct cost *cost)
{
	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;)
		if (!(cost->of(c, cost->arg) > 0))
			return -1;
	return 0;
}

/*
 * Print the state of a schedule at an epoch.  The shape is the stage's own, the
 * last of its short cycle.
 */
static void
compare_print_place(const struct schedule *s, double epoch, uint64_t samples,
    struct buffer *out)
{
	const struct stage *g = schedule_stage(s, (int)epoch);
	const struct cell *c = &g->cell[g->cells - 1];

	buffer_printf(out, "\t%.2f\t%dx%dx%d\t%.4g", epoch, c->batch, c->frames,
	    c->crop, lr_at(g->lr, g->pieces, epoch));
	if (samples > 0)
		buffer_printf(out, "\t%llu", (unsigned long long)query_clip(s,
		    samples, (uint64_t)(epoch * (double)samples)).step);
}

static void
compare_print_totals(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, double unit, double largest,
    struct buffer *out)
{
	buffer_printf(out, "#schedule\tepochs\tstages\twork\tof_the_most%s\n",
	    samples > 0 ? "\tsteps\tsamples" : "");
	for (int j = 0; j < n; j++) {
		double work = schedule_cost(s[j], cost);

		buffer_printf(out, "%s\t%d\t%d\t%.4g\t%.3f", name[j],
		    schedule_epochs(s[j]), s[j]->stages, work / unit,
		    work / largest);
		if (samples > 0)
			buffer_printf(out, "\t%llu\t%llu", (unsigned long long)
			    schedule_steps(s[j], samples), (unsigned long long)
			    schedule_seek(s[j], samples, UINT64_MAX).clip);
		buffer_text(out, "\n");
	}
}

int
compare_print(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out)
{
	const struct cell *large = NULL;
	double unit = 0, largest = 0;

	for (int j = 0; j < n; j++)
		if (compare_check_costs(s[j], cost) != 0)
			return -1;
	for (int j = 0; j < n; j++) {
		const struct cell *c = schedule_largest(s[j], cost);
		double one = cost->of(c, cost->arg);

		large = one >= unit ? c : large;
		unit = fmax(unit, one);
		largest = fmax(largest, schedule_cost(s[j], cost));
	}
	buffer_printf(out, "# work in epochs at %d frames and crop size %d, by "
	    "%s\n", large->frames, large->crop, cost->unit);
	compare_print_totals(s, name, n, samples, cost, unit, largest, out);
	buffer_text(out, "#work");
	for (int j = 0; j < n; j++)
		buffer_printf(out, samples > 0 ? "\tepoch_%d\tshape_%d\tlr_%d"
		    "\tstep_%d" : "\tepoch_%d\tshape_%d\tlr_%d", j + 1, j + 1,
		    j + 1, j + 1);
	buffer_text(out, "\n");
	for (int k = 0; k < PARTS; k++) {
		double work = largest * k / PARTS;

		buffer_printf(out, "%.4g", work / unit);
		for (int j = 0; j < n; j++) {
			double epoch = compare_epoch_at(s[j], cost, work);

			if (epoch >= 0)
				compare_print_place(s[j], epoch, samples, out);
			else
				buffer_text(out, samples > 0 ? "\t-\t-\t-\t-" :
				    "\t-\t-\t-");
		}
		buffer_text(out, "\n");
	}
	return 0;
}
