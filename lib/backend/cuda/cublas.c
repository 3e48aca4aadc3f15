/*
 * GEMMs by cuBLASLt.  Its matrices are column-major, so a row-major matrix is
 * its transpose there, and c = op(a) op(b) becomes c' = op(b)' op(a)'.  Sums
 * are fp32, in an order that the algorithm fixes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/runtime.h"
#include "base/fail.h"
#include "base/mem.h"

#define WORKSPACE_MAX	((size_t)32 << 20)	/* bytes */

struct gemm_plan {
	struct gemm_shape s;
	cublasLtMatmulDesc_t what;
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulAlgo_t by;
	size_t workspace;
};

int
cublas_open(struct runtime *r)
{
	cublasStatus_t s;

	if (cublas_load(&r->blas, NULL) != 0)
		return -1;
	s = r->blas.cublasLtCreate(&r->blas_handle);
	return s == CUBLAS_STATUS_SUCCESS ? 0 : fail("%s (device %d): "
	    "cuBLASLt: %s", r->name, r->ordinal,
	    r->blas.cublasLtGetStatusString(s));
}

void
cublas_close(struct runtime *r)
{
	if (r->blas_handle != NULL)
		r->blas.cublasLtDestroy(r->blas_handle);
}

static cudaDataType_t
cublas_data_type(enum gpu_type type)
{
	static const cudaDataType_t of[] = { [GPU_F32] = CUDA_R_32F,
		[GPU_BF16] = CUDA_R_16BF, [GPU_F16] = CUDA_R_16F };

	return of[type];
}

/* Describe row-major matrix ${which} of a, b and c to cuBLASLt. */
static cublasStatus_t
cublas_layout(struct runtime *r, const struct gemm_shape *s, int which,
    cublasLtMatrixLayout_t *to)
{
	const struct cublas *b = &r->blas;
	const int a_size[2] = { s->m, s->k }, b_size[2] = { s->k, s->n };
	const int rows[] = { a_size[s->transpose_a], b_size[s->transpose_b],
		s->m };
	const int columns[] = { a_size[!s->transpose_a],
		b_size[!s->transpose_b], s->n };
	const size_t ld[] = { s->lda, s->ldb, s->ldc };
	const size_t stride[] = { s->stride_a, s->stride_b, s->stride_c };
	int64_t apart = (int64_t)stride[which];
	int32_t n = s->batch;
	cublasStatus_t e = b->cublasLtMatrixLayoutCreate(to,
	    cublas_data_type(which < 2 ? s->type_ab : s->type_c),
	    (uint64_t)columns[which], (uint64_t)rows[which],
	    (int64_t)ld[which]);

	if (e == CUBLAS_STATUS_SUCCESS)
		e = b->cublasLtMatrixLayoutSetAttribute(*to,
		    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof(n));
	if (e == CUBLAS_STATUS_SUCCESS)
		e = b->cublasLtMatrixLayoutSetAttribute(*to,
		    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart,
		    sizeof(apart));
	return e;
}

/* Describe the GEMM of ${p}, with a and b exchanged. */
static cublasStatus_t
cublas_describe(struct runtime *r, struct gemm_plan *p)
{
	const struct cublas *b = &r->blas;
	const struct gemm_shape *s = &p->s;
	/* Exchanged, see above: the first operand of cuBLASLt is b. */
	cublasOperation_t first = s->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasOperation_t second = s->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasStatus_t e = b->cublasLtMatmulDescCreate(&p->what,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F);

	if (e == CUBLAS_STATUS_SUCCESS)
		e = b->cublasLtMatmulDescSetAttribute(p->what,
		    CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first));
	if (e == CUBLAS_STATUS_SUCCESS)
		e = b->cublasLtMatmulDescSetAttribute(p->what,
		    CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second));
	if (e == CUBLAS_STATUS_SUCCESS)
		e = cublas_layout(r, s, 0, &p->a);
	if (e == CUBLAS_STATUS_SUCCESS)
		e = cublas_layout(r, s, 1, &p->b);
	if (e == CUBLAS_STATUS_SUCCESS)
		e = cublas_layout(r, s, 2, &p->c);
	return e;
}

/*
 * Select the algorithm by cuBLASLt's heuristics, with fp32 reductions only.
 *
 * Activations begin at multiples of 16 bytes.  Float matrices may be in the
 * flat parameter buffer, at any multiple of 4 bytes.  A and B keep cuBLASLt's
 * default alignment of 256 bytes, because their buffers begin at multiples of
 * 4096 (net/layout.c).
 */
