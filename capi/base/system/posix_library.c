/* Libraries by dlopen. */
#define _GNU_SOURCE 1 /* dladdr, RTLD_NOLOAD */
#include "base/system/library.h"

#include <dlfcn.h>
#include <stdio.h>

void *mxl_library_open(const char *path, const char **why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    *why = library == NULL ? dlerror() : NULL;
    return library;
}

void *mxl_library_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void mxl_library_close(void *library)
{
    (void)dlclose(library);
}

void mxl_library_path(const void *address, char *path, size_t room)
{
    Dl_info info;
    const char *name = dladdr(address, &info) != 0 ? info.dli_fname : NULL;

    (void)snprintf(path, room, "%s", name == NULL ? "" : name);
}

void mxl_library_stay(const void *address)
{
    Dl_info self;

    if (dladdr(address, &self) != 0)
        (void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}
