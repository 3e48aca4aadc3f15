/*
 * The operator conv, in fp32 and bf16: selects an algorithm per pass, lays out
 * the memory, and runs the phases.
 *
 * The bits of an image depend on that image alone.  Forward passes and data
 * gradients may therefore be split into jobs for the number of threads.  A
 * weight gradient is split into parts by the shape alone, and the parts are
 * added in their order.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/bf16/bf16.h"
#include "base/mem.h"

#define GRAIN 16384

/*
 * Candidate algorithms, in the order of preference.  In fp32 one of them runs
 * each pass whose x lies in blocks.
 */
static const struct conv_algorithm *const fp32[] = {
	&conv_by_winograd, &conv_by_direct, &conv_by_outer, &conv_by_library,
	&conv_by_groups, NULL
}, *const bf16s[] = {
	&conv_by_winograd, &conv_by_amx, &conv_by_library, NULL
};

struct cpu_conv {
	struct cpu_conv_pass pass[CONV_PASSES];	/* ${algorithm} is NULL if the
						 * pass is not wanted */
	int bf16;
	int shared;			/* forward and data share packed
					 * weights */
	size_t scratch;			/* bytes of a thread */
};

/* ---- preparing ---- */

/*
 * In bf16 the channels are innermost.  A kernel over time alone is therefore a
 * kernel over the rows of one image per clip, where each row is a former frame.
 */
static void
cpu_conv_rows_of_frames(struct cpu_conv_pass *p)
{
	struct dims *d[] = { &p->in, &p->out };

	for (int i = 0; i < 2; i++)
		*d[i] = (struct dims){ .n = d[i]->n, .t = 1, .h = d[i]->t,
			.w = (int)cpu_positions(d[i]), .c = d[i]->c };
	p->k[1] = p->k[0];
	p->s[1] = p->s[0];
	p->p[1] = p->p[0];
	p->k[0] = p->s[0] = 1;
	p->p[0] = 0;
}

static struct cpu_conv_pass
cpu_conv_pass_of(struct task *t, enum conv_kind kind, int bf16)
{
	struct cpu_conv_pass p = { .t = t, .kind = kind, .bf16 = bf16,
		.in = t->in[0], .out = t->out,
		.pixels = cpu_is_pixels(&t->in[0]) };
	const struct op *op = t->op;

	memcpy(p.k, op->k, sizeof(p.k));
	memcpy(p.s, op->s, sizeof(p.s));
	memcpy(p.p, op->p, sizeof(p.p));
	if (bf16 && conv_pass_timed(&p) && conv_pass_tap(&p) == 1 &&
	    op->s[1] == 1 && op->s[2] == 1 && op->p[1] == 0 && op->p[2] == 0 &&
	    !p.pixels)
		cpu_conv_rows_of_frames(&p);
	return p;
}

static size_t
cpu_conv_copy_bytes(const struct dims *d)
{
	return cpu_pages(cpu_blocked_image(d) * (size_t)cpu_images(d) *
	    sizeof(float));
}

/* Return the first that wins, otherwise the first that runs, or NULL. */
static const struct conv_algorithm *
cpu_conv_find(const struct cpu_conv_pass *p)
{
	const struct conv_algorithm *const *table = p->bf16 ? bf16s : fp32;

	for (int any = 0; any < 2; any++)
		for (int i = 0; table[i] != NULL; i++)
			if ((any || table[i]->wins == NULL ||
			    table[i]->wins(p)) && table[i]->runs(p))
				return table[i];
	return NULL;
}

/*
 * Select the algorithm of a pass, and copies if none runs it on pixels.  In
 * bf16 it is NULL if there is none.
 */
static void
cpu_conv_select(struct cpu_conv_pass *p)
{
	p->algorithm = cpu_conv_find(p);
	if (p->algorithm == NULL && !p->bf16) {
		p->pixels = 0;
		p->copy_x = cpu_conv_copy_bytes(&p->in);
		p->algorithm = cpu_conv_find(p);
		assert(p->algorithm != NULL);
	}
	if (!p->bf16 && cpu_is_pixels(&p->out))
		p->copy_y = cpu_conv_copy_bytes(&p->out);
}

