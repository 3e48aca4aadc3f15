/* Summaries of a schedule for the user. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "sched/query.h"
#include "sched/summary.h"

/* Measured on 64 classes of two movements each (vt-multigrid(7)). */
#define FRAMES_SHARE 0.05

double
stage_batch(const struct stage *g)
{
	double sum = 0;

	for (int k = 0; k < g->cells; k++)
		sum += g->cell[k].batch;
	return sum / g->cells;
}

static double
summary_input(const struct cell *c, void *arg)
{
	(void)arg;
	return cell_cost(c);
}

const struct cost cost_input = { summary_input, NULL, "frames x crop x crop" };

double
stage_cost(const struct stage *g, const struct cost *cost)
{
	double clips = 0, sum = 0;

	for (int k = 0; k < g->cells; k++) {
		/*
		 * All cells get equally many steps, so weight each by its
		 * clips.
		 */
		clips += g->cell[k].batch;
		sum += g->cell[k].batch * cost->of(&g->cell[k], cost->arg);
	}
	return sum / clips;
}

double
schedule_cost(const struct schedule *s, const struct cost *cost)
{
	double sum = 0;

	for (int i = 0; i < s->stages; i++)
		sum += (s->stage[i].epoch_end - s->stage[i].epoch_begin) *
		    stage_cost(&s->stage[i], cost);
	return sum;
}

const struct cell *
schedule_largest(const struct schedule *s, const struct cost *cost)
{
	const struct cell *best = NULL;
	double largest = 0;

	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;) {
		double one = cost->of(c, cost->arg);

		if (best == NULL || one >= largest) {
			best = c;
			largest = one;
		}
	}
	return best;
}

double
schedule_work(const struct schedule *s)
{
	return schedule_cost(s, &cost_input) /
	    cell_cost(schedule_largest(s, &cost_input));
}

/*
 * Return the sum of the learning rates of a stage's steps, divided by N, the
 * number of samples.
 */
static double
summary_summed_rate(const struct stage *g)
{
	enum { PARTS = 16 };		/* of an epoch */
	int n = (g->epoch_end - g->epoch_begin) * PARTS;
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += lr_at(g->lr, g->pieces, g->epoch_begin + (i + 0.5) /
		    PARTS);
	return sum / PARTS / stage_batch(g);
}

/*
 * Return the share, 0 to 1, of steps with ${frames} frames in the sum of the
 * learning rates of all steps.  It measures how far their clips move the
 * weights.
 */
static double
schedule_frames_share(const struct schedule *s, int frames)
{
	double sum = 0, all = 0;

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double rate = summary_summed_rate(g);

		for (int k = 0; k < g->cells; k++)
			/*
			 * Each cell has an equal share of the steps of its
			 * stage.
			 */
			if (g->cell[k].frames == frames)
				sum += rate / g->cells;
		all += rate;
	}
	return all > 0 ? sum / all : 1;
}

void
schedule_advise(const struct schedule *s)
{
	int frames = 0;
	double share;

	for (const struct cell *c = NULL; (c = schedule_cell(s, c)) != NULL;)
		frames = c->frames > frames ? c->frames : frames;
	share = schedule_frames_share(s, frames);
	if (share < FRAMES_SHARE)
		warning("%s: steps with %d frames, the most, have %.2g %% of "
		    "the learning rate of all steps (wanted at least %g %%): "
		    "the network does not learn to use so many frames "
		    "(vt-multigrid(7))", s->path, frames,
		    100 * share, 100 * FRAMES_SHARE);
}

/* Return the shapes of the cells, as "512x8x158 256x8x224". */
static char *
summary_shapes_text(const struct stage *g)
{
	struct buffer b = { 0 };

	for (int k = 0; k < g->cells; k++)
		buffer_printf(&b, "%s%dx%dx%d", k > 0 ? " " : "",
		    g->cell[k].batch, g->cell[k].frames, g->cell[k].crop);
	return b.data;
}

static char *
summary_groups_text(const struct stage *g)
{
	struct buffer b = { 0 };
	int same = 1;

	for (int k = 1; k < g->cells; k++)
		/* Print one number if all cells have the same. */
		same &= g->cell[k].group == g->cell[0].group;
	for (int k = 0; k < (same ? 1 : g->cells); k++)
		buffer_printf(&b, "%s%d", k > 0 ? " " : "", g->cell[k].group);
	return b.data;
}

static char *
summary_strides_text(const struct cell *c)
{
	if (c->stride_max == 0)
		return xstrdup("segments");
	if (c->stride_min == c->stride_max)
		return xprintf("%d", c->stride_min);
	return xprintf("%d to %d", c->stride_min, c->stride_max);
}

/*
 * Return the learning rate at the beginning of the stage and, if it differs, at
 * its end.
 */
static char *
summary_rate_text(const struct stage *g)
{
	double first = lr_at(g->lr, g->pieces, g->epoch_begin);
	double last = lr_at(g->lr, g->pieces, g->epoch_end);

	if (first == last)
		return xprintf("%.6g", first);
	return xprintf("%.6g to %.6g", first, last);
}

enum { COLUMNS = 8 };

/* Print columns as wide as their widest cell, separated by two blanks. */
static void
summary_print_columns(char *(*cell)[COLUMNS], int rows, struct buffer *out)
{
	static const int right[COLUMNS] = { 1, 0, 0, 0, 0, 0, 1, 1 };
	int width[COLUMNS] = { 0 };

	for (int r = 0; r < rows; r++)
		for (int k = 0; k < COLUMNS; k++)
			if ((int)strlen(cell[r][k]) > width[k])
				width[k] = (int)strlen(cell[r][k]);
	for (int r = 0; r < rows; r++) {
		for (int k = 0; k < COLUMNS; k++)
			if (width[k] > 0)
				buffer_printf(out, "%s%*s", k > 0 ? "  " : "",
				    right[k] ? width[k] : -width[k],
				    cell[r][k]);
		buffer_text(out, "\n");
	}
}

