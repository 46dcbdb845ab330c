/* ImageDetRecordIter: batches of images with boxes, of a file of records. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "data/images/box_labels.h"
#include "data/images/changes.h"
#include "data/images/detect.h"
#include "data/images/image_source.h"

typedef struct source {
    mxl_image_source base;
    mxl_detect_params p; /* without strings and lists that live as long */
    mxl_part_rules *rules;
    int64_t *trials; /* of each of the rules */
    size_t rooms[2]; /* bytes of rules and trials */
    mxl_array *mean;
    int64_t longest; /* numbers of the longest label */
} source;

enum { ROOM = 4 }; /* numbers of a label before that of the record: what the image became */

/* ---- one sample ---- */

/* Changes of colours, each with its probability. */
static void colour(const mxl_detect_params *p, mxl_bitmap *image, mxl_chances *by)
{
    const double chance[] = {p->random_hue_prob, p->random_illumination_prob,
                             p->random_saturation_prob};
    const int64_t most[] = {p->max_random_hue, p->max_random_illumination,
                            p->max_random_saturation};
    int more[3] = {0};

    for (int k = 0; k < 3; k++)
        if (mxl_chance(by) < chance[k])
            more[k] = (int)mxl_chance_between(by, -(double)most[k], (double)most[k]);
    if (more[0] != 0 || more[1] != 0 || more[2] != 0)
        mxl_change_hls(image, more);
    if (mxl_chance(by) < p->random_contrast_prob)
        mxl_change_scale(
            image,
            1 + (float)mxl_chance_between(by, -p->max_random_contrast, p->max_random_contrast), 0);
}

/* Pads the image to a random larger size; how much comes before its first row and column is random
 * too. The boxes keep their objects. */
static int pad(const mxl_detect_params *p, mxl_bitmap *image, mxl_box_labels *labels,
               mxl_chances *by)
{
    double scale, left, top;
    int64_t rows, columns;

    if (p->max_pad_scale <= 1 || mxl_chance(by) >= p->rand_pad_prob)
        return 0;
    scale = mxl_chance_between(by, 1, p->max_pad_scale);
    left = mxl_chance_between(by, 0, scale - 1);
    top = mxl_chance_between(by, 0, scale - 1);
    rows = (int64_t)(scale * (double)image->rows);
    columns = (int64_t)(scale * (double)image->columns);
    mxl_box_labels_move(labels, (mxl_part){-(float)left, -(float)top, (float)scale, (float)scale});
    return mxl_change_pad(
        image, rows, columns,
        (int64_t)fmin(top * (double)image->rows, (double)(rows - image->rows)),
        (int64_t)fmin(left * (double)image->columns, (double)(columns - image->columns)),
        p->fill_value);
}

/* Cuts out the first part that one of the samplers, which are tried in a random order, finds. */
static int crop(const source *s, mxl_bitmap *image, mxl_box_labels *labels, mxl_chances *by)
{
    int64_t samplers = s->p.num_crop_sampler, first;

    if (samplers < 1 || mxl_chance(by) >= s->p.rand_crop_prob)
        return 0;
    first = mxl_chance_of(by, samplers);
    for (int64_t i = 0; i < samplers; i++) {
        const mxl_part_rules *rules = &s->rules[(first + i) % samplers];

        for (int64_t k = 0; k < s->trials[(first + i) % samplers]; k++) {
            mxl_part part = mxl_part_draw(rules, (double)image->columns / (double)image->rows, by);
            int64_t rows = (int64_t)(part.height * (float)image->rows);
            int64_t columns = (int64_t)(part.width * (float)image->columns);
            int64_t top = (int64_t)(part.top * (float)image->rows);
            int64_t left = (int64_t)(part.left * (float)image->columns);

            if (rows < 1 || columns < 1 || top + rows > image->rows ||
                left + columns > image->columns || !mxl_box_labels_cut(labels, rules, part))
                continue;
            return mxl_change_cut(image, top, left, rows, columns);
        }
    }
    return 0;
}

