/* Names of inputs, under which 1.9.1 makes variables for those that are missing. */
#include <stdio.h>
#include <string.h>

#include "graph/symbol.h"
#include "ops/custom.h"

/* Operators of several arrays, whose names end with a number: those of each group, and those that
 * follow all groups. (1.9.1 fails on some of these names; they have the same form here.) */
static const struct {
    const char *op;
    const char *group[6], *rest[3]; /* end with NULL */
} grouped[] = {
    {"multi_sgd_update", {"weight", "grad"}, {NULL}},
    {"multi_sgd_mom_update", {"weight", "grad", "mom"}, {NULL}},
    {"multi_mp_sgd_update", {"weight", "grad", "weight32"}, {NULL}},
    {"multi_mp_sgd_mom_update", {"weight", "grad", "mom", "weight32"}, {NULL}},
    {"preloaded_multi_sgd_update", {"weight", "grad"}, {"lrs", "wds"}},
    {"preloaded_multi_sgd_mom_update", {"weight", "grad", "mom"}, {"lrs", "wds"}},
    {"preloaded_multi_mp_sgd_update", {"weight", "grad", "weight32"}, {"lrs", "wds"}},
    {"preloaded_multi_mp_sgd_mom_update", {"weight", "grad", "mom", "weight32"}, {"lrs", "wds"}},
    {"_multi_adamw_update", {"weight", "grad", "mean", "var"}, {"rescale_grad"}},
    {"_multi_mp_adamw_update", {"weight", "grad", "mean", "var", "weight32"}, {"rescale_grad"}},
    {"_multi_lamb_update", {"weight", "grad", "mean", "var"}, {NULL}},
    {"_multi_mp_lamb_update", {"weight", "grad", "mean", "var", "weight32"}, {NULL}},
    {"multi_sum_sq", {"array"}, {NULL}},
    {"multi_all_finite", {"array"}, {NULL}},
    {"reset_arrays", {"array"}, {NULL}},
    {"amp_multicast", {"data"}, {NULL}},
};

static int length_of(const char *const *names)
{
    int count = 0;

    while (names[count] != NULL)
        count++;
    return count;
}

/* The name of input i of such an operator, in `room` if it has a number; NULL for others. */
static const char *grouped_name(const mxl_graph_node *node, int i, char room[32])
{
    for (size_t k = 0; k < sizeof(grouped) / sizeof(grouped[0]); k++) {
        int each = length_of(grouped[k].group), rest = length_of(grouped[k].rest), first;

        if (strcmp(grouped[k].op, node->op->name) != 0)
            continue;
        first = (node->num_inputs > 0 ? node->num_inputs : mxl_graph_node_needs(node, 1)) - rest;
        if (i >= first && i < first + rest)
            return grouped[k].rest[i - first];
        snprintf(room, 32, "%s_%d", grouped[k].group[i % each], i / each);
        return room;
    }
    return NULL;
}

bool mxl_graph_node_has(const mxl_graph_node *node, const char *param, const char *value)
{
    mxl_str text = {0};
    bool has = mxl_param_print(mxl_param_find(node->op, param), node->params, &text) == 0 &&
               text.text != NULL && strcmp(text.text, value) == 0;

    mxl_str_clear(&text);
    return has;
}

/* Operators whose inputs depend on a parameter, which are left out of the list of names without
 * it. */
static bool is_left_out(const mxl_graph_node *node, const char *input)
{
    static const struct {
        const char *op, *input, *param, *value; /* there while the parameter has that value */
    } optional[] = {
        {"RNN", "state_cell", "mode", "lstm"},
        {"RNN", "sequence_length", "use_sequence_length", "True"},
        {"CTCLoss", "data_lengths", "use_data_lengths", "True"},
        {"CTCLoss", "label_lengths", "use_label_lengths", "True"},
    };
    bool out = false;

    for (size_t k = 0; k < sizeof(optional) / sizeof(optional[0]); k++) {
        if (strcmp(optional[k].op, node->op->name) != 0 || strcmp(optional[k].input, input) != 0)
            continue;
        out = !mxl_graph_node_has(node, optional[k].param, optional[k].value);
    }
    return out;
}

/* The name of an input that its operator does not list, or NULL. */
static const char *unlisted_name(const mxl_graph_node *node, int i)
{
    static const struct {
        const char *op;
        int input;
        const char *name;
    } states[] = {{"BatchNorm_v1", 3, "moving_mean"},
                  {"BatchNorm_v1", 4, "moving_var"},
                  {"IdentityAttachKLSparseReg", 1, "moving_avg"}};

    for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
        if (states[k].input == i && strcmp(states[k].op, node->op->name) == 0)
            return states[k].name;
    }
    return NULL;
}

