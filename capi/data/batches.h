/* Iterators over batches of samples. A kind of iterator reads samples by their numbers; what is
 * here chooses the numbers and makes arrays. Called by api/data/iterators.c. */
#ifndef MXL_DATA_BATCHES_H
#define MXL_DATA_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "array/array.h"
#include "base/ref.h"
#include "base/shape.h"
#include "op/op.h"
#include "base/system/threads.h"

typedef struct mxl_batches mxl_batches;

typedef struct mxl_batches_kind {
    mxl_op op; /* its name, documentation and parameters, and why it is refused; nothing else */
    int shown; /* how many of the parameters are described; 0: all */
    /* Sets the fields of the first part of mxl_batches by the parameters, which live as long as the
     * call. -1 with the error set; close is called then too. */
    int (*open)(mxl_batches *batches, const void *params);
    /* Writes samples, which are contiguous, and their labels; it may change the index. -1 with the
     * error set. */
    int (*take)(mxl_batches *batches, const int64_t *places, int64_t count, void *data,
                void *label);
    /* NULL, or, in place of take: makes the arrays, which may be sparse, of batch_size samples. -1
     * with the error set, and nothing is made. */
    int (*make)(mxl_batches *batches, const int64_t *places, mxl_array **data, mxl_array **label);
    void (*close)(mxl_batches *batches); /* frees the source */
} mxl_batches_kind;

struct mxl_batches {
    mxl_ref ref;
    const mxl_batches_kind *kind;
    void *source;                /* what the kind reads from */
    int64_t batch_size;          /* at least 1 */
    int64_t count;               /* samples of an epoch */
    int data_dtype, label_dtype; /* of the arrays */
    mxl_shape data_shape;        /* of one sample */
    mxl_shape label_shape;       /* of its label */
    bool round_batch;            /* a last batch is filled from the next epoch */
    bool shuffle;                /* each epoch has an order of its own */
    bool numbered;               /* the index of a batch is the numbers of its samples, not 0 */
    uint64_t seed;               /* of the orders */
    /* The second part: what the functions below keep. */
    mxl_mutex lock;
    uint32_t orders; /* how many orders have been made */
    int64_t *order;  /* of `room` samples; NULL: their own */
    int64_t room;
    int64_t at;       /* the place in the order where the next batch begins */
    int64_t overflow; /* samples of the next epoch that the last batch took */
    int64_t *places;  /* the samples of the present batch; -1: zeros */
    uint64_t *index;
    mxl_array *data, *label; /* kept; NULL: there is no present batch */
    int64_t pad;             /* samples at its end that only fill it */
};

/* The kinds, in the order in which 1.9.1 lists them. */
extern const mxl_batches_kind *const mxl_batches_kinds[];
#ifndef MXL_WITHOUT_IMAGES
enum { MXL_BATCHES_KINDS = 9 };
#else
enum { MXL_BATCHES_KINDS = 3 };
#endif

/* An iterator before its first batch. Parameters of unknown names are ignored. New; NULL with the
 * error set. */
mxl_batches *mxl_batches_open(const mxl_batches_kind *kind, int count, const char *const *keys,
                              const char *const *values);

/* Goes to the next batch; *any is false at the end. -1 with the error set: without memory the next
 * call tries again; a batch that cannot be read is left out. */
int mxl_batches_next(mxl_batches *batches, bool *any);

/* Begins another epoch, behind the samples that a full last batch took from it. */
void mxl_batches_restart(mxl_batches *batches);

/* The present batch. Arrays are new, and share the memory of the batch; the index is lent until the
 * next batch. -1 or NULL with the error set if there is no present batch. */
mxl_array *mxl_batches_data(mxl_batches *batches);
mxl_array *mxl_batches_label(mxl_batches *batches);
int mxl_batches_pad(mxl_batches *batches, int64_t *pad);
int mxl_batches_index(mxl_batches *batches, uint64_t **index);

/* For a kind's open: puts the samples in a random order. */
int mxl_batches_reorder(mxl_batches *batches);

/* For a kind's open: the samples [*begin, *end) of part `index` of `parts`. -1 with the error set.
 */
int mxl_batches_part(int64_t index, int64_t parts, int64_t count, int64_t *begin, int64_t *end);

/* ---- parameters that all kinds have ---- */

typedef struct mxl_batch_params {
    int64_t batch_size, prefetch_buffer;
    int ctx, dtype;
} mxl_batch_params;

extern const char *const mxl_batch_contexts[], *const mxl_batch_dtypes[];

/* Rows of the table of a struct whose first field is `batch`; the first row comes before the others
 * in some kinds. */
#define MXL_BATCH_SIZE(params)                                                                     \
    {.name = "batch_size",                                                                         \
     .type = MXL_P_INT,                                                                            \
     .offset = offsetof(params, batch) + offsetof(mxl_batch_params, batch_size),                   \
     .doc = "How many samples a batch has.",                                                       \
     .type_name = "int (non-negative)",                                                            \
     .min = 1,                                                                                     \
     .has_min = true}
#define MXL_BATCH_REST(params)                                                                     \
    {.name = "prefetch_buffer",                                                                    \
     .type = MXL_P_INT,                                                                            \
     .offset = offsetof(params, batch) + offsetof(mxl_batch_params, prefetch_buffer),              \
     .def = "4",                                                                                   \
     .doc = "Ignored: a batch is made when it is asked for.",                                      \
     .type_name = "long (non-negative)",                                                           \
     .has_min = true},                                                                             \
        {.name = "ctx",                                                                            \
         .type = MXL_P_ENUM,                                                                       \
         .offset = offsetof(params, batch) + offsetof(mxl_batch_params, ctx),                      \
         .def = "gpu",                                                                             \
         .doc = "Ignored: batches are in the CPU's memory.",                                       \
         .values = mxl_batch_contexts},                                                            \
    {                                                                                              \
        .name = "dtype", .type = MXL_P_DTYPE,                                                      \
        .offset = offsetof(params, batch) + offsetof(mxl_batch_params, dtype), .def = "None",      \
        .doc = "dtype of the data; None: the iterator's own.", .values = mxl_batch_dtypes          \
    }

#endif
