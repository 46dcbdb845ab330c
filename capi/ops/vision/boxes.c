/* Boxes beside boxes: their overlaps, their offsets from anchors and back, and the matching of two
 * sides by scores. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/thread.h"
#include "ops/vision/vision.h"

const char *const mxl_box_formats[] = {"center", "corner", NULL};

enum { MOST_INPUTS = 6, MOST_OUTPUTS = 3, GRAIN = 1024 };

/* ---- shared ---- */

int mxl_check_floats(const mxl_infer *infer)
{
    if (mxl_check_float(infer->op, infer->in[0]) != 0)
        return -1;
    for (int i = 1; i < infer->num_inputs; i++) {
        if (mxl_check_dtypes(infer->op, infer->in[0], infer->in[i]) != 0)
            return -1;
    }
    return 0;
}

int mxl_check_float32(const mxl_infer *infer)
{
    for (int i = 0; i < infer->num_inputs; i++) {
        if (infer->in[i]->dtype != MXL_F32)
            return mxl_error("%s: takes float32, got %s", infer->op->name,
                             mxl_dtype_name(infer->in[i]->dtype));
    }
    return 0;
}

int mxl_widen_half(const mxl_call *call, int (*compute)(const mxl_call *call))
{
    mxl_array *in[MOST_INPUTS] = {NULL}, *out[MOST_OUTPUTS] = {NULL};
    mxl_call wide = *call;
    int status = -1;

    if (call->in[0]->dtype != MXL_F16)
        return compute(call);
    wide.in = in;
    wide.out = out;
    for (int i = 0; i < call->num_inputs; i++) {
        in[i] = mxl_array_new(MXL_F32, call->in[i]->ndim, call->in[i]->shape);
        if (in[i] == NULL || mxl_array_copy_into(in[i], call->in[i]) != 0)
            goto done;
    }
    for (int i = 0; i < call->num_outputs; i++) {
        int dtype = call->out[i]->dtype == MXL_F16 ? MXL_F32 : call->out[i]->dtype;

        out[i] = mxl_array_new(dtype, call->out[i]->ndim, call->out[i]->shape);
        if (out[i] == NULL)
            goto done;
    }
    status = compute(&wide);
    for (int i = 0; status == 0 && i < call->num_outputs; i++)
        status = mxl_array_copy_into(call->out[i], out[i]);
done:
    for (int i = 0; i < call->num_inputs; i++)
        mxl_array_release(in[i]);
    for (int i = 0; i < call->num_outputs; i++)
        mxl_array_release(out[i]);
    return status;
}

static int iou_run(const mxl_call *call)
{
    const mxl_array *a = call->in[0], *b = call->in[1];

    return mxl_box_overlaps(a->dtype, (mxl_box_format) * (const int *)call->params, a->size / 4,
                            mxl_array_read(a), b->size / 4, mxl_array_read(b),
                            mxl_array_write(call->out[0]));
}

MXL_WIDENED(iou)

static const mxl_op op_iou = {
    .name = "_contrib_box_iou",
    .doc = "The overlap of each box of lhs with each box of rhs: the area that two boxes share, "
           "over the area that either covers; 0 if neither has an area. Its gradient is zero.",
    MXL_INPUTS(MXL_INPUT(lhs, "Boxes, (..., 4), of a floating dtype."),
               MXL_INPUT(rhs, "Boxes, (..., 4), of the same dtype.")),
    MXL_ONLY_PARAM(int, format, MXL_P_ENUM, "corner",
                   "Whether a box is its left, top, right and bottom, or its center, width and "
                   "height.",
                   .values = mxl_box_formats),
    MXL_SHAPES("lhs[*A,N,4] rhs[*B,M,4] -> [*A,N,*B,M]"),
    .dtypes = "F*>F",
    .compute = iou_compute,
    .grad = mxl_grad_zero,
};

/* ---- encode ---- */

enum { SAMPLES, MATCHES, ANCHORS, REFS, MEANS, STDS };

typedef struct encode_job {
    int64_t anchors, refs; /* of an image */
    const void *in[MOST_INPUTS];
    void *out, *mask;
} encode_job;

