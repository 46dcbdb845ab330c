/* The inmost loops of matrix products, chosen for the processor at hand. Called by gemm.tmpl.h. */
#ifndef MXL_KERNEL_GEMM_MICRO_H
#define MXL_KERNEL_GEMM_MICRO_H

#include <stdint.h>

enum { MXL_GEMM_MR = 12, MXL_GEMM_NR = 32 }; /* the largest tile of any of them */

typedef struct mxl_gemm_micro {
    int mr, nr;
    /* c[mr][nr] (rows ldc elements apart) = or += (add) the product of k columns of mr elements at
     * a and k rows of nr elements at b, both packed. */
    void (*run)(int64_t k, const void *a, const void *b, void *c, int64_t ldc, int add);
} mxl_gemm_micro;

const mxl_gemm_micro *mxl_gemm_micro_f32(void);
const mxl_gemm_micro *mxl_gemm_micro_f64(void);

#endif
