/*
 * Makes multigrid schedules.  PySlowFast computes these doubles in the same
 * order, so do not reorder or merge operations.  rint rounds halves to even, as
 * round does in Python.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "sched/multigrid.h"

/* A shape of the long cycle, rounded. */
struct multigrid_shape {
	int times;		/* batch, in base batches */
	int frames, crop;
	double mean;		/* mean batch of its short cycle, in base
				 * batches */
};

/*
 * Return the number of clips of that shape that cost as much as one of the base
 * shape: T0 * S0 * S0 / (T * S * S), with halves rounded to even.
 */
static int
multigrid_batch(const struct multigrid *m, int frames, double crop)
{
	double whole = (double)m->frames * m->crop * m->crop;

	return (int)fmin(rint(whole / (frames * crop * crop)), INT_MAX);
}

/*
 * Return the factor of the batch in step ${i} of the short cycle, in a stage of
 * crop ${crop}.  It is (S / (f * S0))^2 with f the short factor ${i}, with
 * halves rounded to even.  It is 1 for the last step, which takes the stage's
 * own crop.
 */
static int
multigrid_short(const struct multigrid *m, int crop, int i)
{
	double ratio;

	if (i == m->shorts)
		return 1;
	ratio = crop / (m->short_factor[i] * m->crop);
	return (int)fmin(rint(ratio * ratio), INT_MAX);
}


/* Compute shape ${k} of the long cycle.  Return 0, or -1 after a message. */
static int
multigrid_long_shape(const struct multigrid *m, int k,
    struct multigrid_shape *s)
{
	const struct long_factor *f = &m->long_factor[k];
	double sum = 0;

	s->frames = (int)rint(m->frames * f->frames);
	s->crop = (int)rint(m->crop * f->crop);
	if (s->frames < 1 || s->crop < 1)
		return fail("long cycle: %g x %g of %d frames and crop size "
		    "%d is %d x %d (wanted at least 1 x 1)", f->frames, f->crop,
		    m->frames, m->crop, s->frames, s->crop);
	/*
	 * As in PySlowFast, the mean uses short crops before rounding, and
	 * those relative to S0 for every S.
	 */
	for (int i = 0; i < m->shorts; i++)
		sum += multigrid_batch(m, s->frames, m->crop *
		    m->short_factor[i]);
	s->times = multigrid_batch(m, s->frames, s->crop);
	s->mean = (sum + s->times) / (m->shorts + 1);
	if (s->times < 1)
		return fail("long cycle: a clip of %d frames at crop size %d "
		    "is more than the whole of a base clip of %d at %d (wanted "
		    "factors up to 1)", s->frames, s->crop, m->frames, m->crop);
	return 0;
}

/* Set the cells of stage ${g}, which has shape ${s}. */
static int
multigrid_fill_cells(const struct multigrid *m, const struct multigrid_shape *s,
    struct stage *g)
{
	/* Fewer frames may cover the time span of the base clip. */
	int stretch = m->frames / s->frames;
	int stride = m->stride * (stretch > 0 ? stretch : 1);

	for (int i = 0; i <= m->shorts; i++) {
		double batch = (double)m->batch * s->times *
		    multigrid_short(m, s->crop, i);
		int crop = i < m->shorts ?
		    (int)rint(m->short_factor[i] * m->crop) : s->crop;

		if (crop < 1)
			return fail("short cycle: %g of crop size %d is less "
			    "than 1 pixel",
			    m->short_factor[i], m->crop);
		if (batch < 1)
			return fail("short cycle: crop size %d does not fit a "
			    "stage of crop size %d (wanted less than twice "
			    "its pixels)",
			    crop, s->crop);
		if (batch > SCHEDULE_BATCH)
			return fail("a batch of %.0f clips at %d frames and "
			    "crop size %d (wanted at most %d)", batch,
			    s->frames, crop, SCHEDULE_BATCH);
		if (stride > SCHEDULE_FRAMES)
			return fail("strides up to %d at %d frames (wanted at "
			    "most %d)", stride, s->frames, SCHEDULE_FRAMES);
		g->cell[i] = (struct cell){ .batch = (int)batch,
			.frames = s->frames, .crop = crop,
			.stride_min = m->stride, .stride_max = stride };
	}
	g->cells = m->shorts + 1;
	return 0;
}


/* State of the schedule under construction. */
struct multigrid_growth {
	const struct multigrid *m;
	struct schedule *s;
	size_t cap;
	/*
	 * [stages] Learning rate after warm-up, for a batch of ${times} base
	 * batches.
	 */
	struct flat { double lr; int times; } *flat;
	size_t flats;
};

