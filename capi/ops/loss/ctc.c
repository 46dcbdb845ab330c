/* CTCLoss: log_softmax, and _mxl_ctc on its results. If the backward of that is recorded, it is the
 * backward of the same recursion composed of other operators. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "engine/backward/composite.h"
#include "kernel/rnn/ctc.h"
#include "ops/elementwise/elementwise.h"
#include "ops/shape/movement.h"

enum { BLANK_FIRST, BLANK_LAST };

typedef struct ctc_params {
    int use_data_lengths;
    int use_label_lengths;
    int blank_label;
    int keeps; /* _mxl_ctc: whether a backward may follow */
} ctc_params;

static const char *const blanks[] = {"first", "last", NULL};

/* ---- checks ---- */

static int check_lengths(const mxl_infer *infer, int i, const char *name, int64_t batch)
{
    const mxl_array *lengths = infer->in[i];

    if (mxl_shape_same(lengths->ndim, lengths->shape, 1, &batch))
        return 0;
    return mxl_error("CTCLoss: %s must have shape (%lld,), got %s", name, (long long)batch,
                     MXL_SHAPE_OF(lengths));
}

static int ctc_infer(mxl_infer *infer)
{
    const ctc_params *p = infer->params;
    const mxl_array *x = infer->in[0], *label = infer->in[1];
    int next = 2;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim != 3 || label->ndim != 2)
        return mxl_error("CTCLoss: data must have 3 axes and label 2, got shapes %s and %s",
                         MXL_SHAPE_OF(x), MXL_SHAPE_OF(label));
    if (mxl_sizes_differ(x->shape[1], label->shape[0]))
        return mxl_error("CTCLoss: data has %lld rows, label %lld", (long long)x->shape[1],
                         (long long)label->shape[0]);
    if (mxl_size_below(x->shape[0], label->shape[1]))
        return mxl_error("CTCLoss: there are %lld labels for %lld steps",
                         (long long)label->shape[1], (long long)x->shape[0]);
    if (mxl_size_below(x->shape[2], 1))
        return mxl_error("CTCLoss: data has no class, not even the blank");
    if (p->use_data_lengths && check_lengths(infer, next++, "data_lengths", x->shape[1]) != 0)
        return -1;
    if (p->use_label_lengths && check_lengths(infer, next, "label_lengths", x->shape[1]) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], 1, &x->shape[1]);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

/* ---- paths ---- */

/* The arrays of a path; scoped or owned by the caller. */
typedef struct ctc_arrays {
    mxl_array *array[4];
    mxl_ctc_path path;
} ctc_arrays;

static void arrays_end(ctc_arrays *a)
{
    for (int i = 0; i < 4; i++)
        mxl_array_release(a->array[i]);
}

static int arrays_begin(ctc_arrays *a, int64_t batch, int64_t width)
{
    static const int dtypes[4] = {MXL_I64, MXL_BOOL, MXL_I64, MXL_I64};
    const int64_t shape[2] = {batch, width};
    bool made = true;

    for (int i = 0; i < 4; i++) {
        a->array[i] = mxl_array_new(dtypes[i], i < 2 ? 2 : 1, shape);
        made = made && a->array[i] != NULL;
    }
    if (!made)
        return -1;
    a->path = (mxl_ctc_path){.classes = mxl_array_write(a->array[0]),
                             .skip = mxl_array_write(a->array[1]),
                             .count = mxl_array_write(a->array[2]),
                             .steps = mxl_array_write(a->array[3]),
                             .width = width};
    return 0;
}

/* An array as new numbers of int64, rounded; NULL with the error set. What no label or length can
 * be becomes INT64_MIN. */
static mxl_array *whole(mxl_array *given)
{
    mxl_array *wide = mxl_array_new(MXL_F64, given->ndim, given->shape);
    mxl_array *to = mxl_array_new(MXL_I64, given->ndim, given->shape);
    const double *from;
    int64_t *value;

    if (wide == NULL || to == NULL || mxl_array_copy_into(wide, given) != 0) {
        mxl_array_release(wide);
        mxl_array_release(to);
        return NULL;
    }
    from = mxl_array_read(wide);
    value = mxl_array_write(to);
    for (int64_t i = 0; i < to->size; i++)
        value[i] = fabs(from[i]) < 0x1p50 ? (int64_t)floor(from[i] + 0.5) : INT64_MIN;
    mxl_array_release(wide);
    return to;
}

