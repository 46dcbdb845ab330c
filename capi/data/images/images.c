/* ImageRecordIter and its kin: batches of the images of a file of records. See
 * data/images/image_plan.h.
 */
#include "data/images/image_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "data/images/changes.h"
#include "data/images/image_source.h"

typedef struct source {
    mxl_image_source base;
    mxl_image_plan plan;
    mxl_array *mean; /* of all samples, or NULL */
    int64_t width;   /* labels of an image */
} source;

/* One sample and its labels. */
static int put_sample(const mxl_batches *b, const mxl_image_record *record, uint64_t draw,
                      void *data, void *label)
{
    const source *s = b->source;

    if (record->count != s->width)
        return mxl_error("it has %lld labels, label_width is %lld", (long long)record->count,
                         (long long)s->width);
    memcpy(label, record->labels, (size_t)s->width * sizeof(float));
    return mxl_image_sample(&s->plan, record->image, record->size, draw, data);
}

static int check_crop(const mxl_image_params *p)
{
    bool square = p->min_crop_size != -1 || p->max_crop_size != -1;

    if (square && (p->min_crop_size < 1 || p->max_crop_size < p->min_crop_size))
        return mxl_error("min_crop_size and max_crop_size must be 1 or more, the second not below "
                         "the first, got %lld and %lld",
                         (long long)p->min_crop_size, (long long)p->max_crop_size);
    if (p->random_resized_crop &&
        (square || p->rand_crop || p->min_random_scale != 1 || p->max_random_scale != 1))
        return mxl_error("random_resized_crop must be false with rand_crop, min_crop_size, "
                         "max_crop_size, min_random_scale or max_random_scale");
    if (p->random_resized_crop &&
        !(p->min_random_area > 0 && p->min_random_area <= p->max_random_area))
        return mxl_error("min_random_area must be above 0 and at most max_random_area, got %g and "
                         "%g",
                         p->min_random_area, p->max_random_area);
    return 0;
}

/* The parameters of the changes of an image are within their bounds. */
static int check_changes(const mxl_image_params *p)
{
    static const int64_t most = 1 << 20;

    if (mxl_change_check(p->resize, p->inter_method) != 0 || check_crop(p) != 0)
        return -1;
    if (p->pad > most)
        return mxl_error("pad must be at most 2^20, got %lld", (long long)p->pad);
    if (p->max_rotate_angle > most || p->rotate > most || llabs(p->random_h) > most ||
        llabs(p->random_s) > most || llabs(p->random_l) > most)
        return mxl_error("max_rotate_angle, rotate, random_h, random_s and random_l must be at "
                         "most 2^20");
    if (p->data_shape.v[0] != 3 &&
        (p->brightness > 0 || p->contrast > 0 || p->saturation > 0 || p->pca_noise > 0 ||
         p->random_h != 0 || p->random_s != 0 || p->random_l != 0))
        return mxl_error("brightness, contrast, saturation, pca_noise, random_h, random_s and "
                         "random_l need samples of 3 channels");
    return 0;
}

/* Sets how images become samples. */
static int make_plan(mxl_batches *b, const mxl_image_params *p, int dtype)
{
    mxl_image_plan *plan = &((source *)b->source)->plan;

    plan->p = *p;
    plan->dtype = p->batch.dtype != MXL_DTYPE_UNKNOWN && dtype == MXL_F32 ? p->batch.dtype : dtype;
    if (plan->dtype != MXL_F32 && plan->dtype != MXL_U8 && plan->dtype != MXL_I8)
        return mxl_error("dtype must be float32, uint8 or int8, got %s",
                         mxl_dtype_name(plan->dtype));
    if (mxl_image_source_shape(b, &p->data_shape) != 0 || check_changes(p) != 0)
        return -1;
    plan->channels = p->data_shape.v[0];
    plan->rows = p->data_shape.v[1];
    plan->columns = p->data_shape.v[2];
    plan->seed = (uint64_t)(p->seed_aug != MXL_NONE ? p->seed_aug : p->seed);
    b->data_dtype = plan->dtype;
    return 0;
}

static int set_labels(mxl_batches *b, const mxl_image_params *p)
{
    source *s = b->source;

    if (p->label_width < 1 || p->label_width > MXL_MOST_LABELS)
        return mxl_error("label_width must be 1 to %d, got %lld", MXL_MOST_LABELS,
                         (long long)p->label_width);
    s->width = p->label_width;
    b->label_dtype = MXL_F32;
    mxl_shape_set(&b->label_shape, s->width > 1 ? 1 : 0, &s->width);
    return 0;
}

/* Reads or makes the mean of all samples, which are float32 meanwhile. Bytes have none: the path is
 * NULL where the kind has no such parameter. */
static int set_mean(mxl_batches *b, const char *path)
{
    source *s = b->source;
    int dtype = s->plan.dtype;

    if (dtype == MXL_U8 || path[0] == '\0')
        return 0;
    s->plan.dtype = b->data_dtype = MXL_F32;
    s->mean = mxl_image_mean(b, path);
    s->plan.dtype = b->data_dtype = dtype;
    if (s->mean == NULL)
        return -1;
    s->plan.mean = mxl_array_read(s->mean);
    return 0;
}

int mxl_images_open(mxl_batches *b, const mxl_image_params *p, int dtype, bool ids_shown)
{
    const mxl_image_files files = {p->path_imgrec, p->path_imgidx, p->path_imglist,
                                   p->label_width, p->num_parts,   p->part_index};
    source *s = mxl_alloc_zero(sizeof(*s));

    b->source = s;
    if (s == NULL)
        return -1;
    s->base.sample = put_sample;
    if (strcmp(p->aug_seq, "aug_default") != 0)
        return mxl_error("aug_seq must be aug_default, got \"%s\"", p->aug_seq);
    if (make_plan(b, p, dtype) != 0 || set_labels(b, p) != 0 ||
        mxl_image_source_open(b, &files) != 0 || set_mean(b, p->mean_img) != 0)
        return -1;
    s->base.ids_shown = ids_shown;
    b->batch_size = p->batch.batch_size;
    b->round_batch = p->round_batch != 0;
    mxl_image_source_order(b, p->shuffle != 0, p->seed, p->shuffle_chunk_size,
                           p->shuffle_chunk_seed);
    return 0;
}

void mxl_images_close(mxl_batches *b)
{
    source *s = b->source;

    if (s == NULL)
        return;
    mxl_image_source_clear(&s->base);
    mxl_array_release(s->mean);
    mxl_free(s, sizeof(*s));
}
