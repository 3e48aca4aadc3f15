/*
 * Estimate the time of a run.
 *
 * From a measurement: a pass over a microbatch takes c seconds of time and p of
 * processor time.  Loading its clips takes d seconds of loader thread time.
 * Computing overlaps loading, so in the long run a microbatch takes the longest
 * of
 *
 *	c	if the device is the bottleneck
 *	d / L	if the L loader threads are
 *	(p + d) / N	if the N processors are
 *
 * From a log: take the mean time per clip of each shape, and of a validation.
 * A line of the log names only the shape of its last step.  If a line covers
 * several shapes (short cycles), it mixes their times, but the sum is right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/ram.h"
#include "base/stop.h"
#include "base/text.h"
#include "net/feed.h"
#include "train/loop/estimate.h"
#include "train/loop/memory.h"
#include "train/loop/work.h"

enum { WARM = 1, TIMED = 5, TIMED_MAX = 256 };	/* passes over a shape */
#define TIMED_SECONDS 0.2		/* minimum time for a shape */

struct estimate_rig {
	const struct trainer *t;
	int cores;
	void *gradient;
	struct outcome *outcome, *fetched;
	double fast, slow;		/* those of struct estimate */
};

/* Wall-clock and processor seconds of one pass in this process. */
struct estimate_pass { double seconds, busy; };

/* Return the remaining steps of each cell: [stages].  The caller frees them. */
static uint64_t (*estimate_steps(const struct trainer *t))[SCHEDULE_CYCLE]
{
	const struct schedule *s = t->schedule;
	uint64_t samples = dataset_samples(t->train);
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));

	for (struct schedule_step at = schedule_seek(s, samples,
	    t->state.step); at.cell != NULL;
	    at = schedule_next(s, samples, &at))
		steps[at.stage][at.cycle_position]++;
	return steps;
}

/* Return the number of microbatches of the last rank, which has the most. */
static int
estimate_share(const struct trainer *t, const struct cell *c)
{
	int first;

	return work_microbatches_of(t, work_parts(t, c).n, t->comm->size - 1, &first);
}

