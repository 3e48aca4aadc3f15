/*
 * Sums of squares of flat buffers, and the kernels that use them: the found_inf
 * check and the layer ratios.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/rows.h"
#include "base/fail.h"

/*
 * Device memory that is kept between calls: sums of intervals, sums of their
 * chunks, and sums of the parameters of two buffers.
 */
struct cuda_squares_buffer { double *sum, *piece, *of[2]; };

static struct cuda_squares_buffer
cuda_squares_reserve(struct cuda *c, size_t parts, size_t pieces, size_t params)
{
	size_t bytes = (parts + pieces + 2 * params + 1) * sizeof(double);
	struct cuda_squares_buffer r;

	if (bytes > c->squares_bytes) {
		device_free(&c->device, c->squares_buffer);
		if ((c->squares_buffer = device_alloc(&c->device, bytes)) ==
		    NULL)
			die(1, "the device has failed");
		c->squares_bytes = bytes;
	}
	r.sum = c->squares_buffer;
	r.piece = r.sum + parts;
	r.of[0] = r.piece + pieces;
	r.of[1] = r.of[0] + params;
	return r;
}

/*
 * The intervals to square, on the device; the range that they cover; and the
 * first chunk of each, or NULL if each is one chunk.
 */
struct cuda_squares_pieces {
	const struct interval *part;
	const size_t *first;
	size_t parts, n;
	struct interval all;
};

static struct cuda_squares_pieces
cuda_squares_cut(struct cuda *c, const struct interval *part, size_t parts)
{
	size_t *first = cuda_table_buffer(c, (parts + 1) * sizeof(*first));
	struct cuda_squares_pieces p = { .parts = parts };
	size_t from = SIZE_MAX, to = 0;
	int one = 1;

	first[0] = 0;
	for (size_t i = 0; i < parts; i++) {
		size_t n = cuda_pieces(part[i].n, SQUARES);

		one &= n == 1;
		first[i + 1] = first[i] + n;
		from = part[i].at < from ? part[i].at : from;
		to = part[i].at + part[i].n > to ? part[i].at + part[i].n : to;
	}
	p.n = first[parts];
	p.all = (struct interval){ parts > 0 ? from : 0, parts > 0 ? to - from :
		0 };
	if (!one)
		p.first = cuda_table(c, first, (parts + 1) * sizeof(*first));
	p.part = cuda_table(c, part, parts * sizeof(*part));
	return p;
}

/*
 * Compute r->sum, the sum of squares of each interval of ${x}: of its chunks,
 * and then, if there are several, of their sums.
 */
static void
cuda_squares_square(struct cuda *c, const void *x,
    const struct cuda_squares_pieces *p, const struct cuda_squares_buffer *r)
{
	const struct squares a = { (const float *)x + p->all.at, p->all.at,
		p->part, p->first, p->parts, p->first != NULL ? r->piece :
		r->sum, r->sum };
	struct launch k = CUDA_KERNEL(c, GPU_SQUARES, (unsigned)p->n, 1, a);
	size_t table = (p->parts + 1) * sizeof(*p->first);

	cuda_reads(&k, a.x, p->all.n * sizeof(float));
	cuda_reads(&k, p->part, p->parts * sizeof(*p->part));
	cuda_reads(&k, p->first, table);
	cuda_writes(&k, a.piece, p->n * sizeof(*a.piece));
	cuda_launch(c, &k);
	if (p->first == NULL)
		return;
	k = CUDA_KERNEL(c, GPU_SQUARES_TOTAL, (unsigned)p->parts, 1, a);
	cuda_reads(&k, a.piece, p->n * sizeof(*a.piece));
	cuda_reads(&k, p->first, table);
	cuda_writes(&k, a.sum, p->parts * sizeof(*a.sum));
	cuda_launch(c, &k);
}

void
cuda_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts)
{
	struct cuda *c = (struct cuda *)d;
	struct cuda_squares_pieces p;
	struct cuda_squares_buffer r;

	if (parts == 0)
		return;
	p = cuda_squares_cut(c, part, parts);
	r = cuda_squares_reserve(c, parts, p.n, 0);
	cuda_squares_square(c, x, &p, &r);
	cuda_receive(c, sum, r.sum, parts * sizeof(*sum));
}

/* ---- sums of squares of parameters ---- */

