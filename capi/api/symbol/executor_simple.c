/* MXExecutorSimpleBind and MXExecutorReshape, with their forms. */
#include "api/symbol/bind.h"

/* The arrays by name that executors share: the caller's list, and where the new one goes. */
typedef struct buffers {
    int *length;
    const char **names;
    NDArrayHandle *handles;
    const char ***names_back;
    NDArrayHandle **handles_back;
} buffers;

typedef struct answer {
    uint32_t *num_in_args;
    NDArrayHandle **in_args, **arg_grads;
    uint32_t *num_aux_states;
    NDArrayHandle **aux_states;
    ExecutorHandle *out;
} answer;

static int check_answer(const char *function, const answer *a)
{
    if (a->num_in_args == NULL || a->in_args == NULL || a->arg_grads == NULL ||
        a->num_aux_states == NULL || a->aux_states == NULL || a->out == NULL)
        return mxl_error("%s: an output argument is NULL", function);
    return 0;
}

/* Hands out the arrays of the executor, and those of the buffer. */
static int lend(const api_wish *w, const mxl_executor *e, const buffers *b, const answer *a)
{
    if (api_executor_lend(e, a->num_in_args, a->in_args, a->arg_grads, a->num_aux_states,
                          a->aux_states) != 0)
        return -1;
    if (w->buffer == NULL ||
        api_shared_lend(w->buffer, b->length, b->names_back, b->handles_back) == 0)
        return 0;
    /* The arguments are followed by the gradients and the states. */
    api_handles_free(*a->in_args, 2 * (size_t)e->args + (size_t)e->aux);
    return -1;
}

/* Makes the executor and hands out what it has; the symbol is pinned. */
static int give(const api_wish *w, const mxl_symbol *symbol, const buffers *b, const answer *a)
{
    mxl_executor *e = api_executor_make(w, symbol);

    if (api_executor_give(e, a->out, w->function) != 0)
        return -1;
    if (lend(w, e, b, a) == 0)
        return 0;
    (void)mxl_handle_free(MXL_KIND_EXECUTOR, api_number(*a->out));
    *a->out = NULL;
    return mxl_error_prefix(w->function);
}

static int bind_pinned(api_wish *w, SymbolHandle handle, const buffers *b, const answer *a)
{
    mxl_symbol *symbol = api_symbol_pin(handle, w->function);
    bool shares =
        b->length != NULL && b->names_back != NULL && b->handles_back != NULL && *b->length >= 0;
    api_shared_buffer buffer;
    int status;

    if (symbol == NULL)
        return -1;
    w->buffer = shares ? &buffer : NULL;
    status = shares ? api_shared_begin(&buffer, *b->length, b->names, b->handles) : 0;
    status = status == 0 ? give(w, symbol, b, a) : mxl_error_prefix(w->function);
    if (shares)
        api_shared_end(&buffer);
    api_symbol_unpin(handle);
    return status;
}

static int simple_bind(api_wish *w, SymbolHandle handle, ExecutorHandle shared, const buffers *b,
                       const answer *a)
{
    int status;

    if (check_answer(w->function, a) != 0)
        return -1;
    if (shared != NULL && (w->from = api_executor_pin(shared, w->function)) == NULL)
        return -1;
    status = bind_pinned(w, handle, b, a);
    if (shared != NULL)
        api_executor_unpin(shared);
    return status;
}

