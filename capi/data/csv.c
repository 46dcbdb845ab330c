/* CSVIter: batches of lines of numbers, which are read when the iterator is made. */
#include <stdio.h>
#include <string.h>

#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "data/files.h"
#include "op/text.h"

typedef struct csv_params {
    mxl_batch_params batch;
    const char *data_csv, *label_csv;
    mxl_tuple data_shape, label_shape;
    int round_batch;
} csv_params;

/* A file that is being read: its rows of numbers become elements of a dtype. */
typedef struct reader {
    const char *path, *at, *end;
    int64_t line; /* from 1 */
    int dtype;
    int64_t columns;
} reader;

enum { LONGEST = 63 }; /* characters of a number */

/* ---- numbers ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int put_integer(int dtype, const char *text, void *to)
{
    int64_t value;

    if (mxl_text_int(text, false, &value) != MXL_TEXT_OK)
        return -1;
    if (dtype == MXL_I64) {
        memcpy(to, &value, sizeof(value));
    } else {
        int32_t small = (int32_t)value;

        if (small != value)
            return -1;
        memcpy(to, &small, sizeof(small));
    }
    return 0;
}

/* Writes the number in [begin, end) as an element. */
static int put(const reader *r, const char *begin, const char *end, void *to)
{
    char text[LONGEST + 1];
    size_t length;
    double value;
    float single;

    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    length = (size_t)(end - begin);
    if (length > 0 && length <= LONGEST && memchr(begin, 0, length) == NULL) {
        memcpy(text, begin, length);
        text[length] = '\0';
        if (r->dtype != MXL_F32) {
            if (put_integer(r->dtype, text, to) == 0)
                return 0;
        } else if (mxl_text_float(text, &value) == MXL_TEXT_OK) {
            single = (float)value;
            memcpy(to, &single, sizeof(single));
            return 0;
        }
    }
    return mxl_error("%s: line %lld: \"%.*s\" is no %s", r->path, (long long)r->line,
                     (int)(length < LONGEST ? length : LONGEST), begin,
                     r->dtype == MXL_F32 ? "number" : mxl_dtype_name(r->dtype));
}

/* ---- lines ---- */

/* The next line that is not blank: [*begin, *end), without its end. False at the end. */
static bool next_line(reader *r, const char **begin, const char **end)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at)), *p = r->at;

        *begin = r->at;
        *end = stop != NULL ? stop : r->end;
        r->at = stop != NULL ? stop + 1 : r->end;
        r->line++;
        while (p < *end && is_blank(*p))
            p++;
        if (p < *end)
            return true;
    }
    return false;
}

static int64_t count_lines(reader r)
{
    const char *begin, *end;
    int64_t lines = 0;

    while (next_line(&r, &begin, &end))
        lines++;
    return lines;
}

/* Writes the numbers of a line; a comma may follow the last. */
static int put_line(const reader *r, const char *begin, const char *end, char *to)
{
    int64_t found = 0;

    while (end > begin && is_blank(end[-1]))
        end--;
    while (begin < end) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        const char *stop = comma != NULL ? comma : end;

        if (found < r->columns) {
            if (put(r, begin, stop, to) != 0)
                return -1;
            to += mxl_dtype_size(r->dtype);
        }
        found++;
        begin = stop + 1;
    }
    if (found != r->columns)
        return mxl_error("%s: line %lld has %lld numbers; a sample has %lld", r->path,
                         (long long)r->line, (long long)found, (long long)r->columns);
    return 0;
}

/* Reads a file into a new block of *rows rows. */
static int read_rows(const char *path, int dtype, int64_t columns, char **block, size_t *bytes,
                     int64_t *rows)
{
    mxl_content content;
    const char *begin, *end;
    size_t row = (size_t)columns * mxl_dtype_size(dtype);
    reader r = {.path = path, .dtype = dtype, .columns = columns};
    int status = -1;
    char *to;

    if (mxl_content_read(path, &content) != 0)
        return -1;
    r.at = content.bytes;
    r.end = content.bytes + content.size;
    *rows = count_lines(r);
    /* A number takes two bytes of the file at least, so wide rows cannot ask for much memory. */
    if ((uint64_t)columns > content.size + 1) {
        status = *rows == 0 ? 0
                            : mxl_error("%s: a sample has %lld numbers, the file has %zu bytes",
                                        path, (long long)columns, content.size);
        goto done;
    }
    *bytes = (size_t)*rows * row;
    *block = to = mxl_alloc(*bytes > 0 ? *bytes : 1);
    if (to == NULL) {
        *bytes = 0;
        goto done;
    }
    for (; next_line(&r, &begin, &end); to += row)
        if (put_line(&r, begin, end, to) != 0)
            goto done;
    status = 0;
done:
    mxl_content_free(&content);
    return status;
}

/* ---- the iterator ---- */

