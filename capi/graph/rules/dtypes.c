/* Rules of dtypes. An operator has one dtype, but for those listed. */
#include <string.h>

#include "graph/infer.h"

static int *dtype_at(const mxl_rule *rule, int entry)
{
    return &rule->dtypes[entry];
}

/* Inputs from `begin` on and outputs up to `outs` have one dtype. */
static int one_dtype(mxl_rule *rule, int begin, int end, int outs)
{
    int dtype = MXL_DTYPE_UNKNOWN;

    for (int i = begin; i < end && dtype == MXL_DTYPE_UNKNOWN; i++)
        dtype = *dtype_at(rule, rule->in[i]);
    for (int i = 0; i < outs && dtype == MXL_DTYPE_UNKNOWN; i++)
        dtype = *dtype_at(rule, rule->out + i);
    for (int i = begin; i < end; i++) {
        if (mxl_rule_say_dtype(rule, rule->in[i], dtype) != 0)
            return -1;
    }
    for (int i = 0; i < outs; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, dtype) != 0)
            return -1;
    }
    return 0;
}

static int say_outs(mxl_rule *rule, int dtype)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, dtype) != 0)
            return -1;
    }
    return 0;
}

/* The results that a caller sees have the dtype of the first input; the other inputs have any. */
static int like_first(mxl_rule *rule)
{
    return one_dtype(rule, 0, 1, rule->visible);
}

/* Parameters of distributions have one dtype, samples that of the parameter, or float32. */
static int samples(mxl_rule *rule)
{
    int said = mxl_rule_dtype_parameter(rule);

    if (one_dtype(rule, 0, rule->num_in, 0) != 0)
        return -1;
    return said == MXL_DTYPE_UNKNOWN ? 0 : say_outs(rule, said);
}

/* The numbers drawn have the dtype of the parameter, their probabilities that of the data. */
static int multinomial(mxl_rule *rule)
{
    if (mxl_rule_say_dtype(rule, rule->out, mxl_rule_dtype_parameter(rule)) != 0)
        return -1;
    if (rule->num_out < 2)
        return 0;
    return mxl_rule_say_dtype(rule, rule->in[0], *dtype_at(rule, rule->out + 1)) != 0
               ? -1
               : mxl_rule_say_dtype(rule, rule->out + 1, *dtype_at(rule, rule->in[0]));
}

/* Values have the dtype of the data, positions that of the parameter. */
static int topk(mxl_rule *rule)
{
    int positions = (int)mxl_rule_int(rule, "dtype", MXL_F32);

    if (mxl_rule_is(rule, "ret_typ", "indices"))
        return say_outs(rule, positions);
    if (one_dtype(rule, 0, 1, 1) != 0)
        return -1;
    return rule->num_out < 2 ? 0 : mxl_rule_say_dtype(rule, rule->out + 1, positions);
}

static int like_second(mxl_rule *rule)
{
    return one_dtype(rule, 1, rule->num_in, rule->num_out);
}

/* The result has the dtype of the last input, weights. */
static int like_last(mxl_rule *rule)
{
    return one_dtype(rule, rule->num_in - 1, rule->num_in, rule->num_out);
}

/* float32, but of float64 that. */
static int percentile(mxl_rule *rule)
{
    int data = *dtype_at(rule, rule->in[0]);

    return data == MXL_DTYPE_UNKNOWN ? 0 : say_outs(rule, data == MXL_F64 ? MXL_F64 : MXL_F32);
}

/* Values, then positions and counts. */
static int unique(mxl_rule *rule)
{
    for (int i = 1; i < rule->num_out; i++) {
        if (mxl_rule_say_dtype(rule, rule->out + i, MXL_I64) != 0)
            return -1;
    }
    return one_dtype(rule, 0, 1, 1);
}

/* Dtypes that have nothing to do with each other. */
static int any_dtypes(mxl_rule *rule)
{
    (void)rule;
    return 0;
}

static int gives_int64(mxl_rule *rule)
{
    return say_outs(rule, MXL_I64);
}

static int gives_bool(mxl_rule *rule)
{
    return say_outs(rule, MXL_BOOL);
}

/* Marks (input 5) are int32. */
static int hawkes(mxl_rule *rule)
{
    if (mxl_rule_say_dtype(rule, rule->in[5], MXL_I32) != 0 ||
        one_dtype(rule, 0, 5, rule->num_out) != 0)
        return -1;
    return one_dtype(rule, 6, rule->num_in, rule->num_out);
}

static const struct {
    const char *op;
    int (*rule)(mxl_rule *);
} rules[] = {
    {"_copyto", any_dtypes},
    {"_sample_uniform", samples},
    {"_sample_normal", samples},
    {"_sample_gamma", samples},
    {"_sample_negative_binomial", samples},
    {"_sample_generalized_negative_binomial", samples},
    {"CTCLoss", like_first},
    {"_npi_choice", gives_int64},
    {"_npi_argmax", gives_int64},
    {"_npi_argmin", gives_int64},
    {"_npx_nonzero", gives_int64},
    {"_npi_diag_indices_from", gives_int64},
    {"_npi_share_memory", gives_bool},
    {"_npx_constraint_check", gives_bool},
    {"_npi_percentile", percentile},
    {"_npi_unique", unique},
    {"_npi_bincount", like_last},
    {"_npi_delete", like_first},
    {"_npi_insert_scalar", like_first},
    {"_npi_insert_slice", like_first},
    {"_npi_insert_tensor", like_first},
    {"slice_like", like_first},
    {"reshape_like", like_first},
    {"broadcast_like", like_first},
    {"_contrib_arange_like", like_first},
    {"topk", topk},
    {"_sample_multinomial", multinomial},
    {"where", like_second},
    {"_npi_where", like_second},
    {"_npi_where_lscalar", like_second},
    {"_npi_where_rscalar", like_second},
    {"_contrib_hawkesll", hawkes},
    {"shape_array", gives_int64},
    {"size_array", gives_int64},
    {"isnan", gives_bool},
    {"isinf", gives_bool},
    {"isfinite", gives_bool},
    {"amp_multicast", any_dtypes},
};

int mxl_rule_table_dtypes(mxl_rule *rule)
{
    for (size_t i = 0; rule->op->dtypes == NULL && i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].op, rule->op->name) == 0)
            return rules[i].rule(rule);
    }
    return mxl_rule_dtypes(rule);
}
