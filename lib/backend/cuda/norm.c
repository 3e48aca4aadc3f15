/*
 * Batch normalization over a microbatch, and the operators fused with it, which
 * are the addition of a shortcut, the relu and the temporal shift
 * (backend/chains.h): the launches of the kernels in norm_body.h.
 */
#include <math.h>

#include "backend/chains.h"
#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "backend/peers.h"
#include "base/number.h"

/* A pass: the operators of the chain, and the layout of the task's memory. */
struct cuda_norm_pass {
	struct cuda *c;
	struct norm n;
	const struct task *bn;
	struct matrix m;
	size_t channels, bytes, row;	/* channels with padding; bytes of x;
					 * bytes of a float per channel */
	struct rows sums, copy;
	size_t saved, scratch;		/* bytes of the memory */
	float *mean, *rstd;		/* saved */
	uint8_t *mask;
	size_t masks;			/* bytes */
	double *part, *packed;		/* scratch */
	size_t parts;			/* bytes */
	float *k;
	const void *dy, *dy_moved;	/* backward; one of them may be NULL */
	struct moved moved;
	int shut;			/* SHUT_*: how the backward pass knows
					 * where the relu was 0 */
};

/*
 * Return the shift as seen from the source: the frame that a row moves to.
 * op_shift() is seen from the destination.
 */
static struct moved
cuda_norm_moved_of(const struct task *shift)
{
	const struct dims *d = &shift->out;
	int past = shift->op->shift.past;

	return (struct moved){ (unsigned)(d->c / shift->op->shift.fold),
		(unsigned)d->t, (unsigned)(d->h * d->w),
		{ past ? 1 : -1, past ? 0 : 1 },
		rows_divisor_of((unsigned)(d->h * d->w)),
		rows_divisor_of((unsigned)d->t) };
}

/*
 * Return the pass of task ${t}: its chain, or the bn alone.  Saved memory has
 * mean, rstd and the mask, scratch memory partial sums, packed statistics and
 * k.  Both may be NULL if only sizes are wanted.
 */
static struct cuda_norm_pass
cuda_norm_pass_open(const struct task *t)
{
	const struct norm alone = { .bn = (struct task *)t,
		.tail = (struct task *)t };
	const struct norm *n = t->priv != NULL ? t->priv : &alone;
	struct cuda_norm_pass p = { .c = cuda_of(t), .n = *n, .bn = n->bn };
	const struct dims *d = &t->out;

	p.channels = (size_t)cuda_padded(d->c);
	p.m = rows_of_positions(d);
	p.bytes = cuda_bytes(p.c, d);
	p.row = p.channels * sizeof(float);
	p.sums = rows_sum(p.c, &p.m);
	p.copy = rows_copy(p.c, &p.m);
	p.parts = 2 * p.sums.parts * p.sums.c * sizeof(double);
	p.masks = n->saves_mask ? cuda_count(d) / cuda_lanes(p.c->type) : 0;
	p.saved = 2 * p.row + p.masks;
	p.scratch = p.parts + 2 * p.channels * sizeof(double) + 3 * p.row;
	p.mean = t->saved;
	if (t->saved != NULL) {
		p.rstd = p.mean + p.channels;
		p.mask = n->saves_mask ? (uint8_t *)(p.rstd + p.channels) :
		    NULL;
	}
	p.part = t->scratch;
	if (t->scratch != NULL) {
		p.packed = (double *)((char *)t->scratch + p.parts);
		p.k = (float *)(p.packed + 2 * p.channels);
	}
	p.dy = t->dy;
	if (n->shift != NULL) {
		p.dy_moved = n->shift->dy;
		p.moved = cuda_norm_moved_of(n->shift);
	}
	p.shut = n->relu == NULL ? SHUT_NEVER : n->saves_mask ? SHUT_MASK :
	    SHUT_X;
	return p;
}

