/* The buffers of a plan: how long each lives, and its place in one arena. */
#include <stdlib.h>

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
void
plan_lay_out(struct plan *p)
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
