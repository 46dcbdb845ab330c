/* Parameters: parses text into the fields of an operator's parameter struct, and makes
 * self-contained copies of such structs. api parses with it, the tape copies. */
#include "op/op.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/near.h"
#include "base/text/str.h"
#include "op/text.h"

/* Longer values are cut in errors. */
enum { SHOWN = 60, MAX_PARAMS = 64 };

/* Lists up to this length are parsed once. Longer ones are parsed twice: to count, then into an
 * allocated list. */
enum { SHORT_LIST = 32 };

const mxl_param *mxl_param_find(const mxl_op *op, const char *name)
{
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

static void *field(const mxl_param *param, void *params)
{
    return (char *)params + param->offset;
}

/* ---- errors ---- */

static int malformed(const mxl_op *op, const mxl_param *param, const char *text, const char *what)
{
    return mxl_error("%s: parameter %s: \"%.*s%s\" is not %s", op->name, param->name, SHOWN, text,
                     strlen(text) > SHOWN ? "..." : "", what);
}

static int refused(const mxl_op *op, const mxl_param *param, const char *text,
                   mxl_text_result result, const char *what)
{
    if (result == MXL_TEXT_MALFORMED)
        return malformed(op, param, text, what);
    return mxl_error("%s: parameter %s: %.*s%s is out of range", op->name, param->name, SHOWN, text,
                     strlen(text) > SHOWN ? "..." : "");
}

/* "... is not one of float32, float64". */
static int not_listed(const mxl_op *op, const mxl_param *param, const char *text)
{
    mxl_str list = {0};
    mxl_near near;

    for (const char *const *value = param->values; *value != NULL; value++)
        mxl_str_addf(&list, "%s%s", value == param->values ? "one of " : ", ", *value);
    mxl_str_add(&list, mxl_near_of(&near, text, param->values));
    if (!list.failed)
        malformed(op, param, text, list.text != NULL ? list.text : "known");
    mxl_str_clear(&list);
    return -1;
}

int mxl_param_unknown(const mxl_op *op, const char *name)
{
    mxl_str list = {0};
    mxl_near near;
    const char *meant;

    mxl_near_begin(&near, name);
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
        mxl_str_addf(&list, "%s%s", param == mxl_op_params(op) ? "" : ", ", param->name);
        mxl_near_offer(&near, param->name);
    }
    for (const mxl_input *input = mxl_op_inputs(op); input->name != NULL; input++)
        mxl_near_offer(&near, input->name);
    meant = mxl_near_text(&near);
    if (!list.failed)
        mxl_error("%s: unknown parameter \"%.*s%s\"%s%s takes %s", op->name, SHOWN, name,
                  strlen(name) > SHOWN ? "..." : "", meant, meant[0] != '\0' ? " It" : "; it",
                  list.text != NULL ? list.text : "none");
    mxl_str_clear(&list);
    return -1;
}

/* ---- one value ---- */

/* Integers have 32 bits, as in 1.9.1, unless they are printed as "long". */
static bool is_long(const mxl_param *param)
{
    return param->type_name != NULL && strncmp(param->type_name, "long", 4) == 0;
}

static int parse_int(const mxl_op *op, const mxl_param *param, const char *text, int64_t *at)
{
    int64_t value = 0;
    mxl_text_result result = mxl_text_int(text, param->type == MXL_P_OPT_INT, &value);

    if (result == MXL_TEXT_OK &&
        (value == MXL_NONE || (!is_long(param) && value != (int32_t)value)))
        result = MXL_TEXT_RANGE;
    if (result != MXL_TEXT_OK)
        return refused(op, param, text, result,
                       param->type == MXL_P_INT ? "an integer" : "an integer or None");
    if (param->has_min && value < param->min)
        return mxl_error("%s: parameter %s must be at least %lld, got %lld", op->name, param->name,
                         (long long)param->min, (long long)value);
    *at = value;
    return 0;
}

/* Numbers have 32 bits, as in 1.9.1, unless they are printed as "double". */
static bool fits(const mxl_param *param, double value)
{
    bool is_double = param->type_name != NULL && strncmp(param->type_name, "double", 6) == 0;

    return is_double || !isfinite(value) || fabs(value) <= (double)FLT_MAX;
}

