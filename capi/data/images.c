/* ImageRecordIter and its kin: batches of the images of a file of records, decoded on all threads.
 * See data/image_plan.h. */
#include "data/image_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "data/changes.h"
#include "data/lines.h"
#include "data/record.h"
#include "op/text.h"

enum { HEADER = 24, MOST_LABELS = 1 << 20 };

/* A record's head: how many labels follow it (0: `label` is the only one), the image's number. */
typedef struct header {
    uint32_t labels;
    float label;
    uint64_t id, other;
} header;

/* An image of a list, and which row of labels it has. */
typedef struct listed_image {
    uint64_t id;
    size_t row;
} listed_image;

typedef struct source {
    mxl_image_plan plan;
    mxl_record_file *records;
    mxl_array *mean; /* of all samples, or NULL */
    char *path;      /* of the records */
    size_t path_size;
    size_t *position; /* where the records of the part begin */
    size_t room;
    int64_t width;  /* labels of an image */
    bool ids_shown; /* the index has the ids of the records, not 0 */
    uint64_t drawn;
    listed_image *listed; /* of a list: sorted by id, and by row where ids are equal */
    float *list_label;
    size_t ids, id_room, label_room;
} source;

/* One record that is being decoded. */
typedef struct job {
    char *bytes;
    size_t size;
    header head;
} job;

typedef struct work {
    const source *s;
    job *jobs;
    char *to;
    size_t sample;
    pthread_mutex_t lock;
    int64_t failed; /* the first of them, or -1 */
    char message[512];
} work;

/* ---- positions ---- */

static int add_position(mxl_batches *b, size_t position)
{
    source *s = b->source;

    if (MXL_GROW(s->position, (size_t)b->count, s->room) != 0)
        return -1;
    s->position[b->count++] = position;
    return 0;
}

/* Of an index: lines of a key and a position. */
static int read_index(mxl_batches *b, const char *path)
{
    mxl_lines lines;
    int status = 0;

    if (mxl_lines_open(&lines, path) != 0)
        return -1;
    while (status == 0 && mxl_lines_next(&lines)) {
        char word[MXL_WORD];
        int64_t position;

        (void)mxl_lines_word(&lines, word);
        if (!mxl_lines_word(&lines, word) || mxl_text_int(word, false, &position) != MXL_TEXT_OK ||
            position < 0)
            status =
                mxl_error("%s: line %lld is no key and position", path, (long long)lines.number);
        else
            status = add_position(b, (size_t)position);
    }
    mxl_lines_close(&lines);
    return status;
}

/* Of a file without an index: goes over the records. */
static int scan(mxl_batches *b)
{
    source *s = b->source;
    bool any = true;

    while (any) {
        size_t position = mxl_record_tell(s->records);

        if (mxl_record_skip(s->records, &any) != 0 || (any && add_position(b, position) != 0))
            return -1;
    }
    return 0;
}

/* Keeps the positions of one part: of an index by their number, else by the bytes of the file. */
static int take_part(mxl_batches *b, const mxl_image_params *p, bool indexed)
{
    source *s = b->source;
    uint64_t size = mxl_record_tell(s->records), parts = (uint64_t)p->num_parts, step, begin;
    int64_t ignored, kept = 0;

    if (mxl_batches_part(p->part_index, p->num_parts, 0, &ignored, &ignored) != 0)
        return -1;
    step = indexed ? ((uint64_t)b->count + parts - 1) / parts : (size + parts - 1) / parts;
    if (!indexed)
        step = (step + 3) & ~(uint64_t)3;
    begin = step * (uint64_t)p->part_index;
    for (int64_t i = 0; i < b->count; i++) {
        uint64_t at = indexed ? (uint64_t)i : s->position[i];

        if (at >= begin && at < begin + step)
            s->position[kept++] = s->position[i];
    }
    b->count = kept;
    return 0;
}

/* ---- labels ---- */

