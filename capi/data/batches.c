/* Which samples are in a batch, and its arrays; see data/batches.h. */
#include "data/batches.h"

#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/random/rng.h"
#include "base/system/threads.h"

const char *const mxl_batch_contexts[] = {"cpu", "gpu", NULL};
const char *const mxl_batch_dtypes[] = {"None",  "bfloat16", "float16", "float32", "float64",
                                        "int32", "int64",    "int8",    "uint8",   NULL};

/* ---- life ---- */

static void drop_batch(mxl_batches *b)
{
    mxl_array_release(b->data);
    mxl_array_release(b->label);
    b->data = b->label = NULL;
}

static void batches_free(mxl_ref *ref)
{
    mxl_batches *b = (mxl_batches *)ref;

    drop_batch(b);
    b->kind->close(b);
    mxl_free(b->order, (size_t)b->room * sizeof(*b->order));
    mxl_free(b->places, (size_t)b->batch_size * sizeof(*b->places));
    mxl_free(b->index, (size_t)b->batch_size * sizeof(*b->index));
    mxl_mutex_destroy(&b->lock);
    mxl_free(b, sizeof(*b));
}

/* What comes after the kind's open. */
static int prepare(mxl_batches *b)
{
    size_t bytes = (size_t)b->batch_size * sizeof(*b->places);

    if (b->batch_size > INT64_MAX / (int64_t)sizeof(*b->places))
        return mxl_error("batch_size %lld is too large", (long long)b->batch_size);
    b->places = mxl_alloc(bytes);
    b->index = mxl_alloc_zero(bytes);
    if (b->places == NULL || b->index == NULL)
        return -1;
    for (int64_t i = 0; i < b->batch_size; i++)
        b->places[i] = -1;
    return b->shuffle ? mxl_batches_reorder(b) : 0;
}

/* Calls the kind's open with the parameters; keys that it does not have are left out. */
static int open_kind(mxl_batches *b, int count, const char *const *keys, const char *const *values)
{
    const mxl_batches_kind *kind = b->kind;
    size_t room = (size_t)(count > 0 ? count : 1) * sizeof(char *);
    const char **known = mxl_alloc(2 * room), **given = known != NULL ? known + count : NULL;
    void *params = mxl_alloc_zero(kind->op.params_size);
    mxl_arena arena;
    int used = 0, status = -1;

    mxl_arena_init(&arena);
    if (known == NULL || params == NULL)
        goto done;
    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL) {
            mxl_error("parameter %d has no %s", i, keys[i] == NULL ? "name" : "value");
            goto done;
        }
        if (mxl_param_find(&kind->op, keys[i]) == NULL)
            continue;
        known[used] = keys[i];
        given[used++] = values[i];
    }
    if (mxl_params_parse(&kind->op, used, known, given, params, &arena) == 0)
        status = kind->open(b, params);
done:
    mxl_arena_clear(&arena);
    mxl_free(params, kind->op.params_size);
    mxl_free(known, 2 * room);
    return status;
}

mxl_batches *mxl_batches_open(const mxl_batches_kind *kind, int count, const char *const *keys,
                              const char *const *values)
{
    mxl_batches *b;

    if (mxl_op_check_refused(&kind->op) != 0)
        return NULL;
    b = mxl_alloc_zero(sizeof(*b));
    if (b == NULL)
        return NULL;
    mxl_ref_init(&b->ref, batches_free);
    mxl_mutex_init(&b->lock);
    b->kind = kind;
    if (open_kind(b, count, keys, values) == 0 && prepare(b) == 0)
        return b;
    mxl_error_put_before(kind->op.name);
    mxl_ref_release(&b->ref);
    return NULL;
}

/* ---- orders ---- */

/* Exchanges each sample with one before it, or itself. */
static void shuffle(mxl_batches *b)
{
    uint32_t key[2] = {(uint32_t)b->seed, (uint32_t)(b->seed >> 32)};

    for (int64_t i = b->room - 1; i > 0; i--) {
        uint32_t counter[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), b->orders, 0}, words[4];
        int64_t other, kept = b->order[i];

        mxl_philox(counter, key, words);
        other = (int64_t)(((uint64_t)words[0] << 32 | words[1]) % ((uint64_t)i + 1));
        b->order[i] = b->order[other];
        b->order[other] = kept;
    }
    b->orders++;
}

int mxl_batches_reorder(mxl_batches *b)
{
    if (b->order == NULL && b->count > 0) {
        b->order = mxl_alloc((size_t)b->count * sizeof(*b->order));
        if (b->order == NULL)
            return -1;
        b->room = b->count;
        for (int64_t i = 0; i < b->count; i++)
            b->order[i] = i;
    }
    shuffle(b);
    return 0;
}

int mxl_batches_part(int64_t index, int64_t parts, int64_t count, int64_t *begin, int64_t *end)
{
    if (parts < 1 || parts > INT32_MAX || index < 0 || index >= parts)
        return mxl_error("part_index %lld of num_parts %lld: 0 <= part_index < num_parts < 2^31",
                         (long long)index, (long long)parts);
    *begin = count / parts * index + count % parts * index / parts;
    *end = count / parts * (index + 1) + count % parts * (index + 1) / parts;
    return 0;
}

/* ---- batches ---- */

static mxl_array *batch_of(const mxl_batches *b, int dtype, const mxl_shape *sample)
{
    int64_t shape[MXL_MAX_NDIM + 1] = {b->batch_size};

    for (int i = 0; i < sample->ndim; i++)
        shape[i + 1] = sample->dim[i];
    return mxl_array_new(dtype, sample->ndim + 1, shape);
}

