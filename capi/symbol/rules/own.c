/* What the operators' own infer functions say, of inputs of which not all is known. */
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "engine/run/invoke.h"
#include "symbol/infer.h"

/* In place of unknown sizes: two that have many divisors, and one that a slice may lie beyond and
 * that a squeeze drops. */
static const int64_t stand_in_sizes[] = {60, 84, 1};

/* Arrays without memory, of which infer reads dtype and shape. */
typedef struct stand_ins {
    mxl_array *array;     /* [count] */
    mxl_storage *storage; /* theirs, without memory */
    mxl_array **list;
    int64_t (*dims)[2 * MXL_MAX_NDIM];
    mxl_shape *out_shape;
    int *out_dtype;
    mxl_shape other; /* in place of an unknown one */
    bool any_dtypes; /* dtypes that are known do not count */
    mxl_arena arena;
} stand_ins;

static int stand_ins_begin(stand_ins *s, const mxl_rule *rule)
{
    size_t in = (size_t)rule->num_in + 1, out = (size_t)rule->num_out + 1;

    mxl_arena_init(&s->arena);
    s->array = mxl_arena_alloc(&s->arena, in * sizeof(*s->array));
    s->list = mxl_arena_alloc(&s->arena, in * sizeof(*s->list));
    s->dims = mxl_arena_alloc(&s->arena, in * sizeof(*s->dims));
    s->out_shape = mxl_arena_alloc(&s->arena, out * sizeof(*s->out_shape));
    s->out_dtype = mxl_arena_alloc(&s->arena, out * sizeof(*s->out_dtype));
    if (s->array == NULL || s->list == NULL || s->dims == NULL || s->out_shape == NULL ||
        s->out_dtype == NULL) {
        mxl_arena_clear(&s->arena);
        return -1;
    }
    memset(s->array, 0, in * sizeof(*s->array));
    s->storage = mxl_storage_new_meta(0);
    s->any_dtypes = false;
    return 0;
}

static void stand_ins_end(stand_ins *s)
{
    mxl_ref_release(&s->storage->ref);
    mxl_arena_clear(&s->arena);
}

/* Input i with `size` in place of unknown sizes, and a dtype in place of an unknown one. */
static void stand_in(stand_ins *s, const mxl_rule *rule, int i, int64_t size, int dtype)
{
    const mxl_shape *shape = mxl_rule_in(rule, i)->ndim < 0 ? &s->other : mxl_rule_in(rule, i);
    int known = mxl_rule_in_dtype(rule, i);
    mxl_array *array = &s->array[i];

    array->dtype = known != MXL_DTYPE_UNKNOWN && !s->any_dtypes ? known : dtype;
    array->ndim = shape->ndim;
    array->contiguous = true;
    array->storage = s->storage;
    mxl_ref_init(&array->ref, NULL); /* never released: compositions give back what they keep */
    array->shape = s->dims[i];
    array->strides = s->dims[i] + shape->ndim;
    for (int k = 0; k < shape->ndim; k++)
        array->shape[k] = shape->dim[k] < 0 ? size : shape->dim[k];
    array->size = mxl_shape_size(array->ndim, array->shape);
    mxl_shape_strides(array->ndim, array->shape, array->strides);
    s->list[i] = array;
}

/* Calls infer; -1 with the error set. */
static int call_infer(stand_ins *s, const mxl_rule *rule, int64_t size, int dtype)
{
    mxl_infer infer = {.op = rule->op,
                       .params = rule->params,
                       .num_inputs = rule->num_in,
                       .num_outputs = rule->num_out,
                       .in = s->list,
                       .out_shape = s->out_shape,
                       .out_dtype = s->out_dtype,
                       .legacy_shape = rule->legacy_shape};

    for (int i = 0; i < rule->num_in; i++)
        stand_in(s, rule, i, size, dtype);
    for (int i = 0; i < rule->num_out; i++) {
        s->out_dtype[i] = MXL_DTYPE_UNKNOWN;
        s->out_shape[i].ndim = -1;
    }
    if (mxl_invoke_infer(&infer, &mxl_dialect_mxnet) != 0)
        return -1;
    for (int i = 0; i < rule->num_out && rule->num_in > 0; i++)
        mxl_infer_legacy(&infer, i, NULL);
    return 0;
}

