/*
 * Makes random networks.  Sizes are near those at which kernels change: vector
 * widths, kernels, strides and one image.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/weights/freeze.h"

#include "fuzz/networks/random_net.h"

/*
 * Limits of a network, so that the reference takes a fraction of a second.  Some
 * networks have the size from which Winograd's algorithm runs.
 */
enum { OUTPUTS = 120, SIDE = 40, VALUES = 1 << 17 };
static const struct { int conv_macs, net_macs; } limits[] = {
	{ 1500000, 5000000 }, { 16000000, 33000000 } };

/* The output of an operator. */
struct random_output {
	char name[24];
	int c, t, h, w;
	int readers;
	int shape_bound;		/* 1: c depends on the shape of clips,
					 * so few ops can read it */
};

struct random_maker {
	struct rng rng;
	struct random_net *n;
	struct random_output out[OUTPUTS];
	int outs, numbers;
	double macs;
	int large;			/* index in limits */
	int full;			/* 1: a limit is reached */
};

/* ---- draws ---- */

static int
random_below(struct random_maker *m, int n)
{
	return (int)rng_below(&m->rng, (uint32_t)n);
}

static int
random_is(struct random_maker *m, int percent)
{
	return random_below(m, 100) < percent;
}

static int
random_from(struct random_maker *m, int min, int max)
{
	return min + random_below(m, max - min + 1);
}

#define RANDOM_OF(m, table) \
	(table)[random_below(m, (int)(sizeof(table) / sizeof((table)[0])))]

/* Channels at the edges of 8 and 16 lanes, and of blocks of several. */
static int
random_channels(struct random_maker *m)
{
	static const int few[] = { 1, 2, 3 };
	static const int edges[] = { 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 15, 16, 16,
	    17, 18, 19, 23, 24, 25, 26, 27 };
	static const int large[] = { 31, 32, 32, 33, 34, 35, 40, 47, 48, 49, 50,
	    51, 63, 64, 64, 65, 66, 67, 96, 128 };

	return random_is(m, 8) ? RANDOM_OF(m, few) :
	    random_is(m, m->large ? 10 : 75) ? RANDOM_OF(m, edges) :
	    RANDOM_OF(m, large);
}

/* ---- lines ---- */

static int
random_windows(int size, int k, int s, int p)
{
	return size + 2 * p < k ? 0 : (size + 2 * p - k) / s + 1;
}

static size_t
random_positions(const struct random_output *o)
{
	return (size_t)o->t * o->h * o->w;
}

/* Set the name of a new output of the shape of ${like}. */
static struct random_output
random_named(struct random_maker *m, const char *kind,
    const struct random_output *like)
{
	struct random_output o = *like;

	snprintf(o.name, sizeof(o.name), "%.8s_%d", kind, ++m->numbers);
	o.readers = 0;
	return o;
}

/* Append the line "kind name ..." of output ${o}.  Return its number. */
__attribute__((format(printf, 4, 5))) static int
random_line(struct random_maker *m, const char *kind, struct random_output o,
    const char *fmt, ...)
{
	char *line = m->n->line[m->n->lines];
	int at = snprintf(line, NET_LINE, "%s %s", kind, o.name);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + at, (size_t)(NET_LINE - at), fmt, ap);
	va_end(ap);
	m->n->lines++;
	m->out[m->outs] = o;
	m->full |= m->outs > OUTPUTS - 40 || m->n->lines > NET_LINES - 60 ||
	    m->macs > limits[m->large].net_macs;
	return m->outs++;
}

/* Mark ${i} as read, and return its name. */
static const char *
random_read(struct random_maker *m, int i)
{
	m->out[i].readers++;
	return m->out[i].name;
}

/* Append an operator of one input that keeps its shape. */
static int
random_same(struct random_maker *m, const char *kind, int x, const char *more)
{
	return random_line(m, kind, random_named(m, kind, &m->out[x]),
	    " in=%s%s", random_read(m, x), more);
}

/* ---- windows ---- */

struct random_window { int k[3], s[3], p[3]; };

