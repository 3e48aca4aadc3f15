/* GEMM by oneDNN (matrix.h). */
#include "backend/cpu/dnnl_conv.h"
#include "backend/cpu/matrix.h"
#include "base/fail.h"

void
matrix_gemm(int ta, int tb, size_t m, size_t n, size_t k, const float *a,
    size_t lda, const float *b, size_t ldb, float *c, size_t ldc)
{
	dnnl_one_thread();
	/* The plan has checked the shapes, so a failure is a bug. */
	if (dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', (dnnl_dim_t)m,
	    (dnnl_dim_t)n, (dnnl_dim_t)k, 1, a, (dnnl_dim_t)lda, b,
	    (dnnl_dim_t)ldb, 0, c, (dnnl_dim_t)ldc) != dnnl_success)
		die(1, "oneDNN failed to multiply matrices");
}