/* Lengths of the rows, from `given`, which must be in [0, most]; without, `otherwise`. */
static int read_lengths(const char *name, mxl_array *given, int64_t most, int64_t batch,
                        int64_t *lengths)
{
    mxl_array *values = given == NULL ? NULL : whole(given);
    int status = 0;

    if (given != NULL && values == NULL)
        return -1;
    for (int64_t b = 0; b < batch && status == 0; b++) {
        lengths[b] = values == NULL ? most : ((const int64_t *)mxl_array_read(values))[b];
        if (lengths[b] < 0 || lengths[b] > most)
            status = mxl_error("CTCLoss: %s must be from 0 to %lld, got %lld", name,
                               (long long)most, (long long)lengths[b]);
    }
    mxl_array_release(values);
    return status;
}

/* The classes of one row: labels between blanks, of which a label may be one too. Sets count to 0
 * if the steps are too few for the labels with a blank between equal ones; and to MXL_CTC_INFINITE
 * if they are too few because a path cannot skip the steps before or after a blank label. */
static int lay_out(const ctc_params *p, mxl_ctc_path *path, int64_t b, const int64_t *label,
                   int64_t classes)
{
    int64_t blank = p->blank_label == BLANK_FIRST ? 0 : classes - 1, repeats = 0;
    int64_t padding = p->blank_label == BLANK_FIRST ? 0 : -1, count = path->count[b];
    int64_t *to = path->classes + b * path->width, n = 0;
    uint8_t *skip = path->skip + b * path->width;
    int64_t least = 0; /* steps of the shortest path */

    for (; n < count && (p->use_label_lengths || label[n] != padding); n++) {
        if (label[n] < 0 || label[n] >= classes)
            return mxl_error("CTCLoss: labels must be from 0 to %lld, got %lld",
                             (long long)classes - 1, (long long)label[n]);
        to[2 * n + 1] = label[n];
        skip[2 * n + 1] = n > 0 && label[n] != label[n - 1] && label[n] != blank;
        repeats += n > 0 && label[n] == label[n - 1];
        least += n == 0 || skip[2 * n + 1] ? 1 : 2;
    }
    for (int64_t s = 0; s < path->width; s += s < 2 * n ? 2 : 1) {
        to[s] = blank;
        skip[s] = 0;
    }
    path->count[b] = n + repeats > path->steps[b] ? 0
                     : least > path->steps[b]     ? MXL_CTC_INFINITE
                                                  : 2 * n + 1;
    return 0;
}

/* From the inputs of a call: labels and lengths. -1 with the error set. */
static int find_paths(const mxl_call *call, ctc_arrays *a)
{
    const ctc_params *p = call->params;
    const int64_t *shape = call->in[0]->shape, *of_labels = call->in[1]->shape;
    mxl_array *lengths = p->use_data_lengths ? call->in[2] : NULL;
    mxl_array *counts = p->use_label_lengths ? call->in[call->num_inputs - 1] : NULL;
    mxl_array *labels = whole(call->in[1]);
    int status = labels == NULL ? -1 : arrays_begin(a, shape[1], 2 * of_labels[1] + 1);

    if (status == 0)
        status = read_lengths("data_lengths", lengths, shape[0], shape[1], a->path.steps);
    if (status == 0)
        status = read_lengths("label_lengths", counts, of_labels[1], shape[1], a->path.count);
    for (int64_t b = 0; b < shape[1] && status == 0; b++)
        status = lay_out(p, &a->path, b, (const int64_t *)mxl_array_read(labels) + b * of_labels[1],
                         shape[2]);
    mxl_array_release(labels);
    return status;
}

/* ---- composition ---- */

/* An array of one number; scoped. */
static mxl_array *filled(mxl_scope *s, int dtype, int64_t rows, int64_t columns, double value)
{
    mxl_array *a = mxl_scope_own(s, mxl_array_new(dtype, 2, (int64_t[]){rows, columns}));

    return a == NULL ? NULL : mxl_add_scalar(s, mxl_zeros_like(s, a), value);
}

