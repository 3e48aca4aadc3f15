/*
 * The temporal shift agrees with the program of TSM, and batch normalization in
 * groups with PySlowFast's split batches, on every back end.
 */
#include "backend/backend.h"
#include "base/mem.h"
#include "base/table.h"

#include "tap.h"

enum { MOST = 256 };

struct numbers { double v[MOST]; int n; };

/*
 * Return the values of column ${name} in rows whose first cell is ${key}, or in
 * all if it is NULL.
 */
static struct numbers
column(const struct table *t, const char *key, const char *name)
{
	struct numbers x = { .n = 0 };

	for (size_t r = 0; r < t->rows && x.n < MOST; r++)
		if (key == NULL || strcmp(t->cell[r][0], key) == 0)
			table_real(t, r, name, -1e9, 1e9, &x.v[x.n++]);
	return x;
}

/* Return the larger of ${largest} and |d|; NaN counts as infinite. */
static double
larger(double largest, double d)
{
	return fabs(d) <= largest ? largest : isnan(d) ? INFINITY : fabs(d);
}

/*
 * Run an operator on x[dims] with parameters ${w}, and write y[dims].  In
 * training run it backward too, with a gradient of 0, and write statistics to
 * ${dw}, [nparam][c].
 */
static void
run(struct device *b, struct op *op, const struct dims *dims, int training,
    const double *x, double w[][MOST], double *y, double dw[][MOST])
{
	const struct op_impl *impl = b->ops[op->kind];
	struct task t = { .device = b, .op = op, .impl = impl, .materialized = 1,
		.training = training, .out = *dims,
		.in = { *dims }, .needs_input_grad = { 1 }, .reads = impl->reads,
		.needs_weight_grad = training && op->nparam > 0 };
	double zeros[MOST] = { 0 };

	if (impl->prepare != NULL && impl->prepare(&t) != 0)
		exit(1);
	t.x[0] = device_alloc(b, device_bytes(b, dims));
	device_write(b, (void *)t.x[0], dims, x);
	t.dy = device_alloc(b, device_bytes(b, dims));
	device_write(b, (void *)t.dy, dims, zeros);
	t.y = device_alloc(b, device_bytes(b, dims));
	t.dx[0] = device_alloc(b, device_bytes(b, dims));
	for (int k = 0; k < op->nparam; k++) {
		void *p = device_alloc(b, (size_t)dims->c * b->elem);

		device_put(b, p, w[k], (size_t)dims->c);
		t.w[k] = p;
		t.dw[k] = device_alloc(b, (size_t)dims->c * b->elem);
	}
	t.saved = device_alloc(b, impl->saved ? impl->saved(&t) : 1);
	t.scratch = device_alloc(b, impl->scratch ? impl->scratch(&t) : 1);
	impl->forward(&t);
	if (training && impl->backward != NULL)
		impl->backward(&t);
	device_read(b, y, dims, t.y);
	for (int k = 0; k < op->nparam; k++) {
		if (training)
			device_get(b, dw[k], t.dw[k], (size_t)dims->c);
		device_free(b, (void *)t.w[k]);
		device_free(b, t.dw[k]);
	}
	device_free(b, (void *)t.x[0]);
	device_free(b, (void *)t.dy);
	device_free(b, t.y);
	device_free(b, t.dx[0]);
	device_free(b, t.saved);
	device_free(b, t.scratch);
	if (impl->release != NULL)
		impl->release(&t);
}

/* Rows are [n][t][c], as our activations. */
static void
test_shift(struct device *b)
{
	struct table *t = table_read(golden_path(
	    "op_tsm_shift_n2_t4_c8_div8.tsv"));
	struct numbers in = column(t, NULL, "in"), out = column(t, NULL, "out");
	struct op op = { .kind = OP_SHIFT, .name = "shift", .nin = 1, .shift.fold = 8 };
	struct dims d = { 2, 4, 1, 1, 8 };
	double y[MOST];
	int same = 0;

	run(b, &op, &d, 1, in.v, NULL, y, NULL);
	for (int i = 0; i < out.n; i++)
		same += y[i] == out.v[i];
	ok(out.n == 64 && same == out.n,
	    "%s: the shift equals that of TSM", b->backend->name);
	table_free(t);
}