/*
 * Select the algorithms of the passes of ${t}.  Return 1, or 0 if bf16 has no
 * algorithm for a pass.  A pass that is not wanted counts too, because freezing
 * other parameters must not change a bit.  Gradients of pixels do not count:
 * the input of a network has none.
 */
static int
cpu_conv_open(struct task *t, int bf16)
{
	const int wants[CONV_PASSES] = { [CONV_FORWARD] = 1,
		[CONV_WEIGHTS] = t->needs_weight_grad,
		[CONV_DATA] = t->needs_input_grad[0] };
	struct cpu_conv *c = xcalloc(1, sizeof(*c));

	c->bf16 = bf16;
	for (int i = 0; i < CONV_PASSES; i++) {
		struct cpu_conv_pass *p = &c->pass[i];

		*p = cpu_conv_pass_of(t, (enum conv_kind)i, bf16);
		if (!wants[i] && (!bf16 || (i == CONV_DATA && p->pixels)))
			continue;
		cpu_conv_select(p);
		if (p->algorithm == NULL) {
			free(c);
			return 0;
		}
		if (!wants[i])
			p->algorithm = NULL;
	}
	t->priv = c;
	return 1;
}

static int
cpu_conv_make(struct task *t)
{
	struct cpu_conv *c = t->priv;
	const struct cpu_conv_pass *forward = &c->pass[CONV_FORWARD];
	const struct cpu_conv_pass *data = &c->pass[CONV_DATA];

	for (int i = 0; i < CONV_PASSES; i++) {
		struct cpu_conv_pass *p = &c->pass[i];

		if (p->algorithm == NULL)
			continue;
		if (p->algorithm->make(p) != 0)
			return -1;
		p->packed = cpu_pages(p->packed);
		p->copy_at = cpu_pages(p->workspace);
		p->workspace = p->copy_at + p->copy_x + p->copy_y;
		if (p->scratch > c->scratch)
			c->scratch = p->scratch;
	}
	c->scratch = cpu_pages(c->scratch);
	c->shared = data->algorithm == forward->algorithm &&
	    data->algorithm->shares != NULL &&
	    data->algorithm->shares(forward, data);
	return 0;
}

static int
cpu_conv_prepare(struct task *t)
{
	cpu_conv_open(t, 0);
	return cpu_conv_make(t);
}

/*
 * Groups, kernels over both time and space, shapes with one position per image,
 * and what has no algorithm run in fp32 on widened copies.
 */
static int
cpu_conv_prepare_half(struct task *t)
{
	const struct cpu_conv_pass p = cpu_conv_pass_of(t, CONV_FORWARD, 1);

	if (bf16_is(&t->in[0]) && bf16_is(&t->out) && t->op->conv.groups == 1 &&
	    !conv_pass_timed(&p) && !cpu_is_pixels(&t->out) && cpu_conv_open(t,
	    1))
		return cpu_conv_make(t);
	t->impl = &bf16_fallback;
	return t->impl->prepare(t);
}

static void
cpu_conv_release(struct task *t)
{
	struct cpu_conv *c = t->priv;

	if (c == NULL)
		return;
	for (int i = 0; i < CONV_PASSES; i++) {
		struct cpu_conv_pass *p = &c->pass[i];

		if (p->state != NULL && p->algorithm->release != NULL)
			p->algorithm->release(p);
		else
			free(p->state);
	}
	free(c);
	t->priv = NULL;
}

/*
 * ---- memory ----
 *
 * Scratch holds, in this order: the scratch of each thread; the memory that
 * the threads of a run share; packed weights that are not kept; a gradient to
 * add.
 */