/* Gives the image the sample's size: both sides, or as much of it as its ratio allows. */
static int fit(const source *s, const int64_t *size, mxl_bitmap *image, mxl_chances *by)
{
    int64_t rows = size[1], columns = size[2];

    if (s->p.resize_mode != MXL_DETECT_FORCE) {
        float scale =
            fminf((float)rows / (float)image->rows, (float)columns / (float)image->columns);

        if (s->p.resize_mode == MXL_DETECT_SHRINK && scale >= 1)
            return 0;
        rows = (int64_t)(scale * (float)image->rows);
        columns = (int64_t)(scale * (float)image->columns);
    }
    return mxl_change_size(image, rows, columns,
                           mxl_change_method(s->p.inter_method, by, image, rows, columns));
}

/* Writes the values of an image as large as a sample. */
static void put_values(const source *s, const mxl_bitmap *image, float *to)
{
    const mxl_detect_params *p = &s->p;
    const float means[] = {(float)p->mean_r, (float)p->mean_g, (float)p->mean_b};
    const float deviations[] = {(float)p->std_r, (float)p->std_g, (float)p->std_b};
    bool given = means[0] > 0 || means[1] > 0 || means[2] > 0 || p->mean_a > 0;
    const float *mean = !given && s->mean != NULL ? mxl_array_read(s->mean) : NULL;
    int64_t pixels = image->rows * image->columns;

    for (int64_t c = 0; c < image->channels; c++)
        for (int64_t i = 0; i < pixels; i++, to++) {
            float value = (float)image->bytes[i * image->channels + c];

            if (given)
                value -= means[c];
            else if (mean != NULL)
                value -= mean[c * pixels + i];
            if (deviations[c] > 0)
                value /= deviations[c];
            *to = value * (float)p->scale;
        }
}

static int change(const source *s, const int64_t *size, mxl_bitmap *image, mxl_box_labels *labels,
                  mxl_chances *by)
{
    if (mxl_change_short(image, s->p.resize, s->p.inter_method, by) != 0)
        return -1;
    colour(&s->p, image, by);
    if (mxl_chance(by) < s->p.rand_mirror_prob) {
        mxl_change_mirror(image);
        mxl_box_labels_mirror(labels);
    }
    if (pad(&s->p, image, labels, by) != 0 || crop(s, image, labels, by) != 0)
        return -1;
    return fit(s, size, image, by);
}

/* A label: channels, rows and columns of the image, how many numbers follow, these, and padding. */
static void put_label(const mxl_batches *b, const mxl_bitmap *image, const mxl_box_labels *labels,
                      float *to)
{
    const source *s = b->source;
    int64_t count = labels->head + labels->count * labels->width;

    to[0] = (float)image->channels;
    to[1] = (float)image->rows;
    to[2] = (float)image->columns;
    to[3] = (float)count;
    for (int64_t i = ROOM + count; i < b->label_shape.dim[0]; i++)
        to[i] = (float)s->p.label_pad_value;
}

static int put_sample(const mxl_batches *b, const mxl_image_record *record, uint64_t draw,
                      void *data, void *label)
{
    const source *s = b->source;
    const int64_t *size = b->data_shape.dim;
    float *to = label;
    mxl_box_labels labels;
    mxl_bitmap image;
    mxl_chances by;
    int status = -1;

    if (record->count > b->label_shape.dim[0] - ROOM)
        return mxl_error("the file has changed");
    memcpy(to + ROOM, record->labels, (size_t)record->count * sizeof(*to));
    if (mxl_box_labels_read(to + ROOM, record->count, &labels) != 0 ||
        mxl_bitmap_decode(record->image, record->size, size[0] == 3, &image) != 0)
        return -1;
    mxl_chances_begin(&by, (uint64_t)s->p.seed, draw);
    if (change(s, size, &image, &labels, &by) == 0) {
        put_label(b, &image, &labels, to);
        status = image.rows == size[1] && image.columns == size[2]
                     ? 0
                     : mxl_change_pad(&image, size[1], size[2], 0, 0, 0);
    }
    if (status == 0)
        put_values(s, &image, data);
    mxl_bitmap_clear(&image);
    return status;
}

