/*
 * Grouped convolutions agree with plain sums in double: taps over all axes,
 * strides, paddings, groups that do not fill a block, images of a few pixels,
 * overwriting and accumulating.  Memory outside the result is NaN.  Jobs run in
 * reverse order.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/grouped.h"
#include "base/mem.h"
#include "base/rng.h"

#include "blocked.h"
#include "tap.h"

struct row {
	const char *what;
	struct dims x;
	int out, groups, k[3], s[3], p[3];
};

static const struct row rows[] = {
	{ "depthwise, 2x2 images", { 3, 3, 2, 2, 40 }, 40, 40, { 1, 3, 3 },
	    { 1, 1, 1 }, { 0, 1, 1 } },
	{ "depthwise, images of one pixel", { 2, 1, 1, 1, 16 }, 16, 16,
	    { 1, 3, 3 }, { 1, 1, 1 }, { 0, 1, 1 } },
	{ "depthwise, 7x5 of stride 2", { 2, 5, 7, 5, 24 }, 24, 24,
	    { 1, 3, 3 }, { 1, 2, 2 }, { 0, 1, 1 } },
	{ "depthwise, 5x5 of stride 3 and 2, without padding",
	    { 1, 9, 13, 11, 5 }, 5, 5, { 1, 5, 5 }, { 1, 3, 2 }, { 0 } },
	{ "depthwise, padding of more than the radius", { 1, 2, 3, 4, 8 }, 8, 8,
	    { 1, 2, 2 }, { 1, 1, 1 }, { 0, 3, 3 } },
	{ "depthwise, 3x3x3 of stride 2, 1 and 2", { 2, 4, 4, 4, 54 }, 54, 54,
	    { 3, 3, 3 }, { 2, 1, 2 }, { 1, 1, 1 } },
	{ "depthwise, 5x1x1 of stride 3", { 2, 9, 2, 3, 17 }, 17, 17,
	    { 5, 1, 1 }, { 3, 1, 1 }, { 2, 0, 0 } },
	{ "2x2 of stride 3, which skips some pixels", { 1, 2, 8, 9, 16 },
	    16, 16, { 1, 2, 2 }, { 1, 3, 3 }, { 0 } },
	{ "groups of 1 to 3", { 2, 2, 4, 4, 7 }, 21, 7, { 1, 3, 3 },
	    { 1, 1, 1 }, { 0, 1, 1 } },
	{ "groups of 3 to 1", { 2, 2, 4, 4, 21 }, 7, 7, { 1, 3, 3 },
	    { 1, 2, 1 }, { 0, 1, 1 } },
	{ "groups of 20 to 12, 3x3x3", { 1, 3, 4, 3, 40 }, 24, 2, { 3, 3, 3 },
	    { 1, 1, 1 }, { 1, 1, 1 } },
};

struct set {
	struct grouped g;
	size_t n, nw;			/* nw: number of weights */
	float *x, *dy, *w, bias[64];
	double *y, *dx, *dw;		/* the expected results */
};

/* Add the product of one output, input and weight element to each result. */
static void
meet(struct set *s, size_t y, size_t x, size_t w)
{
	s->y[y] += (double)s->w[w] * s->x[x];
	s->dx[x] += (double)s->w[w] * s->dy[y];
	s->dw[w] += (double)s->dy[y] * s->x[x];
}

static void
plain(struct set *s)
{
	const struct grouped *g = &s->g;
	const struct dims *x = &g->x, *y = &g->y;
	int in = x->c / g->groups, out = y->c / g->groups;
	int taps = g->k[0] * g->k[1] * g->k[2];

	for (int i = 0; i < cpu_images(y); i++)
		for (int p = 0; p < (int)cpu_positions(y) * taps; p++) {
			int tap = p % taps, at = p / taps;
			int t = i % y->t * g->s[0] - g->p[0] +
			    tap / g->k[2] / g->k[1];
			int h = at / y->w * g->s[1] - g->p[1] +
			    tap / g->k[2] % g->k[1];
			int w = at % y->w * g->s[2] - g->p[2] + tap % g->k[2];

			if (t < 0 || t >= x->t || h < 0 || h >= x->h || w < 0 ||
			    w >= x->w)
				continue;
			for (int o = 0; o < y->c; o++)
				for (int j = 0; j < in; j++)
					meet(s, blocked_index(y, i, (size_t)at, o),
					    blocked_index(x, i / y->t * x->t + t,
					    (size_t)(h * x->w + w), o / out *
					    in + j), (size_t)((o * in + j) *
					    taps + tap));
		}
}

