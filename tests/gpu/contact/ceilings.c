/*
 * ceilings [MIB [SIDE [ROUNDS]]]: measure the memory bandwidth of a GPU and the
 * rate of its GEMMs, as rows of vt-bench(1).  The rows are GB/s of copies of
 * MIB MiB, with reads and writes both counted, and TFLOP/s of products of SIDE
 * by SIDE matrices of random numbers.  Each of ROUNDS rounds measures ten
 * operations.  Training steps are compared with these ceilings; see
 * tests/gpu/contact/README.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"

#include "gpu/standin/standin.h"

enum { TIMES = 10 };

struct ceilings_bench {
	struct driver *d;
	struct gpu_stream *s;
	int rounds;
};

static int
ceilings_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Print a row of ${rate}, one value for each round, after sorting it. */
static void
ceilings_row(const struct ceilings_bench *b, const char *name, const char *unit,
    double *rate)
{
	qsort(rate, (size_t)b->rounds, sizeof(*rate), ceilings_compare);
	printf("ceiling/%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t\n", name, unit, b->rounds,
	    rate[0], rate[b->rounds / 2], rate[b->rounds - 1]);
	fflush(stdout);
}

static void
ceilings_finish(const struct ceilings_bench *b)
{
	if (b->d->call->wait(b->d, b->s) != 0)
		exit(1);
}

static void *
ceilings_alloc(const struct ceilings_bench *b, size_t bytes)
{
	void *p = b->d->call->alloc(b->d, bytes);

	if (p == NULL)
		exit(1);
	return p;
}

static void
ceilings_copies(const struct ceilings_bench *b, size_t bytes)
{
	double *rate = xcalloc((size_t)b->rounds, sizeof(*rate));
	void *from = ceilings_alloc(b, bytes), *to = ceilings_alloc(b, bytes);

	b->d->call->fill(b->d, b->s, from, 0x3c, bytes);
	for (int i = -1; i < b->rounds; i++) {
		double start;

		ceilings_finish(b);
		start = clock_seconds();
		for (int k = 0; k < TIMES; k++)
			b->d->call->copy(b->d, b->s, to, from, bytes);
		ceilings_finish(b);
		if (i >= 0)
			rate[i] = 2e-9 * TIMES * (double)bytes /
			    (clock_seconds() - start);
	}
	ceilings_row(b, "copy", "GB/s", rate);
	b->d->call->free(b->d, from);
	b->d->call->free(b->d, to);
	free(rate);
}

/* Fill with random numbers of absolute value 0.5 to 1.  Zeros would draw less
 * power, and would therefore be faster than real work. */
static void
ceilings_randomize(const struct ceilings_bench *b, void *at, size_t n,
    enum gpu_type type)
{
	size_t bytes = n * (type == GPU_F32 ? 4 : 2);
	uint32_t *host = b->d->call->alloc_host(b->d, bytes), x = 1;
	const uint32_t keep[] = { 0x807fffff, 0x807f807f, 0x83ff83ff };
	const uint32_t set[] = { 0x3f000000, 0x3f003f00, 0x38003800 };

	if (host == NULL)
		exit(1);
	for (size_t i = 0; i < bytes / 4; i++) {
		x = x * 1664525 + 1013904223;
		host[i] = ((x ^ x >> 15) & keep[type]) | set[type];
	}
	b->d->call->copy(b->d, b->s, at, host, bytes);
	ceilings_finish(b);
	b->d->call->free_host(b->d, host);
}

static void
ceilings_products(const struct ceilings_bench *b, int side, enum gpu_type type)
{
	static const char *const name[] = { "product/fp32", "product/bf16",
		"product/fp16" };
	size_t n = (size_t)side * (size_t)side, size = type == GPU_F32 ? 4 : 2;
	struct gemm_shape shape = { .m = side, .n = side, .k = side,
		.batch = 1, .lda = (size_t)side, .ldb = (size_t)side,
		.ldc = (size_t)side, .type_ab = type, .type_c = type };
	struct gemm_plan *p = b->d->call->gemm_new(b->d, &shape);
	double *rate = xcalloc((size_t)b->rounds, sizeof(*rate));
	void *at[4];

	if (p == NULL)
		exit(1);
	for (int i = 0; i < 3; i++) {
		at[i] = ceilings_alloc(b, n * size);
		ceilings_randomize(b, at[i], n, type);
	}
	at[3] = ceilings_alloc(b, b->d->call->gemm_workspace(b->d, p) + 1);
	for (int i = -1; i < b->rounds; i++) {
		double start;

		ceilings_finish(b);
		start = clock_seconds();
		for (int k = 0; k < TIMES; k++)
			b->d->call->gemm(b->d, b->s, p, at[0], at[1],
			    at[2], at[3]);
		ceilings_finish(b);
		if (i >= 0)
			rate[i] = 2e-12 * TIMES * (double)n * side /
			    (clock_seconds() - start);
	}
	ceilings_row(b, name[type], "TFLOP/s", rate);
	for (int i = 0; i < 4; i++)
		b->d->call->free(b->d, at[i]);
	b->d->call->gemm_free(b->d, p);
	free(rate);
}

static int
ceilings_number(int argc, char **argv, int i, int usual)
{
	int n = i < argc ? atoi(argv[i]) : usual;

	if (n < 1)
		die(2, "usage: ceilings [MIB [SIDE [ROUNDS]]]");
	return n;
}

int
main(int argc, char **argv)
{
	size_t bytes = (size_t)ceilings_number(argc, argv, 1, 2048) << 20;
	int side = ceilings_number(argc, argv, 2, 8192);
	struct device *d;
	struct ceilings_bench b;

	program_start(argv[0]);
	b.rounds = ceilings_number(argc, argv, 3, 5);
	d = device_open(standin_backend(STANDIN_LATE), &(struct device_options){
	    .threads = 1 });
	if (d == NULL)
		return 2;
	b.d = standin_of(d);
	if ((b.s = b.d->call->stream_new(b.d, 0)) == NULL)
		return 1;
	puts("#name\tunit\tn\tmin\tmedian\tp99\tnote");
	ceilings_copies(&b, bytes);
	for (int type = GPU_F32; type <= GPU_F16; type++)
		ceilings_products(&b, side, (enum gpu_type)type);
	b.d->call->stream_free(b.d, b.s);
	device_close(d);
	return 0;
}
