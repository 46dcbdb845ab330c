/* Opening libraries and finding functions in them. */
#include "backend/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system/dynamic.h"

int mxl_probe_allowed(const char *name, bool *allowed)
{
    const char *text = getenv("MXLITE_BACKENDS");

    *allowed = text == NULL || text[0] == 0 || strcmp(text, name) == 0;
    if (*allowed || strcmp(text, "none") == 0)
        return 0;
    return mxl_error("MXLITE_BACKENDS is \"%s\"; it may be \"none\" or \"%s\"", text, name);
}

void *mxl_probe_open(const char *path)
{
    const char *why;
    void *library = mxl_library_open(path, &why);

    if (library != NULL)
        return library;
    return mxl_error_null("cannot be opened: %s", why == NULL ? path : why);
}

bool mxl_probe_fill(void *library, const char *prefix, const mxl_probe_symbol *symbols, void *table)
{
    for (; symbols->name != NULL; symbols++) {
        char name[64];
        void *found;

        (void)snprintf(name, sizeof(name), "%s%s", prefix, symbols->name);
        found = mxl_library_symbol(library, name);
        if (found == NULL)
            return false;
        /* memcpy, because ISO C converts no void * to a function pointer. */
        memcpy((char *)table + symbols->offset, &found, sizeof(found));
    }
    return true;
}
