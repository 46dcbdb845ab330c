/* Names of element types. */
#include "base/dtype.h"

#include <string.h>

static const char *const names[MXL_DTYPE_COUNT] = {
    "float32", "float64", "float16", "uint8",  "int32",  "int8",    "int64",
    "bool",    "int16",   "uint16",  "uint32", "uint64", "bfloat16"};

const char *mxl_dtype_name(int dtype)
{
    return mxl_dtype_valid(dtype) ? names[dtype] : "unknown";
}

int mxl_dtype_parse(const char *name)
{
    for (int i = 0; i < MXL_DTYPE_COUNT; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return MXL_DTYPE_UNKNOWN;
}
