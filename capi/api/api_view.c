/* Views: MXNDArraySlice, At, Reshape and the MXL functions that return the handle. Views share the
 * array's memory, and are recorded while the thread records. */
#include "api/prepared.h"
#include "base/profile/profile.h"
#include "engine/tape/rebase.h"
#include "ops/index/key.h"
#include "ops/shape/movement.h"
#include "ops/shape/reshape_codes.h"

/* ---- an array that takes the shape of its view ---- */

/* True if an array that is no variable takes the view's shape itself, and the view's edge (`node`,
 * NULL: none). Its other views can still be found by the positions of their elements in it, in C
 * order. */
static bool takes_shape(mxl_array *array, const mxl_array *view, const mxl_node *node)
{
    return array->base == NULL && array->contiguous && view->contiguous &&
           (node != NULL || !mxl_array_has_target(array));
}

static int turn(mxl_array *array, mxl_array *view, int *kept)
{
    mxl_leaf *leaf = mxl_array_leaf(array);
    bool variable = leaf != NULL && mxl_leaf_wants(leaf);
    mxl_edge edge;
    mxl_node *node;
    int status = 0;

    if (array->storage == NULL || array->storage != view->storage || array->size != view->size)
        return mxl_error("MXLNDArrayTurn: the view does not show the array's elements");
    edge = mxl_array_edge(view);
    node = mxl_edge_node(edge);
    if (variable || takes_shape(array, view, node)) {
        status = mxl_array_show_as(array, view);
        *kept = status == 0;
    }
    if (status == 0) {
        mxl_storage_bump(view->storage);
        mxl_array_set_edge(view, edge); /* updates the edge */
    }
    if (*kept && node != NULL && !variable) /* hooks stay with the value of the old shape */
        mxl_array_set_edge(array, edge);
    mxl_ref_release(edge.target);
    return status;
}

int MXLNDArrayTurn(NDArrayHandle array, NDArrayHandle view, int *kept)
{
    mxl_array *both[2];
    NDArrayHandle handles[2] = {array, view};
    int status;

    API_NEED(kept);
    *kept = 0;
    if (api_pin_many(__func__, "array", 2, handles, both, false) != 0)
        return -1;
    status = turn(both[0], both[1], kept);
    api_unpin_many(2, handles);
    return status;
}

int MXLNDArrayAssume(NDArrayHandle array, NDArrayHandle value)
{
    mxl_array *both[2];
    NDArrayHandle handles[2] = {array, value};
    int status;

    if (api_pin_many(__func__, "array", 2, handles, both, false) != 0)
        return -1;
    if (both[0]->storage == NULL || both[1]->storage == NULL || mxl_array_is_sparse(both[0]) ||
        mxl_array_is_sparse(both[1]))
        status = mxl_error("%s: takes two arrays that are not sparse", __func__);
    else
        status = both[0]->storage == both[1]->storage && both[0] == both[1]
                     ? 0
                     : mxl_array_show_as(both[0], both[1]);
    if (status == 0)
        mxl_array_release_base(both[0]);
    api_unpin_many(2, handles);
    return status;
}

/* ---- making views ---- */

/* Pins the array and checks that it can have views. */
static mxl_array *pin_whole(NDArrayHandle handle, const char *function)
{
    mxl_array *array = api_pin_defined(handle, function);

    if (array == NULL || array->contiguous)
        return array;
    api_unpin(handle);
    return mxl_error_null("%s: the array's elements do not lie in C order; copy it first",
                          function);
}

/* Whether recording a view of the array does nothing: it is no view itself, and nothing that leads
 * to a gradient. */
static inline bool is_constant(const mxl_array *array)
{
    return array->base == NULL && mxl_array_leaf(array) == NULL && !mxl_array_has_target(array) &&
           !mxl_array_frozen(array);
}

/* The handle of a new view of the array, the result of `op`. NULL where there is none, or it cannot
 * be recorded. Ends the pin. */
static inline NDArrayHandle finish(NDArrayHandle handle, mxl_array *array, mxl_array *made,
                                   const mxl_op *op, const void *params, mxl_mode mode)
{
    if (made != NULL && mode.record && !is_constant(array) &&
        ((mode.dialect->rebase && mxl_rebase_view(array, mode.dialect) != 0) ||
         mxl_tape_view(op, params, array, made, mode.training, mode.dialect) != 0)) {
        mxl_array_release(made);
        made = NULL;
    }
    api_unpin(handle);
    return made == NULL ? NULL : api_handle(made);
}

/* A new handle of `shape` over the array's elements from `skip` on, which are the result of `op`.
 * Ends the pin. */
static NDArrayHandle view(NDArrayHandle handle, mxl_array *array, int64_t skip, int ndim,
                          const int64_t *shape, const mxl_op *op, const void *params)
{
    return finish(handle, array, mxl_array_view(array, skip, ndim, shape), op, params, api_mode());
}