/* Compute r->of[k], the sum of squares of each parameter in buffer ${x}. */
static void
cuda_squares_square_params(struct cuda *c, const void *x,
    const struct block_sums *of, const struct cuda_squares_pieces *p,
    const struct cuda_squares_buffer *r, int k)
{
	size_t table = (of->params + 1) * sizeof(*of->first);
	const struct squares_add a = { r->sum, cuda_table(c, of->first, table),
		r->of[k] };
	struct launch l = CUDA_KERNEL(c, GPU_SQUARES_ADD, (unsigned)of->params,
	    1, a);

	cuda_squares_square(c, x, p, r);
	cuda_reads(&l, a.sum, of->parts * sizeof(*a.sum));
	cuda_reads(&l, a.first, table);
	cuda_writes(&l, a.of, of->params * sizeof(*a.of));
	cuda_launch(c, &l);
}

static void
cuda_step_check(struct device *d, struct step_check *v,
    const struct step_check_args *j)
{
	struct cuda *c = (struct cuda *)d;
	size_t params = j->of.params;
	struct cuda_squares_pieces p = cuda_squares_cut(c, j->of.part,
	    j->of.parts);
	struct cuda_squares_buffer r = cuda_squares_reserve(c, p.parts, p.n,
	    params);
	const struct step_checked a =
		{ .of = r.of[0], .kind = cuda_table(c, j->kind, params),
			.params = params, .outcomes = j->outcomes,
		.scale = j->scale, .clip = j->clip, .outcome = j->outcome,
		.max = j->max_loss, .lost = j->found_inf, .check = v };
	struct launch k = CUDA_KERNEL(c, GPU_STEP_CHECK, 1, 1, a);

	cuda_squares_square_params(c, j->g, &j->of, &p, &r, 0);
	cuda_reads(&k, a.of, params * sizeof(*a.of));
	cuda_reads(&k, a.kind, params);
	cuda_reads(&k, j->outcome, j->outcomes * sizeof(*j->outcome));
	cuda_reads(&k, j->found_inf, sizeof(*j->found_inf));
	cuda_writes(&k, v, sizeof(*v));
	cuda_launch(c, &k);
}

static void
cuda_step_guard(struct device *d, const struct step_check *v)
{
	((struct cuda *)d)->check = v;
}

static void
cuda_ratios(struct device *d, const struct ratios *q)
{
	struct cuda *c = (struct cuda *)d;
	size_t params = q->of.params;
	struct cuda_squares_pieces p = cuda_squares_cut(c, q->of.part,
	    q->of.parts);
	struct cuda_squares_buffer r = cuda_squares_reserve(c, p.parts, p.n,
	    params);
	const struct rating a = { .w = r.of[1], .d = r.of[0],
		.layer = cuda_table(c, q->layer, params * sizeof(*q->layer)),
		.params = params, .rule = q->rule, .lr = q->lr,
		.decay = q->decay, .scale = q->scale, .ratio = q->ratio,
		.check = c->check };
	struct launch k = CUDA_KERNEL(c, GPU_RATIOS, cuda_pieces(params,
	    THREADS), 1, a);

	cuda_squares_square_params(c, q->d, &q->of, &p, &r, 0);
	cuda_squares_square_params(c, q->w, &q->of, &p, &r, 1);
	cuda_reads(&k, a.d, params * sizeof(*a.d));
	cuda_reads(&k, a.w, params * sizeof(*a.w));
	cuda_reads(&k, a.layer, params * sizeof(*a.layer));
	cuda_reads(&k, a.check, sizeof(*a.check));
	cuda_writes(&k, q->ratio, params * sizeof(*q->ratio));
	cuda_launch(c, &k);
}

static void
cuda_flag_losses(struct device *d, float *lost, const struct outcome *o,
    size_t n, double largest, int other)
{
	struct cuda *c = (struct cuda *)d;
	const struct flag_losses a = { o, n, largest, other, lost };
	struct launch k = CUDA_KERNEL(c, GPU_FLAG_LOSSES, 1, 1, a);

	cuda_reads(&k, o, n * sizeof(*o));
	cuda_writes(&k, lost, sizeof(*lost));
	cuda_launch(c, &k);
}

const struct step_check_ops cuda_check = {
	.check = cuda_step_check, .guard = cuda_step_guard,
	    .ratios = cuda_ratios,
	.flag_losses = cuda_flag_losses,
};
