/*
 * Estimate the time of a run.
 *
 * A pass over a microbatch takes c seconds of time and p of processor time.
 * Loading its clips takes d seconds of loader thread time.  Computing overlaps
 * loading, so in the long run a microbatch takes the longest of
 *
 *	c	if the device is the bottleneck
 *	d / L	if the L loader threads are
 *	(p + d) / N	if the N processors are
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ram.h"
#include "base/stop.h"
#include "base/text.h"
#include "net/feed.h"
#include "train/loop/estimate.h"
#include "train/loop/memory.h"
#include "train/loop/work.h"

enum { WARM = 1, TIMED = 5, TIMED_MAX = 256 };	/* passes over a shape */
#define TIMED_SECONDS 0.2		/* minimum time for a shape */
#define SCATTER 1.25			/* of times, to print a range */

struct estimate_rig {
	const struct trainer *t;
	int cores;
	void *gradient;
	struct outcome *outcome, *fetched;
	double fast, slow;		/* those of struct estimate */
};

/* Wall-clock and processor seconds of one pass in this process. */
struct estimate_pass { double seconds, busy; };

/* Return the number of microbatches in a step of the last rank, which has the
 * most. */
static int
estimate_share(const struct trainer *t, const struct planned_cell *c)
{
	int first;

	return c->kind != PLANNED_CELL ? 1 : work_microbatches_of(t, c->parts.n,
	    t->comm->size - 1, &first);
}

static double
estimate_processor_seconds(void)
{
	struct timespec s;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &s);
	return (double)s.tv_sec + 1e-9 * (double)s.tv_nsec;
}

static int
estimate_by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Set ${*to} to the median of ${seconds}[n], because other programs delay
 * single passes, and widen the range of ${r} to their first and last decile.
 */
static void
estimate_rig_median(struct estimate_rig *r, double *seconds, int n, double *to)
{
	qsort(seconds, (size_t)n, sizeof(*seconds), estimate_by_time);
	*to = seconds[n / 2];
	r->fast = fmin(r->fast, seconds[n / 10] / *to);
	r->slow = fmax(r->slow, seconds[n - 1 - n / 10] / *to);
}

/* Time forward passes over ${p}, and backward passes if ${backward}. */
static int
estimate_rig_time(struct estimate_rig *r, struct plan *p, int backward,
    struct estimate_pass *to)
{
	struct net *n = r->t->net;
	const struct graph *g = n->graph;
	double seconds[TIMED_MAX], begin = 0, busy = 0, last = 0;
	struct feed f = { 0 };
	int timed = -WARM;

	feed_make(&f, p->input, &g->needs);
	f.outcome = p->training ? r->outcome : NULL;
	for (; (timed < TIMED || (timed < TIMED_MAX && last - begin <
	    TIMED_SECONDS)) && stop_signal() == 0; timed++) {
		if (timed == 0) {
			begin = last = clock_seconds();
			busy = estimate_processor_seconds();
		}
		net_forward(n, p, &f, p->training ? r->gradient : NULL);
		if (backward)
			plan_backward(p, NULL);
		/* The download waits until the device has finished. */
		device_download(n->device, r->fetched, r->outcome,
		    (size_t)g->heads * sizeof(*r->fetched));
		if (timed >= 0) {
			seconds[timed] = clock_seconds() - last;
			last += seconds[timed];
		}
	}
	feed_free(&f, &g->needs);
	if (stop_signal() != 0)
		return -1;
	to->busy = (estimate_processor_seconds() - busy) / timed;
	estimate_rig_median(r, seconds, timed, &to->seconds);
	return 0;
}

/* Return the thread seconds that ${l} takes to load a clip, or -1 after a
 * message.  Free ${l}. */
static double
estimate_rig_drain(struct loader *l)
{
	struct loader_stats s;
	struct microbatch *mb;
	int got = 1;

	for (int i = 0; i < TIMED && (got = loader_next(l, &mb)) == 1; i++)
		loader_return(l, mb);
	s = loader_stats(l);
	loader_free(l);
	if (got < 0)
		return -1;
	return s.clips > 0 ? (s.read + s.decode + s.resize) /
	    (double)s.clips : 0;
}

/* Return the thread seconds to load a clip of ${c}, 0 if its dataset has no
 * frames yet, or -1 after a message. */
