/* How every operator runs: check, infer, allocate, note on the tape, compute. */
#include "engine/run/run.h"

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/run/builtin_ops.h"
#include "engine/tape/rebase.h"
#include "engine/run/scope.h"
#include "op/plan.h"

int mxl_invoke_arity(const mxl_op *op, const void *params, int num_inputs, mxl_arity *arity)
{
    int listed = 0;

    arity->inputs = num_inputs;
    arity->outputs = 1;
    arity->visible = 1;
    if (op->arity != NULL) {
        if (op->arity(params, arity) != 0)
            return -1;
        listed = arity->inputs;
    } else {
        while (op->inputs[listed].name != NULL)
            listed++;
        arity->inputs = listed;
    }
    if (num_inputs != listed)
        return mxl_error("%s: takes %d input%s, got %d", op->name, listed, listed == 1 ? "" : "s",
                         num_inputs);
    return 0;
}

static int check_inputs(const mxl_op *op, int count, mxl_array *const *inputs)
{
    for (int i = 0; i < count; i++) {
        if (inputs[i] == NULL || inputs[i]->storage == NULL)
            return mxl_error(
                "%s: input %d has no shape yet: it was created empty and never written", op->name,
                i);
    }
    return 0;
}

/* ---- recording ---- */

/* 1: the call gets a node; 0: it does not; -1: it cannot be recorded. */
static int wants_node(const mxl_op *op, int num_inputs, mxl_array *const *inputs, mxl_mode mode)
{
    return mode.record ? mxl_tape_wants(op, num_inputs, inputs, mode.dialect) : 0;
}

/* Whether a call with these outputs is recorded at all. */
static bool carries_gradients(int num_outputs, const int *dtypes, const mxl_dialect *dialect)
{
    for (int i = 0; i < num_outputs && dialect->only_floats; i++) {
        if (mxl_dtype_is_float(dtypes[i]))
            return true;
    }
    return !dialect->only_floats;
}

/* ---- dtypes and shapes of outputs ---- */

static mxl_device first_device(int num_inputs, mxl_array *const *inputs)
{
    return num_inputs == 0 ? 0 : mxl_device_of_results(inputs[0]->device);
}

static int run_infer(mxl_run *r)
{
    const mxl_op *op = r->call.op;
    mxl_infer infer = {.op = op,
                       .params = r->call.params,
                       .num_inputs = r->call.num_inputs,
                       .num_outputs = r->call.num_outputs,
                       .in = r->given_in,
                       .out_shape = r->out_shape,
                       .out_dtype = r->out_dtype,
                       .training = r->mode.training,
                       .legacy_shape = r->mode.legacy_shape,
                       .scalars = r->mode.dialect->views,
                       .device = first_device(r->call.num_inputs, r->given_in)};

    for (int i = 0; i < r->call.num_outputs; i++) {
        mxl_array *out = i < r->arity.visible ? r->given_out[i] : NULL;

        r->out_dtype[i] = MXL_DTYPE_UNKNOWN;
        r->out_shape[i].ndim = -1;
        if (out != NULL && out->storage != NULL) {
            r->out_dtype[i] = out->dtype;
            mxl_shape_set(&r->out_shape[i], out->ndim, out->shape);
        }
    }
    if (op->infer(&infer) != 0)
        return -1;
    for (int i = 0; i < r->call.num_outputs; i++)
        mxl_infer_legacy(&infer, i, i < r->arity.visible ? r->given_out[i] : NULL);
    r->device = infer.device;
    return 0;
}

static int check_fits(const mxl_run *r, int i)
{
    const mxl_array *out = r->given_out[i];
    const mxl_shape *want = &r->out_shape[i];
    char have_text[128], want_text[128];

    if (out->dtype != r->out_dtype[i])
        return mxl_error("%s: the output given is %s, the result is %s", r->call.op->name,
                         mxl_dtype_name(out->dtype), mxl_dtype_name(r->out_dtype[i]));
    if (mxl_shape_same(out->ndim, out->shape, want->ndim, want->dim))
        return 0;
    return mxl_error("%s: the output given has shape %s, the result has %s", r->call.op->name,
                     mxl_shape_text(have_text, sizeof(have_text), out->ndim, out->shape),
                     mxl_shape_text(want_text, sizeof(want_text), want->ndim, want->dim));
}

