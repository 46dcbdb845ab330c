/* See amp.h. */
#include "engine/run/amp.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory/mem.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/run.h"
#include "op/shapes/shapes.h"

enum way { STAYS, LOW, SINGLE, WIDEST };

/* A value of a parameter with which an operator computes in float32. */
typedef struct condition {
    const mxl_op *op;
    int64_t offset;
    int value;
} condition;

atomic_bool mxl_amp_on = false;

static struct {
    int dtype;
    mxl_map ways; /* of operators */
    condition *conditions;
    int count, room;
} state;

static void clear(void)
{
    atomic_store(&mxl_amp_on, false);
    mxl_map_clear(&state.ways);
    mxl_free(state.conditions, (size_t)state.room * sizeof(condition));
    state.conditions = NULL;
    state.count = state.room = 0;
}

/* An operator's own name counts more than an alias. */
static int add_names(int count, const char *const *names, enum way way)
{
    for (int i = 0; i < count; i++) {
        const mxl_op *op = mxl_op_find(names[i]);
        void **slot = op != NULL ? mxl_map_find(&state.ways, op) : NULL;

        if (op == NULL || (slot != NULL && strcmp(op->name, names[i]) != 0))
            continue;
        slot = mxl_map_put(&state.ways, op);
        if (slot == NULL)
            return -1;
        *slot = (void *)(intptr_t)way;
    }
    return 0;
}

static int add_condition(const char *name, const char *key, const char *value)
{
    const mxl_op *op = mxl_op_find(name);
    const mxl_param *p = op != NULL ? mxl_param_find(op, key) : NULL;

    if (op == NULL)
        return 0;
    if (p == NULL || p->type != MXL_P_ENUM)
        return mxl_error("mixed precision: %s has no parameter \"%s\" that is a choice", name, key);
    for (int v = 0; p->values[v] != NULL; v++) {
        if (strcmp(p->values[v], value) == 0) {
            state.conditions[state.count++] = (condition){op, (int64_t)p->offset, v};
            return 0;
        }
    }
    return mxl_error("mixed precision: parameter \"%s\" of %s has no value \"%s\"", key, name,
                     value);
}

int mxl_amp_set(const mxl_amp_lists *lists)
{
    int count = lists != NULL ? lists->num_conditional : 0, status = 0;

    clear();
    if (lists == NULL)
        return 0;
    state.dtype = lists->dtype;
    if (count > 0) {
        state.conditions = mxl_alloc((size_t)count * sizeof(condition));
        status = state.conditions != NULL ? 0 : -1;
        state.room = status == 0 ? count : 0;
    }
    for (int i = 0; i < count && status == 0; i++)
        status = add_condition(lists->conditional[i], lists->params[i], lists->values[i]);
    if (status != 0 || add_names(lists->num_low, lists->low, LOW) != 0 ||
        add_names(lists->num_single, lists->single, SINGLE) != 0 ||
        add_names(lists->num_widest, lists->widest, WIDEST) != 0) {
        clear();
        return -1;
    }
    atomic_store(&mxl_amp_on, true);
    return 0;
}

/* ---- calls ---- */

static enum way way_of(const mxl_op *op, const void *params)
{
    void **slot = mxl_map_find(&state.ways, op);

    for (int i = 0; i < state.count; i++) {
        const condition *c = &state.conditions[i];

        if (c->op == op &&
            *(const int *)(const void *)((const char *)params + c->offset) == c->value)
            return SINGLE;
    }
    return slot != NULL ? (enum way)(intptr_t)*slot : STAYS;
}

static bool is_low(int dtype)
{
    return dtype == MXL_F16 || dtype == MXL_BF16;
}

/* Whether input i is a statistic, which is float32 beside data in 16 bits. */
static bool is_statistic(const mxl_op *op, const void *params, int i)
{
    const char *text = mxl_op_dtypes(op, params);

    return strcspn(text, "*(>") > (size_t)i && text[i] == 'w';
}

/* The dtype for input i; its own: it stays. */
static int wanted(const mxl_call *call, enum way way, int i, bool single)
{
    const mxl_array *x = call->in[i];

    if (x->stype != MXL_DENSE || (!is_low(x->dtype) && x->dtype != MXL_F32) ||
        mxl_run_mutates(call, i))
        return x->dtype;
    if (way == LOW)
        return is_statistic(call->op, call->params, i) ? x->dtype : state.dtype;
    return way == SINGLE || single ? MXL_F32 : x->dtype;
}

int mxl_amp_cast(mxl_scope *s, const mxl_op *op, const void *params, int num_inputs,
                 mxl_array *const *inputs, mxl_array **cast)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_call call = {.op = op, .params = params, .num_inputs = num_inputs, .in = cast};
    enum way way = way_of(op, params);
    bool single = false;

    if (builtin == NULL)
        return -1;
    for (int i = 0; i < num_inputs; i++) {
        cast[i] = inputs[i];
        single = single || inputs[i]->dtype == MXL_F32;
    }
    if (way == STAYS)
        return 0;
    for (int i = 0; i < num_inputs; i++) {
        int dtype = wanted(&call, way, i, single);

        if (dtype != cast[i]->dtype)
            cast[i] = mxl_scope_call(s, builtin->cast, &dtype, 1, &inputs[i]);
        if (cast[i] == NULL)
            return -1;
    }
    return 0;
}
