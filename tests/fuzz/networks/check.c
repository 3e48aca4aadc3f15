/*
 * Checks a network: each task with ref, the whole network with ref64, and bits
 * for all numbers of threads.
 *
 * Rounding errors of a whole network depend on its conditioning.  Their scale is
 * measured: ref64 runs again with relative noise on each output, gradient and
 * weight.  The differences that this makes, a few times the noise, are allowed.
 * A network may be near a kink, such as a ReLU of nearly 0.  So a difference
 * counts only if it shows with three sets of clips and weights.
 */
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/huge.h"
#include "base/isa.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/alike.h"
#include "net/feed.h"
#include "net/net.h"
#include "net/parity/parity.h"
#include "train/optim/optim.h"

#include "fuzz/networks/check.h"
#include "gpu/standin/standin.h"

/* Sets of clips and weights; all must show a difference. */
enum { TRIES = 3 };
/* Numbers of threads. */
enum { THREADS = 3 };
/* Runs with noise. */
enum { NOISES = 3 };

#define MAX_MACS 4e7

/*
 * The noise of a precision, the multiple of its effect that is allowed, and the
 * difference that is always allowed.
 */
static const struct check_limits { double noise, times, floor; } limits[] = {
	[PRECISION_FP32] = { 0x1p-19, 24, 2e-5 },
	[PRECISION_BF16] = { 0x1p-8, 4, 1e-2 },
	[PRECISION_FP16] = { 0x1p-11, 4, 3e-3 },
};

const char *const check_names[CHECK_KINDS] = { "nothing", "crash", "refusal",
	"task", "whole", "threads", "recompute", "test", "microbatch" };

/* A network in its checks. */
struct check_job {
	struct check *c;
	const struct random_net *n;
	struct graph *g;
	struct dims *in, *next;		/* shapes of the streams in step 1 and
					 * 2 */
	int data;			/* number of the clips and weights */
	double *w;			/* [g->elements] initial weights */
	struct feed feed, later;	/* of steps 1 and 2 */
};

static int
check_found(struct check_job *j, enum check_fault kind, const char *where,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Record a fault.  Return 1. */
static int
check_found(struct check_job *j, enum check_fault kind, const char *where,
    const char *fmt, ...)
{
	va_list ap;

	j->c->state = CHECK_FOUND;
	j->c->kind = kind;
	snprintf(j->c->where, sizeof(j->c->where), "%s", where);
	va_start(ap, fmt);
	vsnprintf(j->c->text, sizeof(j->c->text), fmt, ap);
	va_end(ap);
	return 1;
}

/* ---- clips and weights ---- */

static uint32_t
check_word(const struct check_job *j, uint32_t i, uint32_t what)
{
	return rng_philox(j->n->seed, i, what, (uint32_t)j->data, 77).w[0];
}

static void
check_draw_targets(const struct check_job *j, struct target *t, int n)
{
	static const float class_weight[NET_CLASSES] = { 1, 0.5f, 2, 1, 0.25f, 1,
		1.5f, 3 };

	if (j->n->seed % 5 == 0 && n > 1)
		t->label[n - 1] = -1;
	if (j->n->seed % 7 == 0) {
		t->weight = xcalloc((size_t)n, sizeof(*t->weight));
		for (int i = 0; i < n; i++)
			t->weight[i] = 0.5f + (float)i;
	}
	if (j->n->seed % 11 == 0)
		t->class_weight = class_weight;
}

/*
 * Fill the clips of ${f}, and its labels, or soft targets if the losses take
 * them.  Some networks have clips without a label, and weights of clips and
 * classes.
 */
static void
check_draw_feed(struct check_job *j, struct feed *f, const struct dims *in,
    uint32_t what)
{
	const struct input_spec *needs = &j->g->needs;
	struct target *t;

	feed_make(f, in, needs);
	for (int s = 0; s < needs->streams; s++)
		for (size_t i = 0; i < dims_count(&in[s]); i++)
			f->stream[s].bytes[i] = (uint8_t)check_word(j, (uint32_t)i,
			    what + (uint32_t)s);
	t = (struct target *)f->target;
	for (int i = 0; i < in->n; i++)
		t->label[i] = (int)(check_word(j, (uint32_t)i, what + 8) %
		    NET_CLASSES);
	check_draw_targets(j, t, in->n);
	if (!j->n->soft || (needs->target[0].kinds & ~(1u << TARGET_CLASS)) == 0)
		return;
	t->kind = needs->target[0].kinds & 1 << TARGET_SOFT ? TARGET_SOFT :
	    TARGET_SET;
	t->soft = xcalloc((size_t)in->n * NET_CLASSES, sizeof(*t->soft));
	for (int i = 0; i < in->n && t->label[i] >= 0; i++) {
		t->soft[i * NET_CLASSES + t->label[i]] += t->kind == TARGET_SOFT ?
		    0.75f : 1;
		t->soft[i * NET_CLASSES + i % NET_CLASSES] +=
		    t->kind == TARGET_SOFT ? 0.25f : 0;
	}
}

static void
check_free_feed(struct check_job *j, struct feed *f)
{
	if (f->target != NULL) {
		free(f->target->soft);
		free(f->target->weight);
	}
	feed_free(f, &j->g->needs);
}

/*
 * Draw weights that a float holds.  Scales, offsets and statistics vary, so that
 * an unused one shows.
 */
static void
check_draw_weights(struct check_job *j)
{
	const struct graph *g = j->g;

	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];
		double spread = p->std > 0 ? p->std : 0.1;

		for (size_t i = 0; i < p->count; i++) {
			double v = spread * rng_normal(j->n->seed +
			    (uint64_t)j->data, (uint32_t)k, (uint32_t)i);

			if (p->kind == PARAM_VAR)
				v = fabs(v);
			j->w[p->offset + i] = (float)(v +
			    (p->std > 0 ? 0 : p->fill));
		}
	}
}

