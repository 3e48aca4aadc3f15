/* tests/run: weight 4 */
/*
 * Losses and gradients of a step of whole networks on the cuda back end agree
 * with contact/whole.tsv, which holds those of the cpu back end in fp32 from
 * the same weights, pixels and labels.  Without a GPU the stand-in runs the
 * smallest networks, and the cpu back end those of moderate size.  Wrong
 * networks are detected.
 *
 *	gpu_whole make >tests/gpu/contact/whole.tsv
 *
 * writes the table by the cpu back end.
 *
 * gpu_nets.c compares each operator alone with ref64 more strictly.  Through a
 * whole network rounding grows, most of all in 16 bits, where a relu or a
 * maximum can select another input.  A small initial scale of the last norm in
 * each residual branch limits that growth.
 *
 * The table has a row for each network, and then one for each of its trained
 * parameters:
 *
 *	net NAME CLIPS FRAMES SIDE LOSS...
 *	NAME NORM A B C
 *
 * NORM is the norm of the gradient g of parameter NAME.  A, B and C are
 * projections of g / NORM: the sum over i of s[i] g[i] / NORM.  Projection j
 * has the sign s[i] = 1 if bit i % 32 of word j of Philox(key, counter) is set,
 * else -1.  The key is the XXH3 hash of NAME, and the counter is
 * (i / 32, 0, 0, 0).  The expected square of such a projection of a difference
 * is the square of the norm of the difference, so three projections estimate
 * that norm.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/feed.h"
#include "net/net.h"

#include "losses.h"
#include "gpu/standin/standin.h"
#include "models.h"
#include "tap.h"

#define TABLE "tests/gpu/contact/whole.tsv"

enum { CLASSES = 20, CLIPS = 8, PROJECTIONS = 3 };

static const struct net_case { const char *name; int clips, t, side; } cases[] = {
	{ "tsm_tiny", 3, 2, 31 }, { "tsn_tiny", 2, 1, 26 },
	{ "tsm_tiny", 8, 8, 112 }, { "tsm_r18", 4, 8, 158 },
	{ "tsm_r50", 2, 8, 224 }, { "tsm_r50", 3, 1, 158 },
	{ "resnet50", 8, 1, 224 }, { "tsm_mobilenet_v2", 4, 8, 112 },
	{ "i3d_r50", 1, 8, 224 }, { "tsm_r50_nl", 1, 8, 112 },
	{ "slowfast_r50_8x8", 1, 32, 112 }, { "x3d_s", 2, 13, 160 },
	{ "r2plus1d_18", 1, 8, 112 }, { "tsm_r50", 2, 4, 96 },
	{ "i3d_r50", 1, 8, 40 }, { "slowfast_r50_8x8", 1, 32, 34 },
	{ "x3d_s", 1, 13, 40 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* Multiply-adds of the largest forward pass that each back end computes in the
 * suite. */
#define STANDIN_MACS 0.1e9
#define CPU_MACS 2.5e9

/*
 * Limits of the relative differences from the table.  On an H200 the gradients
 * of all cases differ by at most 0.0024 in fp32, 0.21 in bf16 and 0.13 in fp16,
 * and the losses by 2e-7, 0.0021 and 0.0003.  The largest are of resnet50 at
 * 8x1x224 and i3d_r50 at 1x8x40, whose last norms are of few values.  The
 * mistakes below change the gradients of the tiny networks by 0.4 to 1.8, and
 * those of the others by 0.07 to 1,100 in fp32.  The cpu back end differs by
 * 4e-5 from its table, also with the instructions of SSE4.1 alone.
 */
static const struct { const char *name; double loss, gradient; } limit[] = {
	[PRECISION_FP32] = { "fp32", 1e-4, 5e-3 },
	[PRECISION_BF16] = { "bf16", 1e-2, 0.3 },
	[PRECISION_FP16] = { "fp16", 2e-3, 0.2 },
};

/* Mistakes in a network that keep its parameters. */
enum mistake { NONE, SHIFT, SHORTCUT, STATISTICS, MISTAKES };
static const char *const mistakes[] = { "", "shifts of other channels",
	"missing shortcuts", "running statistics in a norm" };

/* Losses of a step, and the gradients of ${n} trained parameters. */
struct result {
	double loss[CLIPS];
	int n;
	struct gradient {
		const char *name;	/* the graph's */
		double norm, at[PROJECTIONS];
	} *gradient;
};

/* ---- networks ---- */

