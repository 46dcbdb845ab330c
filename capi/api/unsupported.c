/* MXNet's functions that mxlite does not implement yet: each answers -1 with an error that names
 * it. Implementing one removes its line here and changes its status in exports.txt.
 *
 * The public headers declare their prototypes; this file must not include those, since each
 * function is defined without parameters. That is sound where the caller removes the arguments,
 * which is so on every platform that mxlite builds for. */
#include "mxlite/c_api_types.h"

#include "base/error.h"

#define NOT_YET(name)                                                                              \
    MXL_API int name(void);                                                                        \
    int name(void)                                                                                 \
    {                                                                                              \
        return mxl_error("%s: not supported by mxlite yet; see docs/compatibility.md", __func__);  \
    }

/* Sparse arrays, foreign memory, data iterators, old functions: mxlite/c_api_data.h */
NOT_YET(MXDataIterFree)
NOT_YET(MXDataIterNext)
NOT_YET(MXDataIterBeforeFirst)
NOT_YET(MXDataIterGetData)
NOT_YET(MXDataIterGetIndex)
NOT_YET(MXDataIterGetPadNum)
NOT_YET(MXDataIterGetLabel)
