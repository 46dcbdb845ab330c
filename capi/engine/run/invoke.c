/* How every operator runs: check, infer, allocate, record, compute, attach. */
#include "engine/batch/batch.h"
#include "engine/run/carry.h"
#include "engine/run/run.h"

#include "array/failure.h"
#include "array/copy.h"
#include "base/error.h"
#include "base/profile/profile.h"
#include "engine/tape/rebase.h"
#include "op/plan.h"
#include "op/sparse_forms.h"

/* A run is written once and compiled twice: with `plain` for the commonest call by far, which has
 * one new output and needs no copy of an input, nothing updated and nothing composed. Without that
 * (`is_plain` false for every call) an addition of 4 x 4 through MXLCall2 takes 118 ns instead of
 * 72, recorded 197 instead of 131 (benchmarks/c_call.c, Zen 4). */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

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

/* Fills the plan of an operator that only moves elements, and sets out_dtype, out_shape and device
 * by it. */
ALWAYS_INLINE int infer_plan(mxl_run *r, mxl_plan *plan)
{
    mxl_shape *planned;

    if (mxl_plan_inputs(plan, r->call.op, r->call.params, 0, r->mode.legacy_shape,
                        r->call.num_inputs, r->given_in) != 0)
        return -1;
    planned = mxl_plan_result(plan);
    r->out_dtype[0] = r->given_in[0]->dtype;
    r->device = mxl_run_device(r);
    r->out_shape->ndim = 0;
    if (planned->ndim > 0) {
        r->out_shape = planned;
    } else if (r->mode.legacy_shape) {
        mxl_infer infer = mxl_run_infer_of(r, 1);

        mxl_infer_legacy(&infer, 0, NULL);
    }
    return 0;
}

