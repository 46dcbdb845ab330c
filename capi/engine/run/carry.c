/* Runs of operators on dtypes without loops of their own; see carry.h. */
#include "engine/run/carry.h"

#include <math.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/profile/profile.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/run.h"
#include "engine/run/scope.h"
#include "kernel/copy/cast.h"
#include "op/promotion.h"

/* How one call is carried. */
typedef struct carried {
    mxl_call call; /* the one that runs: its arrays in the carriers, or as they were */
    const mxl_call *given;
    int wide;    /* in which uint64 is computed */
    mxl_u64 u64; /* and what becomes of it */
    mxl_array **room;
    mxl_array *small[16];
} carried;

static bool has_u64(int count, mxl_array *const *arrays)
{
    for (int i = 0; i < count; i++) {
        if (arrays[i]->dtype == MXL_U64)
            return true;
    }
    return false;
}

static int no_u64(const mxl_op *op)
{
    return mxl_error("%s: uint64 is not supported; it is in the other dtypes of integers, and "
                     "float64",
                     op->name);
}

/* ---- one array ---- */

/* Moves the numbers of uint64 so that those of int64 with their bits have their order, and back. */
static void turn_order(mxl_array *array)
{
    uint64_t *data = mxl_array_write(array);

    for (int64_t i = 0; i < array->size; i++)
        data[i] ^= (uint64_t)INT64_MIN;
}

/* Indices beyond those of int64 stay out of bounds. */
static void clamp(mxl_array *array)
{
    int64_t *data = mxl_array_write(array);

    for (int64_t i = 0; i < array->size; i++)
        data[i] = data[i] < 0 ? INT64_MAX : data[i];
}

/* Whether input i has indices. */
static bool is_index(const mxl_call *call, int i)
{
    return i > 0 && call->op->u64 == MXL_U64_INDEXED &&
           (i == call->num_inputs - 1 || call->out[0]->dtype != MXL_U64);
}

static int carrier_of(const carried *c, int dtype)
{
    return dtype == MXL_U64 ? c->wide : mxl_dtype_carrier(dtype);
}

/* A new array in the carrier, with the values if `filled`. NULL with the error set. */
static mxl_array *carry(const carried *c, mxl_array *array, bool filled, bool turned)
{
    int dtype = carrier_of(c, array->dtype);
    mxl_array *made = mxl_array_new(dtype, array->ndim, array->shape);

    if (made == NULL || !filled)
        return made;
    if (mxl_array_copy_into(made, array) != 0) {
        mxl_array_release(made);
        return NULL;
    }
    if (turned && array->dtype == MXL_U64)
        turn_order(made);
    return made;
}

static int bring_back(mxl_array *array, mxl_array *made, bool turned)
{
    if (turned && array->dtype == MXL_U64)
        turn_order(made);
    return mxl_array_copy_into(array, made);
}

/* ---- the call ---- */

static bool turns_in(const carried *c)
{
    return c->wide == MXL_I64 && (c->u64 == MXL_U64_ORDERED || c->u64 == MXL_U64_COMPARED);
}

static bool turns_out(const carried *c)
{
    return c->wide == MXL_I64 && c->u64 == MXL_U64_ORDERED;
}

/* Sets the arrays of the call; -1 with the error set. What is given to write to may hold elements
 * that stay. */
static int carry_all(carried *c)
{
    const mxl_call *given = c->given;

    c->call.in = c->room;
    c->call.out = c->room + given->num_inputs;
    for (int i = 0; i < given->num_inputs; i++) {
        mxl_array *in = given->in[i];

        c->call.in[i] = mxl_dtype_is_carried(in->dtype) ? carry(c, in, true, turns_in(c)) : in;
        if (c->call.in[i] == NULL)
            return -1;
        if (in->dtype == MXL_U64 && is_index(given, i))
            clamp(c->call.in[i]);
    }
    for (int i = 0; i < given->num_outputs; i++) {
        mxl_array *out = given->out[i];

        c->call.out[i] =
            mxl_dtype_is_carried(out->dtype) ? carry(c, out, !given->is_new, turns_out(c)) : out;
        if (c->call.out[i] == NULL)
            return -1;
    }
    return 0;
}

static int bring_all_back(carried *c)
{
    const mxl_call *given = c->given;

    for (int i = 0; i < given->num_inputs; i++) {
        if (c->call.in[i] != given->in[i] && mxl_run_mutates(given, i) &&
            bring_back(given->in[i], c->call.in[i], turns_in(c)) != 0)
            return -1;
    }
    for (int i = 0; i < given->num_outputs; i++) {
        if (c->call.out[i] != given->out[i] &&
            bring_back(given->out[i], c->call.out[i], turns_out(c)) != 0)
            return -1;
    }
    return 0;
}

