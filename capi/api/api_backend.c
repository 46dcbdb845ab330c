/* Tuned libraries: turning them on and off, and their paths. Called by bindings. */
#include "api/common.h"

#include <string.h>

#include "backend/openblas.h"

static int check_name(const char *function, const char *name)
{
    if (strcmp(name, "openblas") == 0)
        return 0;
    return mxl_error("%s: unknown back end \"%s\"; openblas is known", function, name);
}

int MXLSetBackend(const char *name, const char *path)
{
    API_NEED(name);
    if (check_name(__func__, name) != 0)
        return -1;
    return mxl_openblas_set(path) != 0 ? mxl_error_prefix(__func__) : 0;
}

int MXLHintBackend(const char *name, const char *path)
{
    API_NEED(name);
    API_NEED(path);
    if (check_name(__func__, name) != 0)
        return -1;
    return mxl_openblas_hint(path) != 0 ? mxl_error_prefix(__func__) : 0;
}