static size_t
cpu_conv_bytes_of(const struct cpu_conv *c, const struct dims *d)
{
	return cpu_pages(c->bf16 ? bf16_bytes(d) :
	    cpu_floats(d) * sizeof(float));
}

/*
 * Return 1 if the data gradient is computed in memory of its own, then added.
 */
static int
cpu_conv_adds_after(const struct task *t)
{
	const struct cpu_conv *c = t->priv;
	const struct cpu_conv_pass *p = &c->pass[CONV_DATA];

	return t->accumulate[0] && (!p->algorithm->adds || p->copy_x > 0);
}

static size_t
cpu_conv_scratch(const struct task *t)
{
	const struct cpu_conv *c = t->priv;
	size_t largest = 0;

	for (int i = 0; i < CONV_PASSES; i++) {
		const struct cpu_conv_pass *p = &c->pass[i];
		size_t bytes = p->workspace + (t->repeats ? 0 : p->packed);

		if (p->algorithm == NULL || (t->no_grad && i != CONV_FORWARD))
			continue;
		if (i == CONV_DATA && cpu_conv_adds_after(t))
			bytes += cpu_conv_bytes_of(c, &t->in[0]);
		largest = bytes > largest ? bytes : largest;
	}
	return c->scratch * (size_t)pool_threads(cpu_of(t)->pool) + largest;
}

/* Packed weights are kept if several microbatches use them. */
static size_t
cpu_conv_kept(const struct task *t)
{
	const struct cpu_conv *c = t->priv;

	return !t->repeats ? 0 : c->pass[CONV_FORWARD].packed +
	    (c->shared ? 0 : c->pass[CONV_DATA].packed);
}

static struct conv_run
cpu_conv_run_of(struct task *t, enum conv_kind kind, const void *x,
    const void *y)
{
	struct cpu_conv *c = t->priv;
	const struct cpu_conv_pass *p = &c->pass[kind];
	struct conv_run r = { .p = p, .x = (void *)x, .y = (void *)y,
		.scratch = t->scratch, .step = c->scratch };

	r.workspace = r.scratch + c->scratch *
	    (size_t)pool_threads(cpu_of(t)->pool);
	r.packed = (char *)r.workspace + p->workspace;
	if (t->repeats)
		r.packed = (char *)t->packed_weights + (kind == CONV_DATA &&
		    !c->shared ? c->pass[CONV_FORWARD].packed : 0);
	return r;
}

/* ---- running ---- */

static void
cpu_conv_run_job(int i, int thread, void *arg)
{
	const struct conv_run *r = arg;
	const struct task *t = r->p->t;
	enum conv_kind kind = r->p->kind;
	const struct conv_buffers o = { .in = kind == CONV_DATA ? r->y : r->x,
		.weights = t->w[0], .w = r->packed, .bias = conv_run_bias(r),
		.dy = r->y, .out = kind == CONV_WEIGHTS ? t->dw[0] :
		    kind == CONV_DATA ? r->x : r->y, .more = r->more,
		.parts = r->workspace, .thread = thread, .run = r,
		.scratch = r->scratch + r->step * (size_t)thread };

	r->phase->f(r->p->state, i, &o);
}

static void
cpu_conv_run_phases(struct conv_run *r, const struct conv_phase *phase)
{
	for (int i = 0; i < PHASES && phase[i].f != NULL; i++) {
		r->phase = &phase[i];
		cpu_run(r->p->t, phase[i].n, cpu_conv_run_job, r);
	}
}

/* A copy of an activation from pixels to blocks or back. */
struct cpu_conv_copy {
	const struct dims *d;
	float *pixels, *blocks;
	int back;
};

static void
cpu_conv_copy_image(int image, int thread, void *arg)
{
	const struct cpu_conv_copy *k = arg;
	size_t positions = cpu_positions(k->d), lanes = (size_t)cpu_lanes();
	size_t channels = (size_t)k->d->c;
	float *pixels = k->pixels + positions * channels * (size_t)image;
	float *block = k->blocks + positions * lanes * (size_t)image;

	(void)thread;
	for (size_t i = 0; i < positions; i++, block += lanes)
		for (size_t c = 0; c < lanes; c++)
			if (k->back && c < channels)
				pixels[c * positions + i] = block[c];
			else if (!k->back)
				block[c] = c < channels ?
				    pixels[c * positions + i] : 0;
}