/* Whether the results fit the arrays that the caller gives. */
static int check_given(const mxl_run *r)
{
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL && r->given_out[i]->storage != NULL && check_fits(r, i) != 0)
            return -1;
    }
    return 0;
}

/* Whether writing `out` while reading the inputs would spoil them. Element-wise loops may write
 * over an input that lies exactly under the output. */
static bool overlaps(const mxl_run *r, const mxl_array *out)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        const mxl_array *in = r->given_in[i];

        if (in->storage != out->storage)
            continue;
        if (!(r->call.op->kernels != NULL || r->call.op->in_place) || in->offset != out->offset ||
            in->dtype != out->dtype || !mxl_array_same_shape(in, out) || !in->contiguous ||
            !out->contiguous)
            return true;
    }
    return false;
}

/* A new view of the input as the plan of one of so many outputs says, where the dialect has views.
 * NULL: it is none; *status -1: no memory. */
static mxl_array *view_of(const mxl_plan *plan, mxl_array *in, int num_outputs, mxl_mode mode,
                          int *status)
{
    mxl_array *view;

    *status = 0;
    if (!mode.dialect->views || !mxl_plan_is_view(plan))
        return NULL;
    view = mxl_array_strided(in, plan->skip, plan->shape.ndim, plan->shape.dim, plan->strides);
    if (view == NULL)
        *status = -1;
    else if (plan->op->forgets_base)
        mxl_array_release_base(view);
    else if (!mode.record)
        view->view_kind = MXL_VIEW_UNRECORDED;
    else if (num_outputs > 1)
        view->view_kind = MXL_VIEW_ONE_OF_MANY;
    else
        view->view_kind = in->view_kind;
    return view;
}

/* The same for output i of the run. */
__attribute__((noinline)) static mxl_array *run_view(const mxl_run *r, int i, int *status)
{
    const mxl_call *call = &r->call;
    mxl_plan plan;

    *status = 0;
    if (call->op->plan == NULL || !r->mode.dialect->views || call->num_inputs != 1)
        return NULL;
    *status = mxl_plan_inputs(&plan, call->op, call->params, i, false, 1, r->given_in);
    return *status != 0 ? NULL : view_of(&plan, r->given_in[0], call->num_outputs, r->mode, status);
}

/* ---- composite operators ---- */

/* Begins a scope and runs the composition in it: call.out is scoped. */
static int run_parts(mxl_run *r, mxl_scope *scope, bool record)
{
    mxl_call call = r->call;
    mxl_mode mode = r->mode;

    call.in = (mxl_array **)r->given_in;
    mode.record = record;
    mode.dialect = mode.dialect->plain; /* a label names the whole, not its parts */
    mxl_scope_begin(scope, mode);
    return mxl_compose(scope, &call);
}

/* With a label a composite operator is one node, like any other operator. Sets call.out to what its
 * parts make, unrecorded; an array that shares memory with another one becomes a copy. */
static int run_unrecorded(mxl_run *r)
{
    mxl_scope scope;
    int status = run_parts(r, &scope, false);

    for (int i = 0; i < r->call.num_outputs; i++) {
        r->call.out[i] = status != 0 ? NULL : mxl_array_alias(r->call.out[i]);
        if (r->call.out[i] == NULL)
            status = -1;
    }
    mxl_scope_end(&scope);
    for (int i = 0; i < r->call.num_outputs && status == 0; i++) {
        mxl_array *out = r->call.out[i];

        if (!mxl_array_is_unique(out)) {
            r->call.out[i] = mxl_array_copy(out);
            mxl_array_release(out);
        }
        if (r->call.out[i] == NULL)
            return -1;
        r->call.out[i]->device = r->device;
    }
    r->views = r->call.num_outputs; /* nothing is left to compute */
    return status;
}

/* ---- inputs and outputs ---- */

/* Sets call.out: the caller's arrays (borrowed) where they can be written directly, new ones
 * otherwise. */
