/* Handles to arrays and back, and the threads' return buffers. */
#include "api/common.h"

#include <stdio.h>

#include "array/batch/batched.h"
#include "array/failure.h"
#include "array/sparse/sparse.h"
#include "base/memory/mem.h"
#include "ops/families.h"

/* Nothing calls the list of the operators, which gives itself to the registry: without this, a
 * program that links the archive would have none. */
__attribute__((used)) static const mxl_op *const *const *const families = mxl_families;

_Static_assert(API_BUFFER_COUNT <= MXL_SLOT_RETURN_LAST - MXL_SLOT_RETURN_FIRST + 1,
               "every kind of return buffer needs a slot of the thread's state");

mxl_array *api_pin_for(const void *handle, const char *function)
{
    mxl_array *array = api_pin(handle);

    if (array == NULL)
        (void)mxl_error_prefix(function);
    return array;
}

mxl_array *api_pin_any(const void *handle, const char *function)
{
    mxl_array *array = api_pin_for(handle, function);

    if (array != NULL && array->storage == NULL) {
        api_unpin(handle);
        return mxl_error_null(
            "%s: the array has no shape yet: it was created empty and never written", function);
    }
    return array;
}

mxl_array *api_pin_defined(const void *handle, const char *function)
{
    mxl_array *array = api_pin_any(handle, function);

    if (array != NULL && mxl_array_is_sparse(array) && !mxl_array_is_batched(array)) {
        (void)mxl_error("%s: the array is %s; convert it by cast_storage to default first",
                        function, mxl_stype_name(array->stype));
        api_unpin(handle);
        return NULL;
    }
    return array;
}

/* The array, or NULL with the error that was kept for its first read. */
static mxl_array *without_failure(mxl_array *array, const void *handle)
{
    if (array == NULL ||
        (mxl_array_refuse_read("a read", array) == 0 && mxl_failure_report(array) == 0))
        return array;
    api_unpin(handle);
    return NULL;
}

mxl_array *api_pin_read_any(const void *handle, const char *function)
{
    return without_failure(api_pin_any(handle, function), handle);
}

mxl_array *api_pin_read(const void *handle, const char *function)
{
    return without_failure(api_pin_defined(handle, function), handle);
}

int api_pin_many(const char *who, const char *what, int count, void *const *handles,
                 mxl_array **arrays, bool optional)
{
    for (int i = 0; i < count; i++) {
        char where[128];

        arrays[i] = NULL;
        if (optional && handles[i] == NULL)
            continue;
        arrays[i] = api_pin(handles[i]);
        if (arrays[i] != NULL)
            continue;
        api_unpin_many(i, handles);
        snprintf(where, sizeof(where), "%s: %s %d", who, what, i);
        return mxl_error_prefix(where);
    }
    return 0;
}

void api_unpin_many(int count, void *const *handles)
{
    for (int i = 0; i < count; i++) {
        if (handles[i] != NULL)
            api_unpin(handles[i]);
    }
}

NDArrayHandle api_handle(mxl_array *array)
{
    uint64_t handle = mxl_handle_new(MXL_KIND_ARRAY, &array->ref);

    if (handle == 0)
        mxl_array_release(array);
    return (NDArrayHandle)(uintptr_t)handle;
}

int api_handles(mxl_array *const *arrays, size_t count, NDArrayHandle *handles)
{
    for (size_t i = 0; i < count; i++) {
        handles[i] = NULL;
        if (arrays[i] == NULL)
            continue;
        mxl_array_retain(arrays[i]);
        handles[i] = api_handle(arrays[i]);
        if (handles[i] == NULL) {
            api_handles_free(handles, i);
            return -1;
        }
    }
    return 0;
}

void api_handles_free(const NDArrayHandle *handles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (handles[i] != NULL)
            (void)mxl_handle_free(MXL_KIND_ARRAY, api_number(handles[i]));
    }
}

mxl_state *api_own_state(const char *function)
{
    mxl_state *state = mxl_state_get();

    if (state == mxl_state_here)
        return state;
    return mxl_error_null("%s: out of memory: %zu bytes were asked for", function, sizeof(*state));
}

int api_null(const char *function, const char *argument)
{
    return mxl_error("%s: argument '%s' is NULL", function, argument);
}

int api_check_device(const char *function, int type)
{
    mxl_device device;

    return mxl_device_of(type, 0, &device) == 0 ? 0 : mxl_error_prefix(function);
}

const mxl_op *api_op_named(const void *handle, bool *is_numpys)
{
    int64_t number = mxl_handle_number(MXL_KIND_OP, api_number(handle), 2 * MXL_OPS_MOST);
    const mxl_op *op = number < 0 ? NULL : mxl_op_at((int)(number % MXL_OPS_MOST));

    *is_numpys = number >= MXL_OPS_MOST;
    if (number >= 0 && (op == NULL || (*is_numpys && op->numpy_name == NULL))) {
        (void)mxl_handle_number(MXL_KIND_OP, api_number(handle), (uint32_t)mxl_op_count());
        return NULL;
    }
    return op;
}

const mxl_op *api_op(const void *handle)
{
    bool is_numpys;

    return api_op_named(handle, &is_numpys);
}

/* ---- return buffers ---- */

typedef struct buffer {
    size_t bytes;
    _Alignas(16) char room[];
} buffer;

static void buffer_free(void *slot)
{
    buffer *b = slot;

    if (b != NULL)
        mxl_free(b, sizeof(buffer) + b->bytes);
}

void *api_buffer_get(api_buffer kind, size_t bytes)
{
    mxl_state *state = mxl_state_get();
    int slot = MXL_SLOT_RETURN_FIRST + (int)kind;
    buffer *old = state->slots[slot], *b;
    size_t room = bytes < 256 ? 256 : bytes;

    if (state !=
        mxl_state_here) /* The emergency state, which threads share while memory is short. */
        return mxl_error_null("out of memory: %zu bytes were asked for", bytes);
    if (old != NULL && old->bytes >= bytes)
        return old->room;
    b = mxl_alloc(sizeof(buffer) + room);
    if (b == NULL)
        return NULL;
    b->bytes = room;
    buffer_free(old);
    state->slots[slot] = b;
    state->slot_free[slot] = buffer_free;
    return b->room;
}