/*
 * Return the variant of ${kernel} for a backward pass (NORM_BACK of kernels.h).
 */
static int
cuda_norm_back_kernel(const struct cuda_norm_pass *p, enum gpu_kernel kernel)
{
	return (int)kernel + (p->dy_moved != NULL ? SHUTS : 0) + p->shut;
}

static size_t
cuda_norm_saved_of(const struct task *t)
{
	return cuda_norm_pass_open(t).saved;
}

static size_t
cuda_norm_scratch_of(const struct task *t)
{
	return cuda_norm_pass_open(t).scratch;
}

/*
 * Return 1 if ${bn} uses the statistics of the microbatch, or 0 if it uses
 * running statistics.
 */
static int
cuda_norm_uses_batch(const struct task *bn)
{
	return bn->needs_weight_grad && !bn->op->bn.fixed;
}

/* ---- forward ---- */

static void
cuda_norm_run_sums(const struct cuda_norm_pass *p)
{
	struct norm_sums a = { .rows = p->sums, .x = p->bn->x[0],
		.part = p->part };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_SUMS,
	    rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.x, p->bytes);
	cuda_writes(&k, p->part, p->parts);
	cuda_launch(p->c, &k);
}

/*
 * Compute the statistics from the sums of this rank, or, if ${unpacks}, from
 * the summed statistics of all ranks.
 */
static void
cuda_norm_run_finish(const struct cuda_norm_pass *p, int unpacks)
{
	size_t packed = 2 * p->channels * sizeof(double);
	const struct task *bn = p->bn;
	double count = (double)p->m.m;
	struct norm_finish a = { .part = p->part, .parts = p->sums.parts,
		.c = p->sums.c, .channels = (unsigned)bn->out.c,
		.x = bn->x[0], .count = count, .all = peers_count(bn, count),
		.eps = bn->op->bn.eps,
		.packed = bn->peers != NULL ? p->packed : NULL,
		.unpacks = unpacks, .mean = p->mean, .rstd = p->rstd,
		.to_mean = bn->dw[2], .to_var = bn->dw[3] };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH,
	    cuda_pieces(p->channels, 8), 1, a);

	if (bn->op->nparam > 4) {
		a.to_between = bn->dw[4];
		a.running = bn->w[2];
	}
	if (unpacks) {
		cuda_reads(&k, a.packed, packed);
	} else {
		cuda_reads(&k, a.part, p->parts);
		cuda_reads(&k, a.x, p->channels * cuda_size(p->c->type));
	}
	if (a.packed != NULL && !unpacks) {
		cuda_writes(&k, a.packed, packed);
	} else {
		cuda_writes(&k, a.mean, 2 * p->row);
		cuda_writes(&k, a.to_mean, p->row);
		cuda_writes(&k, a.to_var, p->row);
		cuda_writes(&k, a.to_between, p->row);
		cuda_reads(&k, a.running, p->row);
	}
	cuda_launch(p->c, &k);
}

static void
cuda_norm_run_running(const struct cuda_norm_pass *p)
{
	const struct task *bn = p->bn;
	struct norm_running a = { .mean_in = bn->w[2], .var_in = bn->w[3],
		.mean = p->mean, .rstd = p->rstd,
		.c = (unsigned)p->channels, .eps = bn->op->bn.eps };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_RUNNING,
	    cuda_pieces(p->channels, THREADS), 1, a);

	if (bn->needs_weight_grad) {
		a.to_mean = bn->dw[2];
		a.to_var = bn->dw[3];
	}
	cuda_reads(&k, a.mean_in, p->row);
	cuda_reads(&k, a.var_in, p->row);
	cuda_writes(&k, a.mean, 2 * p->row);
	cuda_writes(&k, a.to_mean, p->row);
	cuda_writes(&k, a.to_var, p->row);
	cuda_launch(p->c, &k);
}

