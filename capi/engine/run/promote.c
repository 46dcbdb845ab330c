/* Promotion of operands to one dtype. */
#include "engine/run/promote.h"

#include <math.h>
#include <stdatomic.h>

#include "array/copy.h"
#include "base/error.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/scope.h"

enum { MOST = 3 }; /* inputs of an operator that promotes */

static atomic_int floating = MXL_F32;

int mxl_promote_default(void)
{
    return atomic_load_explicit(&floating, memory_order_relaxed);
}

void mxl_promote_set_default(int dtype)
{
    atomic_store_explicit(&floating, dtype, memory_order_relaxed);
}

/* ---- the order of dtypes ---- */

/* 0: bool, 1: integers, 2: floating. */
static int kind_of(int dtype)
{
    return mxl_dtype_is_float(dtype) ? 2 : dtype != MXL_BOOL;
}

bool mxl_promote_fits(int from, int to)
{
    return kind_of(from) <= kind_of(to);
}

/* Of two integers, by NumPy's table: uint64 has float64 in common with those that have a sign. */
static int join_integers(int a, int b)
{
    static const int wider[] = {[1] = MXL_I16, [2] = MXL_I32, [4] = MXL_I64, [8] = MXL_F64};
    size_t size_a = mxl_dtype_size(a), size_b = mxl_dtype_size(b);

    if (mxl_dtype_is_unsigned(a) == mxl_dtype_is_unsigned(b))
        return size_a >= size_b ? a : b;
    if (mxl_dtype_is_unsigned(b))
        return size_a > size_b ? a : wider[size_b];
    return size_b > size_a ? b : wider[size_a];
}

int mxl_promote_pair(int a, int b)
{
    if (a == b || kind_of(a) != kind_of(b))
        return kind_of(a) >= kind_of(b) ? a : b;
    if (kind_of(a) == 1)
        return join_integers(a, b);
    if (mxl_dtype_size(a) == mxl_dtype_size(b)) /* float16 and bfloat16 */
        return MXL_F32;
    return mxl_dtype_size(a) > mxl_dtype_size(b) ? a : b;
}

/* PyTorch's common dtype of operands. Arrays with dimensions come before those without,
 * and these before a number (number - 1 is which): a later one counts only where its kind is a
 * higher one. */
static int common_dtype(int count, mxl_array *const *operands, int number)
{
    int found[3] = {MXL_DTYPE_UNKNOWN, MXL_DTYPE_UNKNOWN, MXL_DTYPE_UNKNOWN};
    int result = MXL_DTYPE_UNKNOWN;

    for (int i = 0; i < count; i++) {
        int group = i + 1 == number ? 2 : operands[i]->ndim == 0, dtype = operands[i]->dtype;

        if (group == 2 && mxl_dtype_is_float(dtype))
            dtype = mxl_promote_default();
        found[group] =
            found[group] == MXL_DTYPE_UNKNOWN ? dtype : mxl_promote_pair(found[group], dtype);
    }
    for (int group = 0; group < 3; group++) {
        if (found[group] != MXL_DTYPE_UNKNOWN &&
            (result == MXL_DTYPE_UNKNOWN || kind_of(found[group]) > kind_of(result)))
            result = found[group];
    }
    return result;
}

/* ---- numbers ---- */

mxl_array *mxl_promote_number(const mxl_number *number)
{
    mxl_array *made = mxl_array_new(number->is_int ? MXL_I64 : MXL_F64, 0, NULL);

    if (made != NULL && number->is_int)
        *(int64_t *)mxl_array_write(made) = number->i;
    else if (made != NULL)
        *(double *)mxl_array_write(made) = number->f;
    return made;
}

/* The number as an array of a dtype, scoped: integers modulo its range. */
static mxl_array *number_as(mxl_scope *s, mxl_array *number, int dtype)
{
    mxl_array *made = mxl_scope_new(s, dtype, 0, NULL);

    return made != NULL && mxl_array_copy_into(made, number) == 0 ? made : NULL;
}

/* ---- one call ---- */

