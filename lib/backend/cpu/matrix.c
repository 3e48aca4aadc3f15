/*
 * The operator bmm, a batched matrix product (PyTorch's torch.bmm): one GEMM
 * per clip.  Rows are positions of all frames, columns are channels.
 *
 * Clips run one after another.  For each, copy the matrices from blocks into
 * rows, compute blocks of rows of the result on one thread each, and copy the
 * result back.  The shape alone fixes the blocks of rows.  Copying costs 1 / 2k
 * of the arithmetic, where k is at least 128 in non-local blocks.
 */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/matrix.h"

/*
 * Split a result into at most RUNS blocks of at least RUN rows.  Smaller blocks
 * would cost time, because oneDNN repacks the second matrix for each of them.
 */
enum { RUNS = 16, RUN = 192 };

/* One matrix of a clip, in rows. */
struct cpu_matrix_rows {
	const struct dims *d;
	float *v;			/* [positions][channels] */
};

/*
 * A GEMM, or the copy of one matrix: then only ${to}, ${clip}, ${more} and ${x}
 * are set.
 */
struct cpu_matrix_product {
	const struct task *t;
	const struct cpu_matrix_rows *a, *b;
	struct cpu_matrix_rows *to;
	int ta, tb;
	size_t k;
	size_t run;			/* rows of the result per part */
	int clip, more;
	void *x;			/* activation to copy from or to */
};

static size_t
cpu_matrix_size(const struct dims *d)
{
	return dims_positions(d) * (size_t)d->c;
}

/*
 * Scratch holds both inputs and the output or its gradient.  A backward pass
 * also needs the larger of the input gradients.
 */
static size_t
cpu_matrix_scratch(const struct task *t)
{
	size_t a = cpu_matrix_size(&t->in[0]), b = cpu_matrix_size(&t->in[1]);

	return (a + b + cpu_matrix_size(&t->out) +
	    (t->no_grad ? 0 : a > b ? a : b)) * sizeof(float);
}

/*
 * One part of a copy is PLACES positions of an image with all of their
 * channels.  It then reads or writes whole rows, and about 1 KiB of each block.
 */
enum { PLACES = 16 };

/* The positions of one part of a copy. */
struct cpu_matrix_part {
	size_t row;			/* row of the matrix of ${from} */
	int image;
	size_t from, positions;
};

static size_t
cpu_matrix_tiles(const struct dims *d)
{
	return (cpu_positions(d) + PLACES - 1) / PLACES;
}

static int
cpu_matrix_parts(const struct dims *d)
{
	return d->t * (int)cpu_matrix_tiles(d);
}

static struct cpu_matrix_part
cpu_matrix_part_of(const struct cpu_matrix_product *p, int i)
{
	const struct dims *d = p->to->d;
	size_t hw = cpu_positions(d), image = (size_t)i / cpu_matrix_tiles(d);
	size_t from = (size_t)i % cpu_matrix_tiles(d) * PLACES;

	return (struct cpu_matrix_part){ image * hw + from,
	    p->clip * d->t + (int)image,
		from, hw - from < PLACES ? hw - from : PLACES };
}

/*
 * The channels of block ${b} in the rows of a part: the first channel and their
 * number.  ${step} is the floats from one position to the next, ${lane} from
 * one channel to the next.
 */
struct cpu_matrix_lanes { size_t first, n, step, lane; float *x; };

static struct cpu_matrix_lanes
cpu_matrix_lanes_of(const struct cpu_matrix_product *p,
    const struct cpu_matrix_part *k, int b)
{
	const struct dims *d = p->to->d;
	int lanes = cpu_lanes(), left = d->c - b * lanes;
	struct cpu_matrix_lanes l = { (size_t)(b * lanes),
	    (size_t)(left < lanes ? left :
		lanes), (size_t)lanes, 1, cpu_plane(d, p->x, k->image, b) };

	if (cpu_is_pixels(d)) {
		l.step = 1;
		l.lane = cpu_positions(d);
	}
	l.x += k->from * l.step;
	return l;
}

static void
cpu_matrix_to_rows(int i, int thread, void *arg)
{
	const struct cpu_matrix_product *p = arg;
	size_t c = (size_t)p->to->d->c;
	struct cpu_matrix_part k = cpu_matrix_part_of(p, i);

	(void)thread;
	for (int b = 0; b < cpu_blocks((int)c); b++) {
		struct cpu_matrix_lanes l = cpu_matrix_lanes_of(p, &k, b);
		float *to = p->to->v + k.row * c + l.first;

		for (size_t h = 0; h < k.positions; h++, to += c)
			for (size_t m = 0; m < l.n; m++)
				to[m] = l.x[h * l.step + m * l.lane];
	}
}

static void
cpu_matrix_from_rows(int i, int thread, void *arg)
{
	const struct cpu_matrix_product *p = arg;
	size_t c = (size_t)p->to->d->c;
	struct cpu_matrix_part k = cpu_matrix_part_of(p, i);

	(void)thread;
	for (int b = 0; b < cpu_blocks((int)c); b++) {
		struct cpu_matrix_lanes l = cpu_matrix_lanes_of(p, &k, b);
		const float *from = p->to->v + k.row * c + l.first;

		for (size_t h = 0; h < k.positions; h++, from += c) {
			float *to = l.x + h * l.step;

			for (size_t m = 0; m < l.n; m++)
				to[m * l.lane] = from[m] + (p->more ?
				    to[m * l.lane] : 0);
			/* The lanes beyond the last channel are 0. */
			for (size_t m = l.n; m < l.step && !p->more; m++)
				to[m] = 0;
		}
	}
}