/* Return the worst error of an activation.  Padding channels must be 0. */
static double
apart(const struct dims *d, const float *got, const double *want,
    const float *before, const float *bias)
{
	double worst = 0;

	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < cpu_positions(d); p++)
			for (int c = 0; c < cpu_padded(d->c); c++) {
				size_t at = blocked_index(d, i, p, c);
				double e = fabs(got[at] - want[at] -
				    (before != NULL ? before[at] : 0) -
				    (bias != NULL && c < d->c ? bias[c] : 0));

				worst = e <= worst ? worst : isnan(e) ?
				    INFINITY : e;
			}
	return worst;
}

static void *
poisoned(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, 64, bytes) != 0)
		exit(1);
	memset(p, 0xff, bytes);
	return p;
}

/*
 * Compute one activation by all jobs of a pass in reverse order.  Return the
 * worst error.
 */
static double
pass(const struct set *s, int back, int more)
{
	struct grouped g = s->g;
	const struct dims *d = back ? &g.x : &g.y;
	float *out = poisoned(cpu_floats(d) * sizeof(float));
	float *before = blocked_draw(d, 4);
	struct conv_buffers o = { .in = back ? s->dy : s->x, .weights = s->w,
	    .bias = back || more ? NULL : s->bias, .out = out, .more = more && back,
	    .scratch = poisoned(grouped_scratch(&g)) };
	double worst;

	g.back = back;
	o.w = poisoned(grouped_weights(&g));
	for (int i = 0; i < grouped_blocks(&g); i++)
		grouped_pack(&g, i, &o);
	if (more)
		memcpy(out, before, cpu_floats(d) * sizeof(float));
	for (int i = grouped_jobs(&g) - 1; i >= 0; i--)
		grouped_run(&g, i, &o);
	if (back)
		worst = apart(d, out, s->dx, more ? before : NULL, NULL);
	else
		worst = apart(d, out, s->y, NULL, more ? NULL : s->bias);
	free(o.w);
	free(out);
	free(before);
	free(o.scratch);
	return worst;
}

static double
gradient(const struct set *s)
{
	const struct grouped *g = &s->g;
	int blocks = grouped_blocks(g), parts = grouped_parts(g);
	float *dw = poisoned(s->nw * sizeof(float));
	struct conv_buffers o = { .in = s->x, .dy = s->dy, .out = dw,
	    .parts = poisoned(grouped_weights(g) * (size_t)parts),
	    .scratch = poisoned(grouped_scratch(g)) };
	double worst = 0;

	for (int i = blocks * parts - 1; i >= 0; i--)
		grouped_gradient(g, i, &o);
	for (int i = 0; i < blocks; i++)
		grouped_add(g, i, &o);
	for (size_t i = 0; i < s->nw; i++) {
		double e = fabs(dw[i] - s->dw[i]);

		worst = e <= worst ? worst : isnan(e) ? INFINITY : e;
	}
	free(o.parts);
	free(dw);
	free(o.scratch);
	return worst;
}

static void
test(const struct row *r)
{
	const int *k = r->k, *s = r->s, *p = r->p;
	struct set d = { .g = { .x = r->x, .y = { r->x.n,
		(r->x.t + 2 * p[0] - k[0]) / s[0] + 1,
		(r->x.h + 2 * p[1] - k[1]) / s[1] + 1,
		(r->x.w + 2 * p[2] - k[2]) / s[2] + 1, r->out },
		.groups = r->groups, .k = { k[0], k[1], k[2] },
		.s = { s[0], s[1], s[2] }, .p = { p[0], p[1], p[2] } } };
	static const char *const what[] = { "forward with bias", "forward",
		"back", "back, accumulated", "weights" };

	d.nw = (size_t)(r->out * (r->x.c / r->groups) * k[0] * k[1] * k[2]);
	d.x = blocked_draw(&d.g.x, 2);
	d.dy = blocked_draw(&d.g.y, 3);
	d.w = xcalloc(d.nw, sizeof(*d.w));
	for (size_t i = 0; i < d.nw; i++)
		d.w[i] = (float)rng_normal(7, 1, (uint32_t)i);
	for (int c = 0; c < d.g.y.c; c++)
		d.bias[c] = (float)c / (float)d.g.y.c;
	d.y = xcalloc(cpu_floats(&d.g.y), sizeof(*d.y));
	d.dx = xcalloc(cpu_floats(&d.g.x), sizeof(*d.dx));
	d.dw = xcalloc(d.nw, sizeof(*d.dw));
	plain(&d);
	for (int i = 0; i < 5; i++) {
		double worst = i < 4 ? pass(&d, i / 2, i % 2) : gradient(&d);

		if (!ok(worst < 1e-4, "%s: %s", r->what, what[i]))
			diag("worst error %g", worst);
	}
	free(d.x);
	free(d.dy);
	free(d.w);
	free(d.y);
	free(d.dx);
	free(d.dw);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test(&rows[i]);
	return done();
}