int64_t mxl_samples_shape(const char *name, mxl_tuple given, mxl_shape *shape)
{
    int64_t size;

    if (given.n >= MXL_MAX_NDIM)
        return mxl_error("%s has %d axes; at most %d are allowed", name, given.n, MXL_MAX_NDIM - 1);
    mxl_shape_set(shape, given.n, given.v);
    size = mxl_shape_count(shape->ndim, shape->dim);
    return size < 0 ? mxl_error_prefix(name) : size;
}

static int read_labels(mxl_batches *b, mxl_samples *samples, const csv_params *p)
{
    int64_t size, rows;

    if (strcmp(p->label_csv, "NULL") == 0)
        return 0;
    size = mxl_samples_shape("label_shape", p->label_shape, &b->label_shape);
    if (size < 0 || read_rows(p->label_csv, b->label_dtype, size, &samples->label,
                              &samples->label_bytes, &rows) != 0)
        return -1;
    if (b->label_shape.ndim == 1 && size == 1)
        b->label_shape.ndim = 0;
    if (rows < b->count)
        return mxl_error("%lld lines of data, but %lld of labels", (long long)b->count,
                         (long long)rows);
    return 0;
}

static int csv_open(mxl_batches *b, const void *params)
{
    const csv_params *p = params;
    mxl_samples *samples = mxl_alloc_zero(sizeof(*samples));
    int64_t size;

    b->source = samples;
    if (samples == NULL)
        return -1;
    b->data_dtype = p->batch.dtype == MXL_DTYPE_UNKNOWN ? MXL_F32 : p->batch.dtype;
    if (b->data_dtype != MXL_F32 && b->data_dtype != MXL_I32 && b->data_dtype != MXL_I64)
        return mxl_error("dtype must be float32, int32 or int64, got %s",
                         mxl_dtype_name(b->data_dtype));
    b->label_dtype = b->data_dtype;
    b->batch_size = p->batch.batch_size;
    b->round_batch = p->round_batch != 0;
    b->numbered = true;
    size = mxl_samples_shape("data_shape", p->data_shape, &b->data_shape);
    if (size < 0 || read_rows(p->data_csv, b->data_dtype, size, &samples->data,
                              &samples->data_bytes, &b->count) != 0)
        return -1;
    return read_labels(b, samples, p);
}

static int csv_take(mxl_batches *b, const int64_t *places, int64_t count, void *data, void *label)
{
    const mxl_samples *samples = b->source;
    size_t row = (size_t)mxl_shape_size(b->data_shape.ndim, b->data_shape.dim) *
                 mxl_dtype_size(b->data_dtype);
    size_t label_row = (size_t)mxl_shape_size(b->label_shape.ndim, b->label_shape.dim) *
                       mxl_dtype_size(b->label_dtype);

    for (int64_t i = 0; i < count; i++) {
        size_t place = (size_t)places[i], to = (size_t)i;

        if (row > 0)
            memcpy((char *)data + to * row, samples->data + place * row, row);
        if (samples->label == NULL)
            memset((char *)label + to * label_row, 0, label_row);
        else if (label_row > 0)
            memcpy((char *)label + to * label_row, samples->label + place * label_row, label_row);
    }
    return 0;
}

static void csv_close(mxl_batches *b)
{
    mxl_samples *samples = b->source;

    if (samples == NULL)
        return;
    mxl_free(samples->data, samples->data_bytes > 0 ? samples->data_bytes : 1);
    mxl_free(samples->label, samples->label_bytes > 0 ? samples->label_bytes : 1);
    mxl_free(samples, sizeof(*samples));
}

const mxl_batches_kind mxl_batches_csv = {
    .op = {.name = "CSVIter",
           .doc = "Batches of lines of numbers, which commas separate. A line becomes a sample of "
                  "the shape data_shape; lines of another file are its labels, which are zeros "
                  "without one. The last batch is filled from the next epoch (round_batch), which "
                  "then begins behind these samples, or with what the batch before had there.",
           MXL_PARAMS_OF(
               csv_params,
               MXL_PARAM(csv_params, data_csv, MXL_P_STRING, .doc = "Path of the data."),
               MXL_PARAM(csv_params, data_shape, MXL_P_SHAPE, .doc = "Shape of a sample."),
               MXL_PARAM(csv_params, label_csv, MXL_P_STRING, "NULL",
                         "Path of the labels; NULL: all are 0."),
               MXL_PARAM(csv_params, label_shape, MXL_P_SHAPE, "[1]", "Shape of a label."),
               MXL_BATCH_SIZE(csv_params),
               MXL_PARAM(csv_params, round_batch, MXL_P_BOOL, "1",
                         "Whether the last batch is filled from the next epoch."),
               MXL_BATCH_REST(csv_params))},
    .open = csv_open,
    .take = csv_take,
    .close = csv_close,
};