/* The positions along axis 1, moved to the right by some, which leaves impossible ones. */
static mxl_array *shifted(mxl_scope *s, mxl_array *a, int64_t by)
{
    int64_t rows = a->shape[0], width = a->shape[1];
    mxl_array *both[2] = {filled(s, a->dtype, rows, by < width ? by : width, MXL_CTC_NEVER), NULL};

    if (by >= width)
        return both[0];
    both[1] = mxl_slice_axis(s, a, 1, 0, width - by);
    return mxl_concat(s, 2, both, 1);
}

/* The larger of two, as a constant, and not less than MXL_CTC_NEVER: what exponents are taken
 * relative to. */
static mxl_array *top_of(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    mxl_array *above = b == NULL ? NULL : mxl_apply2(s, &mxl_op_greater, a, b), *top;

    top = mxl_where(s, above, a, b);
    return top == NULL ? NULL : mxl_scope_own(s, mxl_array_alias(top));
}

/* log(e^a + e^b) */
static mxl_array *log_sum(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    mxl_array *top = top_of(s, a, b), *sum;

    sum = mxl_add(s, mxl_exp(s, mxl_sub(s, a, top)), mxl_exp(s, mxl_sub(s, b, top)));
    return mxl_add(s, top, mxl_apply(s, &mxl_op_log, sum));
}

/* Positions in the logarithms of all, (steps, batch, width), of what each place of the path emits.
 */
static mxl_array *emitted(mxl_scope *s, const mxl_ctc_path *path, mxl_array *logs)
{
    int64_t steps = logs->shape[0], batch = logs->shape[1], classes = logs->shape[2];
    mxl_array *at =
        mxl_scope_own(s, mxl_array_new(MXL_I64, 3, (int64_t[]){steps, batch, path->width}));
    int64_t *to;

    if (at == NULL)
        return NULL;
    to = mxl_array_write(at);
    for (int64_t row = 0; row < steps * batch; row++) {
        for (int64_t k = 0; k < path->width; k++)
            *to++ = row * classes + path->classes[row % batch * path->width + k];
    }
    return mxl_take_rows(s, mxl_reshape(s, logs, 1, &logs->size), at);
}

/* 1 in the rows where step t is within the row. */
static mxl_array *active_at(mxl_scope *s, const mxl_ctc_path *path, int64_t t, mxl_array *like)
{
    mxl_array *flags = mxl_scope_own(s, mxl_array_new(MXL_BOOL, 2, like->shape));
    uint8_t *flag;

    if (flags == NULL)
        return NULL;
    flag = mxl_array_write(flags);
    for (int64_t i = 0; i < flags->size; i++)
        flag[i] = t < path->steps[i / path->width];
    return flags;
}

/* The logarithms of the paths' probabilities up to the last step, (batch, width). */
static mxl_array *recursion(mxl_scope *s, const ctc_arrays *a, mxl_array *logs)
{
    int64_t width = a->path.width, shape[2] = {logs->shape[1], width};
    mxl_array *all = emitted(s, &a->path, logs), *alpha = NULL;
    mxl_array *never = filled(s, logs->dtype, shape[0], width, MXL_CTC_NEVER);

    for (int64_t t = 0; t < logs->shape[0] && all != NULL && never != NULL; t++) {
        mxl_array *emit = mxl_reshape(s, mxl_slice_axis(s, all, 0, t, t + 1), 2, shape), *next;

        if (t == 0) { /* a path begins with the first blank or the first label */
            mxl_array *parts[2] = {mxl_slice_axis(s, emit, 1, 0, width < 2 ? width : 2), NULL};

            if (width > 2)
                parts[1] = mxl_slice_axis(s, never, 1, 2, width);
            alpha = width > 2 ? mxl_concat(s, 2, parts, 1) : parts[0];
            continue;
        }
        if (alpha == NULL)
            return NULL;
        next = mxl_where(s, a->array[1], shifted(s, alpha, 2), never);
        next = mxl_add(s, log_sum(s, log_sum(s, alpha, shifted(s, alpha, 1)), next), emit);
        alpha = mxl_where(s, active_at(s, &a->path, t, alpha), next, alpha);
    }
    return alpha;
}

/* The loss from the last logarithms: those of the last blank and the last label, which the paths
 * end with. */