/* Draw a kernel, a stride and a padding for one axis of ${size}. */
static void
random_axis(struct random_maker *m, int size, int pool, int *k, int *s, int *p)
{
	static const int kernels[] = { 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5,
	    6, 7, 8, 9, 11, 16, 17 };
	static const int strides[] = { 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5,
	    8, 16 };

	do {
		*k = random_is(m, 10) ? size : RANDOM_OF(m, kernels);
		*s = random_is(m, 10) ? *k : random_is(m, 6) ? size + 1 :
		    RANDOM_OF(m, strides);
		*p = random_is(m, 60) ? (*k - 1) / 2 : random_is(m, 50) ? 0 :
		    random_is(m, 70) || pool ? *k - 1 : *k;
	} while (random_windows(size, *k, *s, *p) < 1 ||
	    random_windows(size, *k, *s, *p) > SIDE);
}

static struct random_window
random_window(struct random_maker *m, const struct random_output *x, int pool)
{
	struct random_window g = { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 } };
	int size[3] = { x->t, x->h, x->w };
	int which = random_below(m, 100);

	/* Back ends have few algorithms for pixels, and refuse others. */
	if (x->c <= 3 && x->h * x->w > 1 && random_is(m, 80))
		which = random_is(m, 80) ? 20 : 0;
	if (m->large && !pool && random_is(m, 50))
		which = 20;
	if (which < 18 && !pool)
		return g;			/* 1x1 */
	for (int i = 0; i < 3; i++) {
		if (which < 38) {		/* 3x3 */
			g.k[i] = i == 0 ? 1 : 3;
		} else if (which < 50) {	/* over time */
			g.k[i] = i == 0 ? 3 : 1;
		} else if (which < 58) {
			g.k[i] = 3;
		} else if (which < 72 ? i > 0 : random_is(m, 60)) {
			random_axis(m, size[i], pool, &g.k[i], &g.s[i], &g.p[i]);
			continue;
		}
		g.p[i] = (g.k[i] - 1) / 2;
		if (which < 58 && g.k[i] > 1 && random_is(m, 30))
			g.s[i] = 2;
	}
	return g;
}

static int
random_fits(const struct random_window *g, struct random_output *o)
{
	o->t = random_windows(o->t, g->k[0], g->s[0], g->p[0]);
	o->h = random_windows(o->h, g->k[1], g->s[1], g->p[1]);
	o->w = random_windows(o->w, g->k[2], g->s[2], g->p[2]);
	return o->t > 0 && o->h > 0 && o->w > 0 &&
	    random_positions(o) * (size_t)o->c < VALUES;
}

/* Write " k=... s=... p=..." to ${text}, with two numbers where possible. */
static const char *
random_window_text(struct random_maker *m, const struct random_window *g,
    char text[80])
{
	int planar = g->k[0] == 1 && g->s[0] == 1 && g->p[0] == 0 &&
	    !random_is(m, 25);
	int at = planar ? snprintf(text, 80, " k=%d,%d", g->k[1], g->k[2]) :
	    snprintf(text, 80, " k=%d,%d,%d", g->k[0], g->k[1], g->k[2]);

	if (g->s[0] != 1 || (!planar && random_is(m, 20)))
		at += snprintf(text + at, 80 - (size_t)at, " s=%d,%d,%d",
		    g->s[0], g->s[1], g->s[2]);
	else if (g->s[1] != 1 || g->s[2] != 1)
		at += snprintf(text + at, 80 - (size_t)at, " s=%d,%d", g->s[1],
		    g->s[2]);
	for (int i = 0; i < 3; i++)
		if (g->p[i] != (g->k[i] - 1) / 2) {
			snprintf(text + at, 80 - (size_t)at, " p=%d,%d,%d",
			    g->p[0], g->p[1], g->p[2]);
			break;
		}
	return text;
}

/* ---- convolutions ---- */

static int
random_groups(struct random_maker *m, int in, int *out)
{
	int g, which = random_below(m, 100);

	if (which < 72 || in < 2 || (in <= 3 && random_is(m, 80)))
		return 1;
	if (which < 87) {			/* depthwise */
		*out = random_is(m, 85) ? in : 2 * in;
		return in;
	}
	g = random_from(m, 2, in < 8 ? in : 8);
	while (in % g != 0)
		g--;
	*out = g * random_from(m, 1, 6);
	return g;
}

static double
random_conv_macs(const struct random_maker *m, const struct random_window *g,
    const struct random_output *o, int in, int groups)
{
	return (double)m->n->clips * (double)random_positions(o) * o->c *
	    (in / groups) * g->k[0] * g->k[1] * g->k[2];
}

