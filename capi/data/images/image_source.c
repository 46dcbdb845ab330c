/* Records of images, their positions and labels, and decoding on all threads; see
 * data/images/image_source.h. */
#include "data/images/image_source.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "data/lines.h"
#include "op/text.h"
#include "base/system/threads.h"

enum { HEADER = 24 };

/* A record's head: how many labels follow it (0: `label` is the only one), the image's number. */
typedef struct header {
    uint32_t labels;
    float label;
    uint64_t id, other;
} header;

/* One record that is being decoded. */
typedef struct job {
    char *bytes; /* behind the record's head */
    size_t size;
    header head;
    mxl_image_record record;
} job;

typedef struct work {
    const mxl_batches *b;
    job *jobs;
    char *data, *label;
    size_t data_row, label_row; /* bytes of a sample */
    mxl_mutex lock;
    int64_t failed; /* the first of them, or -1 */
    char message[512];
} work;

/* ---- positions ---- */

static int add_position(mxl_batches *b, size_t position)
{
    mxl_image_source *s = b->source;

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
    mxl_image_source *s = b->source;
    bool any = true;

    while (any) {
        size_t position = mxl_record_tell(s->records);

        if (mxl_record_skip(s->records, &any) != 0 || (any && add_position(b, position) != 0))
            return -1;
    }
    return 0;
}

/* Keeps the positions of one part: of an index by their number, else by the bytes of the file. */
static int take_part(mxl_batches *b, const mxl_image_files *files)
{
    mxl_image_source *s = b->source;
    uint64_t size = mxl_record_tell(s->records), parts = (uint64_t)files->parts, step, begin;
    int64_t ignored, kept = 0;
    bool indexed = files->index[0] != '\0';

    if (mxl_batches_part(files->part, files->parts, 0, &ignored, &ignored) != 0)
        return -1;
    step = indexed ? ((uint64_t)b->count + parts - 1) / parts : (size + parts - 1) / parts;
    if (!indexed)
        step = (step + 3) & ~(uint64_t)3;
    begin = step * (uint64_t)files->part;
    for (int64_t i = 0; i < b->count; i++) {
        uint64_t at = indexed ? (uint64_t)i : s->position[i];

        if (at >= begin && at < begin + step)
            s->position[kept++] = s->position[i];
    }
    b->count = kept;
    return 0;
}

/* ---- batches ---- */

/* Reads a record; the image is behind its head and labels. */
static int read_record(const mxl_image_source *s, int64_t number, job *j)
{
    size_t position = s->position[number], skip, size;
    const char *bytes;

    if (mxl_record_seek(s->records, position) != 0 ||
        mxl_record_read(s->records, &bytes, &size) != 0)
        return -1;
    if (bytes == NULL)
        return mxl_error("the records end before byte %zu", position);
    if (size < HEADER)
        return mxl_error("the record at byte %zu has %zu bytes, its head has %d", position, size,
                         HEADER);
    memcpy(&j->head, bytes, HEADER);
    skip = j->head.labels <= MXL_MOST_LABELS ? 4 * (size_t)j->head.labels : SIZE_MAX;
    if (skip > size - HEADER)
        return mxl_error("the record at byte %zu has %u labels in %zu bytes", position,
                         j->head.labels, size);
    j->size = size - HEADER > 0 ? size - HEADER : 1;
    j->bytes = mxl_alloc(j->size);
    if (j->bytes == NULL)
        return -1;
    memcpy(j->bytes, bytes + HEADER, size - HEADER);
    j->record = (mxl_image_record){.id = j->head.id,
                                   .labels = &j->head.label,
                                   .count = 1,
                                   .image = j->bytes + skip,
                                   .size = size - HEADER - skip};
    if (j->head.labels > 0) {
        j->record.labels = (const float *)(const void *)j->bytes;
        j->record.count = j->head.labels;
    }
    return s->list != NULL ? mxl_image_list_find(s->list, &j->record) : 0;
}

