/* Correlation: patches of one batch of images compared with displaced patches of another. For each
 * displacement the products, or the absolute differences, are summed over channels, and then over
 * the patches; all of these are operators with derivatives of every order. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "ops/nn/images.h"
#include "ops/shape/movement.h"

typedef struct correlation_params {
    int64_t kernel_size, max_displacement, stride1, stride2, pad_size;
    int is_multiply;
} correlation_params;

enum { LARGEST = 1 << 20 }; /* of each number: sums of a few of their squares are in range */

/* Displacements along one axis: so many multiples of stride2 in either direction, and 0. */
static int64_t reach_of(const correlation_params *p)
{
    return p->max_displacement / p->stride2;
}

static int correlation_check(void *params)
{
    const correlation_params *p = params;
    const int64_t all[] = {p->kernel_size, p->max_displacement, p->stride1, p->stride2,
                           p->pad_size};

    for (int i = 0; i < 5; i++) {
        if (all[i] > LARGEST)
            return mxl_error("Correlation: sizes and strides may be up to %d, got %lld", LARGEST,
                             (long long)all[i]);
    }
    if (p->kernel_size % 2 != 1)
        return mxl_error("Correlation: kernel_size must be odd, got %lld",
                         (long long)p->kernel_size);
    if (p->stride1 < 1 || p->stride2 < 1)
        return mxl_error("Correlation: stride1 and stride2 must be 1 or more, got %lld and %lld",
                         (long long)p->stride1, (long long)p->stride2);
    return 0;
}

/* The patches along an axis of the images; 0 or less if none fits. */
static int64_t patches_of(const correlation_params *p, int64_t size)
{
    int64_t room = size + 2 * p->pad_size - 2 * p->max_displacement - (p->kernel_size - 1);

    return size < 0 ? size : room < 1 ? 0 : (room - 1) / p->stride1 + 1;
}

static int correlation_infer(mxl_infer *infer)
{
    const correlation_params *p = infer->params;
    const mxl_array *a = infer->in[0], *b = infer->in[1];
    int64_t y[4], across = 2 * reach_of(p) + 1;

    if (mxl_check_float(infer->op, a) != 0 || mxl_check_dtypes(infer->op, a, b) != 0 ||
        mxl_check_images(infer->op->name, a) != 0)
        return -1;
    if (a->size >= 0 && b->size >= 0 && !mxl_array_same_shape(a, b))
        return mxl_error("%s: the images must have one shape, got %s and %s", infer->op->name,
                         MXL_SHAPE_OF(a), MXL_SHAPE_OF(b));
    y[0] = a->shape[0];
    y[1] = across * across;
    for (int i = 2; i < 4; i++) {
        y[i] = patches_of(p, a->shape[i]);
        if (a->shape[i] >= 0 && y[i] < 1)
            return mxl_error("%s: an axis of %lld with padding %lld has no room for a kernel of "
                             "%lld and displacements of %lld",
                             infer->op->name, (long long)a->shape[i], (long long)p->pad_size,
                             (long long)p->kernel_size, (long long)p->max_displacement);
    }
    if (mxl_size_below(a->shape[1], 1))
        return mxl_error("%s: the images must have channels, got shape %s", infer->op->name,
                         MXL_SHAPE_OF(a));
    return mxl_infer_set(infer, a->dtype, 4, y);
}

/* The images within a border of zeros. */
static mxl_array *padded(mxl_scope *s, mxl_array *x, int64_t pad)
{
    int64_t rows = x->shape[2] + 2 * pad, columns = x->shape[3] + 2 * pad;
    const mxl_strided_params p = {
        .shape = {4, x->shape},
        .strides = {4, (int64_t[]){x->shape[1] * rows * columns, rows * columns, columns, 1}},
        .zeros = {4, (int64_t[]){x->shape[0], x->shape[1], rows, columns}},
        .skip = pad * columns + pad};

    return pad == 0 ? x : mxl_zeros_put(s, x, &p);
}

/* The part of images that patches reach, from a row and a column on. */
static mxl_array *part_of(mxl_scope *s, mxl_array *x, int64_t row, int64_t column,
                          const int64_t *size)
{
    x = mxl_slice_axis(s, x, 2, row, row + size[0]);
    return mxl_slice_axis(s, x, 3, column, column + size[1]);
}