/* ---- opening ---- */

/* One number of a list, which has one for each sampler or one for all. */
static double pick(mxl_floats list, int64_t number)
{
    return list.v[list.n == 1 ? 0 : number];
}

static int set_bounds(const mxl_detect_bounds *bounds, int64_t number, double to[2])
{
    to[0] = pick(bounds->min, number);
    to[1] = pick(bounds->max, number);
    if (to[0] >= 0 && (to[1] > to[0] || (to[1] == to[0] && !bounds->apart)) &&
        (to[1] <= 1 || bounds->beyond))
        return 0;
    return mxl_error("min_crop_%s and max_crop_%s must be 0 to %s, the second %s the first, got %g "
                     "and %g",
                     bounds->name, bounds->name, bounds->beyond ? "any number" : "1",
                     bounds->apart ? "above" : "not below", to[0], to[1]);
}

static int set_rules(source *s, const mxl_detect_params *p)
{
    const mxl_detect_bounds bounds[] = {
        {"scales", p->min_crop_scales, p->max_crop_scales, true, false},
        {"aspect_ratios", p->min_crop_aspect_ratios, p->max_crop_aspect_ratios, false, true},
        {"overlaps", p->min_crop_overlaps, p->max_crop_overlaps, false, false},
        {"sample_coverages", p->min_crop_sample_coverages, p->max_crop_sample_coverages, false,
         false},
        {"object_coverages", p->min_crop_object_coverages, p->max_crop_object_coverages, false,
         false}};
    int64_t count = p->num_crop_sampler;

    if (count < 0 || count > 1024)
        return mxl_error("num_crop_sampler must be 0 to 1024, got %lld", (long long)count);
    for (int k = 0; k < 5; k++)
        if ((bounds[k].min.n != 1 && bounds[k].min.n != count) ||
            (bounds[k].max.n != 1 && bounds[k].max.n != count))
            return mxl_error("min_crop_%s and max_crop_%s must have 1 or num_crop_sampler numbers",
                             bounds[k].name, bounds[k].name);
    if (p->max_crop_trials.n != 1 && p->max_crop_trials.n != count)
        return mxl_error("max_crop_trials must have 1 or num_crop_sampler numbers");
    s->rooms[0] = (size_t)(count + 1) * sizeof(*s->rules);
    s->rooms[1] = (size_t)(count + 1) * sizeof(*s->trials);
    s->rules = mxl_alloc_zero(s->rooms[0]);
    s->trials = mxl_alloc_zero(s->rooms[1]);
    if (s->rules == NULL || s->trials == NULL)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        mxl_part_rules *r = &s->rules[i];
        double *to[] = {r->scale, r->ratio, r->overlap, r->sample_cover, r->object_cover};

        for (int k = 0; k < 5; k++)
            if (set_bounds(&bounds[k], i, to[k]) != 0)
                return -1;
        r->by_center = p->crop_emit_mode == 0;
        r->threshold = p->emit_overlap_thresh;
        s->trials[i] = p->max_crop_trials.v[p->max_crop_trials.n == 1 ? 0 : i];
    }
    return 0;
}

