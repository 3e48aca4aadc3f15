/*
 * What of a plan becomes one pass: bn, relu; bn, add, relu; and the temporal
 * shift of what they give.
 */
#include <stdlib.h>

#include "backend/cpu/norm.h"
#include "base/mem.h"

struct cpu_fuse_search {
	struct task *task;
	int n;
	const struct op_impl *norm;	/* of the device's precision */
	int *readers;			/* how many tasks read each y */
	int *reader;			/* the last of them */
};

/* The only reader of task ${i}'s output, if it is of kind ${kind}; or -1. */
static int
cpu_fuse_only_reader(const struct cpu_fuse_search *s, int i, enum op_kind kind)
{
	int r = s->reader[i];

	return s->readers[i] == 1 && s->task[r].op->kind == kind ? r : -1;
}

/* A relu or addition that a bn before it can do. */
static int
cpu_fuse_simple(const struct task *t)
{
	return !cpu_is_pixels(&t->out) && (t->op->kind != OP_ADD ||
	    (t->op->nin == 2 && t->op->in[0] != t->op->in[1]));
}

/* The shift of ${i}'s output; -1: none. */
static int
cpu_fuse_shift_after(const struct cpu_fuse_search *s, int i)
{
	int found = -1;

	for (int j = i + 1; j < s->n; j++) {
		const struct task *t = &s->task[j];

		if (t->op->kind == OP_SHIFT && t->op->in[0] == i &&
		    t->op->past == 0 && found < 0)
			found = j;
	}
	return found;
}

int
norm_whole_blocks(const struct task *shift, int n)
{
	return shift->out.c / shift->op->fold % n == 0;
}

/* Is task ${j} an addition in a norm, with task ${i}'s output for shortcut? */
static int
cpu_fuse_is_shortcut(const struct cpu_fuse_search *s, int j, int i)
{
	const struct task *add = &s->task[j], *run = &s->task[add->into];
	const struct norm *n = run->impl == s->norm ? run->priv : NULL;

	return n != NULL && n->add == add && add->op->in[n->res] == i;
}

/* Does some reader of task ${i}'s output need it in its plain form? */
static int
cpu_fuse_read_plain(const struct cpu_fuse_search *s, int i, int shift)
{
	for (int j = i + 1; j < s->n; j++)
		for (int k = 0; k < s->task[j].op->nin; k++)
			if (s->task[j].op->in[k] == i && j != shift &&
			    !cpu_fuse_is_shortcut(s, j, i))
				return 1;
	return 0;
}

static void
cpu_fuse_absorb(struct task *t, int into)
{
	t->into = into;
	t->stored = 0;
	t->reads = 0;
}

/* In bf16, activations of one place are fp32, and small. */
static int
cpu_fuse_is_fused(const struct cpu_fuse_search *s, const struct task *bn)
{
	return !cpu_is_pixels(&bn->out) && (s->norm == &cpu_norm ||
	    cpu_places(&bn->out) > 1);
}

/* Batch normalisation ${i} and what follows it into one task. */
static void
cpu_fuse_norm(struct cpu_fuse_search *s, int i)
{
	struct task *task = s->task, *run;
	struct norm *n = xcalloc(1, sizeof(*n));
	int tail = i, next;

	n->bn = &task[i];
	if ((next = cpu_fuse_only_reader(s, i, OP_ADD)) >= 0 &&
	    cpu_fuse_simple(&task[next]) && task[next].into == next) {
		n->add = &task[next];
		n->res = task[next].op->in[0] == i;
		tail = next;
	}
	if ((next = cpu_fuse_only_reader(s, tail, OP_RELU)) >= 0 &&
	    cpu_fuse_simple(&task[next])) {
		n->relu = &task[next];
		tail = next;
	}
	if (n->add != NULL)
		cpu_fuse_absorb(n->add, tail);
	if (n->relu != NULL)
		cpu_fuse_absorb(n->relu, tail);
	cpu_fuse_absorb(n->bn, tail);
	run = n->tail = &task[tail];
	run->stored = 1;
	run->impl = s->norm;
	run->priv = n;
}

/* Is task ${i}'s output a shortcut of such a task? */
static int
cpu_fuse_has_shortcut(const struct cpu_fuse_search *s, int i)
{
	for (int j = i + 1; j < s->n; j++)
		if (s->task[j].op->kind == OP_ADD &&
		    cpu_fuse_is_shortcut(s, j, i))
			return 1;
	return 0;
}

