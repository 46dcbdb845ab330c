/* Where the index arrays and masks of a key lead; see key.h. */
#include <math.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/index/flags.h"
#include "kernel/index/gather.h"
#include "ops/index/key.h"

enum { RUN = 256 };

/* Reads `n` numbers of an index array from `j` on as int64. -1 with the error set for one that is
 * not finite or has more than 64 bits. */
static int read_run(const mxl_array *index, int64_t j, int64_t n, int64_t *row)
{
    const void *from =
        (const char *)mxl_array_read(index) + j * (int64_t)mxl_dtype_size(index->dtype);
    int64_t step = 1;
    double wide[RUN];

    mxl_cast_loop(index->dtype, MXL_I64)(row, &from, &step, n, NULL);
    for (int64_t i = 0; i < n && index->dtype == MXL_U64; i++)
        row[i] = row[i] < 0 ? INT64_MAX : row[i]; /* no index from the end */
    if (!mxl_dtype_is_float(index->dtype))
        return 0;
    mxl_cast_loop(index->dtype, MXL_F64)(wide, &from, &step, n, NULL);
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(wide[i]) < 9223372036854775808.0))
            return mxl_error("IndexError: an index is not finite, or does not fit 64 bits");
    }
    return 0;
}

/* The offsets of an index array's positions, each for itself. */
static int index_offsets(const mxl_key *k, int number, const mxl_array *index, int64_t *at)
{
    int axis = k->index[number].axis;
    int64_t size = k->view.shape.dim[axis], stride = k->view.strides[axis];

    for (int64_t j = 0; j < index->size; j += RUN) {
        int64_t n = index->size - j < RUN ? index->size - j : RUN;

        if (read_run(index, j, n, at + j) != 0)
            return -1;
        for (int64_t i = j; i < j + n; i++) {
            if (at[i] < -size || at[i] >= size)
                return mxl_key_out_of_bounds(k->view.params, k->index[number].own, at[i], size);
            at[i] = (at[i] < 0 ? at[i] + size : at[i]) * stride;
        }
    }
    return 0;
}

/* The offsets of a mask's elements that are set, of which there are `room`. Goes through rows: as
 * many of the last axes as the array has evenly spaced. */
static int mask_offsets(const mxl_key *k, int number, const mxl_array *mask, int64_t room,
                        int64_t *at)
{
    const int64_t *strides = k->view.strides + k->index[number].axis;
    const uint8_t *flag = mxl_array_read(mask);
    int rows = mask->ndim - 1;
    int64_t n = rows >= 0 ? mask->shape[rows] : 1, step = rows >= 0 ? strides[rows] : 0;
    int64_t position[MXL_MAX_NDIM], found = 0, row = 0;

    for (; rows > 0 && strides[rows - 1] == step * n; rows--)
        n *= mask->shape[rows - 1];
    for (int axis = 0; axis < rows; axis++)
        position[axis] = 0;
    for (int64_t i = 0; i < mask->size; i += n) {
        int64_t count = mxl_flags_positions(flag + i, n, at + found, 1, room - found);

        for (int64_t j = found; j < found + count; j++)
            at[j] = row + at[j] * step;
        found += count;
        for (int axis = rows - 1; axis >= 0; axis--) {
            row += strides[axis];
            if (++position[axis] < mask->shape[axis])
                break;
            row -= strides[axis] * mask->shape[axis];
            position[axis] = 0;
        }
    }
    return found == room ? 0 : mxl_error("%s: a mask changed while it was read", k->view.op->name);
}

/* Adds offsets of a shape, broadcast, to those of the group. */
static void add_offsets(const mxl_shape *group, int ndim, const int64_t *shape, const int64_t *from,
                        int64_t *at)
{
    int64_t strides[MXL_MAX_NDIM], position[MXL_MAX_NDIM] = {0}, next = 1, j = 0;
    int64_t size = mxl_shape_size(group->ndim, group->dim);

    for (int i = 1; i <= group->ndim; i++) {
        int64_t extent = i <= ndim ? shape[ndim - i] : 1;

        strides[group->ndim - i] = extent == 1 ? 0 : next;
        next *= extent;
    }
    for (int64_t i = 0; i < size; i++) {
        at[i] += from[j];
        for (int axis = group->ndim - 1; axis >= 0; axis--) {
            j += strides[axis];
            if (++position[axis] < group->dim[axis])
                break;
            j -= strides[axis] * group->dim[axis];
            position[axis] = 0;
        }
    }
}

/* The offsets of index `number` alone, of `size` elements. */
static int own_offsets(const mxl_key *k, int number, const mxl_array *index, int64_t size,
                       int64_t *at)
{
    return k->index[number].is_mask ? mask_offsets(k, number, index, size, at)
                                    : index_offsets(k, number, index, at);
}

/* Adds the offsets of a contiguous index of `size` elements to those of the group, of `total`;
 * those of the first one are written. */
