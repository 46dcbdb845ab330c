/* SVMOutput: a copy of scores whose gradient is that of a hinge loss with the labels. */
#include <stddef.h>

#include "array/copy.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/take.h"

typedef struct svm_params {
    double margin, regularization_coefficient;
    int use_linear;
} svm_params;

static int svm_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* With s = -1 at the label and 1 elsewhere, and z = margin + s x: dx = 2 c s max(z, 0), or c s
 * where z > 0. A NaN counts as 0. The label's gradient is zero. */
static int svm_grad(mxl_grad *g)
{
    const svm_params *p = g->params;
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    mxl_array *sign, *z, *inside, *dx;

    if (!mxl_grad_wants(g, 0))
        return 0;
    sign =
        mxl_one_hot_rows(g->s, mxl_grad_in(g, 1), meta->shape[meta->ndim - 1], -1, 1, meta->dtype);
    z = mxl_add_scalar(g->s, mxl_mul(g->s, sign, mxl_grad_in(g, 0)), p->margin);
    inside = mxl_apply_scalar(g->s, &mxl_op_greater_scalar, z, 0);
    dx = p->use_linear ? inside : mxl_zero_where(g->s, mxl_one_minus(g->s, inside), z);
    dx = mxl_mul_scalar(g->s, dx, p->regularization_coefficient * (p->use_linear ? 1 : 2));
    return mxl_grad_set(g, 0, mxl_mul(g->s, sign, dx));
}

static void svm_saves(mxl_saves *saves)
{
    saves->in[0] = saves->in[1] = saves->wants[0];
}

static const mxl_op op_svm_output = {
    .name = "SVMOutput",
    .output_names = "output",
    .doc = "A copy of scores. Its gradient is that of a hinge loss: of the label's score where it "
           "is below the margin, of the others where they are above its negative, whatever "
           "gradient arrives.",
    MXL_INPUTS(MXL_INPUT(data, "Scores, (..., classes), of a floating dtype."),
               MXL_INPUT(label, "The classes, (...), of the dtype of data.")),
    MXL_PARAMS_OF(svm_params, MXL_PARAM(svm_params, margin, MXL_P_FLOAT, "1", "The margin."),
                  MXL_PARAM(svm_params, regularization_coefficient, MXL_P_FLOAT, "1",
                            "Factor of the gradient."),
                  MXL_PARAM(svm_params, use_linear, MXL_P_BOOL, "0",
                            "Whether the distance from the margin counts once, not squared.")),
    MXL_SHAPES("data[*S,C] label[*S] -> [*S,C]"),
    .dtypes = "F*>F",
    .compute = svm_compute,
    .grad = svm_grad,
    .is_loss = mxl_is_loss,
    .saves = svm_saves,
};

const mxl_op *const mxl_ops_svm_output[] = {&op_svm_output, NULL};