/* Decodes some images of a batch. An error is that of the calling thread later. */
static void decode_range(void *data, int64_t begin, int64_t end)
{
    work *w = data;
    const mxl_image_source *s = w->b->source;

    for (int64_t i = begin; i < end; i++) {
        if (s->sample(w->b, &w->jobs[i].record, s->drawn + (uint64_t)i,
                      w->data + (size_t)i * w->data_row, w->label + (size_t)i * w->label_row) == 0)
            continue;
        mxl_mutex_lock(&w->lock);
        if (w->failed < 0 || i < w->failed) {
            w->failed = i;
            (void)snprintf(w->message, sizeof(w->message), "%s", mxl_error_text());
        }
        mxl_mutex_unlock(&w->lock);
    }
}

int mxl_image_source_take(mxl_batches *b, const int64_t *places, int64_t count, void *data,
                          void *label)
{
    mxl_image_source *s = b->source;
    size_t bytes = (size_t)count * sizeof(job);
    work w = {.b = b, .data = data, .label = label, .failed = -1};
    int status = -1;

    w.data_row = (size_t)mxl_shape_size(b->data_shape.ndim, b->data_shape.dim) *
                 mxl_dtype_size(b->data_dtype);
    w.label_row = (size_t)mxl_shape_size(b->label_shape.ndim, b->label_shape.dim) * sizeof(float);
    w.jobs = mxl_alloc_zero(bytes);
    if (w.jobs == NULL)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (read_record(s, places[i], &w.jobs[i]) != 0)
            goto done;
    for (int64_t i = 0; s->ids_shown && i < count; i++)
        b->index[i] = w.jobs[i].head.id;
    mxl_mutex_init(&w.lock);
    mxl_parallel_for(count, 1, decode_range, &w);
    mxl_mutex_destroy(&w.lock);
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

int mxl_image_source_each(mxl_batches *b,
                          int (*visit)(void *context, const mxl_image_record *record),
                          void *context)
{
    const mxl_image_source *s = b->source;
    int status = 0;

    for (int64_t i = 0; status == 0 && i < b->count; i++) {
        job j = {0};

        status = read_record(s, i, &j);
        if (status == 0)
            status = visit(context, &j.record);
        mxl_free(j.bytes, j.size);
    }
    if (status != 0)
        mxl_error_put_before(s->path);
    return status;
}

/* ---- opening ---- */

void mxl_image_source_order(mxl_batches *b, bool shuffle, int64_t seed, int64_t chunk,
                            int64_t chunk_seed)
{
    const mxl_image_source *s = b->source;
    size_t last = b->count > 0 ? s->position[b->count - 1] : 0;

    b->shuffle = shuffle || (chunk > 0 && last >> 20 >= (uint64_t)chunk);
    b->seed = (uint64_t)(shuffle ? seed : chunk_seed);
}

int mxl_image_source_shape(mxl_batches *b, const mxl_tuple *data_shape)
{
    const int64_t *size = data_shape->v;

    if (data_shape->n != 3)
        return mxl_error("data_shape must have 3 numbers (channels, rows, columns), got %d",
                         data_shape->n);
    if ((size[0] != 1 && size[0] != 3) || size[1] < 1 || size[2] < 1 || size[1] > 1 << 20 ||
        size[2] > 1 << 20)
        return mxl_error("data_shape must have 1 or 3 channels, 1 to 2^20 rows and as many "
                         "columns, got %s",
                         MXL_SHAPE_TEXT(3, size));
    mxl_shape_set(&b->data_shape, 3, size);
    return 0;
}

int mxl_image_source_open(mxl_batches *b, const mxl_image_files *files)
{
    mxl_image_source *s = b->source;

    if (files->records[0] == '\0')
        return mxl_error("path_imgrec is missing");
    if (files->list[0] != '\0') {
        s->list = mxl_image_list_read(files->list, files->width);
        if (s->list == NULL)
            return -1;
    }
    s->path_size = strlen(files->records) + 1;
    s->path = mxl_alloc(s->path_size);
    if (s->path == NULL)
        return -1;
    memcpy(s->path, files->records, s->path_size);
    s->records = mxl_record_open(s->path, false);
    if (s->records == NULL ||
        (files->index[0] != '\0' ? read_index(b, files->index) : scan(b)) != 0)
        return -1;
    return take_part(b, files);
}

void mxl_image_source_clear(mxl_image_source *s)
{
    if (s->records != NULL)
        mxl_ref_release(&s->records->ref);
    mxl_image_list_free(s->list);
    mxl_free(s->path, s->path_size);
    mxl_free(s->position, s->room * sizeof(*s->position));
}
