/* one_hot, _onehot_encode: an index as a row with one value at that position and another one
 * elsewhere. */
#include "ops/index/take.h"

#include <stddef.h>

#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/index/gather.h"

typedef struct one_hot_params {
    int64_t depth;
    double on_value, off_value;
    int dtype;
} one_hot_params;

/* Fills `out`, whose last axis has `depth` positions, from the array of indices. */
static int put_rows(const mxl_array *index, int64_t depth, double on_value, double off_value,
                    mxl_array *out)
{
    uint64_t on = 0, off = 0;
    size_t bytes = (size_t)index->size * sizeof(int64_t);
    int64_t *at = mxl_alloc(bytes);
    int status;

    if (at == NULL)
        return -1;
    mxl_cast_scalar(on_value, out->dtype, &on);
    mxl_cast_scalar(off_value, out->dtype, &off);
    status = mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, depth,
                               MXL_INDEX_KEEP, at);
    if (status == 0)
        mxl_one_hot(mxl_dtype_size(out->dtype), index->size, depth, at, &on, &off,
                    mxl_array_write(out));
    mxl_free(at, bytes);
    return status;
}

static int one_hot_compute(const mxl_call *call)
{
    const one_hot_params *p = call->params;

    return put_rows(call->in[0], p->depth, p->on_value, p->off_value, call->out[0]);
}

static const mxl_op op_one_hot = {
    .name = "one_hot",
    .aliases = MXL_ALIASES("_npx_one_hot"),
    .doc = "A new last axis that is on_value at each index, and off_value everywhere else.",
    MXL_INPUTS(MXL_INPUT(indices, "Which position is on; of any dtype.")),
    MXL_PARAMS_OF(one_hot_params,
                  MXL_PARAM(one_hot_params, depth, MXL_P_INT, MXL_REQUIRED,
                            "Extent of the new last axis.", MXL_AT_LEAST(0)),
                  MXL_PARAM(one_hot_params, on_value, MXL_P_FLOAT, "1", "The element at the index.",
                            .type_name = "double"),
                  MXL_PARAM(one_hot_params, off_value, MXL_P_FLOAT, "0", "Every other element.",
                            .type_name = "double"),
                  MXL_PARAM(one_hot_params, dtype, MXL_P_DTYPE, "float32", "dtype of the result.",
                            .values = mxl_number_names)),
    MXL_SHAPES("indices[*S] -> [*S,depth]"),
    .dtypes = ".>t",
    .compute = one_hot_compute,
    .u64 = MXL_U64_INDEXED,
    .grad = mxl_grad_zero,
};

mxl_array *mxl_one_hot_rows(mxl_scope *s, mxl_array *index, int64_t depth, double on_value,
                            double off_value, int dtype)
{
    one_hot_params p = {depth, on_value, off_value, dtype};

    return mxl_scope_call(s, &op_one_hot, &p, 1, &index);
}

/* ---- _onehot_encode ---- */

static int encode_compute(const mxl_call *call)
{
    return put_rows(call->in[0], call->out[0]->shape[1], 1, 0, call->out[0]);
}

static const mxl_op op_onehot_encode = {
    .name = "_onehot_encode",
    .doc = "Rows that are 1 at the position which lhs names, and 0 everywhere else.",
    MXL_INPUTS(
        MXL_INPUT(lhs, "Which position is on, for each row; of any dtype.", .type_text = "NDArray"),
        MXL_INPUT(rhs, "An array of the result's shape and dtype.", .type_text = "NDArray")),
    MXL_SHAPES("lhs[N] rhs[N,D] -> [N,D]"),
    .dtypes = "eA>A",
    .compute = encode_compute,
    .u64 = MXL_U64_INDEXED,
    .grad = mxl_grad_zero,
    .in_place = true,
};

const mxl_op *const mxl_ops_one_hot[] = {&op_one_hot, &op_onehot_encode, NULL};