static cublasStatus_t
cublas_pick(struct runtime *r, struct gemm_plan *p)
{
	const struct cublas *b = &r->blas;
	const size_t largest = WORKSPACE_MAX;
	/* INPLACE adds the parts of a sum in the type of c. */
	const uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
	    (p->s.type_c == GPU_F32 ? CUBLASLT_REDUCTION_SCHEME_INPLACE : 0);
	const uint32_t align = p->s.type_c == GPU_F32 ? 4 : 16;
	const struct { cublasLtMatmulPreferenceAttributes_t name;
		const void *at; size_t bytes; } set[] = {
		{ CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &largest,
		    sizeof(largest) },
		{ CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &sums,
		    sizeof(sums) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align,
		    sizeof(align) },
		{ CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align,
		    sizeof(align) },
	};
	cublasLtMatmulPreference_t request;
	cublasLtMatmulHeuristicResult_t got;
	cublasStatus_t e = b->cublasLtMatmulPreferenceCreate(&request);
	int n = 0;

	if (e != CUBLAS_STATUS_SUCCESS)
		return e;
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		if (e == CUBLAS_STATUS_SUCCESS)
			e = b->cublasLtMatmulPreferenceSetAttribute(request,
			    set[i].name, set[i].at, set[i].bytes);
	if (e == CUBLAS_STATUS_SUCCESS)
		e = b->cublasLtMatmulAlgoGetHeuristic(r->blas_handle, p->what,
		    p->b, p->a, p->c, p->c, request, 1, &got, &n);
	b->cublasLtMatmulPreferenceDestroy(request);
	if (e == CUBLAS_STATUS_SUCCESS && n == 0)
		e = CUBLAS_STATUS_NOT_SUPPORTED;
	if (e == CUBLAS_STATUS_SUCCESS) {
		p->by = got.algo;
		p->workspace = got.workspaceSize;
	}
	return e;
}

struct gemm_plan *
cublas_gemm_new(struct driver *d, const struct gemm_shape *s)
{
	struct runtime *r = (struct runtime *)d;
	struct gemm_plan *p = xcalloc(1, sizeof(*p));
	cublasStatus_t e;

	p->s = *s;
	/* cuBLASLt describes no device, so the plan has the largest
	 * workspace. */
	p->workspace = WORKSPACE_MAX;
	if (r->ordinal < 0)
		return p;
	cudaSetDevice(r->ordinal);
	e = cublas_describe(r, p);
	if (e == CUBLAS_STATUS_SUCCESS)
		e = cublas_pick(r, p);
	if (e == CUBLAS_STATUS_SUCCESS)
		return p;
	fail("cuBLASLt has no algorithm for %d GEMMs of %dx%d by %dx%d: %s",
	    s->batch, s->m, s->k, s->k, s->n,
	    r->blas.cublasLtGetStatusString(e));
	cublas_gemm_free(d, p);
	return NULL;
}

void
cublas_gemm_free(struct driver *d, struct gemm_plan *p)
{
	const struct cublas *b = &((struct runtime *)d)->blas;

	if (p == NULL)
		return;
	if (p->a != NULL)
		b->cublasLtMatrixLayoutDestroy(p->a);
	if (p->b != NULL)
		b->cublasLtMatrixLayoutDestroy(p->b);
	if (p->c != NULL)
		b->cublasLtMatrixLayoutDestroy(p->c);
	if (p->what != NULL)
		b->cublasLtMatmulDescDestroy(p->what);
	free(p);
}

size_t
cublas_gemm_workspace(struct driver *d, const struct gemm_plan *p)
{
	(void)d;
	return p->workspace;
}

void
cublas_gemm(struct driver *d, struct gpu_stream *s,
    const struct gemm_plan *p, const void *a, const void *b, void *c,
    void *workspace)
{
	struct runtime *r = (struct runtime *)d;
	const float one = 1, before = p->s.accumulate ? 1 : 0;
	cublasStatus_t e;

	cudaSetDevice(r->ordinal);
	e = r->blas.cublasLtMatmul(r->blas_handle, p->what, &one, b, p->b, a,
	    p->a, &before, c, p->c, c, p->c, &p->by, workspace, p->workspace,
	    s->at);
	if (e != CUBLAS_STATUS_SUCCESS)
		runtime_record_error(r, "a GEMM",
		    r->blas.cublasLtGetStatusString(e));
}