/* Append a stage that ends at epoch ${end}, unless it would be empty. */
static int
multigrid_add_stage(struct multigrid_growth *w,
    const struct multigrid_shape *shape, double factor, int end)
{
	struct schedule *s = w->s;
	int first = s->stages > 0 ? schedule_epochs(s) : 0;
	double lr = lr_linear(w->m->lr, factor, shape->times);
	struct stage *g;

	if (end <= first)
		return 0;
	if (s->stages == SCHEDULE_STAGES || end > SCHEDULE_EPOCHS)
		return fail("more than %d stages or %d epochs", SCHEDULE_STAGES,
		    SCHEDULE_EPOCHS);
	if (lr > LR_MAX)
		return fail("a learning rate of %g after epoch %d (wanted at "
		    "most %g)", lr, first, LR_MAX);
	s->stage = array_reserve(s->stage, (size_t)s->stages, &w->cap,
	    sizeof(*g));
	w->flat = array_reserve(w->flat, (size_t)s->stages, &w->flats,
	    sizeof(*w->flat));
	w->flat[s->stages] = (struct flat){ lr, shape->times };
	g = &s->stage[s->stages++];
	*g = (struct stage){ .epoch_begin = first, .epoch_end = end };
	return multigrid_fill_cells(w->m, shape, g);
}

/*
 * Without a long cycle: use the base shape, and multiply and truncate epochs.
 */
static int
multigrid_base_stages(struct multigrid_growth *w)
{
	const struct multigrid *m = w->m;
	struct multigrid_shape base = { 1, m->frames, m->crop, 1 };

	for (int j = 0; j <= m->milestones; j++) {
		int end = j < m->milestones ? m->milestone[j] : m->epochs;

		if (multigrid_add_stage(w, &base, m->factor[j],
		    (int)(end * m->epoch_factor)) != 0)
			return -1;
	}
	return 0;
}

/*
 * Return the number of epochs between milestones ${j} - 1 and ${j}, without
 * cycles.
 */
static int
multigrid_epochs_between(const struct multigrid *m, int j)
{
	return (j < m->milestones ? m->milestone[j] : m->epochs) -
	    (j > 0 ? m->milestone[j - 1] : 0);
}

/*
 * Divide the epochs between two milestones in proportion to the mean batch, so
 * that each shape gets the same number of steps.  Reduce the steps of
 * fine-tuning by the factor by which the cycles reduce the others.  Then scale
 * all to the requested total, and round ends, not lengths.
 */
static int
multigrid_long_stages(struct multigrid_growth *w,
    const struct multigrid_shape *shape)
{
	const struct multigrid *m = w->m;
	const struct multigrid_shape *last = &shape[m->longs - 1];
	int cycles = m->fine_tune ? m->milestones : m->milestones + 1;
	double means = 0, steps = 0, raw = 0, tuning = 0, stretch, done = 0;
	int begin, end;

	for (int k = 0; k < m->longs; k++)
		means += shape[k].mean;
	for (int j = 0; j < cycles; j++)
		for (int k = 0; k < m->longs; k++) {
			double epochs = multigrid_epochs_between(m, j) *
			    shape[k].mean / means;

			steps += epochs / shape[k].mean;
			raw += epochs;
		}
	if (m->fine_tune) {
		double saving = m->milestone[m->milestones - 1] / steps;

		tuning = multigrid_epochs_between(m, m->milestones) / saving *
		    last->mean;
		raw += tuning;
	}
	stretch = m->epochs * m->epoch_factor / raw;
	for (int j = 0; j < cycles; j++)
		for (int k = 0; k < m->longs; k++) {
			done += multigrid_epochs_between(m, j) * shape[k].mean /
			    means * stretch;
			if (multigrid_add_stage(w, &shape[k], m->factor[j],
			    (int)rint(done)) != 0)
				return -1;
		}
	if (!m->fine_tune)
		return 0;
	/*
	 * The first half of fine-tuning keeps the learning rate, so that shape
	 * and rate do not change in the same epoch.
	 */
	begin = (int)rint(done);
	end = (int)rint(done + tuning * stretch);
	if (multigrid_add_stage(w, last, m->factor[m->milestones - 1],
	    (begin + end) / 2) != 0)
		return -1;
	return multigrid_add_stage(w, last, m->factor[m->milestones], end);
}


/*
 * Return the learning rate of stage ${i} without warm-up.  A curve spans the
 * epochs of the whole schedule and is multiplied by the relative batch, as a
 * constant is.  PySlowFast treats its relative learning rates in this way.
 */