#define SIMPLE_BIND(name, item, reader)                                                            \
    int name(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c_keys,          \
             const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,              \
             uint32_t provided_grad_req_list_len, const char **provided_grad_req_names,            \
             const char **provided_grad_req_types, uint32_t num_provided_arg_shapes,               \
             const char **provided_arg_shape_names, const item *provided_arg_shape_data,           \
             const uint32_t *provided_arg_shape_idx, uint32_t num_provided_arg_dtypes,             \
             const char **provided_arg_dtype_names, const int *provided_arg_dtypes,                \
             uint32_t num_provided_arg_stypes, const char **provided_arg_stype_names,              \
             const int *provided_arg_stypes, uint32_t num_shared_arg_names,                        \
             const char **shared_arg_name_list, int *shared_buffer_len,                            \
             const char **shared_buffer_name_list, NDArrayHandle *shared_buffer_handle_list,       \
             const char ***updated_shared_buffer_name_list,                                        \
             NDArrayHandle **updated_shared_buffer_handle_list, uint32_t *num_in_args,             \
             NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,         \
             NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)   \
    {                                                                                              \
        const buffers b = {shared_buffer_len, shared_buffer_name_list, shared_buffer_handle_list,  \
                           updated_shared_buffer_name_list, updated_shared_buffer_handle_list};    \
        const answer a = {num_in_args, in_args, arg_grads, num_aux_states, aux_states, out};       \
        api_wish w = {.function = __func__,                                                        \
                      .shapes = num_provided_arg_shapes,                                           \
                      .shape_names = provided_arg_shape_names,                                     \
                      .shape_data = provided_arg_shape_data,                                       \
                      .shape_index = provided_arg_shape_idx,                                       \
                      .size_at = reader,                                                           \
                      .dtypes = num_provided_arg_dtypes,                                           \
                      .dtype_names = provided_arg_dtype_names,                                     \
                      .dtype_data = provided_arg_dtypes,                                           \
                      .stypes = num_provided_arg_stypes,                                           \
                      .stype_names = provided_arg_stype_names,                                     \
                      .stype_data = provided_arg_stypes,                                           \
                      .reqs = provided_grad_req_list_len,                                          \
                      .req_names = provided_grad_req_names,                                        \
                      .req_types = provided_grad_req_types,                                        \
                      .shared = num_shared_arg_names,                                              \
                      .shared_names = shared_arg_name_list};                                       \
                                                                                                   \
        if (api_places(__func__, dev_type, dev_id, num_g2c_keys, g2c_keys, g2c_dev_types,          \
                       g2c_dev_ids, &w.places) != 0)                                               \
            return -1;                                                                             \
        return simple_bind(&w, symbol_handle, shared_exec_handle, &b, &a);                         \
    }

SIMPLE_BIND(MXExecutorSimpleBind, uint32_t, api_size_u32)
SIMPLE_BIND(MXExecutorSimpleBindEx, int, api_size_i32)
SIMPLE_BIND(MXExecutorSimpleBindEx64, int64_t, api_size_i64)

static int reshape(api_wish *w, ExecutorHandle shared, const answer *a)
{
    mxl_executor *from;
    int status;

    if (check_answer(w->function, a) != 0)
        return -1;
    from = api_executor_pin(shared, w->function);
    if (from == NULL)
        return -1;
    w->from = from;
    w->reshapes = w->views = true;
    status = give(w, from->program.graph.symbol, NULL, a);
    api_executor_unpin(shared);
    return status;
}

#define RESHAPE(name, item, reader)                                                                \
    int name(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,                   \
             uint32_t num_map_keys, const char **map_keys, const int *map_dev_types,               \
             const int *map_dev_ids, uint32_t num_provided_arg_shapes,                             \
             const char **provided_arg_shape_names, const item *provided_arg_shape_data,           \
             const uint32_t *provided_arg_shape_idx, uint32_t *num_in_args,                        \
             NDArrayHandle **in_args, NDArrayHandle **arg_grads, uint32_t *num_aux_states,         \
             NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out)          \
    {                                                                                              \
        const answer a = {num_in_args, in_args, arg_grads, num_aux_states, aux_states, out};       \
        api_wish w = {.function = __func__,                                                        \
                      .shapes = num_provided_arg_shapes,                                           \
                      .shape_names = provided_arg_shape_names,                                     \
                      .shape_data = provided_arg_shape_data,                                       \
                      .shape_index = provided_arg_shape_idx,                                       \
                      .size_at = reader,                                                           \
                      .partial = partial_shaping != 0,                                             \
                      .larger = allow_up_sizing != 0};                                             \
                                                                                                   \
        if (api_places(__func__, dev_type, dev_id, num_map_keys, map_keys, map_dev_types,          \
                       map_dev_ids, &w.places) != 0)                                               \
            return -1;                                                                             \
        return reshape(&w, shared_exec, &a);                                                       \
    }

RESHAPE(MXExecutorReshape, uint32_t, api_size_u32)
RESHAPE(MXExecutorReshapeEx, int, api_size_i32)
