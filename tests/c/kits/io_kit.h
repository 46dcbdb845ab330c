/* For tests of files: a temporary folder, and arrays saved and loaded. */
#ifndef IO_KIT_H
#define IO_KIT_H

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mxlite/mxlite.h"

#if defined(__GNUC__)
#define KIT static inline __attribute__((unused))
#else
#define KIT static inline
#endif

static char folder[64], path[128];

#if defined(__wasm__)
/* WASI has none. */
KIT char *mkdtemp(char *name)
{
    char *end = name + strlen(name) - 6;

    for (unsigned i = 0; i < 1000000; i++) {
        (void)snprintf(end, 7, "%06u", i);
        if (mkdir(name, 0700) == 0)
            return name;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}
#endif

KIT void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/mxlite-io-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/a.params", folder);
}

/* Removes the folder; the number of files that were in it. */
KIT int remove_folder(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char name[512];
    int count = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        CHECK_INT(unlink(name), 0);
        count++;
    }
    if (dir != NULL)
        closedir(dir);
    CHECK_INT(rmdir(folder), 0);
    return count;
}

KIT NDArrayHandle floats(uint32_t n, float first)
{
    float values[64];
    NDArrayHandle h = NULL;

    for (uint32_t i = 0; i < n; i++)
        values[i] = first + (float)i;
    CHECK_INT(MXNDArrayCreate(&n, 1, 1, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, n), 0);
    return h;
}

/* What is in `path`: how many arrays, and the first element of the first. Frees them. */
KIT int load_first(float *first)
{
    uint32_t count = 0, named = 0;
    NDArrayHandle *handles = NULL;
    const char **names = NULL;
    float values[64];
    int n = -1;

    if (MXNDArrayLoad(path, &count, &handles, &named, &names) != 0)
        return -1;
    n = (int)count;
    for (uint32_t i = 0; i < count; i++) {
        NDArrayHandle h = handles[i];

        if (i == 0) {
            CHECK_INT(MXNDArraySyncCopyToCPU(h, values, 3), 0);
            *first = values[0];
        }
        CHECK_INT(MXNDArrayFree(h), 0);
    }
    return n;
}

#endif
