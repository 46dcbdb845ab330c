/* Steps with a row_sparse gradient, in place; see steps.h. */
#include <string.h>

#include "array/copy.h"
#include "kernel/optimizer/sparse_rows.h"
#include "kernel/sparse/pack.h"
#include "ops/optimizer/steps.h"

enum { MOST_STATES = 3 };

bool mxl_step_stypes(mxl_stypes *call, bool dense)
{
    int weight = call->in[0];

    if (call->in[1] != MXL_ROW_SPARSE || weight == MXL_CSR || (weight == MXL_DENSE && !dense) ||
        (call->given[0] != MXL_STYPE_NONE && call->given[0] != weight))
        return false;
    for (int i = 2; i < call->num_inputs; i++) {
        if (call->in[i] != weight)
            return false;
    }
    call->out[0] = (int8_t)weight;
    return true;
}

/* An array that is updated: its elements are in `data`, all rows one after another, until they are
 * handed over. */
typedef struct target {
    mxl_array *array;
    mxl_array *data;  /* kept; the array itself, if it is dense and contiguous */
    mxl_parts *parts; /* kept; those with `data`; NULL: of a dense array */
} target;

static void target_end(target *t)
{
    mxl_array_release(t->data);
    mxl_parts_release(t->parts);
}

/* Hands what was computed over; no target is left after the first that fails. */
static int target_give(target *t)
{
    if (t->parts != NULL)
        mxl_array_set_parts(t->array, t->parts);
    else if (t->data != t->array)
        return mxl_array_copy_into(t->array, t->data);
    return 0;
}

/* The parts of a row_sparse array with all rows: those that it has not are zeros. */
static mxl_parts *all_rows(const mxl_array *array, const mxl_parts *parts)
{
    int64_t rows = array->shape[0], *at;
    mxl_array *data = mxl_array_zeros(array->dtype, array->ndim, array->shape);
    mxl_array *indices = data == NULL ? NULL : mxl_array_new(MXL_I64, 1, &rows);

    if (indices != NULL) {
        at = mxl_array_write(indices);
        for (int64_t i = 0; i < rows; i++)
            at[i] = i;
        mxl_sparse_put_rows((size_t)(array->size / rows) * mxl_dtype_size(array->dtype),
                            mxl_parts_stored(parts), mxl_array_read(parts->indices),
                            mxl_array_read(parts->data), mxl_array_write(data));
    }
    return mxl_parts_new(false, data, indices, NULL);
}

/* Whether the parts have all rows, each at its place: those that are named, or, of NULL, all. */
static bool has_rows(const mxl_parts *parts, int64_t rows, int64_t count, const int64_t *named)
{
    const int64_t *at = mxl_array_read(parts->indices);

    if (mxl_parts_stored(parts) != rows)
        return false;
    for (int64_t k = 0; k < (named == NULL ? rows : count); k++) {
        int64_t row = named == NULL ? k : named[k];

        if (at[row] != row)
            return false;
    }
    return true;
}

/* What is read of `source` and written to `array`, which is it or another one. */
static int target_begin(target *t, mxl_array *source, mxl_array *array)
{
    bool same = source == array;

    *t = (target){.array = array};
    if (mxl_array_is_dense(array)) {
        t->data = same ? mxl_array_contiguous(array) : mxl_array_copy(source);
        return t->data == NULL ? -1 : 0;
    }
    if (!same)
        source = mxl_array_copy(source);
    t->parts = source == NULL ? NULL : mxl_sparse_edit(source);
    if (!same)
        mxl_array_release(source);
    if (t->parts == NULL)
        return -1;
    t->data = t->parts->data;
    mxl_array_retain(t->data);
    return 0;
}

static int check_weight(const mxl_op *op, const target *t, int64_t count, const int64_t *named)
{
    if (t->parts == NULL || has_rows(t->parts, t->array->shape[0], count, named))
        return 0;
    return mxl_error("%s: a row_sparse weight must have all of its %lld rows in their order, got "
                     "%lld",
                     op->name, (long long)t->array->shape[0],
                     (long long)mxl_parts_stored(t->parts));
}

static int fill_state(target *t, int64_t count, const int64_t *named)
{
    mxl_parts *filled;

    if (t->parts == NULL || has_rows(t->parts, t->array->shape[0], count, named))
        return 0;
    filled = all_rows(t->array, t->parts);
    if (filled == NULL)
        return -1;
    target_end(t);
    t->parts = filled;
    t->data = filled->data;
    mxl_array_retain(t->data);
    return 0;
}

/* Runs the step on the elements of the targets: the weight, then its states. */
static int run(const mxl_call *call, const mxl_step_kind *kind, target *targets, int num_states,
               mxl_sparse_step *sparse, const void *grad, bool lazy)
{
    const mxl_step_params *p = call->params;
    mxl_step step = {.weight = mxl_array_write(targets[0].data),
                     .grad = grad,
                     .lr = (float)p->n.lr,
                     .wd = (float)p->n.wd};
    int64_t rows = call->in[0]->shape[0];

    step.out = (void *)(size_t)step.weight;
    for (int i = 0; i < num_states; i++)
        step.state[i] = mxl_array_write(targets[1 + i].data);
    sparse->step = &step;
    sparse->numbers = &p->n;
    sparse->dtype = call->in[0]->dtype;
    sparse->loop = kind->extra > 0 ? NULL : kind->rule->same[sparse->dtype];
    if (!lazy)
        return mxl_sparse_step_all(sparse, rows);
    mxl_sparse_step_rows(sparse);
    return 0;
}

static int run_targets(const mxl_call *call, const mxl_step_kind *kind, const mxl_parts *grad,
                       target *targets, int num_states, bool lazy)
{
    mxl_array *weight = call->in[0];
    mxl_sparse_step sparse = {.num_states = num_states,
                              .columns = weight->size / weight->shape[0],
                              .count = mxl_parts_stored(grad),
                              .rows = mxl_array_read(grad->indices)};
    const int64_t *named = lazy ? sparse.rows : NULL;

    if (!lazy && !mxl_sparse_step_ascends(&sparse))
        return mxl_error("ValueError: %s: the indices of the gradient must ascend, without "
                         "repetition",
                         call->op->name);
    for (int i = 0; i <= num_states; i++) {
        if (target_begin(&targets[i], i == 0 ? weight : call->in[1 + i],
                         i == 0 ? call->out[0] : call->in[1 + i]) != 0 ||
            (i == 0 ? check_weight(call->op, &targets[i], sparse.count, named)
                    : fill_state(&targets[i], sparse.count, named)) != 0)
            return -1;
    }
    if (run(call, kind, targets, num_states, &sparse, mxl_array_read(grad->data), lazy) != 0)
        return -1;
    for (int i = 0; i <= num_states; i++) {
        if (target_give(&targets[i]) != 0)
            return -1;
    }
    return 0;
}

int mxl_step_sparse(const mxl_call *call, const mxl_step_kind *kind, bool lazy)
{
    target targets[1 + MOST_STATES] = {{0}};
    int num_states = kind->states + kind->extra, status;
    mxl_parts *grad;

    if (call->in[0]->size == 0)
        return 0;
    grad = mxl_sparse_read(call->in[1]);
    if (grad == NULL)
        return mxl_error_prefix(call->op->name);
    status = run_targets(call, kind, grad, targets, num_states, lazy);
    for (int i = 0; i <= num_states; i++)
        target_end(&targets[i]);
    mxl_parts_release(grad);
    return status;
}
