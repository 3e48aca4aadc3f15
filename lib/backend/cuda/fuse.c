/*
 * What of a plan becomes one pass: bn, relu; bn, add; bn, add, relu; each with the
 * temporal shift behind it; and, where there are patterns for it (conv.h), bn,
 * relu, convolution.  The output of a bn alone would be written and read once more,
 * forward and backward, and that of an addition, too: these passes are bound by
 * the bandwidth of memory.
 */
#include <stdlib.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/norm.h"
#include "backend/cuda/rows.h"
#include "base/mem.h"

struct cuda_fuse_search {
	struct task *task;
	int n;
	int *readers;			/* how many tasks read each y */
	int *reader;			/* the last of them */
	int *end;			/* of a bn: the task that has its norm */
};

/* The only reader of task ${i}'s output, if it is of kind ${kind}; or -1. */
static int
cuda_fuse_only_reader(const struct cuda_fuse_search *s, int i,
    enum op_kind kind)
{
	int r = s->reader[i];

	return s->readers[i] == 1 && s->task[r].op->kind == kind &&
	    s->task[r].into == r ? r : -1;
}

/* An addition of two outputs. */
static int
cuda_fuse_is_simple(const struct task *add)
{
	return add->op->nin == 2 && add->op->in[0] != add->op->in[1];
}

static void
cuda_fuse_absorb(struct task *t, int into)
{
	t->into = into;
	t->stored = 0;
	t->reads = 0;
}

/*
 * Batch normalisation ${i} and what follows it into one task, the last of them.
 * Where the relu was shut is told by the input where the backward pass reads that
 * anyway, and is all there is; else a bit a value is saved.
 */
static void
cuda_fuse_norm(struct cuda_fuse_search *s, int i)
{
	struct task *task = s->task, *bn = &task[i];
	struct norm n = { .bn = bn }, *kept;
	int tail = i, next;

	if ((next = cuda_fuse_only_reader(s, i, OP_ADD)) >= 0 &&
	    cuda_fuse_is_simple(&task[next])) {
		n.add = &task[next];
		n.res = n.add->op->in[0] == i;
		tail = next;
	}
	if ((next = cuda_fuse_only_reader(s, tail, OP_RELU)) >= 0) {
		n.relu = &task[next];
		tail = next;
	}
	if (tail == i)
		return;
	for (int k = i; k <= tail; k++)
		if (&task[k] == bn || &task[k] == n.add || &task[k] == n.relu)
			cuda_fuse_absorb(&task[k], tail);
	n.tail = &task[tail];
	n.masks = !n.tail->idle && n.relu != NULL && (n.add != NULL ||
	    !bn->wants_dw);
	bn->reads = bn->wants_dw ? READS_X : 0;
	s->end[i] = tail;
	task[tail].stored = 1;
	task[tail].impl = &cuda_bn;
	task[tail].priv = kept = xcalloc(1, sizeof(*kept));
	*kept = n;
}

/*
 * The shift of what the norm at ${i} gives into that: vectors go where it moves
 * them, and nobody reads them once more.  Rows must be of whole vectors, and what
 * is moved too.  Others may read the plain form, which is stored for them.
 */
static void
cuda_fuse_shift(struct cuda_fuse_search *s, int i)
{
	struct norm *n = s->task[i].priv;
	int lanes = (int)cuda_lanes(cuda_of(n->tail)->type);
	int c = n->tail->out.c, j = i + 1;

	while (j < s->n && (s->task[j].op->kind != OP_SHIFT ||
	    s->task[j].op->in[0] != i))
		j++;
	if (j == s->n || c % lanes != 0 || c / s->task[j].op->fold % lanes != 0)
		return;
	cuda_fuse_absorb(&s->task[j], i);
	s->task[j].stored = 1;
	s->task[i].stored = s->readers[i] > 1;
	n->shift = &s->task[j];
}

/* The norm ${i} into the convolution that alone reads what it gives. */
static void
cuda_fuse_conv(struct cuda_fuse_search *s, int i)
{
	struct norm *n = s->task[i].priv;
	int j = cuda_fuse_only_reader(s, i, OP_CONV);

	if (j < 0 || n->add != NULL || n->relu == NULL || n->masks ||
	    !cuda_norm_measures(n->bn))
		return;
	n->before = 1;
	if (!conv_takes_norm(&s->task[j], n)) {
		n->before = 0;
		return;
	}
	s->task[n->bn->index].into = j;
	cuda_fuse_absorb(&s->task[i], j);
}

/* The bn ${i} begins with sums, which the convolution before it may leave. */
static void
cuda_fuse_sums(struct cuda_fuse_search *s, int i)
{
	struct task *bn = &s->task[i], *conv = &s->task[bn->op->in[0]];
	struct task *run = bn->into == i ? bn : &s->task[s->end[i]];
	struct norm *n = run->priv;

	if (conv->op->kind != OP_CONV || !cuda_norm_measures(bn) ||
	    !conv_leaves_sums(conv))
		return;
	if (n == NULL) {
		run->priv = n = xcalloc(1, sizeof(*n));
		*n = (struct norm){ .bn = bn, .tail = bn };
	}
	n->sums = conv;
	conv->lends = 1;
}

void
cuda_fuse(struct device *d, struct task *task, int n)
{
	struct cuda_fuse_search s = { task, n, xcalloc((size_t)n, sizeof(int)),
		xcalloc((size_t)n, sizeof(int)),
		xcalloc((size_t)n, sizeof(int)) };

	(void)d;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < task[i].op->nin; j++) {
			s.readers[task[i].op->in[j]]++;
			s.reader[task[i].op->in[j]] = i;
		}
	/* From the last: of two norms that are added the later one has the
	 * addition, and the other one is its shortcut, ready before it. */
	for (int i = n - 1; i >= 0; i--)
		if (task[i].op->kind == OP_BN && task[i].into == i)
			cuda_fuse_norm(&s, i);
	for (int i = 0; i < n; i++)
		if (task[i].impl == &cuda_bn && task[i].priv != NULL) {
			cuda_fuse_shift(&s, i);
			cuda_fuse_conv(&s, i);
		}
	for (int i = 0; i < n; i++)
		if (task[i].op->kind == OP_BN)
			cuda_fuse_sums(&s, i);
	packing_group(task, n);
	free(s.readers);
	free(s.reader);
	free(s.end);
}
