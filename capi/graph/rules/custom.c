/* Shapes and dtypes of Custom: the user's operator says what follows from its arguments. */
#include "base/memory/mem.h"
#include "graph/infer.h"
#include "ops/custom.h"

/* The entry of array i of the operator: of an argument, an output or a state. */
static int entry_of(const mxl_rule *rule, const mxl_custom *c, int i)
{
    if (i < c->num_arguments)
        return rule->in[i];
    return i < c->num_arguments + c->num_outputs ? rule->out + i - c->num_arguments
                                                 : rule->in[i - c->num_outputs];
}

/* An operator that fails on unknown shapes is an error, as in 1.9.1. */
int mxl_rule_custom_shapes(mxl_rule *rule)
{
    mxl_custom *c = mxl_custom_of(rule->node->op, rule->node->params);
    int count = rule->num_in + rule->num_out, status;
    size_t bytes = ((size_t)count + 1) * sizeof(mxl_shape);
    mxl_shape *shapes = mxl_alloc(bytes);

    if (shapes == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        shapes[i] = rule->facts->shape[entry_of(rule, c, i)];
    status = c->shapes(c, shapes, rule->facts->legacy_shape);
    for (int i = 0; i < count && status == 0; i++)
        status = mxl_rule_merge(rule, &rule->facts->shape[entry_of(rule, c, i)], &shapes[i]);
    mxl_free(shapes, bytes);
    return status;
}

/* The first argument must be known, as in 1.9.1. */
int mxl_rule_custom_dtypes(mxl_rule *rule)
{
    mxl_custom *c = mxl_custom_of(rule->node->op, rule->node->params);
    int count = rule->num_in + rule->num_out, status;
    size_t bytes = ((size_t)count + 1) * sizeof(int);
    int *dtypes;

    if (c->num_arguments > 0 && rule->facts->dtype[rule->in[0]] == MXL_DTYPE_UNKNOWN)
        return 0;
    dtypes = mxl_alloc(bytes);
    if (dtypes == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        dtypes[i] = rule->facts->dtype[entry_of(rule, c, i)];
    status = c->dtypes(c, dtypes);
    for (int i = 0; i < count && status == 0; i++)
        status = mxl_rule_say_dtype(rule, entry_of(rule, c, i), dtypes[i]);
    mxl_free(dtypes, bytes);
    return status;
}
