/*
 * Losses and hits against sums done here by hand, on every back end: of classes,
 * sets and distributions, with ties, weights, scores too large for exp, and
 * clips that have no class.
 */
#include "backend/backend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "graph/metric.h"

#include "gpu/standin/standin.h"
#include "tap.h"

enum { MOST = 64 };

/* One loss and what it is given. */
struct trial {
	struct op op;
	struct target target;
	int n;				/* clips */
	const double *x;		/* [n][classes] */
};

struct answer {
	struct outcome o;
	double y[MOST], dx[MOST];
};

/* Of the device's, with what is at ${host}; or, NULL, with garbage. */
static void *
there(struct device *d, const void *host, size_t bytes)
{
	char *garbage = xmalloc(bytes);
	void *p = device_alloc(d, bytes);

	memset(garbage, 0xff, bytes);
	device_upload(d, p, host != NULL ? host : garbage, bytes);
	free(garbage);
	return p;
}

/* What a target points to lies where the device finds it. */
static struct target
target_there(struct device *d, const struct target *t, int n)
{
	struct target far = *t;
	size_t clips = (size_t)n;

	if (t->label != NULL)
		far.label = there(d, t->label, clips * sizeof(*t->label));
	if (t->share != NULL)
		far.share = there(d, t->share, clips * (size_t)t->classes *
		    sizeof(*t->share));
	if (t->weight != NULL)
		far.weight = there(d, t->weight, clips * sizeof(*t->weight));
	return far;
}

static struct answer
run(struct device *d, const struct trial *t)
{
	const struct op_impl *impl = d->backend->ops[OP_LOSS];
	struct op op = t->op;
	struct target target[2] = { { 0 }, target_there(d, &t->target, t->n) };
	struct outcome *o = there(d, NULL, 2 * sizeof(*o));
	struct feed feed = { .target = target, .outcome = o };
	const struct feed_values values = { 0, feed_scale(&feed) };
	struct task k = { .device = d, .op = &op, .training = 1,
		.in = { { t->n, 1, 1, 1, t->target.classes } },
		.out = { t->n, 1, 1, 1, 1 }, .wants_dx = { 1 }, .feed = &feed };
	size_t in = device_bytes(d, &k.in[0]), out = device_bytes(d, &k.out);
	size_t scratch;
	struct outcome got[2];
	void *garbage;
	struct answer a;

	op.kind = OP_LOSS;
	op.nin = 1;
	op.target = op.head = 1;
	op.weight = op.weight > 0 ? op.weight : 1;
	strcpy(op.name, "loss");
	scratch = impl->scratch != NULL ? impl->scratch(&k) : 1;
	k.x[0] = device_alloc(d, in);
	k.dx[0] = there(d, NULL, in);
	k.y = there(d, NULL, out);
	k.scratch = there(d, NULL, scratch);
	k.values = there(d, &values, sizeof(values));
	device_write(d, (void *)k.x[0], &k.in[0], t->x);
	impl->forward(&k);
	garbage = there(d, NULL, scratch);
	device_copy(d, k.scratch, garbage, scratch);
	impl->backward(&k);
	device_read(d, a.y, &k.out, k.y);
	device_read(d, a.dx, &k.in[0], k.dx[0]);
	device_download(d, got, o, sizeof(got));
	a.o = got[1];
	device_free(d, (void *)k.x[0]);
	device_free(d, k.dx[0]);
	device_free(d, k.y);
	device_free(d, k.scratch);
	device_free(d, garbage);
	device_free(d, (void *)k.values);
	device_free(d, target[1].label);
	device_free(d, target[1].share);
	device_free(d, target[1].weight);
	device_free(d, o);
	return a;
}

/* ---- hits ---- */