/* The dtypes of the node's entries, to and from a list. */
static void copy_dtypes(const mxl_rule *rule, int *list, bool back)
{
    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        int *dtype = &rule->dtypes[mxl_rule_entry(rule, i)];

        *(back ? dtype : &list[i]) = *(back ? &list[i] : dtype);
    }
}

/* The same with `dtype` for the first unknown input, and for others what the rules say then. */
static int call_guessing(stand_ins *s, const mxl_rule *rule, int64_t size, int dtype)
{
    mxl_rule guess = *rule;
    size_t bytes = ((size_t)rule->num_in + (size_t)rule->num_out) * sizeof(int);
    int unknown = -1, status, *known;

    for (int i = rule->num_in; i-- > 0;)
        unknown = mxl_rule_in_dtype(rule, i) == MXL_DTYPE_UNKNOWN ? i : unknown;
    if (unknown < 0)
        return call_infer(s, rule, size, dtype);
    known = mxl_alloc(bytes);
    if (known == NULL)
        return -1;
    copy_dtypes(rule, known, false);
    rule->dtypes[rule->in[unknown]] = dtype;
    if (mxl_rule_dtypes(&guess) != 0)
        copy_dtypes(rule, known, true);
    status = call_infer(s, rule, size, dtype);
    copy_dtypes(rule, known, true);
    mxl_free(known, bytes);
    return status;
}

/* The same with the first dtype that the operator takes: that of an input, or a usual one. Dtypes
 * that it refuses are an error when it runs; shapes follow as from float32. */
static int call_any_dtype(stand_ins *s, mxl_rule *rule, int64_t size)
{
    static const int dtypes[] = {MXL_F32, MXL_I64, MXL_BOOL, MXL_F16, MXL_F64};
    int status;

    for (int i = 0; i < rule->num_in; i++) {
        int known = mxl_rule_in_dtype(rule, i);

        if (known != MXL_DTYPE_UNKNOWN && call_guessing(s, rule, size, known) == 0)
            return 0;
    }
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (call_guessing(s, rule, size, dtypes[i]) == 0)
            return 0;
    }
    s->any_dtypes = true;
    status = call_infer(s, rule, size, dtypes[0]);
    s->any_dtypes = false;
    return status == 0 ? 0 : call_guessing(s, rule, size, dtypes[0]); /* its error */
}

/* What stays the same between `first` and the shapes that infer gave last; -1 as ndim: nothing. */
static void keep_common(const stand_ins *s, const mxl_rule *rule, mxl_shape *first)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (first[i].ndim != s->out_shape[i].ndim)
            first[i].ndim = -1;
        for (int k = 0; k < first[i].ndim; k++) {
            if (first[i].dim[k] != s->out_shape[i].dim[k])
                first[i].dim[k] = -1;
        }
    }
}

/* What is known of the shapes of results, with several numbers in place of unknown sizes: what
 * stays the same. Where the operator refuses one of the first two, nothing is. */
static int infer_partly(stand_ins *s, mxl_rule *rule)
{
    size_t bytes = (size_t)rule->num_out * sizeof(mxl_shape);
    mxl_shape *found = mxl_arena_alloc(&s->arena, bytes + 1);

    if (found == NULL)
        return -1;
    if (call_any_dtype(s, rule, stand_in_sizes[0]) != 0)
        return 0;
    memcpy(found, s->out_shape, bytes);
    if (call_any_dtype(s, rule, stand_in_sizes[1]) != 0)
        return 0;
    keep_common(s, rule, found);
    if (call_any_dtype(s, rule, stand_in_sizes[2]) == 0)
        keep_common(s, rule, found);
    for (int i = 0; i < rule->num_out; i++) {
        if (mxl_rule_merge(rule, mxl_rule_out(rule, i), &found[i]) != 0)
            return -1;
    }
    return 0;
}

/* What is known of the shapes of inputs: all, at least one size not, at least one rank not. */
typedef enum input_shapes { ALL_KNOWN, SIZE_UNKNOWN, RANK_UNKNOWN } input_shapes;