static void
check_draw(struct check_job *j, int data)
{
	check_free_feed(j, &j->feed);
	check_free_feed(j, &j->later);
	j->data = data;
	check_draw_feed(j, &j->feed, j->in, 100);
	check_draw_feed(j, &j->later, j->next, 200);
	check_draw_weights(j);
}

/* ---- ref64 with noise ---- */

/*
 * A ref64 whose ops have relative noise on their inputs and output gradients.
 * Back ends round inside of a bn, too, where terms may cancel, so its input
 * gradient has noise relative to these terms.
 */
struct check_noisy {
	struct device *d;
	const struct op_impl *ops[OP_KINDS];
	struct op_impl impl[OP_KINDS];
};

/* State of the process, because the ops have no argument for it. */
static const struct op_impl *const *check_exact;
static double check_noise;		/* 0: none */
static uint32_t check_round;		/* chooses the noise */
static double check_largest;		/* of all outputs */

/*
 * Return 1 plus noise number ${i} of purpose ${what}.  The hash is SplitMix64
 * (Steele et al. 2014): Philox would take a sixth of the time of all checks.
 */
static double
check_factor(size_t i, uint32_t what)
{
	uint64_t z = (i + ((uint64_t)what << 32) + ((uint64_t)check_round << 56)) *
	    0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return 1 + check_noise * (2 * rng_unit((uint32_t)(z >> 32)) - 1);
}

/* Return 1 if an op of kind ${k} rounds. */
static int
check_rounds(enum op_kind k)
{
	return k != OP_INPUT && k != OP_RELU && k != OP_RELU6 &&
	    k != OP_SHIFT && k != OP_MAXPOOL && k != OP_CONCAT &&
	    k != OP_FRAMES;
}

/* Multiply ${v}[n] by 1 + noise.  Return a copy of what it was. */
static double *
check_disturb(double *v, size_t n, uint32_t what)
{
	double *was = xcalloc(n, sizeof(*was));

	memcpy(was, v, n * sizeof(*was));
	for (size_t i = 0; i < n; i++)
		v[i] *= check_factor(i, what);
	return was;
}

static void
check_restore(double *v, double *was, size_t n)
{
	memcpy(v, was, n * sizeof(*v));
	free(was);
}

static void
check_noisy_forward(struct task *t)
{
	int n = check_noise > 0 && check_rounds(t->op->kind) ? t->op->nin : 0;
	size_t values = dims_count(&t->out);
	double *was[OP_INPUTS];
	uint32_t what = (uint32_t)t->index * OP_INPUTS;

	for (int j = 0; j < n; j++)
		was[j] = check_disturb((double *)t->x[j],
		    dims_count(&t->in[j]), what + (uint32_t)j);
	check_exact[t->op->kind]->forward(t);
	while (--n >= 0)
		check_restore((double *)t->x[n], was[n], dims_count(&t->in[n]));
	for (size_t i = 0; i < values; i++)
		check_largest = fmax(check_largest, fabs(((double *)t->y)[i]));
}