/* Return 0 if the network has no operator for the mistake. */
static int
plant(struct graph *g, enum mistake m)
{
	int n = 0;

	for (int i = 0; i < g->nop; i++) {
		struct op *o = &g->op[i];

		if (m == SHIFT && o->kind == OP_SHIFT) {
			o->shift.fold++;
			n++;
		} else if (m == SHORTCUT && o->kind == OP_ADD &&
		    g->op[o->in[1]].kind != OP_BN &&
		    g->op[o->in[1]].kind != OP_CONV) {
			o->in[1] = o->in[0];
			n++;
		} else if (m == STATISTICS && o->kind == OP_BN && n == 0) {
			o->bn.fixed = 1;
			n++;
		}
	}
	return n;
}

static struct graph *
read_case(const struct net_case *c)
{
	struct graph *g = model_read(c->name, CLASSES);

	for (int i = 0; i < g->nop; i++) {
		const struct op *last = &g->op[g->op[i].in[0]];

		if (g->op[i].kind == OP_ADD && last->kind == OP_BN)
			g->param[last->param].fill = 0.2;
	}
	return g;
}

static double
macs(const struct graph *g, const struct net_case *c)
{
	struct dims *in = graph_inputs(g, c->clips, c->t, c->side);
	double n = graph_macs(g, in);

	free(in);
	return n;
}

/* ---- steps ---- */

static struct gradient
project(const struct param *p, const double *g, double scale)
{
	struct gradient r = { .name = p->name };
	uint64_t key = hash64(p->name, strlen(p->name));
	struct rng_block b = { { 0 } };
	double squares = 0;

	for (size_t i = 0; i < p->count; i++) {
		double v = g[i] / scale;

		if (i % 32 == 0)
			b = rng_philox(key, (uint32_t)(i / 32), 0, 0, 0);
		squares += v * v;
		for (int j = 0; j < PROJECTIONS; j++)
			r.at[j] += b.w[j] >> i % 32 & 1 ? v : -v;
	}
	r.norm = sqrt(squares);
	return r;
}

static struct result
step(const struct graph *g, const struct net_case *c, const struct backend *b,
    enum precision p)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2, .precision = p });
	struct dims *in = graph_inputs(g, c->clips, c->t, c->side);
	struct result r = { .n = 0 };
	struct net *n = d != NULL ? net_new(g, d) : NULL;
	struct plan *plan = n != NULL ? net_plan(n, in, 1) : NULL;
	double *host = xcalloc(g->elements, sizeof(*host));
	struct feed feed;
	void *dw;

	if (plan == NULL || net_reserve(n) != 0) {
		printf("Bail out! %s on %s\n", c->name, b->name);
		exit(1);
	}
	net_init(n, 3);
	dw = device_alloc(d, g->elements * d->elem);
	feed_make(&feed, in, &g->needs);
	feed.scale = p == PRECISION_FP16 ? 1024 : 1;
	net_forward(n, plan, &feed, dw);
	plan_backward(plan, NULL);
	losses_read(plan, r.loss);
	device_get(d, host, dw, g->elements);
	r.gradient = xcalloc((size_t)g->nparam, sizeof(*r.gradient));
	for (int i = 0; i < g->nparam; i++)
		if (g->param[i].kind < PARAM_MEAN)
			r.gradient[r.n++] = project(&g->param[i], host +
			    g->param[i].offset, feed.scale);
	free(host);
	feed_free(&feed, &g->needs);
	device_free(d, dw);
	net_free(n);
	free(in);
	device_close(d);
	return r;
}

/* ---- the table ---- */

static void
write_case(const struct net_case *c, const struct result *r)
{
	printf("net\t%s\t%d\t%d\t%d", c->name, c->clips, c->t, c->side);
	for (int i = 0; i < c->clips; i++)
		printf("\t%.7g", r->loss[i]);
	printf("\n");
	for (int i = 0; i < r->n; i++) {
		const struct gradient *p = &r->gradient[i];

		printf("%s\t%.5g", p->name, p->norm);
		for (int j = 0; j < PROJECTIONS; j++)
			printf("\t%.4f", p->norm > 0 ? p->at[j] / p->norm : 0);
		printf("\n");
	}
}

static void
bad_table(const struct net_case *c, const char *name)
{
	printf("Bail out! " TABLE " lacks %s of %s\n", name, c->name);
	exit(1);
}

