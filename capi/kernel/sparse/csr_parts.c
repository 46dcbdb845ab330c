/* Parts of a csr matrix, and sums over it; see csr_parts.h. */
#include "kernel/sparse/csr_parts.h"

#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"

static void copy_elements(size_t width, const mxl_csr *m, int64_t from, int64_t count,
                          int64_t *indices, void *values, int64_t to)
{
    memcpy(indices + to, m->indices + from, (size_t)count * sizeof(int64_t));
    memcpy((char *)values + (size_t)to * width, (const char *)m->values + (size_t)from * width,
           (size_t)count * width);
}

void mxl_sparse_take_ends(const mxl_csr *m, int64_t count, const int64_t *positions,
                          int64_t *indptr)
{
    indptr[0] = 0;
    for (int64_t k = 0; k < count; k++)
        indptr[k + 1] = indptr[k] + m->indptr[positions[k] + 1] - m->indptr[positions[k]];
}

void mxl_csr_take_rows(size_t width, const mxl_csr *m, int64_t count, const int64_t *positions,
                       const int64_t *indptr, int64_t *indices, void *values)
{
    for (int64_t k = 0; k < count; k++)
        copy_elements(width, m, m->indptr[positions[k]], indptr[k + 1] - indptr[k], indices, values,
                      indptr[k]);
}

void mxl_sparse_cut_ends(const mxl_csr *m, int64_t first, int64_t count, int64_t begin, int64_t end,
                         int64_t *indptr)
{
    indptr[0] = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t found = 0;

        if (end == INT64_MAX) {
            indptr[row + 1] = m->indptr[first + row + 1] - m->indptr[first];
            continue;
        }
        for (int64_t k = m->indptr[first + row]; k < m->indptr[first + row + 1]; k++)
            found += m->indices[k] >= begin && m->indices[k] < end;
        indptr[row + 1] = indptr[row] + found;
    }
}

void mxl_sparse_cut(size_t width, const mxl_csr *m, int64_t first, int64_t count, int64_t begin,
                    int64_t end, int64_t *indices, void *values)
{
    int64_t to = 0;

    if (end == INT64_MAX) {
        copy_elements(width, m, m->indptr[first], m->indptr[first + count] - m->indptr[first],
                      indices, values, 0);
        return;
    }
    for (int64_t k = m->indptr[first]; k < m->indptr[first + count]; k++) {
        if (m->indices[k] < begin || m->indices[k] >= end)
            continue;
        copy_elements(width, m, k, 1, indices, values, to);
        indices[to++] -= begin;
    }
}

#define SUMS(type, name)                                                                           \
    static void row_sums_##name(const mxl_csr *m, double scale, type *out)                         \
    {                                                                                              \
        const type *values = m->values;                                                            \
                                                                                                   \
        for (int64_t row = 0; row < m->rows; row++) {                                              \
            double sum[4] = {0, 0, 0, 0};                                                          \
            int64_t k = m->indptr[row], end = m->indptr[row + 1];                                  \
                                                                                                   \
            for (; k + 4 <= end; k += 4) {                                                         \
                for (int i = 0; i < 4; i++)                                                        \
                    sum[i] += (double)values[k + i];                                               \
            }                                                                                      \
            for (; k < end; k++)                                                                   \
                sum[0] += (double)values[k];                                                       \
            out[row] = (type)((sum[0] + sum[1] + (sum[2] + sum[3])) * scale);                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void column_sums_##name(const mxl_csr *m, int64_t columns, double scale, type *out)     \
    {                                                                                              \
        const type *values = m->values;                                                            \
                                                                                                   \
        memset(out, 0, (size_t)columns * sizeof(type));                                            \
        for (int64_t k = 0; k < m->indptr[m->rows]; k++)                                           \
            out[m->indices[k]] += values[k];                                                       \
        for (int64_t j = 0; j < columns && scale != 1; j++)                                        \
            out[j] = (type)((double)out[j] * scale);                                               \
    }

SUMS(float, f32)
SUMS(double, f64)

void mxl_sparse_row_sums(int dtype, const mxl_csr *m, double scale, void *out)
{
    if (dtype == MXL_F32)
        row_sums_f32(m, scale, out);
    else
        row_sums_f64(m, scale, out);
}

void mxl_sparse_column_sums(int dtype, const mxl_csr *m, int64_t columns, double scale, void *out)
{
    if (dtype == MXL_F32)
        column_sums_f32(m, columns, scale, out);
    else
        column_sums_f64(m, columns, scale, out);
}

void mxl_sparse_column_counts(const mxl_csr *m, int64_t columns, int64_t *out)
{
    memset(out, 0, (size_t)columns * sizeof(*out));
    for (int64_t k = 0; k < m->indptr[m->rows]; k++)
        out[m->indices[k]]++;
}