static int parse_float(const mxl_op *op, const mxl_param *param, const char *text, double *at)
{
    double value = 0;
    mxl_text_result result = mxl_text_float(text, &value);

    if (result == MXL_TEXT_OK && !fits(param, value))
        result = MXL_TEXT_RANGE;
    if (result == MXL_TEXT_OK && param->type == MXL_P_OPT_FLOAT && isnan(value))
        result = MXL_TEXT_MALFORMED;
    if (result != MXL_TEXT_OK)
        return refused(op, param, text, result,
                       param->type == MXL_P_FLOAT ? "a number" : "a number or None");
    *at = value;
    return 0;
}

static int parse_bool(const mxl_op *op, const mxl_param *param, const char *text, int *at)
{
    bool plain = param->type == MXL_P_BOOL;
    mxl_text_result result = plain ? mxl_text_bool(text, at) : mxl_text_opt_bool(text, at);

    if (result == MXL_TEXT_OK)
        return 0;
    return malformed(op, param, text, plain ? "True or False" : "True, False or None");
}

static int parse_enum(const mxl_op *op, const mxl_param *param, const char *text, int *at)
{
    for (int i = 0; param->values[i] != NULL; i++)
        if (strcmp(param->values[i], text) == 0) {
            *at = i;
            return 0;
        }
    return not_listed(op, param, text);
}

bool mxl_param_takes_dtype(const mxl_param *param, int dtype)
{
    /* MXNet's lists end with int64: one of the later dtypes goes where its like does. */
    const char *name = mxl_dtype_name(!mxl_dtype_is_carried(dtype) ? dtype
                                      : dtype == MXL_BF16          ? MXL_F16
                                                                   : MXL_I32);

    for (int i = 0; param->values[i] != NULL; i++) {
        if (strcmp(param->values[i], name) == 0)
            return true;
    }
    return false;
}

static int parse_dtype(const mxl_op *op, const mxl_param *param, const char *text, int *at)
{
    int index = 0;

    *at = mxl_dtype_parse(text);
    if (*at != MXL_DTYPE_UNKNOWN && mxl_param_takes_dtype(param, *at))
        return 0;
    return parse_enum(op, param, text, &index);
}

/* Room for the entries of a list; NULL with the error set. */
static void *list_room(const mxl_op *op, const mxl_param *param, int count, size_t entry,
                       mxl_arena *arena)
{
    if (count > MXL_TUPLE_MOST) {
        mxl_error("%s: parameter %s: more than %d entries", op->name, param->name, MXL_TUPLE_MOST);
        return NULL;
    }
    return mxl_arena_alloc(arena, (size_t)count * entry);
}

static int parse_tuple(const mxl_op *op, const mxl_param *param, const char *text, mxl_tuple *at,
                       mxl_arena *arena)
{
    bool none = param->type == MXL_P_TUPLE_OPT;
    int64_t values[SHORT_LIST];
    int count = 0;
    mxl_text_result result = mxl_text_tuple(text, none, SHORT_LIST, values, &count);
    int64_t *own = NULL;

    if (result != MXL_TEXT_OK)
        return refused(op, param, text, result,
                       none ? "a tuple of integers and None" : "a tuple of integers");
    if (count > 0) {
        own = list_room(op, param, count, sizeof *own, arena);
        if (own == NULL)
            return -1;
        if (count > SHORT_LIST)
            (void)mxl_text_tuple(text, none, count, own, &count);
        else
            memcpy(own, values, (size_t)count * sizeof *own);
    }
    at->n = count;
    at->v = own;
    return 0;
}

static int parse_floats(const mxl_op *op, const mxl_param *param, const char *text, mxl_floats *at,
                        mxl_arena *arena)
{
    int count = 0;
    mxl_text_result result = mxl_text_floats(text, 0, NULL, &count);
    double *own = NULL;

    if (result == MXL_TEXT_OK && count > 0) {
        own = list_room(op, param, count, sizeof *own, arena);
        if (own == NULL)
            return -1;
        (void)mxl_text_floats(text, count, own, &count);
    }
    for (int i = 0; result == MXL_TEXT_OK && i < count; i++)
        result = fits(param, own[i]) ? MXL_TEXT_OK : MXL_TEXT_RANGE;
    if (result != MXL_TEXT_OK)
        return refused(op, param, text, result, "a tuple of numbers");
    at->n = count;
    at->v = own;
    return 0;
}

