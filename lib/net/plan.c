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

/* When the backward pass does the work of task ${i}; plan_new's time. */
static int
backward_at(const struct plan *p, int i)
{
	return 2 * p->n - 1 - p->task[i].into;
}

/* How long each buffer must live, from what is read when. */
struct lives {
	int *first;			/* write of dy; its time of reading: none */
	int *last;			/* read of y */
	int *keep;			/* what a task saved */
};

static void
read_until(const struct plan *p, struct lives *l, int from, int time)
{
	int lies = p->task[from].lies, by = p->task[from].into;

	if (time > l->last[lies])
		l->last[lies] = time;
	if (time > l->keep[by])
		l->keep[by] = time;
}

static struct lives
lives_of(const struct plan *p)
{
	size_t n = (size_t)p->n;
	struct lives l = { xcalloc(n, sizeof(int)), xcalloc(n, sizeof(int)),
		xcalloc(n, sizeof(int)) };

	for (int i = 0; i < p->n; i++) {
		l.last[i] = p->task[i].into;
		l.keep[i] = p->training ? backward_at(p, i) : i;
		l.first[i] = backward_at(p, i);
	}
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];

		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			if (p->task[from].into == t->into && from != i)
				continue;	/* on its way, not stored */
			read_until(p, &l, from, p->training && !t->idle &&
			    (t->reads & READS_X) ? backward_at(p, i) : t->into);
			if (backward_at(p, i) < l.first[from])
				l.first[from] = backward_at(p, i);
		}
		if (p->training && !t->idle && (t->reads & READS_Y))
			read_until(p, &l, i, backward_at(p, i));
	}
	/* Scores and losses are the caller's to read, after it all. */
	for (int i = 0; i < p->graph->heads; i++)
		l.last[p->graph->head[i].scores] =
		    l.last[p->graph->head[i].loss] = 2 * p->n - 1;
	return l;
}

/*
 * List every buffer with its lifetime, then place them.  Time runs 0 to n - 1
 * through the forward pass and on to 2 n - 1 through the backward pass, which
 * reaches op i at 2 n - 1 - i; what is fused is done at the time of the task
 * that does it.
 */
static void
lay_out(struct plan *p)
{
	int n = 0;
	struct plan_block *b = xcalloc(4 * (size_t)p->n + 1, sizeof(*b));
	struct lives l = lives_of(p);
	size_t scratch = 0;

	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];
		size_t bytes = round_up(device_bytes(p->device, &t->out));

		if (t->into == i) {
			size_t saved = ask(t->impl->saved, t);
			size_t s = ask(t->impl->scratch, t);
			size_t kept = ask(t->impl->kept, t);

			if (saved > 0)
				b[n++] = (struct plan_block){ round_up(saved),
				    &p->saved_at[i], i, l.keep[i] };
			if (s > scratch)
				scratch = s;
			if (kept > 0)
				b[n++] = (struct plan_block){ round_up(kept),
				    &p->kept_at[i], 0, 2 * p->n - 1 };
		}
		if (t->stored)
			b[n++] = (struct plan_block){ bytes, &p->y_at[i],
			    t->into, l.last[i] };
		if (p->has_dy[i])
			b[n++] = (struct plan_block){ bytes, &p->dy_at[i],
			    l.first[i], backward_at(p, i) };
	}
	b[n++] = (struct plan_block){ round_up(scratch), &p->scratch_at, 0,
		2 * p->n - 1 };
	p->arena = plan_place(b, n);
	free(b);
	free(l.first);
	free(l.last);
	free(l.keep);
}

/*
 * The last ops' parameters are final first: those from the mark on belong to
 * tasks whose backward pass is done.
 */
static void
set_marks(struct plan *p)
{
	size_t mark = p->graph->elements;
	int k = p->n - 1;		/* ops from k + 1 on are done */

	for (int i = p->n - 1; i >= 0; i--) {
		for (; k >= 0 && (p->task[k].into >= i ||
		    p->graph->op[k].nparam == 0); k--)
			if (p->graph->op[k].nparam > 0)
				mark = p->graph->param[p->graph->op[k].param].
				    offset;
		p->mark[i] = mark;
	}
}

/*
 * Which gradients there are, and which are added to what is there: in backward
 * order the first writer of a gradient need not.
 */
