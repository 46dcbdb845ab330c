/* MNISTIter: batches of the images of MNIST's files, from 0 to 1, and their digits. */
#include <string.h>

#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "data/files.h"
#include "kernel/codec/inflate.h"

typedef struct mnist_params {
    mxl_batch_params batch;
    const char *image, *label;
    int shuffle, flat, silent;
    int64_t seed, num_parts, part_index;
} mnist_params;

/* The two files; a sample is at `skip` and so many of its bytes. */
typedef struct mnist_source {
    mxl_content image, label;
    size_t image_skip, label_skip;
} mnist_source;

/* Reads a file, which gzip may have compressed. */
static int read_file(const char *path, mxl_content *content)
{
    mxl_content packed;
    int status;

    if (mxl_content_read(path, content) != 0)
        return -1;
    if (content->size < 2 || memcmp(content->bytes, "\x1f\x8b", 2) != 0)
        return 0;
    packed = *content;
    *content = (mxl_content){0};
    status = mxl_inflate_gzip((const uint8_t *)packed.bytes, packed.size, &content->bytes,
                              &content->size);
    mxl_content_free(&packed);
    return status == 0 ? 0 : mxl_error_prefix(path);
}

/* A file in the format idx: two zeros, 8 for uint8, the number of axes, sizes of 32 bits with the
 * highest byte first, the elements. Sets the sizes; *skip is where the elements begin. */
static int read_idx(const char *path, int ndim, mxl_content *content, int64_t *sizes, size_t *skip)
{
    const unsigned char *bytes;
    size_t elements = 1;
    char begins[MXL_BEGINNING_ROOM];

    if (read_file(path, content) != 0)
        return -1;
    bytes = (const unsigned char *)content->bytes;
    *skip = 4 + 4 * (size_t)ndim;
    if (content->size < *skip || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8 ||
        bytes[3] != ndim)
        return mxl_error("%s is no idx file of uint8 with %d axes: it %s", path, ndim,
                         mxl_beginning(begins, content->bytes, content->size));
    for (int i = 0; i < ndim; i++) {
        const unsigned char *p = bytes + 4 + 4 * i;

        sizes[i] = (int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
        if (__builtin_mul_overflow(elements, (size_t)sizes[i], &elements))
            elements = SIZE_MAX;
    }
    if (content->size - *skip < elements)
        return mxl_error("%s has %zu bytes for elements, its shape %s needs more", path,
                         content->size - *skip, MXL_SHAPE_TEXT(ndim, sizes));
    return 0;
}

static void set_shape(mxl_batches *b, const int64_t *sizes, bool flat)
{
    int64_t image[] = {1, sizes[1], sizes[2]}, row[] = {sizes[1] * sizes[2]};

    if (flat)
        mxl_shape_set(&b->data_shape, 1, row);
    else
        mxl_shape_set(&b->data_shape, 3, image);
    b->data_dtype = b->label_dtype = MXL_F32;
}

static int mnist_open(mxl_batches *b, const void *params)
{
    const mnist_params *p = params;
    mnist_source *s = mxl_alloc_zero(sizeof(*s));
    int64_t sizes[3], labels[1], begin, end;

    b->source = s;
    if (s == NULL)
        return -1;
    if (p->batch.dtype != MXL_DTYPE_UNKNOWN && p->batch.dtype != MXL_F32)
        return mxl_error("dtype must be float32, got %s", mxl_dtype_name(p->batch.dtype));
    if (read_idx(p->image, 3, &s->image, sizes, &s->image_skip) != 0 ||
        read_idx(p->label, 1, &s->label, labels, &s->label_skip) != 0)
        return -1;
    if (sizes[0] != labels[0])
        return mxl_error("%lld images, but %lld labels", (long long)sizes[0], (long long)labels[0]);
    if (mxl_batches_part(p->part_index, p->num_parts, sizes[0], &begin, &end) != 0)
        return -1;
    s->image_skip += (size_t)(begin * sizes[1] * sizes[2]);
    s->label_skip += (size_t)begin;
    set_shape(b, sizes, p->flat != 0);
    b->batch_size = p->batch.batch_size;
    b->seed = (uint64_t)p->seed;
    b->count = end - begin;
    if (p->shuffle != 0 && mxl_batches_reorder(b) != 0) /* once: epochs are alike */
        return -1;
    b->count -= b->count % b->batch_size;
    return 0;
}

static int mnist_take(mxl_batches *b, const int64_t *places, int64_t count, void *data, void *label)
{
    const mnist_source *s = b->source;
    size_t pixels = (size_t)mxl_shape_size(b->data_shape.ndim, b->data_shape.dim);
    float *to = data, *digits = label;

    for (int64_t i = 0; i < count; i++) {
        const unsigned char *from =
            (const unsigned char *)s->image.bytes + s->image_skip + (size_t)places[i] * pixels;

        for (size_t k = 0; k < pixels; k++)
            *to++ = (float)from[k] * (1.0f / 256);
        digits[i] = (float)(unsigned char)s->label.bytes[s->label_skip + (size_t)places[i]];
    }
    return 0;
}

static void mnist_close(mxl_batches *b)
{
    mnist_source *s = b->source;

    if (s == NULL)
        return;
    mxl_content_free(&s->image);
    mxl_content_free(&s->label);
    mxl_free(s, sizeof(*s));
}

const mxl_batches_kind mxl_batches_mnist = {
    .op = {.name = "MNISTIter",
           .doc = "Batches of the images of MNIST, float32 from 0 to 1 of the shape (batch, 1, "
                  "rows, columns), and their digits. The files may be compressed by gzip. Samples "
                  "that do not fill a batch are left "
                  "out.",
           MXL_PARAMS_OF(
               mnist_params,
               MXL_PARAM(mnist_params, image, MXL_P_STRING, "./train-images-idx3-ubyte",
                         "Path of the images."),
               MXL_PARAM(mnist_params, label, MXL_P_STRING, "./train-labels-idx1-ubyte",
                         "Path of the digits."),
               {.name = "batch_size",
                .type = MXL_P_INT,
                .offset = offsetof(mnist_params, batch) + offsetof(mxl_batch_params, batch_size),
                .def = "128",
                .doc = "How many samples a batch has.",
                .min = 1,
                .has_min = true},
               MXL_PARAM(mnist_params, shuffle, MXL_P_BOOL, "1",
                         "Whether the samples are shuffled, once."),
               MXL_PARAM(mnist_params, flat, MXL_P_BOOL, "0", "Whether an image is one row."),
               MXL_PARAM(mnist_params, seed, MXL_P_INT, "0", "Seed of the order."),
               MXL_PARAM(mnist_params, silent, MXL_P_BOOL, "0", "Ignored: nothing is printed."),
               MXL_PARAM(mnist_params, num_parts, MXL_P_INT, "1",
                         "How many parts the samples are divided into."),
               MXL_PARAM(mnist_params, part_index, MXL_P_INT, "0", "Which part to take."),
               MXL_BATCH_REST(mnist_params))},
    .open = mnist_open,
    .take = mnist_take,
    .close = mnist_close,
};