/* Sets out_dtype, out_shape and device. -1 with the error set. */
ALWAYS_INLINE int run_infer(mxl_run *r, bool plain)
{
    mxl_infer infer;

    if (!plain)
        return mxl_run_infer(r);
    infer = mxl_run_infer_of(r, 1);
    r->out_dtype[0] = MXL_DTYPE_UNKNOWN;
    r->out_shape->ndim = -1;
    if (r->call.op->infer(&infer) != 0)
        return -1;
    if (r->out_shape->ndim == 0)
        mxl_infer_legacy(&infer, 0, NULL);
    r->device = infer.device;
    return 0;
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
    else
        mxl_rebase_note_view(view, in, num_outputs, mode.record);
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

/* Output i, new: a view or with memory of its own. */
ALWAYS_INLINE mxl_array *new_output(mxl_run *r, int i, const mxl_plan *plan, bool plain)
{
    mxl_array *out = NULL;
    int status = 0;

    if (plan != NULL && r->call.num_inputs == 1)
        out = view_of(plan, r->given_in[0], 1, r->mode, &status);
    else if (!plain && mxl_run_given(r, i) == NULL)
        out = run_view(r, i, &status);
    if (out != NULL) {
        r->views++;
        return out;
    }
    if (status == 0 && !plain && r->meta)
        out = mxl_array_on_meta(r->out_dtype[i], r->out_shape[i].ndim, r->out_shape[i].dim);
    else if (status == 0)
        out = (r->call.op->kernels != NULL ? mxl_array_new_later : mxl_array_new)(
            r->out_dtype[i], r->out_shape[i].ndim, r->out_shape[i].dim);
    if (out == NULL)
        return NULL;
    out->device = r->device;
    if (mxl_run_lays(r))
        mxl_run_lay(r, out);
    return out;
}

/* Sets call.out: the caller's arrays (borrowed) where they can be written directly, new ones
 * otherwise. */
ALWAYS_INLINE int run_outputs(mxl_run *r, const mxl_plan *plan, bool plain)
{
    int count = plain ? 1 : r->call.num_outputs;

    if (!plain && r->call.op->compute == NULL && !r->meta)
        return r->views > 0 ? 0 : mxl_run_unrecorded(r);
    for (int i = 0; i < count; i++) {
        mxl_array *given = plain ? NULL : mxl_run_given(r, i);

        if (given != NULL && given->storage != NULL && !plain && r->meta)
            r->call.out[i] = given;
        else if (given != NULL && given->storage != NULL &&
                 (given->contiguous || r->call.op->kernels != NULL ||
                  (r->call.op->strided && r->call.op->writes_last)) &&
                 !mxl_run_overlaps(r, given))
            r->call.out[i] = given;
        else
            r->call.out[i] = new_output(r, i, plan, plain);
        if (r->call.out[i] == NULL)
            return -1;
    }
    return 0;
}

/* Whether all outputs are views, so that there is nothing to compute. (An operator without outputs
 * computes what it updates.) */
ALWAYS_INLINE bool is_done(const mxl_run *r)
{
    return r->views > 0 && r->views == r->call.num_outputs;
}

/* Sets call.in (borrowed entries, but for copies made here): the inputs as they are, or contiguous
 * copies where the operator needs them. */
static int run_inputs(mxl_run *r)
{
    bool strided = r->call.op->kernels != NULL || r->call.op->strided || is_done(r) || r->meta;

    for (int i = 0; i < r->call.num_inputs; i++) {
        mxl_array *in = r->given_in[i];

        r->call.in[i] = strided || in->contiguous ? in : mxl_array_contiguous(in);
        if (r->call.in[i] == NULL)
            return -1;
    }
    return 0;
}

/* Hands the results over, to entries that were NULL and to arrays that had no shape, and attaches
 * them. */
ALWAYS_INLINE int run_finish(mxl_run *r, bool plain)
{
    int count = plain ? 1 : r->arity.visible, status = 0;

    if (!plain && mxl_run_copy_to_given(r) != 0)
        return -1;
    if (!plain)
        mxl_run_note_edits(r);
    for (int i = 0; i < count; i++) {
        mxl_array *out = r->call.out[i];

        if (plain || r->given_out[i] == NULL) {
            if (r->mode.dialect->views && out->base == NULL)
                mxl_storage_set_version(out->storage, 0); /* versions count edits there */
            r->given_out[i] = out;
            r->call.out[i] = NULL;
        } else if (r->given_out[i]->storage == NULL) {
            mxl_array_become(r->given_out[i], out);
            r->call.out[i] = r->given_out[i];
        }
    }
    if (!r->mode.record)
        return 0;
    if (r->node == NULL)
        mxl_tape_freeze(r->call.num_inputs, r->given_in, count, r->given_out, r->mode.dialect);
    else
        status = mxl_node_attach(r->node, count, r->given_out);
    if (!plain && status == 0)
        status = mxl_run_follow(r);
    for (int i = 0; i < count && status != 0; i++) {
        if (r->call.out[i] != NULL)
            continue;
        mxl_array_release(r->given_out[i]);
        r->given_out[i] = NULL;
    }
    return status;
}

/* ---- the run ---- */

/* Before anything is allocated: 1 where the call gets a node, 0 where not, -1 with the error set.
 */
ALWAYS_INLINE int run_check(mxl_run *r, bool plain)
{
    int records;

    if (r->mode.record && r->mode.dialect->rebase) {
        if (mxl_run_refresh(r->call.num_inputs, r->given_in, r->mode) != 0 ||
            (!plain && mxl_run_refresh(r->arity.visible, r->given_out, r->mode) != 0))
            return -1;
    }
    records = wants_node(r->call.op, r->call.num_inputs, r->given_in, r->mode);
    return records >= 0 && !plain && mxl_run_check_edits(r, records) != 0 ? -1 : records;
}

int mxl_run_check(mxl_run *r)
{
    return run_check(r, false);
}

int mxl_run_finish(mxl_run *r)
{
    return run_finish(r, false);
}

/* Makes the node of a call that a gradient may flow through. */
ALWAYS_INLINE int run_record(mxl_run *r, const mxl_call *call, int records, bool plain)
{
    if (!carries_gradients(plain ? 1 : r->call.num_outputs, r->out_dtype, r->mode.dialect)) {
        r->edited_view = NULL;
        return 0;
    }
    if (!plain)
        return mxl_run_record(r, records);
    r->node = mxl_node_new(call, r->mode.dialect);
    return r->node == NULL ? -1 : 0;
}

int mxl_run_node(mxl_run *r, int records)
{
    return records || r->edited_view != NULL ? run_record(r, &r->call, records, false) : 0;
}

/* In place of an operator's compute while the profiler runs. */
static int compute_measured(const mxl_call *call)
{
    mxl_span span = mxl_span_begin(true);
    int status = call->op->compute(call);

    mxl_span_end(&span, "", call->op->name, status == 0);
    return status;
}

/* Whether an array of the call has a dtype without loops. Inputs of a plain call have none. */
ALWAYS_INLINE bool is_carried(const mxl_run *r, bool plain)
{
    return plain ? mxl_dtype_is_carried(r->out_dtype[0])
                 : mxl_carries(r->call.num_inputs, r->call.in) ||
                       mxl_carries(r->call.num_outputs, r->call.out);
}

/* What computes. One place of the code calls it, so that the profiler costs other calls a load and
 * a branch; a branch at the beginning of a call would cost each of them twice as much. */
ALWAYS_INLINE int (*compute_of(const mxl_op *op, bool carried))(const mxl_call *)
{
    return carried ? mxl_carry_compute : mxl_profile_runs() ? compute_measured : op->compute;
}

/* `plan`: room for the plan of an operator that only moves elements, NULL for others. */
ALWAYS_INLINE int run_steps(mxl_run *r, mxl_plan *plan, bool plain)
{
    int records = run_check(r, plain);
    mxl_call call; /* a copy, so that a plain run stays in registers */

    if (records < 0 || (plan != NULL ? infer_plan(r, plan) : run_infer(r, plain)) != 0 ||
        (!plain && mxl_run_check_given(r) != 0) || run_outputs(r, plan, plain) != 0 ||
        (!plain && run_inputs(r) != 0))
        return -1;
    if (!plain && r->arity.visible > 0 && r->given_out[0] != NULL &&
        r->given_out[0]->storage != NULL)
        r->version = mxl_storage_version(r->given_out[0]->storage);
    call = r->call;
    if ((records || (!plain && r->edited_view != NULL)) &&
        run_record(r, &call, records, plain) != 0)
        return -1;
    if (plan != NULL && r->views == 0)
        mxl_plan_copy(plan, r->given_in[0], r->call.out[0]);
    else if (plan == NULL && !is_done(r) && !(!plain && r->meta) &&
             compute_of(call.op, is_carried(r, plain))(&call) != 0 &&
             !(call.op->fails_late && r->mode.dialect->keeps_failures &&
               mxl_failure_keep(call.num_outputs, call.out) == 0))
        return -1;
    if (!plain && mxl_run_write_back(r) != 0)
        return -1;
    return run_finish(r, plain);
}

/* Whether the operator takes any number of inputs, none of which it updates. */
static bool takes_any(const mxl_op *op)
{
    return op->arity == mxl_arity_given && op->compute != NULL;
}

/* Whether the call moves elements: of an operator with any number of inputs, where it has one. */
static bool is_moved(const mxl_op *op, int num_inputs)
{
    return op->plan != NULL && (op->arity == NULL || num_inputs == 1);
}

/* Whether the call has one new output and needs no copy of an input. */
static bool is_plain(const mxl_op *op, const void *params, int num_inputs, mxl_array *const *inputs,
                     int num_outputs, mxl_array *const *out)
{
    const mxl_input *listed = mxl_op_inputs(op);
    bool any = op->arity != NULL;

    if ((any && (!takes_any(op) || num_inputs < 1)) || op->compose != NULL ||
        mxl_op_may_make_sparse(op, params) || num_outputs != 1 || out[0] != NULL || op->draws)
        return false;
    for (int i = 0; i < num_inputs; i++) {
        if ((!any && (listed[i].name == NULL || listed[i].mutated)) ||
            !mxl_array_is_dense(inputs[i]) ||
            (mxl_dtype_is_carried(inputs[i]->dtype) && !is_moved(op, num_inputs)) ||
            !(inputs[i]->contiguous || op->kernels != NULL || op->strided))
            return false;
    }
    return any || listed[num_inputs].name == NULL;
}

ALWAYS_INLINE int run_plain(const mxl_op *op, const void *params, int num_inputs,
                            mxl_array *const *inputs, mxl_array **out, mxl_mode mode,
                            mxl_plan *plan)
{
    mxl_array *result = NULL;
    mxl_shape shape;
    int dtype, status;
    mxl_run r;

    r.call = (mxl_call){op,      params,        num_inputs, 1,   (mxl_array **)inputs,
                        &result, mode.training, true,       NULL};
    r.mode = mode;
    r.given_in = inputs;
    r.given_out = out;
    r.out_shape = &shape;
    r.out_dtype = &dtype;
    r.node = NULL;
    r.views = 0;
    status = run_steps(&r, plan, true);
    if (r.node != NULL)
        mxl_ref_release(&r.node->ref);
    if (status != 0)
        mxl_array_release(result);
    return status;
}

/* Not inlined, as a plan on the stack of every call would cost each of them 20 ns. */
__attribute__((noinline)) static int run_moved(const mxl_op *op, const void *params, int num_inputs,
                                               mxl_array *const *inputs, mxl_array **out,
                                               mxl_mode mode)
{
    bool measured = mxl_profile_runs();
    mxl_plan plan;
    mxl_span span;
    int status;

    if (measured)
        span = mxl_span_begin(true);
    status = run_plain(op, params, num_inputs, inputs, out, mode, &plan);
    if (measured)
        mxl_span_end(&span, "", op->name, status == 0);
    return status;
}

__attribute__((noinline)) static int run_any(const mxl_op *op, const void *params, int num_inputs,
                                             mxl_array *const *inputs, int num_outputs,
                                             mxl_array **out, mxl_mode mode, struct mxl_kept *kept)
{
    bool is_new = num_outputs > 0 && out[0] == NULL;
    mxl_run r;
    int status;

    r.call =
        (mxl_call){op, params, num_inputs, num_outputs, NULL, NULL, mode.training, is_new, kept};
    r.mode = mode;
    r.given_in = inputs;
    r.given_out = out;
    if (mxl_run_begin(&r, num_outputs) != 0)
        return -1;
    if (mxl_carry_is_composite(op, num_inputs, inputs, mode)) {
        status = mxl_carry_composite(op, params, num_inputs, inputs, num_outputs, out, mode);
        if (status <= 0) {
            mxl_run_end(&r);
            return status;
        }
    }
    if (mode.meta)
        status = mxl_run_meta(&r);
    else if (mxl_run_is_batched(&r))
        status = mxl_run_batched(&r);
    else if ((r.meta = mxl_run_is_on_meta(&r)) && mxl_run_check_meta(&r) != 0)
        status = -1;
    else if (!r.meta && mxl_run_is_sparse(&r))
        status = mxl_run_sparse(&r);
    else if (op->compose != NULL && mxl_run_refresh(num_inputs, inputs, mode) != 0)
        status = -1; /* whether a view of an edited base is recorded decides how this runs */
    else if (op->compose == NULL || mode.dialect->label != NULL ||
             (op->compute != NULL && wants_node(op, num_inputs, inputs, mode) == 0))
        status = run_steps(&r, NULL, false);
    else if ((op->infer != NULL && (run_infer(&r, false) != 0 || mxl_run_check_given(&r) != 0)) ||
             mxl_run_check_writable(&r) != 0)
        status = -1;
    else
        status = mxl_run_composite(&r);
    mxl_run_end(&r);
    return status;
}

/* A call while failures are kept, which its results may get from its inputs. */
__attribute__((cold)) static int invoke_passing(const mxl_op *op, const void *params,
                                                int num_inputs, mxl_array *const *inputs,
                                                int num_outputs, mxl_array **out, mxl_mode mode)
{
    int status = run_any(op, params, num_inputs, inputs, num_outputs, out, mode, NULL);

    return status == 0 && !mode.meta ? mxl_failure_pass(num_inputs, inputs, num_outputs, out)
                                     : status;
}

int mxl_invoke(const mxl_op *op, const void *params, int num_inputs, mxl_array *const *inputs,
               int num_outputs, mxl_array **out, mxl_mode mode)
{
    if (mxl_failures_exist())
        return invoke_passing(op, params, num_inputs, inputs, num_outputs, out, mode);
    if (mode.meta || !is_plain(op, params, num_inputs, inputs, num_outputs, out))
        return run_any(op, params, num_inputs, inputs, num_outputs, out, mode, NULL);
    return is_moved(op, num_inputs) ? run_moved(op, params, num_inputs, inputs, out, mode)
                                    : run_plain(op, params, num_inputs, inputs, out, mode, NULL);
}

int mxl_invoke_keeping(const mxl_op *op, const void *params, int num_inputs,
                       mxl_array *const *inputs, int num_outputs, mxl_array **out, mxl_mode mode,
                       struct mxl_kept *kept)
{
    return run_any(op, params, num_inputs, inputs, num_outputs, out, mode, kept);
}