static int check(const mxl_detect_params *p)
{
    static const int64_t most = 1 << 20;

    if (p->batch.dtype != MXL_DTYPE_UNKNOWN && p->batch.dtype != MXL_F32)
        return mxl_error("dtype must be float32, got %s", mxl_dtype_name(p->batch.dtype));
    if (strcmp(p->aug_seq, "det_aug_default") != 0)
        return mxl_error("aug_seq must be det_aug_default, got \"%s\"", p->aug_seq);
    if (mxl_change_check(p->resize, p->inter_method) != 0)
        return -1;
    if (!(p->max_pad_scale <= (double)most))
        return mxl_error("max_pad_scale must be at most 2^20, got %g", p->max_pad_scale);
    if (p->max_random_hue > most || p->max_random_saturation > most ||
        p->max_random_illumination > most || p->max_random_hue < -most ||
        p->max_random_saturation < -most || p->max_random_illumination < -most)
        return mxl_error("max_random_hue, max_random_saturation and max_random_illumination must "
                         "be at most 2^20");
    if (p->data_shape.v[0] == 1 && (p->random_hue_prob > 0 || p->random_saturation_prob > 0 ||
                                    p->random_illumination_prob > 0))
        return mxl_error("random_hue_prob, random_saturation_prob and random_illumination_prob "
                         "need samples of 3 channels");
    return 0;
}

/* The longest label. */
static int visit(void *context, const mxl_image_record *record)
{
    source *s = context;

    if (s->p.label_width > 0 && record->count != s->p.label_width)
        return mxl_error("the image with id %llu has %lld labels, label_width is %lld",
                         (unsigned long long)record->id, (long long)record->count,
                         (long long)s->p.label_width);
    if (record->count > s->longest)
        s->longest = record->count;
    return 0;
}

static int set_labels(mxl_batches *b, const mxl_detect_params *p)
{
    source *s = b->source;
    int64_t width;

    if (mxl_image_source_each(b, visit, s) != 0)
        return -1;
    width = s->longest;
    if (b->count > 0 && width < MXL_BOX_LEAST)
        return mxl_error("%s: a label with boxes has %d numbers at least, the longest has %lld",
                         s->base.path, MXL_BOX_LEAST, (long long)width);
    if (p->label_pad_width > MXL_MOST_LABELS ||
        (p->label_pad_width > 0 && p->label_pad_width < width))
        return mxl_error("label_pad_width must be %lld to %d, got %lld", (long long)width,
                         MXL_MOST_LABELS, (long long)p->label_pad_width);
    if (p->label_pad_width > 0)
        width = p->label_pad_width;
    width += ROOM;
    mxl_shape_set(&b->label_shape, 1, &width);
    b->label_dtype = MXL_F32;
    return 0;
}

int mxl_detect_open(mxl_batches *b, const void *params)
{
    const mxl_detect_params *p = params;
    const mxl_image_files files = {p->path_imgrec, "",           p->path_imglist,
                                   p->label_width, p->num_parts, p->part_index};
    source *s = mxl_alloc_zero(sizeof(*s));

    b->source = s;
    if (s == NULL)
        return -1;
    s->base.sample = put_sample;
    s->p = *p;
    if (mxl_image_source_shape(b, &p->data_shape) != 0 || check(p) != 0 || set_rules(s, p) != 0 ||
        mxl_image_source_open(b, &files) != 0 || set_labels(b, p) != 0)
        return -1;
    b->data_dtype = MXL_F32;
    b->batch_size = p->batch.batch_size;
    b->round_batch = p->round_batch != 0;
    mxl_image_source_order(b, p->shuffle != 0, p->seed, p->shuffle_chunk_size,
                           p->shuffle_chunk_seed);
    if (p->mean_img[0] == '\0')
        return 0;
    s->mean = mxl_image_mean(b, p->mean_img);
    return s->mean != NULL ? 0 : -1;
}

void mxl_detect_close(mxl_batches *b)
{
    source *s = b->source;

    if (s == NULL)
        return;
    mxl_image_source_clear(&s->base);
    mxl_array_release(s->mean);
    mxl_free(s->rules, s->rooms[0]);
    mxl_free(s->trials, s->rooms[1]);
    mxl_free(s, sizeof(*s));
}
