/* Names of outputs, as 1.9.1 lists them. */
#include <string.h>

#include "graph/symbol.h"
#include "ops/custom.h"

/* Operators whose outputs have names of their own; NULL ends a list. Hidden outputs come last. */
static const struct {
    const char *op;
    const char *outputs[4];
} named[] = {
    {"BatchNorm", {"output", "mean", "var"}},
    {"BatchNorm_v1", {"output", "mean", "var"}},
    {"_contrib_SyncBatchNorm", {"output", "mean", "var"}},
    {"LayerNorm", {"output", "mean", "std"}},
    {"GroupNorm", {"output", "mean", "std"}},
    {"InstanceNorm", {"output", "mean", "var"}},
    {"Dropout", {"output", "mask"}},
    {"L2Normalization", {"output", "norm"}},
    {"LRN", {"output", "tmp_norm"}},
    {"LeakyReLU", {"output", "mask"}},
    {"RNN", {"output", "state_output", "statecell_output"}},
    {"Pooling", {"output", "workspace"}},
    {"ROIPooling", {"output", "maxidx"}},
    {"BilinearSampler", {"output", "tmp"}},
    {"GridGenerator", {"output", "grid_dst"}},
    {"SpatialTransformer", {"output", "grid_dst", "grid_src"}},
    {"Correlation", {"output", "tmp1", "tmp2"}},
    {"_contrib_DeformablePSROIPooling", {"output", "top_count"}},
    {"_contrib_MultiBoxTarget", {"loc_target", "loc_mask", "cls_target"}},
    {"_contrib_Proposal", {"output", "score"}},
    {"_contrib_MultiProposal", {"output", "score"}},
    {"_contrib_BatchNormWithReLU", {"output", "mean", "var"}},
    {"_contrib_hawkesll", {"output", "out_state"}},
    {"SequenceLast", {"output"}},
    {"make_loss", {"loss"}},
    {"_image_random_flip_left_right", {"output"}},
    {"_image_random_flip_top_bottom", {"output"}},
    {"_npi_var", {"var", "mean"}},
    {"_npi_std", {"std", "mean"}},
    {"_npi_matmul", {"out"}},
    {"_npi_concatenate", {"out"}},
    {"_npi_hstack", {"out"}},
    {"_npi_dstack", {"out"}},
};

static const char *own_name(const mxl_graph_node *node, int output)
{
    const mxl_custom *custom = mxl_custom_of(node->op, node->params);

    if (custom != NULL && custom->names != NULL)
        return mxl_custom_name(custom, custom->num_arguments + output);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (strcmp(named[i].op, node->op->name) == 0)
            return output < 4 ? named[i].outputs[output] : NULL;
    }
    return NULL;
}

/* Operators that have another number of outputs here than in 1.9.1, of those that nobody sees. */
static const struct {
    const char *op;
    int total;
    const char *param, *value; /* NULL, or: only if the parameter has that value */
} totals[] = {
    {"Pooling", 2, "pool_type", "max"},
    {"LeakyReLU", 2, "act_type", "rrelu"},
    {"LeakyReLU", 1, NULL, NULL},
    {"Dropout", 2, NULL, NULL},
    {"L2Normalization", 2, NULL, NULL},
    {"LRN", 2, NULL, NULL},
    {"CTCLoss", 2, NULL, NULL},
    {"sort", 2, NULL, NULL},
    {"topk", 2, "ret_typ", "value"},
    {"_npi_normal", 2, NULL, NULL},
    {"_npi_normal_n", 2, NULL, NULL},
    {"_npi_gumbel", 2, NULL, NULL},
    {"_npi_logistic", 2, NULL, NULL},
    {"_npi_exponential", 2, NULL, NULL},
    {"_npi_rayleigh", 2, NULL, NULL},
    {"_npi_pareto", 2, NULL, NULL},
    {"_npi_weibull", 2, NULL, NULL},
    {"_npi_norm", 4, NULL, NULL},
    {"_shuffle", 1, NULL, NULL},
    {"ROIPooling", 2, NULL, NULL},
    {"SpatialTransformer", 3, NULL, NULL},
    {"BilinearSampler", 2, NULL, NULL},
    {"GridGenerator", 2, NULL, NULL},
    {"Correlation", 3, NULL, NULL},
    {"_contrib_DeformablePSROIPooling", 2, NULL, NULL},
    {"SequenceLast", 1, NULL, NULL},
    {"_image_random_flip_left_right", 1, NULL, NULL},
    {"_image_random_flip_top_bottom", 1, NULL, NULL},
    {"_npi_var", 2, NULL, NULL},
    {"_npi_std", 2, NULL, NULL},
    {"_linalg_det", 3, NULL, NULL},
    {"_linalg_slogdet", 4, NULL, NULL},
    {"_sample_multinomial", 2, "get_prob", "True"},
};

int mxl_graph_node_total(const mxl_graph_node *node)
{
    for (size_t i = 0; node->op != NULL && i < sizeof(totals) / sizeof(totals[0]); i++) {
        if (strcmp(totals[i].op, node->op->name) == 0 &&
            (totals[i].param == NULL || mxl_graph_node_has(node, totals[i].param, totals[i].value)))
            return totals[i].total;
    }
    return node->outputs;
}

void mxl_entry_name(const mxl_entry *entry, mxl_str *out)
{
    const mxl_graph_node *node = entry->node;
    const char *name = node->op != NULL ? own_name(node, entry->output) : NULL;

    if (node->op == NULL)
        mxl_str_add(out, node->name);
    else if (name != NULL)
        mxl_str_addf(out, "%s_%s", node->name, name);
    else if (mxl_graph_node_total(node) == 1 && strcmp(node->op->name, "SliceChannel") != 0)
        mxl_str_addf(out, "%s_output", node->name);
    else
        mxl_str_addf(out, "%s_output%d", node->name, entry->output);
}