static int run_outputs(mxl_run *r)
{
    int status = 0;

    if (check_given(r) != 0)
        return -1;
    if (r->call.op->compute == NULL)
        return run_unrecorded(r);
    for (int i = 0; i < r->call.num_outputs; i++) {
        mxl_array *given = i < r->arity.visible ? r->given_out[i] : NULL;
        mxl_shape *shape = &r->out_shape[i];

        if (given != NULL && given->storage != NULL &&
            (given->contiguous || r->call.op->kernels != NULL) && !overlaps(r, given)) {
            r->call.out[i] = given;
            continue;
        }
        if (given == NULL)
            r->call.out[i] = run_view(r, i, &status);
        if (r->call.out[i] != NULL) {
            r->views++;
            continue;
        }
        if (status == 0)
            r->call.out[i] = mxl_array_new(r->out_dtype[i], shape->ndim, shape->dim);
        if (r->call.out[i] == NULL)
            return -1;
        r->call.out[i]->device = r->device;
    }
    return 0;
}

/* Sets call.in (borrowed entries, but for copies made here): the inputs as they are, or contiguous
 * copies where the operator needs them. */
static int run_inputs(mxl_run *r)
{
    bool strided =
        r->call.op->kernels != NULL || r->call.op->strided || r->views == r->call.num_outputs;

    for (int i = 0; i < r->call.num_inputs; i++) {
        mxl_array *in = r->given_in[i];

        r->call.in[i] = strided || in->contiguous ? in : mxl_array_contiguous(in);
        if (r->call.in[i] == NULL)
            return -1;
    }
    return 0;
}

/* Brings a mutated input's contiguous copy back to where it came from. */
static int run_write_back(mxl_run *r)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (r->call.in[i] != r->given_in[i] && mxl_run_mutates(r->call.op, i) &&
            mxl_array_copy_into(r->given_in[i], r->call.in[i]) != 0)
            return -1;
    }
    return 0;
}

/* Hands the results over: to entries that were NULL, to arrays that had no shape, by a copy to
 * arrays that could not be written directly. */
static int run_accumulate(mxl_run *r)
{
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array *given = r->given_out[i], *out = r->call.out[i];

        if (given != NULL && given->storage != NULL && given != out &&
            mxl_array_copy_into(given, out) != 0)
            return -1;
    }
    mxl_run_note_edits(r);
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array *given = r->given_out[i], *out = r->call.out[i];

        if (given == NULL) {
            if (r->mode.dialect->views && out->base == NULL)
                mxl_storage_set_version(out->storage, 0);
            r->given_out[i] = out;
            r->call.out[i] = NULL;
        } else if (given->storage == NULL) {
            mxl_array_become(given, out);
            r->call.out[i] = given;
        }
    }
    if (mxl_run_attach(r) == 0)
        return 0;
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->call.out[i] != NULL)
            continue;
        mxl_array_release(r->given_out[i]);
        r->given_out[i] = NULL;
    }
    return -1;
}

/* ---- the run ---- */

static int run_begin(mxl_run *r)
{
    size_t in = (size_t)r->call.num_inputs, out = (size_t)r->call.num_outputs;

    r->call.in = r->in_room;
    r->call.out = r->out_room;
    r->out_shape = r->shape_room;
    r->out_dtype = r->dtype_room;
    r->node = r->slices = NULL;
    r->edited_view = NULL;
    r->views = 0;
    r->version = 0;
    if (in > IN_ROOM) {
        r->call.in = mxl_alloc(in * sizeof(*r->call.in));
        if (r->call.in == NULL)
            return -1;
    }
    if (out > OUT_ROOM) {
        char *block = mxl_alloc(out * (sizeof(mxl_shape) + sizeof(mxl_array *) + sizeof(int)));
        if (block == NULL) {
            if (in > IN_ROOM)
                mxl_free(r->call.in, in * sizeof(*r->call.in));
            return -1;
        }
        r->out_shape = (mxl_shape *)block;
        r->call.out = (mxl_array **)(r->out_shape + out);
        r->out_dtype = (int *)(r->call.out + out);
    }
    for (size_t i = 0; i < in; i++)
        r->call.in[i] = NULL;
    for (size_t i = 0; i < out; i++)
        r->call.out[i] = NULL;
    return 0;
}

static void run_end(mxl_run *r)
{
    size_t in = (size_t)r->call.num_inputs, out = (size_t)r->call.num_outputs;

    for (size_t i = 0; i < in; i++) {
        if (r->call.in[i] != r->given_in[i])
            mxl_array_release(r->call.in[i]);
    }
    for (size_t i = 0; i < out; i++) {
        if ((int)i >= r->arity.visible || r->call.out[i] != r->given_out[i])
            mxl_array_release(r->call.out[i]);
    }
    if (r->node != NULL)
        mxl_ref_release(&r->node->ref);
    if (r->slices != NULL)
        mxl_ref_release(&r->slices->ref);
    if (r->call.in != r->in_room)
        mxl_free(r->call.in, in * sizeof(*r->call.in));
    if (r->call.out != r->out_room)
        mxl_free(r->out_shape, out * (sizeof(mxl_shape) + sizeof(mxl_array *) + sizeof(int)));
}

