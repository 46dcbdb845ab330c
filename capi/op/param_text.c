/* The types of parameters as introspection prints them, spelled as in MXNet 1.9.1. */
#include "op/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    char *buf;
    size_t size;
    size_t used;
} writer;

static void add(writer *w, const char *fmt, ...) MXL_PRINTF(2, 3);

static void add(writer *w, const char *fmt, ...)
{
    size_t room = w->size - w->used;
    va_list args;
    int length;

    va_start(args, fmt);
    length = vsnprintf(w->buf + w->used, room, fmt, args);
    va_end(args);
    if (length > 0)
        w->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* The next name after `last` in byte order. "None" is excluded: it comes first. */
static const char *next_name(const char *const *values, const char *last)
{
    const char *best = NULL;

    for (; *values != NULL; values++)
        if (strcmp(*values, "None") != 0 && (last == NULL || strcmp(*values, last) > 0) &&
            (best == NULL || strcmp(*values, best) < 0))
            best = *values;
    return best;
}

/* "{None, 'a', 'b'}". */
static void add_values(writer *w, const char *const *values)
{
    const char *between = "";

    add(w, "{");
    for (int i = 0; values[i] != NULL; i++)
        if (strcmp(values[i], "None") == 0) {
            add(w, "None");
            between = ", ";
        }
    for (const char *name = next_name(values, NULL); name != NULL; name = next_name(values, name)) {
        add(w, "%s'%s'", between, name);
        between = ", ";
    }
    add(w, "}");
}

static const char *type_name(mxl_param_type type)
{
    switch (type) {
    case MXL_P_INT:
        return "int";
    case MXL_P_OPT_INT:
        return "int or None";
    case MXL_P_FLOAT:
        return "float";
    case MXL_P_OPT_FLOAT:
        return "float or None";
    case MXL_P_BOOL:
        return "boolean";
    case MXL_P_OPT_BOOL:
        return "boolean or None";
    case MXL_P_SHAPE:
    case MXL_P_TUPLE_OPT:
        return "Shape(tuple)";
    case MXL_P_OPT_SHAPE:
        return "Shape or None";
    case MXL_P_FLOATS:
        return "tuple of <float>";
    case MXL_P_STRING:
        return "string";
    case MXL_P_ENUM:
    case MXL_P_DTYPE:
        break;
    }
    return "";
}

char *mxl_param_type_text(const mxl_param *param, char *buf, size_t size)
{
    writer w = {buf, size, 0};
    mxl_param_type type = param->type;
    bool named = type == MXL_P_ENUM || type == MXL_P_DTYPE;
    bool quoted = named || type == MXL_P_INT || type == MXL_P_OPT_INT || type == MXL_P_STRING;
    const char *quote = quoted && param->type_name == NULL ? "'" : "";

    if (size == 0)
        return buf;
    buf[0] = '\0';
    if (param->type_text != NULL) {
        add(&w, "%s", param->type_text);
        return buf;
    }
    if (named)
        add_values(&w, param->values);
    else
        add(&w, "%s", param->type_name != NULL ? param->type_name : type_name(type));
    if (param->def == NULL)
        add(&w, ", required");
    else
        add(&w, "%soptional, default=%s%s%s", named ? "," : ", ", quote, param->def, quote);
    return buf;
}
