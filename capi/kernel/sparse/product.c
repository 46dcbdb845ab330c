/* Products of csr and dense matrices; see product.h. */
#include "kernel/sparse/product.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/target.h"

enum { WORK_GRAIN = 1 << 16 }; /* multiplications that are worth another thread */

/* ---- products ---- */

static int64_t work_of(const mxl_csr *m)
{
    return m->indptr[m->rows] + m->rows;
}

/* The first row before which there are at least `work` elements and rows. */
static int64_t row_at(const mxl_csr *m, int64_t work)
{
    int64_t low = 0, high = m->rows;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (m->indptr[middle] + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define T       float
#define NAME(x) f32_##x
#include "kernel/sparse/product.tmpl.h"
#undef T
#undef NAME

#define T       double
#define NAME(x) f64_##x
#include "kernel/sparse/product.tmpl.h"
#undef T
#undef NAME

void mxl_sparse_product(int dtype, const mxl_csr *m, int64_t n, const void *dense, void *out,
                        const int64_t *to, int64_t height)
{
    if (n == 0)
        return;
    if (dtype == MXL_F32)
        f32_multiply(m, n, dense, out, to, height);
    else
        f64_multiply(m, n, dense, out, to, height);
}

/* ---- the order of columns: by radix ---- */

enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

static int digits_of(int64_t columns)
{
    int digits = 1;

    while (columns - 1 > 0 && (columns - 1) >> (DIGIT * digits) != 0)
        digits++;
    return digits;
}

/* Where each bucket of a digit begins. */
static void count_buckets(const int64_t *indices, int64_t count, int shift, int64_t *begins)
{
    int64_t at = 0;

    memset(begins, 0, BUCKETS * sizeof(*begins));
    for (int64_t k = 0; k < count; k++)
        begins[indices[k] >> shift & (BUCKETS - 1)]++;
    for (int i = 0; i < BUCKETS; i++) {
        int64_t size = begins[i];

        begins[i] = at;
        at += size;
    }
}

/* One digit, of elements with values of one width. The first pass reads the matrix. */
#define PASS(type, name)                                                                           \
    static void first_##name(const mxl_csr *m, int64_t *begins, int64_t *column, int64_t *row,     \
                             type *values)                                                         \
    {                                                                                              \
        const type *from = m->values;                                                              \
                                                                                                   \
        for (int64_t i = 0; i < m->rows; i++) {                                                    \
            for (int64_t k = m->indptr[i]; k < m->indptr[i + 1]; k++) {                            \
                int64_t at = begins[m->indices[k] & (BUCKETS - 1)]++;                              \
                                                                                                   \
                column[at] = m->indices[k];                                                        \
                row[at] = i;                                                                       \
                values[at] = from[k];                                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void next_##name(int64_t count, int shift, int64_t *begins, const int64_t *from_column, \
                            const int64_t *from_row, const type *from, int64_t *column,            \
                            int64_t *row, type *values)                                            \
    {                                                                                              \
        for (int64_t k = 0; k < count; k++) {                                                      \
            int64_t at = begins[from_column[k] >> shift & (BUCKETS - 1)]++;                        \
                                                                                                   \
            column[at] = from_column[k];                                                           \
            row[at] = from_row[k];                                                                 \
            values[at] = from[k];                                                                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void sort_##name(const mxl_csr *m, int digits, int64_t *begins, int64_t *a, int64_t *b, \
                            type *x, int64_t *c, int64_t *d, type *y)                              \
    {                                                                                              \
        int64_t count = m->indptr[m->rows];                                                        \
                                                                                                   \
        for (int digit = 0; digit < digits; digit++) {                                             \
            bool back = (digits - digit) % 2 == 1;                                                 \
                                                                                                   \
            count_buckets(m->indices, count, DIGIT * digit, begins);                               \
            if (digit == 0)                                                                        \
                first_##name(m, begins, back ? a : c, back ? b : d, back ? x : y);                 \
            else if (back)                                                                         \
                next_##name(count, DIGIT * digit, begins, c, d, y, a, b, x);                       \
            else                                                                                   \
                next_##name(count, DIGIT * digit, begins, a, b, x, c, d, y);                       \
        }                                                                                          \
    }

PASS(uint8_t, 8)
PASS(uint16_t, 16)
PASS(uint32_t, 32)
PASS(uint64_t, 64)

int mxl_sparse_by_column(size_t width, const mxl_csr *m, int64_t columns, int64_t *column,
                         int64_t *row, void *values)
{
    size_t count = (size_t)m->indptr[m->rows];
    int digits = digits_of(columns);
    size_t bytes = BUCKETS * sizeof(int64_t) + (digits > 1 ? count * (16 + width) : 0);
    int64_t *begins = mxl_alloc(bytes), *c, *d;

    if (begins == NULL)
        return -1;
    c = begins + BUCKETS;
    d = c + (digits > 1 ? count : 0);
    if (width == 4)
        sort_32(m, digits, begins, column, row, values, c, d,
                (uint32_t *)(d + (digits > 1 ? count : 0)));
    else if (width == 8)
        sort_64(m, digits, begins, column, row, values, c, d,
                (uint64_t *)(d + (digits > 1 ? count : 0)));
    else if (width == 2)
        sort_16(m, digits, begins, column, row, values, c, d,
                (uint16_t *)(d + (digits > 1 ? count : 0)));
    else
        sort_8(m, digits, begins, column, row, values, c, d,
               (uint8_t *)(d + (digits > 1 ? count : 0)));
    mxl_free(begins, bytes);
    return 0;
}

int64_t mxl_csr_groups(const int64_t *list, int64_t count)
{
    int64_t found = count > 0;

    for (int64_t k = 1; k < count; k++)
        found += list[k] != list[k - 1];
    return found;
}

int64_t mxl_csr_group(int64_t *list, int64_t count, int64_t *indptr)
{
    int64_t found = 0;

    for (int64_t k = 0; k < count; k++) {
        if (found > 0 && list[k] == list[found - 1])
            continue;
        indptr[found] = k;
        list[found++] = list[k];
    }
    indptr[found] = count;
    return found;
}
