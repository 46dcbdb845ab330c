/* Replacing files for other languages: MXLReplaceBegin and MXLReplaceEnd. */
#include <errno.h>

#include "api/common.h"
#include "base/system/replace.h"
#include "base/system/file_io.h"

_Static_assert(sizeof(mxl_replace) <= sizeof(((MXLReplacement *)NULL)->inside),
               "a replacement has room for its state");

static mxl_replace *inside(MXLReplacement *replacement)
{
    return (mxl_replace *)(void *)replacement->inside;
}

int MXLReplaceBegin(const char *path, int stream, MXLReplacement *replacement)
{
    mxl_replace *r;

    API_NEED(path);
    API_NEED(replacement);
    r = inside(replacement);
    replacement->descriptor = -1;
    replacement->error_number = 0;
    if ((stream != 0 ? mxl_replace_begin_stream(r, path) : mxl_replace_begin(r, path)) != 0) {
        replacement->error_number = errno;
        return mxl_error_prefix(__func__);
    }
    replacement->descriptor = mxl_file_descriptor(r->file);
    return 0;
}

int MXLReplaceEnd(MXLReplacement *replacement, int whole)
{
    API_NEED(replacement);
    if (replacement->descriptor < 0)
        return mxl_error("%s: the replacement has not begun, or has ended", __func__);
    replacement->descriptor = -1;
    replacement->error_number = 0;
    if (mxl_replace_end(inside(replacement), whole != 0) == 0 || whole == 0)
        return 0;
    replacement->error_number = errno;
    return mxl_error_prefix(__func__);
}
