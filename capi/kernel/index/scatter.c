/* Reading, writing and adding by index, see scatter.h: one loop over rows of indices for all three.
 */
#include "kernel/index/scatter.h"

#include <stdbool.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/shape.h"

/* The offsets of a row of indices along their last axis, and the steps to the next element. */
typedef struct cursor {
    int64_t row, rows, n;
    int64_t array, source;       /* offsets of the row */
    int64_t step, along, across; /* between elements of the row: source, index, array */
    int64_t at[MXL_MAX_NDIM];
} cursor;

static cursor first_row(const mxl_scatter *at)
{
    int last = at->ndim - 1;

    return (cursor){.rows = mxl_shape_size(last, at->shape),
                    .n = at->shape[last],
                    .step = at->source_strides[last],
                    .along = at->strides[at->axis],
                    .across = at->axis == last ? 0 : at->strides[last]};
}

static void next_row(const mxl_scatter *at, cursor *c)
{
    c->row++;
    for (int i = at->ndim - 2; i >= 0; i--) {
        int64_t stride = i == at->axis ? 0 : at->strides[i];

        c->array += stride;
        c->source += at->source_strides[i];
        if (++c->at[i] < at->shape[i])
            return;
        c->array -= stride * at->shape[i];
        c->source -= at->source_strides[i] * at->shape[i];
        c->at[i] = 0;
    }
}

/* Runs `statement` for each index; a[far] is the array's element, s[near] the source's. */
#define EACH_INDEX(A, S, statement)                                                                \
    for (cursor c = first_row(at); c.row < c.rows; next_row(at, &c)) {                             \
        const int64_t *index = at->index + c.row * c.n;                                            \
        A *a = (A *)array + c.array;                                                               \
        S *s = (S *)source + c.source;                                                             \
                                                                                                   \
        for (int64_t j = 0; j < c.n; j++) {                                                        \
            const int64_t far = index[j] * c.along + j * c.across, near = j * c.step;              \
                                                                                                   \
            statement;                                                                             \
        }                                                                                          \
    }

#define MOVES(T, bits)                                                                             \
    static void read_##bits(const mxl_scatter *at, const void *array, void *source)                \
    {                                                                                              \
        EACH_INDEX(const T, T, s[near] = a[far])                                                   \
    }                                                                                              \
                                                                                                   \
    static void write_##bits(const mxl_scatter *at, void *array, const void *source)               \
    {                                                                                              \
        EACH_INDEX(T, const T, a[far] = s[near])                                                   \
    }

MOVES(uint8_t, 8)
MOVES(uint16_t, 16)
MOVES(uint32_t, 32)
MOVES(uint64_t, 64)

void mxl_scatter_read(size_t width, const mxl_scatter *at, const void *array, void *source)
{
    if (width == 4)
        read_32(at, array, source);
    else if (width == 8)
        read_64(at, array, source);
    else if (width == 2)
        read_16(at, array, source);
    else
        read_8(at, array, source);
}

void mxl_scatter_write(size_t width, const mxl_scatter *at, void *array, const void *source)
{
    if (width == 4)
        write_32(at, array, source);
    else if (width == 8)
        write_64(at, array, source);
    else if (width == 2)
        write_16(at, array, source);
    else
        write_8(at, array, source);
}

#define SUMS(name, T, sum)                                                                         \
    static void sum_##name(const mxl_scatter *at, void *array, const void *source)                 \
    {                                                                                              \
        EACH_INDEX(T, const T, a[far] = (T)(sum))                                                  \
    }

SUMS(f32, float, a[far] + s[near])
SUMS(f64, double, a[far] + s[near])
SUMS(f16, mxl_half, mxl_half_from_float(mxl_half_to_float(a[far]) + mxl_half_to_float(s[near])))
SUMS(bool, uint8_t, a[far] | s[near])
SUMS(8, uint8_t, a[far] + s[near])
SUMS(32, uint32_t, a[far] + s[near])
SUMS(64, uint64_t, a[far] + s[near])

void mxl_scatter_sum(int dtype, const mxl_scatter *at, void *array, const void *source)
{
    static void (*const sums[MXL_DTYPE_COUNT])(const mxl_scatter *, void *, const void *) = {
        [MXL_F32] = sum_f32, [MXL_F64] = sum_f64, [MXL_F16] = sum_f16, [MXL_U8] = sum_8,
        [MXL_I8] = sum_8,    [MXL_I32] = sum_32,  [MXL_I64] = sum_64,  [MXL_BOOL] = sum_bool,
    };

    sums[dtype](at, array, source);
}