static int parse_string(const char *text, const char **at, mxl_arena *arena)
{
    size_t bytes = strlen(text) + 1;
    char *own = mxl_arena_alloc(arena, bytes);

    if (own == NULL)
        return -1;
    memcpy(own, text, bytes);
    *at = own;
    return 0;
}

/* Stores None and returns true if the parameter may be None. */
static bool set_none(const mxl_param *param, void *at)
{
    switch (param->type) {
    case MXL_P_OPT_INT:
        *(int64_t *)at = MXL_NONE;
        return true;
    case MXL_P_OPT_FLOAT:
        *(double *)at = NAN;
        return true;
    case MXL_P_SHAPE:
        /* Some of MXNet's non-optional shapes have the default None. */
        if (param->def == NULL || strcmp(param->def, "None") != 0)
            return false;
        *(mxl_tuple *)at = (mxl_tuple){-1, NULL};
        return true;
    case MXL_P_OPT_SHAPE:
        *(mxl_tuple *)at = (mxl_tuple){-1, NULL};
        return true;
    case MXL_P_TUPLE_OPT:
        /* None is no list, where an empty one says nothing: the step of a slice. */
        if (param->def == NULL || strcmp(param->def, "[]") != 0)
            return false;
        *(mxl_tuple *)at = (mxl_tuple){0, NULL};
        return true;
    case MXL_P_FLOATS:
        if (param->def == NULL || strcmp(param->def, "None") != 0)
            return false;
        *(mxl_floats *)at = (mxl_floats){-1, NULL};
        return true;
    default:
        return false;
    }
}

int mxl_param_parse(const mxl_op *op, const mxl_param *param, const char *text, void *params,
                    mxl_arena *arena)
{
    void *at = field(param, params);

    if (text == NULL)
        return mxl_error("%s: parameter %s: the value is NULL", op->name, param->name);
    if (mxl_text_is_none(text) && set_none(param, at))
        return 0;
    switch (param->type) {
    case MXL_P_INT:
    case MXL_P_OPT_INT:
        return parse_int(op, param, text, at);
    case MXL_P_FLOAT:
    case MXL_P_OPT_FLOAT:
        return parse_float(op, param, text, at);
    case MXL_P_BOOL:
    case MXL_P_OPT_BOOL:
        return parse_bool(op, param, text, at);
    case MXL_P_ENUM:
        return parse_enum(op, param, text, at);
    case MXL_P_DTYPE:
        return parse_dtype(op, param, text, at);
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        return parse_tuple(op, param, text, at, arena);
    case MXL_P_FLOATS:
        return parse_floats(op, param, text, at, arena);
    case MXL_P_STRING:
        return parse_string(text, at, arena);
    }
    return mxl_error("%s: parameter %s: the descriptor has no type %d", op->name, param->name,
                     (int)param->type);
}

/* ---- all parameters of a call ---- */

/* Attributes such as __ctx_group__ are for MXNet's graph passes, not for the operator. */
static bool is_attribute(const char *key)
{
    size_t length = strlen(key);

    return length > 4 && strncmp(key, "__", 2) == 0 && strcmp(key + length - 2, "__") == 0;
}

/* MXNet does not parse the parameters of an operator without parameters, so programs may pass any.
 */
static bool ignores_unknown(const mxl_op *op)
{
    return op->params_size == 0 && op->key_var_num_args == NULL;
}

/* Sets a parameter that the caller did not give. The number of inputs may be missing (-1): the
 * caller of the parser knows it. */
static int parse_default(const mxl_op *op, const mxl_param *param, void *params, mxl_arena *arena)
{
    if (param->def != NULL)
        return mxl_param_parse(op, param, param->def, params, arena);
    if (op->key_var_num_args == NULL || strcmp(op->key_var_num_args, param->name) != 0)
        return mxl_error("%s: required parameter \"%s\" is missing", op->name, param->name);
    *(int64_t *)field(param, params) = -1;
    return 0;
}

