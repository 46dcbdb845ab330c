/* Cached operators: symbols that are called like operators. */
#include <string.h>

#include "api/symbol/handles.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "engine/run/builtin_ops.h"
#include "op/text.h"
#include "symbol/program.h"
#include "symbol/passes/remat.h"

typedef struct cached_op {
    mxl_ref ref;
    mxl_program program;
    int inputs;
    CachedOpMonitorCallback callback; /* NULL: none */
    bool monitor_all;
} cached_op;

static void cached_op_free(mxl_ref *ref)
{
    cached_op *op = (cached_op *)ref;

    mxl_program_end(&op->program);
    mxl_free(op, sizeof(*op));
}

/* ---- making ---- */

/* The flags of 1.9.1 and, last, those of mxlite, and what their values are: a boolean, an integer,
 * a tuple, any text. */
static const char *const flags[] = {"static_alloc",
                                    "static_shape",
                                    "is_dynamic",
                                    "inline_limit",
                                    "forward_bulk_size",
                                    "data_indices",
                                    "backward_bulk_size",
                                    "param_indices",
                                    "subgraph",
                                    "fast",
                                    "remat",
                                    NULL};
static const char flag_kinds[] = "bbbiititsbb";
enum { FAST = 9, REMAT };

static int read_flag(const char *function, const char *key, const char *text, int flag, int *truth)
{
    mxl_text_result result = MXL_TEXT_OK;
    int64_t number;
    int count;

    if (flag_kinds[flag] == 'b')
        result = mxl_text_bool(text, truth);
    if (flag_kinds[flag] == 'i')
        result = mxl_text_int(text, false, &number);
    if (flag_kinds[flag] == 't')
        result = mxl_text_tuple(text, false, 0, NULL, &count);
    if (result == MXL_TEXT_OK)
        return 0;
    return mxl_error("%s: %s is %s, not '%.100s'", function, key,
                     flag_kinds[flag] == 'b'   ? "True or False"
                     : flag_kinds[flag] == 'i' ? "an integer"
                                               : "a tuple of integers",
                     text);
}

/* What flags ask for. All runs take memory from the pool and give it back node by node. */
typedef struct asked {
    bool keep;    /* static_alloc: what weights are packed into stays from one run to the next, and
                   * passes run (symbol/program.h) */
    bool lasting; /* static_shape too: states stay */
    bool loose;   /* fast: as keep, and training may have other roundings */
    bool remat;   /* backward computes cheap results again (symbol/passes/remat.h) */
} asked;

static int read_flags(const char *function, int count, const char *const *keys,
                      const char *const *vals, asked *a)
{
    bool shape = false;

    for (int i = 0; i < count; i++) {
        mxl_near near;
        int k = 0, truth = 0;

        if (keys == NULL || vals == NULL || keys[i] == NULL || vals[i] == NULL)
            return mxl_error("%s: flag %d has a NULL name or value", function, i);
        while (flags[k] != NULL && strcmp(flags[k], keys[i]) != 0)
            k++;
        if (flags[k] == NULL)
            return mxl_error("%s: there is no flag %.100s%s", function, keys[i],
                             mxl_near_of(&near, keys[i], flags));
        if (read_flag(function, flags[k], vals[i], k, &truth) != 0)
            return -1;
        if (k == 0)
            a->keep = truth != 0;
        if (k == 1)
            shape = truth != 0;
        if (k == FAST)
            a->loose = truth != 0;
        if (k == REMAT)
            a->remat = truth != 0;
    }
    a->lasting = shape && a->keep;
    a->keep |= a->loose;
    return 0;
}

