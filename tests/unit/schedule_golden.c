/*
 * Schedules equal those of PySlowFast and MMAction2: shapes, epochs, learning
 * rates as doubles, strides and BN groups of every tests/golden/psf_*.tsv, from
 * the values of its config.
 */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/table.h"
#include "sched/group.h"
#include "sched/multigrid.h"
#include "sched/schedule.h"

#include "schedule_lr.h"
#include "tap.h"

enum { MOST = 32 };

/* Counts of compared rows and values, for the report. */
static int rows, values;

struct config {
	struct multigrid m;
	int ranks, bn_size, by_stage;
	uint64_t samples;
	int fall[MOST];
	double factor[MOST], shorts[MOST];
	struct long_factor longs[MOST];
};

static struct table *
golden(const char *name, const char *kind)
{
	char path[256];

	snprintf(path, sizeof(path), "psf_%s.%s.tsv", name, kind);
	return table_read(golden_path(path));
}

/* ---- the config, with values printed by Python ---- */

static const char *
value(const struct table *t, const char *key)
{
	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], key) == 0)
			return t->cell[r][1];
	printf("Bail out! no %s in %s\n", key, t->path);
	exit(1);
}

static double
number(const struct table *t, const char *key)
{
	return strtod(value(t, key), NULL);
}

/*
 * Read the numbers of a list, with or without brackets of tuples.  Return their
 * number.
 */
static int
numbers(const char *text, double to[MOST])
{
	int n = 0;

	while (*(text += strcspn(text, "0123456789")) != '\0' && n < MOST) {
		char *end;

		to[n++] = strtod(text, &end);
		text = end;
	}
	return n;
}

static void
read_config(const char *name, struct config *c)
{
	struct table *t = golden(name, "config");
	double list[MOST];
	int is_long = *value(t, "in.MULTIGRID.LONG_CYCLE") == 'T', n;

	memset(c, 0, sizeof(*c));
	c->m = (struct multigrid){
		.batch = (int)number(t, "in.TRAIN.BATCH_SIZE"),
		.frames = (int)number(t, "in.DATA.NUM_FRAMES"),
		.crop = (int)number(t, "in.DATA.TRAIN_CROP_SIZE"),
		.stride = (int)number(t, "in.DATA.SAMPLING_RATE"),
		.epochs = (int)number(t, "in.SOLVER.MAX_EPOCH"),
		.lr = number(t, "in.SOLVER.BASE_LR"),
		.epoch_factor = number(t, "in.MULTIGRID.EPOCH_FACTOR"),
		.warmup_epochs = number(t, "in.SOLVER.WARMUP_EPOCHS"),
		.warmup_lr = number(t, "in.SOLVER.WARMUP_START_LR"),
		.fine_tune = 1
	};
	c->ranks = (int)number(t, "in.NUM_GPUS");
	c->bn_size = (int)number(t, "in.MULTIGRID.BN_BASE_SIZE");
	c->by_stage = is_long;
	c->samples = (uint64_t)number(t, "iters.num_train_videos");
	c->m.milestones = numbers(value(t, "in.SOLVER.STEPS"), list) - 1;
	for (int j = 0; j < c->m.milestones; j++)
		c->fall[j] = (int)list[j + 1];
	/*
	 * The long cycle ignores LRS and takes powers of gamma.  The short one
	 * uses LRS.
	 */
	numbers(value(t, "in.SOLVER.LRS"), c->factor);
	for (int j = 0; is_long && j <= c->m.milestones; j++)
		c->factor[j] = pow(number(t, "in.SOLVER.GAMMA"), j);
	c->m.shorts = numbers(value(t, "in.MULTIGRID.SHORT_CYCLE_FACTORS"),
	    c->shorts);
	n = numbers(value(t, "in.MULTIGRID.LONG_CYCLE_FACTORS"), list);
	c->m.longs = is_long ? n / 2 : 0;
	for (int k = 0; k < n / 2; k++)
		c->longs[k] = (struct long_factor){ list[2 * k],
			list[2 * k + 1] };
	c->m.milestone = c->fall;
	c->m.factor = c->factor;
	c->m.short_factor = c->shorts;
	c->m.long_factor = c->longs;
	table_free(t);
}

/* ---- comparison ---- */

static int
same(const struct table *t, size_t r, const char *column, double got)
{
	double want;

	values++;
	if (table_real(t, r, column, -1e9, 1e9, &want) == 0 && want == got)
		return 1;
	diag("%s:%d: %s is %s, not %.17g", t->path, t->line[r], column,
	    table_text(t, r, column), got);
	return 0;
}

/*
 * Compare the BN groups of a cell with the terms PySlowFast has for them on
 * ${ranks} devices.
 */
