#ifndef BACKEND_CPU_MATRIX_H
#define BACKEND_CPU_MATRIX_H

#include <stddef.h>

/*
 * matrix_product(ta, tb, m, n, k, a, lda, b, ldb, c, ldc):
 * c[m][n] = A[m][k] B[k][n] by the calling thread alone, where A is ${a} or,
 * with ${ta}, its transpose, and so on; ${lda} floats from row to row as they
 * lie.  oneDNN's product; the sum over k does not depend on ${m}.
 */
void matrix_product(int ta, int tb, size_t m, size_t n, size_t k,
    const float *a, size_t lda, const float *b, size_t ldb, float *c,
    size_t ldc);

#endif
