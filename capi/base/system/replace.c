/* What replacing a file is on each system: names of temporary files, errors, writing. */
#include "base/system/replace.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/system/file_io.h"

int mxl_replace_failed(const char *path, const char *what)
{
    int why = errno;

    mxl_error_set("%s: %s: %s", path, what, mxl_file_why(why));
    errno = why;
    return -1;
}

void mxl_replace_name(mxl_replace *r, long process, unsigned number)
{
    (void)snprintf(r->temporary, sizeof(r->temporary), "%.*s.%ld-%u.tmp", MXL_REPLACE_ROOM, r->path,
                   process, number);
}

static const char *skip_digits(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length == 0 ? NULL : text + length;
}

bool mxl_replace_is_temporary(const char *name, const char *base)
{
    size_t length = strlen(base);

    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return false;
    name = skip_digits(name + length + 1);
    if (name == NULL || *name != '-')
        return false;
    name = skip_digits(name + 1);
    return name != NULL && strcmp(name, ".tmp") == 0;
}

int mxl_replace_put(mxl_replace *r, const void *bytes, size_t size)
{
    if (mxl_file_put(r->file, bytes, size) != size)
        return mxl_replace_failed(r->path, "writing failed");
    return 0;
}