static int compare_listed(const void *left, const void *right)
{
    const listed_image *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The id and labels of a line of a list. */
static int read_listed(source *s, mxl_lines *lines)
{
    size_t labels = s->ids * (size_t)s->width;
    char word[MXL_WORD];
    int64_t id;

    (void)mxl_lines_word(lines, word);
    if (mxl_text_int(word, false, &id) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no id", word);
    for (int64_t i = 0; i < s->width; i++, labels++) {
        double label;

        if (!mxl_lines_word(lines, word) || mxl_text_float(word, &label) != MXL_TEXT_OK)
            return mxl_error("%s: line %lld has no %lld labels", lines->path,
                             (long long)lines->number, (long long)s->width);
        if (MXL_GROW(s->list_label, labels, s->label_room) != 0)
            return -1;
        s->list_label[labels] = (float)label;
    }
    if (MXL_GROW(s->listed, s->ids, s->id_room) != 0)
        return -1;
    s->listed[s->ids] = (listed_image){(uint64_t)id, s->ids};
    s->ids++;
    return 0;
}

/* A list: lines of an id, `width` labels and a name. */
static int read_list(source *s, const char *path)
{
    mxl_lines lines;
    int status = 0;

    if (mxl_lines_open(&lines, path) != 0)
        return -1;
    while (status == 0 && mxl_lines_next(&lines))
        status = read_listed(s, &lines);
    mxl_lines_close(&lines);
    if (status == 0 && s->ids > 0)
        qsort(s->listed, s->ids, sizeof(*s->listed), compare_listed);
    return status;
}

/* The labels that the list has for an id, the last ones of it as in 1.9.1; NULL: none. */
static const float *labels_of(const source *s, uint64_t id)
{
    size_t first = 0, end = s->ids;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (s->listed[middle].id <= id)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0 || s->listed[first - 1].id != id)
        return NULL;
    return s->list_label + s->listed[first - 1].row * (size_t)s->width;
}

/* Writes the labels of an image: of the list, if there is one. */
static int put_labels(const source *s, const job *j, float *to)
{
    int64_t given = j->head.labels > 0 ? j->head.labels : 1;

    if (s->listed != NULL) {
        const float *labels = labels_of(s, j->head.id);

        if (labels != NULL) {
            memcpy(to, labels, (size_t)s->width * sizeof(*to));
            return 0;
        }
        return mxl_error("the list has no image with id %llu", (unsigned long long)j->head.id);
    }
    if (given != s->width)
        return mxl_error("the image with id %llu has %lld labels, label_width is %lld",
                         (unsigned long long)j->head.id, (long long)given, (long long)s->width);
    if (j->head.labels == 0)
        *to = j->head.label;
    else
        memcpy(to, j->bytes + HEADER, (size_t)given * sizeof(*to));
    return 0;
}

/* ---- batches ---- */

/* Reads a record; the image is behind its head and labels. */
static int read_record(const source *s, int64_t number, job *j)
{
    size_t position = s->position[number], skip;
    const char *bytes;

    if (mxl_record_seek(s->records, position) != 0 ||
        mxl_record_read(s->records, &bytes, &j->size) != 0)
        return -1;
    if (bytes == NULL)
        return mxl_error("the records end before byte %zu", position);
    if (j->size < HEADER)
        return mxl_error("the record at byte %zu has %zu bytes, its head has %d", position, j->size,
                         HEADER);
    memcpy(&j->head, bytes, HEADER);
    skip = j->head.labels <= MOST_LABELS ? HEADER + 4 * (size_t)j->head.labels : SIZE_MAX;
    if (skip > j->size)
        return mxl_error("the record at byte %zu has %u labels in %zu bytes", position,
                         j->head.labels, j->size);
    j->bytes = mxl_alloc(j->size);
    if (j->bytes == NULL)
        return -1;
    memcpy(j->bytes, bytes, j->size);
    return 0;
}

/* Decodes some images of a batch. An error is that of the calling thread later. */
static void decode_range(void *data, int64_t begin, int64_t end)
{
    work *w = data;

    for (int64_t i = begin; i < end; i++) {
        const job *j = &w->jobs[i];
        size_t skip = HEADER + 4 * (size_t)j->head.labels;

        if (mxl_image_sample(&w->s->plan, j->bytes + skip, j->size - skip,
                             w->s->drawn + (uint64_t)i, w->to + (size_t)i * w->sample) == 0)
            continue;
        pthread_mutex_lock(&w->lock);
        if (w->failed < 0 || i < w->failed) {
            w->failed = i;
            (void)snprintf(w->message, sizeof(w->message), "%s", mxl_error_text());
        }
        pthread_mutex_unlock(&w->lock);
    }
}

int mxl_images_take(mxl_batches *b, const int64_t *places, int64_t count, void *data, void *label)
{
    source *s = b->source;
    size_t bytes = (size_t)count * sizeof(job);
    work w = {.s = s, .to = data, .failed = -1};
    int status = -1;

    w.sample = (size_t)mxl_shape_size(3, b->data_shape.dim) * mxl_dtype_size(b->data_dtype);
    w.jobs = mxl_alloc_zero(bytes);
    if (w.jobs == NULL)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (read_record(s, places[i], &w.jobs[i]) != 0 ||
            put_labels(s, &w.jobs[i], (float *)label + i * s->width) != 0)
            goto done;
    for (int64_t i = 0; s->ids_shown && i < count; i++)
        b->index[i] = w.jobs[i].head.id;
    pthread_mutex_init(&w.lock, NULL);
    mxl_parallel_for(count, 1, decode_range, &w);
    pthread_mutex_destroy(&w.lock);
    s->drawn += (uint64_t)count;
    if (w.failed >= 0)
        mxl_error("the image with id %llu: %s", (unsigned long long)w.jobs[w.failed].head.id,
                  w.message);
    else
        status = 0;
done:
    if (status != 0)
        mxl_error_put_before(s->path);
    for (int64_t i = 0; i < count; i++)
        mxl_free(w.jobs[i].bytes, w.jobs[i].size);
    mxl_free(w.jobs, bytes);
    return status;
}

/* ---- opening ---- */

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

    if (mxl_change_method_check(p->inter_method) != 0 || check_crop(p) != 0)
        return -1;
    if (p->pad > most || p->resize > most || (p->resize < 1 && p->resize != -1))
        return mxl_error("pad must be at most 2^20 and resize 1 to 2^20 or -1, got %lld and %lld",
                         (long long)p->pad, (long long)p->resize);
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
    if (p->data_shape.n != 3)
        return mxl_error("data_shape must have 3 numbers (channels, rows, columns), got %d",
                         p->data_shape.n);
    plan->channels = p->data_shape.v[0];
    plan->rows = p->data_shape.v[1];
    plan->columns = p->data_shape.v[2];
    if ((plan->channels != 1 && plan->channels != 3) || plan->rows < 1 || plan->columns < 1 ||
        plan->rows > 1 << 20 || plan->columns > 1 << 20)
        return mxl_error("data_shape must have 1 or 3 channels, and 1 to 2^20 rows and columns, "
                         "got %s",
                         MXL_SHAPE_TEXT(3, p->data_shape.v));
    if (check_changes(p) != 0)
        return -1;
    plan->seed = (uint64_t)(p->seed_aug != MXL_NONE ? p->seed_aug : p->seed);
    mxl_shape_set(&b->data_shape, 3, p->data_shape.v);
    b->data_dtype = plan->dtype;
    return 0;
}

