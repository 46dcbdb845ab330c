/* MXAutograd*: the thread's flags, variables, backward. */
#include "api/common.h"

#include <string.h>

#include "base/memory/mem.h"
#include "engine/backward/backward.h"
#include "engine/tape/rebase.h"

/* ---- flags ---- */

int MXAutogradSetIsRecording(int is_recording, int *prev)
{
    mxl_state *state;

    API_NEED(prev);
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    *prev = state->recording;
    state->recording = is_recording != 0;
    return 0;
}

int MXAutogradSetIsTraining(int is_training, int *prev)
{
    mxl_state *state;

    API_NEED(prev);
    state = api_own_state(__func__);
    if (state == NULL)
        return -1;
    *prev = state->training;
    state->training = is_training != 0;
    return 0;
}

int MXAutogradIsRecording(bool *curr)
{
    API_NEED(curr);
    *curr = mxl_state_get()->recording;
    return 0;
}

int MXAutogradIsTraining(bool *curr)
{
    API_NEED(curr);
    *curr = mxl_state_get()->training;
    return 0;
}

int MXLSetGradMode(int enabled, int *before)
{
    mxl_state *state = api_own_state(__func__);

    if (state == NULL)
        return -1;
    if (before != NULL)
        *before = !state->grad_off;
    state->grad_off = enabled == 0;
    return 0;
}

int MXLGetGradMode(int *out)
{
    API_NEED(out);
    *out = !mxl_state_get()->grad_off;
    return 0;
}

int MXLSetInferenceMode(int enabled, int *before)
{
    mxl_state *state = api_own_state(__func__);

    if (state == NULL)
        return -1;
    if (before != NULL)
        *before = state->inference;
    state->inference = enabled != 0;
    return 0;
}

int MXLSetInplace(int follow, int *before)
{
    mxl_state *state = api_own_state(__func__);

    if (state == NULL)
        return -1;
    if (before != NULL)
        *before = state->follow_edits;
    state->follow_edits = follow != 0;
    return 0;
}

/* ---- variables ---- */

static int check_variable(const mxl_array *variable, const mxl_array *grad, uint32_t req,
                          unsigned i)
{
    if (req > MXL_GRAD_ADD)
        return mxl_error(
            "MXAutogradMarkVariables: gradient request %u of variable %u is not one of "
            "0 (null), 1 (write), 2 (write in place), 3 (add)",
            req, i);
    if (variable->storage == NULL)
        return mxl_error("MXAutogradMarkVariables: variable %u has no shape yet", i);
    if (grad == NULL || grad->storage == NULL)
        return 0;
    if (grad->dtype != variable->dtype)
        return mxl_error("MXAutogradMarkVariables: variable %u is %s, its gradient is %s", i,
                         mxl_dtype_name(variable->dtype), mxl_dtype_name(grad->dtype));
    if (!mxl_array_same_shape(variable, grad))
        return mxl_error("MXAutogradMarkVariables: variable %u has shape %s, its gradient has %s",
                         i, MXL_SHAPE_OF(variable), MXL_SHAPE_OF(grad));
    if (mxl_array_check_writable(grad) != 0)
        return mxl_error_prefix("MXAutogradMarkVariables: a gradient");
    if (grad->storage == variable->storage)
        return mxl_error("MXAutogradMarkVariables: variable %u and its gradient share memory", i);
    return 0;
}

/* All or nothing: allocates everything before the first array changes. */
static int mark(uint32_t count, mxl_array **variables, const uint32_t *reqs, mxl_array **grads,
                mxl_leaf **spare)
{
    for (uint32_t i = 0; i < count; i++) {
        if (check_variable(variables[i], grads[i], reqs[i], i) != 0)
            return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (mxl_array_reserve_leaf(variables[i], &spare[i]) == 0)
            continue;
        while (i-- > 0)
            mxl_free(spare[i], sizeof(*spare[i]));
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        mxl_grad_req req = reqs[i] == 2 ? MXL_GRAD_WRITE : (mxl_grad_req)reqs[i];

        mxl_array_set_leaf(variables[i], req, grads[i], spare[i]);
    }
    return 0;
}

int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle *var_handles, uint32_t *reqs_array,
                            NDArrayHandle *grad_handles)
{
    mxl_array **arrays;
    size_t bytes = (size_t)num_var * (2 * sizeof(*arrays) + sizeof(mxl_leaf *));
    int status = -1;

    if (num_var == 0)
        return 0;
    if (num_var > INT32_MAX)
        return mxl_error("MXAutogradMarkVariables: %u variables are too many", num_var);
    API_NEED(var_handles);
    API_NEED(reqs_array);
    API_NEED(grad_handles);
    arrays = mxl_alloc(bytes);
    if (arrays == NULL)
        return -1;
    if (api_pin_many(__func__, "variable", (int)num_var, var_handles, arrays, false) == 0) {
        if (api_pin_many(__func__, "gradient", (int)num_var, grad_handles, arrays + num_var,
                         true) == 0) {
            status = mark(num_var, arrays, reqs_array, arrays + num_var,
                          (mxl_leaf **)(arrays + 2 * (size_t)num_var));
            api_unpin_many((int)num_var, grad_handles);
        }
        api_unpin_many((int)num_var, var_handles);
    }
    mxl_free(arrays, bytes);
    return status;
}