/*
 * The shift goes into the task before it.  If all others who read that task's
 * output are shortcuts of such tasks, they read it shifted.
 */
static void
cpu_fuse_shift(struct cpu_fuse_search *s, int i)
{
	struct norm *n = s->task[i].priv;
	int shift = cpu_fuse_shift_after(s, i);

	if (shift < 0)
		return;
	n->shift = &s->task[shift];
	cpu_fuse_absorb(n->shift, i);
	n->shift->stored = 1;
	if (cpu_fuse_read_plain(s, i, shift) || (s->norm == &cpu_norm ?
	    !norm_whole_blocks(n->shift, cpu_lanes()) :
	    !norm_whole_blocks(n->shift, 32) && cpu_fuse_has_shortcut(s, i)))
		return;
	n->tail->stored = 0;
	n->tail->lies = shift;
}

/*
 * Outputs of fewer bytes stay.  Making all of them again takes tsm_tiny at
 * 8x8x48 3 ms of 67 in fp32 and 4 of 54 in bf16, to save 11 MB and 6 MB; what
 * is smaller than this is 3 % (36 MB of 1354) of the peak of tsm_r50 at 2x8x224
 * in fp32, 5 % in bf16, and what is larger another 26 %.
 */
#define REMADE ((size_t)4 << 20)

/*
 * What is made again for the backward pass and not kept.  That takes a read of
 * the normalisation's input, which stays in any case, and of a shortcut, and a
 * write of each output: no more than two bytes moved for one that is not kept
 * where there is no shortcut, or where the output is stored twice.  The input of
 * a frozen norm need not stay: there the output has to be stored twice.
 */
static void
cpu_fuse_choose_remade(struct cpu_fuse_search *s, int i)
{
	struct norm *n = s->task[i].priv;
	const struct device *d = n->bn->device;
	int twice = n->shift != NULL && n->tail->stored;

	if (n->tail->idle || ((n->add != NULL || !n->bn->wants_dw) && !twice) ||
	    device_bytes(d, &n->bn->out) < (d->o.remade > 0 ? d->o.remade :
	    REMADE))
		return;
	n->tail->remade = n->tail->stored;
	if (n->shift != NULL)
		n->shift->remade = 1;
}

/*
 * What the backward pass goes by: where the relu was open is told by the input
 * alone, unless there is a shortcut.  A frozen norm has no other use for its
 * input: a bit a value takes its place, if that does not stay to make the output
 * again.
 */
static void
cpu_fuse_choose_mask(struct norm *n)
{
	int again = n->tail->remade || (n->shift != NULL && n->shift->remade);

	n->masks = !n->tail->idle && n->relu != NULL && (n->add != NULL ||
	    (!n->bn->wants_dw && !again));
	n->bn->reads = n->bn->wants_dw || (n->relu != NULL && !n->masks) ?
	    READS_X : 0;
}

/* A shortcut that lies in a shifted activation. */
static void
cpu_fuse_find_home(struct cpu_fuse_search *s, int i)
{
	struct norm *n = s->task[i].priv;
	const struct task *from;

	if (n->add == NULL)
		return;
	from = &s->task[n->add->op->in[n->res]];
	if (from->lies != from->index)
		n->home = &s->task[from->into];
}

void
cpu_fuse(struct device *d, struct task *task, int n)
{
	struct cpu_fuse_search s = { task, n, d->ops[OP_BN], xcalloc((size_t)n,
		sizeof(int)), xcalloc((size_t)n, sizeof(int)) };

	for (int i = 0; i < n; i++)
		for (int j = 0; j < task[i].op->nin; j++) {
			s.readers[task[i].op->in[j]]++;
			s.reader[task[i].op->in[j]] = i;
		}
	for (int i = n - 1; i >= 0; i--)
		if (task[i].op->kind == OP_BN && task[i].into == i &&
		    cpu_fuse_is_fused(&s, &task[i]))
			cpu_fuse_norm(&s, i);
	for (int i = 0; i < n; i++)
		if (task[i].impl == s.norm && task[i].priv != NULL &&
		    task[i].into == i)
			cpu_fuse_shift(&s, i);
	for (int i = 0; i < n; i++)
		if (task[i].impl == s.norm && task[i].priv != NULL &&
		    task[i].into == i) {
			cpu_fuse_find_home(&s, i);
			cpu_fuse_choose_remade(&s, i);
			cpu_fuse_choose_mask(s.task[i].priv);
		}
	free(s.readers);
	free(s.reader);
}
