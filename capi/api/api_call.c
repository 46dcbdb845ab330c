/* The MXLCall family: running prepared calls, the hot path of every binding. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/prepared.h"
#include "base/memory/mem.h"
#include "engine/run/amp.h"
#include "engine/run/promote.h"

enum { INPUT_ROOM = 32 }; /* inputs or outputs that need no allocation */

/* ---- arguments ---- */

static int cannot_be(const api_prepared *call, const mxl_param *p, int64_t value)
{
    return mxl_error("%s: parameter \"%s\" cannot be %lld", call->op->name, p->name,
                     (long long)value);
}

/* True if `name` is a value of the parameter. */
static bool has_value(const mxl_param *p, const char *name)
{
    for (int i = 0; p->values[i] != NULL; i++) {
        if (strcmp(p->values[i], name) == 0)
            return true;
    }
    return false;
}

static int set_dtype(const api_prepared *call, const mxl_param *p, int64_t value, int *field)
{
    bool none = value == MXL_DTYPE_UNKNOWN;

    if (!none && (value < 0 || value >= MXL_DTYPE_COUNT))
        return cannot_be(call, p, value);
    if (none ? !has_value(p, "None") : !mxl_param_takes_dtype(p, (int)value))
        return mxl_error("%s: parameter \"%s\" cannot be %s", call->op->name, p->name,
                         none ? "None" : mxl_dtype_name((int)value));
    *field = (int)value;
    return 0;
}

static int set_choice(const api_prepared *call, const mxl_param *p, int64_t value, int *field)
{
    int count = p->type == MXL_P_ENUM ? 0 : 2;

    while (p->type == MXL_P_ENUM && p->values[count] != NULL)
        count++;
    if (value < (p->type == MXL_P_OPT_BOOL ? -1 : 0) || value >= count)
        return cannot_be(call, p, value);
    *field = (int)value;
    return 0;
}

/* Integers have 32 bits, as in 1.9.1, unless their type says long. */
static int set_integer(const api_prepared *call, const mxl_param *p, int64_t value, int64_t *field)
{
    bool wide = p->type_name != NULL && strncmp(p->type_name, "long", 4) == 0;
    bool none = value == MXL_NONE && p->type == MXL_P_OPT_INT;

    if (!none &&
        ((!wide && value != (int32_t)value) || value == MXL_NONE || (p->has_min && value < p->min)))
        return cannot_be(call, p, value);
    *field = value;
    return 0;
}

static int set_list(const api_prepared *call, const mxl_param *p, const MXLList *list,
                    mxl_tuple *field)
{
    if (list->n > MXL_TUPLE_MOST || list->n < -1)
        return mxl_error("%s: parameter \"%s\" is a list of %lld numbers; 0 to %d are possible",
                         call->op->name, p->name, (long long)list->n, MXL_TUPLE_MOST);
    if (list->n > 0 && list->values == NULL)
        return mxl_error("%s: parameter \"%s\" is a list of %lld numbers, which are NULL",
                         call->op->name, p->name, (long long)list->n);
    if (list->n < 0 && p->type != MXL_P_OPT_SHAPE &&
        (p->def == NULL || strcmp(p->def, "None") != 0))
        return mxl_error("%s: parameter \"%s\" cannot be None", call->op->name, p->name);
    for (int64_t i = 0; i < list->n && p->type != MXL_P_TUPLE_OPT; i++) {
        if (list->values[i] == MXL_NONE)
            return mxl_error("%s: entry %lld of parameter \"%s\" cannot be None", call->op->name,
                             (long long)i, p->name);
    }
    field->n = (int)list->n;
    field->v = list->values;
    return 0;
}

static int set_argument(const api_prepared *call, const mxl_param *p, const MXLValue *value,
                        char *params)
{
    void *field = params + p->offset;

    switch (p->type) {
    case MXL_P_INT:
    case MXL_P_OPT_INT:
        return set_integer(call, p, value->i, field);
    case MXL_P_DTYPE:
        return set_dtype(call, p, value->i, field);
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        *(double *)field = value->f;
        return 0;
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        return set_list(call, p, &value->list, field);
    default: /* text is always constant */
        return set_choice(call, p, value->i, field);
    }
}