static input_shapes shapes_of_inputs(const mxl_rule *rule)
{
    input_shapes worst = ALL_KNOWN;

    for (int i = 0; i < rule->num_in; i++) {
        const mxl_shape *in = mxl_rule_in(rule, i);

        if (in->ndim < 0)
            return RANK_UNKNOWN;
        if (!mxl_shape_known(in))
            worst = SIZE_UNKNOWN;
    }
    return worst;
}

/* Output shapes from input shapes, by the operator's own function. */
int mxl_rule_own_shapes(mxl_rule *rule)
{
    input_shapes known = shapes_of_inputs(rule);
    const mxl_op *op = rule->op;
    bool needed = false;
    stand_ins s;
    int status = 0;

    for (int i = 0; i < rule->num_out; i++)
        needed |= !mxl_shape_known(mxl_rule_out(rule, i));
    if (known == RANK_UNKNOWN || (known == SIZE_UNKNOWN && (!needed || op->needs_all)))
        return 0;
    if (stand_ins_begin(&s, rule) != 0)
        return -1;
    if (known != ALL_KNOWN) {
        status = infer_partly(&s, rule);
    } else {
        status = call_any_dtype(&s, rule, 0);
        for (int i = 0; i < rule->num_out && status == 0; i++)
            status = mxl_rule_merge(rule, mxl_rule_out(rule, i), &s.out_shape[i]);
    }
    stand_ins_end(&s);
    return status;
}

static const int stand_in_ranks[] = {2, 4, 3, 1};

/* Calls infer with `dtype` in place of unknown ones, and with the first of several ranks that the
 * operator takes in place of unknown shapes: dtypes seldom depend on them. */
static bool run_with(stand_ins *s, const mxl_rule *rule, int dtype)
{
    for (int i = 0; i < 4; i++) {
        s->other = (mxl_shape){.ndim = stand_in_ranks[i], .dim = {-1, -1, -1, -1}};
        if (call_infer(s, rule, stand_in_sizes[0], dtype) == 0)
            return true;
    }
    return false;
}

/* Dtypes of results that are the same whatever the unknown inputs have. */
static int say_fixed(stand_ins *s, mxl_rule *rule)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_U8, MXL_I32, MXL_I64, MXL_BOOL};
    int *same = mxl_arena_alloc(&s->arena, ((size_t)rule->num_out + 1) * sizeof(*same)), runs = 0;

    if (same == NULL)
        return -1;
    for (size_t d = 0; d < sizeof(dtypes) / sizeof(dtypes[0]); d++) {
        if (!run_with(s, rule, dtypes[d]))
            continue;
        for (int i = 0; i < rule->num_out; i++)
            same[i] = runs == 0 || same[i] == s->out_dtype[i] ? s->out_dtype[i] : MXL_DTYPE_UNKNOWN;
        runs++;
    }
    for (int i = 0; i < rule->num_out && runs > 1; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, same[i]) != 0)
            return -1;
    }
    return 0;
}

int mxl_rule_own_dtypes(mxl_rule *rule, bool *found)
{
    int dtype = MXL_DTYPE_UNKNOWN, status = 0;
    bool whole = true, needed = false;
    stand_ins s;

    *found = false;
    for (int i = 0; i < rule->num_in; i++) {
        int known = mxl_rule_in_dtype(rule, i);

        whole &= known != MXL_DTYPE_UNKNOWN;
        if (dtype == MXL_DTYPE_UNKNOWN)
            dtype = known;
    }
    for (int i = 0; i < rule->num_out; i++)
        needed |= rule->dtypes[rule->out + i] == MXL_DTYPE_UNKNOWN;
    if (dtype == MXL_DTYPE_UNKNOWN)
        dtype = MXL_F32;
    if (mxl_rule_by_values(rule))
        return 0;
    if (stand_ins_begin(&s, rule) != 0)
        return -1;
    if (run_with(&s, rule, dtype)) {
        *found = whole;
        for (int i = 0; i < rule->num_out && status == 0; i++) {
            rule->other_outputs |= s.out_dtype[i] != dtype;
            if (whole)
                status = mxl_rule_say_dtype(rule, rule->out + i, s.out_dtype[i]);
        }
        if (!whole && needed && rule->other_outputs && status == 0)
            status = say_fixed(&s, rule);
    }
    stand_ins_end(&s);
    return status;
}
