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

enum { DIGIT = 11, MOST_PARTS = 8, PART_GRAIN = 1 << 16 };

/* Elements in the order of a key: `columns` of int64, rows, values. */
typedef struct elements {
    int64_t *column, *row;
    void *values;
} elements;

/* The pass that reads the matrix, by the last `bits` of a column. Threads share its rows: each has
 * a table of its own. */
typedef struct first_pass {
    const mxl_csr *m;
    elements to; /* no columns where they follow from the table: it has all bits */
    int64_t *tables;
    int bits, parts;
    size_t width;
} first_pass;

static int64_t *table_of(const first_pass *p, int64_t part)
{
    return p->tables + (part << p->bits);
}

static int64_t first_row(const first_pass *p, int64_t part)
{
    return row_at(p->m, work_of(p->m) / p->parts * part + (part == p->parts) * p->parts);
}

static void count_parts(void *data, int64_t begin, int64_t end)
{
    const first_pass *p = data;

    for (int64_t part = begin; part < end; part++) {
        int64_t *table = table_of(p, part), mask = ((int64_t)1 << p->bits) - 1;
        int64_t last = p->m->indptr[first_row(p, part + 1)];

        memset(table, 0, sizeof(*table) << p->bits);
        for (int64_t k = p->m->indptr[first_row(p, part)]; k < last; k++)
            table[p->m->indices[k] & mask]++;
    }
}

/* Counts become positions: by key, and by part within one. */
static void sum_tables(const first_pass *p)
{
    int64_t at = 0;

    for (int64_t key = 0; key < (int64_t)1 << p->bits; key++) {
        for (int64_t part = 0; part < p->parts; part++) {
            int64_t *place = table_of(p, part) + key, size = *place;

            *place = at;
            at += size;
        }
    }
}