static void
check_noisy_bn(struct task *t)
{
	size_t c = (size_t)t->out.c, n = dims_count(&t->out);
	const double *dy = t->dy, *scale = t->w[0];
	const double *rstd = (const double *)t->saved + c;
	double *dx = t->dx[0];

	for (size_t k = 0; k < c && dx != NULL; k++) {
		double largest = 0;

		for (size_t i = k; i < n; i += c)
			largest = fmax(largest, fabs(dy[i]));
		for (size_t i = k; i < n; i += c)
			dx[i] += scale[k] * rstd[k] * largest *
			    (check_factor(i, 300000 + (uint32_t)t->index) - 1);
	}
}

static void
check_noisy_backward(struct task *t)
{
	size_t n = dims_count(&t->out);
	double *was;

	if (check_noise == 0 || t->dy == NULL) {
		check_exact[t->op->kind]->backward(t);
		return;
	}
	was = check_disturb((double *)t->dy, n, 200000 + (uint32_t)t->index);
	check_exact[t->op->kind]->backward(t);
	if (t->op->kind == OP_BN)
		check_noisy_bn(t);
	check_restore((double *)t->dy, was, n);
}

static void
check_open_noisy(struct check_noisy *x)
{
	x->d = device_open(backend_find("ref64"), &(struct device_options){
	    .threads = 1 });
	check_exact = x->d->ops;
	for (int k = 0; k < OP_KINDS; k++) {
		x->impl[k] = *check_exact[k];
		x->impl[k].forward = check_noisy_forward;
		if (x->impl[k].backward != NULL)
			x->impl[k].backward = check_noisy_backward;
		x->ops[k] = &x->impl[k];
	}
	x->d->ops = x->ops;
}

/* ---- reference ---- */

/*
 * Results of a training microbatch and of a test: scores and losses of the first
 * head, then scores in tests, then gradients and statistics.
 */
struct check_numbers { size_t scores, clips, n; double *v; };

static struct check_numbers
check_numbers_of(const struct check_job *j)
{
	struct check_numbers r = { .clips = (size_t)j->in->n };

	r.scores = r.clips * (size_t)j->g->head[0].classes;
	r.n = 2 * r.scores + r.clips + j->g->elements;
	r.v = xcalloc(r.n, sizeof(*r.v));
	return r;
}

static void
check_put_weights(const struct check_job *j, struct net *n, int noisy)
{
	const struct graph *g = j->g;
	double *w = xcalloc(g->elements, sizeof(*w));

	for (size_t i = 0; i < g->elements; i++)
		w[i] = j->w[i] * (noisy ? check_factor(i, 400000) : 1);
	device_put(n->device, n->w, w, g->elements);
	free(w);
}

static void
check_read_losses(const struct plan *p, double *losses)
{
	const struct task *t = &p->task[p->graph->head[0].loss];

	device_read(p->device, losses, &t->out, t->y);
}

/* Run both plans of ref64. */
static void
check_run_reference(struct check_job *j, struct net *n, struct check_numbers *r)
{
	struct plan *p = net_plan(n, j->in, 1), *test = net_plan(n, j->in, 0);
	void *dw = device_alloc(n->device, j->g->elements * n->device->elem);
	double *v = r->v;

	check_put_weights(j, n, 1);
	for (int training = 0; training < 2; training++) {
		struct plan *q = training ? p : test;

		plan_bind(q, n->arena, n->w, training ? dw : NULL);
		plan_forward(q, &j->feed);
		net_scores(q, v);
		v += r->scores;
	}
	check_read_losses(p, v);
	plan_backward(p, NULL);
	device_get(n->device, v + r->clips, dw, j->g->elements);
	device_free(n->device, dw);
}

/* The size of ${a} - ${b}, or of ${a} if ${b} is NULL. */
static double
check_size(const struct check_job *j, const double *a, const double *b, size_t n)
{
	double largest = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		double d = fabs(a[i] - (b != NULL ? b[i] : 0));

		if (!isfinite(d))
			return INFINITY;
		largest = d > largest ? d : largest;
		sum += d * d;
	}
	return j->c->precision == PRECISION_FP32 ? largest : sqrt(sum);
}

/* A part of struct check_numbers. */
struct check_part { const char *name; size_t at, n; int whole; };

static struct check_part
check_part_of(const struct check_job *j, const struct check_numbers *r, int i)
{
	const struct param *p = &j->g->param[i > 3 ? i - 3 : 0];
	size_t s = r->scores;

	switch (i) {
	case 0: return (struct check_part){ "test scores", 0, s, 0 };
	case 1: return (struct check_part){ "scores", s, s, 1 };
	case 2: return (struct check_part){ "losses", 2 * s, r->clips, 1 };
	}
	return (struct check_part){ p->name, 2 * s + r->clips + p->offset,
		p->count, 1 };
}