/* Read the rows of a case.  ${like} has the names of its parameters. */
static struct result
read_rows(const struct net_case *c, const struct result *like)
{
	struct result r = { .n = like->n,
		.gradient = xcalloc((size_t)like->n, sizeof(*r.gradient)) };
	FILE *f = fopen(TABLE, "r");
	char line[512], head[128], name[128];

	snprintf(head, sizeof(head), "net\t%s\t%d\t%d\t%d\t", c->name,
	    c->clips, c->t, c->side);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, head, strlen(head)) == 0) {
			char *at = line + strlen(head);

			for (int i = 0; i < c->clips; i++)
				r.loss[i] = strtod(at, &at);
			break;
		}
	for (int i = 0; i < r.n; i++) {
		struct gradient *p = &r.gradient[i];

		p->name = like->gradient[i].name;
		if (f == NULL || fgets(line, sizeof(line), f) == NULL ||
		    sscanf(line, "%127s %lf %lf %lf %lf", name, &p->norm,
		    &p->at[0], &p->at[1], &p->at[2]) != 5 ||
		    strcmp(name, p->name) != 0)
			bad_table(c, p->name);
		for (int j = 0; j < PROJECTIONS; j++)
			p->at[j] *= p->norm;
	}
	fclose(f);
	return r;
}

/* ---- comparison ---- */

/* Return whether ${got} agrees with ${want}. */
static int
compare(const struct net_case *c, enum precision p, const struct result *got,
    const struct result *want)
{
	double loss = 0, losses = 0, off = 0, all = 0, most = 0;
	const char *worst = "";

	for (int i = 0; i < c->clips; i++) {
		loss += fabs(got->loss[i] - want->loss[i]);
		losses += want->loss[i];
	}
	for (int i = 0; i < want->n; i++) {
		double square = 0;

		for (int j = 0; j < PROJECTIONS; j++)
			square += pow(got->gradient[i].at[j] -
			    want->gradient[i].at[j], 2) / PROJECTIONS;
		if (!(square <= most)) {
			most = square;
			worst = want->gradient[i].name;
		}
		off += square;
		all += pow(want->gradient[i].norm, 2);
	}
	loss /= losses;
	off = sqrt(off / all);
	diag("losses differ by %.2g, gradients by %.2g, most by %s", loss, off,
	    worst);
	return loss <= limit[p].loss && off <= limit[p].gradient;
}

/* Compare a step with the table, and steps of wrong networks if ${plants}. */
static void
test(const struct net_case *c, const struct backend *b, enum precision p,
    int plants)
{
	struct graph *g = read_case(c);
	struct result got = step(g, c, b, p), want = read_rows(c, &got);

	ok(compare(c, p, &got, &want), "%s at %dx%dx%d in %s on %s agrees with "
	    "the table", c->name, c->clips, c->t, c->side, limit[p].name,
	    b->name);
	free(got.gradient);
	for (int m = SHIFT; m < MISTAKES && plants; m++) {
		struct graph *wrong = read_case(c);

		if (plant(wrong, (enum mistake)m)) {
			got = step(wrong, c, b, p);
			ok(!compare(c, p, &got, &want), "%s in %s: %s are "
			    "detected", c->name, limit[p].name, mistakes[m]);
			free(got.gradient);
		}
		graph_free(wrong);
	}
	free(want.gradient);
	graph_free(g);
}

static const struct backend *
cpu(void)
{
	for (int i = 0; backends[i] != NULL; i++)
		if (strcmp(backends[i]->name, "cpu") == 0)
			return backends[i];
	return NULL;
}

static int
make_table(void)
{
	for (int i = 0; i < CASES; i++) {
		struct graph *g = read_case(&cases[i]);
		struct result r = step(g, &cases[i], cpu(), PRECISION_FP32);

		write_case(&cases[i], &r);
		fflush(stdout);
		free(r.gradient);
		graph_free(g);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const int gpu = standin_absent() && !standin_pretends();

	if (argc > 1 && strcmp(argv[1], "make") == 0)
		return make_table();
	if (!standin_absent() && cpu() == NULL)
		skip("the cpu back end", "no oneDNN in this build");
	for (int i = 0; i < CASES; i++) {
		struct graph *g = read_case(&cases[i]);
		double n = macs(g, &cases[i]);

		graph_free(g);
		if (!standin_absent() && cpu() != NULL && n <= CPU_MACS)
			test(&cases[i], cpu(), PRECISION_FP32, n <=
			    STANDIN_MACS);
		if (!gpu && n > STANDIN_MACS)
			continue;
		for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++)
			test(&cases[i], standin_backend(STANDIN_LATE),
			    (enum precision)p, n <= STANDIN_MACS);
	}
	return done();
}