static mxl_array *ends(mxl_scope *s, const mxl_ctc_path *path, mxl_array *alpha, int64_t batch)
{
    mxl_array *at[2], *flags = mxl_scope_own(s, mxl_array_new(MXL_BOOL, 1, &batch)), *last[2];
    mxl_array *none = mxl_scope_own(s, mxl_array_new(MXL_BOOL, 1, &batch)), *loss;
    mxl_array *fixed = mxl_scope_own(s, mxl_array_new(MXL_F64, 1, &batch));

    for (int i = 0; i < 2; i++)
        at[i] = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &batch));
    if (at[0] == NULL || at[1] == NULL || flags == NULL || none == NULL || fixed == NULL ||
        alpha == NULL)
        return NULL;
    for (int64_t b = 0; b < batch; b++) {
        int64_t n = path->count[b];

        for (int i = 0; i < 2; i++)
            ((int64_t *)mxl_array_write(at[i]))[b] = b * path->width + (n > i ? n - 1 - i : 0);
        ((uint8_t *)mxl_array_write(flags))[b] = n < 2;
        ((uint8_t *)mxl_array_write(none))[b] = n <= 0 || path->steps[b] == 0;
        ((double *)mxl_array_write(fixed))[b] = n == MXL_CTC_INFINITE ? INFINITY : 0;
    }
    alpha = mxl_reshape(s, alpha, 1, &alpha->size);
    last[0] = mxl_take_rows(s, alpha, at[0]);
    last[1] = mxl_take_rows(s, alpha, at[1]);
    if (last[1] == NULL)
        return NULL;
    last[1] =
        mxl_where(s, flags, mxl_add_scalar(s, mxl_zeros_like(s, last[1]), MXL_CTC_NEVER), last[1]);
    loss = mxl_negative(s, log_sum(s, last[0], last[1]));
    return mxl_where(s, none, mxl_cast(s, fixed, alpha->dtype), loss);
}

static mxl_array *ctc_parts(mxl_scope *s, const mxl_call *call)
{
    mxl_array *logs = call->in[0], *loss = NULL;
    int64_t batch = logs->shape[1];
    ctc_arrays a = {0};

    if (find_paths(call, &a) == 0) {
        if (logs->shape[0] == 0 || batch == 0)
            loss = mxl_scope_own(s, mxl_array_new(logs->dtype, 1, &batch));
        else
            loss = ends(s, &a.path, recursion(s, &a, logs), batch);
        if (loss != NULL && logs->shape[0] == 0)
            loss = mxl_zeros_like(s, loss);
    } else {
        s->failed = true;
    }
    arrays_end(&a);
    return loss;
}

/* ---- _mxl_ctc ---- */

static int ctc_arity(const void *params, mxl_arity *arity)
{
    const ctc_params *p = params;

    arity->inputs = 2 + (p->use_data_lengths != 0) + (p->use_label_lengths != 0);
    return 0;
}

static int logs_arity(const void *params, mxl_arity *arity)
{
    arity->outputs = 2;
    return ctc_arity(params, arity);
}

static int logs_infer(mxl_infer *infer)
{
    const ctc_params *p = infer->params;
    const mxl_array *logs = infer->in[0];

    if (mxl_check_full_float(infer->op, logs) != 0 || ctc_infer(infer) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[1], p->keeps ? 3 : 1,
                  p->keeps ? logs->shape : (const int64_t[]){0});
    infer->out_dtype[1] = logs->dtype;
    return 0;
}

static int logs_compute(const mxl_call *call)
{
    const ctc_params *p = call->params;
    const mxl_array *logs = call->in[0];
    ctc_arrays a = {0};
    int status = find_paths(call, &a);

    if (status == 0)
        status = mxl_ctc(logs->dtype, logs->shape[0], logs->shape[1], logs->shape[2], &a.path,
                         mxl_array_read(logs), mxl_array_write(call->out[0]),
                         p->keeps ? mxl_array_write(call->out[1]) : NULL);
    arrays_end(&a);
    return status;
}

static const mxl_op op_parts = {.name = "_mxl_ctc", .compose = ctc_parts};

/* The backward of the composition, which has no output of the gradient. */
static int logs_grad(mxl_grad *g)
{
    mxl_grad parts = *g;

    parts.op = &op_parts;
    parts.num_outputs = 1;
    return mxl_composite_grad(&parts);
}

