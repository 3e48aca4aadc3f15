/*
 * Running statistics of batch normalization in groups equal PySlowFast's
 * aggregated ones: exactly after one step, and after several steps on average
 * over the orders of the groups.
 */
#include "base/rng.h"
#include "base/table.h"
#include "train/optim/running.h"

#include "tap.h"
#include "devices.h"

enum { CHANNELS = 4, GROUPS = 2, STEPS = 4 };

static struct graph *g;
static struct net *n;
static void *flat;			/* a flat gradient buffer */

/* Return the parameter of a kind; there is one normalization. */
static const struct param *
of(enum param_kind kind)
{
	for (int k = 0; k < g->nparam; k++)
		if (g->param[k].kind == kind)
			return &g->param[k];
	return NULL;
}

static void *
at(void *buffer, const struct param *p)
{
	return (char *)buffer + p->offset * n->device->elem;
}

/* The statistics of a group. */
struct group_says { double mean[CHANNELS], var[CHANNELS]; };

/*
 * Write the sums over groups, as kernels and all-reduce give them, then make a
 * step.
 */
static void
step(struct running *r, const struct group_says *s)
{
	static const enum param_kind kinds[] = { PARAM_MEAN, PARAM_VAR,
		PARAM_BETWEEN };
	double sum[3][CHANNELS] = { { 0 } }, now[CHANNELS];

	device_get(n->device, now, at(n->w, of(PARAM_MEAN)), CHANNELS);
	for (int i = 0; i < GROUPS; i++)
		for (int c = 0; c < CHANNELS; c++) {
			double d = s[i].mean[c] - now[c];

			sum[0][c] += s[i].mean[c];
			sum[1][c] += s[i].var[c];
			sum[2][c] += d * d;
		}
	for (int k = 0; k < 3; k++)
		device_put(n->device, at(flat, of(kinds[k])), sum[k], CHANNELS);
	running_before(r, n);
	for (int k = 0; k < 3; k++) {
		size_t from = of(kinds[k])->offset;
		struct owned_shard p = { .at = from, .n = CHANNELS, .state_at = from };

		running_factors(n->graph, of(kinds[k]), p.factor);
		device_track(n->device, &(struct track){ .w = n->w, .x = flat,
			.rate = 1, .scale = 1.0 / GROUPS, .shard = &p,
			.shards = 1 });
	}
	running_after(r, n);
}

static void
begin(void)
{
	net_init(n, 1);
}

/* Read the values of the rows of ${tensor}.  Return their number. */
static int
numbers(const struct table *t, const char *tensor, double *to)
{
	int found = 0;

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(table_text(t, r, "tensor"), tensor) == 0)
			table_real(t, r, "value", -1e9, 1e9, &to[found++]);
	return found;
}

/* Split s of 2 is clips s and s + 2.  Each channel is used twice. */
static void
test_golden(double tolerance)
{
	struct table *t = table_read(golden_path(
	    "op_subbn_n4_c2_t1_h2_w2_splits2.tsv"));
	double x[64], mean[8], var[8], got[2][CHANNELS], worst = 0;
	struct group_says s[GROUPS];
	struct running r;
	int found = numbers(t, "x", x) + numbers(t, "agg_running_mean", mean) +
	    numbers(t, "agg_running_var", var);

	for (int i = 0; i < GROUPS; i++)
		for (int c = 0; c < CHANNELS; c++) {
			double sum = 0, m2 = 0;

			for (int k = 0; k < 8; k++)
				sum += x[(i + 2 * (k / 4)) * 8 + c % 2 * 4 +
				    k % 4];
			for (int k = 0; k < 8; k++) {
				double d = x[(i + 2 * (k / 4)) * 8 + c % 2 * 4 +
				    k % 4] - sum / 8;

				m2 += d * d;
			}
			s[i].mean[c] = sum / 8;
			s[i].var[c] = m2 / 7;
		}
	begin();
	running_open(&r, n);
	step(&r, s);
	running_close(&r);
	device_get(n->device, got[0], at(n->w, of(PARAM_MEAN)), CHANNELS);
	device_get(n->device, got[1], at(n->w, of(PARAM_VAR)), CHANNELS);
	for (int c = 0; c < CHANNELS; c++) {
		worst = fmax(worst, fabs(got[0][c] - mean[c % 2]));
		worst = fmax(worst, fabs(got[1][c] - var[c % 2]));
	}
	ok(found == 32 + 2 + 2 && worst < tolerance,
	    "%s: equal to PySlowFast's aggregated statistics (%g)",
	    n->device->backend->name, worst);
	table_free(t);
}

