/* Binds a graph to a shape: shapes, lifetimes, one arena. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "net/plan.h"

#define ALIGN 4096		/* of every buffer: a page, so that huge pages and
				 * vector loads both come out right */

static int
by_size(const void *va, const void *vb)
{
	const struct plan_block *a = va, *b = vb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->at > b->at) - (a->at < b->at);	/* a fixed order */
}

size_t
plan_place(struct plan_block *b, int n)
{
	int *placed = xcalloc((size_t)n, sizeof(*placed));	/* by offset */
	size_t size = 0;

	qsort(b, (size_t)n, sizeof(*b), by_size);
	for (int i = 0; i < n; i++) {
		size_t at = 0;
		int k;

		/* The lowest offset that is free for the whole life: the first
		 * gap that is wide enough between those that live then. */
		for (k = 0; k < i; k++) {
			const struct plan_block *o = &b[placed[k]];

			if (o->dies < b[i].born || b[i].dies < o->born)
				continue;
			if (*o->at >= at + b[i].bytes)
				break;
			if (*o->at + o->bytes > at)
				at = *o->at + o->bytes;
		}
		*b[i].at = at;
		if (at + b[i].bytes > size)
			size = at + b[i].bytes;
		for (k = i; k > 0 && *b[placed[k - 1]].at > at; k--)
			placed[k] = placed[k - 1];
		placed[k] = i;
	}
	free(placed);
	return size;
}

static size_t
round_up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t
ask(size_t (*f)(const struct task *), const struct task *t)
{
	return f != NULL ? f(t) : 0;
}

/* The output of an op has a gradient: but for pixels, and for losses, whose
 * derivative of themselves is 1. */
static int
has_gradient(const struct op *op)
{
	return op->kind != OP_INPUT && op->kind != OP_LOSS;
}

/*
 * List every buffer with its lifetime, then place them.  Time runs 0 to n - 1
 * through the forward pass and on to 2 n - 1 through the backward pass, which
 * reaches op i at 2 n - 1 - i.
 */
static void
lay_out(struct plan *p)
{
	const struct graph *g = p->graph;
	int n = 0, end = 2 * p->n - 1;
	struct plan_block *b = xcalloc(3 * (size_t)p->n + 1, sizeof(*b));
	int *last = xcalloc((size_t)p->n, sizeof(*last));	/* read of y */
	int *first = xcalloc((size_t)p->n, sizeof(*first));	/* write of dy */
	size_t scratch = 0;

	for (int i = 0; i < p->n; i++) {
		last[i] = i;
		first[i] = end - i;
	}
	for (int i = 0; i < p->n; i++) {
		const struct op *op = &g->op[i];
		const struct op_impl *impl = task_impl(&p->task[i]);
		size_t saved = ask(impl->saved, &p->task[i]);
		size_t s = ask(impl->scratch, &p->task[i]);

		for (int j = 0; j < op->nin; j++) {
			int from = op->in[j], t = i;

			if (p->training && (impl->reads & READS_X))
				t = end - i;
			if (t > last[from])
				last[from] = t;
			if (end - i < first[from])
				first[from] = end - i;
		}
		if (p->training && (impl->reads & READS_Y))
			last[i] = end - i;
		if (saved > 0)
			b[n++] = (struct plan_block){ round_up(saved),
			    &p->saved_at[i], i, p->training ? end - i : i };
		if (s > scratch)
			scratch = s;
	}
	/* Scores and losses are the caller's to read, after it all. */
	for (int i = 0; i < g->heads; i++)
		last[g->head[i].scores] = last[g->head[i].loss] = end;
	for (int i = 0; i < p->n; i++) {
		size_t bytes = round_up(device_bytes(p->device, &p->task[i].out));

		b[n++] = (struct plan_block){ bytes, &p->y_at[i], i, last[i] };
		if (p->training && has_gradient(&g->op[i]))
			b[n++] = (struct plan_block){ bytes, &p->dy_at[i],
			    first[i], end - i };
	}
	b[n++] = (struct plan_block){ round_up(scratch), &p->scratch_at, 0, end };
	p->arena = plan_place(b, n);
	free(b);
	free(last);
	free(first);
}

/* The last ops' parameters are final first. */
static void
set_marks(struct plan *p)
{
	size_t mark = p->graph->elements;

	for (int i = p->n - 1; i >= 0; i--) {
		const struct op *op = &p->graph->op[i];

		if (op->nparam > 0)
			mark = p->graph->param[op->param].offset;
		p->mark[i] = mark;
	}
}

