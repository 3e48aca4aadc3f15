/*
 * Losses and hits on every back end agree with sums computed here: classes,
 * sets and distributions, ties, weights, scores too large for exp, and clips
 * without a class.
 */
#include "backend/backend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "graph/metric.h"

#include "gpu/standin/standin.h"
#include "tap.h"

enum { MAX = 64 };

/* One loss and its input. */
struct trial {
	struct op op;
	struct target target;
	int n;				/* clips */
	const double *x;		/* [n][classes] */
};

struct predict_run {
	struct outcome o;
	double y[MAX], dx[MAX];
};

/* Return device memory with a copy of ${host}; with garbage if it is NULL. */
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

/* Return ${t} with its arrays copied to device memory. */
static struct target
target_there(struct device *d, const struct target *t, int n)
{
	struct target far = *t;
	size_t clips = (size_t)n;

	if (t->label != NULL)
		far.label = there(d, t->label, clips * sizeof(*t->label));
	if (t->soft != NULL)
		far.soft = there(d, t->soft, clips * (size_t)t->classes *
		    sizeof(*t->soft));
	if (t->weight != NULL)
		far.weight = there(d, t->weight, clips * sizeof(*t->weight));
	if (t->class_weight != NULL)
		far.class_weight = there(d, t->class_weight, (size_t)t->classes *
		    sizeof(*t->class_weight));
	return far;
}

static struct predict_run
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
		.out = { t->n, 1, 1, 1, 1 }, .needs_input_grad = { 1 }, .feed = &feed };
	size_t in = device_bytes(d, &k.in[0]), out = device_bytes(d, &k.out);
	size_t scratch;
	struct outcome got[2];
	void *garbage;
	struct predict_run a;

	op.kind = OP_LOSS;
	op.nin = 1;
	op.loss.target = op.loss.head = 1;
	op.loss.weight = op.loss.weight > 0 ? op.loss.weight : 1;
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
	device_free(d, target[1].soft);
	device_free(d, target[1].weight);
	device_free(d, (void *)target[1].class_weight);
	device_free(d, o);
	return a;
}

/* ---- hits ---- */

static void
hits(struct device *d)
{
	static const double x[] = {
		1, 1, 1, 1, 1, 1, 1,	/* equal scores: no hit */
		1, 2, 3, 9, 4, 5, 6,	/* the first */
		1, 2, 7, 9, 8, 5, 6,	/* the third */
		1, 2, 3, 4, 5, 6, 7,	/* the fourth */
		3, 9, 9, 3, 9, 9, 1,	/* ties with the fourth: the sixth */
	};
	struct trial t = { .target = { .classes = 7, .label = (int[]){ 3, 3, 2, 3,
	    3 } }, .n = 5, .x = x };
	struct predict_run a = run(d, &t);

	ok(a.o.top1 == 1 && a.o.top5 == 3 && a.o.ranked == 5, "%s: hits: one "
	    "top-1, three top-5, and none among equal scores (%d, %d of %d)",
	    d->backend->name, a.o.top1, a.o.top5, a.o.ranked);
	near(a.y[0], log(7), 1e-6,
	    "equal scores have a loss of ln of their number");
	t.target.label = (int[]){ -1, -1, -1, -1, -1 };
	t.target.classes = 3;
	a = run(d, &t);
	ok(a.o.top1 == 0 && a.o.top5 == 0 && a.o.ranked == 0 && a.o.loss == 0 &&
	    a.y[4] == 0 && a.dx[0] == 0 && a.dx[14] == 0, "%s: clips without a "
	    "class have no loss, gradient or hit, and do not count for hits",
	    d->backend->name);
	t.target = (struct target){ .kind = TARGET_SET, .classes = 7,
	    .soft = (float[35]){ 0 } };
	t.target.soft[7 + 3] = t.target.soft[7] = 1;	/* first and last */
	t.target.soft[14 + 0] = t.target.soft[14 + 4] = 1;	/* last, second */
	t.target.soft[21 + 0] = 1;			/* last */
	t.op.loss.kind = LOSS_SIGMOID;
	a = run(d, &t);
	ok(a.o.top1 == 1 && a.o.top5 == 2 && a.o.ranked == 3, "%s: hits of a "
	    "set count its best class, and empty sets do not count (%d, %d of "
	    "%d)", d->backend->name, a.o.top1, a.o.top5, a.o.ranked);
	t.op.loss.kind = LOSS_SOFTMAX;
	t.target.kind = TARGET_SOFT;
	t.target.soft[7 + 0] = 0.6f;	/* it has rank 7 */
	t.target.soft[7 + 3] = 0.4f;
	t.target.soft[14 + 0] = t.target.soft[14 + 4] = 0.5f;
	t.target.soft[28 + 1] = 1;	/* rank 1, with ties */
	a = run(d, &t);
	ok(a.o.top1 == 0 && a.o.top5 == 1 && a.o.ranked == 4, "%s: hits of "
	    "shares count the first of the largest, and clips without a share "
	    "do not count (%d, %d of %d)", d->backend->name, a.o.top1,
	    a.o.top5, a.o.ranked);
}

