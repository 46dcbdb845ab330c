/* dot of a csr matrix and a dense or row_sparse array, and of a dense matrix and a csr one. */
#include "ops/build.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/sparse/csr_parts.h"
#include "kernel/sparse/numbers.h"
#include "kernel/sparse/product.h"
#include "ops/sparse/forms.h"

/* forward_stype, by its position in mxl_storage_types. */
static const int8_t wanted[] = {MXL_STYPE_NONE, MXL_CSR, MXL_DENSE, MXL_ROW_SPARSE};

/* Of a graph input i counts as a matrix. */
static bool is_matrix(const mxl_stypes *call, int i)
{
    return call->arrays == NULL || call->arrays[i]->ndim == 2;
}

static bool has_axes(const mxl_stypes *call, int i)
{
    return call->arrays == NULL || call->arrays[i]->ndim > 1;
}

/* Whether there is a kernel for the call, and how its result is stored if nobody asks. */
static bool natural(const mxl_stypes *call, int8_t *stype)
{
    const mxl_dot_params *p = call->params;
    bool dense_left = call->in[0] == MXL_DENSE;

    *stype = MXL_DENSE;
    if (call->in[0] == MXL_CSR && !p->transpose_b) {
        if (p->transpose_a && call->in[1] != MXL_CSR && has_axes(call, 1))
            *stype = MXL_ROW_SPARSE;
        return true;
    }
    if (dense_left && call->in[1] == MXL_CSR && !p->transpose_a && is_matrix(call, 0)) {
        *stype = MXL_CSR;
        return true;
    }
    return false;
}

/* What has no kernel runs on dense copies, unless something else than a dense result is wanted. */
static bool dot_stypes(mxl_stypes *call)
{
    int8_t asked = wanted[((const mxl_dot_params *)call->params)->forward_stype], stype;
    bool has_kernel = natural(call, &stype);

    call->out[0] = asked == MXL_STYPE_NONE ? stype : asked;
    return has_kernel || call->out[0] != MXL_DENSE;
}

/* drhs = lhs' dy */
static void dot_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    const mxl_dot_params *p = call->params;

    if (call->in[0] == MXL_CSR && !p->transpose_a && !p->transpose_b && out_grad[0] != MXL_CSR)
        in_grad[1] = MXL_ROW_SPARSE;
}

static bool dot_makes(const void *params)
{
    return wanted[((const mxl_dot_params *)params)->forward_stype] > MXL_DENSE;
}

/* ---- matrices ---- */

/* An array of the same values as float32 or float64, new. */
static mxl_array *as_float(mxl_array *array)
{
    return array->dtype == MXL_F16 ? mxl_array_copy_as(array, MXL_F32)
                                   : mxl_array_contiguous(array);
}

/* Checked parts with data as float32 or float64. */
static mxl_parts *float_parts(const mxl_array *array)
{
    mxl_parts *parts = mxl_sparse_read(array), *made;

    if (parts == NULL || parts->data->dtype != MXL_F16)
        return parts;
    mxl_array_retain(parts->indices);
    mxl_array_retain(parts->indptr);
    made = mxl_parts_new(true, as_float(parts->data), parts->indices, parts->indptr);
    mxl_parts_release(parts);
    return made;
}

/* The transpose of a matrix in C order; new. */
static mxl_array *transposed(const mxl_array *a, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {columns, rows}, out_strides[2] = {rows, 1},
                  in_strides[2] = {1, columns};
    mxl_array *out = mxl_array_new(a->dtype, 2, shape);

    if (out != NULL)
        mxl_copy_strided(mxl_dtype_size(a->dtype), 2, shape, mxl_array_write(out), out_strides,
                         mxl_array_read(a), in_strides);
    return out;
}

/* ---- products ---- */

/* m x dense [*, n]. */
static mxl_array *product(const mxl_parts *m, int64_t n, const mxl_array *dense)
{
    mxl_csr a = mxl_sparse_csr(m);
    mxl_array *out = mxl_array_new(dense->dtype, 2, (int64_t[]){a.rows, n});

    if (out != NULL)
        mxl_sparse_product(dense->dtype, &a, n, mxl_array_read(dense), mxl_array_write(out), NULL,
                           a.rows);
    return out;
}

/* The transpose of a csr matrix, of whose rows those that are empty are left out: `columns` says
 * which the others are. */
