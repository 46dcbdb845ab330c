/* CSVIter: batches of lines of numbers, which are read when the iterator is made. */
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "data/files.h"
#include "data/lines.h"
#include "op/text.h"

typedef struct csv_params {
    mxl_batch_params batch;
    const char *data_csv, *label_csv;
    mxl_tuple data_shape, label_shape;
    int round_batch;
} csv_params;

/* A file that is being read: its rows of numbers become elements of a dtype. */
typedef struct reader {
    mxl_lines lines;
    int dtype;
    int64_t columns;
} reader;

/* ---- numbers ---- */

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
    char text[MXL_WORD];
    size_t length;
    double value;
    float single;

    while (begin < end && mxl_is_blank(*begin))
        begin++;
    while (end > begin && mxl_is_blank(end[-1]))
        end--;
    length = (size_t)(end - begin);
    if (length > 0 && length < MXL_WORD && memchr(begin, 0, length) == NULL) {
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
    return mxl_lines_error(&r->lines, "\"%.*s\" is no %s",
                           (int)(length < MXL_WORD ? length : MXL_WORD), begin,
                           r->dtype == MXL_F32 ? "number" : mxl_dtype_name(r->dtype));
}

/* ---- lines ---- */

/* Writes the numbers of a line; a comma may follow the last. */
static int put_line(const reader *r, char *to)
{
    const char *begin = r->lines.at, *end = r->lines.end;
    int64_t found = 0;

    while (end > begin && mxl_is_blank(end[-1]))
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
        return mxl_error("%s: line %lld has %lld numbers; a sample has %lld", r->lines.path,
                         (long long)r->lines.number, (long long)found, (long long)r->columns);
    return 0;
}

/* Reads a file into a new block of *rows rows. */
static int read_rows(const char *path, int dtype, int64_t columns, char **block, size_t *bytes,
                     int64_t *rows)
{
    size_t row = (size_t)columns * mxl_dtype_size(dtype), size;
    reader r = {.dtype = dtype, .columns = columns};
    int status = -1;
    char *to;

    if (mxl_lines_open(&r.lines, path) != 0)
        return -1;
    *rows = mxl_lines_count(&r.lines);
    size = r.lines.content.size;
    /* A number takes two bytes of the file at least, so wide rows cannot ask for much memory. */
    if ((uint64_t)columns > size + 1) {
        status = *rows == 0 ? 0
                            : mxl_error("%s: a sample has %lld numbers, the file has %zu bytes",
                                        path, (long long)columns, size);
        goto done;
    }
    *bytes = (size_t)*rows * row;
    *block = to = mxl_alloc(*bytes > 0 ? *bytes : 1);
    if (to == NULL) {
        *bytes = 0;
        goto done;
    }
    for (; mxl_lines_next(&r.lines); to += row)
        if (put_line(&r, to) != 0)
            goto done;
    status = 0;
done:
    mxl_lines_close(&r.lines);
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