/* The parameters of one call: the prepared ones, or a copy in `room` with the arguments set. */
static const void *call_params(const api_prepared *call, int num_inputs, const MXLValue *arguments,
                               char *room)
{
    if (call->constant)
        return call->params;
    if (call->num_arguments > 0 && arguments == NULL)
        return mxl_error_null("%s: was prepared with %d arguments, got NULL", call->op->name,
                              call->num_arguments);
    memcpy(room, call->params, call->op->params_size);
    if (call->count_offset >= 0)
        *(int64_t *)(void *)(room + call->count_offset) = num_inputs;
    for (int i = 0; i < call->num_arguments; i++) {
        if (set_argument(call, call->arguments[i], &arguments[i], room) != 0)
            return NULL;
    }
    if (call->op->check != NULL && call->op->check(room) != 0)
        return NULL;
    return room;
}

#ifndef MXL_WITHOUT_SYMBOLS
static int invoke_mixed(const api_prepared *call, const void *params, int num_inputs,
                        mxl_array *const *in, int num_outputs, mxl_array **out);
#endif

/* mxl_invoke, or of one that promotes its operands what does that first. Mixed precision, unless
 * the inputs are `cast` already, casts them before. */
__attribute__((always_inline)) static inline int invoke(const api_prepared *call,
                                                        const void *params, int num_inputs,
                                                        mxl_array *const *in, bool cast,
                                                        int num_outputs, mxl_array **out)
{
    mxl_mode mode = api_prepared_mode(call);

#ifndef MXL_WITHOUT_SYMBOLS
    if (__builtin_expect(!cast && mxl_amp_is_on() && call->kind != API_TORCH, false))
        return invoke_mixed(call, params, num_inputs, in, num_outputs, out);
#else
    (void)cast;
#endif
    if (call->promotion != NULL && mxl_promote_wanted(call->promotion, num_inputs, in))
        return mxl_promote_invoke(call->op, params, num_inputs, in, 0, out, mode);
    return mxl_invoke(call->op, params, num_inputs, in, num_outputs, out, mode);
}

#ifndef MXL_WITHOUT_SYMBOLS
__attribute__((noinline, cold)) static int invoke_mixed(const api_prepared *call,
                                                        const void *params, int num_inputs,
                                                        mxl_array *const *in, int num_outputs,
                                                        mxl_array **out)
{
    size_t bytes = (size_t)num_inputs * sizeof(*in);
    mxl_array *room[INPUT_ROOM], **cast = num_inputs > INPUT_ROOM ? mxl_alloc(bytes) : room;
    mxl_scope scope;
    int status;

    if (cast == NULL)
        return -1;
    mxl_scope_begin(&scope, api_prepared_mode(call));
    status = mxl_amp_cast(&scope, call->op, params, num_inputs, in, cast);
    if (status == 0)
        status = invoke(call, params, num_inputs, cast, true, num_outputs, out);
    mxl_scope_end(&scope);
    if (cast != room)
        mxl_free(cast, bytes);
    return status;
}
#endif

static int run(const api_prepared *call, int num_inputs, const NDArrayHandle *inputs,
               const MXLValue *arguments, int num_outputs, mxl_array **out)
{
    _Alignas(16) char room[API_PARAMS_ROOM];
    const void *params = call_params(call, num_inputs, arguments, room);
    mxl_array *in_room[INPUT_ROOM], **in = in_room;
    size_t bytes = (size_t)num_inputs * sizeof(*in);
    int status = -1;

    if (params == NULL && call->params_bytes > 0)
        return -1;
    if (num_inputs > INPUT_ROOM) {
        in = mxl_alloc(bytes);
        if (in == NULL)
            return -1;
    }
    if (api_pin_many(call->op->name, "input", num_inputs, inputs, in, false) == 0) {
        status = invoke(call, params, num_inputs, in, false, num_outputs, out);
        api_unpin_many(num_inputs, inputs);
    }
    if (in != in_room)
        mxl_free(in, bytes);
    return status;
}