static int add_index(const mxl_key *k, int number, const mxl_array *index, int64_t size,
                     int64_t total, int64_t *at)
{
    size_t bytes = (size_t)size * sizeof(*at);
    int64_t *own;
    int status;

    if (number == 0 && size == total)
        return own_offsets(k, number, index, size, at);
    for (int64_t j = 0; number == 0 && j < total; j++)
        at[j] = 0;
    own = mxl_alloc(bytes);
    if (own == NULL)
        return -1;
    status = own_offsets(k, number, index, size, own);
    if (status == 0 && k->index[number].is_mask)
        add_offsets(&k->group, 1, &size, own, at);
    else if (status == 0)
        add_offsets(&k->group, index->ndim, index->shape, own, at);
    mxl_free(own, bytes);
    return status;
}

/* The offset of each element of the group, in elements; -1 with the error set. */
static int find_offsets(const mxl_key *k, int64_t *at)
{
    int64_t total = mxl_shape_size(k->group.ndim, k->group.dim);
    int status = 0;

    at[0] = 0;
    for (int n = 0; n < k->count && status == 0; n++) {
        mxl_array *index = mxl_array_contiguous(k->index[n].array);
        int64_t size;

        if (index == NULL)
            return -1;
        size = k->index[n].is_mask ? k->index[n].found : index->size;
        status = add_index(k, n, index, size, total, at);
        mxl_array_release(index);
    }
    return status;
}

/* ---- elements ---- */

/* Reads the key with the strides of the array. */
static int read_strided(mxl_key *k, const mxl_call *call, const mxl_array *array, int first)
{
    mxl_plan_begin(&k->view, call->op, call->params, array->ndim, array->shape);
    for (int i = 0; i < array->ndim; i++)
        k->view.strides[i] = array->strides[i];
    return mxl_key_read(k, call->num_inputs - first, call->in + first);
}

void mxl_selection_end(mxl_selection *s)
{
    if (s->at != &s->one)
        mxl_free(s->at, s->bytes);
}

int mxl_selection_begin(mxl_selection *s, const mxl_call *call, const mxl_array *array, int first)
{
    mxl_key *k = &s->key;
    int64_t group[MXL_MAX_NDIM], count;
    int ndim = 0;

    if (read_strided(k, call, array, first) != 0)
        return -1;
    count = mxl_shape_size(k->group.ndim, k->group.dim);
    s->at = &s->one;
    s->bytes = (size_t)count * sizeof(*s->at);
    if (count > 1) {
        s->at = mxl_alloc(s->bytes);
        if (s->at == NULL)
            return -1;
    }
    if (find_offsets(k, s->at) != 0) {
        mxl_selection_end(s);
        return -1;
    }
    mxl_shape_strides(k->group.ndim, k->group.dim, group);
    for (int i = 0; i <= k->view.shape.ndim; i++) {
        for (int n = 0; ndim == k->place + n && n < k->group.ndim; n++) {
            s->index_strides[ndim] = k->group.dim[n] == 1 ? 0 : group[n];
            s->strides[ndim++] = 0;
        }
        if (i == k->view.shape.ndim || mxl_key_takes(k, i))
            continue;
        s->index_strides[ndim] = 0;
        s->strides[ndim++] = k->view.shape.dim[i] == 1 ? 0 : k->view.strides[i];
    }
    return 0;
}

int mxl_key_check(const mxl_key *k, const mxl_op *op, const mxl_array *values)
{
    if (mxl_shape_size(k->result.ndim, k->result.dim) == values->size)
        return 0;
    return mxl_error("%s: an array of shape %s does not fit what is selected, of shape %s",
                     op->name, MXL_SHAPE_OF(values), MXL_SHAPE_TEXT(k->result.ndim, k->result.dim));
}

bool mxl_selection_take(const mxl_selection *s, size_t width, const char *from, void *to)
{
    const mxl_key *k = &s->key;
    int64_t inner = 1, outer = 1, apart = 0, count = mxl_shape_size(k->group.ndim, k->group.dim);
    int i = k->result.ndim - 1;

    for (; i >= k->place + k->group.ndim; i--) {
        if (k->result.dim[i] != 1 && s->strides[i] != inner)
            return false;
        inner *= k->result.dim[i];
    }
    for (i = k->place - 1; i >= 0; i--) {
        if (outer == 1)
            apart = s->strides[i];
        else if (k->result.dim[i] != 1 && s->strides[i] != apart * outer)
            return false;
        outer *= k->result.dim[i];
    }
    if (inner == 0 || apart % inner != 0 || apart < 0)
        return false;
    for (int64_t j = 0; j < count && inner > 1; j++) {
        if (s->at[j] % inner != 0)
            return false;
    }
    for (int64_t j = 0; j < count && inner > 1; j++)
        s->at[j] /= inner;
    mxl_take(outer, apart / inner, inner * (int64_t)width, from, count, s->at, to);
    return true;
}
