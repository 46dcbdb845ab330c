/* Calls of other operators by name, for the composites of this folder. */
#include "ops/numpy/numpy.h"
#include "ops/shape/movement.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"

enum { MOST = 8, ROOM = 1024 };

mxl_scope *mxl_np_scope(mxl_scope *s)
{
    s->mode.legacy_shape = false;
    return s;
}

mxl_array *mxl_np_call(mxl_scope *s, const char *op, const void *params, int count,
                       mxl_array *const *in)
{
    const mxl_op *found = mxl_op_find(op);

    if (found == NULL)
        s->failed = true;
    else if (params == NULL && found->params_size > 0)
        return mxl_np_text(s, op, count, in, "%s", ""); /* the defaults */
    return found == NULL ? NULL : mxl_scope_call(s, found, params, count, in);
}

mxl_array *mxl_np_one(mxl_scope *s, const char *op, mxl_array *a)
{
    return mxl_np_call(s, op, NULL, 1, &a);
}

mxl_array *mxl_np_two(mxl_scope *s, const char *op, mxl_array *a, mxl_array *b)
{
    mxl_array *in[2] = {a, b};

    return mxl_np_call(s, op, NULL, 2, in);
}

mxl_array *mxl_np_scalar(mxl_scope *s, const char *op, mxl_array *a, double b)
{
    const mxl_scalar_params params = {b, true};

    return mxl_np_call(s, op, &params, 1, &a);
}

mxl_array *mxl_np_as(mxl_scope *s, mxl_array *a, int dtype)
{
    return a == NULL || a->dtype == dtype ? a : mxl_cast(s, a, dtype);
}

mxl_array *mxl_np_number(mxl_scope *s, double value, int dtype)
{
    mxl_array *made = mxl_scope_own(s, mxl_array_new(dtype, 0, NULL));

    if (made != NULL)
        mxl_cast_scalar(value, dtype, mxl_array_write(made));
    return made;
}

mxl_array *mxl_np_fail(mxl_scope *s, const char *format, ...)
{
    char text[ROOM];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    s->failed = true;
    return mxl_error_null("%s", text);
}

mxl_array *mxl_np_take(mxl_scope *s, mxl_array *x, int axis, mxl_array *at)
{
    mxl_array *in[2] = {x, at};

    if (x == NULL || at == NULL)
        return NULL;
    if (at->size == 0 || x->size == 0)
        return mxl_np_empty(s, x, axis, at->size);
    return mxl_np_text(s, "take", 2, in, "axis=%d mode=clip", axis);
}

mxl_array *mxl_np_line(mxl_scope *s, mxl_array *x)
{
    return x == NULL ? NULL : mxl_reshape(s, x, 1, &x->size);
}

mxl_array *mxl_np_empty(mxl_scope *s, mxl_array *x, int axis, int64_t size)
{
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *made;
    void *zeros;

    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[axis] = size;
    if (mxl_shape_size(x->ndim, shape) == 0)
        return mxl_reshape(s, mxl_slice_axis(s, x, axis, 0, 0), x->ndim, shape);
    made = mxl_scope_new(s, x->dtype, x->ndim, shape);
    zeros = mxl_scope_fill(s, made);
    if (zeros != NULL)
        memset(zeros, 0, (size_t)made->size * mxl_dtype_size(x->dtype));
    return made;
}

mxl_array *mxl_np_read(mxl_scope *s, mxl_array *x, int dtype)
{
    mxl_array *copy = mxl_scope_new(s, dtype, x->ndim, x->shape);

    if (s->mode.meta) /* an operator that gets here says that it goes by values */
        return mxl_np_fail(s, "the shape of the result depends on values");
    if (copy != NULL && mxl_array_copy_into(copy, x) == 0)
        return copy;
    s->failed = true;
    return NULL;
}

/* Splits "a=1 b=2" into keys and values, in place. Returns their number. */
static int split(char *text, const char **keys, const char **values)
{
    int count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < MOST;
         word = strtok_r(NULL, " ", &rest)) {
        char *sign = strchr(word, '=');

        if (sign == NULL)
            continue;
        *sign = '\0';
        keys[count] = word;
        values[count++] = sign + 1;
    }
    return count;
}

mxl_array *mxl_np_text(mxl_scope *s, const char *op, int count, mxl_array *const *in,
                       const char *format, ...)
{
    const mxl_op *found = mxl_op_find(op);
    const char *keys[MOST], *values[MOST];
    _Alignas(16) char params[512];
    char text[ROOM];
    mxl_array *made = NULL;
    mxl_arena arena;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (found == NULL) {
        s->failed = true;
        return NULL;
    }
    if (length >= ROOM || found->params_size > sizeof(params))
        return mxl_np_fail(s, "%s: its parameters are too long", op);
    mxl_arena_init(&arena);
    if (mxl_params_parse(found, split(text, keys, values), keys, values, params, &arena) == 0)
        made = mxl_scope_call(s, found, params, count, in);
    else
        s->failed = true;
    mxl_arena_clear(&arena);
    return made;
}

double *mxl_np_doubles(const mxl_array *a)
{
    double *to = mxl_alloc((size_t)a->size * sizeof(double));
    int64_t step = 1;

    if (to != NULL && a->size > 0) {
        const void *from = mxl_array_read(a);

        mxl_cast_loop(a->dtype, MXL_F64)(to, &from, &step, a->size, NULL);
    }
    return to;
}
