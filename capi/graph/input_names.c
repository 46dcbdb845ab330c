/* Names of inputs, under which 1.9.1 makes variables for those that are missing. */
#include <stdio.h>
#include <string.h>

#include "graph/symbol.h"

const char *mxl_graph_node_input(const mxl_graph_node *node, int i, char room[MXL_NAME])
{
    int count = node->num_inputs;

    if (count == 0 && node->op->input_names != NULL)
        count = mxl_graph_node_needs(node, 1);
    return mxl_op_input_name(node->op, node->params, count, i, room);
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

const char *mxl_graph_node_operand(const mxl_graph_node *node, int i, char room[MXL_NAME])
{
    if (!has_word(numbered, node->op->name))
        return mxl_graph_node_input(node, i, room);
    (void)snprintf(room, MXL_NAME, "input%d", i);
    return room;
}