/* ---- backward ---- */

/* The handles of one call, pinned. */
typedef struct pinned {
    int num_heads, num_variables;
    NDArrayHandle *heads, *head_grads, *variables; /* head_grads may be NULL */
    mxl_array **arrays;                            /* heads, head gradients, variables, results */
} pinned;

static int pin_all(const pinned *p)
{
    mxl_array **at = p->arrays;

    if (api_pin_many("backward", "head", p->num_heads, p->heads, at, false) != 0)
        return -1;
    at += p->num_heads;
    if (p->head_grads != NULL &&
        api_pin_many("backward", "head gradient", p->num_heads, p->head_grads, at, true) != 0) {
        api_unpin_many(p->num_heads, p->heads);
        return -1;
    }
    at += p->num_heads;
    if (api_pin_many("backward", "variable", p->num_variables, p->variables, at, false) != 0) {
        if (p->head_grads != NULL)
            api_unpin_many(p->num_heads, p->head_grads);
        api_unpin_many(p->num_heads, p->heads);
        return -1;
    }
    return 0;
}

/* Updates the edges of views whose memory was edited. */
static int refresh(int count, mxl_array *const *arrays)
{
    for (int i = 0; i < count; i++) {
        if (mxl_rebase_refresh(arrays[i]) != 0)
            return -1;
    }
    return 0;
}

static void unpin_all(const pinned *p)
{
    api_unpin_many(p->num_variables, p->variables);
    if (p->head_grads != NULL)
        api_unpin_many(p->num_heads, p->head_grads);
    api_unpin_many(p->num_heads, p->heads);
}

/* Returns gradients as handles in the thread's buffers; all or nothing. Releases the arrays. Gets
 * the buffers after backward, whose callbacks may have used them. */
static int return_grads(int count, mxl_array **grads, NDArrayHandle **handles, int **stypes)
{
    NDArrayHandle *list =
        api_buffer_get(API_BUFFER_BACKWARD_HANDLES, (size_t)count * sizeof(*list));
    int *types = api_buffer_get(API_BUFFER_BACKWARD_STYPES, (size_t)count * sizeof(*types));
    int made = 0;

    while (list != NULL && types != NULL && made < count) {
        types[made] = grads[made]->stype;
        list[made] = api_handle(grads[made]);
        grads[made] = NULL;
        if (list[made] == NULL)
            break;
        made++;
    }
    if (made == count) {
        *handles = list;
        *stypes = types;
        return 0;
    }
    api_handles_free(list, (size_t)made);
    for (int i = 0; i < count; i++)
        mxl_array_release(grads[i]);
    return -1;
}

int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle *output_handles,
                         NDArrayHandle *ograd_handles, uint32_t num_variables,
                         NDArrayHandle *var_handles, int retain_graph, int create_graph,
                         int is_train, NDArrayHandle **grad_handles, int **grad_stypes)
{
    pinned p = {(int)num_output, (int)num_variables, output_handles,
                ograd_handles,   var_handles,        NULL};
    size_t bytes = 2 * ((size_t)num_output + num_variables) * sizeof(mxl_array *);
    mxl_backward_args args;
    mxl_array **grads;
    int status = -1;

    if (num_output == 0)
        return mxl_error("backward: there are no heads");
    if (num_output > INT32_MAX || num_variables > INT32_MAX)
        return mxl_error("backward: too many heads or variables");
    API_NEED(output_handles);
    if (num_variables > 0) {
        API_NEED(var_handles);
        API_NEED(grad_handles);
        API_NEED(grad_stypes);
    }
    p.arrays = mxl_alloc_zero(bytes);
    if (p.arrays == NULL)
        return -1;
    grads = p.arrays + 2 * (size_t)num_output + num_variables;
    args = (mxl_backward_args){.num_heads = p.num_heads,
                               .heads = p.arrays,
                               .head_grads = p.arrays + num_output,
                               .num_variables = p.num_variables,
                               .variables = p.arrays + 2 * (size_t)num_output,
                               .grads = num_variables > 0 ? grads : NULL,
                               .retain_graph = retain_graph != 0,
                               .create_graph = create_graph != 0,
                               .training = is_train != 0,
                               .dialect = &mxl_dialect_mxnet};
    if (pin_all(&p) == 0) {
        if (refresh(p.num_heads, p.arrays) == 0 && refresh(p.num_variables, args.variables) == 0)
            status = mxl_backward(&args);
        unpin_all(&p);
    }
    if (status == 0 && num_variables > 0)
        status = return_grads(p.num_variables, args.grads, grad_handles, grad_stypes);
    mxl_free(p.arrays, bytes);
    return status;
}

int MXAutogradBackward(uint32_t num_output, NDArrayHandle *output_handles,
                       NDArrayHandle *ograd_handles, int retain_graph)
{
    if (num_output > 0)
        API_NEED(output_handles);
    return MXAutogradBackwardEx(num_output, output_handles, ograd_handles, 0, NULL, retain_graph, 0,
                                1, NULL, NULL);
}

int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle *output_handles)
{
    if (num_output > 0)
        API_NEED(output_handles);
    return MXAutogradBackward(num_output, output_handles, NULL, 0);
}
