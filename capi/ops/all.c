/* The list of operator families. An operator is registered only through it. */
#include "op/op.h"

extern const mxl_op *const mxl_ops_unary[];
extern const mxl_op *const mxl_ops_binary[];
extern const mxl_op *const mxl_ops_scalar[];
extern const mxl_op *const mxl_ops_copy[];
extern const mxl_op *const mxl_ops_init[];
extern const mxl_op *const mxl_ops_strided[];
extern const mxl_op *const mxl_ops_reduce[];
extern const mxl_op *const mxl_ops_matrix[];
extern const mxl_op *const mxl_ops_optimizer[];
extern const mxl_op *const mxl_ops_softmax[];
extern const mxl_op *const mxl_ops_dropout[];
extern const mxl_op *const mxl_ops_random[];
extern const mxl_op *const mxl_ops_sample[];
extern const mxl_op *const mxl_ops_multinomial[];
extern const mxl_op *const mxl_ops_shuffle[];
extern const mxl_op *const mxl_ops_density[];
extern const mxl_op *const mxl_ops_extents[];
extern const mxl_op *const mxl_ops_slice[];
extern const mxl_op *const mxl_ops_join[];
extern const mxl_op *const mxl_ops_index[];
extern const mxl_op *const mxl_ops_one_hot[];
extern const mxl_op *const mxl_ops_gather_nd[];
extern const mxl_op *const mxl_ops_allclose[];
extern const mxl_op *const mxl_ops_mask[];
extern const mxl_op *const mxl_ops_sequence[];
extern const mxl_op *const mxl_ops_positions[];
extern const mxl_op *const mxl_ops_lookup[];
extern const mxl_op *const mxl_ops_reshape[];
extern const mxl_op *const mxl_ops_expand[];
extern const mxl_op *const mxl_ops_order[];
extern const mxl_op *const mxl_ops_split[];
extern const mxl_op *const mxl_ops_part[];
extern const mxl_op *const mxl_ops_diag[];
extern const mxl_op *const mxl_ops_pad[];
extern const mxl_op *const mxl_ops_norm[];
extern const mxl_op *const mxl_ops_batch[];
extern const mxl_op *const mxl_ops_histogram[];
extern const mxl_op *const mxl_ops_range[];
extern const mxl_op *const mxl_ops_powers[];
extern const mxl_op *const mxl_ops_trig[];
extern const mxl_op *const mxl_ops_round[];
extern const mxl_op *const mxl_ops_compare[];
extern const mxl_op *const mxl_ops_bits[];
extern const mxl_op *const mxl_ops_cumprod[];
extern const mxl_op *const mxl_ops_scatter[];
extern const mxl_op *const mxl_ops_nonzero[];
extern const mxl_op *const mxl_ops_kth[];
extern const mxl_op *const mxl_ops_extremum[];
extern const mxl_op *const mxl_ops_division[];
extern const mxl_op *const mxl_ops_exponent[];
extern const mxl_op *const mxl_ops_special[];
extern const mxl_op *const mxl_ops_choose[];
extern const mxl_op *const mxl_ops_activation[];
extern const mxl_op *const mxl_ops_leaky[];
extern const mxl_op *const mxl_ops_sort[];
extern const mxl_op *const mxl_ops_linalg[];
extern const mxl_op *const mxl_ops_linalg_solve[];
extern const mxl_op *const mxl_ops_linalg_triangle[];
extern const mxl_op *const mxl_ops_linalg_factor[];
extern const mxl_op *const mxl_ops_linalg_det[];
extern const mxl_op *const mxl_ops_loss[];
extern const mxl_op *const mxl_ops_softmax_output[];
extern const mxl_op *const mxl_ops_torch[];

const mxl_op *const *const mxl_families[] = {
    mxl_ops_unary,         mxl_ops_binary,
    mxl_ops_scalar,        mxl_ops_copy,
    mxl_ops_init,          mxl_ops_strided,
    mxl_ops_reduce,        mxl_ops_matrix,
    mxl_ops_optimizer,     mxl_ops_softmax,
    mxl_ops_dropout,       mxl_ops_random,
    mxl_ops_sample,        mxl_ops_multinomial,
    mxl_ops_shuffle,       mxl_ops_density,
    mxl_ops_extents,       mxl_ops_slice,
    mxl_ops_join,          mxl_ops_index,
    mxl_ops_one_hot,       mxl_ops_gather_nd,
    mxl_ops_allclose,      mxl_ops_mask,
    mxl_ops_sequence,      mxl_ops_positions,
    mxl_ops_lookup,        mxl_ops_reshape,
    mxl_ops_expand,        mxl_ops_order,
    mxl_ops_split,         mxl_ops_part,
    mxl_ops_diag,          mxl_ops_pad,
    mxl_ops_powers,        mxl_ops_trig,
    mxl_ops_round,         mxl_ops_compare,
    mxl_ops_bits,          mxl_ops_cumprod,
    mxl_ops_scatter,       mxl_ops_nonzero,
    mxl_ops_kth,           mxl_ops_extremum,
    mxl_ops_division,      mxl_ops_exponent,
    mxl_ops_special,       mxl_ops_choose,
    mxl_ops_activation,    mxl_ops_leaky,
    mxl_ops_norm,          mxl_ops_range,
    mxl_ops_batch,         mxl_ops_histogram,
    mxl_ops_sort,          mxl_ops_linalg,
    mxl_ops_linalg_solve,  mxl_ops_linalg_triangle,
    mxl_ops_linalg_factor, mxl_ops_linalg_det,
    mxl_ops_loss,          mxl_ops_softmax_output,
    mxl_ops_torch,         NULL,
};
