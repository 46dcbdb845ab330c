/* What the bodies of capi/api/unsupported_*.c share; included by them alone. */
#ifndef MXL_API_UNSUPPORTED_H
#define MXL_API_UNSUPPORTED_H

#include "base/error.h"

/* Definitions keep the prototype's parameters, whatever they do with them. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define MXL_NOT_YET                                                                                \
    return mxl_error("%s: not supported by mxlite yet; see docs/compatibility.md", __func__)

#endif