static void
hits(struct device *d)
{
	static const double x[] = {
		1, 1, 1, 1, 1, 1, 1,	/* equal ones are not right */
		1, 2, 3, 9, 4, 5, 6,	/* the first */
		1, 2, 7, 9, 8, 5, 6,	/* the third */
		1, 2, 3, 4, 5, 6, 7,	/* the fourth */
		3, 9, 9, 3, 9, 9, 1,	/* with the fourth as good: the sixth */
	};
	struct trial t = { .target = { .classes = 7, .label = (int[]){ 3, 3, 2, 3,
	    3 } }, .n = 5, .x = x };
	struct answer a = run(d, &t);

	ok(a.o.top1 == 1 && a.o.top5 == 3, "%s: hits: one first, three among "
	    "five, and equal scores are none (%d, %d)", d->backend->name,
	    a.o.top1, a.o.top5);
	near(a.y[0], log(7), 1e-6, "equal scores lose ln of their number");
	t.target.label = (int[]){ -1, -1, -1, -1, -1 };
	t.target.classes = 3;
	a = run(d, &t);
	ok(a.o.top1 == 0 && a.o.top5 == 0 && a.o.loss == 0 && a.y[4] == 0 &&
	    a.dx[0] == 0 && a.dx[14] == 0, "%s: no class, no loss, no gradient, "
	    "and no hit among three", d->backend->name);
	t.target = (struct target){ TARGET_SET, 7, NULL, (float[35]){ 0 }, NULL };
	t.target.share[7 + 3] = t.target.share[7] = 1;	/* first and last */
	t.target.share[14 + 0] = t.target.share[14 + 4] = 1;	/* last, second */
	t.target.share[21 + 0] = 1;			/* last */
	t.op.loss = LOSS_SIGMOID;
	a = run(d, &t);
	ok(a.o.top1 == 1 && a.o.top5 == 2, "%s: of a set its best counts (%d, %d)",
	    d->backend->name, a.o.top1, a.o.top5);
	t.op.loss = LOSS_SOFTMAX;
	t.target.kind = TARGET_SHARES;
	t.target.share[7 + 0] = 0.6f;	/* it is the last */
	t.target.share[7 + 3] = 0.4f;
	t.target.share[14 + 0] = t.target.share[14 + 4] = 0.5f;
	t.target.share[28 + 1] = 1;	/* the first, with three others */
	a = run(d, &t);
	ok(a.o.top1 == 0 && a.o.top5 == 1, "%s: of shares the largest, or the "
	    "first of them (%d, %d)", d->backend->name, a.o.top1, a.o.top5);
}

/* ---- values ---- */

static void
values(struct device *d)
{
	static const double x[] = { 0.5, -1, 2, 0, 3, 1, -2, 0.25, 1, 1, 1, 4 };
	float share[12] = { 0.25f, 0.75f, 0, 0, 0, 0, 0.5f, 0.5f, 1, 0, 0, 0 };
	float set[12] = { 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1 };
	float weight[3] = { 2, 0, 0.5f };
	struct trial t = { .target = { TARGET_SHARES, 4, NULL, share, NULL },
		.n = 3, .x = x };
	double want[3], sum = 0;
	struct answer a = run(d, &t), b;
	const char *name = d->backend->name;

	for (int i = 0; i < 3; i++) {
		double p[4];

		metric_probabilities(LOSS_SOFTMAX, x + 4 * i, 4, p);
		want[i] = 0;
		for (int c = 0; c < 4; c++)
			want[i] -= share[4 * i + c] * log(p[c]);
		near(a.y[i], want[i], 1e-6, "cross-entropy with shares");
		sum += want[i] / 3;
	}
	near(a.o.loss, sum, 1e-6, "and its mean");

	t.target.weight = weight;
	b = run(d, &t);
	near(b.o.loss, (2 * want[0] + 0.5 * want[2]) / 3, 1e-6,
	    "weights multiply; the mean is over all clips");
	ok(fabs(b.dx[1] - 2 * a.dx[1]) < 1e-6 && b.dx[4] == 0 && b.dx[7] == 0 &&
	    fabs(b.dx[8] - 0.5 * a.dx[8]) < 1e-6, "%s: gradients, too", name);
	t.op.weight = 0.25;
	a = run(d, &t);
	ok(a.o.loss == b.o.loss && fabs(a.dx[1] - 0.25 * b.dx[1]) < 1e-6,
	    "%s: the weight of a loss is in its gradient alone", name);

	t = (struct trial){ .op = { .smooth = 0.2 }, .target = { .classes = 4,
	    .label = (int[]){ 2, 0, 3 } }, .n = 3, .x = x };
	a = run(d, &t);
	for (int i = 0; i < 12; i++)
		share[i] = i % 4 == t.target.label[i / 4] ? 0.85f : 0.05f;
	t.op.smooth = 0;
	t.target = (struct target){ TARGET_SHARES, 4, NULL, share, NULL };
	b = run(d, &t);
	ok(fabs(a.o.loss - b.o.loss) < 1e-6 && fabs(a.dx[2] - b.dx[2]) < 1e-6 &&
	    fabs(a.dx[5] - b.dx[5]) < 1e-6, "%s: smoothing is such shares", name);

	t.op.loss = LOSS_SIGMOID;
	t.target = (struct target){ TARGET_SET, 4, NULL, set, NULL };
	a = run(d, &t);
	for (int i = 0; i < 3; i++) {
		sum = 0;
		for (int c = 0; c < 4; c++) {
			double p = 1 / (1 + exp(-x[4 * i + c]));

			sum -= log(set[4 * i + c] > 0 ? p : 1 - p) / 4;
		}
		near(a.y[i], sum, 1e-6, "binary cross-entropy of a set");
	}
}

