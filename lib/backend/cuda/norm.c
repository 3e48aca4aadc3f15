/*
 * Batch normalization over a microbatch, and the operators fused with it
 * (norm.h): the launches of the kernels in norm_body.h.
 */
#include <math.h>

#include "backend/cuda/conv.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/norm.h"
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
	char *factors;			/* saved, for a fused convolution:
					 * [2][channels] in the storage type */
	size_t factors_bytes;
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
 * Lay out saved memory as mean, rstd, then mask or factors, and scratch memory
 * as partial sums, packed statistics, then k.  ${saved} and ${scratch} may be
 * NULL if only sizes are wanted.
 */
static struct cuda_norm_pass
cuda_norm_pass_of(const struct norm *n, void *saved, void *scratch)
{
	struct cuda_norm_pass p = { .c = cuda_of(n->tail), .n = *n,
	    .bn = n->bn };
	const struct dims *d = &n->tail->out;

	p.channels = (size_t)cuda_padded(d->c);
	p.m = rows_of_positions(d);
	p.bytes = cuda_bytes(p.c, d);
	p.row = p.channels * sizeof(float);
	p.sums = rows_sum(p.c, &p.m);
	p.copy = rows_copy(p.c, &p.m);
	p.parts = 2 * p.sums.parts * p.sums.c * sizeof(double);
	p.masks = n->saves_mask ? cuda_count(d) / cuda_lanes(p.c->type) : 0;
	p.factors_bytes = n->after != NULL ? 2 * p.channels *
	    cuda_size(p.c->type) : 0;
	p.saved = 2 * p.row + p.masks + p.factors_bytes;
	p.scratch = p.parts + 2 * p.channels * sizeof(double) + 3 * p.row;
	p.mean = saved;
	if (saved != NULL) {
		p.rstd = p.mean + p.channels;
		p.mask = n->saves_mask ? (uint8_t *)(p.rstd + p.channels) :
		    NULL;
		p.factors = n->after != NULL ? (char *)(p.rstd + p.channels) :
		    NULL;
	}
	p.part = scratch;
	if (scratch != NULL) {
		p.packed = (double *)((char *)scratch + p.parts);
		p.k = (float *)(p.packed + 2 * p.channels);
	}
	p.dy = n->tail->dy;
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

/* Return the pass of task ${t}: its chain, or the bn alone. */
static struct cuda_norm_pass
cuda_norm_pass_open(const struct task *t)
{
	const struct norm alone = { .bn = (struct task *)t,
		.tail = (struct task *)t };

	return cuda_norm_pass_of(t->priv != NULL ? t->priv : &alone, t->saved,
	    t->scratch);
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

int
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
 * Return the arguments that finish the sums of this rank, or, if ${unpacks},
 * the summed statistics of all ranks.
 */
static struct norm_finish
cuda_norm_finish_args(const struct cuda_norm_pass *p, int hears)
{
	const struct task *bn = p->bn;
	double count = (double)p->m.m;
	struct norm_finish a = { .part = p->part, .parts = p->sums.parts,
		.c = p->sums.c, .channels = (unsigned)bn->out.c,
		.x = bn->x[0], .count = count, .all = peers_count(bn, count),
		.eps = bn->op->bn.eps,
		.packed = bn->peers != NULL ? p->packed : NULL,
		.unpacks = hears, .mean = p->mean, .rstd = p->rstd,
		.to_mean = bn->dw[2], .to_var = bn->dw[3],
		.sums = p->n.before != NULL ? conv_sums(p->n.before) : NULL,
		.scale = bn->w[0], .offset = bn->w[1], .factors = p->factors };

	if (bn->op->nparam > 4) {
		a.to_between = bn->dw[4];
		a.running = bn->w[2];
	}
	return a;
}

/* Declare the memory that a kernel touches with these arguments. */
static void
cuda_norm_finish_access(const struct cuda_norm_pass *p,
    const struct norm_finish *a, struct launch *k)
{
	if (!a->unpacks && a->sums != NULL) {
		cuda_reads(k, a->sums, 2 * p->row);
	} else if (!a->unpacks) {
		cuda_reads(k, a->part, p->parts);
		cuda_reads(k, a->x, p->channels * cuda_size(p->c->type));
	} else {
		cuda_reads(k, a->packed, 2 * p->channels * sizeof(double));
	}
	if (a->packed != NULL && !a->unpacks) {
		cuda_writes(k, a->packed, 2 * p->channels * sizeof(double));
		return;
	}
	cuda_writes(k, a->mean, 2 * p->row);
	cuda_writes(k, a->to_mean, p->row);
	cuda_writes(k, a->to_var, p->row);
	cuda_writes(k, a->to_between, p->row);
	cuda_reads(k, a->running, p->row);
	cuda_writes(k, a->factors, p->factors_bytes);
	cuda_reads(k, a->scale, a->factors != NULL ? p->row : 0);
	cuda_reads(k, a->offset, a->factors != NULL ? p->row : 0);
}

static void
cuda_norm_run_finish(const struct cuda_norm_pass *p, int hears)
{
	struct norm_finish a = cuda_norm_finish_args(p, hears);
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH,
	    cuda_pieces(p->channels, 8), 1, a);

	cuda_norm_finish_access(p, &a, &k);
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

/*
 * Return 1 if sums that a convolution wrote are finished by the kernel that
 * uses the results (norm_body.h).  That saves a launch, an estimated 3 us, but
 * each block then takes an estimated 1.4 us longer.  With at most eight blocks
 * for each of 132 multiprocessors, the launch takes longer.
 */
static int
cuda_norm_finishes(const struct cuda_norm_pass *p)
{
	return p->bn->peers == NULL && rows_blocks(&p->copy, &p->m) <= 1056;
}

/* Return 1 if the kernel that applies the norm also finishes the statistics. */
static int
cuda_norm_apply_finishes(const struct cuda_norm_pass *p)
{
	return p->n.before != NULL && p->n.after == NULL &&
	    cuda_norm_finishes(p);
}

/*
 * Compute mean and rstd.  With sync BN, pack the sums, sum them over the ranks,
 * and unpack.
 */
static void
cuda_norm_run_apply(const struct cuda_norm_pass *p)
{
	/* By fused finish, and by residual. */
	static const enum gpu_kernel kernel[2][2] = {
		{ GPU_NORM_APPLY, GPU_NORM_APPLY_ADD },
		{ GPU_NORM_APPLY_FINISH, GPU_NORM_APPLY_ADD_FINISH } };
	const int finishes = cuda_norm_apply_finishes(p);
	const struct norm *n = &p->n;
	struct norm_apply a = { .rows = p->copy, .x = p->bn->x[0],
		.res = n->add != NULL ? n->add->x[n->res] : NULL,
		.mean = p->mean, .rstd = p->rstd, .scale = p->bn->w[0],
		.offset = p->bn->w[1], .mask = p->mask,
		.relu = n->relu != NULL, .moved = p->moved,
		.y = n->tail->materialized ? n->tail->y : NULL,
		.y_moved = n->shift != NULL ? n->shift->y : NULL };
	struct launch k = CUDA_KERNEL(p->c, kernel[finishes][a.res != NULL],
	    rows_blocks(&a.rows, &p->m), 1, a);

	if (finishes) {
		a.finish = cuda_norm_finish_args(p, 0);
		cuda_norm_finish_access(p, &a.finish, &k);
	} else {
		cuda_reads(&k, a.mean, 2 * p->row);
	}
	cuda_reads(&k, a.x, p->bytes);
	cuda_reads(&k, a.res, p->bytes);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_writes(&k, a.y, p->bytes);
	cuda_writes(&k, a.y_moved, p->bytes);
	cuda_writes(&k, a.mask, p->masks);
	cuda_launch(p->c, &k);
}

static void
cuda_norm_run_statistics(const struct cuda_norm_pass *p)
{
	if (!cuda_norm_uses_batch(p->bn)) {
		cuda_norm_run_running(p);
		return;
	}
	if (p->n.before == NULL)
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

	if (!cuda_norm_apply_finishes(&p))
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

static struct norm_finish_back
cuda_norm_finish_back_args(const struct cuda_norm_pass *p, int hears,
    const float *sums)
{
	const struct task *bn = p->bn;
	int tells = bn->peers != NULL && cuda_norm_uses_batch(bn);

	return (struct norm_finish_back){ .part = p->part,
		.parts = p->sums.parts, .c = p->sums.c,
		.channels = (unsigned)bn->out.c,
		.all = peers_count(bn, (double)p->m.m),
		.packed = tells ? p->packed : NULL, .unpacks = hears,
		.rstd = p->rstd, .scale = bn->w[0], .dscale = bn->dw[0],
		.doffset = bn->dw[1], .k = bn->op->bn.fixed ? NULL : p->k,
		.sums = sums };
}

/*
 * Declare the memory that a kernel touches with these arguments, except packed
 * and k.
 */
static void
cuda_norm_finish_back_access(const struct cuda_norm_pass *p,
    const struct norm_finish_back *a, struct launch *k)
{
	cuda_reads(k, a->rstd, p->row);
	cuda_reads(k, a->scale, p->row);
	if (a->unpacks)
		return;
	if (a->sums != NULL)
		cuda_reads(k, a->sums, 2 * p->row);
	else
		cuda_reads(k, a->part, p->parts);
	cuda_writes(k, a->dscale, p->row);
	cuda_writes(k, a->doffset, p->row);
}

static void
cuda_norm_run_finish_back(const struct cuda_norm_pass *p, int hears,
    const float *sums)
{
	struct norm_finish_back a = cuda_norm_finish_back_args(p, hears, sums);
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH_BACK,
	    cuda_pieces(p->channels, 8), 1, a);
	size_t bytes = 2 * p->channels * sizeof(double);

	cuda_norm_finish_back_access(p, &a, &k);
	if (hears)
		cuda_reads(&k, a.packed, bytes);
	if (a.packed != NULL && !hears)
		cuda_writes(&k, a.packed, bytes);
	else
		cuda_writes(&k, a.k, 3 * p->row);
	cuda_launch(p->c, &k);
}

/*
 * Store dx and dres.  If ${sums} is not NULL, the kernel first computes its
 * factors from these sums; otherwise cuda_norm_run_gradients has done so.
 */
static void
cuda_norm_run_apply_back(const struct cuda_norm_pass *p, const float *sums)
{
	const struct norm *n = &p->n;
	const struct task *bn = p->bn;
	struct norm_apply_back a = { .rows = p->copy, .dy = p->dy,
		.mean = p->mean, .rstd = p->rstd, .scale = bn->w[0],
		.offset = bn->w[1], .k = cuda_norm_uses_batch(bn) &&
		sums == NULL ?
		p->k : NULL,
		.mask = p->mask, .shut = p->shut, .dx = bn->dx[0],
		.accumulate = bn->accumulate[0], .moved = p->moved,
		.dy_moved = p->dy_moved };
	struct launch k = CUDA_KERNEL(p->c, sums != NULL ?
	    (int)GPU_NORM_APPLY_BACK_FINISH :
	    cuda_norm_back_kernel(p, GPU_NORM_APPLY_BACK_NEVER),
	    rows_blocks(&a.rows, &p->m), 1, a);

	if (n->add != NULL) {
		a.dres = n->add->dx[n->res];
		a.accumulate_res = n->add->accumulate[n->res];
	}
	if (a.dx == NULL && a.dres == NULL)
		return;
	if (a.k != NULL || sums != NULL || a.shut == SHUT_X)
		cuda_reads(&k, a.x = bn->x[0], p->bytes);
	if (sums != NULL) {
		a.finish = cuda_norm_finish_back_args(p, 0, sums);
		cuda_norm_finish_back_access(p, &a.finish, &k);
	}
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
 * Compute the gradients of scale and offset, and the factors of dx, from
 * partial sums, or from ${sums}, which a convolution wrote.
 */
static void
cuda_norm_run_gradients(const struct cuda_norm_pass *p, const float *sums)
{
	cuda_norm_run_finish_back(p, 0, sums);
	if (cuda_norm_uses_batch(p->bn) && p->bn->peers != NULL) {
		peers_sum(p->bn, p->packed);
		cuda_norm_run_finish_back(p, 1, NULL);
	}
}

static void
cuda_norm_backward(struct task *t)
{
	struct cuda_norm_pass p = cuda_norm_pass_open(t);

	if (p.bn->needs_weight_grad) {
		cuda_norm_run_sums_back(&p);
		cuda_norm_run_gradients(&p, NULL);
	}
	cuda_norm_run_apply_back(&p, NULL);
}

/* ---- a norm that a convolution computes ---- */

size_t
cuda_norm_saved(const struct norm *n)
{
	return cuda_norm_pass_of(n, NULL, NULL).saved;
}

size_t
cuda_norm_scratch(const struct norm *n)
{
	return cuda_norm_pass_of(n, NULL, NULL).scratch;
}

void
cuda_norm_statistics(const struct norm *n, void *saved, void *scratch)
{
	struct cuda_norm_pass p = cuda_norm_pass_of(n, saved, scratch);

	cuda_norm_run_statistics(&p);
}

struct conv_operands
cuda_norm_operands(const struct norm *n, void *saved, int back)
{
	struct cuda_norm_pass p = cuda_norm_pass_of(n, saved, NULL);

	if (back)
		return (struct conv_operands){ .scale = p.bn->w[0],
			.offset = p.bn->w[1], .mean = p.mean, .rstd = p.rstd,
			.normed = p.bn->x[0] };
	return (struct conv_operands){ .scale = p.factors,
		.offset = p.factors + p.factors_bytes / 2 };
}

void
cuda_norm_back(const struct norm *n, void *saved, void *scratch,
    const float *sums, const void *dy)
{
	struct cuda_norm_pass p = cuda_norm_pass_of(n, saved, scratch);

	p.dy = dy;
	p.shut = SHUT_NEVER;
	if (cuda_norm_finishes(&p) && p.bn->dx[0] != NULL) {
		cuda_norm_run_apply_back(&p, sums);
		return;
	}
	cuda_norm_run_gradients(&p, sums);
	cuda_norm_run_apply_back(&p, NULL);
}

/* ---- one kernel, for timing ---- */

static struct cuda_norm_pass
cuda_norm_pass_alone(const struct task *t)
{
	struct task *all = (struct task *)t;
	const struct norm n = { .bn = all, .tail = all, .relu = all };

	return cuda_norm_pass_of(&n, t->saved, t->scratch);
}

void
cuda_norm_part(const struct task *t, enum norm_part part)
{
	static void (*const run[])(const struct cuda_norm_pass *) = {
		[PART_SUMS] = cuda_norm_run_sums,
		[PART_APPLY] = cuda_norm_run_apply,
		[PART_SUMS_BACK] = cuda_norm_run_sums_back };
	struct cuda_norm_pass p = cuda_norm_pass_alone(t);

	run[part](&p);
}

size_t
cuda_norm_memory_bytes(const struct task *t, int scratch)
{
	struct cuda_norm_pass p = cuda_norm_pass_alone(t);

	return scratch ? p.scratch : p.saved;
}

const struct op_impl cuda_bn = {
	.reads = READS_X_DW, .release = norm_release,
	.saved = cuda_norm_saved_of, .scratch = cuda_norm_scratch_of,
	.forward = cuda_norm_forward, .backward = cuda_norm_backward,
};