/*
 * Append a convolution of ${x} to ${out} channels (0: any) by ${g} (NULL: any).
 * Return its number, or -1.
 */
static int
random_conv(struct random_maker *m, int x, int out, const struct random_window *g)
{
	struct random_window own = g != NULL ? *g :
	    random_window(m, &m->out[x], 0);
	struct random_output o = random_named(m, "conv", &m->out[x]);
	int channels = out > 0 ? out : random_channels(m), groups, in = o.c;
	char window[80], more[40] = "";

	if (in <= 3 && o.h * o.w > 1 && channels <= 3 && random_is(m, 70))
		channels = 8 + channels;
	groups = out > 0 ? (out == in && in > 1 && random_is(m, 12) ? in : 1) :
	    random_groups(m, in, &channels);
	o.c = channels;
	if (!random_fits(&own, &o))
		return -1;
	if (random_conv_macs(m, &own, &o, in, groups) >
	    limits[m->large].conv_macs)
		return -1;
	m->macs += random_conv_macs(m, &own, &o, in, groups);
	if (groups > 1)
		snprintf(more, sizeof(more), " groups=%d", groups);
	if (random_is(m, 20))
		strcat(more, " bias=1");
	if (random_is(m, 8))
		strcat(more, " std=0.2");
	return random_line(m, "conv", o, " in=%s out=%d%s%s", random_read(m, x),
	    o.c, random_window_text(m, &own, window), more);
}

static int
random_bn(struct random_maker *m, int x)
{
	static const char *const more[] = { "", "", "", " gamma=0.7",
	    " gamma=-0.5", " eps=0.001", " momentum=0.3" };

	return random_same(m, "bn", x, RANDOM_OF(m, more));
}

static int
random_act(struct random_maker *m, int x)
{
	static const char *const kinds[] = { "relu", "relu", "relu", "relu6",
	    "swish", "sigmoid" };

	return random_same(m, RANDOM_OF(m, kinds), x, "");
}

/* ---- sources ---- */

/* Return an output to read: often the last one, and rarely pixels. */
static int
random_source(struct random_maker *m)
{
	int i = m->outs - 1;

	if (random_is(m, 25) && m->outs > 4)
		i = m->outs - 1 - random_below(m, 4);
	else if (random_is(m, 15))
		i = random_below(m, m->outs);
	/* Only convolutions take pixels on the CPU. */
	if (m->out[i].c <= 3 && random_is(m, 80))
		i = m->outs - 1;
	while (m->out[i].shape_bound)
		i--;
	return i;
}

static int
random_equal(const struct random_output *a, const struct random_output *b)
{
	return a->c == b->c && a->t == b->t && a->h == b->h && a->w == b->w;
}

/* Return another output of the shape of ${x}, or -1. */
static int
random_partner(struct random_maker *m, int x)
{
	int first = random_below(m, m->outs);

	for (int i = 0; i < m->outs; i++) {
		int k = (first + i) % m->outs;

		if (k != x && !m->out[k].shape_bound &&
		    random_equal(&m->out[k], &m->out[x]))
			return k;
	}
	return -1;
}

/* ---- motifs; each leaves the network unchanged if it does not fit ---- */

static void
random_conv_chain(struct random_maker *m)
{
	int x = random_conv(m, random_source(m), 0, NULL);

	if (x < 0)
		return;
	if (random_is(m, 65))
		x = random_bn(m, x);
	if (random_is(m, 65))
		random_act(m, x);
}

/* A branch of ${x} that ends in ${c} channels: conv and perhaps bn. */
static int
random_branch(struct random_maker *m, int x, int c, const struct random_window *g)
{
	int y = random_conv(m, x, c, g);

	if (y >= 0 && random_is(m, 80))
		y = random_bn(m, y);
	if (y >= 0 && random_is(m, 12))
		y = random_act(m, y);
	return y;
}

static void
random_add_of(struct random_maker *m, int a, int b, int c)
{
	struct random_output o = random_named(m, "add", &m->out[a]);
	int y = c >= 0 ? random_line(m, "add", o, " in=%s,%s,%s",
	    random_read(m, a), random_read(m, b), random_read(m, c)) :
	    random_line(m, "add", o, " in=%s,%s", random_read(m, a),
	    random_read(m, b));

	if (random_is(m, 60))
		random_act(m, y);
	else if (random_is(m, 15))
		random_bn(m, y);
}