static void
cpu_conv_copy(const struct conv_run *r, const struct dims *d, void *pixels,
    void *blocks, int back)
{
	struct cpu_conv_copy k = { d, pixels, blocks, back };

	if (pixels != blocks)
		cpu_run(r->p->t, cpu_images(d), cpu_conv_copy_image, &k);
}

/*
 * Run a pass, on copies of x and y where the algorithm cannot use them.  Return
 * the run with the copies, which are valid until the next run.
 */
static struct conv_run
cpu_conv_run_pass(const struct conv_run *r)
{
	const struct cpu_conv_pass *p = r->p;
	char *copy = (char *)r->workspace + p->copy_at;
	struct conv_run k = *r;

	if (p->copy_x > 0)
		k.x = copy;
	if (p->copy_y > 0)
		k.y = copy + p->copy_x;
	if (p->kind != CONV_DATA)
		cpu_conv_copy(r, &p->in, r->x, k.x, 0);
	if (p->kind != CONV_FORWARD)
		cpu_conv_copy(r, &p->out, r->y, k.y, 0);
	cpu_conv_run_phases(&k, p->run);
	if (p->kind == CONV_DATA)
		cpu_conv_copy(r, &p->in, r->x, k.x, 1);
	if (p->kind == CONV_FORWARD)
		cpu_conv_copy(r, &p->out, r->y, k.y, 1);
	return k;
}

static void
cpu_conv_order(struct conv_run *r)
{
	const struct task *t = r->p->t;
	const struct cpu_conv *c = t->priv;

	/*
	 * Pack if packed weights are not kept, or if the weights have changed.
	 * The forward pass has already packed those that both passes share.
	 */
	if (!t->repeats || (t->weights_changed && !(r->p->kind == CONV_DATA &&
	    c->shared)))
		cpu_conv_run_phases(r, r->p->order);
}

static void
cpu_conv_forward(struct task *t)
{
	struct conv_run r = cpu_conv_run_of(t, CONV_FORWARD, t->x[0], t->y);

	cpu_conv_order(&r);
	cpu_conv_run_pass(&r);
}

struct cpu_conv_sum { const struct task *t; void *to; const void *from; };

static void
cpu_conv_add_floats(size_t from, size_t to, void *arg)
{
	const struct cpu_conv_sum *s = arg;
	float *y = (float *)s->to + from;

	cpu_k(s->t)->add(y, y, (const float *)s->from + from, to - from);
}

static void
cpu_conv_add_halves(size_t from, size_t to, void *arg)
{
	const struct cpu_conv_sum *s = arg;
	bf16 *y = (bf16 *)s->to + from;

	bf16_k(s->t)->add(y, y, (const bf16 *)s->from + from, to - from);
}

static void
cpu_conv_data_gradient(struct task *t)
{
	const struct cpu_conv *c = t->priv;
	const struct dims *d = &t->in[0];
	struct conv_run r = cpu_conv_run_of(t, CONV_DATA, t->dx[0], t->dy);
	struct cpu_conv_sum sum = { t, t->dx[0], NULL };

	cpu_conv_order(&r);
	if (!cpu_conv_adds_after(t)) {
		r.more = t->accumulate[0];
		cpu_conv_run_pass(&r);
		return;
	}
	sum.from = r.x = (char *)r.workspace + r.p->workspace +
	    (t->repeats ? 0 : r.p->packed);
	cpu_conv_run_pass(&r);
	if (c->bf16)
		cpu_ranges(cpu_of(t), bf16_image(d) * (size_t)cpu_images(d),
		    GRAIN, cpu_conv_add_halves, &sum);
	else
		cpu_ranges(cpu_of(t), cpu_floats(d), GRAIN, cpu_conv_add_floats,
		    &sum);
}

