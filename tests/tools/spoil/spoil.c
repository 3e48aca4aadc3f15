/*
 * Wrong results, to test that vt-bench detects them.  tests/build.mk links the
 * command with --wrap for the calls whose results vt-bench verifies.  Each
 * wrapper changes one value by a large amount.
 */
#include "bench/fixture.h"
#include "bench/stored.h"
#include "comm/allreduce.h"
#include "comm/exact.h"
#include "data/loader.h"
#include "ingest/extract.h"
#include "net/parity/job.h"

int __real_allreduce_run(struct allreduce *a, void *x, size_t from, size_t to);
int __wrap_allreduce_run(struct allreduce *a, void *x, size_t from, size_t to);
int __real_exact_allreduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result);
int __wrap_exact_allreduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result);
void __real_extract_video(const struct list_row *row,
    const struct extract_options *o, struct extractor *e, struct extraction *x);
void __wrap_extract_video(const struct list_row *row,
    const struct extract_options *o, struct extractor *e, struct extraction *x);
int __real_loader_next(struct loader *l, struct microbatch **mb);
int __wrap_loader_next(struct loader *l, struct microbatch **mb);
void __real_parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n);
void __wrap_parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n);
double __real_fixture_loss(struct fixture *r);
double __wrap_fixture_loss(struct fixture *r);
int __real_stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole);
int __wrap_stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole);

/* Change the first element of a sum. */
static void
spoil_sum(void *sum)
{
	*(float *)sum = -1e6f - *(float *)sum;
}

int
__wrap_allreduce_run(struct allreduce *a, void *x, size_t from, size_t to)
{
	int bad = __real_allreduce_run(a, x, from, to);

	spoil_sum(x);
	return bad;
}

int
__wrap_exact_allreduce(struct exact *e, const struct tree *t, size_t from, size_t to,
    void *result)
{
	int bad = __real_exact_allreduce(e, t, from, to, result);

	spoil_sum(result);
	return bad;
}

/* Report one frame more than was extracted. */
void
__wrap_extract_video(const struct list_row *row,
    const struct extract_options *o, struct extractor *e, struct extraction *x)
{
	__real_extract_video(row, o, e, x);
	x->account.frames++;
}

/* Change one of two loaders that are called alternately. */
int
__wrap_loader_next(struct loader *l, struct microbatch **mb)
{
	static int calls;
	int got = __real_loader_next(l, mb);

	if (got == 1 && calls++ % 2 == 0)
		(*mb)->stream->bytes[0] ^= 0xff;
	return got;
}

/* Change the first value that is compared. */
void
__wrap_parity_compare(struct parity_job *j, double *worst, double *got,
    const double *want, size_t n)
{
	static int spoilt;

	if (!spoilt++)
		got[0] = -1e6 - got[0];
	__real_parity_compare(j, worst, got, want, n);
}

double
__wrap_fixture_loss(struct fixture *r)
{
	return -1 - __real_fixture_loss(r);
}

int
__wrap_stored_compare(struct stored *s, size_t i, uint8_t *part, uint8_t *whole)
{
	int bad = __real_stored_compare(s, i, part, whole);

	part[0] ^= 0xff;
	return bad;
}