/* Append the table of stages, with steps if ${samples} is not 0. */
static void
summary_print_stages(const struct schedule *s, uint64_t samples,
    struct buffer *out)
{
	char *(*cell)[COLUMNS] = xcalloc((size_t)s->stages + 1, sizeof(*cell));
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	double whole = schedule_work(s) *
	    cell_cost(schedule_largest(s, &cost_input));
	static const char *const head[COLUMNS] = { "stage", "epochs",
		"clips x frames x crop", "bn", "stride", "lr", "work", "" };

	for (int k = 0; k < COLUMNS; k++)
		cell[0][k] = xstrdup(k == COLUMNS - 1 && samples > 0 ? "steps" :
		    head[k]);
	if (samples > 0)
		schedule_count(s, samples, steps);
	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		char **c = cell[i + 1];
		uint64_t sum = 0;

		for (int k = 0; k < g->cells; k++)
			sum += steps[i][k];
		c[0] = xprintf("%d", i);
		c[1] = xprintf("%d-%d", g->epoch_begin, g->epoch_end);
		c[2] = summary_shapes_text(g);
		c[3] = summary_groups_text(g);
		c[4] = summary_strides_text(&g->cell[0]);
		c[5] = summary_rate_text(g);
		c[6] = xprintf("%.1f %%",
		    100 * (g->epoch_end - g->epoch_begin) * stage_cost(g,
		    &cost_input) / whole);
		c[7] = samples > 0 ? xprintf("%llu", (unsigned long long)sum) :
		    xstrdup("");
	}
	summary_print_columns(cell, s->stages + 1, out);
	for (int r = 0; r <= s->stages; r++)
		for (int k = 0; k < COLUMNS; k++)
			free(cell[r][k]);
	free(cell);
	free(steps);
}

void
schedule_summary(const struct schedule *s, uint64_t samples, int epochs,
    struct buffer *out)
{
	const struct cell *large = schedule_largest(s, &cost_input);
	double work = schedule_work(s);
	int own = schedule_epochs(s);

	summary_print_stages(s, samples, out);
	buffer_printf(out, "\n%d epochs in %d stage%s: the work of %.4g "
	    "epochs at %dx%dx%d\n", own, s->stages, s->stages == 1 ? "" : "s",
	    work, large->batch, large->frames, large->crop);
	if (epochs > 0 && epochs != own)
		buffer_printf(out, "against %d epochs at that shape: %.1f %% "
		    "of the work, a speed-up of %.2f\n", epochs,
		    100 * work / epochs, epochs / work);
	buffer_printf(out, "against %d epochs at that shape: %.1f %% of the "
	    "work, a speed-up of %.2f\n", own, 100 * work / own, own / work);
	if (samples > 0) {
		uint64_t steps = schedule_steps(s, samples);
		struct schedule_step end = schedule_seek(s, samples, steps);

		buffer_printf(out, "over %llu samples: %llu steps, %llu "
		    "clips\n", (unsigned long long)samples,
		    (unsigned long long)steps, (unsigned long long)end.clip);
	}
}

enum { PARTS = 20 };

/*
 * Return the epoch at which ${work} is done, or -1 if the schedule does less.
 */
static double
summary_epoch_at(const struct schedule *s, const struct cost *cost, double work)
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
summary_check_costs(const struct schedule *s, const struct cost *cost)
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
summary_compare_place(const struct schedule *s, double epoch, uint64_t samples,
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

/* Print the places of the ${n} schedules ${s} after ${work}. */
static void
summary_compare_row(struct schedule *const *s, int n, uint64_t samples,
    const struct cost *cost, double work, struct buffer *out)
{
	for (int j = 0; j < n; j++) {
		double epoch = summary_epoch_at(s[j], cost, work);

		if (epoch >= 0)
			summary_compare_place(s[j], epoch, samples, out);
		else
			buffer_text(out, samples > 0 ? "\t-\t-\t-\t-" :
			    "\t-\t-\t-");
	}
	buffer_text(out, "\n");
}

int
summary_compare(struct schedule *const *s, const char *const *name, int n,
    uint64_t samples, const struct cost *cost, struct buffer *out)
{
	const struct cell *large = NULL;
	double unit = 0, largest = 0;

	for (int j = 0; j < n; j++)
		if (summary_check_costs(s[j], cost) != 0)
			return -1;
	for (int j = 0; j < n; j++) {
		const struct cell *c = schedule_largest(s[j], cost);
		double one = cost->of(c, cost->arg);

		large = one >= unit ? c : large;
		unit = fmax(unit, one);
		largest = fmax(largest, schedule_cost(s[j], cost));
	}
	buffer_printf(out, "# work in epochs at %d frames and crop size %d, by "
	    "%s\n#schedule\tepochs\tstages\twork\tof_the_most%s\n",
	    large->frames, large->crop, cost->unit,
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
	buffer_text(out, "#work");
	for (int j = 1; j <= n; j++)
		buffer_printf(out, samples > 0 ? "\tepoch_%d\tshape_%d\tlr_%d"
		    "\tstep_%d" : "\tepoch_%d\tshape_%d\tlr_%d", j, j, j, j);
	buffer_text(out, "\n");
	for (int k = 0; k < PARTS; k++) {
		double work = largest * k / PARTS;

		buffer_printf(out, "%.4g", work / unit);
		summary_compare_row(s, n, samples, cost, work, out);
	}
	return 0;
}