static cached_op *cached_op_new(const mxl_symbol *symbol, const asked *a)
{
    cached_op *op = mxl_alloc_zero(sizeof(*op));
    mxl_symbol *copy = op != NULL ? mxl_symbol_copy(symbol) : NULL;
    int status = copy != NULL ? mxl_program_begin(&op->program, copy) : -1;

    mxl_symbol_release(copy);
    if (status == 0) {
        op->program.lasting = a->lasting;
        op->program.loose = a->loose;
    }
    if (status == 0 && ((a->keep && mxl_program_keep(&op->program) != 0) ||
                        (a->remat && mxl_remat_begin(&op->program) != 0))) {
        mxl_program_end(&op->program);
        status = -1;
    }
    if (status != 0) {
        mxl_free(op, sizeof(*op));
        return NULL;
    }
    mxl_ref_init(&op->ref, cached_op_free);
    for (int n = 0; n < op->program.graph.walk.count; n++)
        op->inputs += op->program.graph.walk.node[n]->op == NULL;
    return op;
}

static int create(const char *function, SymbolHandle handle, int num_flags, const char **keys,
                  const char **vals, CachedOpHandle *out)
{
    mxl_symbol *symbol;
    asked a = {false};
    cached_op *op;
    uint64_t made;

    if (out == NULL)
        return api_null(function, "out");
    if (read_flags(function, num_flags, keys, vals, &a) != 0)
        return -1;
    symbol = api_symbol_pin(handle, function);
    if (symbol == NULL)
        return -1;
    op = cached_op_new(symbol, &a);
    api_symbol_unpin(handle);
    made = op != NULL ? mxl_handle_new(MXL_KIND_CACHED_OP, &op->ref) : 0;
    if (made == 0) {
        if (op != NULL)
            mxl_ref_release(&op->ref);
        return mxl_error_prefix(function);
    }
    *out = (CachedOpHandle)(uintptr_t)made;
    return 0;
}

int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle *out)
{
    return create(__func__, handle, 0, NULL, NULL, out);
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out)
{
    return create(__func__, handle, num_flags, keys, vals, out);
}

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys, const char **vals,
                       CachedOpHandle *out, bool thread_safe)
{
    (void)thread_safe; /* all are */
    return create(__func__, handle, num_flags, keys, vals, out);
}

int MXFreeCachedOp(CachedOpHandle handle)
{
    return mxl_handle_free(MXL_KIND_CACHED_OP, api_number(handle)) == 0
               ? 0
               : mxl_error_prefix(__func__);
}

static cached_op *pin(CachedOpHandle handle, const char *function)
{
    cached_op *op = (cached_op *)mxl_handle_pin(MXL_KIND_CACHED_OP, api_number(handle));

    if (op == NULL)
        (void)mxl_error_prefix(function);
    return op;
}

static void unpin(CachedOpHandle handle)
{
    mxl_handle_unpin(api_number(handle));
}

int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                             bool monitor_all)
{
    cached_op *op = pin(handle, __func__);

    if (op == NULL)
        return -1;
    op->callback = callback;
    op->monitor_all = monitor_all;
    unpin(handle);
    return 0;
}

/* ---- calling ---- */

static void call_monitor(void *payload, const mxl_graph_node *node, const char *name,
                         mxl_array *array)
{
    const cached_op *op = payload;
    NDArrayHandle handle;

    mxl_array_retain(array);
    handle = api_handle(array);
    if (handle == NULL)
        return;
    op->callback(name, node->op != NULL ? node->op->name : "null", handle);
}

static int run(cached_op *op, mxl_array *const *inputs, mxl_array **out)
{
    mxl_monitor monitor = {
        .call = call_monitor, .payload = op, .operands = op->monitor_all, .visible = true};

    return mxl_program_run(&op->program, inputs, out, api_mode(),
                           op->callback != NULL ? &monitor : NULL);
}