static NDArrayHandle run_one(const api_prepared *call, int num_inputs, const NDArrayHandle *inputs,
                             const MXLValue *arguments)
{
    mxl_array *out = NULL;

    if (call == NULL || run(call, num_inputs, inputs, arguments, 1, &out) != 0)
        return NULL;
    return api_handle(out);
}

/* Prefixes the current error with the number of the input. Returns NULL. */
static NDArrayHandle refused(const api_prepared *call, int input)
{
    char where[128];

    snprintf(where, sizeof(where), "%s: input %d", call->op->name, input);
    (void)mxl_error_prefix(where);
    return NULL;
}

/* Runs a call with one or two inputs, without a list of pins. Inline, so that each form becomes
 * straight code. */
static inline NDArrayHandle run_few(const api_prepared *call, NDArrayHandle a, NDArrayHandle b,
                                    bool two, const MXLValue *arguments)
{
    _Alignas(16) char room[API_PARAMS_ROOM];
    const void *params;
    mxl_array *in[2], *out = NULL;
    int status = -1;

    if (call == NULL)
        return NULL;
    params = call->params;
    if (!call->constant) {
        params = call_params(call, two ? 2 : 1, arguments, room);
        if (params == NULL)
            return NULL;
    }
    in[0] = api_pin(a);
    if (in[0] == NULL)
        return refused(call, 0);
    in[1] = two ? api_pin(b) : NULL;
    if (two && in[1] == NULL)
        (void)refused(call, 1);
    else
        status = invoke(call, params, two ? 2 : 1, in, false, 1, &out);
    if (in[1] != NULL)
        api_unpin(b);
    api_unpin(a);
    return status == 0 ? api_handle(out) : NULL;
}

NDArrayHandle MXLCall(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                      const MXLValue *arguments)
{
    const api_prepared *prepared = api_prepared_get(call);
    NDArrayHandle made;

    if (num_inputs < 0 || (num_inputs > 0 && inputs == NULL))
        return mxl_error_null("MXLCall: %d inputs are announced, their list is %s", num_inputs,
                              inputs == NULL ? "NULL" : "given");
    if (prepared != NULL && prepared->view == API_ROWS && num_inputs == 1 && arguments != NULL &&
        arguments[0].i == 0) {
        made = api_quick_view(prepared, inputs[0], arguments);
        if (made != NULL)
            return made;
    }
    if (prepared != NULL && prepared->view == API_KEY && num_inputs == 1 && arguments != NULL) {
        made = api_key_view(prepared, inputs[0], arguments);
        if (made != NULL)
            return made;
    }
    return run_one(prepared, num_inputs, inputs, arguments);
}

NDArrayHandle MXLCall1(MXLCallHandle call, NDArrayHandle a)
{
    return run_few(api_prepared_get(call), a, NULL, false, NULL);
}

NDArrayHandle MXLCall2(MXLCallHandle call, NDArrayHandle a, NDArrayHandle b)
{
    return run_few(api_prepared_get(call), a, b, true, NULL);
}

/* ---- an operand that is a number ---- */

int MXLSetDefaultDtype(int dtype, int *before)
{
    if (!mxl_dtype_valid(dtype) || !mxl_dtype_is_float(dtype))
        return mxl_error("%s: takes a floating dtype, got %s", __func__, mxl_dtype_name(dtype));
    if (before != NULL)
        *before = mxl_promote_default();
    mxl_promote_set_default(dtype);
    return 0;
}

/* A call that takes a number, with room for the result. The one of two arrays has it as its second,
 * or as the first if the slots begin with '-'. */
static int beside_number(const api_prepared *call, mxl_array *array, const mxl_number *number,
                         mxl_array **out)
{
    const mxl_promotion *rule = call->promotion;
    const mxl_op *op = rule->of_two != NULL ? rule->of_two : call->op;
    bool first = rule->of_two != NULL
                     ? rule->number_first
                     : call->dialect.slots != NULL && call->dialect.slots[0] == '-';
    mxl_array *operand = mxl_promote_number(number);
    mxl_array *in[2] = {first ? operand : array, first ? array : operand};
    int status = -1;

    if (operand != NULL)
        status = mxl_promote_invoke(op, NULL, 2, in, first ? 1 : 2, out, api_prepared_mode(call));
    mxl_array_release(operand);
    return status;
}