static struct group_says drawn[STEPS][GROUPS];

/*
 * Return PySlowFast's aggregated variance, from a running mean and variance per
 * split.  Bit t of ${order} swaps the groups of step t.
 */
static double
splits(int order, int c)
{
	double mean[GROUPS] = { 0 }, var[GROUPS] = { 1, 1 };

	for (int t = 0; t < STEPS; t++)
		for (int i = 0; i < GROUPS; i++) {
			const struct group_says *s =
			    &drawn[t][i ^ (order >> t & 1)];

			mean[i] = 0.9 * mean[i] + 0.1 * s->mean[c];
			var[i] = 0.9 * var[i] + 0.1 * s->var[c];
		}
	return (var[0] + var[1]) / 2 + (mean[0] - mean[1]) *
	    (mean[0] - mean[1]) / 4;
}

static void
test_orders(double tolerance)
{
	double var[CHANNELS], worst = 0, within = 0;
	struct running r;

	for (int t = 0; t < STEPS; t++)
		for (int i = 0; i < GROUPS; i++)
			for (int c = 0; c < CHANNELS; c++) {
				uint32_t at = (uint32_t)((t * GROUPS + i) *
				    CHANNELS + c);

				drawn[t][i].mean[c] = 3 + rng_normal(4, 0, at);
				drawn[t][i].var[c] = 1 + 0.1 *
				    rng_normal(4, 1, at);
			}
	begin();
	running_open(&r, n);
	for (int t = 0; t < STEPS; t++)
		step(&r, drawn[t]);
	running_close(&r);
	device_get(n->device, var, at(n->w, of(PARAM_VAR)), CHANNELS);
	for (int c = 0; c < CHANNELS; c++) {
		double sum = 0, v = 1;

		for (int order = 0; order < 1 << STEPS; order++)
			sum += splits(order, c) / (1 << STEPS);
		for (int t = 0; t < STEPS; t++)
			v = 0.9 * v + 0.05 * (drawn[t][0].var[c] +
			    drawn[t][1].var[c]);
		worst = fmax(worst, fabs(var[c] - sum));
		within = fmax(within, sum - v);
	}
	ok(worst < tolerance && within > 100 * tolerance,
	    "%s: equal to the mean over the orders of the groups (%g of %g)",
	    n->device->backend->name, worst, within);
}

int
main(void)
{
	for (int i = 0; backends[i] != NULL; i++) {
		struct device *d;
		double tolerance = backends[i]->elem == 8 ? 1e-7 : 1e-6;
		size_t before;

		if (!has_device(backends[i]))
			continue;
		d = device_open(backends[i],
		    &(struct device_options){ .threads = 1 });

		g = graph_parse("test", "input x out=4\nbn b in=x\n"
		    "avgpool p in=b over=thw\nlinear fc in=p out=classes\n", 3);
		before = g->elements;
		graph_between(g);
		is_text(of(PARAM_BETWEEN)->name, "b.running_between",
		    "graph_between adds a parameter to bn");
		is((long long)g->elements, (long long)before + PARAM_ALIGN,
		    "the parameter is in the flat buffer");
		n = net_new(g, d);
		flat = device_alloc(d, g->elements * d->elem);
		test_golden(tolerance);
		test_orders(tolerance * (d->elem == 8 ? 1e-5 : 1));
		device_free(d, flat);
		net_free(n);
		graph_free(g);
		device_close(d);
	}
	return done();
}
