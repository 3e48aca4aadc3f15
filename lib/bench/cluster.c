/*
 * The time of a step on a cluster.
 *
 * All delays have exponential tails: the quantile of a time is a function of
 * e = -log(1 - u), linear between the quantiles of the profile and beyond the
 * last one.  The largest of P draws has the quantile u = U^(1/P), so that one
 * draw replaces P.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/cluster.h"
#include "comm/walk.h"

#define CLUSTER_ROW(property, name, min, max, initial) \
	{ name, min, max, initial },

static const struct cluster_row {
	const char *name;
	double min, max, initial;
} rows[CLUSTER_PROPERTIES] = { CLUSTER_ROWS(CLUSTER_ROW) };

const char *const cluster_part_names[CLUSTER_PARTS] = { "compute",
	"communication", "stragglers", "input" };

/* ---- properties ---- */

/* Return the property whose name is the first ${n} bytes of ${name}, or -1. */
static int
cluster_find(const char *name, size_t n)
{
	for (int i = 0; i < CLUSTER_PROPERTIES; i++)
		if (strncmp(rows[i].name, name, n) == 0 &&
		    rows[i].name[n] == '\0')
			return i;
	return -1;
}

/* Set a property by ${text}, "NAME=VALUE". */
static int
cluster_set(struct cluster *c, const char *text)
{
	const char *value = strchr(text, '=');
	int k;

	if (value == NULL)
		return fail("%s (wanted NAME=VALUE)", text_quote(text));
	if ((k = cluster_find(text, (size_t)(value - text))) < 0)
		return fail("%s: no property of this name: vt-prediction(7)",
		    text_quote(text));
	if (text_real(value + 1, rows[k].min, rows[k].max, &c->v[k]) != 0)
		return fail("%s (wanted a number from %g to %g)",
		    text_quote(text), rows[k].min, rows[k].max);
	return 0;
}

static int
cluster_read_rows(struct cluster *c, const struct table *t)
{
	size_t found = 0;

	if (table_column(t, "name") < 0)
		return fail("%s: no column name (wanted a table of vt-bench "
		    "links)", t->path);
	for (size_t i = 0; i < t->rows; i++) {
		const char *name = table_text(t, i, "name");
		int k = cluster_find(name, strlen(name));

		if (k < 0 && (text_starts(name, "links/") ||
		    text_starts(name, "cluster/")))
			return fail("%s:%d: no property %s", t->path,
			    t->line[i], text_quote(name));
		if (k >= 0 && table_real(t, i, "median", rows[k].min,
		    rows[k].max, &c->v[k]) != 0)
			return -1;
		found += k >= 0;
	}
	return found > 0 ? 0 : fail("%s: no rows links/... or cluster/... "
	    "(wanted a table of vt-bench links)", t->path);
}

int
cluster_read(struct cluster *c, const char *path, int64_t hosts,
    int64_t ranks_per_host, const struct option_list *settings)
{
	static const int needed[] = { HOST_LATENCY, HOST_BANDWIDTH,
		NETWORK_LATENCY, NETWORK_BANDWIDTH };
	struct table *t = table_read(path);
	int bad = t == NULL;

	for (int i = 0; i < CLUSTER_PROPERTIES; i++)
		c->v[i] = rows[i].initial;
	bad = bad || cluster_read_rows(c, t) != 0;
	table_free(t);
	if (hosts > 0)
		c->v[HOSTS] = (double)hosts;
	if (ranks_per_host > 0)
		c->v[RANKS_PER_HOST] = (double)ranks_per_host;
	for (size_t i = 0; i < settings->n && !bad; i++)
		bad = cluster_set(c, settings->item[i]);
	for (int i = 0; i < 4 && !bad; i++)
		if (c->v[needed[i]] == CLUSTER_UNKNOWN &&
		    c->v[i < 2 ? RANKS_PER_HOST : HOSTS] > 1)
			bad = fail("%s: no row %s, which vt-bench links "
			    "measures and --set sets", path,
			    rows[needed[i]].name);
	return bad ? -1 : 0;
}

/* ---- exchanges ---- */

/* The links as one rank sees them while others use them, too. */
struct cluster_links {
	const struct cluster *c;
	int per_host;
	double bandwidth[2];		/* in the host, between hosts */
};

static int
cluster_apart(const struct cluster_links *l, int from, int to)
{
	return from / l->per_host != to / l->per_host;
}

/* Return the properties of links in a host, or between hosts. */
static const double *
cluster_link(const struct cluster_links *l, int apart)
{
	return l->c->v + (apart ? NETWORK_LATENCY : HOST_LATENCY);
}

static double
cluster_latency(void *arg, int from, int to)
{
	const double *v = cluster_link(arg, cluster_apart(arg, from, to));

	return v[HOST_SHORT] != CLUSTER_UNKNOWN ? v[HOST_SHORT] :
	    v[HOST_LATENCY];
}