const char *mxl_graph_node_input(const mxl_graph_node *node, int i, char room[32])
{
    const mxl_custom *custom = mxl_custom_of(node->op, node->params);
    const mxl_input *inputs = mxl_op_inputs(node->op);
    const char *name = grouped_name(node, i, room);

    if (name == NULL)
        name = unlisted_name(node, i);
    if (custom != NULL && custom->names != NULL && i < custom->num_arguments + custom->num_aux)
        return mxl_custom_name(custom, i < custom->num_arguments ? i : i + custom->num_outputs);
    if (name != NULL)
        return name;
    if (strcmp(node->op->name, "UpSampling") == 0 &&
        mxl_graph_node_has(node, "sample_type", "bilinear"))
        return i == 0 ? "data" : "weight";
    for (int k = 0; node->op->key_var_num_args == NULL && inputs[k].name != NULL; k++) {
        if (is_left_out(node, inputs[k].name))
            continue;
        if (i-- == 0)
            return inputs[k].name;
    }
    snprintf(room, 32, "arg%d", i);
    return room;
}

/* ---- for monitors ---- */

/* The operators whose inputs 1.9.1 does not name, as its monitors answer. */
static const char numbered[] =
    "exp log tanh sigmoid relu sqrt square negative abs _copy BlockGrad cast_storage Cast "
    "_plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar "
    "_power_scalar _contrib_div_sqrt_dim expm1 log10 log2 log1p rsqrt cbrt rcbrt reciprocal "
    "degrees radians sin cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh erf "
    "erfinv gamma gammaln softsign sign ceil floor rint round trunc fix logical_not "
    "_equal_scalar _not_equal_scalar _greater_scalar _greater_equal_scalar _lesser_scalar "
    "_lesser_equal_scalar _logical_and_scalar _logical_or_scalar _logical_xor_scalar "
    "_maximum_scalar _minimum_scalar _hypot_scalar _mod_scalar _rmod_scalar _rpower_scalar clip "
    "smooth_l1 hard_sigmoid Activation _contrib_round_ste _contrib_sign_ste "
    "_contrib_gradientmultiplier sum mean max argmax min prod nansum nanprod norm argmin "
    "argmax_channel Reshape transpose Flatten expand_dims broadcast_to broadcast_axis "
    "slice_axis slice _slice_assign_scalar _contrib_arange_like softmin zeros_like ones_like "
    "shape_array size_array _random_uniform_like _random_normal_like _random_gamma_like "
    "_random_exponential_like _random_poisson_like _random_negative_binomial_like "
    "_random_generalized_negative_binomial_like _sample_multinomial _shuffle sort argsort topk "
    "make_loss SoftmaxActivation _contrib_AdaptiveAvgPooling2D sgd_update sgd_mom_update "
    "nag_mom_update mp_sgd_update mp_sgd_mom_update mp_nag_mom_update signsgd_update "
    "signum_update adam_update ftml_update ftrl_update rmsprop_update rmspropalex_update "
    "_adamw_update _mp_adamw_update lamb_update_phase1 mp_lamb_update_phase1 lamb_update_phase2 "
    "mp_lamb_update_phase2 amp_cast _contrib_box_nms _contrib_bipartite_matching _image_crop "
    "_image_flip_left_right _image_random_flip_left_right _image_flip_top_bottom "
    "_image_random_flip_top_bottom _image_random_brightness _image_random_contrast "
    "_image_random_saturation _image_random_hue _image_random_color_jitter "
    "_image_adjust_lighting _image_random_lighting _image_resize _cvimresize _cvcopyMakeBorder "
    "_npi_true_divide_scalar _npi_rtrue_divide_scalar _npi_argmax _npi_argmin _npi_multinomial "
    "_npi_norm _npi_arctan2_scalar _npi_rarctan2_scalar _npi_copysign_scalar "
    "_npi_rcopysign_scalar _npi_ldexp_scalar _npi_rldexp_scalar _npi_bitwise_and_scalar "
    "_npi_bitwise_or_scalar _npi_bitwise_xor_scalar _npi_lcm_scalar";

/* Whether a text of words between spaces has this one. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

const char *mxl_graph_node_operand(const mxl_graph_node *node, int i, char room[32])
{
    if (!has_word(numbered, node->op->name))
        return mxl_graph_node_input(node, i, room);
    (void)snprintf(room, 32, "input%d", i);
    return room;
}
