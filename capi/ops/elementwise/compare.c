/* Comparisons and logical functions: broadcast_*, of equal shapes, and of an array and a number. 1
 * or 0 in the dtype of the inputs; the gradient is zero. */
#include "ops/elementwise/elementwise.h"

/* One function as its three operators: MXNet's names are broadcast_greater, _greater (alias
 * _Greater), _greater_scalar (alias _GreaterScalar). */
#define COMPARISON(verb, CODE, wide, same_alias, scalar_alias, text, scalar_forms, ROW, ...)       \
    MXL_ARITH_OPCODE(verb, ROW, CODE, __VA_ARGS__);                                                \
    MXL_ARITH_OPCODE(verb##_scalar, MXL_NUMBER_LOOP, CODE, &verb##_kernels);                       \
    MXL_BINARY(verb, "broadcast_" #verb, mxl_infer_broadcast, verb,                                \
               "1 where " text ", else 0. The shapes are broadcast by NumPy's rule.",              \
               .grad = mxl_grad_zero, .promotion = &mxl_promotes_compared, .u64 = wide);           \
    static MXL_BINARY(same_##verb, "_" #verb, mxl_infer_same, verb,                                \
                      "1 where " text ", else 0. The shapes must be equal.",                       \
                      .aliases = MXL_ALIASES(same_alias), .grad = mxl_grad_zero, .u64 = wide);     \
    MXL_SCALAR(verb##_scalar, "1 where " text ", else 0; the second is the number.",               \
               .aliases = MXL_ALIASES(scalar_alias), .sparse = scalar_forms,                       \
               .grad = mxl_grad_zero,                                                              \
               .promotion = &(const mxl_promotion){.of_two = &mxl_op_##verb})

extern const mxl_op mxl_op_logical_and, mxl_op_logical_or, mxl_op_logical_xor,
    mxl_op_logical_and_scalar, mxl_op_logical_or_scalar, mxl_op_logical_xor_scalar;

COMPARISON(equal, MXL_CODE_EQUAL, MXL_U64_WRAPS, "_Equal", "_EqualScalar", "both are equal",
           &mxl_sparse_if_zero_stays, MXL_BINARY_LOOP, x == y ? 1 : 0);
COMPARISON(not_equal, MXL_CODE_NOT_EQUAL, MXL_U64_WRAPS, "_Not_Equal", "_NotEqualScalar",
           "both differ", &mxl_sparse_if_zero_stays, MXL_BINARY_LOOP, x != y ? 1 : 0);
COMPARISON(greater, MXL_CODE_GREATER, MXL_U64_COMPARED, "_Greater", "_GreaterScalar",
           "the first is greater", &mxl_sparse_if_zero_stays, MXL_BINARY_LOOP, x > y ? 1 : 0);
COMPARISON(greater_equal, MXL_CODE_GREATER_EQUAL, MXL_U64_COMPARED, "_Greater_Equal",
           "_GreaterEqualScalar", "the first is greater or both are equal",
           &mxl_sparse_if_zero_stays, MXL_BINARY_LOOP, x >= y ? 1 : 0);
COMPARISON(lesser, MXL_CODE_LESSER, MXL_U64_COMPARED, "_Lesser", "_LesserScalar",
           "the first is less", &mxl_sparse_if_zero_stays, MXL_TURNED_LOOP, &greater_kernels);
COMPARISON(lesser_equal, MXL_CODE_LESSER_EQUAL, MXL_U64_COMPARED, "_Lesser_Equal",
           "_LesserEqualScalar", "the first is less or both are equal", &mxl_sparse_if_zero_stays,
           MXL_TURNED_LOOP, &greater_equal_kernels);
COMPARISON(logical_and, MXL_CODE_NONE, MXL_U64_WRAPS, "_Logical_And", "_LogicalAndScalar",
           "neither is 0", NULL, MXL_BINARY_LOOP, x != 0 && y != 0 ? 1 : 0);
COMPARISON(logical_or, MXL_CODE_NONE, MXL_U64_WRAPS, "_Logical_Or", "_LogicalOrScalar",
           "not both are 0", NULL, MXL_BINARY_LOOP, x != 0 || y != 0 ? 1 : 0);
COMPARISON(logical_xor, MXL_CODE_NONE, MXL_U64_WRAPS, "_Logical_Xor", "_LogicalXorScalar",
           "one of the two is 0", NULL, MXL_BINARY_LOOP, (x != 0) != (y != 0) ? 1 : 0);

#define ALL_THREE(verb) &mxl_op_##verb, &mxl_op_same_##verb, &mxl_op_##verb##_scalar

const mxl_op *const mxl_ops_compare[] = {
    ALL_THREE(equal),       ALL_THREE(not_equal),
    ALL_THREE(greater),     ALL_THREE(greater_equal),
    ALL_THREE(lesser),      ALL_THREE(lesser_equal),
    ALL_THREE(logical_and), ALL_THREE(logical_or),
    ALL_THREE(logical_xor), NULL,
};
