/* The mean of all samples, in a file: read, or computed and written if there is none. See
 * data/images/image_source.h. */
#include <string.h>

#include "array/file.h"
#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "data/images/image_source.h"
#include "base/system/file_io.h"

enum { AT_ONCE = 64 }; /* samples */

static const char *const names[] = {"mean_img"};

/* Adds samples to sums. */
static int add_samples(mxl_batches *b, int64_t first, int64_t count, int64_t pixels, float *data,
                       float *label, float *sums)
{
    int64_t places[AT_ONCE];

    for (int64_t i = 0; i < AT_ONCE; i++)
        places[i] = first + i;
    if (b->kind->take(b, places, count, data, label) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < pixels; k++)
            sums[k] += data[i * pixels + k];
    return 0;
}

static int add_all(mxl_batches *b, int64_t pixels, float *sums)
{
    int64_t labels = mxl_shape_size(b->label_shape.ndim, b->label_shape.dim);
    size_t room = (size_t)(AT_ONCE * pixels) * sizeof(float);
    size_t label_room = (size_t)(AT_ONCE * labels) * sizeof(float);
    float *data = mxl_alloc(room), *label = mxl_alloc(label_room);
    int status = data != NULL && label != NULL ? 0 : -1;

    for (int64_t at = 0; status == 0 && at < b->count; at += AT_ONCE) {
        int64_t left = b->count - at;

        status = add_samples(b, at, left < AT_ONCE ? left : AT_ONCE, pixels, data, label, sums);
    }
    mxl_free(data, room);
    mxl_free(label, label_room);
    return status;
}

/* Computes the mean of all samples of an epoch, in float32 and in their order, as 1.9.1 does. */
static mxl_array *compute(mxl_batches *b)
{
    int64_t pixels = mxl_shape_size(3, b->data_shape.dim);
    float *sums = mxl_alloc_zero((size_t)pixels * sizeof(*sums));
    mxl_array *mean = mxl_array_new(MXL_F32, 3, b->data_shape.dim);
    int status = -1;
    float *to;

    if (sums != NULL && mean != NULL && b->count > 0)
        status = add_all(b, pixels, sums);
    else if (b->count <= 0)
        mxl_error("there are no images to compute their mean of");
    if (status == 0) {
        to = mxl_array_write(mean);
        for (int64_t k = 0; k < pixels; k++)
            to[k] = sums[k] * (1 / (float)b->count);
    } else {
        mxl_array_release(mean);
        mean = NULL;
    }
    mxl_free(sums, (size_t)pixels * sizeof(*sums));
    return mean;
}

/* The array of a file, which must be as large as a sample. */
static mxl_array *load(const mxl_batches *b, const char *path)
{
    mxl_file_list list;
    mxl_array *mean = NULL;
    int64_t at = 0;

    if (mxl_file_load(path, false, &list) != 0)
        return NULL;
    while (at < list.count &&
           (list.arrays[at]->dtype != MXL_F32 || list.arrays[at]->ndim != 3 ||
            memcmp(list.arrays[at]->shape, b->data_shape.dim, 3 * sizeof(int64_t)) != 0))
        at++;
    if (at < list.count)
        mean = mxl_array_alias(list.arrays[at]);
    else
        mxl_error("%s has no float32 array of the shape %s", path,
                  MXL_SHAPE_TEXT(3, b->data_shape.dim));
    mxl_file_list_clear(&list);
    return mean;
}

mxl_array *mxl_image_mean(mxl_batches *b, const char *uri)
{
    const char *path = mxl_local_path(uri);
    mxl_array *mean;

    if (path == NULL)
        return NULL;
    if (mxl_file_exists(path))
        return load(b, path);
    mean = compute(b);
    if (mean != NULL && mxl_file_save(path, 1, &mean, names, false) != 0) {
        mxl_array_release(mean);
        return NULL;
    }
    return mean;
}