static void
cpu_matrix_pack(const struct task *t, int clip, struct cpu_matrix_rows *to,
    const void *x)
{
	struct cpu_matrix_product p = { .to = to, .clip = clip,
	    .x = (void *)x };

	cpu_run(t, cpu_matrix_parts(to->d), cpu_matrix_to_rows, &p);
}

static void
cpu_matrix_multiply_part(int i, int thread, void *arg)
{
	const struct cpu_matrix_product *p = arg;
	size_t m = dims_positions(p->to->d), n = (size_t)p->to->d->c;
	size_t row = (size_t)i * p->run;
	size_t lda = (size_t)p->a->d->c, ldb = (size_t)p->b->d->c;

	(void)thread;
	matrix_gemm(p->ta, p->tb, m - row < p->run ? m - row : p->run, n,
	    p->k, p->a->v + row * (p->ta ? 1 : lda), lda, p->b->v, ldb,
	    p->to->v + row * n, n);
}

/*
 * Compute ${to} = A B, a sum over ${k} terms, and copy or add (${more}) it into
 * clip ${clip} of the activation ${x}.
 */
static void
cpu_matrix_multiply(const struct task *t, int clip, struct cpu_matrix_rows *to,
    void *x, int more, const struct cpu_matrix_rows *a, int ta,
    const struct cpu_matrix_rows *b, int tb, size_t k)
{
	size_t m = dims_positions(to->d), runs = m / RUN;
	struct cpu_matrix_product p = { t, a, b, to, ta, tb, k, 0, clip, more,
	    x };

	runs = runs < 1 ? 1 : runs > RUNS ? RUNS : runs;
	p.run = (m + runs - 1) / runs;
	cpu_run(t, (int)((m + p.run - 1) / p.run), cpu_matrix_multiply_part,
	    &p);
	cpu_run(t, cpu_matrix_parts(to->d), cpu_matrix_from_rows, &p);
}

static size_t
cpu_matrix_terms(const struct task *t)
{
	return t->op->bmm.transpose & TRANSPOSE_A ? dims_positions(&t->in[0]) :
	    (size_t)t->in[0].c;
}

static void
cpu_matrix_forward(struct task *t)
{
	float *v = t->scratch;
	struct cpu_matrix_rows a = { &t->in[0], v };
	struct cpu_matrix_rows b = { &t->in[1], a.v + cpu_matrix_size(a.d) };
	struct cpu_matrix_rows y = { &t->out, b.v + cpu_matrix_size(b.d) };

	for (int n = 0; n < t->out.n; n++) {
		cpu_matrix_pack(t, n, &a, t->x[0]);
		cpu_matrix_pack(t, n, &b, t->x[1]);
		cpu_matrix_multiply(t, n, &y, t->y, 0, &a,
		    t->op->bmm.transpose & TRANSPOSE_A, &b,
		    t->op->bmm.transpose & TRANSPOSE_B, cpu_matrix_terms(t));
	}
}

/*
 * Y = A B, where A and B are the inputs or their transposes.  With M' for the
 * transpose of M:
 *
 *	dA = dY B'	dB = A' dY
 *
 * If an input is transposed, its gradient is the transpose of this.
 */
static void
cpu_matrix_backward(struct task *t)
{
	int ta = t->op->bmm.transpose & TRANSPOSE_A;
	int tb = t->op->bmm.transpose & TRANSPOSE_B;
	float *v = t->scratch;
	struct cpu_matrix_rows a = { &t->in[0], v };
	struct cpu_matrix_rows b = { &t->in[1], a.v + cpu_matrix_size(a.d) };
	struct cpu_matrix_rows dy = { &t->out, b.v + cpu_matrix_size(b.d) };
	struct cpu_matrix_rows da = { a.d, dy.v + cpu_matrix_size(dy.d) },
	    db = { b.d, da.v };
	size_t p = dims_positions(dy.d), q = (size_t)dy.d->c;

	for (int n = 0; n < t->out.n; n++) {
		cpu_matrix_pack(t, n, &a, t->x[0]);
		cpu_matrix_pack(t, n, &b, t->x[1]);
		cpu_matrix_pack(t, n, &dy, t->dy);
		if (t->dx[0] != NULL && !ta)
			cpu_matrix_multiply(t, n, &da, t->dx[0],
			    t->accumulate[0], &dy, 0, &b, !tb, q);
		else if (t->dx[0] != NULL)
			cpu_matrix_multiply(t, n, &da, t->dx[0],
			    t->accumulate[0], &b, tb, &dy, 1, q);
		if (t->dx[1] != NULL && !tb)
			cpu_matrix_multiply(t, n, &db, t->dx[1],
			    t->accumulate[1], &a, !ta, &dy, 0, p);
		else if (t->dx[1] != NULL)
			cpu_matrix_multiply(t, n, &db, t->dx[1],
			    t->accumulate[1], &dy, 1, &a, ta, p);
	}
}

const struct op_impl cpu_bmm = {
	.reads = READS_X, .scratch = cpu_matrix_scratch,
	.forward = cpu_matrix_forward, .backward = cpu_matrix_backward,
};
