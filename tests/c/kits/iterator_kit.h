/* For tests of data iterators: files in a temporary folder, iterators by name, arrays of batches.
 */
#ifndef ITERATOR_KIT_H
#define ITERATOR_KIT_H

#include "io_kit.h"

#include <string.h>

enum { MOST_VALUES = 64 };

static char data_path[160], label_path[160];

/* Makes the folder, and names two files in it. */
KIT void name_files(void)
{
    make_folder();
    (void)snprintf(data_path, sizeof(data_path), "%s/data", folder);
    (void)snprintf(label_path, sizeof(label_path), "%s/label", folder);
}

KIT void fill(const char *file, const void *bytes, size_t size)
{
    FILE *f = fopen(file, "wb");

    if (CHECK(f != NULL)) {
        CHECK_INT(fwrite(bytes, 1, size, f), size);
        CHECK_INT(fclose(f), 0);
    }
}

KIT void fill_text(const char *file, const char *text)
{
    fill(file, text, strlen(text));
}

KIT DataIterCreator maker(const char *wanted)
{
    DataIterCreator *list, found = NULL;
    const char *name, *doc, **a, **b, **c;
    uint32_t count, args;

    CHECK_INT(MXListDataIters(&count, &list), 0);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_INT(MXDataIterGetIterInfo(list[i], &name, &doc, &args, &a, &b, &c), 0);
        if (strcmp(name, wanted) == 0)
            found = list[i];
    }
    CHECK(found != NULL);
    return found;
}

/* Keys and values, in turns, to NULL. */
KIT int create(const char *name, const char *const *pairs, DataIterHandle *out)
{
    const char *keys[24], *values[24];
    uint32_t n = 0;

    for (; pairs[2 * n] != NULL; n++) {
        keys[n] = pairs[2 * n];
        values[n] = pairs[2 * n + 1];
    }
    return MXDataIterCreateIter(maker(name), n, keys, values, out);
}

#define PAIRS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

KIT DataIterHandle created(const char *name, const char *const *pairs)
{
    DataIterHandle iterator = NULL;

    if (!CHECK_INT(create(name, pairs, &iterator), 0))
        fprintf(stderr, "    %s\n", MXGetLastError());
    return iterator;
}

/* Creating one fails with this text. */
KIT void refuses(const char *name, const char *const *pairs, const char *text)
{
    DataIterHandle iterator = NULL;

    CHECK_INT(create(name, pairs, &iterator), -1);
    CHECK_HAS(MXGetLastError(), text);
    CHECK(iterator == NULL);
}

KIT int next(DataIterHandle iterator)
{
    int any = 99;

    if (!CHECK_INT(MXDataIterNext(iterator, &any), 0))
        fprintf(stderr, "    %s\n", MXGetLastError());
    return any;
}

/* The array has this shape, in text, and these values. */
KIT void expect_array(NDArrayHandle array, const char *shape, const float *values, size_t count)
{
    float got[MOST_VALUES] = {0};
    const int *sizes;
    char text[64] = "";
    int ndim;

    CHECK_INT(MXNDArrayGetShapeEx(array, &ndim, &sizes), 0);
    for (int i = 0; i < ndim; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i > 0 ? "," : "",
                       sizes[i]);
    CHECK_STR(text, shape);
    CHECK_INT(MXNDArraySyncCopyToCPU(array, got, count), 0);
    for (size_t i = 0; i < count; i++)
        CHECK(got[i] == values[i]);
    CHECK_INT(MXNDArrayFree(array), 0);
}

KIT NDArrayHandle data_of(DataIterHandle iterator)
{
    NDArrayHandle array = NULL;

    CHECK_INT(MXDataIterGetData(iterator, &array), 0);
    return array;
}

KIT NDArrayHandle label_of(DataIterHandle iterator)
{
    NDArrayHandle array = NULL;

    CHECK_INT(MXDataIterGetLabel(iterator, &array), 0);
    return array;
}

#endif