/* ---- what is not to be multiplied by 0, or raised to a power ---- */

static void
extremes(struct device *d)
{
	static const double x[] = { 1e4, -1e4, 0, NAN, INFINITY, 1, -1e4, 1e4, 0 };
	float set[9] = { 1, 0, 0, 1, 1, 1, 1, 0, 0 };
	float weight[3] = { 1, 0, 1 };
	struct trial t = { .op = { .loss = LOSS_SIGMOID }, .target = { TARGET_SET,
	    3, NULL, set, weight }, .n = 3, .x = x };
	struct answer a = run(d, &t);
	const char *name = d->backend->name;

	near(a.y[0], log(2) / 3, 1e-6, "large scores that are right");
	near(a.y[2] / ((2e4 + log(2)) / 3), 1, 1e-6, "and wrong");
	ok(a.y[1] == 0 && a.dx[3] == 0 && a.dx[4] == 0, "%s: a clip of weight 0 "
	    "is not there, whatever its scores", name);
	t.op.loss = LOSS_SOFTMAX;
	t.target = (struct target){ .classes = 3, .label = (int[]){ 1, -1, 1 } };
	a = run(d, &t);
	near(a.y[0] / 2e4, 1, 1e-6, "softmax of large scores");
	ok(a.y[1] == 0 && a.dx[5] == 0 && a.y[2] == 0, "%s: nor is one without a "
	    "class", name);
}

/*
 * The mean is summed as trainers did from what they read: each loss, as it is
 * stored, over the number of clips, in their order.
 */
static void
order(struct device *d)
{
	enum { N = 7, C = 9 };
	double x[N * C], sum = 0;
	int label[N], top1 = 0, top5 = 0;
	struct trial t = { .target = { .classes = C, .label = label }, .n = N,
		.x = x };
	struct answer a;

	for (int i = 0; i < N * C; i++)
		x[i] = (float)rng_normal(3, 4, (uint32_t)i);
	for (int i = 0; i < N; i++)
		label[i] = i * 4 % C;
	a = run(d, &t);
	for (int i = 0; i < N; i++) {
		double l = metric_loss(t.op.loss, x + i * C, C, label[i]);
		int rank = metric_rank(x + i * C, C, label[i]);

		sum += (d->elem == sizeof(float) ? (float)l : l) / N;
		top1 += rank < 1;
		top5 += rank < 5;
	}
	/* A GPU adds up side by side, and has an exp and a log of its own. */
	ok((d->backend->apart ? fabs(a.o.loss - sum) < 1e-6 : a.o.loss == sum) &&
	    a.o.top1 == top1 && a.o.top5 == top5, "%s: the mean loss %s (%.17g, "
	    "%.17g), and the hits", d->backend->name, d->backend->apart ?
	    "nearly" : "to the bit", a.o.loss, sum);
}

/* 0: there is no such device. */
static int
test_backend(const struct backend *b)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2 });

	if (d == NULL)
		return 0;
	hits(d);
	values(d);
	extremes(d);
	order(d);
	device_close(d);
	return 1;
}

int
main(void)
{
	for (int i = 0; backends[i] != NULL; i++)
		if (!test_backend(backends[i]))
			skip(backends[i]->name, "no such device here");
	if (!standin_absent())
		test_backend(standin_backend(STANDIN_AT_ONCE));
	return done();
}
