/* Matrix products without a library. For ops/matrix.c; a back end may take its place. */
#ifndef MXL_KERNEL_GEMM_H
#define MXL_KERNEL_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* C = op(A) op(B), or C += with `accumulate`. Row-major: op(A) is m x k, op(B) is k x n, C is m x
 * n; A is stored k x m where `ta`, B n x k where `tb`; ld* are elements from row to row of what is
 * stored. float32, float64, float16 (computed in float32), int32 and int64 (wrapping). C must not
 * overlap A or B. The bits do not depend on the number of threads. -1 with the error set: another
 * dtype, out of memory (C is then as it was, or a part of the sum). */
int mxl_gemm(int dtype, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
             int64_t lda, const void *b, int64_t ldb, void *c, int64_t ldc, bool accumulate);

#endif
