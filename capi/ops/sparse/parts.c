/* Parts of csr matrices, for the forms of slice, take and concat; see forms.h. */
#include "ops/sparse/forms.h"

#include <string.h>

#include "kernel/sparse/csr_parts.h"

/* The arrays of a csr matrix of so many rows; the references are the caller's. */
typedef struct arrays {
    mxl_array *indptr, *indices, *values;
} arrays;

static int64_t *begin_rows(arrays *a, int64_t rows)
{
    int64_t bounds = rows + 1;

    *a = (arrays){mxl_array_new(MXL_I64, 1, &bounds), NULL, NULL};
    return a->indptr == NULL ? NULL : mxl_array_write(a->indptr);
}

/* Room for as many elements as indptr says. */
static bool begin_elements(arrays *a, int dtype)
{
    int64_t stored = ((const int64_t *)mxl_array_read(a->indptr))[a->indptr->size - 1];

    a->indices = mxl_array_new(MXL_I64, 1, &stored);
    a->values = mxl_array_new(dtype, 1, &stored);
    return a->indices != NULL && a->values != NULL;
}

static int give(mxl_array *out, const arrays *a)
{
    return mxl_sparse_give(out, mxl_parts_new(true, a->values, a->indices, a->indptr));
}

int mxl_sparse_cut_into(mxl_array *out, const mxl_array *csr, int64_t row, int64_t column)
{
    mxl_parts *parts = mxl_sparse_read(csr);
    int64_t rows = out->shape[0], end = column + out->shape[1], *indptr;

    arrays a = {NULL, NULL, NULL};
    mxl_csr m;

    if (parts == NULL)
        return -1;
    if (out->shape[1] == csr->shape[1])
        end = INT64_MAX;
    m = mxl_sparse_csr(parts);
    indptr = begin_rows(&a, rows);
    if (indptr != NULL) {
        mxl_sparse_cut_ends(&m, row, rows, column, end, indptr);
        if (begin_elements(&a, csr->dtype))
            mxl_sparse_cut(mxl_dtype_size(csr->dtype), &m, row, rows, column, end,
                           mxl_array_write(a.indices), mxl_array_write(a.values));
    }
    mxl_parts_release(parts);
    return give(out, &a);
}

int mxl_sparse_take_into(mxl_array *out, const mxl_array *csr, const int64_t *positions)
{
    mxl_parts *parts = mxl_sparse_read(csr);
    int64_t rows = out->shape[0], *indptr;
    arrays a = {NULL, NULL, NULL};
    mxl_csr m;

    if (parts == NULL)
        return -1;
    m = mxl_sparse_csr(parts);
    indptr = begin_rows(&a, rows);
    if (indptr != NULL) {
        mxl_sparse_take_ends(&m, rows, positions, indptr);
        if (begin_elements(&a, csr->dtype))
            mxl_csr_take_rows(mxl_dtype_size(csr->dtype), &m, rows, positions, indptr,
                              mxl_array_write(a.indices), mxl_array_write(a.values));
    }
    mxl_parts_release(parts);
    return give(out, &a);
}

/* ---- one below the other ---- */

/* Adds the ends of a matrix's rows behind those of `row` rows. */
static int join_ends(const mxl_array *csr, int64_t *indptr, int64_t row)
{
    mxl_parts *parts = mxl_sparse_read(csr);
    const int64_t *from;

    if (parts == NULL)
        return -1;
    from = mxl_array_read(parts->indptr);
    for (int64_t i = 0; i < csr->shape[0]; i++)
        indptr[row + i + 1] = indptr[row] + from[i + 1];
    mxl_parts_release(parts);
    return 0;
}

static int join_elements(const mxl_array *csr, const arrays *a, int64_t to)
{
    mxl_parts *parts = mxl_sparse_read(csr);
    size_t width = mxl_dtype_size(csr->dtype), count;

    if (parts == NULL)
        return -1;
    count = (size_t)mxl_parts_stored(parts);
    memcpy((int64_t *)mxl_array_write(a->indices) + to, mxl_array_read(parts->indices),
           count * sizeof(int64_t));
    memcpy((char *)mxl_array_write(a->values) + (size_t)to * width, mxl_array_read(parts->data),
           count * width);
    mxl_parts_release(parts);
    return 0;
}

static void drop(const arrays *a)
{
    mxl_array_release(a->indptr);
    mxl_array_release(a->indices);
    mxl_array_release(a->values);
}

int mxl_sparse_join_into(mxl_array *out, int count, mxl_array *const *csr)
{
    arrays a = {NULL, NULL, NULL};
    int64_t *indptr = begin_rows(&a, out->shape[0]), row = 0;
    int status = indptr == NULL ? -1 : 0;

    if (status == 0)
        indptr[0] = 0;
    for (int i = 0; i < count && status == 0; i++) {
        status = join_ends(csr[i], indptr, row);
        row += csr[i]->shape[0];
    }
    if (status == 0 && !begin_elements(&a, out->dtype))
        status = -1;
    row = 0;
    for (int i = 0; i < count && status == 0; i++) {
        status = join_elements(csr[i], &a, indptr[row]);
        row += csr[i]->shape[0];
    }
    if (status == 0)
        return give(out, &a);
    drop(&a);
    return -1;
}