/*
 * Which input gradients are wanted, and which add to what is there: in
 * backward order the first writer of a gradient need not.
 */
static void
set_gradients(struct plan *p)
{
	char *written = xcalloc((size_t)p->n, 1);

	for (int i = p->n - 1; i >= 0; i--) {
		const struct op *op = &p->graph->op[i];

		for (int j = 0; j < op->nin; j++) {
			int from = op->in[j];

			p->task[i].wants_dx[j] = p->training &&
			    p->graph->op[from].kind != OP_INPUT;
			p->task[i].accumulate[j] = written[from];
			written[from] = 1;
		}
	}
	free(written);
}

struct plan *
plan_new(const struct graph *g, struct device *d,
    const struct dims *input, int training)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	size_t n = (size_t)g->nop;
	struct dims *out = xcalloc(n, sizeof(*out));

	p->graph = g;
	p->device = d;
	p->input = xcalloc((size_t)g->needs.streams, sizeof(*p->input));
	memcpy(p->input, input, (size_t)g->needs.streams * sizeof(*p->input));
	p->training = training;
	p->n = g->nop;
	p->task = xcalloc(n, sizeof(*p->task));
	p->y_at = xcalloc(n, sizeof(size_t));
	p->dy_at = xcalloc(n, sizeof(size_t));
	p->saved_at = xcalloc(n, sizeof(size_t));
	p->mark = xcalloc(n, sizeof(size_t));
	p->macs = graph_macs(g, input);
	if (p->macs < 0 || graph_shapes(g, input, out) != 0)
		goto err;
	set_gradients(p);
	for (int i = 0; i < p->n; i++) {
		struct task *t = &p->task[i];
		const struct op_impl *impl;

		t->device = d;
		t->op = &g->op[i];
		t->index = i;
		t->training = training;
		for (int j = 0; j < t->op->nin; j++)
			t->in[j] = out[t->op->in[j]];
		t->out = out[i];
		impl = task_impl(t);
		if (impl == NULL) {
			fail("%s: the %s back end cannot run %s", g->name,
			    d->backend->name, t->op->name);
			goto err;
		}
		if (impl->prepare != NULL && impl->prepare(t) != 0)
			goto err;
	}
	lay_out(p);
	set_marks(p);
	free(out);
	return p;
err:
	free(out);
	plan_free(p);
	return NULL;
}

void
plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < p->n; i++)
		if (p->task[i].op != NULL && task_impl(&p->task[i]) != NULL &&
		    task_impl(&p->task[i])->release != NULL)
			task_impl(&p->task[i])->release(&p->task[i]);
	free(p->input);
	free(p->task);
	free(p->y_at);
	free(p->dy_at);
	free(p->saved_at);
	free(p->mark);
	free(p);
}

/* Element ${i} of a flat buffer, NULL of none. */
static void *
element(const struct plan *p, const void *flat, size_t i)
{
	return flat == NULL ? NULL : (char *)flat + i * p->device->elem;
}

void
plan_bind(struct plan *p, void *arena, const void *w, void *dw)
{
	const struct graph *g = p->graph;
	char *a = arena;

	for (int i = 0; i < p->n; i++) {
		struct task *t = &p->task[i];

		t->y = a + p->y_at[i];
		t->dy = p->training && has_gradient(t->op) ? a + p->dy_at[i] :
		    NULL;
		t->saved = a + p->saved_at[i];
		t->scratch = a + p->scratch_at;
		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			t->x[j] = a + p->y_at[from];
			t->dx[j] = t->wants_dx[j] ? a + p->dy_at[from] : NULL;
		}
		for (int j = 0; j < t->op->nparam; j++) {
			size_t at = g->param[t->op->param + j].offset;

			t->w[j] = element(p, w, at);
			t->dw[j] = element(p, dw, at);
		}
	}
}

void
plan_forward(struct plan *p, const struct feed *feed)
{
	for (int i = 0; i < p->n; i++) {
		p->task[i].feed = feed;
		task_forward(&p->task[i]);
	}
}

void
plan_backward(struct plan *p, void (*ready)(size_t mark, void *arg), void *arg)
{
	size_t mark = p->graph->elements;

	for (int i = p->n - 1; i >= 0; i--) {
		struct task *t = &p->task[i];

		task_backward(t);
		if (ready != NULL && p->mark[i] < mark)
			ready(mark = p->mark[i], arg);
	}
}