/* dlogs = the gradient that the forward left, times dloss of each row */
static int logs_grad_kernel(mxl_grad *g)
{
    const mxl_meta *logs = mxl_grad_in_meta(g, 0);
    mxl_array *dy = mxl_reshape(g->s, g->grad_output[0], 3, (int64_t[]){1, logs->shape[1], 1});

    if (!((const ctc_params *)g->params)->keeps)
        return mxl_error("_mxl_ctc: nothing was kept for a backward");
    return mxl_grad_set(g, 0, mxl_mul(g->s, mxl_grad_out(g, 1), dy));
}

static void logs_saves(mxl_saves *saves)
{
    mxl_saves_inputs(saves);
    saves->out[1] = true;
}

#define CTC_PARAMS                                                                                 \
    MXL_PARAM(ctc_params, use_data_lengths, MXL_P_BOOL, "0",                                       \
              "Whether there is an input data_lengths."),                                          \
        MXL_PARAM(ctc_params, use_label_lengths, MXL_P_BOOL, "0",                                  \
                  "Whether there is an input label_lengths; else labels end at the first 0, or "   \
                  "-1 where the blank is the last class."),                                        \
        MXL_PARAM(ctc_params, blank_label, MXL_P_ENUM, "first",                                    \
                  "Which class is the blank, the first or the last.", .values = blanks)

static const mxl_input ctc_inputs[] = {
    MXL_INPUT(data, "Scores of the classes, of shape (step, batch, class), before a softmax."),
    MXL_INPUT(label, "Classes without their positions, of shape (batch, label), of any dtype."),
    MXL_INPUT(data_lengths, "Steps of each row; only with use_data_lengths."),
    MXL_INPUT(label_lengths, "Labels of each row; only with use_label_lengths."),
    {0},
};

static const mxl_op op_logs = {
    .name = "_mxl_ctc",
    .doc = "CTCLoss of logarithms of probabilities. Its second output, which is hidden, is the "
           "gradient.",
    .inputs = ctc_inputs,
    MXL_PARAMS_OF(ctc_params, CTC_PARAMS,
                  MXL_PARAM(ctc_params, keeps, MXL_P_BOOL, "1", "Whether a backward may follow.")),
    .arity = logs_arity,
    .infer = logs_infer,
    .compute = logs_compute,
    .grad = logs_grad,
    .grad_kernel = logs_grad_kernel,
    .saves = logs_saves,
};

/* ---- CTCLoss ---- */

/* float16 is computed in float32. */
static mxl_array *ctc_compose(mxl_scope *s, const mxl_call *call)
{
    ctc_params p = *(const ctc_params *)call->params;
    mxl_array *in[4], *x = call->in[0], *loss;

    p.keeps = s->mode.record;
    for (int i = 0; i < call->num_inputs; i++)
        in[i] = call->in[i];
    in[0] = mxl_cast(s, x, x->dtype == MXL_F16 ? MXL_F32 : x->dtype);
    in[0] = mxl_log_softmax_axis(s, in[0], 2);
    if (mxl_scope_call_many(s, &op_logs, &p, call->num_inputs, in, 1, &loss) != 0)
        return NULL;
    return mxl_cast(s, loss, x->dtype);
}

/* Without lengths of the data those of the labels come in their place. */
static const char *ctc_input(const void *params, int i)
{
    return i == 2 && !((const ctc_params *)params)->use_data_lengths ? "label_lengths" : NULL;
}

static const mxl_op op_ctc_loss = {
    .name = "CTCLoss",
    .aliases = MXL_ALIASES("_contrib_CTCLoss", "_contrib_ctc_loss", "ctc_loss"),
    .doc = "Connectionist temporal classification: for each row of the batch, minus the logarithm "
           "of the probability that the classes of the steps, without repetitions and then without "
           "blanks, are the labels. 0, if the steps are too few for the labels.",
    .inputs = ctc_inputs,
    MXL_PARAMS_OF(ctc_params, CTC_PARAMS),
    .arity = ctc_arity,
    .total_outputs = 2,
    .infer = ctc_infer,
    .dtypes = "A>A",
    .compose = ctc_compose,
    .input_name = ctc_input,
};

const mxl_op *const mxl_ops_ctc[] = {&op_ctc_loss, &op_logs, NULL};
