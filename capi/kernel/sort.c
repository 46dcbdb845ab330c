/* Sorting rows. Elements become unsigned keys whose order is the one asked for, so that four widths
 * serve all dtypes and both directions; keys are sorted alone or with their positions. */
#include "kernel/sort.h"

#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kernel/cast.h"

enum {
    RUN = 16,          /* entries that are sorted by insertion */
    RADIX_FROM = 64,   /* from here on counting bytes is faster than comparing */
    SELECT_BELOW = 16, /* k below a 16th of the row: a heap of k is faster than sorting the row */
    CHUNK = 256,       /* elements between their form and that of keys */
    GRAIN = 16384      /* elements worth another thread */
};

/* A row of the input, and where its results go; positions are in elements. */
typedef struct row_of {
    int dtype;
    bool descending;
    int64_t n, step;
    const char *in;
    int64_t in_begin, out_begin;
} row_of;

/* ---- keys ---- */

static inline uint64_t plain_key(uint64_t bits, uint64_t sign, uint64_t infinity, bool same_zeros)
{
    (void)sign, (void)infinity, (void)same_zeros;
    return bits;
}

static inline uint64_t signed_key(uint64_t bits, uint64_t sign, uint64_t infinity, bool same_zeros)
{
    (void)infinity, (void)same_zeros;
    return bits ^ sign;
}

/* Numbers below 0 in reverse, those above behind them, NaN at the end. */
static inline uint64_t float_key(uint64_t bits, uint64_t sign, uint64_t infinity, bool same_zeros)
{
    if (same_zeros && bits == sign)
        bits = 0;
    if ((bits & ~sign) > infinity)
        return sign | (sign - 1);
    return (bits & sign) != 0 ? ~bits & (sign | (sign - 1)) : bits | sign;
}

static inline uint64_t plain_bits(uint64_t key, uint64_t sign)
{
    (void)sign;
    return key;
}

static inline uint64_t signed_bits(uint64_t key, uint64_t sign)
{
    return key ^ sign;
}

static inline uint64_t float_bits(uint64_t key, uint64_t sign)
{
    return (key & sign) != 0 ? key ^ sign : ~key & (sign | (sign - 1));
}

