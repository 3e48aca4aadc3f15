#ifndef BACKEND_CPU_MATRIX_H
#define BACKEND_CPU_MATRIX_H

#include <stddef.h>

/*
 * matrix_gemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc):
 * Compute the GEMM C = A B in fp32 on the calling thread, where A is
 * [${m}][${k}], B is [${k}][${n}] and C is [${m}][${n}], all row-major.  If
 * ${ta} is not 0, ${a} holds the transpose of A, and likewise ${tb} and ${b}.
 * ${lda}, ${ldb} and ${ldc} are the floats from one stored row to the next.
 * oneDNN's dnnl_sgemm does the work.  The order of the sum over k does not
 * depend on ${m}.  A failure of oneDNN ends the program.
 */
void matrix_gemm(int ta, int tb, size_t m, size_t n, size_t k,
    const float *a, size_t lda, const float *b, size_t ldb, float *c,
    size_t ldc);

#endif
