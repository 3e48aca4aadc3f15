/*
 * Learning rate curves, growing batches, and conversions of step, epoch and
 * sample agree with their formulas.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "sched/group.h"
#include "sched/growth.h"
#include "sched/multigrid.h"
#include "sched/query.h"

#include "schedule_lr.h"
#include "said.h"
#include "tap.h"

/*
 * Return lr / (B (1 - m)) of cell ${k} of a stage, the noise scale per sample.
 * The momentum is ${momentum} if the stage has none.
 */
static double
schedule_noise(const struct stage *g, int k, double epoch, double momentum)
{
	if (g->sets_momentum)
		momentum = g->momentum;
	return lr_at(g->lr, g->pieces, epoch) / (g->cell[k].batch *
	    (1 - momentum));
}

/* ---- curves ---- */

static void
test_cosine(void)
{
	double worst = 0;

	for (int i = 0; i <= 1000; i++)
		worst = fmax(worst, fabs(lr_cosine(i / 1000.0) -
		    (1 + cos(acos(-1) * i / 1000.0)) / 2));
	ok(worst < 3e-16,
	    "lr_cosine is half a cosine wave within rounding (%g)",
	    worst);
}

static void
test_text(void)
{
	static const char text[] = "0@0..0.5@5,0.5@5..0.1@90:cosine";
	struct lr_piece *p;
	struct buffer b = { 0 };
	int n = lr_parse("t", text, 0, 90, &p);

	is(n, 2, "a warm-up and a cosine parse as two pieces");
	lr_print(p, n, &b);
	is_text(b.data, text, "the pieces print as they were written");
	near(lr_at(p, n, 47.5), 0.3, 1e-15, "a cosine has its mean half-way");
	near(lr_at(p, n, 26.25), 0.1 + 0.1 * (2 + sqrt(2)), 1e-15,
	    "a cosine has fallen by 15 % at a quarter");
	near(lr_at(p, n, 90), 0.1, 1e-15, "a cosine ends at its end value");
	free(p);
	buffer_free(&b);
	n = lr_parse("t", "3@0..1@10:power2", 2, 10, &p);
	near(lr_at(p, n, 5), 1 + 2 * 0.25, 1e-15,
	    "power2 falls with the square");
	free(p);
	n = lr_parse("t", "3@0..0@10:power9", 0, 10, &p);
	near(lr_at(p, n, 9), 3e-9, 1e-20, "power9 falls with the ninth power");
	free(p);
}

static void
refused(const char *text, const char *why)
{
	struct lr_piece *p;
	char said[256];
	int n;

	said_begin(said, sizeof(said));
	n = lr_parse("t", text, 0, 10, &p);
	said_end();
	ok(n < 0 && strstr(said, why) != NULL, "%s: %s", text, why);
	if (n < 0 && strstr(said, why) == NULL)
		diag("%s", said);
	if (n >= 0)
		free(p);
}

/* ---- under multigrid cycles ---- */

static const struct long_factor longs[] = { { 0.25, 0.7071067811865476 },
	{ 0.5, 0.7071067811865476 }, { 0.5, 1 }, { 1, 1 } };
static const double shorts[] = { 0.5, 0.7071067811865476 };
static const int falls[] = { 94, 154, 196 };

/* PySlowFast's K400 schedule with another learning rate. */
static struct multigrid
kinetics(enum rate_kind decay)
{
	static const double ones[] = { 1, 1, 1, 1 };

	return (struct multigrid){ .batch = 64, .frames = 32, .crop = 224,
		.stride = 2, .epochs = 239, .milestones = 3, .milestone = falls,
		.factor = ones, .lr = 0.1, .decay = decay, .power = 2,
		.lr_end = 0.001, .epoch_factor = 1.5, .warmup_epochs = 34,
		.warmup_lr = 0.01, .longs = 4, .long_factor = longs,
		.shorts = 2, .short_factor = shorts, .fine_tune = 1 };
}

/*
 * At the start of each epoch, the rate is multiplied by the batch of the
 * stage's own cell over the base batch.
 */
static void
test_cycles(void)
{
	static const char *const name[] = { [LR_LINE] = "linear",
		[LR_COSINE] = "cosine", [LR_POWER] = "power" };

	for (int decay = LR_LINE; decay <= LR_POWER; decay++) {
		struct multigrid m = kinetics((enum rate_kind)decay);
		struct schedule *s = multigrid_schedule(&m);
		int end = schedule_epochs(s);
		double worst = 0;

		is(end, 358, "all decays give the same number of epochs");
		for (int e = 34; e < end; e++) {
			const struct stage *g = schedule_stage(s, e);
			double x = (double)e / end, f = decay == LR_LINE ?
			    1 - x : decay == LR_COSINE ?
			    (1 + cos(acos(-1) * x)) / 2 : (1 - x) * (1 - x);
			double times = g->cell[2].batch / 64.0;

			worst = fmax(worst, fabs(schedule_lr(s, e) / (times *
			    (0.001 + (0.1 - 0.001) * f)) - 1));
		}
		ok(worst < 1e-13,
		    "%s decays over all epochs, times the batch (%g)",
		    name[decay], worst);
		near(schedule_lr(s, 33.99999999), schedule_lr(s, 34), 1e-8,
		    "the warm-up ends at the rate of the decay");
		schedule_free(s);
	}
}

