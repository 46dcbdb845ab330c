/* Calls with sparse arrays: by the operator's form for their storage types, or on dense copies. */
#include "engine/run/run.h"

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/profile/profile.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/fallback.h"
#include "engine/run/scope.h"
#include "op/sparse_forms.h"

bool mxl_run_is_sparse(const mxl_run *r)
{
    bool sparse = mxl_op_may_make_sparse(r->call.op, r->call.params);

    for (int i = 0; i < r->call.num_inputs && !sparse; i++)
        sparse = mxl_array_is_sparse(r->given_in[i]);
    for (int i = 0; i < r->arity.visible && !sparse; i++)
        sparse = r->given_out[i] != NULL && mxl_array_is_sparse(r->given_out[i]);
    return sparse;
}

/* ---- by the operator's form ---- */

/* The storage types of a call in one block: inputs, given outputs, outputs. */
static int8_t *types_of(const mxl_run *r, mxl_stypes *types)
{
    int in = r->call.num_inputs, out = r->call.num_outputs;
    int8_t *block = mxl_alloc_zero((size_t)(in + 2 * out));

    if (block == NULL)
        return NULL;
    *types = (mxl_stypes){r->call.op, r->call.params,   in,         out, block,
                          block + in, block + in + out, r->given_in};
    for (int i = 0; i < in; i++)
        block[i] = r->given_in[i]->stype;
    for (int i = 0; i < out; i++) {
        mxl_array *given = mxl_run_given(r, i);

        block[in + i] = (int8_t)(given == NULL ? MXL_STYPE_NONE : given->stype);
    }
    return block;
}

static void types_free(const mxl_run *r, int8_t *block)
{
    mxl_free(block, (size_t)(r->call.num_inputs + 2 * r->call.num_outputs));
}

static int make_outputs(mxl_run *r, const int8_t *stypes)
{
    bool writes_given = r->call.op->sparse->writes_given;

    for (int i = 0; i < r->call.num_outputs; i++) {
        mxl_array *given = mxl_run_given(r, i);

        if (given != NULL && given->storage != NULL && writes_given)
            r->call.out[i] = given;
        else if (stypes[i] != MXL_DENSE)
            r->call.out[i] = mxl_array_sparse_zeros(stypes[i], r->out_dtype[i],
                                                    r->out_shape[i].ndim, r->out_shape[i].dim);
        else
            r->call.out[i] =
                mxl_array_new(r->out_dtype[i], r->out_shape[i].ndim, r->out_shape[i].dim);
        if (r->call.out[i] == NULL)
            return -1;
        if (r->call.out[i] != given)
            r->call.out[i]->device = r->device;
    }
    return 0;
}

static int make_inputs(mxl_run *r)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        mxl_array *in = r->given_in[i];

        r->call.in[i] = mxl_array_is_sparse(in) || in->contiguous ? in : mxl_array_copy(in);
        if (r->call.in[i] == NULL)
            return -1;
    }
    return 0;
}

static int compute(mxl_run *r)
{
    mxl_span span;
    int status;

    if (!mxl_profile_runs())
        return r->call.op->sparse->compute(&r->call);
    span = mxl_span_begin(true);
    status = r->call.op->sparse->compute(&r->call);
    mxl_span_end(&span, "", r->call.op->name, status == 0);
    return status;
}

static int run_form(mxl_run *r, const int8_t *stypes)
{
    int records = mxl_run_check(r);

    if (r->arity.visible > 0 && r->given_out[0] != NULL && r->given_out[0]->storage != NULL)
        r->version = mxl_storage_version(r->given_out[0]->storage);
    if (records < 0 || mxl_run_infer(r) != 0 || mxl_run_check_given(r) != 0 ||
        make_outputs(r, stypes) != 0 || make_inputs(r) != 0 ||
        (records && mxl_run_record(r, records) != 0) || compute(r) != 0 ||
        mxl_run_write_back(r) != 0)
        return -1;
    return mxl_run_finish(r);
}

/* A composite whose parts take sparse arrays. */
static int run_parts(mxl_run *r)
{
    if ((r->call.op->infer != NULL && (mxl_run_infer(r) != 0 || mxl_run_check_given(r) != 0)) ||
        mxl_run_check_writable(r) != 0)
        return -1;
    return mxl_run_composite(r);
}

/* ---- on dense copies ---- */