static struct lr_piece
multigrid_rate_of(const struct multigrid_growth *w, int i)
{
	const struct multigrid *m = w->m;
	int end = schedule_epochs(w->s), times = w->flat[i].times;

	if (m->decay == LR_FLAT)
		return (struct lr_piece){ .kind = LR_FLAT, .r0 = w->flat[i].lr,
			.until = w->s->stage[i].epoch_end };
	return (struct lr_piece){ .kind = m->decay, .power = m->power,
		.until = end, .e0 = 0, .r0 = lr_linear(m->lr, 1, times),
		.e1 = end, .r1 = lr_linear(m->lr_end, 1, times) };
}

/* Return the factor of the warm-up at ${epoch}, if it multiplies the decay. */
static double
multigrid_warmup(const struct multigrid *m, double epoch)
{
	double n = m->warmup_epochs - (m->hold == HOLD_ALL);
	double first = m->warmup_lr / m->lr;

	return epoch < n ? first + (1 - first) * (epoch / n) : 1;
}

/*
 * Set the learning rate of stage ${i}, whose decay holds for whole epochs.  A
 * piece is an epoch, or more if the rate stays the same.
 */
static int
multigrid_hold_rates(const struct multigrid_growth *w, int i)
{
	const struct multigrid *m = w->m;
	struct stage *g = &w->s->stage[i];
	struct lr_piece decay = multigrid_rate_of(w, i), *p = NULL;
	size_t n = 0, cap = 0;

	for (int e = g->epoch_begin; e < g->epoch_end; e++) {
		double lr = lr_at(&decay, 1, e);
		double r0 = lr * multigrid_warmup(m, e);
		double r1 = m->hold == HOLD_ALL ? r0 :
		    lr * multigrid_warmup(m, e + 1);

		if (n > 0 && p[n - 1].r0 == r0 && r0 == r1) {
			p[n - 1].until = p[n - 1].e1 = e + 1;
			continue;
		}
		if (n == LR_PIECES)
			return fail("more than %d learning rates in a stage "
			    "(wanted --hold-lr=none)", LR_PIECES);
		p = array_reserve(p, n, &cap, sizeof(*p));
		p[n++] = (struct lr_piece){ LR_LINE, e + 1, e, r0, e + 1, r1,
			0 };
	}
	g->lr = p;
	g->pieces = (int)n;
	return 0;
}

/* Set the learning rates of all stages, with the warm-up. */
static int
multigrid_set_rates(const struct multigrid_growth *w)
{
	const struct multigrid *m = w->m;
	struct lr_warmup warm = { m->warmup_epochs, m->warmup_lr, 0 };
	struct schedule *s = w->s;
	struct lr_piece after;

	if (warm.epochs >= schedule_epochs(s))
		return fail("the warm-up takes %g epochs, but the schedule "
		    "has %d",
		    warm.epochs, schedule_epochs(s));
	for (int i = 0; i < s->stages && m->hold != HOLD_NONE; i++)
		if (multigrid_hold_rates(w, i) != 0)
			return -1;
	if (m->hold != HOLD_NONE)
		return 0;
	/* Warm up to the learning rate of the epoch in which it ends. */
	after = multigrid_rate_of(w, (int)(schedule_stage(s, (int)warm.epochs) -
	    s->stage));
	warm.to = lr_at(&after, 1, warm.epochs);
	for (int i = 0; i < s->stages; i++) {
		struct stage *g = &s->stage[i];

		after = multigrid_rate_of(w, i);
		g->pieces = lr_stage(&after, g->epoch_begin, g->epoch_end,
		    &warm, &g->lr);
	}
	return 0;
}

struct schedule *
multigrid_schedule(const struct multigrid *m)
{
	struct multigrid_growth w = { .m = m };
	struct multigrid_shape *shape = xcalloc((size_t)m->longs,
	    sizeof(*shape));
	int status = 0;

	w.s = xcalloc(1, sizeof(*w.s));
	w.s->path = xstrdup("schedule");
	for (int k = 0; k < m->longs && status == 0; k++)
		status = multigrid_long_shape(m, k, &shape[k]);
	if (status == 0 && m->longs > 0 && m->fine_tune && m->milestones == 0)
		status = fail("there is no milestone, so all epochs would be "
		    "fine-tuning and none a long cycle");
	if (status == 0)
		status = m->longs > 0 ? multigrid_long_stages(&w, shape) :
		    multigrid_base_stages(&w);
	if (status == 0 && w.s->stages == 0)
		status = fail("%d epochs times %g are less than 1", m->epochs,
		    m->epoch_factor);
	if (status == 0)
		status = multigrid_set_rates(&w);
	free(w.flat);
	free(shape);
	if (status == 0)
		return w.s;
	schedule_free(w.s);
	return NULL;
}
