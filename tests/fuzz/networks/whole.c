/*
 * Compares the network as a whole with ref64.
 *
 * Rounding errors of a whole network depend on its conditioning.  Their scale is
 * measured: ref64 runs again with relative noise on the inputs and gradients of
 * all ops, and on the weights.  The differences that this makes, a few times the
 * noise, are allowed.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#include "fuzz/networks/job.h"
#include "fuzz/networks/noisy.h"

struct check_numbers
check_numbers_of(const struct check_job *j)
{
	struct check_numbers r = { .clips = (size_t)j->in->n };

	r.scores = r.clips * (size_t)j->g->head[0].classes;
	r.n = 2 * r.scores + r.clips + j->g->elements;
	r.v = xcalloc(r.n, sizeof(*r.v));
	return r;
}

void
check_put_weights(const struct check_job *j, struct net *n, int noisy)
{
	const struct graph *g = j->g;
	double *w = xcalloc(g->elements, sizeof(*w));

	for (size_t i = 0; i < g->elements; i++)
		w[i] = j->w[i] * (noisy ? noisy_factor(i, 400000) : 1);
	device_put(n->device, n->w, w, g->elements);
	free(w);
}

void
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

void
check_free_reference(struct check_reference *k)
{
	free(k->want.v);
	for (int i = 0; i < NOISES; i++)
		free(k->noisy[i].v);
}

int
check_make_reference(struct check_job *j, struct check_reference *k)
{
	struct noisy x;
	struct net *n;
	int bad;

	noisy_open(&x);
	n = net_new(j->g, x.d);
	bad = net_plan(n, j->in, 1) == NULL || net_plan(n, j->in, 0) == NULL ||
	    net_reserve(n) != 0;
	for (int i = 0; i <= NOISES && !bad; i++) {
		struct check_numbers *r = i == 0 ? &k->want : &k->noisy[i - 1];

		noisy_set(i == 0 ? 0 : check_limits[j->c->precision].noise, i);
		*r = check_numbers_of(j);
		check_run_reference(j, n, r);
		k->largest = fmax(k->largest, noisy_largest());
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
	const struct check_limits *l = &check_limits[j->c->precision];
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

/*
 * Return 1 if the scores of single clips, ${single}, are not those of the
 * microbatch ${x}, within a millionth and the effect of rounding.
 */
static int
check_microbatch(struct check_job *j, const struct check_numbers *x,
    const struct check_reference *k, const double *single)
{
	double size = check_size(j, x->v, NULL, x->scores), noise = 0, d;
	int fp32 = j->c->precision == PRECISION_FP32;

	for (int r = 0; r < NOISES; r++) {
		d = check_size(j, k->noisy[r].v, k->want.v, x->scores);
		noise = d > noise ? d : noise;
	}
	d = check_size(j, single, x->v, x->scores);
	/* The noise is 16 times the rounding of fp32, and more in 16 bits. */
	return d <= (fp32 ? 1e-6 : check_limits[j->c->precision].floor) * fmax(1, size) +
	    (fp32 ? noise / 16 : noise) ? 0 : check_found(j, CHECK_MICROBATCH, "scores",
	    "scores of single clips differ by %.3g of %.3g from those of a "
	    "microbatch", d, size);
}

int
check_whole(struct check_job *j, const struct check_numbers *x,
    const struct check_reference *k, const double *single)
{
	struct check_part part;
	double off;

	for (int whole = 0; whole < 2; whole++)
		if (check_differs(j, x, k, whole, &part, &off))
			return check_found(j, whole ? CHECK_WHOLE : CHECK_TEST,
			    part.name, "%s differ from ref64: %.3g tolerances",
			    part.name, off);
	return check_microbatch(j, x, k, single);
}