struct check_reference { struct check_numbers want, noisy[NOISES]; };

static void
check_free_reference(struct check_reference *k)
{
	free(k->want.v);
	for (int i = 0; i < NOISES; i++)
		free(k->noisy[i].v);
}

static int
check_make_reference(struct check_job *j, struct check_reference *k)
{
	struct check_noisy x;
	struct net *n;
	int bad;

	check_open_noisy(&x);
	check_largest = 0;
	n = net_new(j->g, x.d);
	bad = net_plan(n, j->in, 1) == NULL || net_plan(n, j->in, 0) == NULL ||
	    net_reserve(n) != 0;
	for (int i = 0; i <= NOISES && !bad; i++) {
		struct check_numbers *r = i == 0 ? &k->want : &k->noisy[i - 1];

		check_noise = i == 0 ? 0 : limits[j->c->precision].noise;
		check_round = (uint32_t)i;
		*r = check_numbers_of(j);
		check_run_reference(j, n, r);
	}
	net_free(n);
	device_close(x.d);
	return bad ? -1 : 0;
}

/*
 * Compare ${x} with the reference.  Return 1 with ${*part} and ${*off}, its
 * difference in tolerances, if a part differs.
 */
static int
check_differs(struct check_job *j, const struct check_numbers *x,
    const struct check_reference *k, int whole, struct check_part *part,
    double *off)
{
	const struct check_limits *l = &limits[j->c->precision];
	size_t at = k->want.n - j->g->elements;
	double all = l->floor * check_size(j, k->want.v + at, NULL,
	    j->g->elements), worst = 0;

	for (int i = 0; i < 3 + j->g->nparam; i++) {
		struct check_part p = check_part_of(j, &k->want, i);
		double size = check_size(j, k->want.v + p.at, NULL, p.n);
		double noise = 0, d;

		if (p.whole != whole || (i >= 3 && j->g->param[i - 3].frozen))
			continue;
		for (int r = 0; r < NOISES; r++) {
			d = check_size(j, k->noisy[r].v + p.at,
			    k->want.v + p.at, p.n);
			noise = d > noise ? d : noise;
		}
		if (!isfinite(size) || !isfinite(noise) ||
		    (i < 3 && l->times * noise > 0.5 * size))
			j->c->vague = 1;
		if (!isfinite(size) || !isfinite(noise))
			continue;
		d = check_size(j, x->v + p.at, k->want.v + p.at, p.n) /
		    (l->times * noise + l->floor * size + (i < 3 ? 0 : all) +
		    1e-12);
		if (d > worst) {
			worst = d;
			*part = p;
		}
	}
	j->c->worst = worst > j->c->worst && worst < 1 ? worst : j->c->worst;
	*off = worst;
	return !(worst <= 1);
}

/* ---- the checked device ---- */

static struct device *
check_open(const struct check *c, int threads, size_t recompute)
{
	const struct backend *b = c->gpu ? standin_backend(STANDIN_OTHERS) :
	    backend_find("cpu");
	struct device *d;

	/* Below AVX-512, all instruction sets are those of VT_ISA=avx2. */
	if (!c->gpu && (c->isa[0] == '\0' ? isa_best() != ISA_AVX512 :
	    strcmp(c->isa, isa_name(isa_best())) != 0))
		return NULL;
	d = device_open(b, &(struct device_options){
	    .threads = threads, .precision = c->precision,
	    .recompute_bytes = recompute });

	if (d != NULL && d->o.precision != c->precision) {
		device_close(d);
		return NULL;
	}
	return d;
}

/* Results with a number of threads: bits of named parts, and the plans that are
 * refused. */
enum { REFUSED_TRAINING = 1, REFUSED_TEST = 2, REFUSED_NEXT = 4 };
enum { PARTS = 8 };

struct check_bits {
	int refused;
	int parts;
	const char *name[PARTS];
	size_t bytes[PARTS];
	void *data[PARTS];
	int stale;			/* 1: other plans changed a test */
	char said[300];
};

static void
check_free_bits(struct check_bits *b)
{
	for (int i = 0; i < b->parts; i++)
		free(b->data[i]);
	*b = (struct check_bits){ 0 };
}

static void
check_keep(struct check_bits *b, const char *name, struct device *d,
    const void *at, size_t bytes)
{
	b->name[b->parts] = name;
	b->bytes[b->parts] = bytes;
	b->data[b->parts] = xmalloc(bytes + 1);
	device_download(d, b->data[b->parts++], at, bytes);
}

