/* The buffers of a plan: their lifetimes, and their places in one arena. */
#include <stdlib.h>

#include "backend/staging_buffer.h"
#include "base/mem.h"
#include "base/number.h"
#include "net/alike.h"
#include "net/plan.h"

#define ALIGN 4096		/* of every buffer: a page, for huge pages and
				 * vector loads */

static int
layout_by_size(const void *va, const void *vb)
{
	const struct plan_block *a = *(const struct plan_block *const *)va;
	const struct plan_block *b = *(const struct plan_block *const *)vb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	/* Both are elements of one array; keep its order. */
	return (a > b) - (a < b);
}

/* Return 1 if both are alive at some time. */
static int
layout_overlap(const struct plan_block *a, const struct plan_block *b)
{
	const int life[2][2][2] = { { { a->born, a->dies },
		{ a->again, a->ends } }, { { b->born, b->dies },
		{ b->again, b->ends } } };

	for (int i = 0; i < 2 && (i == 0 || a->ends > 0); i++)
		for (int k = 0; k < 2 && (k == 0 || b->ends > 0); k++)
			if (life[0][i][0] <= life[1][k][1] &&
			    life[1][k][0] <= life[0][i][1])
				return 1;
	return 0;
}

size_t
plan_place(const struct plan_block *b, int n)
{
	const struct plan_block **order = xcalloc((size_t)n, sizeof(*order));
	int *placed = xcalloc((size_t)n, sizeof(*placed));	/* by offset */
	size_t size = 0;

	for (int i = 0; i < n; i++)
		order[i] = &b[i];
	qsort(order, (size_t)n, sizeof(*order), layout_by_size);
	for (int i = 0; i < n; i++) {
		size_t at = 0;
		int k;

		/*
		 * Find the lowest free offset: the first wide enough gap
		 * between the blocks that are alive at the same time.
		 */
		for (k = 0; k < i; k++) {
			const struct plan_block *o = order[placed[k]];

			if (!layout_overlap(o, order[i]))
				continue;
			if (*o->at >= at + order[i]->bytes)
				break;
			if (*o->at + o->bytes > at)
				at = *o->at + o->bytes;
		}
		*order[i]->at = at;
		if (at + order[i]->bytes > size)
			size = at + order[i]->bytes;
		for (k = i; k > 0 && *order[placed[k - 1]]->at > at; k--)
			placed[k] = placed[k - 1];
		placed[k] = i;
	}
	free(order);
	free(placed);
	return size;
}

static size_t
layout_bytes_of(size_t (*f)(const struct task *), const struct task *t)
{
	return f != NULL ? f(t) : 0;
}

/*
 * Return the time at which the backward pass does task ${i}; see plan_lay_out.
 */
static int
layout_backward_at(const struct plan *p, int i)
{
	return 2 * p->n - 1 - p->task[i].fused_into;
}

/* [n] lifetimes of the buffers, in the times of plan_lay_out. */
struct layout_lives {
	int *first;			/* first write of dy */
	/*
	 * Last read of y.  If y is recomputed: last read in the forward pass.
	 */
	int *last;
	/* Reads of a recomputed y in the backward pass; ends 0: none. */
	int *again, *ends;
	int *keep;			/* last read of saved */
};

static void
layout_read_at(const struct plan *p, struct layout_lives *l, int from, int time)
{
	int lies = p->task[from].alias_of, by = p->task[from].fused_into;

	if (time > l->keep[by])
		l->keep[by] = time;
	if (time < p->n || !p->task[lies].recompute) {
		if (time > l->last[lies])
			l->last[lies] = time;
		return;
	}
	if (l->ends[lies] == 0 || time < l->again[lies])
		l->again[lies] = time;
	if (time > l->ends[lies])
		l->ends[lies] = time;
}

/* Record that task ${i} reads its inputs at ${time}. */
static void
layout_read_inputs(const struct plan *p, struct layout_lives *l, int i,
    int time)
{
	for (int k = plan_next(p, i, -1); k < p->n; k = plan_next(p, i, k))
		for (int j = 0; j < p->task[k].op->nin; j++)
			if (p->task[p->task[k].op->in[j]].fused_into != i)
				layout_read_at(p, l, p->task[k].op->in[j],
				    time);
}

/*
 * Set the time of each recomputation.  All outputs of one task are recomputed
 * together, before the first of them is read.  The task's inputs are read then,
 * too, and may be recomputed themselves.  They belong to earlier tasks, which
 * this loop visits later and which are recomputed first.
 */
