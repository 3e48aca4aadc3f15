/* Batch normalisation over a microbatch, and what is fused with it (norm.h). */
#include <math.h>
#include <stdlib.h>

#include "backend/cuda/kernels.h"
#include "backend/cuda/norm.h"
#include "backend/cuda/rows.h"
#include "backend/peers.h"
#include "base/number.h"

/* A pass: the operators, and what lies where in the memory of the task. */
struct pass {
	struct cuda *c;
	struct norm n;
	const struct task *bn;
	struct matrix m;
	size_t channels, bytes, row;	/* bytes of x, and of a float a channel */
	struct rows sums, copy;
	float *mean, *rstd;		/* saved */
	uint8_t *mask;
	size_t masks;			/* bytes */
	double *part, *told;		/* scratch */
	size_t parts;			/* bytes */
	float *k;
};

static struct pass
pass_open(const struct task *t)
{
	struct pass p = { .c = cuda_of(t) };
	const struct dims *d = &t->out;
	char *scratch = t->scratch;

	if (t->priv != NULL)
		p.n = *(const struct norm *)t->priv;
	else
		p.n = (struct norm){ .bn = t, .tail = t };
	p.bn = p.n.bn;
	p.channels = (size_t)d->c;
	p.m = (struct matrix){ 1, dims_count(d) / p.channels, p.channels, 1, 0 };
	p.bytes = cuda_bytes(p.c, d);
	p.row = p.channels * sizeof(float);
	p.sums = rows_sum(p.c, &p.m);
	p.copy = rows_copy(p.c, &p.m);
	p.parts = 2 * p.sums.parts * p.sums.c * sizeof(double);
	p.masks = p.n.masks ? (dims_count(d) + cuda_lanes(p.c->type) - 1) /
	    cuda_lanes(p.c->type) : 0;
	p.mean = t->saved;
	if (t->saved != NULL) {
		p.rstd = p.mean + p.channels;
		p.mask = p.n.masks ? (uint8_t *)(p.rstd + p.channels) : NULL;
	}
	p.part = t->scratch;
	if (scratch != NULL) {
		p.told = (double *)(scratch + p.parts);
		p.k = (float *)(p.told + 2 * p.channels);
	}
	return p;
}

static size_t
saved(const struct task *t)
{
	struct pass p = pass_open(t);

	return 2 * p.row + p.masks;
}

static size_t
scratch(const struct task *t)
{
	struct pass p = pass_open(t);

	return p.parts + 2 * p.channels * sizeof(double) + 3 * p.row;
}

/* Statistics are those of the microbatch, not of the past. */
static int
measures(const struct task *bn)
{
	return bn->wants_dw && !bn->op->fixed;
}

/* ---- forward ---- */

static void
run_sums(const struct pass *p)
{
	struct norm_sums a = { .rows = p->sums, .x = p->bn->x[0],
		.part = p->part };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_SUMS,
	    rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.x, p->bytes);
	cuda_writes(&k, p->part, p->parts);
	cuda_launch(p->c, &k);
}

/* Of the sums here; ${hears}: of what all peers told. */
static void
run_finish(const struct pass *p, int hears)
{
	const struct task *bn = p->bn;
	double count = (double)p->m.m;
	struct norm_finish a = { .part = p->part, .parts = p->sums.parts,
		.folds = rows_folds(&p->sums), .period = p->sums.period,
		.x = bn->x[0], .count = count, .all = peers_count(bn, count),
		.eps = bn->op->eps, .told = bn->peers != NULL ? p->told : NULL,
		.hears = hears, .mean = p->mean, .rstd = p->rstd,
		.to_mean = bn->dw[2], .to_var = bn->dw[3] };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH,
	    cuda_pieces(p->channels, 8), 1, a);

	if (bn->op->nparam > 4) {
		a.to_between = bn->dw[4];
		a.running = bn->w[2];
	}
	if (!hears) {
		cuda_reads(&k, a.part, p->parts);
		cuda_reads(&k, a.x, p->channels * cuda_size(p->c->type));
	} else {
		cuda_reads(&k, a.told, 2 * p->channels * sizeof(double));
	}
	if (a.told != NULL && !hears) {
		cuda_writes(&k, a.told, 2 * p->channels * sizeof(double));
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
run_running(const struct pass *p)
{
	const struct task *bn = p->bn;
	struct norm_running a = { .mean_in = bn->w[2], .var_in = bn->w[3],
		.mean = p->mean, .rstd = p->rstd,
		.period = (unsigned)p->channels, .eps = bn->op->eps };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_RUNNING,
	    cuda_pieces(p->channels, THREADS), 1, a);

	if (bn->wants_dw) {
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
run_apply(const struct pass *p)
{
	const struct norm *n = &p->n;
	struct norm_apply a = { .rows = p->copy, .x = p->bn->x[0],
		.res = n->add != NULL ? n->add->x[n->res] : NULL,
		.mean = p->mean, .rstd = p->rstd, .scale = p->bn->w[0],
		.offset = p->bn->w[1], .y = n->tail->y, .mask = p->mask,
		.relu = n->relu != NULL };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_APPLY,
	    rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.x, p->bytes);
	cuda_reads(&k, a.res, p->bytes);
	cuda_reads(&k, a.mean, 2 * p->row);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_writes(&k, a.y, p->bytes);
	cuda_writes(&k, a.mask, p->masks);
	cuda_launch(p->c, &k);
}

static void
forward(struct task *t)
{
	struct pass p = pass_open(t);

	if (measures(p.bn)) {
		run_sums(&p);
		run_finish(&p, 0);
		if (p.bn->peers != NULL) {
			peers_sum(p.bn, p.told);
			run_finish(&p, 1);
		}
	} else {
		run_running(&p);
	}
	run_apply(&p);
}

/* ---- backward ---- */

/* How it is known where the relu was shut. */
static int
shut_by(const struct pass *p)
{
	return p->n.relu == NULL ? SHUT_NEVER : p->n.masks ? SHUT_MASK : SHUT_X;
}

static void
run_sums_back(const struct pass *p)
{
	struct norm_sums a = { .rows = p->sums, .x = p->bn->x[0],
		.dy = p->n.tail->dy, .mean = p->mean, .rstd = p->rstd,
		.scale = p->bn->w[0], .offset = p->bn->w[1], .mask = p->mask,
		.shut = shut_by(p), .part = p->part };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_SUMS_BACK,
	    rows_blocks(&a.rows, &p->m), 1, a);

	cuda_reads(&k, a.x, p->bytes);
	cuda_reads(&k, a.dy, p->bytes);
	cuda_reads(&k, a.mean, 2 * p->row);
	cuda_reads(&k, a.scale, p->row);
	cuda_reads(&k, a.offset, p->row);
	cuda_reads(&k, a.mask, p->masks);
	cuda_writes(&k, a.part, p->parts);
	cuda_launch(p->c, &k);
}