static void drop_all(carried *c)
{
    for (int i = 0; i < c->given->num_inputs; i++) {
        if (c->room[i] != c->given->in[i])
            mxl_array_release(c->room[i]);
    }
    for (int i = 0; i < c->given->num_outputs; i++) {
        if (c->room[c->given->num_inputs + i] != c->given->out[i])
            mxl_array_release(c->room[c->given->num_inputs + i]);
    }
}

/* Runs `call` with uint64 as `wide`. */
static int run_carried(const mxl_call *call, int wide, mxl_u64 u64)
{
    size_t count = (size_t)call->num_inputs + (size_t)call->num_outputs;
    carried c = {.call = *call, .given = call, .wide = wide, .u64 = u64, .room = c.small};
    int status = -1;

    if (count > sizeof c.small / sizeof *c.small)
        c.room = mxl_alloc(count * sizeof(mxl_array *));
    if (c.room == NULL)
        return -1;
    for (size_t i = 0; i < count; i++)
        c.room[i] = NULL;
    c.call.kept = NULL;
    if (carry_all(&c) == 0 && call->op->compute(&c.call) == 0)
        status = bring_all_back(&c);
    drop_all(&c);
    if (c.room != c.small)
        mxl_free(c.room, count * sizeof(mxl_array *));
    return status;
}

/* ---- uint64 ---- */

static int compute_u64(const mxl_call *call)
{
    const mxl_op *op = call->op;

    if (op->u64_loop != NULL)
        return mxl_run_loops(call);
    return op->u64 == MXL_U64_NONE ? no_u64(op) : run_carried(call, MXL_I64, op->u64);
}

/* ---- integers that operators compute otherwise than their carrier ---- */

/* Powers of integers are exact modulo 2 to their bits: by the operator that promotion names. */
static int compute_integers(const mxl_call *call)
{
    const mxl_promotion *rule = call->op->promotion;
    mxl_call integers = *call;

    if (rule != NULL && rule->of_integers != NULL)
        integers.op = rule->of_integers;
    return call->in[0]->dtype == MXL_U64 ? compute_u64(&integers)
                                         : run_carried(&integers, MXL_I64, MXL_U64_NONE);
}

/* An operator of an array and a number, as the one of two arrays, whose number has all digits. */
static int compute_as_two(const mxl_call *call)
{
    const mxl_promotion *rule = call->op->promotion;
    bool first = rule->number_first;
    int dtype = call->in[0]->dtype, status;
    mxl_array *number = mxl_array_new(dtype, 0, NULL), *in[2];
    mxl_call two = *call;

    if (number == NULL)
        return -1;
    mxl_cast_scalar(((const mxl_scalar_params *)call->params)->scalar, dtype,
                    mxl_array_write(number));
    in[!first] = number;
    in[first] = call->in[0];
    two.op = rule->of_two;
    two.in = in;
    two.num_inputs = 2;
    status = compute_integers(&two);
    mxl_array_release(number);
    return status;
}

/* Whether a dtype of integers has the number. */
static bool has_number(int dtype, double number)
{
    int bits = 8 * (int)mxl_dtype_size(dtype);

    return mxl_dtype_is_unsigned(dtype) ? number >= 0 && number < ldexp(1, bits)
                                        : fabs(number + 0.5) < ldexp(1, bits - 1);
}

/* Beside a fraction uint64 becomes float64; so it does where a number that it lacks is only
 * compared with. */
static int compute_beside_number(const mxl_call *call)
{
    const mxl_scalar_params *p = call->params;
    const mxl_op *two = call->op->promotion->of_two;
    int dtype = call->in[0]->dtype;
    bool fits = p->is_int && has_number(dtype, p->scalar);

    if (dtype != MXL_U64)
        return fits && two->promotion->of_integers != NULL
                   ? compute_as_two(call)
                   : run_carried(call, MXL_I64, MXL_U64_NONE);
    if (p->is_int && mxl_check_digits(call->op->name, p->scalar, dtype) != 0)
        return -1;
    if (!p->is_int || (!fits && two->promotion->to_bool))
        return run_carried(call, MXL_F64, MXL_U64_WRAPS);
    if (!fits && two->u64 != MXL_U64_WRAPS)
        return mxl_error("%s: uint64 has no number %g", call->op->name, p->scalar);
    return compute_as_two(call);
}