/* One anchor: the offset of its reference's center in sizes of the anchor, and the logarithms of
 * the ratios of their sizes, less the means, over the deviations. */
#define ENCODE(T, suffix, LOG)                                                                     \
    static void encode_one_##suffix(const T *a, const T *ref, const T *mean, const T *deviation,   \
                                    T *out)                                                        \
    {                                                                                              \
        for (int k = 0; k < 2; k++) {                                                              \
            T own = a[k + 2] - a[k], size = ref[k + 2] - ref[k];                                   \
            T from = a[k] + own / 2, to = ref[k] + size / 2;                                       \
                                                                                                   \
            out[k] = ((to - from) / own - mean[k]) / deviation[k];                                 \
            out[k + 2] = (LOG(size / own) - mean[k + 2]) / deviation[k + 2];                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void encode_range_##suffix(void *data, int64_t begin, int64_t end)                      \
    {                                                                                              \
        const encode_job *job = data;                                                              \
        const T *sample = job->in[SAMPLES], *match = job->in[MATCHES], *ref = job->in[REFS];       \
        T *out = (T *)job->out + 4 * begin, *mask = (T *)job->mask + 4 * begin;                    \
                                                                                                   \
        for (int64_t i = begin; i < end; i++, out += 4, mask += 4) {                               \
            bool positive = sample[i] > (T)0.5;                                                    \
                                                                                                   \
            for (int k = 0; k < 4; k++) {                                                          \
                mask[k] = positive;                                                                \
                out[k] = 0;                                                                        \
            }                                                                                      \
            if (positive)                                                                          \
                encode_one_##suffix((const T *)job->in[ANCHORS] + i * 4,                           \
                                    ref + (i / job->anchors * job->refs + (int64_t)match[i]) * 4,  \
                                    job->in[MEANS], job->in[STDS], out);                           \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static int encode_check_##suffix(const mxl_op *op, const encode_job *job, int64_t count)       \
    {                                                                                              \
        const T *sample = job->in[SAMPLES], *match = job->in[MATCHES];                             \
                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                      \
            if (sample[i] > (T)0.5 && !(match[i] > -1 && match[i] < (T)job->refs))                 \
                return mxl_error("%s: match %g of anchor %lld is none of %lld references",         \
                                 op->name, (double)match[i], (long long)(i % job->anchors),        \
                                 (long long)job->refs);                                            \
        }                                                                                          \
        return 0;                                                                                  \
    }

ENCODE(float, f32, logf)
ENCODE(double, f64, log)

static int encode_run(const mxl_call *call)
{
    bool narrow = call->in[0]->dtype == MXL_F32;
    int64_t count = call->in[SAMPLES]->size;
    encode_job job = {call->in[SAMPLES]->shape[1], call->in[REFS]->shape[1], {NULL}, NULL, NULL};

    for (int i = 0; i < MOST_INPUTS; i++)
        job.in[i] = mxl_array_read(call->in[i]);
    if ((narrow ? encode_check_f32 : encode_check_f64)(call->op, &job, count) != 0)
        return -1;
    job.out = mxl_array_write(call->out[0]);
    job.mask = mxl_array_write(call->out[1]);
    mxl_parallel_for(count, GRAIN, narrow ? encode_range_f32 : encode_range_f64, &job);
    return 0;
}

MXL_WIDENED(encode)

static int encode_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = MOST_INPUTS;
    arity->outputs = arity->visible = 2;
    return 0;
}

static const mxl_op op_encode = {
    .name = "_contrib_box_encode",
    .doc = "Targets for the offsets of anchors from the boxes that they were matched with: the "
           "center in sizes of the anchor, the logarithm of the size ratio, normalised. The second "
           "result is 1 for anchors that have a target and 0 for others, whose target is 0. Its "
           "gradient is zero.",
    MXL_INPUTS(MXL_INPUT(samples, "(batch, anchors); above 0.5 where an anchor has a match."),
               MXL_INPUT(matches, "(batch, anchors); the position of an anchor's reference."),
               MXL_INPUT(anchors, "(batch, anchors, 4); corners of the anchors."),
               MXL_INPUT(refs, "(batch, references, 4); corners of the references."),
               MXL_INPUT(means, "(4,); subtracted from the offsets."),
               MXL_INPUT(stds, "(4,); the offsets are divided by these.")),
    .arity = encode_arity,
    MXL_SHAPES("samples[N,A] matches[N,A] anchors[N,A,4] refs[N,R,4] means[4] stds[4] -> "
               "[N,A,4] [N,A,4]"),
    .dtypes = "F*>F*",
    .compute = encode_compute,
    .grad = mxl_grad_zero,
};

/* ---- decode ---- */

typedef struct decode_params {
    double std[4];
    double clip;
    int format;
} decode_params;

typedef struct decode_job {
    const decode_params *params;
    int64_t anchors; /* their number */
    const void *anchor, *in;
    void *out;
} decode_job;

/* The parameters are float32 numbers, as in 1.9.1. */
#define DECODE(T, suffix, EXP)                                                                     \
    static void decode_##suffix(void *data, int64_t begin, int64_t end)                            \
    {                                                                                              \
        const decode_job *job = data;                                                              \
        const decode_params *p = job->params;                                                      \
        const T *x = (const T *)job->in + 4 * begin;                                               \
        T *out = (T *)job->out + 4 * begin, clip = (T)(float)p->clip;                              \
                                                                                                   \
        for (int64_t i = begin; i < end; i++, x += 4, out += 4) {                                  \
            const T *a = (const T *)job->anchor + i % job->anchors * 4;                            \
                                                                                                   \
            for (int k = 0; k < 2; k++) {                                                          \
                bool corners = p->format == MXL_BOX_CORNER;                                        \
                T size = corners ? a[k + 2] - a[k] : a[k + 2];                                     \
                T from = corners ? a[k] + size / 2 : a[k];                                         \
                T center = x[k] * (T)(float)p->std[k] * size + from;                               \
                T grown = x[k + 2] * (T)(float)p->std[k + 2];                                      \
                T half = EXP(clip > 0 && grown > clip ? clip : grown) * size / 2;                  \
                                                                                                   \
                out[k] = center - half;                                                            \
                out[k + 2] = center + half;                                                        \
            }                                                                                      \
        }                                                                                          \
    }

DECODE(float, f32, expf)
DECODE(double, f64, exp)

static int decode_run(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *anchors = call->in[1];
    decode_job job = {call->params, anchors->shape[1], mxl_array_read(anchors), mxl_array_read(x),
                      mxl_array_write(call->out[0])};

    mxl_parallel_for(x->size / 4, GRAIN, x->dtype == MXL_F32 ? decode_f32 : decode_f64, &job);
    return 0;
}

MXL_WIDENED(decode)

#define STD(i)                                                                                     \
    {.name = "std" #i,                                                                             \
     .type = MXL_P_FLOAT,                                                                          \
     .offset = offsetof(decode_params, std) + (i) * sizeof(double),                                \
     .def = "1",                                                                                   \
     .doc = "The factor of number " #i " of an offset."}

static const mxl_op op_decode = {
    .name = "_contrib_box_decode",
    .doc = "The corners of boxes from their offsets from anchors: the reverse of "
           "_contrib_box_encode. Its gradient is zero.",
    MXL_INPUTS(MXL_INPUT(data, "Offsets, (batch, anchors, 4), of a floating dtype."),
               MXL_INPUT(anchors, "Anchors, (1, anchors, 4), of the same dtype.")),
    MXL_PARAMS_OF(decode_params, STD(0), STD(1), STD(2), STD(3),
                  MXL_PARAM(decode_params, clip, MXL_P_FLOAT, "-1",
                            "If positive, the largest logarithm of a size ratio."),
                  MXL_PARAM(decode_params, format, MXL_P_ENUM, "center",
                            "Whether an anchor is its center, width and height, or its left, top, "
                            "right and bottom.",
                            .values = mxl_box_formats)),
    MXL_SHAPES("data[N,A,4] anchors[1,A,4] -> [N,A,4]"),
    .dtypes = "F*>F",
    .compute = decode_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_boxes[] = {&op_iou, &op_encode, &op_decode, NULL};