static void
run_finish_back(const struct pass *p, int hears)
{
	const struct task *bn = p->bn;
	int tells = bn->peers != NULL && measures(bn);
	struct norm_finish_back a = { .part = p->part, .parts = p->sums.parts,
		.folds = rows_folds(&p->sums), .period = p->sums.period,
		.all = peers_count(bn, (double)p->m.m),
		.told = tells ? p->told : NULL, .hears = hears,
		.rstd = p->rstd, .scale = bn->w[0], .dscale = bn->dw[0],
		.doffset = bn->dw[1], .k = bn->op->fixed ? NULL : p->k };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_FINISH_BACK,
	    cuda_pieces(p->channels, 8), 1, a);

	cuda_reads(&k, a.rstd, p->row);
	cuda_reads(&k, a.scale, p->row);
	if (hears) {
		cuda_reads(&k, a.told, 2 * p->channels * sizeof(double));
	} else {
		cuda_reads(&k, a.part, p->parts);
		cuda_writes(&k, a.dscale, p->row);
		cuda_writes(&k, a.doffset, p->row);
	}
	if (tells && !hears)
		cuda_writes(&k, a.told, 2 * p->channels * sizeof(double));
	else
		cuda_writes(&k, a.k, 3 * p->row);
	cuda_launch(p->c, &k);
}

static void
run_apply_back(const struct pass *p)
{
	const struct norm *n = &p->n;
	const struct task *bn = p->bn;
	struct norm_apply_back a = { .rows = p->copy, .dy = n->tail->dy,
		.mean = p->mean, .rstd = p->rstd, .scale = bn->w[0],
		.offset = bn->w[1], .k = measures(bn) ? p->k : NULL,
		.mask = p->mask, .shut = shut_by(p), .dx = bn->dx[0],
		.accumulate = bn->accumulate[0] };
	struct launch k = CUDA_KERNEL(p->c, GPU_NORM_APPLY_BACK,
	    rows_blocks(&a.rows, &p->m), 1, a);

	if (n->add != NULL) {
		a.dres = n->add->dx[n->res];
		a.accumulate_res = n->add->accumulate[n->res];
	}
	if (a.dx == NULL && a.dres == NULL)
		return;
	if (a.k != NULL || a.shut == SHUT_X)
		cuda_reads(&k, a.x = bn->x[0], p->bytes);
	cuda_reads(&k, a.dy, p->bytes);
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

static void
backward(struct task *t)
{
	struct pass p = pass_open(t);

	if (p.bn->wants_dw) {
		run_sums_back(&p);
		run_finish_back(&p, 0);
		if (measures(p.bn) && p.bn->peers != NULL) {
			peers_sum(p.bn, p.told);
			run_finish_back(&p, 1);
		}
	}
	run_apply_back(&p);
}

static void
release(struct task *t)
{
	free(t->priv);
	t->priv = NULL;
}

const struct op_impl cuda_bn = {
	.reads = READS_X_DW, .release = release, .saved = saved,
	.scratch = scratch, .forward = forward, .backward = backward,
};
