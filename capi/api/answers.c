/* Functions with a constant result that bindings need when they load. */
#include "mxlite/c_api.h"

#include "base/error.h"

int MXNetFuncListGlobalNames(int *out_size, const char ***out_array)
{
    if (out_size == NULL || out_array == NULL)
        return mxl_error("MXNetFuncListGlobalNames: out_size and out_array must not be NULL");
    *out_size = 0;
    *out_array = NULL;
    return 0;
}

int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out)
{
    if (name == NULL || out == NULL)
        return mxl_error("MXNetFuncGetGlobal: name and out must not be NULL");
    *out = NULL; /* there is none of that name */
    return 0;
}

int MXKVStoreIsWorkerNode(int *ret)
{
    if (ret == NULL)
        return mxl_error("MXKVStoreIsWorkerNode: ret must not be NULL");
    *ret = 1;
    return 0;
}

void NNAPISetLastError(const char *msg)
{
    (void)mxl_error("%s", msg != NULL ? msg : "");
}