/*
 * dbias[c] = sum over positions of dy[c], image by image, for a block of
 * channels
 */
static void
cpu_conv_bias_floats(int block, int thread, void *arg)
{
	const struct conv_run *r = arg;
	const struct task *t = r->p->t;
	size_t image = conv_pass_image(r->p, &r->p->out);
	const float *y = (const float *)r->y + cpu_positions(&t->out) *
	    (size_t)(block * cpu_lanes());
	int lanes = cpu_lanes(), first = block * lanes;
	float sum[LANES_MAX] = { 0 }, plane[LANES_MAX];

	(void)thread;
	for (int i = 0; i < cpu_images(&t->out); i++) {
		cpu_k(t)->plane_sum(y + image * (size_t)i,
		    cpu_positions(&t->out), plane);
		for (int c = 0; c < lanes; c++)
			sum[c] += plane[c];
	}
	for (int c = 0; c < lanes && first + c < t->out.c; c++)
		((float *)t->dw[1])[first + c] = sum[c];
}

static void
cpu_conv_bias_halves(int block, int thread, void *arg)
{
	const struct conv_run *r = arg;
	const struct task *t = r->p->t;
	const struct dims *d = &t->out;
	int first = block * 16, end = d->c < first + 16 ? d->c : first + 16;
	double sum[16] = { 0 };

	(void)thread;
	for (int i = 0; i < cpu_images(d); i++)
		for (size_t p = 0; p < cpu_positions(d); p++)
			for (int c = first; c < end; c++)
				sum[c - first] += bf16_wide(bf16_at(d, t->dy, i,
				    p)[c]);
	for (int c = first; c < end; c++)
		((float *)t->dw[1])[c] = (float)sum[c - first];
}

static void
cpu_conv_weight_gradient(struct task *t)
{
	const struct cpu_conv *c = t->priv;
	struct conv_run r = cpu_conv_run_of(t, CONV_WEIGHTS, t->x[0], t->dy);

	r = cpu_conv_run_pass(&r);
	if (t->op->conv.bias)
		cpu_run(t, c->bf16 ? bf16_row(&t->out) / 16 :
		    cpu_blocks(t->out.c), c->bf16 ? cpu_conv_bias_halves :
		    cpu_conv_bias_floats, &r);
}

static void
cpu_conv_backward(struct task *t)
{
	if (t->needs_weight_grad)
		cpu_conv_weight_gradient(t);
	if (t->dx[0] != NULL)
		cpu_conv_data_gradient(t);
}

/*
 * Write the names of the algorithms: forward, weight gradient, data gradient.
 */
static void
cpu_conv_describe(const struct task *t, char *text, size_t size)
{
	const struct cpu_conv *c = t->priv;
	size_t n = 0;

	for (int i = 0; i < CONV_PASSES && n < size; i++) {
		const struct cpu_conv_pass *p = &c->pass[i];

		if (p->algorithm != NULL)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    i > 0 ? ", " : "", p->algorithm->describe != NULL ?
			    p->algorithm->describe(p) : p->algorithm->name);
	}
}

const struct op_impl cpu_conv = {
	.reads = READS_X_DW, .prepare = cpu_conv_prepare,
	.release = cpu_conv_release, .scratch = cpu_conv_scratch,
	.packed_bytes = cpu_conv_kept, .forward = cpu_conv_forward,
	.backward = cpu_conv_backward, .describe = cpu_conv_describe,
};

const struct op_impl bf16_conv = {
	.reads = READS_X_DW, .prepare = cpu_conv_prepare_half,
	.release = cpu_conv_release, .scratch = cpu_conv_scratch,
	.packed_bytes = cpu_conv_kept, .forward = cpu_conv_forward,
	.backward = cpu_conv_backward, .describe = cpu_conv_describe,
};
