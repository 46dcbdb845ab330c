/* Prints parameters in the syntax of the parser, to show or store a recorded call
 * (MXLNodeGetParams). */
#include "op/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/text.h"

/* Prints the shortest decimal that parses to the same number, with a point in any locale. */
static void print_float(mxl_str *out, double value)
{
    char text[64];
    double back = 0;

    if (isnan(value) || isinf(value)) {
        mxl_str_add(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        char *point = text;

        snprintf(text, sizeof text, "%.*g", digits, value);
        point += strspn(point, "-0123456789e");
        if (*point != '\0' && *point != '+')
            *point = '.';
        if (mxl_text_float(text, &back) == MXL_TEXT_OK && back == value)
            break;
    }
    mxl_str_add(out, text);
}

static void print_int(mxl_str *out, int64_t value)
{
    if (value == MXL_NONE)
        mxl_str_add(out, "None");
    else
        mxl_str_addf(out, "%lld", (long long)value);
}

static void print_tuple(mxl_str *out, const mxl_tuple *tuple)
{
    if (tuple->n < 0) {
        mxl_str_add(out, "None");
        return;
    }
    mxl_str_add(out, "(");
    for (int i = 0; i < tuple->n; i++) {
        mxl_str_add(out, i == 0 ? "" : ", ");
        print_int(out, tuple->v[i]);
    }
    mxl_str_add(out, tuple->n == 1 ? ",)" : ")");
}

static void print_floats(mxl_str *out, const mxl_floats *list)
{
    if (list->n < 0) {
        mxl_str_add(out, "None");
        return;
    }
    mxl_str_add(out, "(");
    for (int i = 0; i < list->n; i++) {
        mxl_str_add(out, i == 0 ? "" : ", ");
        print_float(out, list->v[i]);
    }
    mxl_str_add(out, list->n == 1 ? ",)" : ")");
}

static void print_bool(mxl_str *out, int value)
{
    mxl_str_add(out, value < 0 ? "None" : value != 0 ? "True" : "False");
}

static void print_dtype(mxl_str *out, int dtype)
{
    mxl_str_add(out, dtype == MXL_DTYPE_UNKNOWN ? "None" : mxl_dtype_name(dtype));
}

static void print_value(mxl_str *out, const mxl_param *param, const void *at)
{
    switch (param->type) {
    case MXL_P_INT:
    case MXL_P_OPT_INT:
        print_int(out, *(const int64_t *)at);
        return;
    case MXL_P_FLOAT:
        print_float(out, *(const double *)at);
        return;
    case MXL_P_OPT_FLOAT:
        if (isnan(*(const double *)at))
            mxl_str_add(out, "None");
        else
            print_float(out, *(const double *)at);
        return;
    case MXL_P_BOOL:
    case MXL_P_OPT_BOOL:
        print_bool(out, *(const int *)at);
        return;
    case MXL_P_ENUM:
        mxl_str_add(out, param->values[*(const int *)at]);
        return;
    case MXL_P_DTYPE:
        print_dtype(out, *(const int *)at);
        return;
    case MXL_P_SHAPE:
    case MXL_P_OPT_SHAPE:
    case MXL_P_TUPLE_OPT:
        print_tuple(out, at);
        return;
    case MXL_P_FLOATS:
        print_floats(out, at);
        return;
    case MXL_P_STRING:
        mxl_str_add(out, *(const char *const *)at);
        return;
    }
}

int mxl_param_print(const mxl_param *param, const void *params, mxl_str *out)
{
    print_value(out, param, (const char *)params + param->offset);
    return out->failed ? mxl_error("not enough memory to print parameter %s", param->name) : 0;
}

int mxl_param_is_default(const mxl_op *op, const mxl_param *param, const void *params)
{
    mxl_str text = {0}, def = {0};
    mxl_arena arena;
    void *defaults;
    int status = -1;

    if (param->def == NULL)
        return 0;
    mxl_arena_init(&arena);
    defaults = mxl_arena_alloc(&arena, op->params_size);
    if (defaults != NULL && mxl_param_parse(op, param, param->def, defaults, &arena) == 0 &&
        mxl_param_print(param, params, &text) == 0 && mxl_param_print(param, defaults, &def) == 0)
        status = strcmp(text.text != NULL ? text.text : "", def.text != NULL ? def.text : "") == 0;
    mxl_str_clear(&text);
    mxl_str_clear(&def);
    mxl_arena_clear(&arena);
    return status;
}