/* ---- growth ---- */

static struct schedule *
grown(enum follow follow, const struct growth_at *at, int n)
{
	struct multigrid m = kinetics(LR_COSINE);
	struct schedule *s = multigrid_schedule(&m);

	if (schedule_grow(s, 64, at, n, follow, 0.9) != 0) {
		schedule_free(s);
		return NULL;
	}
	return s;
}

static void
test_growth(void)
{
	static const struct growth_at at[] = { { 100, 128 }, { 205, 192 } };
	struct multigrid m = kinetics(LR_COSINE);
	struct schedule *was = multigrid_schedule(&m);
	struct schedule *lr = grown(FOLLOW_LR, at, 2);
	struct schedule *momentum = grown(FOLLOW_MOMENTUM, at, 2);
	struct schedule *none = grown(FOLLOW_NONE, at, 2), *again;
	double worst = 0, lower = 0;
	int batches = 0;
	struct table *t;
	char *text;

	/* Epoch 205 is the end of a stage, 100 is within one. */
	is(lr->stages, was->stages + 1,
	    "a stage is split where the batch grows");
	for (int e = 0; e < 358; e++) {
		double x = e + 0.5, base = schedule_noise(schedule_stage(was, e),
		    1, x, 0.9);
		int k = e < 100 ? 1 : e < 205 ? 2 : 3;

		worst = fmax(worst, fabs(schedule_noise(schedule_stage(lr, e), 1,
		    x, 0.9) / base - 1));
		worst = fmax(worst, fabs(schedule_noise(schedule_stage(momentum,
		    e), 1, x, 0) / base - 1));
		lower = fmax(lower, fabs(schedule_noise(schedule_stage(none, e),
		    1, x, 0.9) / base * k - 1));
		batches += schedule_stage(lr, e)->cell[0].batch ==
		    k * schedule_stage(was, e)->cell[0].batch;
	}
	is(batches, 358, "the batches of all cells grow");
	ok(worst < 1e-12, "scaling learning rate or momentum keeps the noise "
	    "scale (%g)", worst);
	ok(lower < 1e-12, "without scaling, the noise scale falls as the batch "
	    "grows (%g)", lower);
	is(group_constant(momentum, 8), 0, "BN groups keep their size");
	text = schedule_text(momentum);
	t = table_parse("t", text);
	again = schedule_from_table(t);
	ok(again != NULL && schedule_sets_momentum(again) &&
	    again->stage[again->stages - 1].momentum ==
	    momentum->stage[momentum->stages - 1].momentum,
	    "a table keeps the momentum to the last bit");
	ok(!schedule_sets_momentum(lr) && schedule_start(lr, 10).momentum < 0 &&
	    schedule_start(momentum, 10).momentum == 0.9,
	    "a step has a momentum only if the table has");
	table_free(t);
	free(text);
	schedule_free(again);
	schedule_free(was);
	schedule_free(lr);
	schedule_free(momentum);
	schedule_free(none);
}

static void
no_growth(struct growth_at at, const char *why)
{
	struct schedule *s;
	char said[256];

	said_begin(said, sizeof(said));
	s = grown(FOLLOW_LR, &at, 1);
	said_end();
	if (!ok(s == NULL && strstr(said, why) != NULL,
	    "a batch of %d at epoch %d is refused: %s",
	    at.batch, at.epoch, why))
		diag("%s", said);
	schedule_free(s);
}

/* ---- queries ---- */

static void
test_queries(void)
{
	struct multigrid m = kinetics(LR_COSINE);
	struct schedule *s = multigrid_schedule(&m);
	uint64_t samples = 5003, checked = 0, right = 0;

	for (struct schedule_step at = schedule_start(s, samples);
	    at.cell != NULL; at = schedule_next(s, samples, &at)) {
		uint64_t last = at.clip + (uint64_t)at.cell->batch - 1;

		if (at.step % 17 != 0)
			continue;
		checked += 2;
		right += query_clip(s, samples, at.clip).step == at.step;
		right += query_clip(s, samples, last).step == at.step;
	}
	ok(checked > 500 && right == checked,
	    "query_clip returns the step that takes a sample");
	schedule_free(s);
}

int
main(void)
{
	test_cosine();
	test_text();
	refused("0.1@0..0@10:sine", "wanted a line, or :cosine");
	refused("0.1@0..0@10:power1", "wanted a line, or :cosine");
	refused("0.1@0..0@10:power10", "wanted a line, or :cosine");
	refused("0.1@0..0@5:cosine", "another piece for the rest");
	test_cycles();
	test_growth();
	no_growth((struct growth_at){ 10, 128 }, "within the warm-up");
	no_growth((struct growth_at){ 358, 128 }, "the schedule has 358");
	no_growth((struct growth_at){ 150, 65 + (1 << 22) }, "whole number");
	test_queries();
	return done();
}