static int
estimate_validations(const struct trainer *t)
{
	double left = schedule_epochs(t->schedule) - t->state.epoch;

	if (left <= 0)
		return 0;
	if (t->val == NULL)
		return t->work->precise != NULL;
	return t->o.val_every > 0 ? (int)ceil(left / t->o.val_every - 1e-9) : 1;
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
 * Set ${*to} to the median of ${seconds}[n], because other programs delay single
 * passes, and widen the range of ${r} to their first and last decile.
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

/* Return the thread seconds to load a training clip of the cell of ${step}, or
 * -1. */
static double
estimate_rig_load(const struct estimate_rig *r, uint64_t step)
{
	struct loader_options o = r->t->loading;

	o.trace = NULL;
	o.replaces = 1;			/* the run reports damaged samples, not
					 * the estimate */
	o.audit = 0;
	o.until = step + 1;
	return estimate_rig_drain(loader_new(r->t->train, r->t->schedule, step,
	    &o));
}

static double
estimate_rig_load_views(const struct estimate_rig *r)
{
	const struct trainer *t = r->t;
	struct view_options v = t->viewing;
	uint32_t n = dataset_samples(t->val), wanted = TIMED * (uint32_t)v.n;

	return estimate_rig_drain(loader_views(t->val, 0,
	    n < wanted ? n : wanted, &v));
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
estimate_rig_plan(const struct estimate_rig *r, int i, int k)
{
	struct plan *p = r->t->work->plan[i][k];

	return p->peers == NULL ? p : net_plan(r->t->net, p->input, 1);
}

/* Return the first remaining step of cell ${k} of stage ${i}. */
static uint64_t
estimate_first_step(const struct trainer *t, int i, int k)
{
	uint64_t samples = dataset_samples(t->train);
	struct schedule_step at = schedule_seek(t->schedule, samples,
	    t->state.step);

	while (at.stage != i || at.cycle_position != k)
		at = schedule_next(t->schedule, samples, &at);
	return at.step;
}

/* Return the seconds of a step from an earlier cell of the same shape, or 0 if
 * there is none. */
static double
estimate_known_cell(const struct trainer *t, const struct estimate *e, int i,
    int k)
{
	const struct schedule *s = t->schedule;
	const struct cell *c = &s->stage[i].cell[k];

	for (int a = 0; a <= i; a++)
		for (int b = 0; b < s->stage[a].cells && (a < i || b < k); b++)
			if (t->work->plan[a][b] == t->work->plan[i][k] &&
			    e->cell[a][b] > 0)
				return e->cell[a][b] * estimate_share(t, c) /
				    estimate_share(t, &s->stage[a].cell[b]);
	return 0;
}

/* Measure the seconds of a step of cell ${k} of stage ${i}, unless an earlier
 * cell has the same shape.  Return 0, or -1. */
static int
estimate_measure_cell(struct estimate_rig *r, struct estimate *e, int i, int k)
{
	const struct trainer *t = r->t;
	const struct cell *c = &t->schedule->stage[i].cell[k];
	struct plan *p = estimate_rig_plan(r, i, k);
	struct estimate_pass pass;
	double load;

	if ((e->cell[i][k] = estimate_known_cell(t, e, i, k)) > 0)
		return 0;
	if (p == NULL || net_reserve(t->net) != 0 ||
	    estimate_rig_time(r, p, 1, &pass) != 0 ||
	    (load = estimate_rig_load(r, estimate_first_step(t, i, k))) < 0)
		return -1;
	e->cell[i][k] = estimate_share(t, c) * estimate_rig_together(r, &pass,
	    load * p->input->n, t->loading.threads);
	return 0;
}

/* Measure the seconds of a validation and of the measurement of statistics
 * before it. */
static int
estimate_measure_validation(struct estimate_rig *r, double *seconds)
{
	const struct trainer *t = r->t;
	const struct view_options *v = &t->viewing;
	struct estimate_pass pass;
	double load, views;

	*seconds = 0;
	if (t->val != NULL) {
		if (estimate_rig_time(r, evaluate_plan(t->net, v), 0, &pass) !=
		    0 || (load = estimate_rig_load_views(r)) < 0)
			return -1;
		views = (double)dataset_samples(t->val) * v->clips * v->crops;
		*seconds = ceil(views / t->comm->size / v->n) *
		    estimate_rig_together(r, &pass, load * v->n, v->threads);
	}
	if (t->work->precise != NULL) {
		if (estimate_rig_time(r, precise_plan(t->work->precise), 0,
		    &pass) != 0)
			return -1;
		*seconds += ceil((double)precise_groups(t->work->precise) /
		    t->comm->size) * pass.seconds * (t->optim.ema > 0 ? 2 : 1);
	}
	return 0;
}

/* Add up the times of all remaining steps and validations. */
static void
estimate_total(const struct trainer *t, struct estimate *e, double validation)
{
	uint64_t (*steps)[SCHEDULE_CYCLE] = estimate_steps(t);

	for (int i = 0; i < t->schedule->stages; i++)
		for (int k = 0; k < t->schedule->stage[i].cells; k++) {
			e->steps += steps[i][k];
			e->training += (double)steps[i][k] * e->cell[i][k];
		}
	e->validates = t->val != NULL;
	e->validations = validation > 0 ? estimate_validations(t) : 0;
	e->validating = e->validations * validation;
	free(steps);
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
		return fail("timing this run needs %s of memory (%s available): "
		    "choose a smaller --bn-size "
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

	if (r->gradient != NULL)
		device_free(d, r->gradient);
	if (r->outcome != NULL)
		device_free(d, r->outcome);
	free(r->fetched);
}

int
estimate_measure(struct trainer *t, int cores, struct estimate *e)
{
	struct estimate_rig r = { .t = t, .cores = cores, .fast = 1, .slow = 1 };
	const struct schedule *s = t->schedule;
	uint64_t (*steps)[SCHEDULE_CYCLE] = estimate_steps(t);
	double validation = 0;
	int bad;

	*e = (struct estimate){ .cell = xcalloc((size_t)s->stages,
	    sizeof(*e->cell)) };
	bad = estimate_rig_open(&r) != 0 || net_reserve(t->net) != 0;
	for (int i = 0; i < s->stages && !bad; i++)
		for (int k = 0; k < s->stage[i].cells && !bad; k++)
			if (steps[i][k] > 0)
				bad = estimate_measure_cell(&r, e, i, k);
	if (!bad && estimate_validations(t) > 0)
		bad = estimate_measure_validation(&r, &validation);
	if (!bad)
		estimate_total(t, e, validation);
	e->fast = r.fast;
	e->slow = r.slow;
	estimate_rig_close(&r);
	free(steps);
	return bad ? -1 : 0;
}

int
estimate_is_cheap(const struct trainer *t)
{
	const struct schedule *s = t->schedule;
	uint64_t (*steps)[SCHEDULE_CYCLE] = estimate_steps(t);
	double cost = 0, all = 0;

	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			double macs = t->work->plan[i][k]->macs;

			all += (double)steps[i][k] * macs *
			    estimate_share(t, &s->stage[i].cell[k]);
			cost += steps[i][k] > 0 ? (WARM + TIMED) * macs : 0;
		}
	free(steps);
	return cost < all / 50;
}

/* ---- from a log ---- */

/* Seconds and clips of the logged steps, by cell. */
struct estimate_log {
	const struct trainer *t;
	int same;			/* the current lines belong to a run of
					 * this network, precision and number of
					 * ranks */
	double (*seconds)[SCHEDULE_CYCLE], (*clips)[SCHEDULE_CYCLE];
	double validating;
	int validations;
};

static int
estimate_is_text(const struct json *line, const char *key, const char *wanted)
{
	const char *found = json_to_text(json_get(line, key));

	return found != NULL && strcmp(found, wanted) == 0;
}

static int64_t
estimate_int_of(const struct json *line, const char *key)
{
	int64_t v = -1;

	json_to_int(json_get(line, key), 0, INT64_MAX, &v);
	return v;
}

static double
estimate_real_of(const struct json *line, const char *key)
{
	double v = 0;

	return json_to_real(json_get(line, key), &v) == 0 && v > 0 ? v : 0;
}

/* Add a step line to all cells of its shape.  Cells of the same shape share
 * their times. */
static void
estimate_log_step(struct estimate_log *l, const struct json *line)
{
	const struct schedule *s = l->t->schedule;
	double seconds = estimate_real_of(line, "seconds");

	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			const struct cell *c = &s->stage[i].cell[k];

			if (estimate_int_of(line, "batch") != c->batch ||
			    estimate_int_of(line, "frames") != c->frames ||
			    estimate_int_of(line, "crop") != c->crop ||
			    estimate_int_of(line, "bn") != c->group)
				continue;
			l->seconds[i][k] += seconds;
			l->clips[i][k] += seconds *
			    estimate_real_of(line, "clips_per_s");
		}
}

static void
estimate_log_line(struct estimate_log *l, const struct json *line)
{
	const struct trainer *t = l->t;

	if (estimate_is_text(line, "type", "start"))
		l->same = estimate_is_text(line, "model",
		    t->net->graph->name) && estimate_is_text(line, "precision",
		    t->net->device->precision) &&
		    estimate_int_of(line, "ranks") == t->comm->size;
	if (!l->same)
		return;
	if (estimate_is_text(line, "type", "step"))
		estimate_log_step(l, line);
	/* Include the first validation, although its caches are cold: the run
	 * to estimate has one, too. */
	if (estimate_is_text(line, "type", "validation") && t->val != NULL &&
	    estimate_int_of(line, "samples") <= dataset_samples(t->val)) {
		l->validating += estimate_real_of(line, "seconds");
		l->validations++;
	}
}

static void
estimate_log_read(struct estimate_log *l, const char *run)
{
	char *path = path_join(run, "log.jsonl"), *next;
	struct error unused = { "" };
	struct buffer b = { 0 };

	if (file_size(path) < 0 || file_read(path, &b) != 0)
		goto out;
	/* Ignore invalid lines: they say nothing about this run. */
	for (char *line = b.data; (next = strchr(line, '\n')) != NULL;
	    line = next) {
		struct json *v;

		*next++ = '\0';
		if ((v = json_try(path, line, strlen(line),
		    &unused)) != NULL)
			estimate_log_line(l, v);
		json_free(v);
	}
out:
	buffer_free(&b);
	free(path);
}

int
estimate_log(const struct trainer *t, const char *run, struct estimate *e)
{
	const struct schedule *s = t->schedule;
	size_t n = (size_t)s->stages;
	struct estimate_log l = { .t = t,
		.seconds = xcalloc(n, sizeof(*l.seconds)),
		.clips = xcalloc(n, sizeof(*l.clips)) };
	uint64_t (*steps)[SCHEDULE_CYCLE] = estimate_steps(t);
	int known;

	*e = (struct estimate){ .cell = xcalloc(n, sizeof(*e->cell)), .fast = 1,
		.slow = 1 };
	estimate_log_read(&l, run);
	e->log = path_join(run, "log.jsonl");
	known = t->val == NULL || l.validations > 0;
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			if (l.clips[i][k] > 0)
				e->cell[i][k] = l.seconds[i][k] /
				    l.clips[i][k] * s->stage[i].cell[k].batch;
			known &= steps[i][k] == 0 || e->cell[i][k] > 0;
		}
	if (known)
		estimate_total(t, e, l.validations > 0 ? l.validating /
		    l.validations : 0);
	free(steps);
	free(l.seconds);
	free(l.clips);
	return known && e->steps > 0;
}

void
estimate_free(struct estimate *e)
{
	free(e->cell);
	free(e->log);
	*e = (struct estimate){ 0 };
}