static double
cluster_transfer(void *arg, int from, int to, size_t bytes)
{
	const struct cluster_links *l = arg;
	int apart = cluster_apart(l, from, to);
	const double *v = cluster_link(l, apart);
	double seconds = (double)bytes / l->bandwidth[apart], more;

	if (v[HOST_SHORT] == CLUSTER_UNKNOWN)
		return seconds;
	/* A message takes the faster protocol.  In that of short messages,
	 * every 4 bytes carry a flag of 4 bytes (LL of NCCL,
	 * src/graph/tuning.cc). */
	more = v[HOST_LATENCY] - v[HOST_SHORT];
	return seconds < more ? 2 * seconds : more + seconds;
}

static double
cluster_add(void *arg, size_t n)
{
	const struct cluster_links *l = arg;

	return l->c->v[ADD] > 0 ? (double)(n * sizeof(float)) / l->c->v[ADD] :
	    0;
}

/*
 * Divide the bandwidth of a host among those of its ranks that send over a link
 * in this exchange.
 */
static void
cluster_share(void *arg, const struct collective *list, int ranks)
{
	struct cluster_links *l = arg;
	int senders[2] = { 0, 0 }, max[2] = { 1, 1 };

	for (int r = 0; r < ranks; r++) {
		int sends[2] = { 0, 0 };

		if (r % l->per_host == 0)
			senders[0] = senders[1] = 0;
		for (size_t i = 0; i < list[r].n; i++)
			if (list[r].op[i].kind == COLLECTIVE_SEND)
				sends[cluster_apart(l, r,
				    list[r].op[i].rank)] = 1;
		for (int k = 0; k < 2; k++) {
			senders[k] += sends[k];
			max[k] = senders[k] > max[k] ? senders[k] : max[k];
		}
	}
	for (int k = 0; k < 2; k++) {
		const double *v = cluster_link(l, k);
		double part = v[HOST_TOTAL] / max[k];

		l->bandwidth[k] = part > 0 && part < v[HOST_BANDWIDTH] ? part :
		    v[HOST_BANDWIDTH];
	}
}

int
cluster_exchanges(const struct cluster *c, const struct step_lists *s,
    double *seconds)
{
	int n = c->v[CYCLE] > 0 ? CLUSTER_SECONDS : STEP_PARTS, bad = 0;

	for (int i = 0; i < n && !bad; i++) {
		struct cluster_links l = { .c = c, .per_host =
		    s->ranks_per_host };
		const struct walk_costs costs = { cluster_latency,
			cluster_transfer, cluster_add, &l };
		enum step_part part = i < STEP_PARTS ? (enum step_part)i :
		    STEP_LAST_SUM;
		struct step_lists one = *s;
		struct walk w = { 0 };

		/* For a cycle, a step of one bucket of this size. */
		if (i >= STEP_PARTS)
			one.elements = one.bucket = (s->bucket >>
			    (i - STEP_PARTS)) + 1;
		if (s->ranks > 1 && step_lists_times(&one, part) > 0)
			bad = step_lists_walk(&one, part, &costs,
			    cluster_share, &w);
		seconds[i] = w.end;
	}
	return bad ? -1 : 0;
}

/* ---- steps ---- */

/* Return the exponential quantile of the largest of ${n} draws at ${u}. */
static double
cluster_largest(int n, double u)
{
	u = u < 1e-12 ? 1e-12 : u > 1 - 1e-12 ? 1 - 1e-12 : u;
	return -log(-expm1(log(u) / n));
}

/* Return the time of a step at the exponential quantile ${e}. */
static double
cluster_quantile(const struct step_cell *cell, double e)
{
	static const double at[STEP_QUANTILES] = { 0, 0.6931471805599453,
		2.302585092994046, 4.605170185988091 };
	const double *q = cell->step;
	int i = 1;

	while (i < STEP_QUANTILES - 1 && e > at[i])
		i++;
	return q[i - 1] + (q[i] - q[i - 1]) * (e - at[i - 1]) /
	    (at[i] - at[i - 1]);
}

double
cluster_delay(const struct cluster *c, const struct step_cell *cell, int ranks,
    double u, double skew)
{
	double e = cluster_largest(ranks, u);

	return cluster_quantile(cell, e) / cell->step[STEP_MEDIAN] +
	    c->v[JITTER] * e + c->v[SKEW] * cluster_largest(ranks, skew);
}

double
cluster_loader(const struct cluster *c, const struct step_cell *cell,
    const struct step_lists *s)
{
	int local = s->ranks < s->ranks_per_host ? s->ranks : s->ranks_per_host;

	return cell->loader * (c->v[CORES] / local);
}

/*
 * Return when the last bucket is summed.  The last backward pass begins at
 * ${begin}, and takes ${delay} times as long as in the profile.
 */