static bool is_carried_integer(int dtype)
{
    return mxl_dtype_is_carried(dtype) && !mxl_dtype_is_float(dtype);
}

static int compute(const mxl_call *call)
{
    const mxl_op *op = call->op;

    if (op->any_dtype)
        return op->compute(call);
    if (op->low && call->num_inputs > 0 && call->in[0]->dtype == MXL_BF16) {
        int status = op->compute(call);

        if (status <= 0)
            return status;
    }
    if (op->promotion != NULL && call->num_inputs > 0 && is_carried_integer(call->in[0]->dtype))
        return op->promotion->of_two != NULL ? compute_beside_number(call) : compute_integers(call);
    if (!has_u64(call->num_inputs, call->in) && !has_u64(call->num_outputs, call->out))
        return run_carried(call, MXL_I64, MXL_U64_NONE);
    return compute_u64(call);
}

int mxl_carry_compute(const mxl_call *call)
{
    bool measured = mxl_profile_runs();
    mxl_span span;
    int status;

    if (measured)
        span = mxl_span_begin(true);
    status = compute(call);
    if (measured)
        mxl_span_end(&span, "", call->op->name, status == 0);
    return status;
}

/* ---- composites ---- */

bool mxl_carry_is_composite(const mxl_op *op, int num_inputs, mxl_array *const *inputs,
                            mxl_mode mode)
{
    if (op->compose == NULL || op->any_dtype || mode.meta || mode.dialect->label != NULL)
        return false;
    for (int i = 0; i < num_inputs; i++) {
        if (inputs[i]->dtype != MXL_BF16) /* beside others the promotion is that of the parts */
            return false;
    }
    return num_inputs > 0;
}

/* What the composite makes of the true dtypes, without values; the arrays are scoped. */
static bool find_dtypes(mxl_scope *s, const mxl_op *op, const void *params, int num_inputs,
                        mxl_array *const *inputs, int num_outputs, mxl_array **meta)
{
    int status;

    s->mode.meta = true;
    s->mode.record = false;
    status = mxl_scope_call_many(s, op, params, num_inputs, inputs, num_outputs, meta);
    s->failed = false;
    return status == 0;
}

/* Result i in its own dtype, to the caller; -1 with the error set. */
static int hand_over(mxl_scope *s, const mxl_builtin_ops *builtin, mxl_array *result, int dtype,
                     mxl_array **out)
{
    if (result->dtype != dtype)
        result = mxl_scope_call(s, builtin->cast, &dtype, 1, &result);
    if (result == NULL)
        return -1;
    if (*out != NULL)
        return mxl_invoke(mxl_builtin_into(builtin, *out), NULL, 1, &result, 1, out, s->mode);
    mxl_array_retain(result);
    *out = result;
    return 0;
}

static int run_composite(mxl_scope *s, const mxl_op *op, const void *params, int num_inputs,
                         mxl_array **in, int num_outputs, mxl_array *const *meta, mxl_array **out)
{
    static const int full = MXL_F32;
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *made[OUT_ROOM];
    int status;

    if (builtin == NULL)
        return -1;
    for (int i = 0; i < num_inputs; i++) {
        in[i] = mxl_scope_call(s, builtin->cast, &full, 1, &in[i]);
        if (in[i] == NULL)
            return -1;
    }
    status = mxl_scope_call_many(s, op, params, num_inputs, in, num_outputs, made);
    for (int i = 0; i < num_outputs && status == 0; i++)
        status = hand_over(s, builtin, made[i], meta[i]->dtype, &out[i]);
    return status;
}

int mxl_carry_composite(const mxl_op *op, const void *params, int num_inputs,
                        mxl_array *const *inputs, int num_outputs, mxl_array **out, mxl_mode mode)
{
    mxl_array *in[IN_ROOM], *meta[OUT_ROOM];
    mxl_scope scope;
    int status = 1;

    if (num_inputs > IN_ROOM || num_outputs > OUT_ROOM)
        return 1;
    for (int i = 0; i < num_inputs; i++)
        in[i] = inputs[i];
    mxl_scope_begin(&scope, mode);
    if (find_dtypes(&scope, op, params, num_inputs, inputs, num_outputs, meta)) {
        scope.mode = mode;
        status = run_composite(&scope, op, params, num_inputs, in, num_outputs, meta, out);
    }
    mxl_scope_end(&scope);
    return status;
}
