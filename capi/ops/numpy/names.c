/* Operators of 1.9's NumPy arrays that are one of ours under another name, in shape, dtype and
 * value. 1.9.1 lists each as an operator by itself; names that it lists as names of an operator
 * stand in that operator's descriptor. The registry reads the table. */
#include "op/op.h"

#define SAME(name) {"_npi_" name, name}

const mxl_other_name mxl_other_names[] = {
    {"_npi_abs", "abs"},
    {"_npi_absolute", "abs"},
    SAME("arccos"),
    SAME("arccosh"),
    SAME("arcsin"),
    SAME("arcsinh"),
    SAME("arctan"),
    SAME("arctanh"),
    SAME("cbrt"),
    SAME("ceil"),
    {"_npi_cholesky", "_linalg_potrf"},
    SAME("cos"),
    SAME("cosh"),
    SAME("degrees"),
    SAME("exp"),
    SAME("expm1"),
    SAME("fix"),
    SAME("floor"),
    SAME("log"),
    SAME("log10"),
    SAME("log1p"),
    SAME("log2"),
    SAME("negative"),
    SAME("radians"),
    SAME("reciprocal"),
    SAME("rint"),
    SAME("sign"),
    SAME("sin"),
    SAME("sinh"),
    SAME("sqrt"),
    SAME("square"),
    SAME("tan"),
    SAME("tanh"),
    SAME("trunc"),
    {"_npx_relu", "relu"},
    {"_npx_sigmoid", "sigmoid"},
    {"_npi_hypot", "broadcast_hypot"},

    {"_npi_add_scalar", "_plus_scalar"},
    {"_npi_subtract_scalar", "_minus_scalar"},
    {"_npi_rsubtract_scalar", "_rminus_scalar"},
    {"_npi_multiply_scalar", "_mul_scalar"},
    {"_npi_mod_scalar", "_mod_scalar"},
    {"_npi_rmod_scalar", "_rmod_scalar"},
    {"_npi_power_scalar", "_power_scalar"},
    {"_npi_rpower_scalar", "_rpower_scalar"},

    {"_np_copy", "_copy"},
    {"_npi_stack", "stack"},

    {"_npi_ones", "_ones"},
    {"_npi_zeros", "_zeros"},
    {0},
};