static int
same_groups(const struct table *t, size_t r, const struct cell *c, int ranks)
{
	int own = c->batch / ranks;
	const char *type = c->run > 0 ? "sub_batchnorm" : c->group > own ?
	    "sync_batchnorm" : "batchnorm";
	int good = strcmp(table_text(t, r, "bn_type"), type) == 0;

	values++;
	if (!good)
		diag("%s:%d: %s, not %s", t->path, t->line[r],
		    table_text(t, r, "bn_type"), type);
	if (c->run > 0)
		good &= c->run == own;
	return good &
	    same(t, r, "bn_num_splits", c->run > 0 ? own / c->group : 1) &
	    same(t, r, "bn_sync_devices", c->run > 0 ? 1 : c->group / own);
}

/*
 * Compare the columns of all three files: the base shape of a stage, or a cell.
 */
static int
same_shape(const struct table *t, size_t r, const struct cell *c, int ranks)
{
	return same(t, r, "batch_global", c->batch) &
	    same(t, r, "batch_per_gpu", (double)c->batch / ranks) &
	    same(t, r, "T", c->frames) & same_groups(t, r, c, ranks);
}

/* sr_max is 0 if the stride does not vary. */
static int
same_strides(const struct table *t, size_t r, const struct cell *c)
{
	const char *max = table_text(t, r, "sr_max");

	if (strcmp(max, "-") == 0)
		return 1;		/* segments: no stride is drawn */
	return same(t, r, "sr_min", c->stride_min) &
	    (strcmp(max, "0") == 0 ? c->stride_max == c->stride_min :
	    same(t, r, "sr_max", c->stride_max));
}

static int
same_phases(const char *name, const struct config *c, const struct schedule *s)
{
	struct table *t = golden(name, "phases");
	int good = (int)t->rows == s->stages;

	for (size_t r = 0; r < t->rows && good; r++, rows++) {
		const struct stage *g = &s->stage[r];
		const struct cell *last = &g->cell[g->cells - 1];

		good &= same(t, r, "start_epoch", g->epoch_begin) &
		    same(t, r, "end_epoch", g->epoch_end) &
		    same(t, r, "n_epochs", g->epoch_end - g->epoch_begin) &
		    same(t, r, "b_factor", (double)last->batch / c->m.batch) &
		    same(t, r, "S", last->crop) &
		    same(t, r, "lr_no_warmup", g->lr[g->pieces - 1].r0) &
		    same(t, r, "bn_clips_per_group_base", last->group) &
		    same_shape(t, r, last, c->ranks) & same_strides(t, r, last);
	}
	table_free(t);
	return good;
}

static int
same_epochs(const char *name, const struct config *c, const struct schedule *s)
{
	struct table *t = golden(name, "epochs");
	int good = (int)t->rows == schedule_epochs(s);

	for (size_t r = 0; r < t->rows; r++, rows++) {
		const struct stage *g = schedule_stage(s, (int)r);
		const struct cell *last = &g->cell[g->cells - 1];

		good &= same(t, r, "epoch", (double)r) &
		    same(t, r, "phase", (double)(g - s->stage)) &
		    same(t, r, "b_factor", (double)last->batch / c->m.batch) &
		    same(t, r, "S", last->crop) &
		    same(t, r, "lr_at_start", schedule_lr(s, (double)r)) &
		    same(t, r, "lr_at_half", schedule_lr(s, (double)r + .5)) &
		    same_shape(t, r, last, c->ranks) & same_strides(t, r, last);
	}
	table_free(t);
	return good;
}

/*
 * Compare the first steps of every stage, found by iterating over the real
 * samples.
 */
static int
same_steps(const char *name, const struct config *c, const struct schedule *s)
{
	struct table *t = golden(name, "shortcycle");
	struct schedule_step at = schedule_start(s, c->samples);
	int good = 1;

	for (size_t r = 0; r < t->rows && good; r++, rows++) {
		int64_t stage, iter;
		const struct cell *cell;

		if (table_int(t, r, "phase", 0, MOST, &stage) != 0 ||
		    table_int(t, r, "iter", 0, MOST, &iter) != 0)
			good = 0;
		while (at.cell != NULL && at.stage < stage)
			at = schedule_next(s, c->samples, &at);
		if ((cell = at.cell) == NULL)
			good = 0;
		else
			good &= (at.stage == stage) &
			    same(t, r, "short_idx", at.cycle_position) &
			    same(t, r, "crop", cell->crop) &
			    same(t, r, "bn_clips_per_group", cell->group) &
			    same(t, r, "cost_rel_default", cell->batch *
			    cell_cost(cell) / (c->m.batch * ((double)c->m.frames *
			    c->m.crop * c->m.crop))) &
			    same_shape(t, r, cell, c->ranks) &
			    same_strides(t, r, cell);
		at = schedule_next(s, c->samples, &at);
	}
	table_free(t);
	return good;
}