static int set_labels(mxl_batches *b, const mxl_image_params *p)
{
    source *s = b->source;

    if (p->label_width < 1 || p->label_width > MOST_LABELS)
        return mxl_error("label_width must be 1 to %d, got %lld", MOST_LABELS,
                         (long long)p->label_width);
    s->width = p->label_width;
    b->label_dtype = MXL_F32;
    mxl_shape_set(&b->label_shape, s->width > 1 ? 1 : 0, &s->width);
    return p->path_imglist[0] != '\0' ? read_list(s, p->path_imglist) : 0;
}

/* Whether and how epochs are shuffled. (The chunks of 1.9.1 are not kept together.) */
static void set_order(mxl_batches *b, const mxl_image_params *p)
{
    const source *s = b->source;
    size_t last = b->count > 0 ? s->position[b->count - 1] : 0;
    bool chunks = p->shuffle_chunk_size > 0 && last >> 20 >= (uint64_t)p->shuffle_chunk_size;

    b->shuffle = p->shuffle != 0 || chunks;
    b->seed = (uint64_t)(p->shuffle != 0 ? p->seed : p->shuffle_chunk_seed);
}

int mxl_images_open(mxl_batches *b, const mxl_image_params *p, int dtype, bool ids_shown)
{
    bool indexed = p->path_imgidx[0] != '\0';
    source *s = mxl_alloc_zero(sizeof(*s));

    b->source = s;
    if (s == NULL || make_plan(b, p, dtype) != 0 || set_labels(b, p) != 0)
        return -1;
    if (p->path_imgrec[0] == '\0')
        return mxl_error("path_imgrec is missing");
    if (strcmp(p->aug_seq, "aug_default") != 0)
        return mxl_error("aug_seq must be aug_default, got \"%s\"", p->aug_seq);
    s->path_size = strlen(p->path_imgrec) + 1;
    s->path = mxl_alloc(s->path_size);
    if (s->path == NULL)
        return -1;
    memcpy(s->path, p->path_imgrec, s->path_size);
    s->records = mxl_record_open(s->path, false);
    if (s->records == NULL)
        return -1;
    if ((indexed ? read_index(b, p->path_imgidx) : scan(b)) != 0 || take_part(b, p, indexed) != 0)
        return -1;
    if (p->mean_img[0] != '\0' && s->plan.dtype != MXL_U8) {
        s->mean = mxl_image_mean(b, &s->plan, p->mean_img);
        if (s->mean == NULL)
            return -1;
        s->plan.mean = mxl_array_read(s->mean);
        s->drawn = 0;
    }
    s->ids_shown = ids_shown;
    b->batch_size = p->batch.batch_size;
    b->round_batch = p->round_batch != 0;
    set_order(b, p);
    return 0;
}

void mxl_images_close(mxl_batches *b)
{
    source *s = b->source;

    if (s == NULL)
        return;
    if (s->records != NULL)
        mxl_ref_release(&s->records->ref);
    mxl_array_release(s->mean);
    mxl_free(s->path, s->path_size);
    mxl_free(s->position, s->room * sizeof(*s->position));
    mxl_free(s->listed, s->id_room * sizeof(*s->listed));
    mxl_free(s->list_label, s->label_room * sizeof(*s->list_label));
    mxl_free(s, sizeof(*s));
}
