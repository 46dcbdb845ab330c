/* Functions with a constant result that bindings need when they load. */
#include "mxlite/c_api.h"

#include "base/error.h"

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