static void
cuda_norm_run_apply(const struct cuda_norm_pass *p)
{
	const struct norm *n = &p->n;
	struct norm_apply a = { .rows = p->copy, .x = p->bn->x[0],
		.res = n->add != NULL ? n->add->x[n->res] : NULL,
		.mean = p->mean, .rstd = p->rstd, .scale = p->bn->w[0],
		.offset = p->bn->w[1], .mask = p->mask,
		.relu = n->relu != NULL, .moved = p->moved,
		.y = n->tail->materialized ? n->tail->y : NULL,
		.y_moved = n->shift != NULL ? n->shift->y : NULL };
	struct launch k = CUDA_KERNEL(p->c, a.res != NULL ? GPU_NORM_APPLY_ADD :
	    GPU_NORM_APPLY, rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.mean, 2 * p->row);
	cuda_reads(&k, a.x, p->bytes);
	cuda_reads(&k, a.res, p->bytes);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_writes(&k, a.y, p->bytes);
	cuda_writes(&k, a.y_moved, p->bytes);
	cuda_writes(&k, a.mask, p->masks);
	cuda_launch(p->c, &k);
}

/*
 * Compute mean and rstd.  With sync BN, pack the sums, sum them over the ranks,
 * and unpack.
 */
static void
cuda_norm_run_statistics(const struct cuda_norm_pass *p)
{
	if (!cuda_norm_uses_batch(p->bn)) {
		cuda_norm_run_running(p);
		return;
	}
	cuda_norm_run_sums(p);
	cuda_norm_run_finish(p, 0);
	if (p->bn->peers != NULL) {
		peers_sum(p->bn, p->packed);
		cuda_norm_run_finish(p, 1);
	}
}

static void
cuda_norm_forward(struct task *t)
{
	struct cuda_norm_pass p = cuda_norm_pass_open(t);

	cuda_norm_run_statistics(&p);
	cuda_norm_run_apply(&p);
}

/* ---- backward ---- */

static void
cuda_norm_run_sums_back(const struct cuda_norm_pass *p)
{
	struct norm_sums a = { .rows = p->sums, .x = p->bn->x[0],
		.dy = p->dy, .mean = p->mean, .rstd = p->rstd,
		.scale = p->bn->w[0], .offset = p->bn->w[1], .mask = p->mask,
		.shut = p->shut, .part = p->part, .moved = p->moved,
		.dy_moved = p->dy_moved };
	struct launch k = CUDA_KERNEL(p->c, cuda_norm_back_kernel(p,
	    GPU_NORM_SUMS_BACK_NEVER), rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.x, p->bytes);
	cuda_reads(&k, a.dy, p->bytes);
	cuda_reads(&k, a.dy_moved, p->bytes);
	cuda_reads(&k, a.mean, 2 * p->row);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_reads(&k, a.mask, p->masks);
	cuda_writes(&k, a.part, p->parts);
	cuda_launch(p->c, &k);
}

static void
cuda_norm_run_finish_back(const struct cuda_norm_pass *p, int unpacks)
{
	const struct task *bn = p->bn;
	int packs = bn->peers != NULL && cuda_norm_uses_batch(bn);
	struct norm_finish_back a = { .part = p->part, .parts = p->sums.parts,
		.c = p->sums.c, .channels = (unsigned)bn->out.c,
		.all = peers_count(bn, (double)p->m.m),
		.packed = packs ? p->packed : NULL, .unpacks = unpacks,
		.rstd = p->rstd, .scale = bn->w[0], .dscale = bn->dw[0],
		.doffset = bn->dw[1], .k = bn->op->bn.fixed ? NULL : p->k };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH_BACK,
	    cuda_pieces(p->channels, 8), 1, a);
	size_t bytes = 2 * p->channels * sizeof(double);

	cuda_reads(&k, a.rstd, p->row);
	cuda_reads(&k, a.scale, p->row);
	if (unpacks) {
		cuda_reads(&k, a.packed, bytes);
	} else {
		cuda_reads(&k, a.part, p->parts);
		cuda_writes(&k, a.dscale, p->row);
		cuda_writes(&k, a.doffset, p->row);
	}
	if (packs && !unpacks)
		cuda_writes(&k, a.packed, bytes);
	else
		cuda_writes(&k, a.k, 3 * p->row);
	cuda_launch(p->c, &k);
}

