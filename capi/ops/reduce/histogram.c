/* _histogram: the number of elements between neighbouring bounds. */
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "op/text.h"
#include "ops/build.h"

typedef struct histogram_params {
    int64_t count;
    const char *range; /* "(low, high)" or "None" */
} histogram_params;

static bool has_range(const histogram_params *p)
{
    return strcmp(p->range, "None") != 0;
}

/* Parses "(0, 8)" or "[0, 8]" into two numbers. */
static int read_range(const histogram_params *p, double *low, double *high)
{
    const char *text = p->range;
    size_t size = strlen(text);
    const char *comma = memchr(text, ',', size);
    char part[2][64];
    double *to[2] = {low, high};

    if (size > 2 && comma != NULL && strchr("([", text[0]) != NULL &&
        text[size - 1] == (text[0] == '(' ? ')' : ']')) {
        size_t first = (size_t)(comma - text) - 1, second = size - first - 3;

        if (first < sizeof(part[0]) && second < sizeof(part[1])) {
            memcpy(part[0], text + 1, first);
            memcpy(part[1], comma + 1, second);
            part[0][first] = part[1][second] = 0;
            if (mxl_text_float(part[0], to[0]) == MXL_TEXT_OK &&
                mxl_text_float(part[1], to[1]) == MXL_TEXT_OK && *low <= *high) {
                /* A single value: half a unit to either side. */
                if (*low == *high) {
                    *low -= 0.5;
                    *high += 0.5;
                }
                return 0;
            }
        }
    }
    return mxl_error("_histogram: range must be two rising numbers, got '%s'", text);
}

static int histogram_arity(const void *params, mxl_arity *arity)
{
    const histogram_params *p = params;

    arity->inputs = p->count == MXL_NONE && !has_range(p) ? 2 : 1;
    arity->outputs = arity->visible = 2;
    return 0;
}

/* Bins of equal width, or with bounds from the second input. */
static int histogram_infer(mxl_infer *infer)
{
    const histogram_params *p = infer->params;
    const mxl_array *x = infer->in[0], *bins = infer->in[infer->num_inputs - 1];
    int64_t count = p->count;
    double low, high;

    if (x->dtype == MXL_BOOL)
        return mxl_error("_histogram: dtype bool is not supported");
    if (infer->num_inputs == 1) {
        if (count == MXL_NONE || !has_range(p))
            return mxl_error("_histogram: bin_cnt and range are given together or not at all");
        if (count < 1 || count == INT64_MAX)
            return mxl_error("_histogram: bin_cnt is %lld, it must be positive", (long long)count);
        if (read_range(p, &low, &high) != 0)
            return -1;
    } else {
        if (bins->ndim != 1 || bins->size < 2)
            return mxl_error("_histogram: bins must be a vector of two or more bounds");
        if (bins->dtype != x->dtype)
            return mxl_error("_histogram: data is %s, bins are %s; they must be the same",
                             mxl_dtype_name(x->dtype), mxl_dtype_name(bins->dtype));
        count = bins->size - 1;
    }
    mxl_shape_set(&infer->out_shape[0], 1, &count);
    infer->out_dtype[0] = MXL_I64;
    count++;
    mxl_shape_set(&infer->out_shape[1], 1, &count);
    infer->out_dtype[1] = x->dtype;
    return 0;
}

/* Counts x into the last bin whose lower bound is not above it; the highest bound belongs to the
 * last bin. */
static void count_into(int64_t *counts, int64_t bins, const double *bounds, const double *x,
                       int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        int64_t low = 0, high = bins;

        if (!(x[i] >= bounds[0] && x[i] <= bounds[bins]))
            continue;
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;

            if (x[i] >= bounds[middle])
                low = middle;
            else
                high = middle;
        }
        counts[low]++;
    }
}

static int histogram_compute(const mxl_call *call)
{
    const histogram_params *p = call->params;
    const mxl_array *x = call->in[0];
    int64_t bins = call->out[0]->size;
    mxl_array *values = mxl_array_new(MXL_F64, x->ndim, x->shape);
    mxl_array *bounds = mxl_array_new(MXL_F64, 1, call->out[1]->shape);
    int64_t *counts = mxl_array_write(call->out[0]);
    double low = 0, high = 0;
    int status = -1;

    if (values == NULL || bounds == NULL || mxl_array_copy_into(values, x) != 0)
        goto done;
    if (call->num_inputs == 1) {
        double *bound = mxl_array_write(bounds);

        if (read_range(p, &low, &high) != 0)
            goto done;
        for (int64_t i = 0; i <= bins; i++)
            bound[i] = i == bins ? high : low + (double)i * ((high - low) / (double)bins);
    } else if (mxl_array_copy_into(bounds, call->in[1]) != 0) {
        goto done;
    }
    memset(counts, 0, (size_t)bins * sizeof(*counts));
    count_into(counts, bins, mxl_array_read(bounds), mxl_array_read(values), x->size);
    status = mxl_array_copy_into(call->out[1], bounds);
done:
    mxl_array_release(values);
    mxl_array_release(bounds);
    return status;
}

static const mxl_op op_histogram = {
    .name = "_histogram",
    .aliases = MXL_ALIASES("_npi_histogram"),
    .doc = "How many elements lie between neighbouring bounds, and the bounds: two results.",
    MXL_INPUTS(MXL_INPUT(data, "The elements to count; a NaN is in no bin."),
               MXL_INPUT(bins, "The bounds, rising, of the array's dtype; absent with bin_cnt.")),
    MXL_PARAMS_OF(
        histogram_params,
        MXL_PARAM_AS("bin_cnt", histogram_params, count, MXL_P_OPT_INT, "None",
                     "How many bins of equal width to make within `range`, in place of bins."),
        MXL_PARAM(histogram_params, range, MXL_P_STRING, "None",
                  "The lowest and the highest bound, as a tuple of two numbers.", .type_name = "")),
    .arity = histogram_arity,
    .infer = histogram_infer,
    .dtypes = "A*>lA",
    .compute = histogram_compute,
};

const mxl_op *const mxl_ops_histogram[] = {&op_histogram, NULL};
