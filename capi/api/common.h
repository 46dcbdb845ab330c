/* Shared by all api_*.c: handles to arrays and back, the thread's mode, return buffers. */
#ifndef MXL_API_COMMON_H
#define MXL_API_COMMON_H

#include <stdint.h>

#include "array/array.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/state.h"
#include "engine/run/invoke.h"
#include "mxlite/mxlite.h"

static inline uint64_t api_number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* Pins an array (borrowed until api_unpin); NULL with the error set. */
static inline mxl_array *api_pin(const void *handle)
{
    return (mxl_array *)mxl_handle_pin(MXL_KIND_ARRAY, api_number(handle));
}

/* The same, with the function's name in the error. */
mxl_array *api_pin_for(const void *handle, const char *function);

/* The same for an array that must have a shape, of any storage type, or be dense. */
mxl_array *api_pin_any(const void *handle, const char *function);
mxl_array *api_pin_defined(const void *handle, const char *function);

/* The same two for an array whose elements a caller gets: NULL, too, with an error that was kept
 * for this read (array/failure.h). */
mxl_array *api_pin_read_any(const void *handle, const char *function);
mxl_array *api_pin_read(const void *handle, const char *function);

static inline void api_unpin(const void *handle)
{
    mxl_handle_unpin(api_number(handle));
}

/* Pins `count` arrays into `arrays`. On failure none stays pinned, and the error names the
 * argument: "dot: input 1: NULL where an array handle was expected". With `optional`, NULL handles
 * give NULL. */
int api_pin_many(const char *who, const char *what, int count, void *const *handles,
                 mxl_array **arrays, bool optional);
void api_unpin_many(int count, void *const *handles);

/* A handle that takes over the caller's reference. NULL with the error set; then the reference is
 * released. */
NDArrayHandle api_handle(mxl_array *array);

/* A new handle for each array, which keeps a reference of its own, and NULL for NULL. On failure -1
 * with the error set, and no handle is left. */
int api_handles(mxl_array *const *arrays, size_t count, NDArrayHandle *handles);

/* Frees the handles, of which some may be NULL. */
void api_handles_free(const NDArrayHandle *handles, size_t count);

/* The calling thread's flags. */
static inline mxl_mode api_mode(void)
{
    const mxl_state *state = mxl_state_get();
    mxl_mode mode = {.record = state->recording,
                     .training = state->training,
                     .legacy_shape = !state->numpy_shape,
                     .dialect =
                         state->follow_edits ? &mxl_dialect_mxnet_follow : &mxl_dialect_mxnet};

    return mode;
}

/* The state of this thread, for changing its flags. NULL with the error set if memory is too short
 * for a state of its own. */
mxl_state *api_own_state(const char *function);

/* The vjp whose callback runs on this thread; callbacks may be nested. */
extern _Thread_local const mxl_grad *api_running_vjp;

/* NULL out-pointers: "MXNDArrayGetShape: argument `pdata` is NULL"; -1. */
int api_null(const char *function, const char *argument);

#define API_NEED(pointer)                                                                          \
    do {                                                                                           \
        if ((pointer) == NULL)                                                                     \
            return api_null(__func__, #pointer);                                                   \
    } while (0)

/* The device type of arrays without memory (mxl_array_on_meta), beside MXNet's. */
enum { API_DEVICE_META = 6 };

/* Checks that a device type is the CPU (1, or 3 and 5, its pinned and shared kinds); -1 with the
 * error set. */
int api_check_device(const char *function, int type);

/* Return buffers: one per kind and thread, valid until the thread's next call returning that kind.
 */
typedef enum api_buffer {
    API_BUFFER_HANDLES,
    API_BUFFER_STYPES,
    API_BUFFER_SHAPE_U32,
    API_BUFFER_SHAPE_I32,
    API_BUFFER_SHAPE_I64,
    API_BUFFER_STRINGS,
    API_BUFFER_PARAMS,
    API_BUFFER_TEXT,
    API_BUFFER_FEATURES,
    API_BUFFER_BACKWARD_HANDLES,
    API_BUFFER_BACKWARD_STYPES,
    API_BUFFER_INFERRED,
    API_BUFFER_COUNT
} api_buffer;

/* Room for `bytes` in the thread's buffer of that kind (content undefined); NULL with the error
 * set. */
void *api_buffer_get(api_buffer kind, size_t bytes);

/* The operator of a handle made by MXSymbolListAtomicSymbolCreators or NNGetOpHandle; NULL with the
 * error set. */
const mxl_op *api_op(const void *handle);
/* The same, and whether it was asked for by its `numpy_name`. */
const mxl_op *api_op_named(const void *handle, bool *is_numpys);

#endif
