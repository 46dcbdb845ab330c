/* Rules that complete the shapes of inputs: weights, states, labels, and whatever has the shape of
 * something else. */
#include <string.h>

#include "graph/infer.h"
#include "ops/nn/rnn_net.h"

/* ---- parameters by name ---- */

static const void *field_of(const mxl_rule *rule, const char *name, const mxl_param **param)
{
    *param = mxl_param_find(rule->op, name);
    return *param != NULL ? (const char *)rule->params + (*param)->offset : NULL;
}

int64_t mxl_rule_int(const mxl_rule *rule, const char *name, int64_t missing)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    if (field == NULL)
        return missing;
    if (param->type == MXL_P_INT || param->type == MXL_P_OPT_INT)
        return *(const int64_t *)field;
    return *(const int *)field;
}

bool mxl_rule_flag(const mxl_rule *rule, const char *name)
{
    return mxl_rule_int(rule, name, 0) > 0;
}

mxl_tuple mxl_rule_tuple(const mxl_rule *rule, const char *name)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    return field != NULL ? *(const mxl_tuple *)field : (mxl_tuple){-1, NULL};
}

bool mxl_rule_is(const mxl_rule *rule, const char *name, const char *value)
{
    const mxl_param *param;
    const void *field = field_of(rule, name, &param);

    if (field == NULL)
        return false;
    if (param->type == MXL_P_STRING)
        return strcmp(*(const char *const *)field, value) == 0;
    return param->values != NULL && strcmp(param->values[*(const int *)field], value) == 0;
}

/* ---- inputs and outputs alike ---- */

static mxl_shape *place(const mxl_rule *rule, int i)
{
    return i < rule->num_in ? mxl_rule_in(rule, i) : mxl_rule_out(rule, i - rule->num_in);
}

static int alike(mxl_rule *rule)
{
    mxl_shape all = {.ndim = -1};
    mxl_rule gather = *rule; /* what it changes is `all` */

    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        if (mxl_rule_merge(&gather, &all, place(rule, i)) != 0)
            return -1;
    }
    for (int i = 0; i < rule->num_in + rule->num_out; i++) {
        if (mxl_rule_merge(rule, place(rule, i), &all) != 0)
            return -1;
    }
    return 0;
}

static int like_first(mxl_rule *rule)
{
    return mxl_rule_merge(rule, mxl_rule_out(rule, 0), mxl_rule_in(rule, 0)) != 0
               ? -1
               : mxl_rule_merge(rule, mxl_rule_in(rule, 0), mxl_rule_out(rule, 0));
}

/* Without an axis, a running sum is that of all elements in a row. */
static int cumsum(mxl_rule *rule)
{
    return mxl_rule_int(rule, "axis", MXL_NONE) == MXL_NONE ? 0 : like_first(rule);
}

/* ---- which rule ---- */

static const struct {
    const char *op;
    int (*rule)(mxl_rule *);
} rules[] = {
    {"_linalg_gemm", mxl_rule_gemm},
    {"_linalg_trmm", mxl_rule_triangular},
    {"_linalg_trsm", mxl_rule_triangular},
    {"_contrib_box_encode", mxl_rule_box_encode},
    {"_npi_pinv", mxl_rule_pinv},
    {"_npi_pinv_scalar_rcond", mxl_rule_pinv},
    {"_npi_eigvals", mxl_rule_eigenvalues},
    {"_npi_eigvalsh", mxl_rule_eigenvalues},
    {"_contrib_Proposal", mxl_rule_proposal},
    {"_contrib_MultiProposal", mxl_rule_proposal},
    {"_sample_uniform", mxl_rule_samples},
    {"_sample_normal", mxl_rule_samples},
    {"_sample_gamma", mxl_rule_samples},
    {"_sample_exponential", mxl_rule_samples},
    {"_sample_poisson", mxl_rule_samples},
    {"_sample_negative_binomial", mxl_rule_samples},
    {"_sample_generalized_negative_binomial", mxl_rule_samples},
    {"elemwise_add", alike},
    {"elemwise_sub", alike},
    {"elemwise_mul", alike},
    {"elemwise_div", alike},
    {"_mod", alike},
    {"_power", alike},
    {"_maximum", alike},
    {"_minimum", alike},
    {"_hypot", alike},
    {"_equal", alike},
    {"_not_equal", alike},
    {"_greater", alike},
    {"_greater_equal", alike},
    {"_lesser", alike},
    {"_lesser_equal", alike},
    {"_logical_and", alike},
    {"_logical_or", alike},
    {"_logical_xor", alike},
    {"_copyto", like_first},
    {"_copy", like_first},
    {"_np_cumsum", cumsum},
    {"_contrib_div_sqrt_dim", like_first},
    {"where", mxl_rule_where},
    {"SoftmaxActivation", like_first},
    {"Dropout", like_first},
    {"Cast", like_first},
    {"amp_cast", like_first},
};

int mxl_rule_table_shapes(mxl_rule *rule)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].op, rule->op->name) == 0)
            return rule->op->shapes != NULL && mxl_rule_said_shapes(rule, rule->op->shapes) != 0
                       ? -1
                       : rules[i].rule(rule);
    }
    return mxl_rule_shapes(rule);
}
