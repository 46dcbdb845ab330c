/* Recurrent layers: the products, and the order of the steps. The rest of a step is in rnn_cell. */
#include "kernel/rnn/rnn.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/gemm/gemm.h"
#include "kernel/rnn/rnn_cell.h"

/* Address of an element. */
static void *at(const mxl_rnn *r, const void *base, int64_t element)
{
    if (base == NULL)
        return NULL;
    return (char *)(uintptr_t)base + element * (int64_t)mxl_dtype_size(r->dtype);
}

static int64_t gates_of(const mxl_rnn *r)
{
    return mxl_rnn_gates(r->mode) * r->hidden;
}

static int64_t kept_of(const mxl_rnn *r)
{
    return mxl_rnn_kept(r->mode) * r->hidden;
}

/* rows x `to` = rows x `from` times a packed matrix. */
static mxl_product by_packed(const mxl_rnn *r, const mxl_gemm_packed *packed, const void *a,
                             int64_t from, void *c, int64_t to)
{
    return (mxl_product){.dtype = r->dtype,
                         .count = 1,
                         .m = r->batch,
                         .n = to,
                         .k = from,
                         .a = a,
                         .c = c,
                         .lda = from,
                         .ldb = to,
                         .ldc = to,
                         .packed = packed};
}

/* The parts of a step's arrays, in the order of the run. */
static mxl_rnn_step step_at(const mxl_rnn *r, int64_t count)
{
    int64_t t = r->reverse ? r->steps - 1 - count : count, rows = t * r->batch;
    int64_t before = (t + r->reverse) * r->batch, after = (t + !r->reverse) * r->batch;

    return (mxl_rnn_step){.layer = r,
                          .t = t,
                          .before = at(r, r->h, before * r->out),
                          .after = at(r, r->h, after * r->out),
                          .cell_before = at(r, r->cell, before * r->hidden),
                          .cell_after = at(r, r->cell, after * r->hidden),
                          .kept = at(r, r->kept, rows * kept_of(r)),
                          .wide = at(r, r->wide, rows * r->hidden),
                          .y = at(r, r->y, rows * r->y_row)};
}

/* ---- forward ---- */

/* The two biases of a gate as one, for the product of all inputs; gru adds that of the state within
 * r. NULL with the error set. */
static void *bias_of(const mxl_rnn *r)
{
    int64_t n = gates_of(r);
    size_t bytes = (size_t)n * mxl_dtype_size(r->dtype);
    void *sum = mxl_alloc(bytes);

    if (sum == NULL)
        return NULL;
    memcpy(sum, r->weights.x_bias, bytes);
    for (int64_t j = 0; j < n && r->mode != MXL_RNN_GRU; j++) {
        if (r->dtype == MXL_F32)
            ((float *)sum)[j] += ((const float *)r->weights.h_bias)[j];
        else
            ((double *)sum)[j] += ((const double *)r->weights.h_bias)[j];
    }
    return sum;
}

/* kept = x W' + b of all steps. */
static int multiply_inputs(const mxl_rnn *r)
{
    int64_t n = gates_of(r);
    void *bias = bias_of(r);
    int status;

    if (bias == NULL)
        return -1;
    status = mxl_products(&(mxl_product){.dtype = r->dtype,
                                         .tb = true,
                                         .count = 1,
                                         .m = r->steps * r->batch,
                                         .n = n,
                                         .k = r->in,
                                         .a = r->x,
                                         .b = r->weights.x,
                                         .c = r->kept,
                                         .lda = r->in,
                                         .ldb = r->in,
                                         .ldc = kept_of(r),
                                         .bias = bias});
    mxl_free(bias, (size_t)n * mxl_dtype_size(r->dtype));
    return status;
}

/* One step: the product with the state, the gates, the projection. */
static int forward_step(const mxl_rnn *r, mxl_rnn_step *step, const mxl_gemm_packed *h,
                        const mxl_gemm_packed *project, void *from_state)
{
    mxl_product p = by_packed(r, h, step->before, r->out, step->kept, gates_of(r));

    p.back = step->t % 2 != 0;
    if (r->mode == MXL_RNN_GRU) {
        step->from_state = p.c = from_state;
        p.bias = r->weights.h_bias;
    } else {
        p.accumulate = true;
    }
    if (mxl_products(&p) != 0)
        return -1;
    mxl_rnn_step_forward(step);
    if (project == NULL)
        return 0;
    p = by_packed(r, project, step->wide, r->hidden, step->after, r->out);
    if (mxl_products(&p) != 0)
        return -1;
    mxl_rnn_step_put(step);
    return 0;
}

int mxl_rnn_forward(const mxl_rnn *r)
{
    size_t bytes = (size_t)(r->batch * gates_of(r)) * mxl_dtype_size(r->dtype);
    mxl_gemm_packed *h = NULL, *project = NULL;
    void *from_state = NULL;
    int status = -1;

    if (r->steps == 0 || r->batch == 0)
        return 0;
    if (multiply_inputs(r) != 0)
        return -1;
    h = mxl_gemm_pack(r->dtype, true, gates_of(r), r->out, r->weights.h, r->out);
    if (h == NULL)
        goto done;
    if (r->mode == MXL_RNN_GRU && (from_state = mxl_alloc(bytes)) == NULL)
        goto done;
    if (r->wide != NULL) {
        project = mxl_gemm_pack(r->dtype, true, r->out, r->hidden, r->weights.project, r->hidden);
        if (project == NULL)
            goto done;
    }
    status = 0;
    for (int64_t i = 0; i < r->steps && status == 0; i++) {
        mxl_rnn_step step = step_at(r, i);

        status = forward_step(r, &step, h, project, from_state);
    }
done:
    mxl_gemm_unpack(h);
    mxl_gemm_unpack(project);
    mxl_free(from_state, bytes);
    return status;
}