static void
layout_find_recomputes(struct plan *p, struct layout_lives *l)
{
	for (int i = p->n - 1; i >= 0; i--) {
		int time = 2 * p->n;

		p->recompute_before[i] = -1;
		for (int k = plan_next(p, i, -1); k < p->n;
		    k = plan_next(p, i, k)) {
			p->task[k].recompute &= l->ends[k] > 0;
			if (p->task[k].recompute && l->again[k] < time)
				time = l->again[k];
		}
		if (time == 2 * p->n)
			continue;
		p->recompute_before[i] = 2 * p->n - 1 - time;
		for (int k = plan_next(p, i, -1); k < p->n;
		    k = plan_next(p, i, k))
			l->again[k] = time;
		layout_read_inputs(p, l, i, time);
	}
}

/* Find the first and last use of each buffer, by the reads of all tasks. */
static struct layout_lives
layout_lives_of(struct plan *p)
{
	size_t n = (size_t)p->n;
	struct layout_lives l = { xcalloc(n, sizeof(int)),
	    xcalloc(n, sizeof(int)),
		xcalloc(n, sizeof(int)), xcalloc(n, sizeof(int)),
		xcalloc(n, sizeof(int)) };

	for (int i = 0; i < p->n; i++) {
		l.last[i] = p->task[i].fused_into;
		l.keep[i] = p->task[i].no_grad ? i : layout_backward_at(p, i);
		l.first[i] = layout_backward_at(p, i);
	}
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];

		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			if (p->task[from].fused_into == t->fused_into)
				continue;	/* internal to the fused task */
			layout_read_at(p, &l, from, t->fused_into);
			if (task_reads(t) & READS_X)
				layout_read_at(p, &l, from,
				    layout_backward_at(p, i));
			if (layout_backward_at(p, i) < l.first[from])
				l.first[from] = layout_backward_at(p, i);
		}
		if (task_reads(t) & READS_Y)
			layout_read_at(p, &l, i, layout_backward_at(p, i));
	}
	/* The caller reads scores and losses after the passes. */
	for (int i = 0; i < p->graph->heads; i++)
		l.last[p->graph->head[i].scores] =
		    l.last[p->graph->head[i].loss] = 2 * p->n - 1;
	layout_find_recomputes(p, &l);
	return l;
}

/* Append a buffer unless it is empty. */
static void
layout_add(struct plan_block *b, int *n, struct plan_block block)
{
	if (block.bytes == 0)
		return;
	block.bytes = round_up(block.bytes, ALIGN);
	b[(*n)++] = block;
}

/*
 * List every buffer with its lifetimes, then place them.  Times are 0 to n - 1
 * in the forward pass, and n to 2 n - 1 in the backward pass, which reaches op
 * i at 2 n - 1 - i.  A fused op runs at the time of the task that does it.
 */
void
plan_lay_out(struct plan *p)
{
	int n = 0, end = 2 * p->n - 1;
	struct plan_block *b = xcalloc(5 * (size_t)p->n + 1, sizeof(*b));
	struct layout_lives l = layout_lives_of(p);

	layout_add(b, &n, (struct plan_block){ staging_buffer_bytes(p->staging),
	    &p->staging_at, 0, end, 0, 0 });
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];
		size_t bytes = device_bytes(p->device, &t->out);
		int again = p->recompute_before[i] >= 0 ?
		    end - p->recompute_before[i] : t->no_grad ? 0 :
		    layout_backward_at(p, i);
		int back = again > 0 ? layout_backward_at(p, i) : 0;

		if (t->fused_into == i) {
			layout_add(b, &n,
			    (struct plan_block){ layout_bytes_of(t->impl->saved,
			    t), &p->saved_at[i], i, l.keep[i], 0, 0 });
			layout_add(b, &n,
			    (struct plan_block){
			    layout_bytes_of(t->impl->packed_bytes, t),
			    &p->kept_at[i], 0, end, 0, 0 });
			layout_add(b, &n,
			    (struct plan_block){
			    layout_bytes_of(t->impl->scratch, t),
			    &p->scratch_at[i], i, i, again, back });
		}
		if (t->materialized)
			layout_add(b, &n,
			    (struct plan_block){ bytes, &p->y_at[i],
			    t->fused_into, l.last[i], l.again[i],
			    t->recompute ? l.ends[i] : 0 });
		if (p->has_dy[i])
			layout_add(b, &n,
			    (struct plan_block){ bytes, &p->dy_at[i],
			    l.first[i], back, 0, 0 });
	}
	p->arena = plan_place(b, n);
	free(b);
	free(l.first);
	free(l.last);
	free(l.again);
	free(l.ends);
	free(l.keep);
}
