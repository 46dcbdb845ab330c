/* Checks and calls that the operators of optimizers share. */
#include "ops/optimizer/steps.h"

#include <limits.h>
#include <string.h>

#include "base/memory/mem.h"

static int check_shape(const mxl_op *op, const mxl_array *weight, const mxl_array *other)
{
    if (mxl_array_same_shape(weight, other))
        return 0;
    return mxl_error("%s: a weight has shape %s and its gradient or state has %s; they must be the "
                     "same",
                     op->name, MXL_SHAPE_OF(weight), MXL_SHAPE_OF(other));
}

int mxl_step_check(const mxl_op *op, const mxl_step_kind *kind, mxl_array *const *in)
{
    if (mxl_check_float(op, in[0]) != 0)
        return -1;
    for (int i = 1; i < mxl_step_stride(kind); i++) {
        if (i < 2 || !kind->mixed) {
            if (mxl_check_dtypes(op, in[0], in[i]) != 0)
                return -1;
        } else if (in[i]->dtype != MXL_F32) {
            return mxl_error("%s: the state and the copy of a weight are float32, got %s", op->name,
                             mxl_dtype_name(in[i]->dtype));
        }
        if (check_shape(op, in[0], in[i]) != 0)
            return -1;
    }
    return 0;
}

mxl_step mxl_step_of(const mxl_step_kind *kind, const mxl_step_params *params, mxl_array *const *in,
                     mxl_array *out)
{
    mxl_step step = {
        .weight = mxl_array_read(in[0]),
        .grad = mxl_array_read(in[1]),
        .size = out->size,
        .lr = (float)params->n.lr,
        .wd = (float)params->n.wd,
        .eta = (float)params->n.eta,
        .rescale = 1,
        .bias1 = 1,
        .bias2 = 1,
    };

    for (int i = 0; i < kind->states; i++)
        step.state[i] = mxl_array_write(in[2 + i]);
    if (kind->mixed)
        step.master = mxl_array_write(in[2 + kind->states]);
    step.out = mxl_array_write(out);
    return step;
}

void mxl_step_run(const mxl_step_kind *kind, int dtype, int count, const mxl_step *steps,
                  const mxl_step_params *params, int64_t *first)
{
    const mxl_step_fn *loops = kind->mixed ? kind->rule->mixed : kind->rule->same;
    int64_t of_one[2];

    mxl_steps_run(loops[dtype], count, steps, &params->n, first != NULL ? first : of_one);
}

/* ---- one weight ---- */

int mxl_step_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    if (mxl_step_check(infer->op, kind, infer->in) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

int mxl_step_compute(const mxl_call *call, const mxl_step_kind *kind)
{
    mxl_step step = mxl_step_of(kind, call->params, call->in, call->out[0]);

    mxl_step_run(kind, call->out[0]->dtype, 1, &step, call->params, NULL);
    return 0;
}

/* ---- several weights ---- */

int mxl_steps_arity(const mxl_step_kind *kind, int64_t num_weights, mxl_arity *arity)
{
    int stride = mxl_step_stride(kind);

    if (num_weights < 1 || num_weights > (INT_MAX - kind->extra) / stride)
        return mxl_error("a step of several weights: their number is %lld; at least 1, at most %d",
                         (long long)num_weights, (INT_MAX - kind->extra) / stride);
    arity->inputs = (int)num_weights * stride + kind->extra;
    arity->outputs = arity->visible = (int)num_weights;
    return 0;
}

bool mxl_steps_mutates(const mxl_call *call, const mxl_step_kind *kind, int i)
{
    return i < call->num_inputs - kind->extra && i % mxl_step_stride(kind) >= 2;
}

int mxl_steps_infer(mxl_infer *infer, const mxl_step_kind *kind)
{
    int stride = mxl_step_stride(kind);

    for (int i = 0; i < infer->num_outputs; i++) {
        mxl_array *const *in = infer->in + i * stride;

        if (mxl_check_dtypes(infer->op, infer->in[0], in[0]) != 0 ||
            mxl_step_check(infer->op, kind, in) != 0)
            return -1;
        mxl_shape_set(&infer->out_shape[i], in[0]->ndim, in[0]->shape);
        infer->out_dtype[i] = in[0]->dtype;
    }
    return 0;
}

int mxl_steps_check_list(const mxl_infer *infer, const char *name, int n)
{
    if (n == infer->num_outputs)
        return 0;
    return mxl_error("%s: %s must have a number for each of %d weights, got %d", infer->op->name,
                     name, infer->num_outputs, n);
}

int mxl_steps_new(mxl_steps *all, const mxl_call *call, const mxl_step_kind *kind)
{
    const mxl_step_params *p = call->params;
    size_t count = (size_t)call->num_outputs;
    int stride = mxl_step_stride(kind);

    all->bytes = count * sizeof(*all->steps) + (count + 1) * sizeof(*all->first);
    all->steps = mxl_alloc(all->bytes);
    if (all->steps == NULL)
        return -1;
    all->first = (int64_t *)(all->steps + count);
    all->count = call->num_outputs;
    for (int i = 0; i < call->num_outputs; i++) {
        mxl_step *step = &all->steps[i];

        *step = mxl_step_of(kind, p, call->in + i * stride, call->out[i]);
        if (p->lrs.n > 0)
            step->lr = (float)p->lrs.v[i];
        if (p->wds.n > 0)
            step->wd = (float)p->wds.v[i];
        if (p->etas.n > 0)
            step->eta = (float)p->etas.v[i];
    }
    return 0;
}

void mxl_steps_free(mxl_steps *all)
{
    mxl_free(all->steps, all->bytes);
}
