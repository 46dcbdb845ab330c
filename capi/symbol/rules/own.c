/* What the operators' own infer functions say of the shapes of results. */
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "engine/run/invoke.h"
#include "symbol/infer.h"

/* Arrays without memory, of which infer reads dtype and shape. */
typedef struct stand_ins {
    mxl_array *array;     /* [count] */
    mxl_storage *storage; /* theirs, without memory */
    mxl_array **list;
    int64_t (*dims)[2 * MXL_MAX_NDIM];
    mxl_shape *out_shape;
    int *dtypes; /* of inputs, then of outputs */
    mxl_arena arena;
} stand_ins;

/* Dtypes that the operator takes: shapes do not depend on them, and those that it refuses are an
 * error when it runs. */
static int choose_dtypes(stand_ins *s, const mxl_rule *rule)
{
    int count = rule->num_in + rule->num_out, *entries;
    mxl_rule own = *rule;

    entries = mxl_arena_alloc(&s->arena, (size_t)count * sizeof(*entries));
    if (entries == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        entries[i] = i;
        s->dtypes[i] = MXL_DTYPE_UNKNOWN;
    }
    own.in = entries;
    own.out = rule->num_in;
    own.dtypes = s->dtypes;
    for (int i = 0; i < rule->num_in; i++) {
        if (mxl_rule_dtypes(&own) != 0)
            return -1;
        if (s->dtypes[i] == MXL_DTYPE_UNKNOWN)
            s->dtypes[i] = MXL_F32;
    }
    return 0;
}

static int stand_ins_begin(stand_ins *s, const mxl_rule *rule)
{
    size_t in = (size_t)rule->num_in + 1, out = (size_t)rule->num_out + 1;

    mxl_arena_init(&s->arena);
    s->array = mxl_arena_alloc(&s->arena, in * sizeof(*s->array));
    s->list = mxl_arena_alloc(&s->arena, in * sizeof(*s->list));
    s->dims = mxl_arena_alloc(&s->arena, in * sizeof(*s->dims));
    s->out_shape = mxl_arena_alloc(&s->arena, out * sizeof(*s->out_shape));
    s->dtypes = mxl_arena_alloc(&s->arena, (in + out) * sizeof(*s->dtypes));
    if (s->array == NULL || s->list == NULL || s->dims == NULL || s->out_shape == NULL ||
        s->dtypes == NULL || choose_dtypes(s, rule) != 0) {
        mxl_arena_clear(&s->arena);
        return -1;
    }
    memset(s->array, 0, in * sizeof(*s->array));
    s->storage = mxl_storage_new_meta(0);
    return 0;
}

static void stand_ins_end(stand_ins *s)
{
    mxl_ref_release(&s->storage->ref);
    mxl_arena_clear(&s->arena);
}

/* Input i. */
static void stand_in(stand_ins *s, const mxl_rule *rule, int i)
{
    const mxl_shape *shape = mxl_rule_in(rule, i);
    mxl_array *array = &s->array[i];

    array->dtype = s->dtypes[i];
    array->ndim = shape->ndim;
    array->contiguous = true;
    array->storage = s->storage;
    mxl_ref_init(&array->ref, NULL); /* never released: compositions give back what they keep */
    array->shape = s->dims[i];
    array->strides = s->dims[i] + shape->ndim;
    for (int k = 0; k < shape->ndim; k++)
        array->shape[k] = shape->dim[k] < 0 ? MXL_UNKNOWN_SIZE : shape->dim[k];
    array->size =
        mxl_shape_known(shape) ? mxl_shape_size(array->ndim, array->shape) : MXL_UNKNOWN_SIZE;
    mxl_shape_strides(array->ndim, array->shape, array->strides);
    s->list[i] = array;
}

/* Calls infer; -1 with the error set. */
static int call_infer(stand_ins *s, const mxl_rule *rule)
{
    mxl_infer infer = {.op = rule->op,
                       .params = rule->params,
                       .num_inputs = rule->num_in,
                       .num_outputs = rule->num_out,
                       .in = s->list,
                       .out_shape = s->out_shape,
                       .out_dtype = s->dtypes + rule->num_in,
                       .legacy_shape = rule->legacy_shape};

    for (int i = 0; i < rule->num_in; i++)
        stand_in(s, rule, i);
    for (int i = 0; i < rule->num_out; i++) {
        infer.out_dtype[i] = MXL_DTYPE_UNKNOWN;
        s->out_shape[i].ndim = -1;
    }
    if (mxl_invoke_infer(&infer, &mxl_dialect_mxnet) != 0)
        return -1;
    for (int i = 0; i < rule->num_out; i++) {
        if (rule->num_in > 0)
            mxl_infer_legacy(&infer, i, NULL);
        for (int k = 0; k < s->out_shape[i].ndim; k++)
            if (s->out_shape[i].dim[k] < 0)
                s->out_shape[i].dim[k] = -1;
    }
    return 0;
}

/* Output shapes from input shapes, by the operator's own function. */
int mxl_rule_own_shapes(mxl_rule *rule)
{
    bool whole = true, needed = false;
    stand_ins s;
    int status;

    for (int i = 0; i < rule->num_in; i++) {
        if (mxl_rule_in(rule, i)->ndim < 0)
            return 0;
        whole &= mxl_shape_known(mxl_rule_in(rule, i));
    }
    for (int i = 0; i < rule->num_out; i++)
        needed |= !mxl_shape_known(mxl_rule_out(rule, i));
    if (!whole && (!needed || rule->op->needs_all))
        return 0;
    if (stand_ins_begin(&s, rule) != 0)
        return -1;
    status = call_infer(&s, rule);
    if (status != 0 && !whole) {
        stand_ins_end(&s);
        return 0;
    }
    for (int i = 0; i < rule->num_out && status == 0; i++)
        status = mxl_rule_merge(rule, mxl_rule_out(rule, i), &s.out_shape[i]);
    stand_ins_end(&s);
    return status;
}
