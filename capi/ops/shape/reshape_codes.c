/* The codes of Reshape's shape: sizes, and negative numbers that refer to sizes of the input. */
#include "ops/shape/reshape_codes.h"

#include <string.h>

#include "base/error.h"

/* The state of the translation: the input's sizes, the codes, and the result so far. */
typedef struct reading {
    int count;
    const int64_t *codes;
    bool reverse; /* read from the last code to the first */
    int ndim, at; /* of the input: its dimensions, the next one to be used */
    int64_t dim[MXL_MAX_NDIM];
    int infer; /* the result's dimension with code -1, or -1 */
    mxl_shape *out;
} reading;

static int64_t code_at(const reading *r, int i)
{
    return r->codes[r->reverse ? r->count - 1 - i : i];
}

static int add_axis(reading *r, int64_t extent)
{
    if (r->out->ndim == MXL_MAX_NDIM)
        return mxl_error("reshape: more than %d axes", MXL_MAX_NDIM);
    r->out->dim[r->out->ndim++] = extent;
    return 0;
}

static int take_axis(reading *r, int64_t code, int64_t *extent)
{
    if (r->at >= r->ndim)
        return mxl_error("reshape: code %lld has no axis left: the array has %d", (long long)code,
                         r->ndim);
    *extent = r->dim[r->at++];
    return 0;
}

/* Code -4 with the two numbers that follow it. */
static int split_axis(reading *r, int64_t first, int64_t second)
{
    int64_t whole = 0, product;

    if (take_axis(r, -4, &whole) != 0)
        return -1;
    if (first == -1 && second > 0)
        first = whole / second;
    else if (second == -1 && first > 0)
        second = whole / first;
    if (whole < 0)
        return add_axis(r, first) != 0 ? -1 : add_axis(r, second);
    if (first < 0 || second < 0 || __builtin_mul_overflow(first, second, &product) ||
        product != whole)
        return mxl_error("reshape: code -4 cannot split an extent of %lld into %lld and %lld",
                         (long long)whole, (long long)first, (long long)second);
    return add_axis(r, first) != 0 ? -1 : add_axis(r, second);
}

static int read_code(reading *r, int64_t code)
{
    int64_t extent = code, other = 0;

    switch (code) {
    case 0:
        return take_axis(r, code, &extent) != 0 ? -1 : add_axis(r, extent);
    case -1:
        if (r->infer >= 0)
            return mxl_error("reshape: more than one extent is -1");
        r->infer = r->out->ndim;
        r->at++;
        return add_axis(r, 1);
    case -2:
        while (r->at < r->ndim) {
            if (add_axis(r, r->dim[r->at++]) != 0)
                return -1;
        }
        return 0;
    case -3:
        if (take_axis(r, code, &extent) != 0 || take_axis(r, code, &other) != 0)
            return -1;
        if (mxl_shape_check(2, (int64_t[]){extent, other}) != 0)
            return mxl_error("reshape: code -3 makes an extent that is too large");
        return add_axis(r, mxl_shape_size(2, (int64_t[]){extent, other}));
    default:
        if (code < 0)
            return mxl_error(
                "reshape: extent %lld; an extent is a number above 0, or a code 0 to -4",
                (long long)code);
        r->at++;
        return add_axis(r, code);
    }
}

static void reverse_list(int n, int64_t *list)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t other = list[n - 1 - i];

        list[n - 1 - i] = list[i];
        list[i] = other;
    }
}

/* Computes the size of the dimension with code -1 and compares the numbers of elements. */
static int finish_codes(reading *r, int64_t size, int ndim, const int64_t *dim)
{
    int64_t others = mxl_shape_size(r->out->ndim, r->out->dim);

    if (mxl_shape_check(r->out->ndim, r->out->dim) != 0)
        return mxl_error_prefix("reshape");
    if (size < 0) {
        if (r->infer >= 0)
            r->out->dim[r->infer] = MXL_UNKNOWN_SIZE;
        return 0;
    }
    if (r->infer >= 0) {
        r->out->dim[r->infer] = others == 0 ? 0 : size / others;
        others *= r->out->dim[r->infer];
    }
    if (others == size)
        return 0;
    if (r->infer >= 0)
        r->out->dim[r->infer] = -1;
    /* 1.9.1's Python has these two classes. */
    return mxl_error("%sreshape: an array of shape %s cannot have the shape %s",
                     others < size ? "ValueError: " : "", MXL_SHAPE_TEXT(ndim, dim),
                     MXL_SHAPE_TEXT(r->out->ndim, r->out->dim));
}

int mxl_reshape_codes(mxl_shape *out, int ndim, const int64_t *dim, int count, const int64_t *codes,
                      bool reverse)
{
    reading r = {
        .count = count, .codes = codes, .reverse = reverse, .ndim = ndim, .infer = -1, .out = out};

    out->ndim = 0;
    memcpy(r.dim, dim, (size_t)ndim * sizeof(*dim));
    if (reverse)
        reverse_list(ndim, r.dim);
    for (int i = 0; i < count; i++) {
        if (code_at(&r, i) == -4 && i + 2 >= count)
            return mxl_error("reshape: code -4 is followed by the two extents to split into");
        if (code_at(&r, i) == -4) {
            if (split_axis(&r, code_at(&r, i + 1), code_at(&r, i + 2)) != 0)
                return -1;
            i += 2;
        } else if (read_code(&r, code_at(&r, i)) != 0) {
            return -1;
        }
    }
    if (reverse) {
        reverse_list(out->ndim, out->dim);
        r.infer = r.infer < 0 ? -1 : out->ndim - 1 - r.infer;
    }
    return finish_codes(&r, mxl_shape_size(ndim, dim), ndim, dim);
}
