/* The dialects of the front ends. */
#include "engine/run/dialect.h"

const mxl_dialect mxl_dialect_mxnet = {
    .name = "mxnet",
    .rebase = false,
    .released_is_constant = true,
    .views = false,
    .lenient_heads = true,
    .keeps_failures = true,
    .plain = &mxl_dialect_mxnet,
};

const mxl_dialect mxl_dialect_mxnet_follow = {
    .name = "mxnet",
    .rebase = true,
    .released_is_constant = true,
    .views = false,
    .lenient_heads = true,
    .keeps_failures = true,
    .plain = &mxl_dialect_mxnet_follow,
};

const mxl_dialect mxl_dialect_torch = {
    .name = "torch",
    .rebase = true,
    .released_is_constant = false,
    .views = true,
    .new_grads = true,
    .only_floats = true,
    .promotes = true,
    .plain = &mxl_dialect_torch,
};