typedef struct flipped {
    mxl_array *columns, *rows, *values, *indptr;
    int64_t found;
} flipped;

static void flipped_end(const flipped *f)
{
    mxl_array_release(f->columns);
    mxl_array_release(f->rows);
    mxl_array_release(f->values);
    mxl_array_release(f->indptr);
}

static int flip(flipped *f, const mxl_parts *m, int64_t width)
{
    mxl_csr a = mxl_sparse_csr(m);
    int64_t stored = mxl_parts_stored(m), bounds = (stored < width ? stored : width) + 1;

    *f =
        (flipped){mxl_array_new(MXL_I64, 1, &stored), mxl_array_new(MXL_I64, 1, &stored),
                  mxl_array_new(m->data->dtype, 1, &stored), mxl_array_new(MXL_I64, 1, &bounds), 0};
    if (f->columns == NULL || f->rows == NULL || f->values == NULL || f->indptr == NULL)
        return -1;
    f->found = mxl_sparse_by_column(mxl_dtype_size(m->data->dtype), &a, width,
                                    mxl_array_write(f->columns), mxl_array_write(f->rows),
                                    mxl_array_write(f->values), mxl_array_write(f->indptr));
    return f->found < 0 ? -1 : 0;
}

/* f x dense [*, n]: its stored rows, or with `height` all of them. */
static mxl_array *flipped_product(const flipped *f, int64_t n, const mxl_array *dense,
                                  int64_t height)
{
    mxl_csr a = {f->found, mxl_array_read(f->indptr), mxl_array_read(f->rows),
                 mxl_array_read(f->values)};
    int64_t rows = height < 0 ? f->found : height;
    mxl_array *out = mxl_array_new(dense->dtype, 2, (int64_t[]){rows, n});

    if (out != NULL)
        mxl_sparse_product(dense->dtype, &a, n, mxl_array_read(dense), mxl_array_write(out),
                           height < 0 ? NULL : mxl_array_read(f->columns), height);
    return out;
}

static mxl_array *columns_of(const flipped *f)
{
    mxl_array *view = mxl_array_view(f->columns, 0, 1, &f->found);
    mxl_array *columns = view == NULL ? NULL : mxl_array_copy(view);

    mxl_array_release(view);
    return columns;
}

/* ---- results ---- */

/* out = the values, whose reference is taken over, whatever their shape and dtype. */
static int give_values(mxl_array *out, mxl_array *values)
{
    mxl_array *view;
    int status = -1;

    if (values == NULL)
        return -1;
    view = mxl_array_view(values, 0, out->ndim, out->shape);
    if (view != NULL)
        status = mxl_array_copy_into(out, view);
    mxl_array_release(view);
    mxl_array_release(values);
    return status;
}

/* The data in the dtype and, as rows of `out`, its shape; takes the reference over. */
static mxl_array *as_data(const mxl_array *out, mxl_array *values, int ndim, const int64_t *shape)
{
    mxl_array *view = values == NULL ? NULL : mxl_array_view(values, 0, ndim, shape);
    mxl_array *data = view == NULL ? NULL : mxl_array_copy_as(view, out->dtype);

    mxl_array_release(view);
    mxl_array_release(values);
    return data;
}

static int give_rows(mxl_array *out, const flipped *f, mxl_array *values)
{
    int64_t shape[MXL_MAX_NDIM];

    shape[0] = f->found;
    for (int i = 1; i < out->ndim; i++)
        shape[i] = out->shape[i];
    return mxl_sparse_give(
        out, mxl_parts_new(false, as_data(out, values, out->ndim, shape), columns_of(f), NULL));
}

/* Every row of the result has the columns that the csr matrix has anywhere. */
static int give_columns(mxl_array *out, const flipped *f, mxl_array *values)
{
    int64_t rows = out->shape[0], stored = rows * f->found, bounds = rows + 1;
    mxl_array *indices = mxl_array_new(MXL_I64, 1, &stored);
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, &bounds);

    if (indices != NULL && indptr != NULL) {
        const int64_t *columns = mxl_array_read(f->columns);
        int64_t *at = mxl_array_write(indices), *begins = mxl_array_write(indptr);

        for (int64_t i = 0; i <= rows; i++)
            begins[i] = i * f->found;
        for (int64_t i = 0; i < rows; i++)
            memcpy(at + i * f->found, columns, (size_t)f->found * sizeof(*at));
    }
    return mxl_sparse_give(out,
                           mxl_parts_new(true, as_data(out, values, 1, &stored), indices, indptr));
}

