/*
 * Parameters and multiply-adds of the networks in share/models equal sums
 * computed here layer by layer. networks_golden.c compares with published
 * programs.
 */
#include "graph/graph.h"

#include "models.h"
#include "tap.h"

/*
 * Parameters and multiply-adds of a ResNet of basic blocks: a stem of ${taps} x
 * ${taps} at stride 2 with ${stem} channels, a pool of stride 2 if ${pool},
 * then ${stages} stages of two blocks.  Each stage has twice the channels and
 * half the side of the one before.
 */
struct sum { long long parameters, macs; };

static void
add_conv(struct sum *s, int in, int out, int k, int side)
{
	s->parameters += (long long)in * out * k * k + 2 * out;	/* with bn */
	s->macs += (long long)in * out * k * k * side * side;
}

static struct sum
basic(int stem, int taps, int pool, int stages, int classes, int t, int side)
{
	struct sum s = { 0, 0 };
	int c = stem;

	side = (side + 1) / 2;
	add_conv(&s, 3, stem, taps, side);
	if (pool)
		side = (side + 1) / 2;
	for (int i = 0; i < stages; i++, c *= 2) {
		int in = i == 0 ? c : c / 2;

		if (i > 0) {
			side = (side + 1) / 2;
			add_conv(&s, in, c, 1, side);	/* the projection */
		}
		add_conv(&s, in, c, 3, side);
		for (int k = 0; k < 3; k++)
			add_conv(&s, c, c, 3, side);
	}
	s.parameters += (long long)c / 2 * classes + classes;
	s.macs += (long long)c / 2 * classes;
	s.macs *= t;
	return s;
}

static void
check_sum(const char *name, int classes, int t, int side, struct sum want)
{
	struct graph *g = model_read(name, classes);
	struct dims in = { 1, t, side, side, 3 };
	char what[128];

	snprintf(what, sizeof(what), "%s, %d classes: parameters", name, classes);
	is((long long)graph_parameters(g), want.parameters, what);
	snprintf(what, sizeof(what), "%s, %d x %d x %d: multiply-adds", name, t,
	    side, side);
	near(graph_macs(g, &in), (double)want.macs, 0, what);
	graph_free(g);
}

