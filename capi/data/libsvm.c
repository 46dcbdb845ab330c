/* LibSVMIter: batches of lines "label index:value index:value ..." as csr matrices. */
#include <string.h>

#include "array/sparse/sparse.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "data/files.h"
#include "data/lines.h"
#include "op/text.h"

typedef struct libsvm_params {
    mxl_batch_params batch;
    const char *data_libsvm, *label_libsvm;
    mxl_tuple data_shape, label_shape;
    int64_t num_parts, part_index;
    int round_batch;
} libsvm_params;

/* A value and where it is in its row. */
typedef struct entry {
    int64_t index;
    float value;
} entry;

/* The lines of a file: row i has the entries [begin[i], begin[i + 1]). */
typedef struct rows {
    int64_t columns; /* of a row */
    entry *entries;
    size_t *begin;
    float *label; /* the first number of each line */
    size_t count, used, begin_room, label_room, room;
} rows;

typedef struct svm_source {
    rows data, label;
    bool labelled; /* the labels are rows of their own file */
} svm_source;

/* ---- lines ---- */

/* "label" or "label:weight". */
static int read_label(const mxl_lines *lines, char *word, float *label)
{
    char *colon = strchr(word, ':');
    double value, weight;

    if (colon != NULL)
        *colon = '\0';
    if (mxl_text_float(word, &value) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no label", word);
    if (colon != NULL && mxl_text_float(colon + 1, &weight) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no weight", colon + 1);
    *label = (float)value;
    return 0;
}

static int read_entry(const mxl_lines *lines, char *word, rows *r)
{
    char *colon = strchr(word, ':');
    int64_t index;
    double value;

    if (colon == NULL)
        return mxl_lines_error(lines, "\"%s\" is no index:value", word);
    *colon = '\0';
    if (mxl_text_int(word, false, &index) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no index", word);
    if (mxl_text_float(colon + 1, &value) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no number", colon + 1);
    if (index < 0 || index >= r->columns)
        return mxl_lines_error(lines, "index %lld is not within a row of %lld", (long long)index,
                               (long long)r->columns);
    if (MXL_GROW(r->entries, r->used, r->room) != 0)
        return -1;
    r->entries[r->used++] = (entry){index, (float)value};
    return 0;
}

/* The present line becomes a row. A number of a query, qid:n, is ignored, and what follows a #. */
static int read_row(mxl_lines *lines, rows *r)
{
    char word[MXL_WORD];
    float label = 0;

    (void)mxl_lines_word(lines, word);
    if (read_label(lines, word, &label) != 0)
        return -1;
    while (mxl_lines_word(lines, word))
        if (strncmp(word, "qid:", 4) != 0 && read_entry(lines, word, r) != 0)
            return -1;
    if (MXL_GROW(r->label, r->count, r->label_room) != 0 ||
        MXL_GROW(r->begin, r->count + 1, r->begin_room) != 0)
        return -1;
    r->label[r->count++] = label;
    r->begin[r->count] = r->used;
    return 0;
}

/* Goes to the next line that has more than a comment, and leaves the comment out. */
static bool next_row(mxl_lines *lines)
{
    while (mxl_lines_next(lines)) {
        const char *comment = memchr(lines->at, '#', (size_t)(lines->end - lines->at));

        if (comment == lines->at)
            continue;
        if (comment != NULL)
            lines->end = comment;
        return true;
    }
    return false;
}

/* Which rows of a file are kept: those that begin at a byte in [first, end), or have such a number.
 */
typedef struct part {
    bool by_bytes;
    uint64_t first, end;
} part;

/* Reads the rows of a file; *before is how many came before those that are kept. */
static int read_rows(const char *path, rows *r, const part *kept, uint64_t *before)
{
    mxl_lines lines;
    int status = 0;

    if (mxl_lines_open(&lines, path) != 0)
        return -1;
    *before = 0;
    if (MXL_GROW(r->begin, 0, r->begin_room) != 0)
        status = -1;
    else
        r->begin[0] = 0;
    for (uint64_t number = 0; status == 0 && next_row(&lines); number++) {
        uint64_t place = kept->by_bytes ? (uint64_t)(lines.begin - lines.content.bytes) : number;

        if (place < kept->first)
            ++*before;
        else if (place < kept->end)
            status = read_row(&lines, r);
    }
    mxl_lines_close(&lines);
    return status;
}

/* ---- the iterator ---- */

/* A part is as many bytes of the file, and each line belongs to the part that it begins in; one
 * that begins where a part does belongs to the part before, as in 1.9.1. */
static int part_of(const libsvm_params *p, part *kept)
{
    uint64_t parts = (uint64_t)p->num_parts, index = (uint64_t)p->part_index, step;
    int64_t ignored;
    mxl_content content;

    if (mxl_batches_part(p->part_index, p->num_parts, 0, &ignored, &ignored) != 0)
        return -1;
    if (parts == 1) {
        *kept = (part){.end = UINT64_MAX};
        return 0;
    }
    if (mxl_content_read(p->data_libsvm, &content) != 0)
        return -1;
    step = (content.size + parts - 1) / parts;
    mxl_content_free(&content);
    *kept = (part){true, index > 0 ? step * index + 1 : 0, step * (index + 1) + 1};
    return 0;
}

static int read_labels(mxl_batches *b, const libsvm_params *p, uint64_t first)
{
    svm_source *s = b->source;
    part kept = {false, first, first + (uint64_t)b->count};
    uint64_t before;

    s->labelled = strcmp(p->label_libsvm, "NULL") != 0;
    s->label.columns = mxl_samples_shape("label_shape", p->label_shape, &b->label_shape);
    if (s->label.columns < 0)
        return -1;
    if (!s->labelled && s->label.columns != 1)
        return mxl_error("label_shape must be (1,) without label_libsvm, got %s",
                         MXL_SHAPE_TEXT(p->label_shape.n, p->label_shape.v));
    if (!s->labelled) {
        b->label_shape.ndim = 0;
        return 0;
    }
    if (s->label.columns <= 1)
        return mxl_error("label_shape must have more than one number with label_libsvm, got %s",
                         MXL_SHAPE_TEXT(p->label_shape.n, p->label_shape.v));
    if (read_rows(p->label_libsvm, &s->label, &kept, &before) != 0)
        return -1;
    if (s->label.count < s->data.count)
        return mxl_error("%zu rows of data, but %zu of labels", s->data.count, s->label.count);
    return 0;
}

static int libsvm_open(mxl_batches *b, const void *params)
{
    const libsvm_params *p = params;
    svm_source *s = mxl_alloc_zero(sizeof(*s));
    uint64_t before;
    part kept;

    b->source = s;
    if (s == NULL)
        return -1;
    if (p->batch.dtype != MXL_DTYPE_UNKNOWN && p->batch.dtype != MXL_F32)
        return mxl_error("dtype must be float32, got %s", mxl_dtype_name(p->batch.dtype));
    if (!p->round_batch)
        return mxl_error("round_batch must be true: the last batch is filled from the next epoch");
    if (p->data_shape.n != 1)
        return mxl_error("data_shape must have 1 number, got %d", p->data_shape.n);
    s->data.columns = mxl_samples_shape("data_shape", p->data_shape, &b->data_shape);
    if (s->data.columns < 0 || part_of(p, &kept) != 0 ||
        read_rows(p->data_libsvm, &s->data, &kept, &before) != 0)
        return -1;
    b->data_dtype = b->label_dtype = MXL_F32;
    b->batch_size = p->batch.batch_size;
    b->round_batch = true;
    b->numbered = true;
    b->count = (int64_t)s->data.count;
    return read_labels(b, p, before);
}

/* ---- batches ---- */

/* The rows at so many places as a csr matrix: what a line names is stored as it stands. */
static mxl_array *csr_of(const rows *r, const int64_t *places, int64_t count)
{
    int64_t bounds = count + 1, shape[2] = {count, r->columns}, stored = 0, *begin, *index;
    mxl_array *indptr = mxl_array_new(MXL_I64, 1, &bounds), *data, *indices;
    float *value;

    if (indptr == NULL)
        return NULL;
    begin = mxl_array_write(indptr);
    begin[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        stored += (int64_t)(r->begin[places[i] + 1] - r->begin[places[i]]);
        begin[i + 1] = stored;
    }
    data = mxl_array_new(MXL_F32, 1, &stored);
    indices = mxl_array_new(MXL_I64, 1, &stored);
    if (data != NULL && indices != NULL) {
        value = mxl_array_write(data);
        index = mxl_array_write(indices);
        for (int64_t i = 0; i < count; i++) {
            for (size_t k = r->begin[places[i]]; k < r->begin[places[i] + 1]; k++) {
                *index++ = r->entries[k].index;
                *value++ = r->entries[k].value;
            }
        }
    }
    return mxl_array_new_sparse(MXL_CSR, MXL_F32, 2, shape,
                                mxl_parts_new(true, data, indices, indptr));
}

/* The rows of labels of several dimensions, which no csr matrix has; of an index that is named
 * twice the last value counts. */
static mxl_array *dense_labels(const mxl_batches *b, const rows *r, const int64_t *places)
{
    int64_t shape[MXL_MAX_NDIM + 1] = {b->batch_size};
    mxl_array *label;
    float *to;

    memcpy(shape + 1, b->label_shape.dim, (size_t)b->label_shape.ndim * sizeof(*shape));
    label = mxl_array_zeros(MXL_F32, b->label_shape.ndim + 1, shape);
    to = label == NULL ? NULL : mxl_array_write(label);
    for (int64_t i = 0; to != NULL && i < b->batch_size; i++, to += r->columns) {
        for (size_t k = r->begin[places[i]]; k < r->begin[places[i] + 1]; k++)
            to[r->entries[k].index] = r->entries[k].value;
    }
    return label;
}

/* The number before each line. */
static mxl_array *numbers_of(const rows *r, const int64_t *places, int64_t count)
{
    mxl_array *label = mxl_array_new(MXL_F32, 1, &count);
    float *to = label == NULL ? NULL : mxl_array_write(label);

    for (int64_t i = 0; to != NULL && i < count; i++)
        to[i] = r->label[places[i]];
    return label;
}

static int libsvm_make(mxl_batches *b, const int64_t *places, mxl_array **data, mxl_array **label)
{
    const svm_source *s = b->source;

    *data = csr_of(&s->data, places, b->batch_size);
    if (*data == NULL)
        return -1;
    *label = !s->labelled               ? numbers_of(&s->data, places, b->batch_size)
             : b->label_shape.ndim == 1 ? csr_of(&s->label, places, b->batch_size)
                                        : dense_labels(b, &s->label, places);
    if (*label != NULL)
        return 0;
    mxl_array_release(*data);
    *data = NULL;
    return -1;
}

static void free_rows(rows *r)
{
    mxl_free(r->entries, r->room * sizeof(*r->entries));
    mxl_free(r->begin, r->begin_room * sizeof(*r->begin));
    mxl_free(r->label, r->label_room * sizeof(*r->label));
}

static void libsvm_close(mxl_batches *b)
{
    svm_source *s = b->source;

    if (s == NULL)
        return;
    free_rows(&s->data);
    free_rows(&s->label);
    mxl_free(s, sizeof(*s));
}

const mxl_batches_kind mxl_batches_libsvm = {
    .op = {.name = "LibSVMIter",
           .doc = "Batches of lines \"label index:value index:value ...\", whose first index is 0. "
                  "A line becomes a row of a csr matrix with data_shape columns, float32. Rows of "
                  "another file are its labels, csr too, if there is one. The last batch is filled "
                  "from the next epoch.",
           MXL_PARAMS_OF(
               libsvm_params,
               MXL_PARAM(libsvm_params, data_libsvm, MXL_P_STRING, .doc = "Path of the data."),
               MXL_PARAM(libsvm_params, data_shape, MXL_P_SHAPE, .doc = "Elements of a row."),
               MXL_PARAM(libsvm_params, label_libsvm, MXL_P_STRING, "NULL",
                         "Path of rows that are the labels; NULL: the number before each line."),
               MXL_PARAM(libsvm_params, label_shape, MXL_P_SHAPE, "[1]",
                         "Shape of a label: more than one number with label_libsvm."),
               MXL_PARAM(libsvm_params, num_parts, MXL_P_INT, "1",
                         "How many parts the file is divided into."),
               MXL_PARAM(libsvm_params, part_index, MXL_P_INT, "0", "Which part to take."),
               MXL_BATCH_SIZE(libsvm_params),
               MXL_PARAM(libsvm_params, round_batch, MXL_P_BOOL, "1", "Must be true."),
               MXL_BATCH_REST(libsvm_params))},
    .open = libsvm_open,
    .make = libsvm_make,
    .close = libsvm_close,
};
