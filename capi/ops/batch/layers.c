/* Layers of networks of which each example has its own parameters; see rules.h. */
#include "ops/batch/rules.h"
#include "ops/elementwise/elementwise.h"
#include "ops/conv/conv_ops.h"
#include "ops/nn/normalise.h"
#include "ops/nn/rnn_net.h"

enum { CONV_AXES = 5, MOST_INPUTS = 5 };

/* ---- convolutions: examples are groups of channels ---- */

/* The whole of input i, which gets the axis of the batch, with the examples' channels side by side:
 * (examples, N, C, ...) becomes (N, examples * C, ...), kernels (examples * F, ...). */
static mxl_array *beside(mxl_batch *b, int i, bool kernels)
{
    const mxl_array *x = &b->in[i]->array;
    mxl_array *whole = mxl_batch_fronted(b, b->in[i]->whole, b->in[i]->has_axis);
    int64_t shape[CONV_AXES];

    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[!kernels] *= b->size;
    return mxl_batch_as(b, kernels ? whole : mxl_vmap_move(b, whole, 0, 1), x->ndim, shape);
}

/* The result with the axis of the batch in front, where the examples' channels are side by side
 * along an axis. */
static mxl_array *apart(mxl_batch *b, mxl_array *made, int axis)
{
    const mxl_shape *to = b->r->out_shape;
    int64_t shape[CONV_AXES + 1];

    for (int i = 0; i <= to->ndim; i++)
        shape[i] = i < axis ? to->dim[i] : i == axis ? b->size : to->dim[i - 1];
    made = mxl_batch_as(b, made, to->ndim + 1, shape);
    return mxl_vmap_move(b, made, axis, 0);
}

/* The data, and how many times as many groups there are: data that all examples have are not
 * repeated where kernels of one group make more channels of them. */
static mxl_array *conv_data(mxl_batch *b, mxl_conv_params *p)
{
    if (p->num_group == 1 && !b->in[0]->has_axis)
        return b->in[0]->whole;
    p->num_group *= b->size;
    return beside(b, 0, false);
}

static int convolved(mxl_batch *b, bool transposed, mxl_array **out)
{
    mxl_conv_params p = *(const mxl_conv_params *)b->r->call.params;
    bool biased = b->count > 2;
    mxl_array *pair[2];

    if (!b->in[1]->has_axis && !(biased && b->in[2]->has_axis))
        return 0;
    p.no_bias = 1;
    p.num_filter *= b->size;
    if (transposed) {
        p.num_group *= b->size;
        pair[0] = beside(b, 0, false);
    } else {
        pair[0] = conv_data(b, &p);
    }
    pair[1] = beside(b, 1, true);
    if (pair[0] == NULL || pair[1] == NULL)
        return -1;
    out[0] = apart(b, mxl_scope_call(b->s, b->r->call.op, &p, 2, pair), 1);
    if (biased && out[0] != NULL) {
        int64_t shape[CONV_AXES + 1] = {b->in[2]->has_axis ? b->size : 1, 1, b->in[2]->array.size};

        for (int i = 3; i < out[0]->ndim; i++)
            shape[i] = 1;
        out[0] = mxl_add(b->s, out[0], mxl_batch_as(b, b->in[2]->whole, out[0]->ndim, shape));
    }
    return out[0] == NULL ? -1 : 1;
}

int mxl_vmap_conv(mxl_batch *b, mxl_array **out)
{
    return convolved(b, false, out);
}

int mxl_vmap_conv_x(mxl_batch *b, mxl_array **out)
{
    return convolved(b, true, out);
}

int mxl_vmap_conv_w(mxl_batch *b, mxl_array **out)
{
    mxl_conv_params p = *(const mxl_conv_params *)b->r->call.params;
    mxl_array *pair[2] = {conv_data(b, &p), beside(b, 1, false)};

    if (pair[0] == NULL || pair[1] == NULL)
        return -1;
    out[0] = apart(b, mxl_scope_call(b->s, b->r->call.op, &p, 2, pair), 0);
    return out[0] == NULL ? -1 : 1;
}

/* ---- normalisation ---- */

/* A factor of each example's channels or of its last axes, in a shape that broadcasts to the
 * results'; or of all examples. */
static mxl_array *factor(mxl_batch *b, int i)
{
    const mxl_normalise_params *p = b->r->call.params;
    const mxl_array *x = &b->in[0]->array;
    int64_t shape[MXL_MAX_NDIM] = {b->in[i]->has_axis ? b->size : 1};

    for (int k = 0; k < x->ndim; k++) {
        bool own = p->over == MXL_NORM_LAST ? k >= x->ndim - p->count : k == 1;

        shape[k + 1] = own ? x->shape[k] : 1;
    }
    return mxl_cast(b->s, mxl_batch_as(b, b->in[i]->whole, x->ndim + 1, shape), x->dtype);
}

/* The data as the operator takes it for all examples: their channels side by side where it is
 * normalised over all else, else one more axis, or more along the first one. */
static mxl_array *data_of(mxl_batch *b)
{
    const mxl_normalise_params *p = b->r->call.params;
    const mxl_array *x = &b->in[0]->array;
    mxl_array *whole = mxl_batch_fronted(b, b->in[0]->whole, b->in[0]->has_axis);
    int64_t shape[MXL_MAX_NDIM];

    if (p->over == MXL_NORM_LAST)
        return whole;
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[p->over == MXL_NORM_OTHERS] *= b->size;
    return mxl_batch_as(b, p->over == MXL_NORM_OTHERS ? mxl_vmap_move(b, whole, 0, 1) : whole,
                        x->ndim, shape);
}

