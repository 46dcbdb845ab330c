/* Operators that make one array of several: Concat and stack. */
#include "ops/build.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/copy/copy_loops.h"
#include "ops/shape/movement.h"
#include "ops/sparse/forms.h"

/* Contiguous data as blocks of bytes, one for each position before the axis. */
typedef struct blocks {
    int64_t count;
    int64_t bytes;
} blocks;

static blocks blocks_at(const mxl_array *array, int axis)
{
    blocks b = {1, (int64_t)mxl_dtype_size(array->dtype)};

    for (int i = 0; i < axis; i++)
        b.count *= array->shape[i];
    for (int i = axis; i < array->ndim; i++)
        b.bytes *= array->shape[i];
    return b;
}

/* Up to this many bytes the strided walk costs more than the copies. */
enum { FEW_BYTES = 1 << 16 };

static void copy_blocks(int64_t count, int64_t bytes, char *out, int64_t out_step, const char *in,
                        int64_t in_step)
{
    if (count == 1 || (bytes == out_step && bytes == in_step)) {
        mxl_copy_bytes(out, in, (size_t)(count * bytes));
    } else if (bytes > 0 && count * bytes <= FEW_BYTES) {
        mxl_copy_pieces(bytes, count, out, out_step, in, in_step);
    } else if (bytes > 0) {
        const int64_t shape[2] = {count, bytes};
        const int64_t out_strides[2] = {out_step, 1}, in_strides[2] = {in_step, 1};

        mxl_copy_strided(1, 2, shape, out, out_strides, in, in_strides);
    }
}

/* ---- Concat ---- */

typedef struct join_params {
    int64_t num_args, axis;
} join_params;

int mxl_join_arity(const void *params, mxl_arity *arity)
{
    int64_t num_args = *(const int64_t *)params;

    if (num_args > 0 && num_args <= INT_MAX)
        arity->inputs = (int)num_args;
    else if (arity->inputs < 1)
        arity->inputs = 1;
    return 0;
}

/* Long rows of several arrays are written side by side, in the order of the output's memory.
 * Copying one array at a time takes nearly twice as long, unless the copies bypass the caches. */
enum { JOINED_AT_ONCE = 16, LONG_ROW = 1024, ROWS_GRAIN = 1 << 18, MANY_BYTES = 24 << 20 };

typedef struct join_job {
    char *out;
    int64_t whole; /* bytes of a row of the output */
    int num;
    const char *in[JOINED_AT_ONCE];
    int64_t bytes[JOINED_AT_ONCE];
} join_job;

static void join_chunk(void *data, int64_t begin, int64_t end)
{
    const join_job *job = data;

    for (int64_t row = begin; row < end; row++) {
        char *out = job->out + row * job->whole;

        for (int k = 0; k < job->num; k++) {
            mxl_copy_block(out, job->in[k] + row * job->bytes[k], (size_t)job->bytes[k]);
            out += job->bytes[k];
        }
    }
}

/* Joins rows if that pays; false: it does not. */
static bool join_rows(const mxl_call *call, int axis, blocks whole, char *out)
{
    join_job job = {.out = out, .whole = whole.bytes, .num = call->num_inputs};

    if (job.num > JOINED_AT_ONCE || whole.count * whole.bytes <= FEW_BYTES ||
        whole.count * whole.bytes > MANY_BYTES)
        return false;
    for (int i = 0; i < job.num; i++) {
        job.in[i] = mxl_array_read(call->in[i]);
        job.bytes[i] = blocks_at(call->in[i], axis).bytes;
        if (job.bytes[i] < LONG_ROW)
            return false;
    }
    mxl_parallel_for(whole.count, ROWS_GRAIN / whole.bytes + 1, join_chunk, &job);
    return true;
}

static int join_compute(const mxl_call *call)
{
    const join_params *p = call->params;
    mxl_array *out = call->out[0];
    int axis = mxl_check_axis(call->op, p->axis, out->ndim);
    blocks whole;
    char *data = mxl_array_write(out);

    if (axis < 0)
        return -1;
    whole = blocks_at(out, axis);
    if (whole.count > 1 && call->num_inputs > 1 && join_rows(call, axis, whole, data))
        return 0;
    for (int i = 0; i < call->num_inputs; i++) {
        blocks part = blocks_at(call->in[i], axis);

        copy_blocks(part.count, part.bytes, data, whole.bytes, mxl_array_read(call->in[i]),
                    part.bytes);
        data += part.bytes;
    }
    return 0;
}