/* Store dx and dres. */
static void
cuda_norm_run_apply_back(const struct cuda_norm_pass *p)
{
	const struct norm *n = &p->n;
	const struct task *bn = p->bn;
	struct norm_apply_back a = { .rows = p->copy, .dy = p->dy,
		.mean = p->mean, .rstd = p->rstd, .scale = bn->w[0],
		.offset = bn->w[1],
		.k = cuda_norm_uses_batch(bn) ? p->k : NULL,
		.mask = p->mask, .shut = p->shut, .dx = bn->dx[0],
		.accumulate = bn->accumulate[0], .moved = p->moved,
		.dy_moved = p->dy_moved };
	struct launch k = CUDA_KERNEL(p->c, cuda_norm_back_kernel(p,
	    GPU_NORM_APPLY_BACK_NEVER), rows_blocks(&a.rows, &p->m), 1, a);

	if (n->add != NULL) {
		a.dres = n->add->dx[n->res];
		a.accumulate_res = n->add->accumulate[n->res];
	}
	if (a.dx == NULL && a.dres == NULL)
		return;
	if (a.k != NULL || a.shut == SHUT_X)
		cuda_reads(&k, a.x = bn->x[0], p->bytes);
	cuda_reads(&k, a.dy, p->bytes);
	cuda_reads(&k, a.dy_moved, p->bytes);
	cuda_reads(&k, a.mean, 2 * p->row);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_reads(&k, a.k, a.k != NULL ? 3 * p->row : 0);
	cuda_reads(&k, a.mask, p->masks);
	cuda_touches(&k, a.dres, p->bytes, a.accumulate_res);
	if (a.dx != a.dres)
		cuda_touches(&k, a.dx, p->bytes, a.accumulate);
	cuda_launch(p->c, &k);
}

/*
 * Compute the gradients of scale and offset, and the factors of dx, then dx
 * and dres.
 */
static void
cuda_norm_backward(struct task *t)
{
	struct cuda_norm_pass p = cuda_norm_pass_open(t);

	if (p.bn->needs_weight_grad) {
		cuda_norm_run_sums_back(&p);
		cuda_norm_run_finish_back(&p, 0);
		if (cuda_norm_uses_batch(p.bn) && p.bn->peers != NULL) {
			peers_sum(p.bn, p.packed);
			cuda_norm_run_finish_back(&p, 1);
		}
	}
	cuda_norm_run_apply_back(&p);
}

/* ---- fusion ---- */

/*
 * Fuse the temporal shift of a norm's output with the norm, which stores
 * vectors where the shift moves them.  This saves a read and a write.  The
 * moved channels must be whole vectors.  If other tasks read the output, it is
 * stored unshifted, too.
 */
static void
cuda_norm_fuse_shift(struct norm *n)
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

void
cuda_fuse(struct device *d, struct task *task, int n)
{
	struct norm *c;

	(void)d;
	chains_find(task, n, &cuda_bn, NULL);
	for (int i = 0; i < n; i++)
		if ((c = chains_of(&task[i], &cuda_bn)) != NULL) {
			norm_choose_mask(c, 0);
			cuda_norm_fuse_shift(c);
		}
	packing_group(task, n);
}

const struct op_impl cuda_bn = {
	.reads = READS_X_DW, .release = norm_release,
	.saved = cuda_norm_saved_of, .scratch = cuda_norm_scratch_of,
	.forward = cuda_norm_forward, .backward = cuda_norm_backward,
};