/* Two branches that are added, as in residual blocks. */
static void
random_residual(struct random_maker *m)
{
	int x = random_source(m), a, b = x;
	struct random_window g = random_window(m, &m->out[x], 0);
	int c = random_is(m, 40) ? m->out[x].c : random_channels(m);

	if (c <= 3 && random_is(m, 95))
		c = 16;
	if ((a = random_branch(m, x, c, &g)) < 0)
		return;
	if (!random_equal(&m->out[a], &m->out[x]) || random_is(m, 50)) {
		for (int i = 0; i < 3; i++)
			if (2 * g.p[i] == g.k[i] - 1 && random_is(m, 50)) {
				g.k[i] = 1;
				g.p[i] = 0;
			}
		b = random_branch(m, x, c, &g);
	} else if (random_is(m, 40) && m->out[x].c > 3) {
		b = random_bn(m, x);
	}
	if (b < 0 || b == a || !random_equal(&m->out[a], &m->out[b]))
		return;
	if (random_is(m, 50))
		random_add_of(m, a, b, random_is(m, 10) ? a : -1);
	else
		random_add_of(m, b, a, -1);
}

static void
random_unary(struct random_maker *m)
{
	static const char *const by[] = { " by=0.7", " by=1/c",
	    " by=2/sqrt(c)", " by=-1.3 trained=1", " by=1/sqrt(c) trained=1" };
	static const char *const rates[] = { "", " rate=0.2", " rate=0" };
	int x = random_source(m), which = random_below(m, 100);

	if (which < 35)
		random_bn(m, x);
	else if (which < 65)
		random_act(m, x);
	else if (which < 85)
		random_same(m, "scale", x, RANDOM_OF(m, by));
	else
		random_same(m, "dropout", x, RANDOM_OF(m, rates));
}

static void
random_shift(struct random_maker *m)
{
	int x = random_source(m), c = m->out[x].c;
	char more[48];
	int fold = random_is(m, 50) ? 2 + random_below(m, 3) : 8;

	if (c < 2)
		return;
	if (fold > c)
		fold = c;
	snprintf(more, sizeof(more), " fold=%d%s", fold,
	    random_is(m, 25) ? " from=past" : "");
	x = random_same(m, "shift", x, more);
	if (random_is(m, 60))
		random_conv(m, x, 0, NULL);
}

static void
random_pool(struct random_maker *m)
{
	int x = random_source(m), max = random_is(m, 55);
	struct random_window g = random_window(m, &m->out[x], 1);
	struct random_output o = random_named(m, max ? "maxpool" : "avgpool",
	    &m->out[x]);
	char window[80];
	int one = 1;

	for (int i = 0; i < 3; i++)
		one &= g.k[i] == 1 && g.s[i] == 1;
	if (one || !random_fits(&g, &o))
		return;
	random_line(m, max ? "maxpool" : "avgpool", o, " in=%s%s%s",
	    random_read(m, x), random_window_text(m, &g, window),
	    !max && random_is(m, 40) ? " edges=cut" : "");
}

/* Append the mean of ${x} over axes, a sum of OVER_*.  Return its number. */
static int
random_mean(struct random_maker *m, int x, int axes)
{
	struct random_output o = random_named(m, "mean", &m->out[x]);

	if (axes & OVER_T)
		o.t = 1;
	if (axes & OVER_H)
		o.h = 1;
	if (axes & OVER_W)
		o.w = 1;
	return random_line(m, "avgpool", o, " in=%s over=%s%s%s",
	    random_read(m, x), axes & OVER_T ? "t" : "",
	    axes & OVER_H ? "h" : "", axes & OVER_W ? "w" : "");
}

static int
random_linear(struct random_maker *m, int x, int out)
{
	struct random_output o = random_named(m, "linear", &m->out[x]);

	o.c = out;
	return random_line(m, "linear", o, " in=%s out=%d std=0.%d",
	    random_read(m, x), out, random_from(m, 1, 5));
}

static void
random_axes(struct random_maker *m)
{
	int x = random_source(m);

	if (random_is(m, 70))
		random_mean(m, x, random_from(m, 1, 7));
	else
		random_linear(m, x, random_channels(m));
}

