/* What iterators over images have in common: a file of records, their labels, which may be in a
 * list beside it, and decoding on all threads. For images.c and detect.c. */
#ifndef MXL_DATA_IMAGE_SOURCE_H
#define MXL_DATA_IMAGE_SOURCE_H

#include "data/batches.h"
#include "data/record.h"

enum { MXL_MOST_LABELS = 1 << 20 };

/* A record: an image and its labels. */
typedef struct mxl_image_record {
    uint64_t id;
    const float *labels;
    int64_t count; /* of the labels */
    const char *image;
    size_t size;
} mxl_image_record;

typedef struct mxl_image_list mxl_image_list;

/* The first member of a kind's source. */
typedef struct mxl_image_source {
    /* Makes one sample and its label; `draw` numbers the random choices. Called by several threads
     * at a time. -1 with the error set. */
    int (*sample)(const mxl_batches *batches, const mxl_image_record *record, uint64_t draw,
                  void *data, void *label);
    mxl_record_file *records;
    char *path; /* of the records */
    size_t path_size;
    size_t *position; /* where the records of the part begin */
    size_t room;
    mxl_image_list *list; /* NULL: the labels are those of the records */
    bool ids_shown;       /* the index has the ids of the records, not 0 */
    uint64_t drawn;
} mxl_image_source;

/* Paths and the part of the file; `list` and `index` may be "". `width` is the number of labels of
 * a line of the list; below 1: all that come before the name. */
typedef struct mxl_image_files {
    const char *records, *index, *list;
    int64_t width, parts, part;
} mxl_image_files;

/* Opens the files: sets batches->count. batches->source is a mxl_image_source of zeros but for
 * `sample`. -1 with the error set; the kind's `close` is called then too. */
int mxl_image_source_open(mxl_batches *batches, const mxl_image_files *files);
void mxl_image_source_clear(mxl_image_source *source);

/* Sets the shape of the data by a parameter data_shape; -1 with the error set. */
int mxl_image_source_shape(mxl_batches *batches, const mxl_tuple *data_shape);

/* The `take` of the kinds. */
int mxl_image_source_take(mxl_batches *batches, const int64_t *places, int64_t count, void *data,
                          void *label);

/* Calls a function for each record, in their order, until it returns other than 0. */
int mxl_image_source_each(mxl_batches *batches,
                          int (*visit)(void *context, const mxl_image_record *record),
                          void *context);

/* The order of epochs: random by `seed`, or by `chunk_seed` if the file has more than a chunk of
 * some megabytes (0: no chunks), which are not kept together as in 1.9.1. */
void mxl_image_source_order(mxl_batches *batches, bool shuffle, int64_t seed, int64_t chunk,
                            int64_t chunk_seed);

/* The mean of all samples of an epoch: that of a file, float32 of a sample's shape; if there is no
 * such file it is computed and written, by the kind's `take`, which must give float32. New; NULL
 * with the error set. (mean_image.c) */
mxl_array *mxl_image_mean(mxl_batches *batches, const char *path);

/* ---- lists of labels: image_list.c ---- */

/* A list: lines of an id, labels and a name. New; NULL with the error set. */
mxl_image_list *mxl_image_list_read(const char *path, int64_t width);
void mxl_image_list_free(mxl_image_list *list);

/* Sets the labels of a record to those of its id, the last ones of it as in 1.9.1. -1 with the
 * error set if the list has none. */
int mxl_image_list_find(const mxl_image_list *list, mxl_image_record *record);

#endif