/* ---- backward ---- */

/* Gradients of all steps, which the products of the weights read. */
typedef struct room {
    void *dgates, *dstate; /* the same array, but for gru */
    void *arrived, *dwide; /* with a projection */
    mxl_gemm_packed *h, *project;
    void *block;
    size_t bytes;
} room;

static int room_begin(room *m, const mxl_rnn *r)
{
    int64_t rows = r->steps * r->batch, gates = rows * gates_of(r);
    int64_t state = r->mode == MXL_RNN_GRU ? gates : 0;
    int64_t arrived = r->wide != NULL ? rows * r->out : 0;
    int64_t wide = r->wide != NULL ? r->batch * r->hidden : 0;

    *m = (room){.bytes = (size_t)(gates + state + arrived + wide) * mxl_dtype_size(r->dtype)};
    m->block = mxl_alloc(m->bytes);
    m->h = mxl_gemm_pack(r->dtype, false, r->out, gates_of(r), r->weights.h, r->out);
    if (r->wide != NULL)
        m->project =
            mxl_gemm_pack(r->dtype, false, r->hidden, r->out, r->weights.project, r->hidden);
    if (m->block == NULL || m->h == NULL || (r->wide != NULL && m->project == NULL))
        return -1;
    m->dgates = m->block;
    m->dstate = state > 0 ? at(r, m->block, gates) : m->dgates;
    if (r->wide != NULL) {
        m->arrived = at(r, m->block, gates + state);
        m->dwide = at(r, m->arrived, arrived);
    }
    return 0;
}

static void room_end(room *m)
{
    mxl_gemm_unpack(m->h);
    mxl_gemm_unpack(m->project);
    mxl_free(m->block, m->bytes);
}

static int backward_step(const mxl_rnn *r, const mxl_rnn_back *back, const room *m,
                         mxl_rnn_step *step)
{
    int64_t rows = step->t * r->batch, gates = gates_of(r);
    mxl_product p;

    step->dy = at(r, back->dy, rows * r->y_row);
    step->dh = back->dh;
    step->dcell = back->dcell;
    step->dgates = at(r, m->dgates, rows * gates);
    step->dstate = at(r, m->dstate, rows * gates);
    if (r->wide != NULL) {
        step->arrived = at(r, m->arrived, rows * r->out);
        mxl_rnn_step_arrive(step);
        p = by_packed(r, m->project, step->arrived, r->out, m->dwide, r->hidden);
        if (mxl_products(&p) != 0)
            return -1;
        step->dwide = m->dwide;
    }
    mxl_rnn_step_backward(step);
    p = by_packed(r, m->h, step->dstate, gates, back->dh, r->out);
    p.accumulate = true;
    return mxl_products(&p);
}

/* dw = d' a, summed over all steps: d has `rows` columns, a has `columns`. */
static int sum_products(const mxl_rnn *r, void *dw, const void *d, int64_t rows, const void *a,
                        int64_t columns)
{
    return mxl_gemm(r->dtype, true, false, rows, columns, r->steps * r->batch, d, rows, a, columns,
                    dw, columns, false);
}

/* The sum of the rows of d: a product with ones. */
static int sum_rows(const mxl_rnn *r, void *sum, const void *d, int64_t columns)
{
    int64_t rows = r->steps * r->batch;
    size_t bytes = (size_t)rows * mxl_dtype_size(r->dtype);
    void *ones = mxl_alloc(bytes);
    int status;

    if (ones == NULL)
        return -1;
    for (int64_t i = 0; i < rows; i++) {
        if (r->dtype == MXL_F32)
            ((float *)ones)[i] = 1;
        else
            ((double *)ones)[i] = 1;
    }
    status = mxl_gemm(r->dtype, false, false, 1, columns, rows, ones, rows, d, columns, sum,
                      columns, false);
    mxl_free(ones, bytes);
    return status;
}

static int weights_back(const mxl_rnn *r, const mxl_rnn_back *back, const room *m)
{
    const void *before = at(r, r->h, r->reverse ? r->batch * r->out : 0);
    int64_t gates = gates_of(r);

    if (sum_products(r, back->dw.x, m->dgates, gates, r->x, r->in) != 0 ||
        sum_products(r, back->dw.h, m->dstate, gates, before, r->out) != 0 ||
        sum_rows(r, back->dw.x_bias, m->dgates, gates) != 0)
        return -1;
    if (r->wide != NULL &&
        sum_products(r, back->dw.project, m->arrived, r->out, r->wide, r->hidden) != 0)
        return -1;
    if (m->dstate != m->dgates)
        return sum_rows(r, back->dw.h_bias, m->dstate, gates);
    memcpy(back->dw.h_bias, back->dw.x_bias, (size_t)gates * mxl_dtype_size(r->dtype));
    return 0;
}

int mxl_rnn_backward(const mxl_rnn *r, const mxl_rnn_back *back)
{
    int64_t gates = gates_of(r);
    int status;
    room m;

    status = room_begin(&m, r);
    for (int64_t i = r->steps - 1; i >= 0 && status == 0; i--) {
        mxl_rnn_step step = step_at(r, i);

        status = backward_step(r, back, &m, &step);
    }
    if (status == 0 && back->dw.x != NULL)
        status = weights_back(r, back, &m);
    if (status == 0 && back->dx != NULL)
        status = mxl_gemm(r->dtype, false, false, r->steps * r->batch, r->in, gates, m.dgates,
                          gates, r->weights.x, r->in, back->dx, r->in, back->add_dx);
    room_end(&m);
    return status;
}
