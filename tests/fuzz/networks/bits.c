/*
 * Tests and trains the network on a device, with each number of threads and with
 * recomputation, and compares the bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/isa.h"
#include "base/mem.h"
#include "train/optim/optim.h"

#include "fuzz/networks/job.h"
#include "gpu/standin/standin.h"

/* Numbers of threads. */
enum { THREADS = 3 };

struct device *
check_open(const struct check *c, int threads, size_t recompute)
{
	const struct backend *b = c->gpu ? standin_backend(STANDIN_OTHERS) :
	    backend_find("cpu");
	struct device *d;

	/* Below AVX-512, all instruction sets are those of VT_ISA=avx2. */
	if (b == NULL || (!c->gpu && (c->isa[0] == '\0' ? isa_best() != ISA_AVX512 :
	    strcmp(c->isa, isa_name(isa_best())) != 0)))
		return NULL;
	d = device_open(b, &(struct device_options){
	    .threads = threads, .precision = c->precision });
	if (d != NULL)
		d->recompute_min = recompute;
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

int
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
