/*
 * The operator bmm, a batched matrix product (PyTorch's torch.bmm): one GEMM
 * per clip.  Rows are positions of all frames, columns are channels.
 *
 * Clips run one after another.  For each, copy the matrices from blocks into
 * rows, compute blocks of rows of the result on one thread each, and copy the
 * result back.  The shape alone fixes the blocks of rows.  Copying costs 1 / 2k
 * of the arithmetic, where k is at least 128 in non-local blocks.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/dnnl.h"

/*
 * Split a result into at most RUNS blocks of at least RUN rows.  Smaller blocks
 * would cost time, because oneDNN repacks the second matrix for each of them.
 */
enum { RUNS = 16, RUN = 192 };

/* One matrix of a clip, in rows. */
struct cpu_matrix_rows {
	struct dims d;			/* of one clip */
	float *v;			/* [positions][channels] */
};

/* to = A B, where A is ${*a} or, if ${ta} is not 0, its transpose. */
struct cpu_matrix_product {
	const struct cpu_matrix_rows *a, *b, *to;
	int ta, tb;
	/* set by cpu_matrix_multiply: */
	size_t k;			/* terms of a sum */
	size_t run;			/* rows of the result per part */
};

static size_t
cpu_matrix_size(const struct dims *d)
{
	return dims_positions(d) * (size_t)d->c;
}

static struct cpu_matrix_rows
cpu_matrix_rows(const struct dims *d, float *v)
{
	struct cpu_matrix_rows m = { *d, v };

	m.d.n = 1;
	return m;
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

/* Return clip ${n} of the activation ${x}. */
static void *
cpu_matrix_clip(const struct dims *d, const void *x, int n)
{
	return (float *)x + (size_t)(n * d->t) * cpu_image(d);
}

static void
cpu_matrix_pack(const struct task *t, int n, const struct cpu_matrix_rows *to,
    const void *x)
{
	cpu_rows_read(t, &to->d, to->v, cpu_matrix_clip(&to->d, x, n));
}

static void
cpu_matrix_multiply_part(int i, int thread, void *arg)
{
	const struct cpu_matrix_product *p = arg;
	size_t m = dims_positions(&p->to->d), n = (size_t)p->to->d.c;
	size_t row = (size_t)i * p->run;
	size_t lda = (size_t)p->a->d.c, ldb = (size_t)p->b->d.c;

	(void)thread;
	dnnl_multiply(p->ta, p->tb, m - row < p->run ? m - row : p->run, n,
	    p->k, p->a->v + row * (p->ta ? 1 : lda), lda, p->b->v, ldb,
	    p->to->v + row * n, n);
}

/*
 * Compute the product ${p}, and copy or add (${more}) it into clip ${n} of the
 * activation ${x}.
 */
static void
cpu_matrix_multiply(const struct task *t, int n, void *x, int more,
    struct cpu_matrix_product p)
{
	const struct dims *d = &p.to->d;
	size_t m = dims_positions(d), runs = m / RUN;

	runs = runs < 1 ? 1 : runs > RUNS ? RUNS : runs;
	p.run = (m + runs - 1) / runs;
	p.k = p.ta ? dims_positions(&p.a->d) : (size_t)p.a->d.c;
	cpu_run(t, (int)((m + p.run - 1) / p.run), cpu_matrix_multiply_part,
	    &p);
	cpu_rows_write(t, d, cpu_matrix_clip(d, x, n), p.to->v, more);
}

static void
cpu_matrix_forward(struct task *t)
{
	struct cpu_matrix_rows a = cpu_matrix_rows(&t->in[0], t->scratch);
	struct cpu_matrix_rows b = cpu_matrix_rows(&t->in[1],
	    a.v + cpu_matrix_size(&a.d));
	struct cpu_matrix_rows y = cpu_matrix_rows(&t->out,
	    b.v + cpu_matrix_size(&b.d));

	for (int n = 0; n < t->out.n; n++) {
		cpu_matrix_pack(t, n, &a, t->x[0]);
		cpu_matrix_pack(t, n, &b, t->x[1]);
		cpu_matrix_multiply(t, n, t->y, 0, (struct cpu_matrix_product){
			.a = &a, .ta = t->op->bmm.transpose & TRANSPOSE_A,
			.b = &b, .tb = t->op->bmm.transpose & TRANSPOSE_B,
			.to = &y });
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
	struct cpu_matrix_rows a = cpu_matrix_rows(&t->in[0], t->scratch);
	struct cpu_matrix_rows b = cpu_matrix_rows(&t->in[1],
	    a.v + cpu_matrix_size(&a.d));
	struct cpu_matrix_rows dy = cpu_matrix_rows(&t->out,
	    b.v + cpu_matrix_size(&b.d));
	struct cpu_matrix_rows da = { a.d, dy.v + cpu_matrix_size(&dy.d) },
	    db = { b.d, da.v };
	const struct cpu_matrix_product of[2] = { ta ?
		(struct cpu_matrix_product){ .a = &b, .ta = tb, .b = &dy,
		    .tb = 1, .to = &da } :
		(struct cpu_matrix_product){ .a = &dy, .b = &b, .tb = !tb,
		    .to = &da }, tb ?
		(struct cpu_matrix_product){ .a = &dy, .ta = 1, .b = &a,
		    .tb = ta, .to = &db } :
		(struct cpu_matrix_product){ .a = &a, .ta = !ta, .b = &dy,
		    .to = &db } };

	for (int n = 0; n < t->out.n; n++) {
		cpu_matrix_pack(t, n, &a, t->x[0]);
		cpu_matrix_pack(t, n, &b, t->x[1]);
		cpu_matrix_pack(t, n, &dy, t->dy);
		for (int j = 0; j < 2; j++)
			if (t->dx[j] != NULL)
				cpu_matrix_multiply(t, n, t->dx[j],
				    t->accumulate[j], of[j]);
	}
}

const struct op_impl cpu_bmm = {
	.reads = READS_X, .scratch = cpu_matrix_scratch,
	.forward = cpu_matrix_forward, .backward = cpu_matrix_backward,
};