int mxl_op_check_refused(const mxl_op *op)
{
    if (op->refused == NULL)
        return 0;
    return mxl_error("%s: %s; " MXL_HELP("compatibility") " says more", op->name, op->refused);
}

int mxl_params_parse(const mxl_op *op, int count, const char *const *keys,
                     const char *const *values, void *params, mxl_arena *arena)
{
    uint64_t given = 0;
    int number = 0;

    if (op->graphs == 0 && mxl_op_check_refused(op) != 0)
        return -1;
    if (op->params_size > 0)
        memset(params, 0, op->params_size);
    if (op->parse != NULL)
        return op->parse(op, count, keys, values, params, arena);
    for (int i = 0; i < count; i++) {
        const mxl_param *param;

        if (keys[i] == NULL)
            return mxl_error("%s: the name of parameter %d is NULL", op->name, i);
        if (is_attribute(keys[i]))
            continue;
        param = mxl_param_find(op, keys[i]);
        if (param == NULL && ignores_unknown(op))
            continue;
        if (param == NULL)
            return mxl_param_unknown(op, keys[i]);
        number = (int)(param - mxl_op_params(op));
        if (number >= MAX_PARAMS)
            return mxl_error("%s: the descriptor has too many parameters", op->name);
        if (given >> number & 1)
            return mxl_error("%s: parameter \"%s\" is given twice", op->name, param->name);
        given |= UINT64_C(1) << number;
        if (mxl_param_parse(op, param, values[i], params, arena) != 0)
            return -1;
    }
    number = 0;
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++, number++)
        if ((number >= MAX_PARAMS || (given >> number & 1) == 0) &&
            parse_default(op, param, params, arena) != 0)
            return -1;
    return op->check != NULL ? op->check(params) : 0;
}

/* ---- copies ---- */

/* The struct, then the lists (of 8 bytes an entry), then the strings. */
static size_t struct_bytes(const mxl_op *op)
{
    return (op->params_size + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
}

/* The bytes of a list's entries; 0 if the parameter is not a list. */
static size_t list_bytes(const mxl_param *param, const void *params)
{
    const void *at = (const char *)params + param->offset;
    int n = 0;

    if (param->type == MXL_P_SHAPE || param->type == MXL_P_OPT_SHAPE ||
        param->type == MXL_P_TUPLE_OPT)
        n = ((const mxl_tuple *)at)->n;
    else if (param->type == MXL_P_FLOATS)
        n = ((const mxl_floats *)at)->n;
    return n > 0 ? (size_t)n * sizeof(int64_t) : 0;
}

size_t mxl_params_bytes(const mxl_op *op, const void *params)
{
    size_t bytes = struct_bytes(op);

    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
        const void *at = (const char *)params + param->offset;

        bytes += list_bytes(param, params);
        if (param->type == MXL_P_STRING && *(const char *const *)at != NULL)
            bytes += strlen(*(const char *const *)at) + 1;
    }
    return bytes;
}

void mxl_params_copy(const mxl_op *op, void *dst, const void *params)
{
    char *room = (char *)dst + struct_bytes(op);

    if (op->params_size > 0)
        memcpy(dst, params, op->params_size);
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
        size_t bytes = list_bytes(param, dst);
        mxl_floats *floats = field(param, dst);
        mxl_tuple *tuple = field(param, dst);

        if (bytes > 0 && param->type == MXL_P_FLOATS)
            floats->v = memcpy(room, floats->v, bytes);
        else if (bytes > 0)
            tuple->v = memcpy(room, tuple->v, bytes);
        room += bytes;
    }
    for (const mxl_param *param = mxl_op_params(op); param->name != NULL; param++) {
        const char **text = field(param, dst);

        if (param->type == MXL_P_STRING && *text != NULL) {
            size_t bytes = strlen(*text) + 1;

            *text = memcpy(room, *text, bytes);
            room += bytes;
        }
    }
}
