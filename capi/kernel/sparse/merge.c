/* Unions of sparse patterns; see merge.h. Threads share the rows. */
#include "kernel/sparse/merge.h"

#include <string.h>

#include "base/thread.h"

enum { ELEMENT_GRAIN = 1 << 14, BYTES_GRAIN = 1 << 17 };

int64_t mxl_sparse_union(const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int64_t *at,
                         int64_t *in_a, int64_t *in_b)
{
    int64_t i = 0, j = 0, found = 0;

    while (i < na || j < nb) {
        int from_a = j == nb || (i < na && a[i] <= b[j]);
        int from_b = i == na || (j < nb && b[j] <= a[i]);

        at[found] = from_a ? a[i] : b[j];
        in_a[found] = from_a ? i : -1;
        in_b[found++] = from_b ? j : -1;
        i += from_a;
        j += from_b;
    }
    return found;
}

/* ---- csr ---- */

typedef struct merge_job {
    const mxl_csr *a, *b;
    const int64_t *indptr;
    int64_t *to;
    const void *dense;
    int64_t down, right;
    void *of_a, *of_b;
} merge_job;

/* Rows that are worth another thread. */
static int64_t rows_grain(int64_t rows, int64_t elements)
{
    int64_t row = 1 + elements / (rows > 0 ? rows : 1);

    return 1 + ELEMENT_GRAIN / row;
}

static int64_t elements_of(const mxl_csr *m)
{
    return m->indptr[m->rows];
}

void mxl_sparse_merge_rows(const mxl_csr *a, const mxl_csr *b, int64_t *indptr)
{
    for (int64_t row = 0; row <= a->rows; row++)
        indptr[row] = a->indptr[row] + b->indptr[row];
}

/* Loops over values of one width. */
#define LOOPS(type, name)                                                                          \
    static void merge_##name(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const merge_job *job = data;                                                               \
        const mxl_csr *a = job->a, *b = job->b;                                                    \
        const type *x = a->values, *y = b->values;                                                 \
        type *of_a = job->of_a, *of_b = job->of_b;                                                 \
                                                                                                   \
        for (int64_t row = begin; row < end; row++) {                                              \
            int64_t i = a->indptr[row], i_end = a->indptr[row + 1];                                \
            int64_t j = b->indptr[row], j_end = b->indptr[row + 1], k = job->indptr[row];          \
                                                                                                   \
            for (; i < i_end && j < j_end; k++) { /* no branch depends on the indices */           \
                int64_t p = a->indices[i], q = b->indices[j];                                      \
                                                                                                   \
                job->to[k] = p < q ? p : q;                                                        \
                of_a[k] = (type)(x[i] & (type) - (type)(p <= q));                                  \
                of_b[k] = (type)(y[j] & (type) - (type)(q <= p));                                  \
                i += p <= q;                                                                       \
                j += q <= p;                                                                       \
            }                                                                                      \
            for (; i < i_end; i++, k++) {                                                          \
                job->to[k] = a->indices[i];                                                        \
                of_a[k] = x[i];                                                                    \
                of_b[k] = 0;                                                                       \
            }                                                                                      \
            for (; j < j_end; j++, k++) {                                                          \
                job->to[k] = b->indices[j];                                                        \
                of_a[k] = 0;                                                                       \
                of_b[k] = y[j];                                                                    \
            }                                                                                      \
            for (; k < job->indptr[row + 1]; k++) {                                                \
                job->to[k] = 0;                                                                    \
                of_a[k] = of_b[k] = 0;                                                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void pick_##name(void *data, int64_t begin, int64_t end)                                \
    {                                                                                              \
        const merge_job *job = data;                                                               \
        const type *dense = job->dense;                                                            \
        type *out = job->of_a;                                                                     \
                                                                                                   \
        for (int64_t row = begin; row < end; row++) {                                              \
            const type *from = dense + row * job->down;                                            \
                                                                                                   \
            for (int64_t k = job->a->indptr[row]; k < job->a->indptr[row + 1]; k++)                \
                out[k] = from[job->a->indices[k] * job->right];                                    \
        }                                                                                          \
    }

LOOPS(uint8_t, 8)
LOOPS(uint16_t, 16)
LOOPS(uint32_t, 32)
LOOPS(uint64_t, 64)

void mxl_sparse_merge(size_t width, const mxl_csr *a, const mxl_csr *b, const int64_t *indptr,
                      int64_t *indices, void *of_a, void *of_b)
{
    merge_job job = {a, b, indptr, indices, .of_a = of_a, .of_b = of_b};

    mxl_parallel_for(a->rows, rows_grain(a->rows, elements_of(a) + elements_of(b)),
                     width == 4   ? merge_32
                     : width == 8 ? merge_64
                     : width == 2 ? merge_16
                                  : merge_8,
                     &job);
}

void mxl_sparse_pick(size_t width, const mxl_csr *pattern, const void *dense, int64_t down,
                     int64_t right, void *out)
{
    merge_job job = {.a = pattern, .dense = dense, .down = down, .right = right, .of_a = out};

    mxl_parallel_for(pattern->rows, rows_grain(pattern->rows, elements_of(pattern)),
                     width == 4   ? pick_32
                     : width == 8 ? pick_64
                     : width == 2 ? pick_16
                                  : pick_8,
                     &job);
}

/* ---- rows ---- */

typedef struct gather_job {
    size_t row_bytes;
    const int64_t *positions;
    const char *in;
    char *out;
} gather_job;

static void gather_range(void *data, int64_t begin, int64_t end)
{
    const gather_job *job = data;

    for (int64_t k = begin; k < end; k++) {
        char *to = job->out + (size_t)k * job->row_bytes;

        if (job->positions[k] < 0)
            memset(to, 0, job->row_bytes);
        else
            memcpy(to, job->in + (size_t)job->positions[k] * job->row_bytes, job->row_bytes);
    }
}

void mxl_sparse_gather_or_zero(size_t row_bytes, int64_t count, const int64_t *positions,
                               const void *in, void *out)
{
    gather_job job = {row_bytes, positions, in, out};

    mxl_parallel_for(count, 1 + (int64_t)(BYTES_GRAIN / (row_bytes + 1)), gather_range, &job);
}