/* Squeeze and excitation, or another product. */
static void
random_mul(struct random_maker *m)
{
	int x = random_source(m), c = m->out[x].c, gate, partner;
	struct random_window one = { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 } };

	if (random_is(m, 25) && (partner = random_partner(m, x)) >= 0) {
		random_line(m, "mul", random_named(m, "mul", &m->out[x]),
		    " in=%s,%s", random_read(m, x), random_read(m, partner));
		return;
	}
	gate = random_mean(m, x, random_from(m, 1, 7));
	if (random_is(m, 60)) {
		int r = random_conv(m, gate, random_channels(m), &one);

		if (r >= 0 && (r = random_conv(m, random_act(m, r), c, &one)) >=
		    0)
			gate = r;
	} else if (random_is(m, 50)) {
		gate = random_linear(m, gate, c);
	}
	if (m->out[gate].c != c)
		return;
	gate = random_same(m, "sigmoid", gate, "");
	random_line(m, "mul", random_named(m, "mul", &m->out[x]), " in=%s,%s",
	    random_read(m, x), random_read(m, gate));
}

/* Add many outputs, some of them several times. */
static void
random_add_many(struct random_maker *m, int x, int y)
{
	char in[NET_LINE - 60];
	size_t at = (size_t)snprintf(in, sizeof(in), "%s", random_read(m, x));

	for (int n = random_from(m, 1, 15); n > 0 && at < sizeof(in) - 24; n--)
		at += (size_t)snprintf(in + at, sizeof(in) - at, ",%s",
		    random_read(m, n % 3 == 0 ? x : n % 3 == 1 ? y :
		    random_partner(m, x)));
	random_line(m, "add", random_named(m, "add", &m->out[x]), " in=%s", in);
}

static void
random_add(struct random_maker *m)
{
	int x = random_source(m), y = random_partner(m, x);

	if (y >= 0 && random_is(m, 15))
		random_add_many(m, x, y);
	else if (y >= 0)
		random_add_of(m, x, y, random_is(m, 30) ?
		    random_partner(m, x) : -1);
}

static void
random_concat(struct random_maker *m)
{
	int x = random_source(m), first = random_below(m, m->outs), n = 1;
	struct random_output o = random_named(m, "concat", &m->out[x]);
	int max = random_is(m, 90) ? random_from(m, 2, 4) : 10;
	char in[NET_LINE - 40];
	size_t at = (size_t)snprintf(in, sizeof(in), "%s", m->out[x].name);

	for (int i = 0; i < m->outs && n < max; i++) {
		const struct random_output *y =
		    &m->out[(first + i) % m->outs];

		if (y->t != o.t || y->h != o.h || y->w != o.w ||
		    at > sizeof(in) - 24 || o.c + y->c > 200 || y == &m->out[x] || y->shape_bound)
			continue;
		o.c += y->c;
		at += (size_t)snprintf(in + at, sizeof(in) - at, ",%s",
		    random_read(m, (first + i) % m->outs));
		n++;
	}
	if (n > 1 && random_positions(&o) * (size_t)o.c < VALUES) {
		random_read(m, x);
		random_line(m, "concat", o, " in=%s", in);
	}
}

static void
random_frames(struct random_maker *m)
{
	int x = random_source(m), step = random_from(m, 1, 4);
	int spread = random_is(m, 30);
	int first = spread ? 0 : random_below(m, step);
	struct random_output o = random_named(m, "frames", &m->out[x]);

	o.t = spread ? o.t / step : (o.t - first + step - 1) / step;
	if (o.t < 1)
		return;
	if (spread)
		random_line(m, "frames", o, " in=%s step=%d spread=1",
		    random_read(m, x), step);
	else
		random_line(m, "frames", o, " in=%s step=%d first=%d",
		    random_read(m, x), step, first);
}

static void
random_softmax(struct random_maker *m)
{
	int axes = random_from(m, 1, 15), x = random_source(m);
	char over[16];

	snprintf(over, sizeof(over), " over=%s%s%s%s", axes & OVER_T ? "t" : "",
	    axes & OVER_H ? "h" : "", axes & OVER_W ? "w" : "",
	    axes & OVER_C ? "c" : "");
	random_same(m, "softmax", x, over);
}