static double
cluster_sums(const struct step_cell *cell, const struct step_lists *s,
    const double *seconds, double begin, double delay)
{
	size_t from = step_lists_times(s, STEP_SUM) * s->bucket, k = 0;
	size_t at = s->elements;	/* gradients from here on are ready */
	double now = 0, one = seconds[STEP_LAST_SUM], ready = 0;

	for (;;) {
		while (at > from && k < cell->gradients) {
			const struct step_gradient *g = &cell->gradient[k++];

			at -= g->elements < at ? g->elements : at;
			ready = g->ready > ready ? g->ready : ready;
		}
		if (begin + ready * delay > now)
			now = begin + ready * delay;
		now += one;
		one = seconds[STEP_SUM];
		if (from == 0)
			return now;
		from -= s->bucket;
	}
}

/* Return the seconds of a sum of ${n} elements, between or beyond the sizes
 * that were walked. */
static double
cluster_sum(const struct step_lists *s, const double *seconds, size_t n)
{
	const double *t = seconds + STEP_PARTS;
	double small, large;
	int k = 1;

	while (k < CLUSTER_SIZES - 1 && n <= s->bucket >> k)
		k++;
	large = (double)(s->bucket >> (k - 1)) + 1;
	small = (double)(s->bucket >> k) + 1;
	if (large <= small || (double)n <= small)
		return t[k];
	return t[k] + (t[k - 1] - t[k]) * ((double)n - small) / (large - small);
}

/*
 * Return when the last gradient is summed, as cluster_sums, where each cycle
 * sums all gradients that are ready, in buffers of whole parameters of at most
 * s->bucket elements (Horovod, docs/tensor-fusion.rst).
 */
static double
cluster_cycles(const struct cluster *c, const struct step_cell *cell,
    const struct step_lists *s, const double *seconds, double begin,
    double delay)
{
	double now = begin, ready = 0;
	size_t k = 0;

	while (k < cell->gradients) {
		double start = now;
		size_t n = 0;

		for (; k < cell->gradients; k++) {
			const struct step_gradient *g = &cell->gradient[k];

			ready = g->ready > ready ? g->ready : ready;
			if (begin + ready * delay > start)
				break;
			if (n > 0 && n + g->elements > s->bucket) {
				now += cluster_sum(s, seconds, n);
				n = 0;
			}
			n += g->elements;
		}
		if (n > 0)
			now += cluster_sum(s, seconds, n);
		if (k < cell->gradients && now < start + c->v[CYCLE])
			now = start + c->v[CYCLE];
	}
	return now;
}

void
cluster_step(const struct cluster *c, const struct step_cell *cell,
    const struct step_lists *s, const double *seconds, double delay,
    double *part)
{
	/* Microbatches of the rank that has most. */
	int n = (s->microbatches + s->ranks - 1) / s->ranks;
	double passes = n * (cell->forward + cell->backward);
	double begin = (passes - cell->backward) * delay, summed;
	/* After an exact sum, each rank updates its own part of the weights. */
	double update = cell->update / (s->kind == NULL ? s->ranks : 1);
	double rate = cluster_loader(c, cell, s), all = 0, input = 0;

	summed = s->ranks == 1 ? 0 : c->v[CYCLE] > 0 ?
	    cluster_cycles(c, cell, s, seconds, begin, delay) :
	    cluster_sums(cell, s, seconds, begin, delay);
	part[CLUSTER_COMPUTE] = passes + update;
	part[CLUSTER_STRAGGLERS] = (passes + update) * (delay - 1);
	part[CLUSTER_COMMUNICATION] = summed > passes * delay ?
	    summed - passes * delay : 0;
	for (int p = STEP_LAST_SUM + 1; p < STEP_PARTS; p++)
		part[CLUSTER_COMMUNICATION] += seconds[p];
	for (int p = 0; p < CLUSTER_INPUT; p++)
		all += part[p];
	if (rate > 0)
		input = n * cell->shape.n / rate;
	part[CLUSTER_INPUT] = input > all ? input - all : 0;
}

/* ---- runs ---- */

double
cluster_run(const struct cluster *c, int ranks, double work,
    double (*draw)(void *arg), void *arg, int *failures)
{
	double hosts = ceil(ranks / c->v[RANKS_PER_HOST]);
	double rate = c->v[MTBF] > 0 ? hosts / (3600 * c->v[MTBF]) : 0;
	double now = c->v[START], done = 0;

	*failures = 0;
	while (done < work) {
		double piece = work - done, fails = INFINITY, whole;

		if (c->v[INTERVAL] > 0 && piece > c->v[INTERVAL])
			piece = c->v[INTERVAL];
		whole = piece + (c->v[INTERVAL] > 0 ? c->v[CHECKPOINT] : 0);
		if (rate > 0)
			fails = -log1p(-draw(arg)) / rate;
		if (fails < whole) {
			now += fails + c->v[RESTART];
			if (++*failures > 10000)
				return INFINITY;
		} else {
			now += whole;
			done += piece;
		}
	}
	return now;
}
