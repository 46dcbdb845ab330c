/* `_imdecode`, the function of MXListFunctions that no operator does: decodes an image, cuts a part
 * out, and writes its channels B, G, R less their means. Called by functions.c. */
#include "api/common.h"

#include <stdio.h>
#include <string.h>

#include "api/legacy/imdecode.h"

enum { INDEX, LEFT, TOP, RIGHT, BOTTOM, CHANNELS, SIZE, STEPS = 8 };

/* Results of steps, of which each is the input of the next. */
typedef struct steps {
    NDArrayHandle made[STEPS];
    int count;
} steps;

static NDArrayHandle last(const steps *s)
{
    return s->made[s->count - 1];
}

/* Runs an operator on arrays; its result is the last step. */
static int run(steps *s, const char *name, int inputs, NDArrayHandle *in, int params,
               const char **keys, const char **values)
{
    NDArrayHandle *out = NULL;
    OpHandle op = NULL;
    int outputs = 0;

    if (NNGetOpHandle(name, &op) != 0 ||
        MXImperativeInvoke(op, inputs, in, &outputs, &out, params, keys, values) != 0)
        return -1;
    s->made[s->count++] = out[0];
    return 0;
}

static int run_one(steps *s, const char *name, const char *key, const char *value)
{
    NDArrayHandle in = last(s);

    return run(s, name, 1, &in, 1, &key, &value);
}

/* The numbers are integers within their bounds, 1 or 3 channels. */
static int check(const float *scalars)
{
    for (int i = 0; i < API_IMDECODE_SCALARS; i++)
        if (!(scalars[i] >= 0 && scalars[i] <= 1 << 30 && scalars[i] == (float)(int)scalars[i]))
            return mxl_error("number %d must be 0 to 2^30, got %g", i, (double)scalars[i]);
    if (scalars[CHANNELS] != 1 && scalars[CHANNELS] != 3)
        return mxl_error("there are 1 or 3 channels, got %g", (double)scalars[CHANNELS]);
    return 0;
}

/* The bytes as an array, then the pixels. */
static int decode(steps *s, const float *scalars, const char *bytes)
{
    const char *keys[] = {"flag", "to_rgb"}, *values[] = {scalars[CHANNELS] == 1 ? "0" : "1", "0"};
    uint32_t size = (uint32_t)scalars[SIZE];
    NDArrayHandle in;

    if (MXNDArrayCreateEx(&size, 1, 1, 0, 0, MXL_U8, &s->made[0]) != 0)
        return -1;
    s->count = 1;
    in = last(s);
    return MXNDArraySyncCopyFromCPU(in, bytes, size) != 0
               ? -1
               : run(s, "_cvimdecode", 1, &in, 2, keys, values);
}

/* Cuts out the part; without a right side the whole image stays. */
static int cut(steps *s, const float *scalars)
{
    const char *keys[] = {"begin", "end"}, *values[2];
    char begin[48], end[48];
    NDArrayHandle in = last(s);
    int64_t shape[3];
    int dtype;

    if (scalars[RIGHT] <= 0)
        return 0;
    if (MXLNDArrayGetInfo(in, 3, shape, &dtype) < 0)
        return -1;
    if (scalars[LEFT] >= scalars[RIGHT] || scalars[TOP] >= scalars[BOTTOM] ||
        scalars[RIGHT] > (float)shape[1] || scalars[BOTTOM] > (float)shape[0])
        return mxl_error("the part from (%g,%g) to (%g,%g) is none of an image of %lld x %lld",
                         (double)scalars[LEFT], (double)scalars[TOP], (double)scalars[RIGHT],
                         (double)scalars[BOTTOM], (long long)shape[1], (long long)shape[0]);
    (void)snprintf(begin, sizeof(begin), "(%d,%d)", (int)scalars[TOP], (int)scalars[LEFT]);
    (void)snprintf(end, sizeof(end), "(%d,%d)", (int)scalars[BOTTOM], (int)scalars[RIGHT]);
    values[0] = begin;
    values[1] = end;
    return run(s, "slice", 1, &in, 2, keys, values);
}

/* As numbers of the mean's dtype, less the mean; without one, float32. */
static int subtract(steps *s, NDArrayHandle mean)
{
    int64_t shape[MXL_MAX_NDIM], own[3];
    int dtype = MXL_F32, ignored;
    int ndim = MXLNDArrayGetInfo(mean, MXL_MAX_NDIM, shape, &dtype);
    NDArrayHandle in[2];

    if (ndim < -1 || run_one(s, "transpose", "axes", "(2,0,1)") != 0 ||
        run_one(s, "Cast", "dtype", mxl_dtype_name(ndim > 0 ? dtype : MXL_F32)) != 0)
        return -1;
    if (ndim <= 0)
        return 0;
    in[0] = last(s);
    in[1] = mean;
    if (MXLNDArrayGetInfo(in[0], 3, own, &ignored) < 0)
        return -1;
    if (ndim != 3 || memcmp(own, shape, sizeof(own)) != 0)
        return mxl_error("the mean has the shape %s, the image %s", MXL_SHAPE_TEXT(ndim, shape),
                         MXL_SHAPE_TEXT(3, own));
    return run(s, "elemwise_sub", 2, in, 0, NULL, NULL);
}

/* Writes to an array: an image of a batch, by its number, or the image itself. */
static int deliver(steps *s, const float *scalars, NDArrayHandle out)
{
    int64_t shape[MXL_MAX_NDIM];
    NDArrayHandle in, *outs = &out;
    OpHandle copy = NULL;
    int dtype, count = 1, ndim = MXLNDArrayGetInfo(out, MXL_MAX_NDIM, shape, &dtype);

    if (ndim < -1 || NNGetOpHandle(ndim < 0 ? "_copy" : "_copyto", &copy) != 0)
        return -1;
    if (ndim == 4) {
        uint32_t index = (uint32_t)scalars[INDEX];

        if (index >= shape[0])
            return mxl_error("there is no image %u in an array of %lld", index,
                             (long long)shape[0]);
        if (run_one(s, "expand_dims", "axis", "0") != 0 ||
            MXNDArraySlice(out, index, index + 1, &s->made[s->count]) != 0)
            return -1;
        s->count++;
        in = s->made[s->count - 2];
        outs = &s->made[s->count - 1];
    } else {
        in = last(s);
    }
    return MXImperativeInvoke(copy, 1, &in, &count, &outs, 0, NULL, NULL);
}

int api_imdecode(NDArrayHandle mean, const float *scalars, const char *bytes, NDArrayHandle out)
{
    steps s = {.count = 0};
    int status = -1;

    if (check(scalars) == 0 && decode(&s, scalars, bytes) == 0 && cut(&s, scalars) == 0 &&
        subtract(&s, mean) == 0)
        status = deliver(&s, scalars, out);
    for (int i = 0; i < s.count; i++)
        (void)MXNDArrayFree(s.made[i]);
    return status;
}
