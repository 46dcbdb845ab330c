/* cast_storage: an array in another storage type. */
#include "ops/build.h"

#include "array/copy.h"
#include "ops/sparse/forms.h"

static const char *const storage_types[] = {"csr", "default", "row_sparse", NULL};

static mxl_stype wanted(const void *params)
{
    static const mxl_stype stypes[] = {[MXL_CAST_CSR] = MXL_CSR,
                                       [MXL_CAST_DEFAULT] = MXL_DENSE,
                                       [MXL_CAST_ROW_SPARSE] = MXL_ROW_SPARSE};

    return stypes[*(const int *)params];
}

static bool cast_stypes(mxl_stypes *call)
{
    call->out[0] = (int8_t)wanted(call->params);
    return true;
}

static int cast_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* The gradient is passed on. */
static void cast_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    (void)call;
    in_grad[0] = out_grad[0];
}

static const mxl_sparse_forms cast_forms = {
    .stypes = cast_stypes, .compute = cast_compute, .grad_stypes = cast_grad_stypes};

static const mxl_op op_cast_storage = {
    .name = "cast_storage",
    .aliases = MXL_ALIASES("_sparse_cast_storage"),
    .doc = "A copy of the array in another storage type. What is 0 is not stored.",
    MXL_ONLY_PARAM(int, stype, MXL_P_ENUM, MXL_REQUIRED, "How the result is stored.",
                   .values = storage_types),
    .infer = mxl_infer_same,
    .compute = cast_compute,
    .grad = mxl_grad_pass,
    .sparse = &cast_forms,
    .makes_sparse = true,
    .along = true,
};

const mxl_op *const mxl_ops_cast_storage[] = {&op_cast_storage, NULL};
