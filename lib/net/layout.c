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

/* The lifetimes of the buffers of a task, in the times of plan_lay_out. */
struct layout_life {
	int first;			/* first write of dy */
	int last;			/* last read of y; of a recomputed y: in
					 * the forward pass */
	int again, ends;		/* reads of a recomputed y in the
					 * backward pass; ends 0: none */
	int keep;			/* last read of saved */
};

static void
layout_read_at(const struct plan *p, struct layout_life *l, int from, int time)
{
	int lies = p->task[from].alias_of, by = p->task[from].fused_into;

	if (time > l[by].keep)
		l[by].keep = time;
	if (time < p->n || !p->task[lies].recompute) {
		if (time > l[lies].last)
			l[lies].last = time;
		return;
	}
	if (l[lies].ends == 0 || time < l[lies].again)
		l[lies].again = time;
	if (time > l[lies].ends)
		l[lies].ends = time;
}

/* Record that task ${i} reads its inputs at ${time}. */
static void
layout_read_inputs(const struct plan *p, struct layout_life *l, int i,
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
layout_find_recomputes(struct plan *p, struct layout_life *l)
{
	for (int i = p->n - 1; i >= 0; i--) {
		int time = 2 * p->n;

		p->buffers[i].recompute_before = -1;
		for (int k = plan_next(p, i, -1); k < p->n;
		    k = plan_next(p, i, k)) {
			p->task[k].recompute &= l[k].ends > 0;
			if (p->task[k].recompute && l[k].again < time)
				time = l[k].again;
		}
		if (time == 2 * p->n)
			continue;
		p->buffers[i].recompute_before = 2 * p->n - 1 - time;
		for (int k = plan_next(p, i, -1); k < p->n;
		    k = plan_next(p, i, k))
			l[k].again = time;
		layout_read_inputs(p, l, i, time);
	}
}

/*
 * Find the first and last use of each buffer, by the reads of all tasks.  The
 * caller frees the result, one element a task.
 */
static struct layout_life *
layout_lives_of(struct plan *p)
{
	struct layout_life *l = xcalloc((size_t)p->n, sizeof(*l));

	for (int i = 0; i < p->n; i++) {
		l[i].last = p->task[i].fused_into;
		l[i].keep = p->task[i].no_grad ? i : layout_backward_at(p, i);
		l[i].first = layout_backward_at(p, i);
	}
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];

		for (int j = 0; j < t->op->nin; j++) {
			int from = t->op->in[j];

			if (p->task[from].fused_into == t->fused_into)
				continue;	/* internal to the fused task */
			layout_read_at(p, l, from, t->fused_into);
			if (task_reads(t) & READS_X)
				layout_read_at(p, l, from,
				    layout_backward_at(p, i));
			if (layout_backward_at(p, i) < l[from].first)
				l[from].first = layout_backward_at(p, i);
		}
		if (task_reads(t) & READS_Y)
			layout_read_at(p, l, i, layout_backward_at(p, i));
	}
	/* The caller reads scores and losses after the passes. */
	for (int i = 0; i < p->graph->heads; i++)
		l[p->graph->head[i].scores].last =
		    l[p->graph->head[i].loss].last = 2 * p->n - 1;
	layout_find_recomputes(p, l);
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
	struct layout_life *l = layout_lives_of(p);

	layout_add(b, &n, (struct plan_block){ staging_buffer_bytes(p->staging),
	    &p->staging_at, 0, end, 0, 0 });
	for (int i = 0; i < p->n; i++) {
		const struct task *t = &p->task[i];
		struct plan_buffers *at = &p->buffers[i];
		size_t bytes = device_bytes(p->device, &t->out);
		int again = at->recompute_before >= 0 ?
		    end - at->recompute_before : t->no_grad ? 0 :
		    layout_backward_at(p, i);
		int back = again > 0 ? layout_backward_at(p, i) : 0;

		if (t->fused_into == i) {
			layout_add(b, &n, (struct plan_block){
			    layout_bytes_of(t->impl->saved, t), &at->saved, i,
			    l[i].keep, 0, 0 });
			layout_add(b, &n, (struct plan_block){
			    layout_bytes_of(t->impl->packed_bytes, t),
			    &at->packed, 0, end, 0, 0 });
			layout_add(b, &n, (struct plan_block){
			    layout_bytes_of(t->impl->scratch, t), &at->scratch,
			    i, i, again, back });
		}
		if (t->materialized)
			layout_add(b, &n, (struct plan_block){ bytes, &at->y,
			    t->fused_into, l[i].last, l[i].again,
			    t->recompute ? l[i].ends : 0 });
		if (at->has_dy)
			layout_add(b, &n, (struct plan_block){ bytes, &at->dy,
			    l[i].first, back, 0, 0 });
	}
	p->arena = plan_place(b, n);
	free(b);
	free(l);
}