static void
check_keep_scores(struct check_bits *b, const char *name, const struct plan *p)
{
	size_t n = (size_t)p->input->n * (size_t)p->graph->head[0].classes;
	double *v = xcalloc(n, sizeof(*v));

	net_scores(p, v);
	b->name[b->parts] = name;
	b->bytes[b->parts] = n * sizeof(*v);
	b->data[b->parts++] = v;
}

/* The feed of clip ${i} of ${f} alone. */
static void
check_one_clip(const struct check_job *j, const struct feed *f, int i,
    struct feed *one, struct stream *stream, struct target *target)
{
	*one = *f;
	for (int s = 0; s < j->g->needs.streams; s++) {
		stream[s] = f->stream[s];
		stream[s].bytes += (size_t)i * dims_count(&j->in[s]) /
		    (size_t)j->in[s].n;
	}
	for (int t = 0; t < j->g->needs.targets; t++) {
		target[t] = f->target[t];
		target[t].label += i;
		if (target[t].weight != NULL)
			target[t].weight += i;
		if (target[t].soft != NULL)
			target[t].soft += i * target[t].classes;
	}
	one->stream = stream;
	one->target = target;
	one->clip = f->clip + i;
}

/* Test each clip in a microbatch of its own; write the scores to ${v}. */
static int
check_run_single(struct check_job *j, struct net *n, double *v)
{
	size_t streams = (size_t)j->g->needs.streams;
	struct dims *in = xcalloc(streams, sizeof(*in));
	struct stream *stream = xcalloc(streams, sizeof(*stream));
	struct target *target = xcalloc((size_t)j->g->needs.targets,
	    sizeof(*target));
	struct plan *p;

	memcpy(in, j->in, streams * sizeof(*in));
	for (size_t s = 0; s < streams; s++)
		in[s].n = 1;
	if ((p = net_plan(n, in, 0)) != NULL && net_reserve(n) == 0)
		for (int i = 0; i < j->in->n; i++) {
			struct feed one;

			check_one_clip(j, &j->feed, i, &one, stream, target);
			net_forward(n, p, &one, NULL);
			net_scores(p, v + i * j->g->head[0].classes);
		}
	free(in);
	free(stream);
	free(target);
	return p == NULL ? -1 : 0;
}

/* Test again with the same weights, after other plans used the arena. */
static void
check_test_again(struct check_job *j, struct net *n, struct plan *test,
    struct check_bits *b)
{
	n->weights_unchanged = 1;
	net_forward(n, test, &j->feed, NULL);
	check_keep_scores(b, "scores of a second test", test);
	b->parts--;
	b->stale = memcmp(b->data[b->parts], b->data[0], b->bytes[0]) != 0;
	free(b->data[b->parts]);
}

/* Two steps: of two microbatches of one shape, then of another shape. */
static void
check_train(struct check_job *j, struct net *n, struct plan *next, void *dw,
    struct check_bits *b)
{
	size_t bytes = j->g->elements * n->device->elem;
	struct optim o = { .rule = group_rule_find("plain"), .set = {
		.momentum = 0.9, .decay = 1e-3 } };
	double norm;

	n->weights_unchanged = 0;
	if (optim_open(&o, n, NULL) != 0)
		return;
	optim_step(&o, n, dw, 1, 0.05, &norm);
	for (int i = 0; i <= n->repeats && next != NULL; i++) {
		n->weights_unchanged = i > 0;
		net_forward(n, next, &j->later, dw);
		plan_backward(next, NULL);
	}
	if (next != NULL) {
		check_keep(b, "gradients of step 2", n->device, dw, bytes);
		optim_step(&o, n, dw, 1, 0.05, &norm);
	}
	check_keep(b, "weights after two steps", n->device, n->w, bytes);
	optim_close(&o);
}

/*
 * Run the network on ${d}: test, train two steps.  Write the numbers that are
 * compared with ref64 to ${x} and those with single clips to ${single}, unless
 * they are NULL.
 */
static void
check_run(struct check_job *j, struct device *d, struct check_bits *b,
    struct check_numbers *x, double *single)
{
	struct net *n = net_new(j->g, d);
	size_t bytes = j->g->elements * d->elem;
	void *dw = device_alloc(d, bytes);
	struct error said = { { 0 } }, *before = fail_into(&said);
	struct plan *p, *test, *next;