/* |a - b| whose derivative by a is 1 where they are equal, as in 1.9.1 */
static mxl_array *distance(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    mxl_array *d = mxl_sub(s, a, b);
    mxl_array *below = mxl_mul_scalar(s, mxl_positive(s, mxl_negative(s, d)), 2);

    return mxl_mul(s, d, mxl_one_minus(s, below));
}

/* The comparison at one displacement, summed over channels: a new reference, of whose temporaries
 * nothing is kept. */
static mxl_array *compare(const mxl_scope *outer, const correlation_params *p, mxl_array *a,
                          mxl_array *b, int64_t row, int64_t column, const int64_t *size)
{
    mxl_array *made;
    mxl_scope s;

    mxl_scope_begin(&s, outer->mode);
    b = part_of(&s, b, row, column, size);
    made = p->is_multiply ? mxl_mul(&s, a, b) : distance(&s, a, b);
    made = mxl_sum_axis(&s, made, 1);
    if (made != NULL)
        mxl_array_retain(made);
    mxl_scope_end(&s);
    return made;
}

/* The comparisons of all displacements as channels: rows of displacements one after another. */
static mxl_array *compare_all(mxl_scope *s, const correlation_params *p, mxl_array *a, mxl_array *b,
                              const int64_t *size)
{
    int64_t reach = reach_of(p), across = 2 * reach + 1, first = p->max_displacement;
    size_t bytes = (size_t)(across * across) * sizeof(mxl_array *);
    mxl_array **parts = mxl_alloc(bytes), *made = NULL;

    if (parts == NULL)
        return mxl_scope_own(s, NULL);
    for (int64_t i = 0; i < across * across; i++) {
        int64_t down = (i / across - reach) * p->stride2, right = (i % across - reach) * p->stride2;

        parts[i] = mxl_scope_own(s, compare(s, p, a, b, first + down, first + right, size));
        if (parts[i] == NULL)
            goto done;
    }
    made = mxl_concat(s, (int)(across * across), parts, 1);
done:
    mxl_free(parts, bytes);
    return made;
}

static mxl_array *correlation_compose(mxl_scope *s, const mxl_call *call)
{
    const correlation_params *p = call->params;
    const int64_t *in = call->in[0]->shape, k = p->kernel_size;
    int64_t size[2];
    mxl_array *a = padded(s, call->in[0], p->pad_size), *b = padded(s, call->in[1], p->pad_size);

    for (int i = 0; i < 2; i++)
        size[i] = (patches_of(p, in[i + 2]) - 1) * p->stride1 + k;
    a = part_of(s, a, p->max_displacement, p->max_displacement, size);
    if (a == NULL || b == NULL)
        return NULL;
    a = compare_all(s, p, a, b, size);
    if (k > 1 || p->stride1 > 1)
        a = mxl_pool_sums(s, a, (mxl_tuple){2, (int64_t[]){k, k}},
                          (mxl_tuple){2, (int64_t[]){p->stride1, p->stride1}}, (mxl_tuple){0, NULL},
                          false);
    return mxl_div_scalar(s, a, (double)(k * k * in[1]));
}

#define COUNT(field, text, meaning)                                                                \
    MXL_PARAM(correlation_params, field, MXL_P_INT, text, meaning,                                 \
              .type_name = "int (non-negative)", MXL_AT_LEAST(0))

static const mxl_op op_correlation = {
    .name = "Correlation",
    .doc = "Patches of images compared with displaced patches of other images: means of their "
           "products or absolute differences, a channel for each displacement.",
    MXL_INPUTS(MXL_INPUT(data1, "Images (batch, channels, rows, columns) of a floating dtype."),
               MXL_INPUT(data2, "Images of the same shape and dtype, whose patches move.")),
    MXL_PARAMS_OF(correlation_params,
                  COUNT(kernel_size, "1", "Rows and columns of a patch, an odd number."),
                  COUNT(max_displacement, "1", "How far patches of data2 move at most."),
                  COUNT(stride1, "1", "Step from a patch of data1 to the next."),
                  COUNT(stride2, "1", "Step from a displacement to the next."),
                  COUNT(pad_size, "0", "Zeros around the images."),
                  MXL_PARAM(correlation_params, is_multiply, MXL_P_BOOL, "1",
                            "Whether patches are multiplied rather than subtracted.")),
    .check = correlation_check,
    .output_names = "output tmp1 tmp2",
    .total_outputs = 3,
    .infer = correlation_infer,
    .compose = correlation_compose,
};

const mxl_op *const mxl_ops_correlation[] = {&op_correlation, NULL};