static void
set_gradients(struct plan *p)
{
	/* What does the work of one that learns is not idle either. */
	for (int i = 0; i < p->n; i++)
		p->task[p->task[i].into].idle &= p->task[i].idle;
	for (int time = p->n - 1; time >= 0; time--)
		for (int i = p->n - 1; i >= 0; i--) {
			struct task *t = &p->task[i];

			for (int j = 0; j < t->op->nin && t->into == time; j++) {
				int from = t->op->in[j];

				if (!t->wants_dx[j] ||
				    p->task[from].into == time)
					continue;
				t->accumulate[j] = p->has_dy[from];
				p->has_dy[from] = 1;
			}
		}
}

/* A task as it stands before the back end looks at it. */
static int
set_task(struct plan *p, int i, const struct dims *out)
{
	struct task *t = &p->task[i];
	const struct op *op = &p->graph->op[i];

	*t = (struct task){ .device = p->device, .op = op, .index = i,
		.training = p->training, .repeats = p->repeats, .out = out[i],
		.idle = op->nparam == 0, .into = i, .stored = 1, .lies = i,
		.impl = p->device->ops[op->kind] };
	for (int j = 0; j < op->nin; j++) {
		t->in[j] = out[op->in[j]];
		/* Pixels learn nothing, nor what is only made of them. */
		t->wants_dx[j] = p->training && !p->task[op->in[j]].idle;
		t->idle &= !t->wants_dx[j];
	}
	if (t->impl == NULL)
		return fail("%s: the %s back end cannot run %s", p->graph->name,
		    p->device->backend->name, op->name);
	t->reads = t->impl->reads;
	return 0;
}

struct plan *
plan_new(const struct graph *g, struct device *d,
    const struct dims *input, enum plan_use use)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	size_t n = (size_t)g->nop;
	struct dims *out = xcalloc(n, sizeof(*out));

	p->graph = g;
	p->device = d;
	p->input = xcalloc((size_t)g->needs.streams, sizeof(*p->input));
	memcpy(p->input, input, (size_t)g->needs.streams * sizeof(*p->input));
	p->training = use != PLAN_TEST;
	p->repeats = use != PLAN_ONCE;
	p->renew = 1;
	p->n = g->nop;
	p->task = xcalloc(n, sizeof(*p->task));
	p->y_at = xcalloc(n, sizeof(size_t));
	p->dy_at = xcalloc(n, sizeof(size_t));
	p->saved_at = xcalloc(n, sizeof(size_t));
	p->kept_at = xcalloc(n, sizeof(size_t));
	p->has_dy = xcalloc(n, 1);
	p->mark = xcalloc(n, sizeof(size_t));
	p->macs = graph_macs(g, input);
	if (p->macs < 0 || graph_shapes(g, input, out) != 0)
		goto err;
	for (int i = 0; i < p->n; i++)
		if (set_task(p, i, out) != 0)
			goto err;
	if (d->backend->fuse != NULL)
		d->backend->fuse(d, p->task, p->n);
	set_gradients(p);
	for (int i = 0; i < p->n; i++) {
		struct task *t = &p->task[i];

		if (t->into == i && t->impl->prepare != NULL &&
		    t->impl->prepare(t) != 0)
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
		task_release(&p->task[i]);
	free(p->input);
	free(p->task);
	free(p->y_at);
	free(p->dy_at);
	free(p->saved_at);
	free(p->kept_at);
	free(p->has_dy);
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
		t->dy = p->has_dy[i] ? a + p->dy_at[i] : NULL;
		t->saved = a + p->saved_at[i];
		t->kept = a + p->kept_at[i];
		t->scratch = a + p->scratch_at;
		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			t->x[j] = a + p->y_at[p->task[from].lies];
			t->dx[j] = t->wants_dx[j] && p->has_dy[from] ?
			    a + p->dy_at[from] : NULL;
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
		p->task[i].renew = p->renew;
		if (p->task[i].into == i)
			task_forward(&p->task[i]);
	}
	p->renew = 1;
}

void
plan_backward(struct plan *p, struct event *final)
{
	size_t mark = p->graph->elements;

	for (int i = p->n - 1; i >= 0; i--) {
		struct task *t = &p->task[i];

		if (t->into == i)
			task_backward(t);
		if (final != NULL && p->mark[i] < mark)
			device_event_record(p->device, final,
			    mark = p->mark[i]);
	}
}