	n->repeats = j->n->repeats;
	p = net_plan(n, j->in, 1);
	test = net_plan(n, j->in, 0);
	next = net_plan(n, j->next, 1);
	fail_into(before);
	snprintf(b->said, sizeof(b->said), "%.290s", said.text);
	b->refused = (p == NULL) * REFUSED_TRAINING +
	    (test == NULL) * REFUSED_TEST + (next == NULL) * REFUSED_NEXT;
	if (p != NULL && test != NULL && net_reserve(n) == 0) {
		check_put_weights(j, n, 0);
		net_forward(n, test, &j->feed, NULL);
		check_keep_scores(b, "scores of a test", test);
		if (x != NULL)
			net_scores(test, x->v);
		net_forward(n, p, &j->feed, dw);
		check_keep_scores(b, "scores of step 1", p);
		if (x != NULL) {
			net_scores(p, x->v + x->scores);
			check_read_losses(p, x->v + 2 * x->scores);
		}
		plan_backward(p, NULL);
		check_keep(b, "gradients of step 1", d, dw, bytes);
		if (x != NULL)
			device_get(d, x->v + 2 * x->scores + x->clips, dw,
			    j->g->elements);
		if (n->repeats) {
			n->weights_unchanged = 1;
			net_forward(n, p, &j->feed, dw);
			plan_backward(p, NULL);
			check_keep(b, "gradients of a second microbatch", d, dw,
			    bytes);
		}
		check_train(j, n, next, dw, b);
		if (single != NULL) {
			check_put_weights(j, n, 0);
			fail_into(&said);
			if (check_run_single(j, n, single) != 0)
				b->refused |= REFUSED_TEST;
			fail_into(before);
			check_test_again(j, n, test, b);
		}
	}
	device_free(d, dw);
	net_free(n);
}

/* ---- the checks ---- */

/* Return 1 if bits of ${b} differ from those of ${a}. */
static int
check_same_bits(struct check_job *j, const struct check_bits *a,
    const struct check_bits *b, enum check_fault kind, const char *what)
{
	for (int i = 0; i < a->parts && i < b->parts; i++)
		if (memcmp(a->data[i], b->data[i], a->bytes[i]) != 0) {
			const unsigned char *p = a->data[i], *q = b->data[i];
			size_t at = 0;
			const char *param = "";

			while (p[at] == q[at])
				at++;
			at /= a->bytes[i] > 0 && strstr(a->name[i], "scores") ?
			    8 : 4;
			for (int k = 0; k < j->g->nparam && strstr(a->name[i],
			    "scores") == NULL; k++)
				if (j->g->param[k].offset <= at)
					param = j->g->param[k].name;
			return check_found(j, kind, a->name[i],
			    "%s: %s differ, first in element %zu %s", what,
			    a->name[i], at, param);
		}
	return 0;
}

static int
check_refusals(struct check_job *j, const struct check_bits *b, int n)
{
	for (int i = 1; i < n; i++)
		if (b[i].refused != b[0].refused)
			return check_found(j, CHECK_REFUSAL, "threads",
			    "refused with %d threads but not with %d: %.300s",
			    b[i].refused > b[0].refused ? i + 1 : 1,
			    b[i].refused > b[0].refused ? 1 : i + 1,
			    b[i].refused > b[0].refused ? b[i].said : b[0].said);
	if (b[0].refused == REFUSED_TEST)
		return check_found(j, CHECK_REFUSAL, "test",
		    "trains but does not test: %.300s", b[0].said);
	return 0;
}

/* Check bits over threads, and with recomputation. */
static int
check_threads(struct check_job *j, struct check_numbers *x, double *single)
{
	struct check_bits bits[THREADS + 1] = { { 0 } };
	int n = j->c->gpu ? 1 : THREADS, found = 0;
	char what[64];

	for (int i = 0; i < n; i++) {
		struct device *d = check_open(j->c, i + 1, 0);

		check_run(j, d, &bits[i], i == 0 ? x : NULL,
		    i == 0 ? single : NULL);
		device_close(d);
	}
	found = check_refusals(j, bits, n);
	if (!found && bits[0].stale)
		found = check_found(j, CHECK_MICROBATCH, "second test",
		    "scores differ after another plan used the arena");
	if (!found && bits[0].refused & REFUSED_TRAINING) {
		j->c->state = CHECK_REFUSED;
		snprintf(j->c->text, sizeof(j->c->text), "%s", bits[0].said);
	}
	for (int i = 1; i < n && !found; i++) {
		snprintf(what, sizeof(what), "%d threads and 1", i + 1);
		found = check_same_bits(j, &bits[0], &bits[i], CHECK_THREADS,
		    what);
	}
	if (!found && j->c->state != CHECK_REFUSED) {
		struct device *d = check_open(j->c, 2, 1);

		check_run(j, d, &bits[THREADS], NULL, NULL);
		device_close(d);
		found = check_same_bits(j, &bits[0], &bits[THREADS],
		    CHECK_RECOMPUTE, "with recomputation and without");
	}
	for (int i = 0; i <= THREADS; i++)
		check_free_bits(&bits[i]);
	return found;
}