/* ---- values ---- */

static void
values(struct device *d)
{
	static const double x[] = { 0.5, -1, 2, 0, 3, 1, -2, 0.25, 1, 1, 1, 4 };
	float share[12] = { 0.25f, 0.75f, 0, 0, 0, 0, 0.5f, 0.5f, 1, 0, 0, 0 };
	float set[12] = { 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1 };
	float weight[3] = { 2, 0, 0.5f };
	struct trial t = { .target = { .kind = TARGET_SOFT, .classes = 4,
		.soft = share }, .n = 3, .x = x };
	double want[3], sum = 0;
	struct predict_run a = run(d, &t), b;
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
	near(a.o.loss, sum, 1e-6, "the loss of a batch is the mean");

	t.target.weight = weight;
	b = run(d, &t);
	near(b.o.loss, (2 * want[0] + 0.5 * want[2]) / 3, 1e-6,
	    "weights multiply losses; the mean is over all clips");
	ok(fabs(b.dx[1] - 2 * a.dx[1]) < 1e-6 && b.dx[4] == 0 && b.dx[7] == 0 &&
	    fabs(b.dx[8] - 0.5 * a.dx[8]) < 1e-6,
	    "%s: weights multiply gradients", name);
	t.op.loss.weight = 0.25;
	a = run(d, &t);
	ok(a.o.loss == b.o.loss && fabs(a.dx[1] - 0.25 * b.dx[1]) < 1e-6,
	    "%s: the weight of a loss multiplies only its gradient", name);

	t = (struct trial){ .op = { .loss.smooth = 0.2 }, .target = { .classes = 4,
	    .label = (int[]){ 2, 0, 3 } }, .n = 3, .x = x };
	a = run(d, &t);
	for (int i = 0; i < 12; i++)
		share[i] = i % 4 == t.target.label[i / 4] ? 0.85f : 0.05f;
	t.op.loss.smooth = 0;
	t.target = (struct target){ .kind = TARGET_SOFT, .classes = 4,
	    .soft = share };
	b = run(d, &t);
	ok(fabs(a.o.loss - b.o.loss) < 1e-6 && fabs(a.dx[2] - b.dx[2]) < 1e-6 &&
	    fabs(a.dx[5] - b.dx[5]) < 1e-6,
	    "%s: smoothing equals the corresponding shares", name);

	t.op.loss.kind = LOSS_SIGMOID;
	t.target = (struct target){ .kind = TARGET_SET, .classes = 4,
	    .soft = set };
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

/* ---- weights of classes and the focal loss ---- */

/*
 * Check losses and gradients of ${t}, 3 clips of 4 classes with the labels
 * ${q}[3][4], against the formula in double and its central difference.
 */
static void
formula(struct device *d, const struct trial *t, const double *q,
    const double *class_weight, double gamma, const char *what)
{
	struct predict_run a = run(d, t);
	double step = 1e-5, sum = 0;

	for (int i = 0; i < 12; i++) {
		double l[3] = { 0 };	/* at x[i] - step, at + step, at x[i] */

		for (int k = 0; k < 3; k++) {
			double x[4], p[4];

			memcpy(x, t->x + i / 4 * 4, sizeof(x));
			x[i % 4] += k == 0 ? -step : k == 1 ? step : 0;
			metric_probabilities(LOSS_SOFTMAX, x, 4, p);
			for (int c = 0; c < 4; c++)
				l[k] -= class_weight[c] * q[i / 4 * 4 + c] *
				    pow(1 - p[c], gamma) * log(p[c]);
		}
		near(a.y[i / 4], l[2], 2e-6, what);
		near(a.dx[i], (l[1] - l[0]) / (2 * step) / 3, 1e-6, what);
		sum += l[2] / 12;
	}
	near(a.o.loss, sum, 1e-6, what);
}

static void
weighted(struct device *d)
{
	static const double x[] = { 0.5, -1, 2, 0, 3, 1, -2, 0.25, 1, 1, 1, 4 };
	static const double one[] = { 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1 };
	static const double equal[] = { 1, 1, 1, 1 };
	static const float weight[] = { 0.5f, 2, 0, 1.5f };
	static const double w[] = { 0.5, 2, 0, 1.5 };
	float share[12] = { 0.25f, 0.75f, 0, 0, 0, 0, 0.5f, 0.5f, 1, 0, 0, 0 };
	float set[12] = { 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1 };
	double q[12], smoothed[12];
	struct trial t = { .op = { .loss.focus = 2 }, .target = { .classes = 4,
	    .label = (int[]){ 2, 0, 3 } }, .n = 3, .x = x };
	struct predict_run a, b;

	for (int i = 0; i < 12; i++) {
		q[i] = share[i];
		smoothed[i] = 0.8 * one[i] + 0.05;
	}
	formula(d, &t, one, equal, 2, "focal loss of classes");
	t.target.class_weight = weight;
	formula(d, &t, one, w, 2, "focal loss, weighted");
	t.op.loss.smooth = 0.2;
	formula(d, &t, smoothed, w, 2, "focal loss, weighted and smoothed");
	t.op.loss.focus = 0;
	formula(d, &t, smoothed, w, 0, "cross-entropy, weighted and smoothed");
	t.op.loss.smooth = 0;
	formula(d, &t, one, w, 0, "cross-entropy, weighted");
	t.target.kind = TARGET_SOFT;
	t.target.soft = share;
	formula(d, &t, q, w, 0, "cross-entropy of shares, weighted");
	t.op.loss.focus = 0.5;
	formula(d, &t, q, w, 0.5, "focal loss of shares, weighted");

	t = (struct trial){ .op = { .loss.kind = LOSS_SIGMOID }, .target = {
	    .kind = TARGET_SET, .classes = 4, .soft = set }, .n = 3, .x = x };
	a = run(d, &t);
	t.target.class_weight = weight;
	b = run(d, &t);
	ok(a.o.loss == b.o.loss && a.dx[1] == b.dx[1], "%s: weights of classes "
	    "do not change sigmoid losses", d->backend->name);
}

/* ---- values that must not be multiplied by 0 or exponentiated ---- */

static void
extremes(struct device *d)
{
	static const double x[] = { 1e4, -1e4, 0, NAN, INFINITY, 1, -1e4, 1e4, 0 };
	float set[9] = { 1, 0, 0, 1, 1, 1, 1, 0, 0 };
	float weight[3] = { 1, 0, 1 };
	struct trial t = { .op = { .loss.kind = LOSS_SIGMOID }, .target = {
	    .kind = TARGET_SET, .classes = 3, .soft = set, .weight = weight },
		.n = 3, .x = x };
	struct predict_run a = run(d, &t);
	const char *name = d->backend->name;

	near(a.y[0], log(2) / 3, 1e-6,
	    "sigmoid: large right scores have no loss");
	near(a.y[2] / ((2e4 + log(2)) / 3), 1, 1e-6,
	    "sigmoid: large wrong scores have a finite loss");
	ok(a.y[1] == 0 && a.dx[3] == 0 && a.dx[4] == 0,
	    "%s: a clip of weight 0 counts nothing, whatever its scores", name);
	t.op.loss.kind = LOSS_SOFTMAX;
	t.target = (struct target){ .classes = 3, .label = (int[]){ 1, -1, 1 } };
	a = run(d, &t);
	near(a.y[0] / 2e4, 1, 1e-6,
	    "softmax: large wrong scores have a finite loss");
	ok(a.y[1] == 0 && a.dx[5] == 0 && a.y[2] == 0,
	    "%s: a clip without a class counts nothing, whatever its scores",
	    name);
	t.op.loss.focus = 0.5;
	t.target.label = (int[]){ 0, -1, 2 };
	a = run(d, &t);
	ok(a.y[0] == 0 && a.dx[0] == 0 && a.dx[1] == 0,
	    "%s: focal: a certain right class has no loss and no gradient", name);
	near(a.y[2] / 1e4, 1, 1e-6,
	    "focal: large wrong scores have a finite loss");
}

/*
 * The mean is summed in the order of the clips, each loss as it is stored,
 * divided by the number of clips.  Trainers once did so on the host.
 */
static void
order(struct device *d)
{
	enum { N = 7, C = 9 };
	double x[N * C], sum = 0;
	int label[N], top1 = 0, top5 = 0;
	struct trial t = { .target = { .classes = C, .label = label }, .n = N,
		.x = x };
	struct predict_run a;

	for (int i = 0; i < N * C; i++)
		x[i] = (float)rng_normal(3, 4, (uint32_t)i);
	for (int i = 0; i < N; i++)
		label[i] = i * 4 % C;
	a = run(d, &t);
	for (int i = 0; i < N; i++) {
		double l = metric_loss(t.op.loss.kind, x + i * C, C, label[i]);
		int rank = metric_rank(x + i * C, C, label[i]);

		sum += (d->elem == sizeof(float) ? (float)l : l) / N;
		top1 += rank < 1;
		top5 += rank < 5;
	}
	/* A GPU sums in parallel, and has its own exp and log. */
	ok((d->backend->discrete ? fabs(a.o.loss - sum) < 1e-6 : a.o.loss == sum) &&
	    a.o.top1 == top1 && a.o.top5 == top5, "%s: the mean loss %s "
	    "(%.17g, %.17g), and the hits",
	    d->backend->name, d->backend->discrete ?
	    "nearly" : "to the bit", a.o.loss, sum);
}

/* Return 0 if there is no such device. */
static int
test_backend(const struct backend *b)
{
	struct device *d = device_open(b, &(struct device_options){
	    .threads = 2 });

	if (d == NULL)
		return 0;
	hits(d);
	values(d);
	weighted(d);
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