__attribute__((cold)) static NDArrayHandle no_rows(const char *function, NDArrayHandle handle,
                                                   int64_t begin, int64_t end)
{
    mxl_array *array = pin_whole(handle, function);

    if (array == NULL)
        return NULL;
    (void)mxl_error("%s: rows [%lld,%lld) of an array of shape %s", function, (long long)begin,
                    (long long)end, MXL_SHAPE_OF(array));
    api_unpin(handle);
    return NULL;
}

static NDArrayHandle slice(const char *function, NDArrayHandle handle, int64_t begin, int64_t end)
{
    mxl_slice_rows_params params = {begin, end};
    mxl_array *array = api_pin(handle);

    if (array != NULL && array->storage != NULL && array->contiguous && array->ndim > 0 &&
        begin >= 0 && begin <= end && end <= array->shape[0])
        return finish(handle, array, mxl_array_rows(array, begin, end - begin), &mxl_op_slice_rows,
                      &params, api_mode());
    if (array != NULL)
        api_unpin(handle);
    return no_rows(function, handle, begin, end);
}

static NDArrayHandle at(const char *function, NDArrayHandle handle, int64_t index)
{
    mxl_array *array = pin_whole(handle, function);
    const int64_t scalar = 1;
    int64_t row;

    if (array == NULL)
        return NULL;
    if (array->ndim == 0 || index < 0 || index >= array->shape[0]) {
        (void)mxl_error("%s: row %lld of an array of shape %s", function, (long long)index,
                        MXL_SHAPE_OF(array));
        api_unpin(handle);
        return NULL;
    }
    row = mxl_shape_size(array->ndim - 1, array->shape + 1);
    if (array->ndim == 1 && !mxl_state_get()->numpy_shape)
        return view(handle, array, index, 1, &scalar, &mxl_op_row_at, &index);
    return view(handle, array, index * row, array->ndim - 1, array->shape + 1, &mxl_op_row_at,
                &index);
}

static NDArrayHandle reshape(const char *function, NDArrayHandle handle, int count,
                             const int64_t *codes, bool reverse)
{
    mxl_array *array = pin_whole(handle, function);
    mxl_shape shape;

    if (array == NULL)
        return NULL;
    if (mxl_reshape_codes(&shape, array->ndim, array->shape, count, codes, reverse) != 0) {
        (void)mxl_error_prefix(function);
        api_unpin(handle);
        return NULL;
    }
    return view(handle, array, 0, shape.ndim, shape.dim, &mxl_op_reshape_to,
                &(mxl_tuple){shape.ndim, shape.dim});
}

static int status_of(NDArrayHandle made, NDArrayHandle *out)
{
    *out = made;
    return made == NULL ? -1 : 0;
}

static int check_codes(const char *function, int ndim, const void *codes, const char *argument)
{
    if (ndim < 0)
        return mxl_error("%s: ndim is %d, which is negative", function, ndim);
    return ndim > 0 && codes == NULL ? api_null(function, argument) : 0;
}

/* ---- views by a prepared call ---- */

/* The rows, or the row, of an array in C order that has it. NULL for all else. */
static mxl_array *quick_view(mxl_array *array, bool rows, const int64_t *params)
{
    if (array->storage == NULL || !array->contiguous || array->ndim == 0 || array->size == 0)
        return NULL;
    if (rows) /* axis, begin, end */
        return params[1] >= 0 && params[1] < params[2] && params[2] <= array->shape[0]
                   ? mxl_array_rows(array, params[1], params[2] - params[1])
                   : NULL;
    return params[1] >= 0 && params[1] < array->shape[0] ? mxl_array_row(array, params[1]) : NULL;
}

NDArrayHandle api_quick_view(const api_prepared *call, NDArrayHandle handle,
                             const MXLValue *arguments)
{
    mxl_mode mode = api_prepared_mode(call);
    bool rows = call->view == API_ROWS;
    int64_t params[3] = {0, arguments[rows ? 1 : 0].i, rows ? arguments[2].i : 0};
    mxl_array *array, *made;

    if (mxl_profile_runs())
        return NULL;
    array = api_pin(handle);
    if (array == NULL)
        return NULL;
    made = quick_view(array, rows, params);
    if (made != NULL)
        mxl_rebase_note_view(made, array, 1, mode.record);
    mode.record = mode.record && mxl_dtype_is_float(array->dtype);
    return finish(handle, array, made, call->op, params, mode);
}

/* The view of a contiguous array from `skip` on. A scalar has an axis outside numpy-shape mode. */
static mxl_array *view_from(mxl_array *array, int64_t skip, int ndim, const int64_t *shape,
                            bool numpy_shape)
{
    const int64_t scalar = 1;

    if (ndim == 0 && array->ndim > 0 && !numpy_shape)
        return mxl_array_view(array, skip, 1, &scalar);
    return mxl_array_view(array, skip, ndim, shape);
}