/*
 * Return 1 if the scores of single clips, ${single}, are not those of the
 * microbatch ${x}, within a millionth and the effect of noise.
 */
static int
check_microbatch(struct check_job *j, const struct check_numbers *x,
    const struct check_reference *k, const double *single)
{
	double size = check_size(j, x->v, NULL, x->scores), noise = 0, d;
	double fp32 = j->c->precision == PRECISION_FP32;

	for (int r = 0; r < NOISES; r++) {
		d = check_size(j, k->noisy[r].v, k->want.v, x->scores);
		noise = d > noise ? d : noise;
	}
	d = check_size(j, single, x->v, x->scores);
	/* Noise of fp32 is more than 1e-6 already. */
	return d <= (fp32 ? 1e-6 : limits[j->c->precision].floor) * fmax(1, size) +
	    noise ? 0 : check_found(j, CHECK_MICROBATCH, "scores",
	    "scores of single clips differ by %.3g of %.3g from those of a "
	    "microbatch", d, size);
}

/* ---- tasks ---- */

/*
 * Compare plan ${p} of ${x} with ${key}.  Return rows, the number of which is
 * ${*n}.
 */
static struct parity *
check_parity(struct check_job *j, struct net *x, struct plan *p,
    struct device *key, int *n)
{
	struct net *like = net_new(j->g, key);
	struct plan *q = net_plan(like, j->in, 1);
	struct parity_options o = { j->c->precision != PRECISION_FP32 };
	struct parity *row = xcalloc((size_t)j->g->nop, sizeof(*row));

	*n = -1;
	if (q != NULL && net_reserve(like) == 0) {
		check_put_weights(j, like, 0);
		*n = parity_run(x, p, like, q, &o, row);
	}
	net_free(like);
	return row;
}

/*
 * Return 1 if the difference ${off} of a result is not caused by conditioning.
 * ${noisy} is the difference from a reference with noise.
 */
static int
check_is_wrong(const struct check_job *j, double off, double noisy)
{
	double effect = fabs(noisy - off);

	return off > parity_tolerance(j->c->precision) &&
	    !(off <= limits[j->c->precision].times * effect);
}

/* Compare each task with ref; a task that differs also with a noisy ref64. */
static int
check_rows(struct check_job *j, struct net *x, struct plan *p,
    struct device *key)
{
	double tolerance = parity_tolerance(j->c->precision), most = 0;
	struct check_noisy noisy = { .d = NULL };
	struct parity *row, *like = NULL;
	int n, found = 0;
	char kinds[80];

	row = check_parity(j, x, p, key, &n);
	for (int i = 0; i < n && !found; i++) {
		if (parity_worst(&row[i]) <= tolerance) {
			most = fmax(most, parity_worst(&row[i]) / tolerance);
			continue;
		}
		if (like == NULL) {
			check_open_noisy(&noisy);
			check_noise = limits[j->c->precision].noise;
			check_round = 0;
			like = check_parity(j, x, p, noisy.d, &n);
		}
		if (!check_is_wrong(j, row[i].forward, like[i].forward) &&
		    !check_is_wrong(j, row[i].dx, like[i].dx) &&
		    !check_is_wrong(j, row[i].dw, like[i].dw))
			continue;
		plan_kinds(p, row[i].task, kinds, sizeof(kinds));
		found = check_found(j, CHECK_TASK, kinds,
		    "%s (%s) differs from ref: forward %.2g, dx %.2g, dw %.2g "
		    "(wanted at most %g; with noise %.2g, %.2g, %.2g)",
		    p->task[row[i].task].op->name, kinds, row[i].forward,
		    row[i].dx, row[i].dw, tolerance, like[i].forward,
		    like[i].dx, like[i].dw);
	}
	free(row);
	free(like);
	device_close(noisy.d);
	j->c->worst = fmax(j->c->worst, most);
	return found;
}