/* PySlowFast's loaders drop the last partial batch of an epoch; ours do not. */
static int
near_iterations(const char *name, const struct config *c,
    const struct schedule *s)
{
	struct table *t = golden(name, "config");
	double theirs = number(t, "iters.multigrid_total");
	double ours = (double)schedule_steps(s, c->samples);

	diag("%s: %.0f steps, PySlowFast %.0f", name, ours, theirs);
	table_free(t);
	return fabs(ours - theirs) < 0.003 * theirs;
}

static void
test_case(const char *name)
{
	struct config c;
	struct schedule *s, *back;
	struct table *t;
	char *text;
	int counted_rows, counted_values;

	read_config(name, &c);
	s = multigrid_schedule(&c.m);
	if (!ok(s != NULL && group_pyslowfast(s, c.bn_size, c.ranks,
	    c.by_stage) == 0, "%s: a schedule is made", name))
		return;
	ok(same_phases(name, &c, s), "%s: phases are equal", name);
	ok(same_epochs(name, &c, s), "%s: epochs are equal", name);
	ok(same_steps(name, &c, s),
	    "%s: the first steps of each phase are equal", name);
	ok(near_iterations(name, &c, s),
	    "%s: the number of steps is equal within 0.3 %%",
	    name);
	/* Repeat with the printed table, which is what training reads. */
	counted_rows = rows;
	counted_values = values;
	text = schedule_text(s);
	t = table_parse(name, text);
	back = schedule_from_table(t);
	ok(same_phases(name, &c, back) && same_epochs(name, &c, back) &&
	    same_steps(name, &c, back),
	    "%s: its printed table gives the same", name);
	rows = counted_rows;
	values = counted_values;
	table_free(t);
	free(text);
	schedule_free(s);
	schedule_free(back);
}

/*
 * MMAction2 0.24.1 writes its factors with four digits, and lowers the learning
 * rate once more in the second half of fine-tuning.  All else is the same.
 */
static void
test_mmaction2(void)
{
	static const int fall[] = { 94, 154, 196 };
	static const struct long_factor longs[] = { { 0.25, 0.7071 },
		{ 0.5, 0.7071 }, { 0.5, 1 }, { 1, 1 } };
	static const double shorts[] = { 0.5, 0.7071 };
	double factor[4];
	struct multigrid m = { .batch = 8, .frames = 32, .crop = 224,
		.stride = 2, .epochs = 239, .milestones = 3, .milestone = fall,
		.factor = factor, .lr = 0.1, .epoch_factor = 1.5, .longs = 4,
		.long_factor = longs, .shorts = 2, .short_factor = shorts,
		.fine_tune = 1 };
	struct table *t = table_read(golden_path(
	    "mmaction2_v0.24.1_k400_slowfast_multigrid.phases.tsv"));
	struct schedule *s;
	int good;

	for (int j = 0; j < 4; j++)
		factor[j] = pow(0.1, j < 3 ? j : 4);
	s = multigrid_schedule(&m);
	good = (int)t->rows == s->stages;
	for (size_t r = 0; r < t->rows && good; r++, rows++) {
		const struct stage *g = &s->stage[r];
		const struct cell *last = &g->cell[2];
		double lr = schedule_lr(s, g->epoch_begin);

		good &= same(t, r, "start_epoch", g->epoch_begin) &
		    same(t, r, "end_epoch", g->epoch_end) &
		    same(t, r, "batch_per_gpu", last->batch) &
		    same(t, r, "T", last->frames) &
		    same(t, r, "S", last->crop) &
		    same(t, r, "frame_interval", last->stride_max);
		/* Their last product is computed in another order. */
		good &= r + 1 < t->rows ? same(t, r, "lr_no_warmup", lr) :
		    fabs(lr - 1e-5) < 1e-20;
	}
	ok(good,
	    "mmaction2 k400: phases are equal, with its last learning rate");
	table_free(t);
	schedule_free(s);
}

int
main(void)
{
	static const char *const names[] = {
		"k400_slowfast_8x8_r50_stepwise_multigrid",
		"ssv2_slowfast_16x8_r50_multigrid", "k400_1gpu_b8",
		"k400_short_only", "synthetic_tsm8f_k400", "synthetic_tsm8f_1gpu"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		test_case(names[i]);
	test_mmaction2();
	diag("%d rows and %d values compared", rows, values);
	return done();
}