/* New handles for all outputs, or none; takes over the references. */
static int give_outputs(mxl_array **out, int count, int *num_outputs, NDArrayHandle **outputs)
{
    NDArrayHandle *handles = api_buffer_get(API_BUFFER_HANDLES, (size_t)count * sizeof(*handles));
    int made = 0;

    while (handles != NULL && made < count) {
        handles[made] = api_handle(out[made]);
        if (handles[made++] == NULL) {
            handles = NULL;
            made--;
        }
    }
    if (handles == NULL) {
        for (int i = made + 1; i < count; i++)
            mxl_array_release(out[i]);
        return -1;
    }
    *outputs = handles;
    *num_outputs = count;
    return 0;
}

/* Copies the results to arrays of the caller; releases them. */
static int copy_outputs(mxl_array **out, int count, NDArrayHandle const *handles)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    int status = builtin == NULL ? -1 : 0;

    for (int i = 0; i < count; i++) {
        mxl_array *to = status == 0 ? api_pin(handles[i]) : NULL;

        if (to == NULL)
            status = -1;
        if (status == 0)
            status =
                mxl_invoke(mxl_builtin_into(builtin, to), NULL, 1, &out[i], 1, &to, api_mode());
        if (to != NULL)
            api_unpin(handles[i]);
        mxl_array_release(out[i]);
    }
    return status;
}

static int call(cached_op *op, const char *function, NDArrayHandle *inputs, int *num_outputs,
                NDArrayHandle **outputs)
{
    size_t in = (size_t)op->inputs, out = (size_t)op->program.graph.symbol->count;
    mxl_array **list = mxl_alloc_zero((in + out + 1) * sizeof(*list));
    int status = -1;

    if (list == NULL)
        return -1;
    if (api_pin_many(function, "input", op->inputs, inputs, list, false) == 0) {
        status = run(op, list, list + in);
        api_unpin_many(op->inputs, inputs);
    }
    if (status == 0)
        status = *outputs == NULL ? give_outputs(list + in, (int)out, num_outputs, outputs)
                                  : copy_outputs(list + in, (int)out, *outputs);
    mxl_free(list, (in + out + 1) * sizeof(*list));
    return status;
}

static int invoke(const char *function, CachedOpHandle handle, int num_inputs,
                  NDArrayHandle *inputs, int *num_outputs, NDArrayHandle **outputs)
{
    cached_op *op;
    int status;

    if (num_outputs == NULL || outputs == NULL)
        return api_null(function, outputs == NULL ? "outputs" : "num_outputs");
    if (num_inputs > 0 && inputs == NULL)
        return api_null(function, "inputs");
    op = pin(handle, function);
    if (op == NULL)
        return -1;
    if (num_inputs != op->inputs)
        status = mxl_error("%s: the graph has %d inputs, %d were given", function, op->inputs,
                           num_inputs);
    else if (*outputs != NULL && *num_outputs != op->program.graph.symbol->count)
        status = mxl_error("%s: the graph has %d outputs, %d were given", function,
                           op->program.graph.symbol->count, *num_outputs);
    else
        status = call(op, function, inputs, num_outputs, outputs);
    unpin(handle);
    return status == 0 ? 0 : mxl_error_prefix(function);
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs, int *num_outputs,
                     NDArrayHandle **outputs)
{
    return invoke(__func__, handle, num_inputs, inputs, num_outputs, outputs);
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                       int *num_outputs, NDArrayHandle **outputs, const int **out_stypes)
{
    int *stypes;

    API_NEED(out_stypes);
    if (invoke(__func__, handle, num_inputs, inputs, num_outputs, outputs) != 0)
        return -1;
    stypes = api_buffer_get(API_BUFFER_STYPES, ((size_t)*num_outputs + 1) * sizeof(*stypes));
    if (stypes == NULL)
        return mxl_error_prefix(__func__);
    for (int i = 0; i < *num_outputs; i++) {
        mxl_array *out = api_pin_for((*outputs)[i], __func__);

        if (out == NULL)
            return -1;
        stypes[i] = out->stype;
        api_unpin((*outputs)[i]);
    }
    *out_stypes = stypes;
    return 0;
}