/* Writes the numbers of the next batch's samples: those up to the end of the order; then those of
 * the next epoch, or what the batch before had at these places. */
static void choose(mxl_batches *b)
{
    int64_t left = b->count - b->at, n = left < b->batch_size ? left : b->batch_size;

    for (int64_t i = 0; i < n; i++)
        b->places[i] = b->order != NULL ? b->order[b->at + i] : b->at + i;
    b->at += n;
    b->pad = b->batch_size - n;
    if (b->pad == 0 || !b->round_batch)
        return;
    if (b->shuffle)
        shuffle(b);
    b->overflow = b->pad;
    for (int64_t i = 0; i < b->pad; i++)
        b->places[n + i] = b->order != NULL ? b->order[i] : i;
}

static void number(mxl_batches *b, int64_t n)
{
    for (int64_t i = 0; i < b->batch_size; i++)
        b->index[i] = b->numbered && i < n ? (uint64_t)b->places[i] : 0;
}

/* Fills the arrays of the present batch. */
static int fill(mxl_batches *b)
{
    char *data = mxl_array_write(b->data), *label = mxl_array_write(b->label);
    int64_t n = 0;
    size_t skip;

    while (n < b->batch_size && b->places[n] >= 0)
        n++;
    number(b, n);
    if (b->kind->take(b, b->places, n, data, label) != 0)
        return -1;
    skip = (size_t)(b->data->size / b->batch_size * n) * mxl_dtype_size(b->data_dtype);
    memset(data + skip, 0, (size_t)b->data->size * mxl_dtype_size(b->data_dtype) - skip);
    skip = (size_t)(b->label->size / b->batch_size * n) * mxl_dtype_size(b->label_dtype);
    memset(label + skip, 0, (size_t)b->label->size * mxl_dtype_size(b->label_dtype) - skip);
    return 0;
}

/* Goes to the next batch of a kind that makes its arrays; they all have batch_size samples. */
static int make_next(mxl_batches *b)
{
    int64_t at = b->at, pad = b->pad, overflow = b->overflow;
    mxl_array *data = NULL, *label = NULL;

    choose(b);
    if (b->kind->make(b, b->places, &data, &label) != 0) {
        b->at = at;
        b->pad = pad;
        b->overflow = overflow;
        return mxl_error_prefix(b->kind->op.name);
    }
    number(b, b->batch_size);
    drop_batch(b);
    b->data = data;
    b->label = label;
    return 0;
}

static int next_batch(mxl_batches *b, bool *any)
{
    mxl_array *data = NULL, *label = NULL;

    *any = false;
    if (b->at >= b->count) {
        drop_batch(b);
        return 0;
    }
    if (b->round_batch && b->batch_size - (b->count - b->at) > b->count)
        return mxl_error("%s: batches of %lld samples cannot be filled from %lld samples",
                         b->kind->op.name, (long long)b->batch_size, (long long)b->count);
    if (b->kind->make != NULL) {
        *any = make_next(b) == 0;
        return *any ? 0 : -1;
    }
    data = batch_of(b, b->data_dtype, &b->data_shape);
    label = batch_of(b, b->label_dtype, &b->label_shape);
    if (data == NULL || label == NULL) {
        mxl_array_release(data);
        mxl_array_release(label);
        return -1;
    }
    drop_batch(b);
    b->data = data;
    b->label = label;
    choose(b);
    *any = fill(b) == 0;
    if (*any)
        return 0;
    drop_batch(b);
    return mxl_error_prefix(b->kind->op.name);
}

int mxl_batches_next(mxl_batches *b, bool *any)
{
    int status;

    mxl_mutex_lock(&b->lock);
    status = next_batch(b, any);
    mxl_mutex_unlock(&b->lock);
    return status;
}

void mxl_batches_restart(mxl_batches *b)
{
    mxl_mutex_lock(&b->lock);
    drop_batch(b);
    if (b->shuffle && b->overflow == 0)
        shuffle(b);
    b->at = b->overflow;
    b->overflow = 0;
    mxl_mutex_unlock(&b->lock);
}

/* ---- the present batch ---- */

static int no_batch(const mxl_batches *b)
{
    return mxl_error("%s: there is no batch: MXDataIterNext must have gone to one",
                     b->kind->op.name);
}

static mxl_array *alias(mxl_batches *b, mxl_array *const *array)
{
    mxl_array *made = NULL;

    mxl_mutex_lock(&b->lock);
    if (*array == NULL)
        (void)no_batch(b);
    else
        made = mxl_array_alias(*array);
    mxl_mutex_unlock(&b->lock);
    return made;
}

mxl_array *mxl_batches_data(mxl_batches *b)
{
    return alias(b, &b->data);
}

mxl_array *mxl_batches_label(mxl_batches *b)
{
    return alias(b, &b->label);
}

int mxl_batches_pad(mxl_batches *b, int64_t *pad)
{
    int status = 0;

    mxl_mutex_lock(&b->lock);
    if (b->data == NULL)
        status = no_batch(b);
    else
        *pad = b->pad;
    mxl_mutex_unlock(&b->lock);
    return status;
}

int mxl_batches_index(mxl_batches *b, uint64_t **index)
{
    int status = 0;

    mxl_mutex_lock(&b->lock);
    if (b->data == NULL)
        status = no_batch(b);
    else
        *index = b->index;
    mxl_mutex_unlock(&b->lock);
    return status;
}