/* Loops over values of one width. */
#define PASSES(type, name)                                                                         \
    static void first_##name(void *data, int64_t begin, int64_t end)                               \
    {                                                                                              \
        const first_pass *p = data;                                                                \
        const mxl_csr *m = p->m;                                                                   \
        const type *from = m->values;                                                              \
        type *values = p->to.values;                                                               \
        int64_t mask = ((int64_t)1 << p->bits) - 1;                                                \
                                                                                                   \
        for (int64_t part = begin; part < end; part++) {                                           \
            int64_t *table = table_of(p, part), last = first_row(p, part + 1);                     \
                                                                                                   \
            for (int64_t i = first_row(p, part); i < last; i++) {                                  \
                for (int64_t k = m->indptr[i]; k < m->indptr[i + 1]; k++) {                        \
                    int64_t at = table[m->indices[k] & mask]++;                                    \
                                                                                                   \
                    if (p->to.column != NULL)                                                      \
                        p->to.column[at] = m->indices[k];                                          \
                    p->to.row[at] = i;                                                             \
                    values[at] = from[k];                                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void next_##name(int64_t count, int shift, int64_t *table, const elements *from,        \
                            const elements *to)                                                    \
    {                                                                                              \
        const type *in = from->values;                                                             \
        type *out = to->values;                                                                    \
                                                                                                   \
        for (int64_t k = 0; k < count; k++) {                                                      \
            int64_t at = table[from->column[k] >> shift & ((1 << DIGIT) - 1)]++;                   \
                                                                                                   \
            to->column[at] = from->column[k];                                                      \
            to->row[at] = from->row[k];                                                            \
            out[at] = in[k];                                                                       \
        }                                                                                          \
    }

PASSES(uint32_t, 32)
PASSES(uint64_t, 64)

static void run_first(first_pass *p)
{
    mxl_parallel_for(p->parts, 1, count_parts, p);
    sum_tables(p);
    mxl_parallel_for(p->parts, 1, p->width == 4 ? first_32 : first_64, p);
}

/* A row and the bits of a float32 there: one store in place of two, to places far apart. */
typedef struct pair {
    uint32_t row, value;
} pair;

static void first_pairs(void *data, int64_t begin, int64_t end)
{
    const first_pass *p = data;
    const mxl_csr *m = p->m;
    const uint32_t *from = m->values;
    pair *to = p->to.values;

    for (int64_t part = begin; part < end; part++) {
        int64_t *table = table_of(p, part), last = first_row(p, part + 1);

        for (int64_t i = first_row(p, part); i < last; i++) {
            for (int64_t k = m->indptr[i]; k < m->indptr[i + 1]; k++)
                to[table[m->indices[k]]++] = (pair){(uint32_t)i, from[k]};
        }
    }
}

typedef struct split_job {
    const pair *from;
    const elements *to;
} split_job;

static void split_pairs(void *data, int64_t begin, int64_t end)
{
    const split_job *job = data;
    int64_t *row = job->to->row;
    uint32_t *values = job->to->values;

    for (int64_t k = begin; k < end; k++) {
        row[k] = job->from[k].row;
        values[k] = job->from[k].value;
    }
}

static int run_pairs(first_pass *p, const elements *to)
{
    int64_t count = p->m->indptr[p->m->rows];
    pair *pairs = mxl_alloc((size_t)count * sizeof(*pairs));
    split_job job = {pairs, to};

    if (pairs == NULL)
        return -1;
    p->to.values = pairs;
    mxl_parallel_for(p->parts, 1, count_parts, p);
    sum_tables(p);
    mxl_parallel_for(p->parts, 1, first_pairs, p);
    mxl_parallel_for(count, PART_GRAIN, split_pairs, &job);
    mxl_free(pairs, (size_t)count * sizeof(*pairs));
    return 0;
}

/* The columns that have elements, and where these begin: the table has the end of each. */
static int64_t list_columns(const int64_t *ends, int64_t columns, int64_t *column, int64_t *indptr)
{
    int64_t found = 0, begin = 0;

    for (int64_t j = 0; j < columns; j++) {
        if (ends[j] == begin)
            continue;
        column[found] = j;
        indptr[found++] = begin;
        begin = ends[j];
    }
    indptr[found] = begin;
    return found;
}

/* With a table of all columns, of which there are not many more than elements. */
static int64_t by_table(size_t width, const mxl_csr *m, int64_t columns, int bits,
                        const elements *to, int64_t *indptr)
{
    int threads = m->indptr[m->rows] > PART_GRAIN ? mxl_thread_count() : 1;
    first_pass p = {.m = m, .to = {NULL, to->row, to->values}, .bits = bits, .width = width};
    int64_t found = -1;
    size_t bytes;

    p.parts = threads < MOST_PARTS ? threads : MOST_PARTS;
    bytes = (size_t)p.parts * sizeof(int64_t) << bits;
    p.tables = mxl_alloc(bytes);
    if (p.tables == NULL)
        return -1;
    if (width == 4 && m->rows <= UINT32_MAX) {
        found = run_pairs(&p, to);
    } else {
        run_first(&p);
        found = 0;
    }
    if (found == 0)
        found = list_columns(table_of(&p, p.parts - 1), columns, to->column, indptr);
    mxl_free(p.tables, bytes);
    return found;
}

static void run_next(size_t width, int64_t count, int shift, int64_t *table, const elements *from,
                     const elements *to)
{
    int64_t at = 0;

    memset(table, 0, sizeof(*table) << DIGIT);
    for (int64_t k = 0; k < count; k++)
        table[from->column[k] >> shift & ((1 << DIGIT) - 1)]++;
    for (int i = 0; i < 1 << DIGIT; i++) {
        int64_t size = table[i];

        table[i] = at;
        at += size;
    }
    (width == 4 ? next_32 : next_64)(count, shift, table, from, to);
}

/* Digit by digit, to and fro between the result and memory beside it. */
static int by_digits(size_t width, const mxl_csr *m, int bits, const elements *to)
{
    int digits = (bits + DIGIT - 1) / DIGIT;
    int64_t table[1 << DIGIT], count = m->indptr[m->rows];
    size_t bytes = (size_t)count * (2 * sizeof(int64_t) + width);
    int64_t *beside = mxl_alloc(bytes);
    elements both[2] = {*to, {beside, beside + count, beside + 2 * count}};
    first_pass p = {.m = m, .tables = table, .bits = DIGIT, .parts = 1, .width = width};

    if (beside == NULL)
        return -1;
    p.to = both[(digits - 1) % 2];
    run_first(&p);
    for (int digit = 1; digit < digits; digit++) {
        int at = (digits - 1 - digit) % 2;

        run_next(width, count, DIGIT * digit, table, &both[1 - at], &both[at]);
    }
    mxl_free(beside, bytes);
    return 0;
}

/* Of a list that ascends with repetition: its numbers once, in place, and where each begins. */
static int64_t group(int64_t *list, int64_t count, int64_t *indptr)
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

int64_t mxl_sparse_by_column(size_t width, const mxl_csr *m, int64_t columns, int64_t *column,
                             int64_t *row, void *values, int64_t *indptr)
{
    const elements to = {column, row, values};
    int bits = 0;

    while (columns > (int64_t)1 << bits)
        bits++;
    if (bits <= DIGIT || columns <= m->indptr[m->rows])
        return by_table(width, m, columns, bits, &to, indptr);
    return by_digits(width, m, bits, &to) != 0 ? -1 : group(column, m->indptr[m->rows], indptr);
}