static int run_compute(mxl_run *r)
{
    int records;

    if (r->mode.record && (mxl_run_refresh(r->call.num_inputs, r->given_in, r->mode) != 0 ||
                           mxl_run_refresh(r->arity.visible, r->given_out, r->mode) != 0))
        return -1;
    records = wants_node(r->call.op, r->call.num_inputs, r->given_in, r->mode);
    if (records < 0 || mxl_run_check_edits(r, records) != 0 || run_infer(r) != 0 ||
        run_outputs(r) != 0 || run_inputs(r) != 0)
        return -1;
    if (r->given_out[0] != NULL && r->given_out[0]->storage != NULL)
        r->version = mxl_storage_version(r->given_out[0]->storage);
    if (!carries_gradients(r->call.num_outputs, r->out_dtype, r->mode.dialect)) {
        records = 0;
        r->edited_view = NULL;
    }
    if ((records || r->edited_view != NULL) && mxl_run_record(r, records) != 0)
        return -1;
    if (r->views < r->call.num_outputs && r->call.op->compute(&r->call) != 0)
        return -1;
    return run_write_back(r) != 0 ? -1 : run_accumulate(r);
}

/* Without a label a composite operator runs as its parts, each recorded for itself. Results are
 * copied to arrays that the caller gives. */
static int run_composite(mxl_run *r)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_scope scope;
    int status;

    if (builtin == NULL || run_infer(r) != 0 || check_given(r) != 0)
        return -1;
    status = run_parts(r, &scope, r->mode.record);
    for (int i = 0; i < r->arity.visible && status == 0; i++) {
        if (r->given_out[i] != NULL)
            status =
                mxl_invoke(builtin->copyto, NULL, 1, &r->call.out[i], 1, &r->given_out[i], r->mode);
    }
    for (int i = 0; i < r->call.num_outputs; i++) {
        mxl_array *out = r->call.out[i];

        r->call.out[i] = NULL;
        if (status != 0 || i >= r->arity.visible || r->given_out[i] != NULL)
            continue;
        mxl_array_retain(out);
        if (out->base == NULL && out != r->given_in[0])
            out->device = r->device;
        r->given_out[i] = out;
    }
    mxl_scope_end(&scope);
    return status;
}

/* The commonest call by far: one new result, nothing composed, updated or copied aside. The steps
 * of run_compute without what they set aside; a third of the cost of a small call. */
static bool is_plain(const mxl_op *op, int num_inputs, mxl_array *const *inputs, int num_outputs,
                     mxl_array *const *out)
{
    if (op->arity != NULL || op->compose != NULL || num_outputs != 1 || out[0] != NULL)
        return false;
    for (int i = 0; i < num_inputs; i++) {
        if (op->inputs[i].name == NULL || op->inputs[i].mutated || inputs[i]->storage == NULL ||
            !(inputs[i]->contiguous || op->kernels != NULL || op->strided))
            return false;
    }
    return op->inputs[num_inputs].name == NULL;
}

/* dtype and shape of the result; where it only moves elements, with the plan of the view or the
 * copy. -1 with the error set. */
static inline int plain_infer(mxl_infer *infer, mxl_plan *plan)
{
    int status = plan == NULL ? infer->op->infer(infer)
                              : mxl_plan_inputs(plan, infer->op, infer->params, 0,
                                                infer->legacy_shape, infer->num_inputs, infer->in);

    if (status != 0)
        return -1;
    if (plan != NULL) {
        mxl_shape *planned = mxl_plan_result(plan);

        infer->out_dtype[0] = infer->in[0]->dtype;
        infer->out_shape->ndim = 0;
        if (planned->ndim > 0)
            infer->out_shape = planned;
    }
    if (infer->out_shape->ndim == 0)
        mxl_infer_legacy(infer, 0, NULL);
    return 0;
}