static double
estimate_rig_load(const struct estimate_rig *r, const struct planned_cell *c)
{
	const struct trainer *t = r->t;
	struct loader_options o = t->loading;
	struct view_options v = t->viewing;
	uint32_t wanted = TIMED * (uint32_t)v.n, n;

	if (!dataset_has_frames(c->kind == PLANNED_VIEWS ? t->val : t->train))
		return 0;
	if (c->kind == PLANNED_VIEWS) {
		n = dataset_samples(t->val);
		return estimate_rig_drain(loader_views(t->val, 0,
		    n < wanted ? n : wanted, &v));
	}
	o.trace = NULL;
	o.replaces = 1;			/* the run reports damaged samples, not
					 * the estimate */
	o.audit = 0;
	o.until = c->next + 1;
	return estimate_rig_drain(loader_new(t->train, t->schedule, c->next,
	    &o));
}

/* Return the seconds of a pass that overlaps loading.  ${load}: thread seconds
 * that loading takes per pass. */
static double
estimate_rig_together(const struct estimate_rig *r,
    const struct estimate_pass *p, double load, int threads)
{
	return fmax(p->seconds, fmax(load / threads, (p->busy + load) /
	    r->cores));
}

/* Return the plan to time.  If ranks share a microbatch, time an unshared one
 * of the same size, because the other ranks do not take part. */
static struct plan *
estimate_rig_plan(const struct estimate_rig *r, const struct planned_cell *c)
{
	return c->plan->peers == NULL ? c->plan : net_plan(r->t->net,
	    c->plan->input, 1);
}

/* Return the seconds of a step from an earlier cell of the same shape, or 0 if
 * there is none. */
static double
estimate_known_cell(const struct trainer *t, const struct planned_cell *c)
{
	for (const struct planned_cell *a = t->work->cells.row; a < c; a++)
		if (a->plan == c->plan && a->seconds > 0)
			return a->seconds * estimate_share(t, c) /
			    estimate_share(t, a);
	return 0;
}

/* Measure the seconds of a step of ${c}, unless an earlier cell has the same
 * shape.  Return 0, or -1. */
static int
estimate_measure_cell(struct estimate_rig *r, struct planned_cell *c)
{
	const struct trainer *t = r->t;
	struct plan *p = estimate_rig_plan(r, c);
	struct estimate_pass pass;
	double load;

	if ((c->seconds = estimate_known_cell(t, c)) > 0)
		return 0;
	if (p == NULL || net_reserve(t->net) != 0 ||
	    estimate_rig_time(r, p, c->kind == PLANNED_CELL, &pass) != 0 ||
	    (load = estimate_rig_load(r, c)) < 0)
		return -1;
	c->seconds = estimate_share(t, c) * estimate_rig_together(r, &pass,
	    load * p->input->n, c->kind == PLANNED_VIEWS ? t->viewing.threads :
	    t->loading.threads);
	return 0;
}

/* Add up the times of all remaining steps and validations. */
static void
estimate_total(const struct trainer *t, struct estimate *e)
{
	const struct planned_cells *c = &t->work->cells;

	for (const struct planned_cell *r = c->row; r < c->row + c->all; r++) {
		double seconds = (double)r->left * r->seconds;

		if (r->kind != PLANNED_CELL) {
			e->validating += seconds;
			continue;
		}
		e->steps += r->left;
		e->training += seconds;
	}
	e->validates = t->val != NULL;
	e->validations = e->validating > 0 ? cells_validations(t) : 0;
}

/* Check that the memory suffices, and allocate the buffers of a pass.  Return
 * 0, or -1 after a message. */
static int
estimate_rig_open(struct estimate_rig *r)
{
	const struct net *n = r->t->net;
	struct memory m = memory_plan(r->t, r->t->comm->rank);
	size_t bytes = (size_t)n->graph->heads * sizeof(*r->outcome);
	size_t wanted = memory_host(r->t, &m) - m.item[MEMORY_BASE];
	char a[32], b[32];

	if (wanted > ram_available())
		return fail("timing this run needs %s of memory (%s "
		    "available): choose a smaller --bn-size "
		    "(vt-schedule), fewer frames or a smaller crop",
		    text_bytes(a, (double)wanted),
		    text_bytes(b, (double)ram_available()));
	r->gradient = device_alloc(n->device, n->graph->elements *
	    n->device->elem);
	r->outcome = device_alloc(n->device, bytes);
	r->fetched = xmalloc(bytes);
	return r->gradient == NULL || r->outcome == NULL ? -1 : 0;
}

