/* Attention without a matrix of scores: tiles of them, one after another. For
 * ops/nn/scaled_attention.c. */
#ifndef MXL_KERNEL_ATTENTION_ATTENTION_H
#define MXL_KERNEL_ATTENTION_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* y = softmax(scale q k' + mask) v, `count` times: contiguous arrays q (count, queries, size), k
 * (count, keys, size), v (count, keys, width), y (count, queries, width), all of one dtype, float32
 * or float64. The online softmax is that of Milakov and Gimelshein (2018), the tiles are those of
 * Dao et al. (2022). */
typedef struct mxl_attention {
    int dtype;
    int64_t count, queries, keys, size, width;
    double scale;
    bool causal;    /* query i has no score of the keys after i */
    bool turned;    /* k is (count, size, keys); not of mxl_attend_back */
    bool undefined; /* a query whose scores are all -infinity has NaN */
    const void *q, *k, *v;
    const void *mask; /* NULL, or what is added to the scores: element [mask_begin[c] + i * mask_row
                         + j * mask_column] of product c, query i and key j */
    const int64_t *mask_begin;
    int64_t mask_row, mask_column;
} mxl_attention;

/* Also gives `lse` (count, queries), unless it is NULL: the logarithm of the sum of the
 * exponentials of a query's scores. A query whose scores are all -infinity has y = 0 (or NaN) and
 * lse = -infinity. Memory beside the results does not depend on the number of queries and keys,
 * bits not on the number of threads. -1 with the error set: out of memory. */
int mxl_attend(const mxl_attention *a, void *y, void *lse);

/* dq, dk and dv of dy, from what mxl_attend gave; NULL: not wanted. Memory beside the results is of
 * q's size. -1 with the error set: out of memory. */
int mxl_attend_back(const mxl_attention *a, const void *y, const void *lse, const void *dy,
                    void *dq, void *dk, void *dv);

#endif
