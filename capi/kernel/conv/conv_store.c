/* See conv_store.h. */
#include "kernel/conv/conv_store.h"

#include <stddef.h>

#include "kernel/target.h"

/* Elements [i, i + count) of a row of neighbours. */
#define SOME(T, count, sum)                                                                        \
    do {                                                                                           \
        MXL_IVDEP                                                                                  \
        MXL_AS_LOOP                                                                                \
        for (int64_t j = i; j < i + (count); j++) {                                                \
            T y = sum;                                                                             \
                                                                                                   \
            dst[j] = MXL_CONV_LIMIT(y, low, high);                                                 \
        }                                                                                          \
    } while (0)

/* Where neighbours stay neighbours, whole vectors: the last one overlaps the one before. */
MXL_INLINE void neighbours(const mxl_conv_row *r, const float *sums, const float *add, float *dst)
{
    float bias = (float)r->bias, low = (float)r->low, high = (float)r->high;
    int64_t some = r->n < 16 ? r->n : 16, i = 0;

    for (int64_t left = r->n; left > 0; left -= some) {
        i = left < some ? r->n - some : i;
        if (some < 16 && add == NULL)
            SOME(float, some, sums[j] + bias);
        else if (some < 16)
            SOME(float, some, sums[j] + bias + add[j]);
        else if (add == NULL)
            SOME(float, 16, sums[j] + bias);
        else
            SOME(float, 16, sums[j] + bias + add[j]);
        i += some;
    }
}

/* Any row, one element after another. */
#define ANY(T)                                                                                     \
    for (int64_t k = 0, at = 0; k < r->n; k++, at += r->apart) {                                   \
        T y = sums[k] + (r->adds_up ? dst[at] : (T)r->bias) + (add != NULL ? add[at] : 0);         \
                                                                                                   \
        dst[at] = MXL_CONV_LIMIT(y, (T)r->low, (T)r->high);                                        \
    }

MXL_INLINE void store_f32_at(int level, const mxl_conv_row *r, const float *sums, const float *add,
                             float *dst)
{
    int64_t i = 0;

    (void)level;
    if (r->apart != 1) {
        ANY(float)
    } else if (!r->adds_up) {
        neighbours(r, sums, add, dst);
    } else {
        float low = (float)r->low, high = (float)r->high;

        if (add == NULL)
            SOME(float, r->n, sums[j] + dst[j]);
        else
            SOME(float, r->n, sums[j] + dst[j] + add[j]);
    }
}
MXL_FROM_AVX2(store_f32, (const mxl_conv_row *row, const float *sums, const float *add, float *dst),
              row, sums, add, dst)

void mxl_conv_store_f32(const mxl_conv_row *row, const float *sums, const float *add, float *dst)
{
    store_f32(row, sums, add, dst);
}

/* (The compiler vectorises a loop of doubles for the baseline.) */
void mxl_conv_store_f64(const mxl_conv_row *r, const double *sums, const double *add, double *dst)
{
    double bias = r->bias, low = r->low, high = r->high;
    int64_t i = 0;

    if (r->apart == 1 && !r->adds_up && add == NULL)
        SOME(double, r->n, sums[j] + bias);
    else if (r->apart == 1 && add == NULL)
        SOME(double, r->n, sums[j] + dst[j]);
    else
        ANY(double)
}