static void
by_hand(void)
{
	static const int shapes[][2] = { { 2, 34 }, { 4, 48 }, { 8, 79 } };

	is(basic(16, 5, 0, 3, 8, 1, 48).parameters, 175896,
	    "the sum of tsm_tiny is the number in its file");
	is(basic(64, 7, 1, 4, 1000, 1, 224).parameters, 11689512,
	    "the sum of ResNet-18 is torchvision's");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		int t = shapes[i][0], side = shapes[i][1];

		check_sum("tsm_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsn_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsm_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
		check_sum("tsn_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
	}
}

/*
 * The network ${name} has the layers of ${base}, and its first convolution of 64
 * x 7 x 7 reads ${c} channels.
 */
static void
check_stack(const char *name, const char *base, int c)
{
	struct graph *g = model_read(name, 101), *rgb = model_read(base, 101);
	struct dims in = { 1, 8, 158, 158, 3 }, stack = { 1, 8, 158, 158, c };
	long long more = (long long)(c - 3) * 64 * 49;

	is((long long)graph_parameters(g), (long long)graph_parameters(rgb) +
	    more, name);
	near(graph_macs(g, &stack), graph_macs(rgb, &in) + (double)more * 8 *
	    79 * 79, 0, "multiply-adds");
	graph_free(g);
	graph_free(rgb);
}

static void
stacks(void)
{
	check_stack("tsn_r18_flow", "tsn_r18", 10);
	check_stack("tsn_r50_flow", "tsn_r50", 10);
	check_stack("tsm_r18_flow", "tsm_r18", 10);
	check_stack("tsm_r50_flow", "tsm_r50", 10);
	check_stack("tsn_r18_flow10", "tsn_r18", 20);
	check_stack("tsn_r50_flow10", "tsn_r50", 20);
	check_stack("tsm_r18_flow10", "tsm_r18", 20);
	check_stack("tsm_r50_flow10", "tsm_r50", 20);
	check_stack("tsn_r50_rgbdiff", "tsn_r50", 15);
}

/* ---- three dimensions ---- */

/*
 * The shape after the layers so far: ${t} frames of ${side} x ${side}, ${c}
 * channels.
 */
struct way { struct sum s; int t, side, c; };

/*
 * Add a convolution to ${out} channels with ${kt} x ${k} x ${k} taps and
 * strides ${st} and ${s}, padded to keep the size.  Add a norm if ${bn}.  The
 * convolution is depthwise if ${alone}.
 */
static void
go(struct way *w, int out, int kt, int k, int st, int s, int bn, int alone)
{
	long long n = (long long)(alone ? 1 : w->c) * out * kt * k * k;

	w->t = (w->t + st - 1) / st;
	w->side = (w->side + s - 1) / s;
	w->c = out;
	w->s.parameters += n + (bn ? 2 * out : 0);
	w->s.macs += n * w->t * w->side * w->side;
}

/* Add a projection from the shape ${from} to that of ${w}. */
static void
beside(struct way *w, struct way from, int st, int s, int bn)
{
	struct sum before = from.s;

	go(&from, w->c, 1, 1, st, s, bn, 0);
	w->s.parameters += from.s.parameters - before.parameters;
	w->s.macs += from.s.macs - before.macs;
}

static struct sum
classify(struct way *w, int classes)
{
	w->s.parameters += (long long)w->c * classes + classes;
	w->s.macs += (long long)w->c * classes;
	return w->s;
}

/*
 * ResNet-50 with three frames in the first (${first}) or second convolution of
 * its blocks.
 */
static struct sum
inflated(int first, int classes, int t, int side)
{
	static const int blocks[] = { 3, 4, 6, 3 };
	static const char *const three[] = { "111", "1010", "101010", "010" };
	struct way w = { .t = t, .side = side, .c = 3 };

	go(&w, 64, 5, 7, 1, 2, 1, 0);
	w.side = (w.side + 1) / 2;		/* the pool */
	for (int i = 0; i < 4; i++) {
		for (int b = 0; b < blocks[i]; b++) {
			int kt = three[i][b] == '1' ? 3 : 1;
			int s = i > 0 && b == 0 ? 2 : 1;
			struct way from = w;

			go(&w, 64 << i, first ? kt : 1, 1, 1, 1, 1, 0);
			go(&w, 64 << i, first ? 1 : kt, 3, 1, s, 1, 0);
			go(&w, 256 << i, 1, 1, 1, 1, 1, 0);
			if (b == 0)
				beside(&w, from, 1, s, 1);
		}
		if (i == 0)
			w.t /= 2;		/* the pool over time */
	}
	return classify(&w, classes);
}

/*
 * Tran et al. 2018: as many channels between as keep the parameters of 3 x 3 x
 * 3.
 */
static void
apart(struct way *w, int mid, int out, int s)
{
	go(w, mid, 1, 3, 1, s, 1, 0);
	go(w, out, 3, 1, s, 1, 1, 0);
}

/* The channels between convolutions of ${k} x ${k} and of 3. */
static int
between(int in, int out, int k)
{
	return 3 * k * k * in * out / (k * k * in + 3 * out);
}

/*
 * R(2+1)D of torchvision; of ig65m-pytorch, where the second pair of a block
 * has channels of its own; or of MMAction2, also with a wider stem and a pool
 * behind it, and with pairs as projections.
 */
enum maker { TORCHVISION, IG65M, MMACTION2 };
static const int two[] = { 2, 2, 2, 2 }, many[] = { 3, 4, 6, 3 };

static struct sum
r2plus1d(enum maker by, int classes, int t, int side)
{
	const int *blocks = by == TORCHVISION ? two : many;
	struct way w = { .t = t, .side = side, .c = 3 };

	go(&w, by == MMACTION2 ? between(3, 64, 7) : 45, 1, 7, 1, 2, 1, 0);
	go(&w, 64, 3, 1, 1, 1, 1, 0);
	if (by == MMACTION2)
		w.side = (w.side + 1) / 2;
	for (int i = 0; i < 4; i++)
		for (int b = 0; b < blocks[i]; b++) {
			int out = 64 << i, s = i > 0 && b == 0 ? 2 : 1;
			int mid = between(w.c, out, 3);
			struct way from = w, pair = w;

			apart(&w, mid, out, s);
			apart(&w, by == TORCHVISION ? mid :
			    between(out, out, 3), out, 1);
			if (s == 2 && by == MMACTION2) {
				go(&pair, between(pair.c, out, 1), 1, 1, 1, 2,
				    1, 0);
				go(&pair, out, 1, 1, 2, 1, 1, 0);
				w.s.parameters += pair.s.parameters -
				    from.s.parameters;
				w.s.macs += pair.s.macs - from.s.macs;
			} else if (s == 2) {
				beside(&w, from, 2, 2, 1);
			}
		}
	return classify(&w, classes);
}

/* r3d_18 of torchvision or, with ${kt} 1 behind the first stage, mc3_18, which
 * keeps all frames. */
static struct sum
r3d(int kt, int classes, int t, int side)
{
	struct way w = { .t = t, .side = side, .c = 3 };

	go(&w, 64, 3, 7, 1, 2, 1, 0);
	for (int i = 0; i < 4; i++)
		for (int b = 0; b < 2; b++) {
			int s = i > 0 && b == 0 ? 2 : 1, k = i > 0 ? kt : 3;
			int st = kt == 3 ? s : 1;
			struct way from = w;

			go(&w, 64 << i, k, 3, st, s, 1, 0);
			go(&w, 64 << i, k, 3, 1, 1, 1, 0);
			if (s == 2)
				beside(&w, from, st, 2, 1);
		}
	return classify(&w, classes);
}

/*
 * ResNet-50 without kernels over time, with a pool over time behind the first
 * stage, and a first pool without padding, as in MMAction2's C2D.
 */
static struct sum
c2d_unpadded(int classes, int t, int side)
{
	struct way w = { .t = t, .side = side, .c = 3 };

	go(&w, 64, 1, 7, 1, 2, 1, 0);
	w.side = (w.side - 1) / 2;
	for (int i = 0; i < 4; i++) {
		for (int b = 0; b < many[i]; b++) {
			int s = i > 0 && b == 0 ? 2 : 1;
			struct way from = w;

			go(&w, 64 << i, 1, 1, 1, 1, 1, 0);
			go(&w, 64 << i, 1, 3, 1, s, 1, 0);
			go(&w, 256 << i, 1, 1, 1, 1, 1, 0);
			if (b == 0)
				beside(&w, from, 1, s, 1);
		}
		if (i == 0)
			w.t /= 2;
	}
	return classify(&w, classes);
}

/* Check that ${name} has the parameters and multiply-adds of ${base}. */
static void
check_like(const char *name, const char *base)
{
	struct graph *a = model_read(name, 400), *b = model_read(base, 400);
	struct dims in = { 1, 8, 224, 224, 3 };

	is((long long)graph_parameters(a), (long long)graph_parameters(b),
	    name);
	near(graph_macs(a, &in), graph_macs(b, &in), 0, "multiply-adds");
	graph_free(a);
	graph_free(b);
}

/*
 * Return ${c} / 16 rounded to a multiple of 8 that is at most a tenth smaller.
 */
static int
few(int c)
{
	int n = (c / 16 + 4) / 8 * 8;

	n = n < 8 ? 8 : n;
	return 10 * n * 16 < 9 * c ? n + 8 : n;
}

/*
 * Feichtenhofer 2020: 1, 2, 5 and 3 blocks times 2.2, expansion 2.25.  If
 * ${normed}, the first projection also has a norm.
 */
static struct sum
x3d(int normed, int classes, int t, int side)
{
	static const int blocks[] = { 3, 5, 11, 7 };
	struct way w = { .t = t, .side = side, .c = 3 };

	go(&w, 24, 1, 3, 1, 2, 0, 0);
	go(&w, 24, 5, 1, 1, 1, 1, 1);
	for (int i = 0; i < 4; i++)
		for (int b = 0; b < blocks[i]; b++) {
			int out = 24 << i, mid = out * 9 / 4, s = b == 0 ? 2 : 1;
			struct way from = w;

			go(&w, mid, 1, 1, 1, 1, 1, 0);
			go(&w, mid, 3, 3, 1, s, 1, 1);
			if (b % 2 == 0) {
				w.s.parameters += 2 * mid * few(mid) + mid +
				    few(mid);
				w.s.macs += 2 * mid * few(mid);
			}
			go(&w, out, 1, 1, 1, 1, 1, 0);
			if (b == 0)
				beside(&w, from, 1, 2, normed ||
				    from.c != out);
		}
	go(&w, 432, 1, 1, 1, 1, 1, 0);
	w.t = w.side = 1;
	go(&w, 2048, 1, 1, 1, 1, 0, 0);
	return classify(&w, classes);
}

/* MMAction2's SlowOnly with five non-local blocks, which pool keys and values
 * by 2 x 2 after their convolutions. */
static void
attention(void)
{
	struct graph *g = model_read("slow_r50_nl_mmaction2", 400);
	struct graph *plain = model_read("slow_r50", 400);
	struct dims in = { 1, 8, 224, 224, 3 };
	double macs = graph_macs(plain, &in);
	long long parameters = (long long)graph_parameters(plain);

	for (int i = 0; i < 5; i++) {
		long long c = i < 2 ? 512 : 1024, side = i < 2 ? 28 : 14;
		long long all = 8 * side * side, kept = all / 4;

		parameters += 4 * c * c / 2 + 3 * c / 2 + 2 * c;
		macs += (double)(4 * all * c * c / 2 + all * kept * c);
	}
	is((long long)graph_parameters(g), parameters,
	    "slow_r50_nl_mmaction2: parameters");
	near(graph_macs(g, &in), macs, 0, "multiply-adds");
	graph_free(g);
	graph_free(plain);
}

static void
by_hand_over_time(void)
{
	/*
	 * torchvision states 31,505,325.  PySlowFast's figure is in
	 * networks_golden.c.
	 */
	is(r2plus1d(TORCHVISION, 400, 16, 112).parameters, 31505325,
	    "the sum of R(2+1)D-18 is torchvision's");
	is(inflated(1, 400, 8, 224).parameters, 28043472,
	    "the sum of I3D 3x1x1 is PySlowFast's");
	check_sum("i3d_r50", 400, 8, 224, inflated(1, 400, 8, 224));
	check_sum("i3d_r50_333", 400, 8, 224, inflated(0, 400, 8, 224));
	check_sum("i3d_r50_333", 174, 32, 158, inflated(0, 174, 32, 158));
	check_sum("r2plus1d_18", 400, 16, 112,
	    r2plus1d(TORCHVISION, 400, 16, 112));
	check_sum("r2plus1d_18", 101, 8, 87, r2plus1d(TORCHVISION, 101, 8, 87));
	/* The number of parameters of ig65m-pytorch's module. */
	is(r2plus1d(IG65M, 400, 32, 112).parameters, 63697175,
	    "the sum of R(2+1)D-34 is that of ig65m-pytorch");
	check_sum("r2plus1d_34", 400, 32, 112, r2plus1d(IG65M, 400, 32, 112));
	check_sum("r2plus1d_34", 487, 8, 87, r2plus1d(IG65M, 487, 8, 87));
	check_sum("r2plus1d_34_mmaction2", 400, 8, 224,
	    r2plus1d(MMACTION2, 400, 8, 224));
	check_sum("r2plus1d_34_mmaction2", 400, 32, 158,
	    r2plus1d(MMACTION2, 400, 32, 158));
	is(r3d(3, 400, 16, 112).parameters, 33371472,
	    "the sum of r3d_18 is torchvision's");
	is(r3d(1, 400, 16, 112).parameters, 11695440,
	    "the sum of mc3_18 is torchvision's");
	check_sum("r3d_18", 400, 16, 112, r3d(3, 400, 16, 112));
	check_sum("r3d_18", 101, 8, 87, r3d(3, 101, 8, 87));
	check_sum("mc3_18", 400, 16, 112, r3d(1, 400, 16, 112));
	check_sum("mc3_18", 101, 8, 87, r3d(1, 101, 8, 87));
	check_sum("c2d_r50_mmaction2", 400, 8, 224, c2d_unpadded(400, 8, 224));
	check_sum("c2d_r50_mmaction2", 101, 16, 158, c2d_unpadded(101, 16, 158));
	check_like("slow_r50_mmaction2", "slow_r50");
	check_like("c2d_r50_nopool_pyslowfast", "c2d_r50_nopool");
	attention();
	check_sum("x3d_m", 400, 16, 224, x3d(0, 400, 16, 224));
	check_sum("x3d_m", 157, 7, 141, x3d(0, 157, 7, 141));
	check_sum("x3d_s", 400, 13, 160, x3d(0, 400, 13, 160));
	check_sum("x3d_m_pyslowfast", 400, 16, 224, x3d(1, 400, 16, 224));
	check_sum("x3d_s_pyslowfast", 400, 13, 160, x3d(1, 400, 13, 160));
	is(x3d(1, 400, 16, 224).parameters, 3794322,
	    "the sum of PySlowFast's X3D is the number in its file");
}

int
main(void)
{
	by_hand();
	stacks();
	by_hand_over_time();
	return done();
}