/* dx_i = its part of dy; of stack without the new axis */
static int join_grad(mxl_grad *g)
{
    const join_params *p = g->params;
    int ndim = mxl_grad_out_meta(g, 0)->ndim, axis = mxl_check_axis(g->op, p->axis, ndim);
    int64_t begin = 0;

    if (axis < 0)
        return -1;
    for (int i = 0; i < g->num_inputs; i++) {
        const mxl_meta *x = mxl_grad_in_meta(g, i);
        int64_t end = begin + (x->ndim == ndim ? x->shape[axis] : 1);

        if (mxl_grad_wants(g, i)) {
            mxl_array *part = mxl_slice_axis(g->s, g->grad_output[0], axis, begin, end);

            if (mxl_grad_set(g, i, mxl_reshape(g->s, part, x->ndim, x->shape)) != 0)
                return -1;
        }
        begin = end;
    }
    return 0;
}

/* ---- what graphs complete ---- */

/* The packed parameters of a recurrent layer may have several unknown sizes: what is left of a
 * known total, in equal parts. */
static int parameters_complete(mxl_rule *rule)
{
    int64_t rest = mxl_rule_out(rule, 0)->ndim > 0 ? mxl_rule_out(rule, 0)->dim[0] : -1;
    int unknown = 0;

    for (int i = 0; i < rule->num_in; i++) {
        const mxl_shape *in = mxl_rule_in(rule, i);

        if (in->ndim <= 0)
            return 0;
        unknown += in->dim[0] < 0;
        rest -= in->dim[0] < 0 ? 0 : in->dim[0];
    }
    if (rest < 0 || unknown == 0 || rest % unknown != 0)
        return 0;
    for (int i = 0; i < rule->num_in; i++) {
        mxl_shape *in = mxl_rule_in(rule, i);

        if (in->dim[0] < 0) {
            in->dim[0] = rest / unknown;
            rule->changed = true;
        }
    }
    return 0;
}

/* ---- Concat ---- */

/* The fields of Concat, and of its second name for vectors of parameters, which 1.9.1 lists as an
 * operator by itself. */
#define CONCAT                                                                                     \
    MXL_INPUTS(MXL_INPUT(data, "The arrays to join.")),                                            \
        MXL_PARAMS_OF(                                                                             \
            join_params,                                                                           \
            MXL_PARAM(join_params, num_args, MXL_P_INT, MXL_REQUIRED, "Number of arrays to join.", \
                      MXL_AT_LEAST(1)),                                                            \
            MXL_PARAM_AS("dim", join_params, axis, MXL_P_INT, "1", "The axis to join along.")),    \
        .key_var_num_args = "num_args", .arity = mxl_join_arity,                                   \
        MXL_SHAPES("(data[*A,D_i@dim,*B])... -> [*A,sum(D_i),*B]"), .compute = join_compute,       \
        .any_dtype = true, .grad = join_grad

/* One below the other csr matrices are one. */
static bool concat_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_CSR;
    return ((const join_params *)call->params)->axis == 0 && mxl_stypes_all(call, MXL_CSR);
}

static int concat_csr(const mxl_call *call)
{
    return mxl_sparse_join_into(call->out[0], call->num_inputs, call->in);
}

static const mxl_sparse_forms concat_forms = {.stypes = concat_stypes, .compute = concat_csr};

const mxl_op mxl_op_concat = {
    .name = "Concat",
    .output_names = "output",
    .aliases = MXL_ALIASES("_sparse_concat", "concat"),
    .doc = "Joins arrays along an axis; their other extents must be the same.",
    CONCAT,
    .sparse = &concat_forms,
    .node_name = "CatBackward0",
};

static const mxl_op op_param_concat = {
    .name = "_rnn_param_concat",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npi_rnn_param_concat"),
    .doc = "Joins the weights and biases of a recurrent network as RNN takes them; the same as "
           "Concat.",
    CONCAT,
    .complete_shapes = parameters_complete,
};

mxl_array *mxl_concat(mxl_scope *s, int count, mxl_array *const *arrays, int axis)
{
    join_params p = {count, axis};

    return mxl_scope_call(s, &mxl_op_concat, &p, count, arrays);
}

/* ---- stack ---- */

const mxl_op mxl_op_stack = {
    .name = "stack",
    .numpy_name = "_npi_stack",
    .doc = "Arrays of one shape side by side along a new axis.",
    MXL_INPUTS(MXL_INPUT(data, "The arrays, all of one shape.")),
    MXL_PARAMS_OF(
        join_params,
        MXL_PARAM(join_params, axis, MXL_P_INT, "0",
                  "Position of the new axis in the result; a negative one counts from the end."),
        MXL_PARAM(join_params, num_args, MXL_P_INT, MXL_REQUIRED, "Number of arrays.",
                  MXL_AT_LEAST(1))),
    .key_var_num_args = "num_args",
    .arity = mxl_join_arity,
    MXL_SHAPES("(data[*A,*B])... -> [*A,count@axis,*B]"),
    .compute = join_compute,
    .any_dtype = true,
    .grad = join_grad,
};

const mxl_op *const mxl_ops_concat[] = {&mxl_op_concat, &op_param_concat, &mxl_op_stack, NULL};
