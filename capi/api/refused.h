/* How a function of the C API that always fails is defined: for refused.c, and for the functions of
 * parts that a build lacks (mk/parts.mk).
 *
 * The public headers declare their prototypes; this file must not include those, since each
 * function is defined without parameters. That is sound where the caller removes the arguments,
 * which is so on every platform that mxlite builds for but WebAssembly: JavaScript may call them
 * there, a call of C ends the program. */
#ifndef MXL_API_REFUSED_H
#define MXL_API_REFUSED_H

#include "mxlite/c_api_types.h"

#include "base/error.h"

#define REFUSED(name, why)                                                                         \
    MXL_API int name(void);                                                                        \
    int name(void)                                                                                 \
    {                                                                                              \
        return mxl_error("%s: refused: %s; " MXL_HELP("compatibility") " says more", __func__,     \
                         why);                                                                     \
    }

#endif
