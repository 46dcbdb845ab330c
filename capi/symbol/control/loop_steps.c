/* Parts of arrays for the steps of a loop. */
#include "symbol/control/loop_steps.h"

#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "engine/run/builtin_ops.h"
#include "symbol/control/control.h"
#include "ops/control_ops.h"
#include "ops/shape/movement.h"

/* Invokes an operator with parameters as text. */
static int call(const mxl_op *op, int num_params, const char *const *keys,
                const char *const *values, int num_inputs, mxl_array *const *in, int num_outputs,
                mxl_array **out, mxl_mode mode)
{
    mxl_arena arena;
    void *params;
    int status = -1;

    mxl_arena_init(&arena);
    params = mxl_arena_alloc(&arena, op->params_size + 1);
    if (params != NULL && mxl_params_parse(op, num_params, keys, values, params, &arena) == 0)
        status = mxl_invoke(op, params, num_inputs, in, num_outputs, out, mode);
    mxl_arena_clear(&arena);
    return status;
}

int mxl_steps_split(mxl_array *array, int64_t steps, mxl_array **part, mxl_mode mode)
{
    static const char *const keys[] = {"num_outputs", "axis", "squeeze_axis"};
    char count[24];
    const char *values[] = {count, "0", array->ndim > 1 || !mode.legacy_shape ? "1" : "0"};

    if (steps > INT32_MAX)
        return mxl_error("data has %lld steps; the most is %d", (long long)steps, INT32_MAX);
    snprintf(count, sizeof(count), "%lld", (long long)steps);
    return call(&mxl_op_slice_channel, 3, keys, values, 1, &array, (int)steps, part, mode);
}

/* Zeros of a shape whose first size is replaced. */
static mxl_array *zeros(int64_t first, int dtype, int ndim, const int64_t *shape)
{
    int64_t sizes[MXL_MAX_NDIM] = {0};

    memcpy(sizes, shape, (size_t)ndim * sizeof(*shape));
    sizes[0] = first;
    return mxl_array_zeros(dtype, ndim, sizes);
}

int mxl_steps_stack(mxl_array *const *part, int64_t steps, int64_t most, mxl_array **out,
                    mxl_mode mode)
{
    static const char *const keys[] = {"num_args", "axis"}, *const dim[] = {"num_args", "dim"},
                             *const two[] = {"2", "0"};
    mxl_array *both[2] = {NULL, NULL};
    char count[24];
    const char *values[] = {count, "0"};
    int status;

    snprintf(count, sizeof(count), "%lld", (long long)steps);
    status = call(&mxl_op_stack, 2, keys, values, (int)steps, part, 1, &both[0], mode);
    if (status != 0 || steps == most) {
        *out = both[0];
        return status;
    }
    both[1] = zeros(most - steps, both[0]->dtype, both[0]->ndim, both[0]->shape);
    status = both[1] == NULL ? -1 : call(&mxl_op_concat, 2, dim, two, 2, both, 1, out, mode);
    mxl_array_release(both[0]);
    mxl_array_release(both[1]);
    return status;
}

/* States the shapes and dtypes of the arrays of a loop's inputs. */
static int say_inputs(mxl_facts *facts, const mxl_while_params *p, mxl_array *const *in)
{
    const mxl_node_walk *walk = &facts->graph->walk;
    int variable = 0;

    for (int n = 0; n < walk->count; n++) {
        const mxl_array *array;
        mxl_shape shape;

        if (walk->node[n]->op != NULL)
            continue;
        array = in[p->func_input_locs.v[variable++]];
        mxl_shape_set(&shape, array->ndim, array->shape);
        facts->shape[facts->graph->first[n]] = shape; /* the array counts, not an attribute */
        facts->dtype[facts->graph->first[n]] = array->dtype;
    }
    return mxl_infer_dtypes(facts) != 0 ? -1 : mxl_infer_shapes(facts);
}

/* Zeros of so many steps of a known shape. */
static mxl_array *zero_steps(const mxl_shape *step, int dtype, int64_t steps)
{
    int64_t sizes[MXL_MAX_NDIM] = {0};

    if (!mxl_shape_known(step) || step->ndim == MXL_MAX_NDIM)
        return mxl_error_null("the loop has no steps, and the shape of a result is unknown");
    memcpy(sizes + 1, step->dim, (size_t)step->ndim * sizeof(*step->dim));
    return zeros(steps, dtype != MXL_DTYPE_UNKNOWN ? dtype : MXL_F32, step->ndim + 1, sizes);
}

int mxl_steps_none(const mxl_graph_node *node, mxl_array *const *in, int k, mxl_array **out,
                   mxl_mode mode)
{
    const mxl_while_params *p = node->params;
    mxl_indexed graph;
    mxl_facts facts;

    if (mxl_indexed_begin(&graph, node->graphs[1]) != 0)
        return -1;
    if (mxl_facts_begin(&facts, &graph, mode.legacy_shape) == 0) {
        if (say_inputs(&facts, p, in) == 0)
            *out = zero_steps(&facts.shape[graph.head[k]], facts.dtype[graph.head[k]],
                              p->max_iterations);
        mxl_facts_end(&facts);
    }
    mxl_indexed_end(&graph);
    return *out != NULL ? 0 : -1;
}

int mxl_steps_truth(mxl_array *condition, mxl_mode mode)
{
    const mxl_builtin_ops *ops = mxl_builtin_ops_get();
    mxl_array *flag = NULL;
    const int dtype = MXL_BOOL;
    int truth;

    if (condition->size != 1)
        return mxl_error("a condition has one element, got shape %s", MXL_SHAPE_OF(condition));
    if (mxl_array_refuse_read("a condition", condition) != 0 || ops == NULL ||
        mxl_invoke(ops->cast, &dtype, 1, &condition, 1, &flag, mode) != 0)
        return -1;
    truth = *(const unsigned char *)mxl_array_read(flag) != 0;
    mxl_array_release(flag);
    return truth;
}