static int
check_tasks(struct check_job *j)
{
	struct device *d = check_open(j->c, 1 + (int)(j->n->seed % THREADS), 0);
	struct device *key = device_open(backend_find("ref"),
	    &(struct device_options){ .threads = 1,
	    .precision = j->c->precision });
	struct net *x = net_new(j->g, d);
	struct plan *p;
	int found = 0;

	x->repeats = j->n->repeats;
	if ((p = net_plan(x, j->in, 1)) != NULL && net_reserve(x) == 0) {
		check_put_weights(j, x, 0);
		found = check_rows(j, x, p, key);
	}
	net_free(x);
	device_close(d);
	device_close(key);
	return found;
}

/* Run all checks on the clips and weights of ${j}. */
static int
check_data(struct check_job *j)
{
	struct check_reference k = { 0 };
	struct check_numbers x = check_numbers_of(j);
	double *single = xcalloc(x.scores, sizeof(*single)), off;
	struct check_part part;
	int found;

	j->c->vague = 0;
	found = check_threads(j, &x, single);
	if (found || j->c->state == CHECK_REFUSED ||
	    check_make_reference(j, &k) != 0)
		goto out;
	/* fp16 has no larger values than 65504. */
	j->c->vague = j->c->precision == PRECISION_FP16 && check_largest > 3e4;
	if (j->c->vague || (found = check_tasks(j)))
		goto out;
	if (check_differs(j, &x, &k, 0, &part, &off))
		found = check_found(j, CHECK_TEST, part.name, "%s differ from "
		    "ref64: %.3g tolerances", part.name, off);
	else if (check_differs(j, &x, &k, 1, &part, &off))
		found = check_found(j, CHECK_WHOLE, part.name, "%s differ from "
		    "ref64: %.3g tolerances", part.name, off);
	else
		found = check_microbatch(j, &x, &k, single);
out:
	check_free_reference(&k);
	free(x.v);
	free(single);
	return found;
}

/* Return 1 if ${kind} does not depend on values, so that one set shows it. */
static int
check_is_exact(enum check_fault kind)
{
	return kind == CHECK_CRASH || kind == CHECK_REFUSAL ||
	    kind == CHECK_THREADS || kind == CHECK_RECOMPUTE;
}

/* Return the shapes of the second step: a frame or a column more. */
static struct dims *
check_next_shape(const struct check_job *j)
{
	int which = (int)(j->n->seed % 4);
	struct dims *out = xcalloc((size_t)j->g->nop, sizeof(*out));
	struct dims *next = graph_inputs(j->g, j->n->clips + (which == 3),
	    j->n->frames + (which == 1), j->n->side + (which == 2));

	if (graph_shapes(j->g, next, out, NULL) != 0) {
		free(next);
		next = graph_inputs(j->g, j->n->clips, j->n->frames, j->n->side);
	}
	free(out);
	return next;
}

void
check_net(const struct random_net *n, struct check *c)
{
	struct check_job j = { .c = c, .n = n };
	struct error said = { { 0 } }, *before = fail_into(&said);
	struct device *d;
	int exact = 0;

	/* Values that nobody wrote are NaNs, in small memory, too. */
	mallopt(M_PERTURB, 165);
	huge_poison = 1;
	if (c->isa[0] != '\0')
		setenv("VT_ISA", c->isa, 1);
	else
		unsetenv("VT_ISA");
	c->worst = 0;
	c->text[0] = c->where[0] = '\0';
	c->kind = CHECK_NOTHING;
	j.g = random_net_graph(n);
	if (j.g != NULL) {
		j.in = graph_inputs(j.g, n->clips, n->frames, n->side);
		j.w = xcalloc(j.g->elements, sizeof(*j.w));
	}
	if (j.g == NULL || graph_macs(j.g, j.in) < 0 ||
	    graph_macs(j.g, j.in) > MAX_MACS) {
		fail_into(before);
		snprintf(c->text, sizeof(c->text), "%.390s", said.text);
		c->state = CHECK_INVALID;
		return;
	}
	j.next = check_next_shape(&j);
	d = check_open(c, 1, 0);
	fail_into(before);
	if (d == NULL) {
		c->state = CHECK_ABSENT;
		return;
	}
	device_close(d);
	for (int data = 0; data < TRIES && !exact; data++) {
		check_draw(&j, data);
		c->state = CHECK_DIED;
		if (!check_data(&j)) {
			c->state = c->state == CHECK_REFUSED ? CHECK_REFUSED :
			    CHECK_FINE;
			c->kind = CHECK_NOTHING;
			c->where[0] = '\0';
			return;
		}
		exact = check_is_exact(c->kind);
	}
}