/* ---- csr x dense ---- */

static int by_dense(const mxl_call *call, const mxl_parts *m, const mxl_array *dense)
{
    const mxl_dot_params *p = call->params;
    mxl_array *out = call->out[0];
    int64_t n = mxl_shape_size(dense->ndim - 1, dense->shape + 1);
    int status = -1;
    flipped f;

    if (!p->transpose_a && mxl_array_is_dense(out) && out->dtype == dense->dtype) {
        mxl_csr a = mxl_sparse_csr(m);

        mxl_sparse_product(out->dtype, &a, n, mxl_array_read(dense), mxl_array_write(out), NULL,
                           a.rows);
        return 0;
    }
    if (!p->transpose_a)
        return give_values(out, product(m, n, dense));
    if (flip(&f, m, call->in[0]->shape[1]) == 0)
        status = out->stype == MXL_ROW_SPARSE && call->in[1]->stype != MXL_CSR
                     ? give_rows(out, &f, flipped_product(&f, n, dense, -1))
                     : give_values(out, flipped_product(&f, n, dense, call->in[0]->shape[1]));
    flipped_end(&f);
    return status;
}

/* ---- csr x row_sparse ---- */

/* The same of b that does not store all rows. */
static mxl_parts *with_some(const mxl_parts *m, const mxl_parts *b)
{
    mxl_csr a = mxl_sparse_csr(m);
    const int64_t *rows = mxl_array_read(b->indices);
    int64_t stored = mxl_parts_stored(m), have = mxl_parts_stored(b), kept = 0;
    mxl_array *values = mxl_array_copy(m->data), *indices = mxl_array_new(MXL_I64, 1, &stored);
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, m->indptr->shape);

    if (values != NULL && indices != NULL && indptr != NULL) {
        size_t width = mxl_dtype_size(values->dtype);
        char *value = mxl_array_write(values);
        int64_t *at = mxl_array_write(indices), *begins = mxl_array_write(indptr);

        begins[0] = 0;
        for (int64_t i = 0; i < a.rows; i++) {
            for (int64_t k = a.indptr[i]; k < a.indptr[i + 1]; k++) {
                int64_t found = mxl_sparse_find(rows, have, a.indices[k]);

                if (found < 0)
                    continue;
                at[kept] = found;
                for (size_t byte = 0; byte < width; byte++)
                    value[(size_t)kept * width + byte] = value[(size_t)k * width + byte];
                kept++;
            }
            begins[i + 1] = kept;
        }
    }
    return mxl_parts_new(true, values, indices, indptr);
}

/* The elements of m whose columns are stored rows of b, with these as columns. */
static mxl_parts *with_stored(mxl_parts *m, const mxl_parts *b, int64_t height)
{
    if (mxl_parts_stored(b) < height)
        return with_some(m, b);
    mxl_ref_retain(&m->ref);
    return m;
}

/* The rows of m that b stores, which count as rows 0, 1 ... */
static mxl_parts *of_stored(const mxl_parts *m, const mxl_parts *b)
{
    mxl_csr a = mxl_sparse_csr(m);
    const int64_t *rows = mxl_array_read(b->indices);
    int64_t have = mxl_parts_stored(b), bounds = have + 1, stored;
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, &bounds), *values, *indices;

    if (indptr == NULL)
        return NULL;
    mxl_sparse_take_ends(&a, have, rows, mxl_array_write(indptr));
    stored = ((const int64_t *)mxl_array_read(indptr))[have];
    values = mxl_array_new(m->data->dtype, 1, &stored);
    indices = mxl_array_new(MXL_I64, 1, &stored);
    if (values != NULL && indices != NULL)
        mxl_csr_take_rows(mxl_dtype_size(values->dtype), &a, have, rows, mxl_array_read(indptr),
                          mxl_array_write(indices), mxl_array_write(values));
    return mxl_parts_new(true, values, indices, indptr);
}