/* Attention over all positions, as in non-local blocks. */
static void
random_attention(struct random_maker *m)
{
	struct random_window one = { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 } };
	int x = random_source(m), mid = random_channels(m), q, k, v, from = x;
	struct random_output o;

	if (random_positions(&m->out[x]) > 400 || m->out[x].c <= 3)
		return;
	if (random_is(m, 40) && m->out[x].h > 1 && m->out[x].w > 1) {
		o = random_named(m, "maxpool", &m->out[x]);
		o.h = (o.h - 2) / 2 + 1;
		o.w = (o.w - 2) / 2 + 1;
		from = random_line(m, "maxpool", o, " in=%s k=2,2 s=2,2",
		    random_read(m, x));
	}
	if ((q = random_conv(m, x, mid, &one)) < 0 ||
	    (k = random_conv(m, from, mid, &one)) < 0 ||
	    (v = random_is(m, 70) ? random_conv(m, from, mid, &one) : k) < 0)
		return;
	if (random_is(m, 50))
		q = random_same(m, "scale", q, " by=1/sqrt(c)");
	/* The channels of the scores depend on the shape; only ops that do not
	 * mind follow, and all of them are read. */
	o = random_named(m, "bmm", &m->out[q]);
	o.c = (int)random_positions(&m->out[k]);
	o.shape_bound = 1;
	q = random_line(m, "bmm", o, " in=%s,%s transpose=b",
	    random_read(m, q), random_read(m, k));
	if (random_is(m, 70))
		q = random_same(m, "softmax", q, " over=c");
	else
		q = random_same(m, "scale", q, " by=1/c");
	o = random_named(m, "bmm", &m->out[q]);
	o.c = mid;
	o.shape_bound = 0;
	q = random_line(m, "bmm", o, " in=%s,%s", random_read(m, q),
	    random_read(m, v));
	if (random_is(m, 50)) {
		v = random_conv(m, q, m->out[x].c, &one);
		if (v >= 0)
			random_add_of(m, v, x, -1);
	}
}

/* A product of channels by channels. */
static void
random_gram(struct random_maker *m)
{
	int x = random_source(m), y = random_partner(m, x);
	struct random_output o = random_named(m, "bmm", &m->out[x]);

	if (m->out[x].c > 24 || m->out[x].c <= 3)
		return;
	if (y < 0)
		y = x;
	o.t = o.h = 1;
	o.w = m->out[x].c;
	if (random_is(m, 30) && random_positions(&m->out[x]) < 100) {
		/* Both transposed: as many channels there as positions here. */
		int z = random_linear(m, y, (int)random_positions(&m->out[x]));

		o.c = (int)random_positions(&m->out[x]);
		o.shape_bound = 1;
		z = random_line(m, "bmm", o, " in=%s,%s transpose=ab",
		    random_read(m, x), random_read(m, z));
		o = random_named(m, "bmm", &o);
		o.c = m->out[x].c;
		o.shape_bound = 0;
		random_line(m, "bmm", o, " in=%s,%s", random_read(m, z),
		    random_read(m, x));
		return;
	}
	o.c = m->out[y].c;
	random_line(m, "bmm", o, " in=%s,%s transpose=a", random_read(m, x),
	    random_read(m, y));
}

static const struct { int percent; void (*make)(struct random_maker *); }
    random_motifs[] = {
	{ 30, random_conv_chain }, { 17, random_residual },
	{ 14, random_unary }, { 6, random_shift }, { 8, random_pool },
	{ 4, random_axes }, { 5, random_mul }, { 4, random_add },
	{ 4, random_concat }, { 2, random_frames }, { 2, random_softmax },
	{ 3, random_attention }, { 2, random_gram },
};

/* ---- inputs and heads ---- */

static void
random_inputs(struct random_maker *m)
{
	static const char *const norm[] = { "",
	    " mean=0.45,0.4,0.42 std=0.22,0.23,0.225", " mean=0.5 std=0.25" };
	struct random_net *n = m->n;
	struct random_output o = { "", 3, n->frames, n->side, n->side, 0, 0 };
	int which = random_below(m, 100);

	if (which < 80) {
		o = random_named(m, "input", &o);
		random_line(m, "input", o, " out=3%s", RANDOM_OF(m, norm));
	}
	if (which >= 80 && which < 88) {
		o = random_named(m, "input", &o);
		o.c = 3 * random_from(m, 1, 3);
		random_line(m, "input", o, " stream=rgbdiff out=%d mean=0.5",
		    o.c);
	}
	if (which >= 88 || random_is(m, 10)) {
		o = random_named(m, "input", &o);
		o.c = 2 * (random_is(m, 90) ? random_from(m, 1, 5) : 17);
		random_line(m, "input", o,
		    " stream=flow out=%d mean=0.5 std=0.226", o.c);
	}
	if (which >= 92 || (which < 80 && random_is(m, 4))) {
		o = random_named(m, "input", &o);
		o.c = 3;
		random_line(m, "input", o, " out=3%s", RANDOM_OF(m, norm));
	}
}