static void
estimate_rig_close(struct estimate_rig *r)
{
	struct device *d = r->t->net->device;

	device_free(d, r->gradient);
	device_free(d, r->outcome);
	free(r->fetched);
}

int
estimate_measure(struct trainer *t, int cores, struct estimate *e)
{
	struct estimate_rig r = { .t = t, .cores = cores, .fast = 1,
		.slow = 1 };
	const struct planned_cells *c = &t->work->cells;
	int bad;

	*e = (struct estimate){ 0 };
	cells_seek(t);
	bad = estimate_rig_open(&r) != 0 || net_reserve(t->net) != 0;
	for (int i = 0; i < c->all && !bad; i++)
		if (c->row[i].left > 0)
			bad = estimate_measure_cell(&r, &c->row[i]);
	if (!bad)
		estimate_total(t, e);
	e->fast = r.fast;
	e->slow = r.slow;
	estimate_rig_close(&r);
	return bad ? -1 : 0;
}

int
estimate_is_cheap(struct trainer *t)
{
	const struct planned_cells *c = &t->work->cells;
	double cost = 0, all = 0;

	cells_seek(t);
	for (const struct planned_cell *r = c->row; r < c->row + c->n; r++) {
		all += (double)r->left * r->plan->macs * estimate_share(t, r);
		cost += r->left > 0 ? (WARM + TIMED) * r->plan->macs : 0;
	}
	return cost < all / 50;
}

/* ---- text ---- */

/* Print only as many digits as an estimate has. */
static char *
estimate_time_text(char text[32], double seconds)
{
	if (seconds > 0 && seconds < 1e-4)	/* %g would print an exponent */
		snprintf(text, 32, "%.2g ms", 1e3 * seconds);
	else if (seconds < 10)
		snprintf(text, 32, "%.2g s", seconds);
	else if (seconds < 100)
		snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 100 * 60)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else if (seconds < 72 * 3600)
		snprintf(text, 32, "%.1f h", seconds / 3600);
	else
		snprintf(text, 32, "%.1f days", seconds / 86400);
	return text;
}

char *
estimate_text(const struct estimate *e, char text[256])
{
	double all = e->training + e->validating;
	char low[32], high[32], part[32], *unit, *at = text, *end = text + 256;

	estimate_time_text(low, all * e->fast);
	estimate_time_text(high, all * e->slow);
	/* "2 to 11 min", but "50 s to 2 min". */
	if ((unit = strchr(low, ' ')) != NULL &&
	    strcmp(unit, strchr(high, ' ')) == 0)
		*unit = '\0';
	if (e->slow > SCATTER * e->fast && strcmp(low, high) != 0)
		at += snprintf(at, 256, "%s to %s, as the timed steps vary: "
		    "%s", low, high, estimate_time_text(part, e->training));
	else
		at += snprintf(at, 256, "about %s%s%s",
		    estimate_time_text(low, all), e->validations > 0 ? ": " :
		    "", e->validations == 0 ? "" : estimate_time_text(part,
		    e->training));
	at += snprintf(at, (size_t)(end - at), " for %" PRIu64 " step%s",
	    e->steps, e->steps == 1 ? "" : "s");
	if (e->validations > 0)
		at += snprintf(at, (size_t)(end - at), " and %s for ",
		    estimate_time_text(part, e->validating));
	if (e->validations > 0 && !e->validates)
		at += snprintf(at, (size_t)(end - at), "precise BN");
	else if (e->validations > 0)
		at += snprintf(at, (size_t)(end - at), "%d validation%s",
		    e->validations, e->validations == 1 ? "" : "s");
	return text;
}

void
estimate_print(const struct trainer *t, const struct estimate *e, FILE *f)
{
	const struct planned_cells *c = &t->work->cells;
	char text[256], shape[48], time[32];

	fprintf(f, "%-22s %s\n", "# time", estimate_text(e, text));
	for (const struct planned_cell *r = c->row; r < c->row + c->n; r++) {
		if (r->seconds <= 0)
			continue;
		snprintf(shape, sizeof(shape), "# stage %d, %dx%dx%d", r->stage,
		    r->cell->batch, r->cell->frames, r->cell->crop);
		fprintf(f, "%-22s %s a step\n", shape,
		    estimate_time_text(time, r->seconds));
	}
}