/*
 * The table has [4][2][1][2][2] values in the order n c t h w.  Its split s of
 * 2 is clips s and s + 2. tests/golden/README.md has gamma and beta.  Each
 * channel is used twice, because the cpu back end needs more than three.
 */
static void
test_bn(struct device *b)
{
	struct table *t = table_read(golden_path(
	    "op_subbn_n4_c2_t1_h2_w2_splits2.tsv"));
	struct numbers x = column(t, "x", "value");
	struct numbers want = column(t, "y_train", "value");
	struct numbers mean = column(t, "split_running_mean", "value");
	struct numbers var = column(t, "split_running_var", "value");
	struct op op = { .kind = OP_BN, .name = "bn", .nin = 1,
		.bn = { .gamma = 1, .eps = 1e-5 } };
	struct dims d = { 2, 1, 2, 2, 4 };
	struct param param[OP_PARAMS];
	double w[OP_PARAMS][MOST], dw[OP_PARAMS][MOST], ours[MOST], y[MOST];
	double values = 0, statistics = 0, between = 0;

	op.nparam = op_types[OP_BN].params(&op, d.c, param);
	/* As graph_between adds it. */
	param[op.nparam] = param[op.nparam - 1];
	param[op.nparam++].kind = PARAM_BETWEEN;
	for (int k = 0; k < op.nparam; k++)
		for (int c = 0; c < 4; c++)
			w[k][c] = param[k].kind == PARAM_SCALE ?
			    (c % 2 == 0 ? 1.5 : -0.5) : param[k].kind ==
			    PARAM_OFFSET ? (c % 2 == 0 ? 0.1 : 0.2) :
			    param[k].kind == PARAM_MEAN ? 0.5 :
			    param[k].kind == PARAM_VAR;
	for (int s = 0; s < 2; s++) {
		for (int i = 0; i < 32; i++) {		/* n, h w, c */
			int clip = s + 2 * (i / 16), at = i / 4 % 4, c = i % 2;

			ours[i] = x.v[(clip * 2 + c) * 4 + at];
		}
		run(b, &op, &d, 1, ours, w, y, dw);
		for (int i = 0; i < 32; i++) {
			int clip = s + 2 * (i / 16), at = i / 4 % 4, c = i % 2;

			values = larger(values, y[i] -
			    want.v[(clip * 2 + c) * 4 + at]);
		}
		/* After one step of momentum 0.1 from 0 and 1. */
		for (int k = 0; k < op.nparam; k++)
			for (int c = 0; c < 4; c++)
				if (param[k].kind == PARAM_MEAN)
					statistics = larger(statistics, 0.1 *
					    dw[k][c] - mean.v[2 * s + c % 2]);
				else if (param[k].kind == PARAM_VAR)
					statistics = larger(statistics, 0.9 +
					    0.1 * dw[k][c] - var.v[2 * s + c % 2]);
				else if (param[k].kind == PARAM_BETWEEN)
					between = larger(between, dw[k][c] -
					    pow(10 * mean.v[2 * s + c % 2] -
					    w[2][c], 2));
	}
	ok(want.n == 32 && values < 1e-5,
	    "%s: bn in groups equals PySlowFast's split bn", b->backend->name);
	ok(mean.n == 4 && var.n == 4 && statistics < 1e-6,
	    "%s: its running statistics equal PySlowFast's", b->backend->name);
	ok(between < 1e-6,
	    "%s: the between-group variance is (mean - running mean)^2",
	    b->backend->name);
	table_free(t);
}

int
main(void)
{
	for (int k = 0; backends[k] != NULL; k++) {
		struct device *b = device_open(backends[k],
		    &(struct device_options){ .threads = 2 });

		if (b == NULL)
			continue;
		test_shift(b);
		test_bn(b);
		device_close(b);
	}
	return done();
}