/* What is known of it before it runs. */
typedef struct promoted {
    const mxl_op *op;    /* that runs */
    int dtype;           /* the common one of the operands */
    int computed;        /* the one that they are cast to, */
    int result;          /* and that of the result */
    mxl_array *in[MOST]; /* cast; scoped or borrowed */
} promoted;

/* Sets the dtypes and the operator; -1 with the error set. */
static int choose(promoted *p, const mxl_op *op, int count, mxl_array *const *inputs,
                  const mxl_array *given, int number)
{
    const mxl_promotion *rule = op->promotion;
    bool writes = given != NULL && given->storage != NULL;

    p->dtype = common_dtype(count - rule->from, inputs + rule->from, number);
    if (rule->to_floats)
        p->dtype = mxl_promote_to_float(p->dtype, mxl_promote_default());
    p->op = rule->of_integers != NULL && kind_of(p->dtype) == 1 ? rule->of_integers : op;
    p->computed = p->dtype == MXL_BOOL && rule->bool_as_byte ? MXL_U8 : p->dtype;
    p->result = rule->to_bool ? MXL_BOOL : p->dtype;
    if (writes && !mxl_promote_fits(p->result, given->dtype))
        return mxl_error("%s: a result of dtype %s does not fit in an array of dtype %s", op->name,
                         mxl_dtype_name(p->result), mxl_dtype_name(given->dtype));
    if (rule->refused >> p->dtype & 1)
        return mxl_error("%s: %s is not supported", op->name, mxl_dtype_name(p->dtype));
    return 0;
}

/* Sets `in`, and lets the operator look at it; -1 with the error set. */
static int cast_operands(promoted *p, mxl_scope *s, const mxl_builtin_ops *builtin,
                         const mxl_op *op, int count, mxl_array *const *inputs, int number)
{
    const mxl_promotion *rule = op->promotion;
    mxl_operands operands = {
        op, p->dtype, count - rule->from, inputs + rule->from, p->in + rule->from, number};

    for (int i = 0; i < count; i++) {
        p->in[i] = inputs[i];
        if (i < rule->from || inputs[i]->dtype == p->computed)
            continue;
        p->in[i] = i + 1 == number ? number_as(s, inputs[i], p->computed)
                                   : mxl_scope_call(s, builtin->cast, &p->computed, 1, &inputs[i]);
        if (p->in[i] == NULL)
            return -1;
    }
    return rule->check == NULL ? 0 : rule->check(&operands);
}

/* Runs the operator where its result is not yet the one that is wanted: of bool, or of the dtype of
 * the array that is given. The last step is the one with the label. */
static int run_and_cast(promoted *p, mxl_scope *s, const mxl_builtin_ops *builtin,
                        const void *params, int count, mxl_array **out, mxl_mode mode)
{
    mxl_array *made;

    s->mode.record = mode.record && mxl_dtype_is_float(p->result);
    made = mxl_scope_call(s, p->op, params, count, p->in);
    if (made != NULL && p->result != made->dtype)
        made = mxl_scope_call(s, builtin->cast, &p->result, 1, &made);
    if (made == NULL)
        return -1;
    if (out[0] != NULL)
        return mxl_invoke(mxl_builtin_into(builtin, out[0]), NULL, 1, &made, 1, out, mode);
    mxl_array_retain(made);
    out[0] = made;
    return 0;
}

/* The number of the parameters: an integer only if it is one of 64 bits. */
static mxl_number number_of(const mxl_scalar_params *params)
{
    mxl_number number = {.f = params->scalar};

    number.is_int = params->is_int && fabs(number.f) < 0x1p63 && trunc(number.f) == number.f;
    if (number.is_int)
        number.i = (int64_t)number.f;
    return number;
}

/* Whether a dtype of integers holds the number. */
static bool holds(int dtype, const mxl_number *number)
{
    int bits = (int)mxl_dtype_size(dtype) * 8 - !mxl_dtype_is_unsigned(dtype);
    int64_t end = (int64_t)1 << (bits < 53 ? bits : 53);

    return number->is_int && number->i < end &&
           number->i >= (mxl_dtype_is_unsigned(dtype) ? 0 : -end);
}

/* Runs an operator whose operands need no cast, and casts the new result to bool if `to_bool`,
 * which no gradient flows to. */
