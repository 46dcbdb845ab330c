/* Shared by executor_*.c. */
#ifndef MXL_API_SYMBOL_BIND_H
#define MXL_API_SYMBOL_BIND_H

#include "api/symbol/handles.h"
#include "graph/executor.h"

/* Pins an executor (borrowed until api_executor_unpin); NULL with the error set. */
static inline mxl_executor *api_executor_pin(const void *handle, const char *function)
{
    mxl_executor *e = (mxl_executor *)mxl_handle_pin(MXL_KIND_EXECUTOR, api_number(handle));

    if (e == NULL)
        (void)mxl_error_prefix(function);
    return e;
}

static inline void api_executor_unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

/* Hands an executor over to the caller, or releases it; -1 with the error set, also if it is NULL.
 */
int api_executor_give(mxl_executor *e, ExecutorHandle *out, const char *function);

/* What simple_bind and reshape are asked for. The forms of a function differ in the type of the
 * sizes, which `size_at` reads. */
typedef struct api_wish {
    const char *function;
    uint32_t shapes;
    const char **shape_names;
    const void *shape_data;
    const uint32_t *shape_index;
    int64_t (*size_at)(const void *sizes, uint32_t i);
    uint32_t dtypes;
    const char **dtype_names;
    const int *dtype_data;
    uint32_t reqs; /* 0 and no names: one for all, or for each by position */
    const char **req_names, **req_types;
    uint32_t shared; /* names of arguments that are taken from `from` */
    const char **shared_names;
    mxl_executor *from; /* NULL: nothing is shared */
    bool reshapes; /* arrays of `from` whose shape stays are taken; requests are its requests */
    bool views;    /* and so is memory of others, where it is enough */
    bool partial;  /* shapes that were not asked for may change */
    bool larger;   /* arrays may become larger */
} api_wish;

/* A new executor with arrays made by what was asked for. NULL with the error set. */
mxl_executor *api_executor_make(const api_wish *wish, const mxl_symbol *symbol);

/* Lends handles of the arguments, their gradients (NULL for none) and auxiliary states. -1 with the
 * error set. */
int api_executor_lend(const mxl_executor *e, uint32_t *num_in_args, NDArrayHandle **in_args,
                      NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                      NDArrayHandle **aux_states);

int64_t api_size_u32(const void *sizes, uint32_t i);
int64_t api_size_i32(const void *sizes, uint32_t i);
int64_t api_size_i64(const void *sizes, uint32_t i);

#endif