/* Append a linear layer to classes for ${x}, and a mean before or behind it. */
static int
random_scores(struct random_maker *m, int x)
{
	int axes = random_is(m, 80) ? OVER_T | OVER_H | OVER_W :
	    random_from(m, 0, 6);
	struct random_output o;

	if (axes > 0)
		x = random_mean(m, x, axes);
	if (random_is(m, 15))
		x = random_same(m, "dropout", x, " rate=0.3");
	o = random_named(m, "fc", &m->out[x]);
	o.c = NET_CLASSES;
	x = random_line(m, "linear", o, " in=%s out=classes std=0.%d",
	    random_read(m, x), random_from(m, 1, 5));
	axes = OVER_T | OVER_H | OVER_W;
	if (m->out[x].t * m->out[x].h * m->out[x].w > 1)
		x = random_mean(m, x, axes);
	return x;
}

static void
random_loss(struct random_maker *m, int x)
{
	static const char *const kinds[] = { "", "", " smooth=0.1",
	    " kind=softmax weight=0.3", " kind=focal", " kind=focal gamma=1.5",
	    " kind=focal gamma=0.5 smooth=0.2", " kind=focal gamma=0",
	    " kind=sigmoid", " kind=sigmoid weight=2" };
	struct random_output o = random_named(m, "loss", &m->out[x]);

	random_line(m, "loss", o, " in=%s%s", random_read(m, x),
	    RANDOM_OF(m, kinds));
	/* A loss is not an input. */
	m->out[m->outs - 1].readers = 1;
	m->out[m->outs - 1].c = m->out[m->outs - 1].t = 0;
}

/* Join the outputs that nothing reads yet, and add the heads. */
static void
random_heads(struct random_maker *m)
{
	int leaf[OUTPUTS], leaves = 0, head[3], heads = 0, n = m->outs;
	char in[NET_LINE - 40] = "";
	size_t at = 0;
	struct random_output o = { "", 0, 1, 1, 1, 0, 0 };

	for (int i = 0; i < n; i++)
		if (m->out[i].readers == 0)
			leaf[leaves++] = i;
	if (leaves == 0)
		leaf[leaves++] = n - 1;
	while (leaves > 1 && heads < 2 && random_is(m, 30))
		head[heads++] = random_scores(m, leaf[--leaves]);
	for (int i = 0; i < leaves && leaves > 1; i++) {
		int x = random_mean(m, leaf[i], OVER_T | OVER_H | OVER_W);

		if (i >= 15 && i + 1 < leaves) {
			/* More leaves than a concat takes: add heads. */
			head[heads < 3 ? heads++ : 0] = random_scores(m, x);
			continue;
		}
		o.c += m->out[x].c;
		at += (size_t)snprintf(in + at, sizeof(in) - at, "%s%s",
		    i > 0 ? "," : "", random_read(m, x));
	}
	if (leaves > 1)
		leaf[0] = random_line(m, "concat", random_named(m, "concat", &o),
		    " in=%s", in);
	head[heads++] = random_scores(m, leaf[0]);
	for (int i = 0; i < heads && (heads > 1 || random_is(m, 40)); i++)
		random_loss(m, head[i]);
}

/* ---- the network ---- */

static void
random_shape(struct random_maker *m)
{
	static const int clips[] = { 1, 1, 1, 2, 2, 2, 3, 4, 5 };
	static const int frames[] = { 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8 };
	static const int larger[] = { 8, 9, 12, 14, 15, 16, 17, 24, 31, 32, 33 };
	struct random_net *n = m->n;

	n->clips = RANDOM_OF(m, clips);
	n->frames = RANDOM_OF(m, frames);
	n->side = random_is(m, 45) ? random_from(m, 1, 7) : RANDOM_OF(m, larger);
	if (n->clips * n->frames * n->side * n->side > 4000)
		n->frames = random_from(m, 1, 2);
	if ((m->large = random_is(m, 6))) {
		n->clips = random_from(m, 1, 4);
		n->frames = random_from(m, 1, 3);
		n->side = n->clips * n->frames > 5 ? random_from(m, 13, 17) :
		    n->clips * n->frames > 2 ? random_from(m, 19, 24) :
		    random_from(m, 30, 36);
	}
	n->repeats = random_is(m, 50);
	n->soft = random_is(m, 20);
}