static mxl_array *dense_copy(mxl_scope *scope, mxl_array *in, const mxl_op *cast_storage)
{
    int stype = MXL_CAST_DEFAULT;

    return mxl_scope_call(scope, cast_storage, &stype, 1, &in);
}

/* The input that is also the sparse array to write output i to, which an update in place is; -1:
 * none. */
static int updated_by(const mxl_run *r, int i)
{
    for (int k = 0; k < r->call.num_inputs; k++) {
        if (r->given_in[k] == r->given_out[i] && mxl_run_mutates(&r->call, k))
            return k;
    }
    return -1;
}

/* What the call writes to in place of a sparse array: what it updates; without inputs a new array,
 * since the shape may follow from it. NULL: a new result. */
static int dense_target(mxl_run *r, int i, mxl_array **in, mxl_array **out)
{
    mxl_array *given = r->given_out[i];

    out[i] = given;
    if (given == NULL || !mxl_array_is_sparse(given))
        return 0;
    out[i] = updated_by(r, i) >= 0 ? in[updated_by(r, i)] : NULL;
    if (r->call.num_inputs > 0)
        return 0;
    out[i] = mxl_array_new(given->dtype, given->ndim, given->shape);
    return out[i] == NULL ? -1 : 0;
}

/* Runs the call with what the scope made in place of sparse arrays. */
static int run_dense(mxl_run *r, mxl_scope *scope, const mxl_builtin_ops *builtin, mxl_array **in,
                     mxl_array **out)
{
    int visible = r->arity.visible;

    for (int i = 0; i < r->call.num_inputs; i++) {
        in[i] = mxl_array_is_sparse(r->given_in[i])
                    ? dense_copy(scope, r->given_in[i], builtin->cast_storage)
                    : r->given_in[i];
        if (in[i] == NULL)
            return -1;
    }
    for (int i = 0; i < visible; i++) {
        if (dense_target(r, i, in, out) != 0)
            return -1;
    }
    if (mxl_invoke(r->call.op, r->call.params, r->call.num_inputs, in, visible, out, r->mode) !=
        0) {
        for (int i = 0; i < visible && r->call.num_inputs == 0; i++) {
            if (out[i] != r->given_out[i])
                mxl_array_release(out[i]);
        }
        return -1;
    }
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (in[i] != r->given_in[i] && mxl_run_mutates(&r->call, i) &&
            mxl_array_copy_into(r->given_in[i], in[i]) != 0)
            return -1;
    }
    return 0;
}

/* Hands the results over: by a recorded copy to sparse arrays, and to entries that were NULL, which
 * stay so where a copy fails. (An array without a shape, which was none, may be one now.) */
static int give_dense(mxl_run *r, const mxl_builtin_ops *builtin, mxl_array **out)
{
    int status = 0;

    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array **given = &r->given_out[i];

        if (*given == NULL || out[i] == *given || updated_by(r, i) >= 0)
            continue;
        if (status == 0)
            status = mxl_invoke(builtin->copyto, NULL, 1, &out[i], 1, given, r->mode);
        mxl_array_release(out[i]);
    }
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL)
            continue;
        if (status == 0)
            r->given_out[i] = out[i];
        else
            mxl_array_release(out[i]);
    }
    return status;
}

static int run_fallback(mxl_run *r)
{
    size_t count = (size_t)(r->call.num_inputs + r->arity.visible) + 1;
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array **arrays = mxl_alloc_zero(count * sizeof(*arrays));
    mxl_array **out = arrays + r->call.num_inputs;
    mxl_scope scope;
    int status;

    if (arrays == NULL || builtin == NULL)
        return -1;
    mxl_fallback_say(r);
    mxl_scope_begin(&scope, r->mode);
    status = run_dense(r, &scope, builtin, arrays, out);
    if (status == 0)
        status = give_dense(r, builtin, out);
    mxl_scope_end(&scope);
    mxl_free(arrays, count * sizeof(*arrays));
    return status;
}

int mxl_run_sparse(mxl_run *r)
{
    const mxl_sparse_forms *forms = r->call.op->sparse;
    mxl_stypes types;
    int8_t *block;
    int status;

    if (forms == NULL)
        return run_fallback(r);
    block = types_of(r, &types);
    if (block == NULL)
        return -1;
    status = !forms->stypes(&types)   ? run_fallback(r)
             : forms->compute == NULL ? run_parts(r)
                                      : run_form(r, types.out);
    types_free(r, block);
    return status;
}