/* Keys of n elements, `step` apart, and elements of keys. */
#define KEYS(D, T, kind, sign, infinity)                                                           \
    static void keys_##D(const void *in, int64_t step, int64_t n, uint64_t down, bool same_zeros,  \
                         uint64_t *keys)                                                           \
    {                                                                                              \
        const T *x = in;                                                                           \
                                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            keys[i] = (T)(kind##_key(x[i * step], sign, infinity, same_zeros) ^ down);             \
    }                                                                                              \
                                                                                                   \
    static void bits_##D(const uint64_t *keys, int64_t step, int64_t n, uint64_t down, void *out)  \
    {                                                                                              \
        T *x = out;                                                                                \
                                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            x[i * step] = (T)kind##_bits((T)(keys[i] ^ down), sign);                               \
    }

KEYS(u8, uint8_t, plain, 0, 0)
KEYS(i8, uint8_t, signed, 0x80, 0)
KEYS(i32, uint32_t, signed, 0x80000000, 0)
KEYS(i64, uint64_t, signed, UINT64_C(1) << 63, 0)
KEYS(f16, uint16_t, float, 0x8000, 0x7C00)
KEYS(f32, uint32_t, float, 0x80000000, 0x7F800000)
KEYS(f64, uint64_t, float, UINT64_C(1) << 63, UINT64_C(0x7FF) << 52)

static const struct {
    void (*keys)(const void *in, int64_t step, int64_t n, uint64_t down, bool same_zeros,
                 uint64_t *keys);
    void (*bits)(const uint64_t *keys, int64_t step, int64_t n, uint64_t down, void *out);
} forms[MXL_DTYPE_COUNT] = {
    [MXL_F32] = {keys_f32, bits_f32}, [MXL_F64] = {keys_f64, bits_f64},
    [MXL_F16] = {keys_f16, bits_f16}, [MXL_U8] = {keys_u8, bits_u8},
    [MXL_I32] = {keys_i32, bits_i32}, [MXL_I8] = {keys_i8, bits_i8},
    [MXL_I64] = {keys_i64, bits_i64}, [MXL_BOOL] = {keys_u8, bits_u8},
};

/* Whether a heap of the k first is made, else the whole row is sorted. */
static bool selects(const mxl_sort_job *job)
{
    return job->k < job->n / SELECT_BELOW;
}

/* Entries that a row has room for, twice. */
static int64_t entries(const mxl_sort_job *job)
{
    return selects(job) ? job->k : job->n;
}

static const char *element(const row_of *row, int64_t i)
{
    return row->in + (row->in_begin + i * row->step) * (int64_t)mxl_dtype_size(row->dtype);
}

/* The keys of elements i, i + 1, ... of a row, at most CHUNK; returns how many. */
static int64_t read_keys(const row_of *row, int64_t i, bool same_zeros, uint64_t *keys)
{
    int64_t count = row->n - i < CHUNK ? row->n - i : CHUNK;

    forms[row->dtype].keys(element(row, i), row->step, count, row->descending ? UINT64_MAX : 0,
                           same_zeros, keys);
    return count;
}

/* ---- writing what was found ---- */

#define MOVE(T)                                                                                    \
    for (int64_t c = 0; c < count; c++)                                                            \
    ((T *)to)[c * to_step] = ((const T *)from)[at == NULL ? c : at[c] * from_step]

/* to[c] = from[c], or from[at[c]], for elements of `width` bytes. */
static void move(int64_t width, int64_t count, void *to, int64_t to_step, const void *from,
                 int64_t from_step, const int64_t *at)
{
    switch (width) {
    case 1:
        MOVE(uint8_t);
        break;
    case 2:
        MOVE(uint16_t);
        break;
    case 4:
        MOVE(uint32_t);
        break;
    default:
        MOVE(uint64_t);
    }
}

/* Results i, i + 1, ... of a row are the elements at these positions. */
static void write_found(const mxl_sort_job *job, const row_of *row, int64_t i, int64_t count,
                        const int64_t *positions)
{
    int64_t width = (int64_t)mxl_dtype_size(job->dtype), to = row->out_begin + i * row->step;

    if (job->values != NULL)
        move(width, count, (char *)job->values + to * width, row->step, element(row, 0), row->step,
             positions);
    if (job->positions != NULL) {
        int64_t bytes = (int64_t)mxl_dtype_size(job->position_dtype), cast[CHUNK], one = 1;
        const void *in = positions;

        mxl_cast_row(MXL_I64, job->position_dtype)(cast, &in, &one, count, NULL);
        move(bytes, count, (char *)job->positions + to * bytes, row->step, cast, 1, NULL);
    }
    if (job->mask != NULL) {
        int64_t one = 0;

        mxl_cast_scalar(1, job->dtype, &one);
        for (int64_t c = 0; c < count; c++)
            memcpy((char *)job->mask + (row->in_begin + positions[c] * row->step) * width, &one,
                   (size_t)width);
    }
}

/* ---- keys alone ---- */

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint8_t
#define E          uint8_t
#define NAME(x)    v8_##x
#include "kernel/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint16_t
#define E          uint16_t
#define NAME(x)    v16_##x
#include "kernel/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint32_t
#define E          uint32_t
#define NAME(x)    v32_##x
#include "kernel/sort.tmpl.h"

#define LESS(a, b) ((a) < (b))
#define KEY(e)     (e)
#define K          uint64_t
#define E          uint64_t
#define NAME(x)    v64_##x
#include "kernel/sort.tmpl.h"

#define VALUES(w)                                                                                  \
    static void v##w##_row(const mxl_sort_job *job, const row_of *row, void *room)                 \
    {                                                                                              \
        uint##w##_t *a = room, *b = a + row->n;                                                    \
        uint64_t keys[CHUNK];                                                                      \
                                                                                                   \
        for (int64_t i = 0; i < row->n; i += CHUNK) {                                              \
            int64_t count = read_keys(row, i, false, keys);                                        \
                                                                                                   \
            for (int64_t c = 0; c < count; c++)                                                    \
                a[i + c] = (uint##w##_t)keys[c];                                                   \
        }                                                                                          \
        v##w##_sort(a, b, row->n);                                                                 \
        for (int64_t i = 0; i < job->k; i += CHUNK) {                                              \
            int64_t count = job->k - i < CHUNK ? job->k - i : CHUNK;                               \
                                                                                                   \
            for (int64_t c = 0; c < count; c++)                                                    \
                keys[c] = a[i + c];                                                                \
            forms[row->dtype].bits(keys, row->step, count, row->descending ? UINT64_MAX : 0,       \
                                   (char *)job->values +                                           \
                                       (row->out_begin + i * row->step) * (w / 8));                \
        }                                                                                          \
    }

VALUES(8)
VALUES(16)
VALUES(32)
VALUES(64)

/* ---- keys with positions: in one number where both fit ---- */

#define LESS(a, b) ((a) < (b))
#define KEY(e)     ((uint32_t)((e) >> 32))
#define K          uint32_t
#define E          uint64_t
#define NAME(x)    packed_##x
#include "kernel/sort.tmpl.h"

#define LESS(a, b)           ((a) < (b))
#define E                    uint64_t
#define ENTRY(key, position) ((key) << 32 | (uint64_t)(position))
#define POSITION(e)          ((uint32_t)(e))
#define NAME(x)              packed_##x
#include "kernel/sort_entry.tmpl.h"

typedef struct pair {
    uint64_t key, position;
} pair;

#define LESS(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).position < (b).position))
#define KEY(e)     ((e).key)
#define K          uint64_t
#define E          pair
#define NAME(x)    pair_##x
#include "kernel/sort.tmpl.h"

#define LESS(a, b)  ((a).key < (b).key || ((a).key == (b).key && (a).position < (b).position))
#define E           pair
#define ENTRY(k, p) ((pair){(k), (uint64_t)(p)})
#define POSITION(e) ((e).position)
#define NAME(x)     pair_##x
#include "kernel/sort_entry.tmpl.h"

/* ---- rows ---- */

typedef struct share_job {
    const mxl_sort_job *sort;
    void (*row)(const mxl_sort_job *job, const row_of *row, void *room);
    int64_t shares;
    int64_t bytes; /* of room, for each share */
    char *room;
} share_job;

/* A unit is a share: neighbouring rows, with room of its own. */
static void run_shares(void *data, int64_t begin, int64_t end)
{
    const share_job *shared = data;
    const mxl_sort_job *job = shared->sort;
    int64_t rows = job->outer * job->inner;
    row_of row = {job->dtype, job->descending, job->n, job->inner, job->in, 0, 0};

    for (int64_t s = begin; s < end; s++) {
        int64_t each = rows / shared->shares, more = rows % shared->shares;
        int64_t first = s * each + (s < more ? s : more), last = first + each + (s < more);

        for (int64_t r = first; r < last; r++) {
            int64_t o = r / job->inner, i = r % job->inner;

            row.in_begin = o * job->n * job->inner + i;
            row.out_begin = o * job->k * job->inner + i;
            shared->row(job, &row, shared->room + s * shared->bytes);
        }
    }
}

/* How a row is done, and the bytes of an entry. */
static int64_t choose(const mxl_sort_job *job, share_job *shared)
{
    int64_t width = (int64_t)mxl_dtype_size(job->dtype);

    if (job->positions != NULL || job->mask != NULL || selects(job)) {
        bool packed = width <= 4 && job->n <= UINT32_MAX;

        shared->row = packed ? packed_row : pair_row;
        return packed ? sizeof(uint64_t) : sizeof(pair);
    }
    shared->row = width == 1 ? v8_row : width == 2 ? v16_row : width == 4 ? v32_row : v64_row;
    return width;
}

int mxl_sort(const mxl_sort_job *job)
{
    share_job shared = {.sort = job};
    int64_t rows = job->outer * job->inner, size = rows * job->n, entry = choose(job, &shared);

    if (size == 0)
        return 0;
    if (job->mask != NULL)
        memset(job->mask, 0, (size_t)size * mxl_dtype_size(job->dtype));
    if (job->k == 0)
        return 0;
    shared.shares = size / GRAIN + 1;
    if (shared.shares > mxl_thread_count())
        shared.shares = mxl_thread_count();
    if (shared.shares > rows)
        shared.shares = rows;
    shared.bytes = (2 * entries(job) * entry + 63) / 64 * 64;
    shared.room = mxl_alloc((size_t)(shared.shares * shared.bytes));
    if (shared.room == NULL)
        return -1;
    mxl_parallel_for(shared.shares, 1, run_shares, &shared);
    mxl_free(shared.room, (size_t)(shared.shares * shared.bytes));
    return 0;
}

/* ---- moving by positions ---- */

#define ALONG(T, to, from)                                                                         \
    for (int64_t o = 0; o < outer; o++) {                                                          \
        for (int64_t r = 0; r < count * inner; r++) {                                              \
            int64_t all = o * extent * inner + positions[o * count * inner + r] * inner;           \
            int64_t far = all + r % inner, near = o * count * inner + r;                           \
                                                                                                   \
            ((T *)out)[to] = ((const T *)in)[from];                                                \
        }                                                                                          \
    }

#define ALONG_WIDTHS(to, from)                                                                     \
    switch (width) {                                                                               \
    case 1:                                                                                        \
        ALONG(uint8_t, to, from)                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        ALONG(uint16_t, to, from)                                                                  \
        break;                                                                                     \
    case 4:                                                                                        \
        ALONG(uint32_t, to, from)                                                                  \
        break;                                                                                     \
    default:                                                                                       \
        ALONG(uint64_t, to, from)                                                                  \
    }

void mxl_take_along(int64_t width, int64_t outer, int64_t extent, int64_t count, int64_t inner,
                    const void *in, const int64_t *positions, void *out)
{
    ALONG_WIDTHS(near, far)
}

void mxl_put_along(int64_t width, int64_t outer, int64_t extent, int64_t count, int64_t inner,
                   const void *in, const int64_t *positions, void *out)
{
    memset(out, 0, (size_t)(outer * extent * inner * width));
    ALONG_WIDTHS(far, near)
}