static int run_as_is(const mxl_op *op, const void *params, int count, mxl_array *const *inputs,
                     mxl_array **out, mxl_mode mode, bool to_bool)
{
    static const int dtype = MXL_BOOL;
    const mxl_builtin_ops *builtin;
    mxl_array *made = NULL;
    int status;

    if (!to_bool)
        return mxl_invoke(op, params, count, inputs, 1, out, mode);
    mode.record = false;
    builtin = mxl_builtin_ops_get();
    if (builtin == NULL || mxl_invoke(op, params, count, inputs, 1, &made, mode) != 0)
        return -1;
    status = mxl_invoke(builtin->cast, &dtype, 1, &made, 1, out, mode);
    mxl_array_release(made);
    return status;
}

/* Whether the number is one of the array's dtype, and the operator of two arrays would compute in
 * that dtype. */
static bool is_like(const mxl_promotion *two, int dtype, const mxl_number *number)
{
    unsigned as_is = two->to_bool ? MXL_SET_NUMBERS : two->as_is;

    return as_is >> dtype & 1 && dtype != MXL_BOOL &&
           (mxl_dtype_is_float(dtype) || holds(dtype, number));
}

/* The call of an operator of an array and a number: as it is, or as the one of two arrays. */
static int with_number(const mxl_op *op, const mxl_scalar_params *params, mxl_array *array,
                       mxl_array **out, mxl_mode mode)
{
    const mxl_promotion *rule = op->promotion, *two = rule->of_two->promotion;
    mxl_number number = number_of(params);
    mxl_array *operand, *in[2];
    int status = -1;

    if (is_like(two, array->dtype, &number) && (out[0] == NULL || !two->to_bool))
        return run_as_is(op, params, 1, &array, out, mode, two->to_bool);
    operand = mxl_promote_number(&number);
    in[!rule->number_first] = operand;
    in[rule->number_first] = array;
    if (operand != NULL)
        status =
            mxl_promote_invoke(rule->of_two, NULL, 2, in, rule->number_first ? 1 : 2, out, mode);
    mxl_array_release(operand);
    return status;
}

/* Whether a comparison of two arrays needs no cast of them. */
static bool is_comparison(const mxl_promotion *rule, int count, mxl_array *const *inputs,
                          const mxl_array *given, int number)
{
    return rule->to_bool && count == 2 && given == NULL && number == 0 &&
           inputs[0]->dtype == inputs[1]->dtype && inputs[0]->dtype != MXL_BOOL;
}

/* Whether the call has as many inputs as the operator, and all have a shape. */
static bool is_whole(const mxl_op *op, int count, mxl_array *const *inputs)
{
    const mxl_input *listed = mxl_op_inputs(op);

    for (int i = 0; i < count; i++) {
        if (i == MOST || listed[i].name == NULL || inputs[i]->storage == NULL)
            return false;
    }
    return listed[count].name == NULL;
}

int mxl_promote_invoke(const mxl_op *op, const void *params, int count, mxl_array *const *inputs,
                       int number, mxl_array **out, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_mode inner = mode;
    mxl_scope scope;
    promoted p;
    int status = -1;

    if (!is_whole(op, count, inputs))
        return mxl_invoke(op, params, count, inputs, 1, out, mode);
    if (op->promotion->of_two != NULL)
        return with_number(op, params, inputs[0], out, mode);
    if (is_comparison(op->promotion, count, inputs, out[0], number))
        return run_as_is(op, params, count, inputs, out, mode, true);
    if (builtin == NULL || choose(&p, op, count, inputs, out[0], number) != 0)
        return -1;
    inner.dialect = mode.dialect->plain;
    mxl_scope_begin(&scope, inner);
    if (cast_operands(&p, &scope, builtin, op, count, inputs, number) == 0) {
        int wanted = out[0] != NULL && out[0]->storage != NULL ? out[0]->dtype : p.result;

        status = wanted == p.computed && p.result == p.computed
                     ? mxl_invoke(p.op, params, count, p.in, 1, out, mode)
                     : run_and_cast(&p, &scope, builtin, params, count, out, mode);
    }
    mxl_scope_end(&scope);
    return status;
}