/* Integers with more digits than a double has are operands of two arrays, unless the array is
 * floating. */
static int with_number(const api_prepared *call, mxl_array *array, const mxl_number *number,
                       mxl_array **out)
{
    mxl_scalar_params params = {number->is_int ? (double)number->i : number->f, number->is_int};

    if (call->promotion->of_two != NULL &&
        (!number->is_int || mxl_dtype_is_float(array->dtype) || fabs(params.scalar) < 0x1p53))
        return invoke(call, &params, 1, &array, false, 1, out);
    return beside_number(call, array, number, out);
}

static NDArrayHandle run_number(const api_prepared *call, NDArrayHandle a, const mxl_number *number)
{
    mxl_array *array = api_pin(a), *out = NULL;
    int status;

    if (array == NULL)
        return refused(call, 0);
    status = with_number(call, array, number, &out);
    api_unpin(a);
    return status == 0 ? api_handle(out) : NULL;
}

/* The one-argument forms check that the call was prepared with one argument of their type. */
static NDArrayHandle run_typed(MXLCallHandle handle, NDArrayHandle a, const MXLValue *value,
                               const char *form, unsigned types, const mxl_number *number)
{
    const api_prepared *call = api_prepared_get(handle);
    NDArrayHandle made;

    if (call == NULL)
        return NULL;
    if (number != NULL && call->numbers)
        return run_number(call, a, number);
    if (call->num_arguments != 1 || (types >> call->arguments[0]->type & 1) == 0)
        return mxl_error_null("%s: %s was not prepared with one argument of that type", form,
                              call->op->name);
    if (call->view == API_ROW) {
        made = api_quick_view(call, a, value);
        if (made != NULL)
            return made;
    }
    return run_few(call, a, NULL, false, value);
}

NDArrayHandle MXLCall1Float(MXLCallHandle call, NDArrayHandle a, double value)
{
    mxl_number number = {.f = value};
    MXLValue v;

    v.f = value;
    return run_typed(call, a, &v, "MXLCall1Float", 1u << MXL_P_FLOAT | 1u << MXL_P_OPT_FLOAT,
                     &number);
}

NDArrayHandle MXLCall1Int(MXLCallHandle call, NDArrayHandle a, int64_t value)
{
    mxl_number number = {.is_int = true, .i = value};
    MXLValue v;

    v.i = value;
    return run_typed(call, a, &v, "MXLCall1Int",
                     1u << MXL_P_INT | 1u << MXL_P_OPT_INT | 1u << MXL_P_BOOL |
                         1u << MXL_P_OPT_BOOL | 1u << MXL_P_ENUM | 1u << MXL_P_DTYPE,
                     &number);
}

NDArrayHandle MXLCall1List(MXLCallHandle call, NDArrayHandle a, int64_t n, const int64_t *values)
{
    MXLValue v;

    v.list.n = n;
    v.list.values = values;
    return run_typed(call, a, &v, "MXLCall1List",
                     1u << MXL_P_SHAPE | 1u << MXL_P_OPT_SHAPE | 1u << MXL_P_TUPLE_OPT, NULL);
}

/* ---- several outputs, or outputs of the caller ---- */

/* New handles for outputs without one; all or nothing. Releases the arrays. */
static int fill_handles(int count, mxl_array **out, NDArrayHandle *outputs)
{
    NDArrayHandle *made = api_buffer_get(API_BUFFER_HANDLES, ((size_t)count + 1) * sizeof(*made));
    int status = made == NULL ? -1 : 0;

    for (int i = 0; i < count; i++) {
        if (outputs[i] != NULL)
            continue;
        if (status != 0) {
            mxl_array_release(out[i]);
            continue;
        }
        made[i] = api_handle(out[i]);
        if (made[i] != NULL)
            continue;
        status = -1;
        for (int k = 0; k < i; k++) {
            if (outputs[k] == NULL)
                mxl_handle_free(MXL_KIND_ARRAY, api_number(made[k]));
        }
    }
    for (int i = 0; i < count && status == 0; i++) {
        if (outputs[i] == NULL)
            outputs[i] = made[i];
    }
    return status;
}

