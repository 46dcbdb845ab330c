/* See convolve.h: products of rows with a matrix. */
#include "base/thread.h"
#include "kernel/quantized/convolve.h"

enum { GRAIN = 1 << 18 }; /* products that are worth a thread */

typedef struct rows_work {
    bool is_unsigned;
    int64_t m, n, k;
    const char *x;
    const int8_t *w;
    const int32_t *bias;
    int32_t *y;
} rows_work;

enum { TOGETHER = 32 }; /* rows of the matrix that meet all rows of x */

static void run_rows(void *data, int64_t begin, int64_t end)
{
    const rows_work *r = data;

    for (int64_t first = begin; first < end; first += TOGETHER) {
        int64_t n = end - first < TOGETHER ? end - first : TOGETHER;

        for (int64_t i = 0; i < r->m; i++) {
            int32_t *y = r->y + i * r->n + first;

            mxl_dots_rows(r->is_unsigned, r->k, r->x + i * r->k, r->w + first * r->k, n, y);
            for (int64_t j = 0; j < n && r->bias != NULL; j++)
                y[j] += r->bias[first + j];
        }
    }
}

void mxl_quantized_dense(bool is_unsigned, int64_t m, int64_t n, int64_t k, const void *x,
                         const int8_t *w, const int32_t *bias, int32_t *y)
{
    rows_work r = {is_unsigned, m, n, k, x, w, bias, y};

    mxl_parallel_for(n, GRAIN / (m * k + 1) + 1, run_rows, &r);
}