/* Freeze some operators, if there are such. */
static void
random_freeze(struct random_maker *m)
{
	struct error said = { { 0 } }, *before = fail_into(&said);
	struct graph *g;

	static const char *const items[] = { "backbone", "partial-bn", "bn*",
	    "conv*", "conv_[1-5]", "*[13579]", "*[02468]", "linear*" };

	if (random_is(m, 20))
		snprintf(m->n->freeze, sizeof(m->n->freeze), "%s",
		    RANDOM_OF(m, items));
	if ((g = random_net_graph(m->n)) == NULL)
		m->n->freeze[0] = '\0';
	graph_free(g);
	fail_into(before);
}

void
random_net_make(struct random_net *n, uint64_t seed)
{
	struct random_maker m = { .rng = rng_clip(seed, 40), .n = n };
	int motifs, sum = 0;

	memset(n, 0, sizeof(*n));
	n->seed = seed;
	random_shape(&m);
	random_inputs(&m);
	for (size_t i = 0; i < sizeof(random_motifs) / sizeof(*random_motifs); i++)
		sum += random_motifs[i].percent;
	motifs = m.large || random_is(&m, 40) ? random_from(&m, 1, 3) :
	    random_from(&m, 2, 12);
	/* Most networks begin with a convolution of the pixels. */
	if (random_is(&m, 85))
		random_conv_chain(&m);
	while (motifs-- > 0 && !m.full) {
		int at = random_below(&m, sum), i = 0;

		while ((at -= random_motifs[i].percent) >= 0)
			i++;
		random_motifs[i].make(&m);
	}
	random_heads(&m);
	random_freeze(&m);
}

char *
random_net_text(const struct random_net *n, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (int i = 0; i < n->lines && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s\n", n->line[i]);
	return text;
}

struct graph *
random_net_graph(const struct random_net *n)
{
	static char text[NET_LINES * NET_LINE];
	struct graph *g = graph_parse("random.net",
	    random_net_text(n, text, sizeof(text)), NET_CLASSES);
	const char *item[] = { n->freeze };
	struct option_list what = { item, 1, 1 };

	if (g != NULL && n->freeze[0] != '\0' && freeze_apply(g, &what) != 0) {
		graph_free(g);
		return NULL;
	}
	return g;
}

unsigned
random_net_kinds(const struct random_net *n)
{
	unsigned kinds = 0;

	for (int i = 0; i < n->lines; i++)
		for (int k = 0; k < OP_KINDS; k++) {
			size_t len = strlen(op_types[k].name);

			if (strncmp(n->line[i], op_types[k].name, len) == 0 &&
			    n->line[i][len] == ' ')
				kinds |= 1u << k;
		}
	return kinds;
}

/* ---- files ---- */

static void
random_read_comment(struct random_net *n, const char *line)
{
	char key[32], value[64];
	int v;

	if (sscanf(line, "# %31s %63s", key, value) != 2)
		return;
	v = atoi(value);
	if (strcmp(key, "seed") == 0)
		n->seed = strtoull(value, NULL, 10);
	else if (strcmp(key, "freeze") == 0)
		snprintf(n->freeze, sizeof(n->freeze), "%s", value);
	else if (strcmp(key, "clips") == 0)
		n->clips = v;
	else if (strcmp(key, "frames") == 0)
		n->frames = v;
	else if (strcmp(key, "side") == 0)
		n->side = v;
	else if (strcmp(key, "repeats") == 0)
		n->repeats = v;
	else if (strcmp(key, "soft") == 0)
		n->soft = v;
}

int
random_net_read(struct random_net *n, const char *path)
{
	char line[1024];
	FILE *f = fopen(path, "r");

	if (f == NULL)
		return fail_errno("%s", path);
	memset(n, 0, sizeof(*n));
	n->clips = n->frames = 2;
	n->side = 8;
	while (fgets(line, sizeof(line), f) != NULL && n->lines < NET_LINES) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#')
			random_read_comment(n, line);
		else if (line[0] != '\0')
			snprintf(n->line[n->lines++], NET_LINE, "%.*s",
			    NET_LINE - 1, line);
	}
	fclose(f);
	return 0;
}
