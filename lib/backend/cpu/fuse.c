/*
 * Choose the chains of a plan (backend/chains.h) that become one pass.  Choose
 * the outputs to store, and the outputs to recompute for the backward pass.
 */
#include "backend/cpu/norm.h"

int
norm_whole_blocks(const struct task *shift, int n)
{
	return shift->out.c / shift->op->shift.fold % n == 0;
}

/* Return the norm operator of the precision of the device. */
static const struct op_impl *
cpu_fuse_norm(const struct task *t)
{
	return t->device->ops[OP_BN];
}

/*
 * Return 1 if the fused norm can do ${bn}.  In bf16, activations of one
 * position per image are fp32; they are small and stay unfused.
 */
static int
cpu_fuse_takes(const struct task *bn)
{
	return !cpu_is_pixels(&bn->out) && (cpu_fuse_norm(bn) == &cpu_bn ||
	    cpu_positions(&bn->out) > 1);
}

/*
 * Return 1 if task ${j} is an addition fused into a norm that takes the output
 * of task ${i} as its shortcut.
 */
static int
cpu_fuse_is_shortcut(const struct task *task, int j, int i)
{
	const struct task *add = &task[j];
	const struct norm *n = chains_of(&task[add->fused_into],
	    cpu_fuse_norm(add));

	return n != NULL && n->add == add && add->op->in[n->res] == i;
}

/*
 * Return 1 if a reader of the output of task ${i}, other than ${shift}, needs
 * it unshifted.
 */
static int
cpu_fuse_read_unshifted(const struct task *task, int n, int i, int shift)
{
	for (int j = i + 1; j < n; j++)
		for (int k = 0; k < task[j].op->nin; k++)
			if (task[j].op->in[k] == i && j != shift &&
			    !cpu_fuse_is_shortcut(task, j, i))
				return 1;
	return 0;
}

/*
 * Fuse the shift into the task before it.  If all other readers of its output
 * are shortcuts of fused norms, they read the shifted activation.  The
 * unshifted output is then not stored.  A shift from past frames only stays
 * unfused.
 */
static void
cpu_fuse_shift(struct task *task, int count, struct norm *n)
{
	int i = n->tail->index;

	if (n->shift != NULL && n->shift->op->shift.past)
		n->shift = NULL;
	if (n->shift == NULL)
		return;
	chains_fuse(n->shift, i);
	n->shift->materialized = 1;
	if (cpu_fuse_read_unshifted(task, count, i, n->shift->index) ||
	    (cpu_fuse_norm(n->tail) == &cpu_bn ?
	    !norm_whole_blocks(n->shift, cpu_lanes()) :
	    !norm_whole_blocks(n->shift, 32) && n->readers > 1))
		return;
	n->tail->materialized = 0;
	n->tail->alias_of = n->shift->index;
}

/*
 * Keep outputs of fewer bytes.  For tsm_r50 at 2x8x224, they are 3 % of the
 * peak memory in fp32 (36 of 1354 MB) and 5 % in bf16; larger outputs are
 * another 26 %.  Recomputing all outputs of tsm_tiny at 8x8x48:
 *
 *	fp32	costs 3 of 67 ms	saves 11 MB
 *	bf16	costs 4 of 54 ms	saves 6 MB
 */
#define RECOMPUTE_MIN ((size_t)4 << 20)

/*
 * Choose the outputs to recompute for the backward pass instead of keeping
 * them.
 *
 * Recomputing reads the input of the norm, which stays in memory anyway, and
 * the shortcut, and writes each output.  Without a shortcut, or if the output
 * is stored twice, it moves at most two bytes for each byte not kept.  The
 * input of a frozen norm need not stay in memory: then the output must be
 * stored twice.
 */
static void
cpu_fuse_choose_recompute(struct norm *n)
{
	const struct device *d = n->bn->device;
	int twice = n->shift != NULL && n->tail->materialized;

	if (n->tail->no_grad ||
	    ((n->add != NULL || !n->bn->needs_weight_grad) && !twice) ||
	    device_bytes(d, &n->bn->out) < (d->recompute_min > 0 ?
	    d->recompute_min : RECOMPUTE_MIN))
		return;
	n->tail->recompute = n->tail->materialized;
	if (n->shift != NULL)
		n->shift->recompute = 1;
}

/* Find the chain whose shifted activation holds the shortcut of ${n}. */
static void
cpu_fuse_find_shortcut(struct task *task, struct norm *n)
{
	const struct task *from;

	if (n->add == NULL)
		return;
	from = &task[n->add->op->in[n->res]];
	if (from->alias_of != from->index)
		n->shortcut_home = &task[from->fused_into];
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
			cpu_fuse_find_shortcut(task, c);
			cpu_fuse_choose_recompute(c);
			norm_choose_mask(c, c->tail->recompute ||
			    (c->shift != NULL && c->shift->recompute));
		}
}