/* `plan`: room for the plan of an operator that only moves elements, NULL for others. */
__attribute__((always_inline)) static inline int
invoke_one(const mxl_op *op, const void *params, int num_inputs, mxl_array *const *inputs,
           mxl_array **out, mxl_mode mode, mxl_plan *plan)
{
    mxl_array *result = NULL;
    mxl_shape shape;
    int dtype = MXL_DTYPE_UNKNOWN;
    mxl_infer infer = {op,
                       params,
                       num_inputs,
                       1,
                       inputs,
                       &shape,
                       &dtype,
                       mode.training,
                       mode.legacy_shape,
                       mode.dialect->views,
                       first_device(num_inputs, inputs)};
    mxl_call call = {op, params, num_inputs, 1, (mxl_array **)inputs, &result, mode.training};
    mxl_node *node = NULL;
    int records, status = 0;
    bool is_view;

    if (mode.record && mode.dialect->rebase && mxl_run_refresh(num_inputs, inputs, mode) != 0)
        return -1;
    records = wants_node(op, num_inputs, inputs, mode);
    shape.ndim = -1;
    if (records < 0 || plain_infer(&infer, plan) != 0)
        return -1;
    records = records && carries_gradients(1, &dtype, mode.dialect);
    if (plan != NULL && num_inputs == 1)
        result = view_of(plan, inputs[0], 1, mode, &status);
    is_view = result != NULL;
    if (!is_view && status == 0)
        result = mxl_array_new(dtype, infer.out_shape->ndim, infer.out_shape->dim);
    if (result == NULL)
        return -1;
    if (!is_view)
        result->device = infer.device;
    if (records)
        node = mxl_node_new(&call, mode.dialect);
    if (records && node == NULL)
        status = -1;
    else if (plan == NULL)
        status = op->compute(&call);
    else if (!is_view)
        mxl_plan_copy(plan, inputs[0], result);
    if (status == 0 && mode.dialect->views && !is_view)
        mxl_storage_set_version(result->storage, 0); /* what is counted there are edits */
    if (status == 0 && node != NULL)
        status = mxl_node_attach(node, 1, &result);
    else if (status == 0 && mode.record)
        mxl_tape_freeze(num_inputs, inputs, 1, &result, mode.dialect);
    if (node != NULL)
        mxl_ref_release(&node->ref);
    if (status != 0)
        mxl_array_release(result);
    else
        *out = result;
    return status;
}

/* Not inlined, as a plan on the stack of every call would cost each of them 20 ns. */
__attribute__((noinline)) static int invoke_moved(const mxl_op *op, const void *params,
                                                  int num_inputs, mxl_array *const *inputs,
                                                  mxl_array **out, mxl_mode mode)
{
    mxl_plan plan;

    return invoke_one(op, params, num_inputs, inputs, out, mode, &plan);
}

int mxl_invoke(const mxl_op *op, const void *params, int num_inputs, mxl_array *const *inputs,
               int num_outputs, mxl_array **out, mxl_mode mode)
{
    mxl_run r;
    int status;

    if (is_plain(op, num_inputs, inputs, num_outputs, out))
        return op->plan != NULL ? invoke_moved(op, params, num_inputs, inputs, out, mode)
                                : invoke_one(op, params, num_inputs, inputs, out, mode, NULL);
    if (mxl_invoke_arity(op, params, num_inputs, &r.arity) != 0 ||
        check_inputs(op, num_inputs, inputs) != 0)
        return -1;
    if (num_outputs > r.arity.visible && num_outputs <= r.arity.outputs)
        r.arity.visible = num_outputs; /* the caller asks for outputs that are usually hidden */
    if (num_outputs != r.arity.visible)
        return mxl_error("%s: has %d output%s, %d were given", op->name, r.arity.visible,
                         r.arity.visible == 1 ? "" : "s", num_outputs);
    r.call.op = op;
    r.call.params = params;
    r.call.num_inputs = num_inputs;
    r.call.num_outputs = r.arity.outputs;
    r.call.training = mode.training;
    r.mode = mode;
    r.given_in = inputs;
    r.given_out = out;
    if (run_begin(&r) != 0)
        return -1;
    if (op->compose != NULL && mode.dialect->label == NULL &&
        (op->compute == NULL || wants_node(op, num_inputs, inputs, mode) != 0))
        status = run_composite(&r);
    else
        status = run_compute(&r);
    run_end(&r);
    return status;
}