/* Where a key of integers alone leads, of which there are `*axes`, in a contiguous array; -1 for
 * other keys, and for a position that there is not. */
static int64_t integers_lead(const mxl_array *array, mxl_tuple key, int *axes)
{
    int64_t skip = 0;

    *axes = key.n / 2;
    if (key.n % 2 != 0 || *axes > array->ndim)
        return -1;
    for (int i = 0; i < *axes; i++) {
        int64_t at = key.v[2 * i + 1], size = array->shape[i];

        at += at < 0 ? size : 0;
        if (key.v[2 * i] != MXL_PART_INTEGER || at < 0 || at >= size)
            return -1;
        skip += at * array->strides[i];
    }
    return skip;
}

/* The elements that a key without index arrays selects, where they lie in one run of memory in
 * their order. NULL for all else. */
static mxl_array *run_view(mxl_array *array, const api_prepared *call, const mxl_key_params *params,
                           bool numpy_shape)
{
    int64_t run = 1, skip;
    mxl_plan p;
    int axes;

    if (array->storage == NULL || !array->contiguous || array->size == 0)
        return NULL;
    skip = integers_lead(array, params->key, &axes);
    if (skip >= 0)
        return view_from(array, skip, array->ndim - axes, array->shape + axes, numpy_shape);
    if (mxl_plan_inputs(&p, call->op, params, 0, false, 1, &array) != 0)
        return NULL;
    for (int i = p.shape.ndim - 1; i >= 0; i--) {
        if (p.shape.dim[i] != 1 && p.strides[i] != run)
            return NULL;
        run *= p.shape.dim[i];
    }
    if (run == 0)
        return NULL;
    return view_from(array, p.skip, p.shape.ndim, p.shape.dim, numpy_shape);
}

NDArrayHandle api_key_view(const api_prepared *call, NDArrayHandle handle,
                           const MXLValue *arguments)
{
    mxl_key_params params = *(const mxl_key_params *)call->params;
    const MXLList *key = &arguments[0].list;
    mxl_mode mode = api_prepared_mode(call);
    mxl_array *array;

    if (mxl_profile_runs() || key->n < 0 || key->n > MXL_TUPLE_MOST ||
        (key->n > 0 && key->values == NULL))
        return NULL;
    params.key = (mxl_tuple){(int)key->n, key->values};
    array = api_pin(handle);
    if (array == NULL)
        return NULL;
    return finish(handle, array, run_view(array, call, &params, mxl_state_get()->numpy_shape),
                  call->op, &params, mode);
}

/* ---- MXNet's functions ---- */

int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                   NDArrayHandle *out)
{
    API_NEED(out);
    return status_of(slice(__func__, handle, slice_begin, slice_end), out);
}

int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                     NDArrayHandle *out)
{
    API_NEED(out);
    return status_of(slice(__func__, handle, slice_begin, slice_end), out);
}

int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out)
{
    API_NEED(out);
    return status_of(at(__func__, handle, idx), out);
}

int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out)
{
    API_NEED(out);
    return status_of(at(__func__, handle, idx), out);
}

/* Of the special codes, this function accepts only 0 and -1, as in 1.9.1. */
int MXNDArrayReshape(NDArrayHandle handle, int ndim, int *dims, NDArrayHandle *out)
{
    int64_t wide[MXL_MAX_NDIM];

    API_NEED(out);
    *out = NULL;
    if (check_codes(__func__, ndim, dims, "dims") != 0)
        return -1;
    if (ndim > MXL_MAX_NDIM)
        return mxl_error("%s: more than %d axes", __func__, MXL_MAX_NDIM);
    for (int i = 0; i < ndim; i++) {
        wide[i] = dims[i];
        if (dims[i] < -1)
            return mxl_error("%s: extent %d; codes below -1 are for MXNDArrayReshape64", __func__,
                             dims[i]);
    }
    return status_of(reshape(__func__, handle, ndim, wide, false), out);
}

int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t *dims, bool reverse,
                       NDArrayHandle *out)
{
    API_NEED(out);
    *out = NULL;
    if (check_codes(__func__, ndim, dims, "dims") != 0)
        return -1;
    return status_of(reshape(__func__, handle, ndim, dims, reverse), out);
}

/* ---- functions that return the handle ---- */

NDArrayHandle MXLNDArraySlice(NDArrayHandle array, int64_t begin, int64_t end)
{
    return slice(__func__, array, begin, end);
}

NDArrayHandle MXLNDArrayAt(NDArrayHandle array, int64_t index)
{
    return at(__func__, array, index);
}

NDArrayHandle MXLNDArrayReshape(NDArrayHandle array, int ndim, const int64_t *shape, int reverse)
{
    if (check_codes(__func__, ndim, shape, "shape") != 0)
        return NULL;
    return reshape(__func__, array, ndim, shape, reverse != 0);
}