int mxl_vmap_normalise(mxl_batch *b, mxl_array **out)
{
    const mxl_normalise_params *given = b->r->call.params;
    mxl_normalise_params p = *given;
    const mxl_array *x = &b->in[0]->array;
    int factors = (p.scaled != 0) + (p.shifted != 0), count = 1;
    mxl_array *in[3] = {data_of(b)};

    if (x->ndim + 1 > MXL_MAX_NDIM)
        return 0;
    p.scaled = p.shifted = 0;
    for (int i = 1 + factors; i < b->count; i++) {
        const int64_t size = b->size * b->in[i]->array.size;

        in[count++] =
            mxl_batch_as(b, mxl_batch_fronted(b, b->in[i]->whole, b->in[i]->has_axis), 1, &size);
    }
    for (int i = 0; i < count; i++) {
        if (in[i] == NULL)
            return -1;
    }
    if (mxl_scope_call_many(b->s, b->r->call.op, &p, count, in, 3, out) != 0)
        return -1;
    if (p.over == MXL_NORM_OTHERS)
        out[0] = apart(b, out[0], 1);
    else
        out[0] = mxl_batch_shaped(b, out[0], x->ndim, x->shape);
    if (given->scaled && out[0] != NULL)
        out[0] = mxl_mul(b->s, out[0], factor(b, 1));
    if (given->shifted && out[0] != NULL)
        out[0] = mxl_add(b->s, out[0], factor(b, factors));
    return out[0] == NULL ? -1 : 1;
}

/* ---- recurrent networks ---- */

/* The axis of rows of input i: parameters have none. */
static int rows_axis(const mxl_rnn_params *p, int i)
{
    int lengths = 3 + (p->mode == MXL_RNN_LSTM);

    if (i < lengths)
        return 1;
    return p->use_sequence_length && i == lengths ? 0 : 2;
}

/* The whole of input i with the rows of all examples along that axis. */
static mxl_array *rows_of(mxl_batch *b, int i, int axis)
{
    const mxl_array *x = &b->in[i]->array;
    mxl_array *whole = mxl_batch_fronted(b, b->in[i]->whole, b->in[i]->has_axis);
    int64_t shape[MXL_MAX_NDIM];

    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[axis] *= b->size;
    return mxl_batch_as(b, mxl_vmap_move(b, whole, 0, axis), x->ndim, shape);
}

int mxl_vmap_rnn(mxl_batch *b, mxl_array **out)
{
    mxl_rnn_params p = *(const mxl_rnn_params *)b->r->call.params;
    int last = b->r->call.num_outputs - 1;
    mxl_array *in[6];

    if (b->in[1]->has_axis || p.keeps)
        return 0;
    p.keeps = b->s->mode.record;
    for (int i = 0; i < b->count; i++) {
        in[i] = i == 1 ? b->in[i]->whole : rows_of(b, i, rows_axis(&p, i));
        if (in[i] == NULL)
            return -1;
        p.keeps = p.keeps && !mxl_array_is_batched(in[i]);
    }
    if (mxl_scope_call_many(b->s, b->r->call.op, &p, b->count, in, last + 1, out) != 0)
        return -1;
    for (int i = 0; i < last; i++) {
        const int64_t *size = b->r->out_shape[i].dim;
        const int64_t shape[4] = {size[0], b->size, size[1], size[2]};

        out[i] = mxl_vmap_move(b, mxl_batch_as(b, out[i], 4, shape), 1, 0);
    }
    out[last] = mxl_scope_new(b->s, b->in[0]->array.dtype, 2, (int64_t[]){b->size, 0});
    return out[0] == NULL || out[last] == NULL ? -1 : 1;
}

/* ---- attention, losses ---- */

int mxl_vmap_attention(mxl_batch *b, mxl_array **out)
{
    const mxl_array *query = &b->in[0]->array;
    mxl_array *in[4];

    for (int i = 0; i < b->count; i++) {
        in[i] = i < 3 ? mxl_batch_fronted(b, b->in[i]->whole, b->in[i]->has_axis)
                      : mxl_batch_aligned(b, i, query->ndim, query->shape, false);
        if (in[i] == NULL)
            return -1;
    }
    return mxl_scope_call_many(b->s, b->r->call.op, b->r->call.params, b->count, in,
                               b->r->call.num_outputs, out) != 0
               ? -1
               : 1;
}

int mxl_vmap_mse_loss(mxl_batch *b, mxl_array **out)
{
    const mxl_array *x = &b->in[0]->array;
    const int *mean = mxl_batch_flag(b, "mean");
    const int64_t rows[2] = {b->size, x->size};
    mxl_array *away = mxl_sub(b->s, mxl_batch_aligned(b, 0, x->ndim, x->shape, false),
                              mxl_batch_aligned(b, 1, x->ndim, x->shape, false));

    out[0] = mxl_sum_axis(b->s, mxl_batch_as(b, mxl_square(b->s, away), 2, rows), 1);
    if (out[0] != NULL && *mean)
        out[0] = mxl_div_scalar(b->s, out[0], (double)x->size);
    return out[0] == NULL ? -1 : 1;
}