static int by_rows(const mxl_call *call, mxl_parts *m)
{
    const mxl_dot_params *p = call->params;
    mxl_parts *b = mxl_sparse_ordered(call->in[1]), *selected = NULL;
    mxl_array *dense = b == NULL ? NULL : as_float(b->data);
    int status = -1;

    if (dense != NULL)
        selected = p->transpose_a ? of_stored(m, b) : with_stored(m, b, call->in[1]->shape[0]);
    if (selected != NULL)
        status = by_dense(call, selected, dense);
    mxl_parts_release(selected);
    mxl_array_release(dense);
    mxl_parts_release(b);
    return status;
}

static int of_csr(const mxl_call *call)
{
    mxl_parts *m = float_parts(call->in[0]);
    mxl_array *rhs, *dense;
    int status = -1;

    if (m == NULL)
        return -1;
    if (call->in[1]->stype == MXL_ROW_SPARSE) {
        status = by_rows(call, m);
    } else {
        rhs = mxl_array_is_dense(call->in[1]) ? call->in[1]
                                              : mxl_array_cast_storage(call->in[1], MXL_DENSE);
        dense = rhs == NULL ? NULL : as_float(rhs);
        if (dense != NULL)
            status = by_dense(call, m, dense);
        mxl_array_release(dense);
        if (rhs != call->in[1])
            mxl_array_release(rhs);
    }
    mxl_parts_release(m);
    return status;
}

/* ---- dense x csr: the transpose of csr' x dense' ---- */

/* The product from its transpose, whose reference is taken over. */
static mxl_array *turned(mxl_array *product)
{
    mxl_array *out =
        product == NULL ? NULL : transposed(product, product->shape[0], product->shape[1]);

    mxl_array_release(product);
    return out;
}

static int into_csr(const mxl_call *call, const mxl_parts *m, const mxl_array *dense)
{
    const mxl_array *b = call->in[1];
    mxl_array *out = call->out[0];
    int64_t n = dense->shape[1];
    int status = -1;
    flipped f;

    if (((const mxl_dot_params *)call->params)->transpose_b)
        return give_values(out, turned(product(m, n, dense)));
    if (flip(&f, m, b->shape[1]) == 0)
        status = out->stype == MXL_CSR
                     ? give_columns(out, &f, turned(flipped_product(&f, n, dense, -1)))
                     : give_values(out, turned(flipped_product(&f, n, dense, b->shape[1])));
    flipped_end(&f);
    return status;
}

static int of_dense(const mxl_call *call)
{
    mxl_parts *m = float_parts(call->in[1]);
    mxl_array *left = m == NULL ? NULL : as_float(call->in[0]), *dense = NULL;
    int status = -1;

    if (left != NULL)
        dense = transposed(left, left->shape[0], left->shape[1]);
    if (dense != NULL)
        status = into_csr(call, m, dense);
    mxl_array_release(dense);
    mxl_array_release(left);
    mxl_parts_release(m);
    return status;
}

/* ---- any ---- */

/* On dense copies, into what is asked for. */
static int of_copies(const mxl_call *call)
{
    mxl_dot_params p = *(const mxl_dot_params *)call->params;
    mxl_array *in[2] = {NULL, NULL}, *out = NULL;
    int status = -1;

    p.forward_stype = 0;
    for (int i = 0; i < 2; i++)
        in[i] = mxl_array_cast_storage(call->in[i], MXL_DENSE);
    if (in[0] != NULL && in[1] != NULL)
        out = mxl_sparse_apply(call->op, &p, 2, in);
    if (out != NULL)
        status = mxl_array_copy_into(call->out[0], out);
    for (int i = 0; i < 2; i++)
        mxl_array_release(in[i]);
    mxl_array_release(out);
    return status;
}

static int dot_compute(const mxl_call *call)
{
    const int8_t in[2] = {call->in[0]->stype, call->in[1]->stype};
    const mxl_stypes stypes = {
        .op = call->op, .params = call->params, .num_inputs = 2, .in = in, .arrays = call->in};
    int8_t stype;

    if (!natural(&stypes, &stype))
        return of_copies(call);
    return in[0] == MXL_CSR ? of_csr(call) : of_dense(call);
}

const mxl_sparse_forms mxl_sparse_dot = {
    .stypes = dot_stypes,
    .compute = dot_compute,
    .grad_stypes = dot_grad_stypes,
    .makes = dot_makes,
};
