/* Shared by executor_*.c. */
#ifndef MXL_API_SYMBOL_BIND_H
#define MXL_API_SYMBOL_BIND_H

#include "api/symbol/handles.h"
#include "symbol/executor/executor.h"

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

/* Arrays by name that executors share, with gradients as "grad of NAME". */
typedef struct api_shared_array {
    char *name;
    mxl_array *array;
} api_shared_array;

typedef struct api_shared_buffer {
    size_t count, room, name_bytes;
    api_shared_array *item;
} api_shared_buffer;

/* Takes the caller's arrays. The buffer is to be ended also after -1, with the error set. */
int api_shared_begin(api_shared_buffer *buffer, int length, const char *const *names,
                     const NDArrayHandle *handles);
void api_shared_end(api_shared_buffer *buffer);

/* The first elements of the buffer's array of that name, where it has enough; else zeros on
 * `device`, which take its place in the buffer. A new reference; NULL with the error set, as where
 * those elements have another dtype. */
mxl_array *api_shared_array_for(api_shared_buffer *buffer, const char *name, int dtype,
                                const mxl_shape *shape, mxl_device device);

/* Lends the names and new handles of all arrays. -1 with the error set. */
int api_shared_lend(const api_shared_buffer *buffer, int *length, const char ***names,
                    NDArrayHandle **handles);

/* The devices that a caller of bind, simple_bind or reshape asks for: its own, and those of groups.
 * -1 with the error set. */
int api_places(const char *function, int dev_type, int dev_id, uint32_t count, const char **groups,
               const int *types, const int *ids, mxl_places *places);

/* What simple_bind and reshape are asked for. The forms of a function differ in the type of the
 * sizes, which `size_at` reads. */
typedef struct api_wish {
    const char *function;
    mxl_places places;
    uint32_t shapes;
    const char **shape_names;
    const void *shape_data;
    const uint32_t *shape_index;
    int64_t (*size_at)(const void *sizes, uint32_t i);
    uint32_t dtypes;
    const char **dtype_names;
    const int *dtype_data;
    uint32_t stypes;
    const char **stype_names;
    const int *stype_data;
    uint32_t reqs; /* 0 and no names: one for all, or for each by position */
    const char **req_names, **req_types;
    uint32_t shared; /* names of arguments that are taken from `from` */
    const char **shared_names;
    mxl_executor *from;
    api_shared_buffer *buffer; /* for arguments that are not; NULL: nothing is shared */
    bool reshapes; /* arrays of `from` whose shape stays are taken; requests are its requests */
    bool views;    /* and so is memory of others, where it is enough */
    bool partial;  /* shapes that were not asked for may change */
    bool larger;   /* arrays may become larger */
} api_wish;

/* A new executor with arrays made by what was asked for. NULL with the error set. */
mxl_executor *api_executor_make(const api_wish *wish, const mxl_symbol *symbol);

/* Lends handles of the arguments, their gradients (NULL for none) and auxiliary states, which
 * follow each other in one list. -1 with the error set. */
int api_executor_lend(const mxl_executor *e, uint32_t *num_in_args, NDArrayHandle **in_args,
                      NDArrayHandle **arg_grads, uint32_t *num_aux_states,
                      NDArrayHandle **aux_states);

int64_t api_size_u32(const void *sizes, uint32_t i);
int64_t api_size_i32(const void *sizes, uint32_t i);
int64_t api_size_i64(const void *sizes, uint32_t i);

#endif
