/*
 * Which chains of a plan (backend/chains.h) become one pass, what they store, and
 * what they recompute for the backward pass.
 */
#include "backend/cpu/norm.h"

int
norm_whole_blocks(const struct task *shift, int n)
{
	return shift->out.c / shift->op->fold % n == 0;
}

/* The norm of a device's precision. */
static const struct op_impl *
cpu_fuse_norm(const struct task *t)
{
	return t->device->ops[OP_BN];
}

/* In bf16, activations of one place are fp32, and small. */
static int
cpu_fuse_takes(const struct task *bn)
{
	return !cpu_is_pixels(&bn->out) && (cpu_fuse_norm(bn) == &cpu_bn ||
	    cpu_places(&bn->out) > 1);
}

/* Is task ${j} an addition in a norm, with task ${i}'s output for shortcut? */
static int
cpu_fuse_is_shortcut(const struct task *task, int j, int i)
{
	const struct task *add = &task[j];
	const struct norm *n = chains_of(&task[add->into],
	    cpu_fuse_norm(add));

	return n != NULL && n->add == add && add->op->in[n->res] == i;
}

/* Does some reader of task ${i}'s output need it in its plain form? */
static int
cpu_fuse_read_plain(const struct task *task, int n, int i, int shift)
{
	for (int j = i + 1; j < n; j++)
		for (int k = 0; k < task[j].op->nin; k++)
			if (task[j].op->in[k] == i && j != shift &&
			    !cpu_fuse_is_shortcut(task, j, i))
				return 1;
	return 0;
}

/*
 * The shift goes into the task before it.  If all others who read that task's
 * output are shortcuts of such tasks, they read it shifted.
 */
static void
cpu_fuse_shift(struct task *task, int count, struct norm *n)
{
	int i = n->tail->index;

	if (n->shift != NULL && n->shift->op->past)
		n->shift = NULL;
	if (n->shift == NULL)
		return;
	chains_absorb(n->shift, i);
	n->shift->stored = 1;
	if (cpu_fuse_read_plain(task, count, i, n->shift->index) ||
	    (cpu_fuse_norm(n->tail) == &cpu_bn ?
	    !norm_whole_blocks(n->shift, cpu_lanes()) :
	    !norm_whole_blocks(n->shift, 32) && n->readers > 1))
		return;
	n->tail->stored = 0;
	n->tail->lies = n->shift->index;
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
cpu_fuse_choose_remade(struct norm *n)
{
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

/* A shortcut that lies in a shifted activation. */
static void
cpu_fuse_find_home(struct task *task, struct norm *n)
{
	const struct task *from;

	if (n->add == NULL)
		return;
	from = &task[n->add->op->in[n->res]];
	if (from->lies != from->index)
		n->home = &task[from->into];
}

void
cpu_fuse(struct device *d, struct task *task, int n)
{
	const struct op_impl *norm = d->ops[OP_BN];
	struct norm *c;

	chains_find(task, n, norm, cpu_fuse_takes);
	for (int i = 0; i < n; i++)
		if ((c = chains_of(&task[i], norm)) != NULL)
			cpu_fuse_shift(task, n, c);
	for (int i = 0; i < n; i++)
		if ((c = chains_of(&task[i], norm)) != NULL) {
			cpu_fuse_find_home(task, c);
			cpu_fuse_choose_remade(c);
			norm_choose_mask(c, c->tail->remade ||
			    (c->shift != NULL && c->shift->remade));
		}
}
