/*
 * Operator fusion: which chains of a plan (backend/chains.h) run as one pass,
 * and which are fused with convolutions (conv.h).
 */
#include "backend/cuda/conv.h"
#include "backend/cuda/norm.h"
#include "backend/cuda/rows.h"

/*
 * Fuse the temporal shift of a norm's output with the norm, which stores
 * vectors where the shift moves them.  This saves a read and a write.  The
 * moved channels must be whole vectors.  If other tasks read the output, it is
 * stored unshifted, too.
 */
static void
cuda_fuse_shift(struct norm *n)
{
	int lanes = (int)cuda_lanes(cuda_of(n->tail)->type);
	int c = n->tail->out.c;

	if (n->shift != NULL && (n->tail == n->bn ||
	    c / n->shift->op->shift.fold % lanes != 0))
		n->shift = NULL;
	if (n->shift == NULL)
		return;
	chains_fuse(n->shift, n->tail->index);
	n->shift->materialized = 1;
	n->tail->materialized = n->readers > 1;
}

/* Fuse a norm with the convolution that alone reads its output. */
static void
cuda_fuse_conv(struct norm *n)
{
	if (n->after != NULL && (n->add != NULL || n->relu == NULL ||
	    n->saves_mask || !cuda_norm_uses_batch(n->bn) ||
	    !conv_fuse_norm(n->after, n)))
		n->after = NULL;
	if (n->after == NULL)
		return;
	n->bn->fused_into = n->after->index;
	chains_fuse(n->tail, n->after->index);
}

/* Let the convolution before a bn compute the sums that the bn begins with. */
static void
cuda_fuse_sums(struct norm *n)
{
	if (n->before != NULL && (!cuda_norm_uses_batch(n->bn) ||
	    !conv_fuse_sums(n->before)))
		n->before = NULL;
	if (n->before != NULL)
		n->before->shares_saved = 1;
}

void
cuda_fuse(struct device *d, struct task *task, int n)
{
	struct norm *c;

	(void)d;
	chains_find(task, n, &cuda_bn, NULL);
	for (int i = 0; i < n; i++)
		if ((c = chains_of(&task[i], &cuda_bn)) != NULL) {
			norm_choose_mask(c, 0);
			cuda_fuse_shift(c);
			cuda_fuse_conv(c);
		}
	/*
	 * After all fusions with convolutions, because a convolution that
	 * computes a norm leaves the sums of its output without a further plan.
	 */
	for (int i = 0; i < n; i++)
		if (task[i].op->kind == OP_BN)
			cuda_fuse_sums(task[i].priv);
	packing_group(task, n);
}