/* MXLCallInto of one array and a number: the arguments are the number and whether it is an integer.
 */
static int number_into(const api_prepared *call, NDArrayHandle input, const MXLValue *arguments,
                       NDArrayHandle output)
{
    mxl_number number = {.is_int = arguments[1].i != 0};
    NDArrayHandle handles[2] = {input, output};
    mxl_array *arrays[2];
    int status;

    if (number.is_int)
        number.i = arguments[0].i;
    else
        number.f = arguments[0].f;
    if (api_pin_many(call->op->name, "array", 2, handles, arrays, false) != 0)
        return -1;
    status = with_number(call, arrays[0], &number, &arrays[1]);
    api_unpin_many(2, handles);
    return status;
}

int MXLCallInto(MXLCallHandle handle, int num_inputs, const NDArrayHandle *inputs,
                const MXLValue *arguments, int *num_outputs, NDArrayHandle *outputs)
{
    const api_prepared *call = api_prepared_get(handle);
    mxl_array *room[INPUT_ROOM], **out = room;
    mxl_arity arity;
    _Alignas(16) char params_room[API_PARAMS_ROOM];
    const void *params;
    int status = -1;

    API_NEED(num_outputs);
    if (call == NULL)
        return -1;
    if (num_inputs < 0 || (num_inputs > 0 && inputs == NULL))
        return mxl_error("MXLCallInto: %d inputs are announced, their list is %s", num_inputs,
                         inputs == NULL ? "NULL" : "given");
    if (num_inputs == 1 && arguments != NULL && call->numbers &&
        call->num_arguments == (call->promotion->of_two != NULL ? 2 : 0) && *num_outputs >= 1 &&
        outputs != NULL && outputs[0] != NULL) {
        *num_outputs = 1;
        return number_into(call, inputs[0], arguments, outputs[0]);
    }
    params = call_params(call, num_inputs, arguments, params_room);
    if ((params == NULL && call->params_bytes > 0) ||
        mxl_invoke_arity(call->op, params, num_inputs, &arity) != 0)
        return -1;
    if (*num_outputs < arity.visible || outputs == NULL)
        return mxl_error("%s: has %d outputs, there is room for %d", call->op->name, arity.visible,
                         outputs == NULL ? 0 : *num_outputs);
    if (arity.visible > INPUT_ROOM) {
        out = mxl_alloc((size_t)arity.visible * sizeof(*out));
        if (out == NULL)
            return -1;
    }
    if (api_pin_many(call->op->name, "output", arity.visible, outputs, out, true) == 0) {
        status = run(call, num_inputs, inputs, arguments, arity.visible, out);
        api_unpin_many(arity.visible, outputs);
        if (status == 0)
            status = fill_handles(arity.visible, out, outputs);
    }
    if (out != room)
        mxl_free(out, (size_t)arity.visible * sizeof(*out));
    if (status == 0)
        *num_outputs = arity.visible;
    return status;
}

int MXLCallGetNumOutputs(MXLCallHandle handle, const MXLValue *arguments, int *out)
{
    const api_prepared *call = api_prepared_get(handle);
    mxl_arity arity = {.inputs = -1, .outputs = 1, .visible = 1};
    _Alignas(16) char room[API_PARAMS_ROOM];
    const void *params;

    API_NEED(out);
    if (call == NULL)
        return -1;
    params = call->params;
    for (int i = 0; i < call->num_arguments && arguments == NULL; i++) {
        if (call->arguments[i]->sets_outputs) {
            *out = -1;
            return 0;
        }
    }
    if (arguments != NULL && call->op->arity != NULL) {
        params = call_params(call, 0, arguments, room);
        if (params == NULL && call->params_bytes > 0)
            return -1;
    }
    if (call->op->arity != NULL && call->op->arity(params, &arity) != 0)
        return -1;
    *out = arity.visible;
    return 0;
}
