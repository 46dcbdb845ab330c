/* Converts devices from and to MXNet's numbers and texts. Arrays on the device meta have no memory:
 * makes them, and sets the error of a caller that asks for their values. */
#include "array/device.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/batch/batched.h"
#include "base/error.h"

/* By kind. */
static const struct {
    int type;
    const char *begin; /* before the number in the text */
} kinds[] = {
    [MXL_DEVICE_CPU] = {1, "cpu("},
    [MXL_DEVICE_CPU_PINNED] = {3, "cpu_pinned("},
    [MXL_DEVICE_CPU_SHARED] = {5, "cpu_shared("},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), GPU = 2 };

int mxl_device_type(mxl_device device)
{
    return kinds[device & 3].type;
}

const char *mxl_device_print(mxl_device device, char room[MXL_DEVICE_ROOM])
{
    snprintf(room, MXL_DEVICE_ROOM, "%s%d)", kinds[device & 3].begin, mxl_device_id(device));
    return room;
}

static int numbered(int kind, int64_t id, mxl_device *device)
{
    if (id >= INT64_C(1) << 30)
        return mxl_error("device number %lld; numbers below 2^30 are possible", (long long)id);
    *device = (mxl_device)(id < 0 ? 0 : id) << 2 | (mxl_device)kind;
    return 0;
}

int mxl_device_of(int type, int64_t id, mxl_device *device)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (kinds[kind].type == type)
            return numbered(kind, id, device);
    }
    if (type == GPU)
        return mxl_error("device type 2 (gpu): mxlite computes only on the CPU, which is 1");
    return mxl_error("unknown device type %d; 1 is the CPU", type);
}

int mxl_device_parse(const char *text, mxl_device *device)
{
    *device = 0;
    if (text[0] == '\0')
        return 0;
    for (int kind = 0; kind < KINDS; kind++) {
        size_t begin = strlen(kinds[kind].begin);
        const char *at = text + begin;
        char *end;
        long long id;

        if (strncmp(text, kinds[kind].begin, begin) != 0)
            continue;
        id = strtoll(at, &end, 10);
        if (end != at && end[-1] >= '0' && end[-1] <= '9' && strcmp(end, ")") == 0)
            return numbered(kind, id, device);
    }
    return mxl_error("ctx must be a CPU such as cpu(0), got '%s'", text);
}

/* ---- meta ---- */

mxl_array *mxl_array_on_meta(int dtype, int ndim, const int64_t *shape)
{
    int64_t size = mxl_shape_count(ndim, shape);
    mxl_storage *storage =
        size < 0 ? NULL
                 : mxl_storage_foreign(NULL, (size_t)size * mxl_dtype_size(dtype), NULL, NULL);
    mxl_array *array = storage == NULL ? NULL : mxl_array_over(storage, dtype, ndim, shape);

    if (array != NULL)
        array->stype = MXL_META;
    return array;
}

int mxl_array_refuse_read(const char *what, const mxl_array *array)
{
    return mxl_array_is_meta(array)
               ? mxl_error("%s: the array is on the meta device and has no values", what)
               : mxl_batched_refuse(what, array);
}
