/* What the operators of optimizers share: parameters, checks, and calls of the steps of
 * kernel/optimizer. */
#ifndef MXL_OPS_OPTIMIZER_STEPS_H
#define MXL_OPS_OPTIMIZER_STEPS_H

#include "kernel/optimizer/step.h"
#include "op/sparse_forms.h"
#include "ops/build.h"

/* The parameters of all of them; each operator has rows for some. Numbers are float32 as in 1.9.1,
 * whatever dtype the arrays have. */
typedef struct mxl_step_params {
    mxl_step_numbers n;
    int lazy_update, bias_correction;
    int64_t t;
    int64_t num_weights; /* num_tensors of lamb */
    mxl_floats lrs, wds, etas;
    mxl_tuple step_count;
} mxl_step_params;

/* ---- rows of parameter tables ---- */

#define MXL_STEP_NUMBER(field, text, meaning)                                                      \
    MXL_PARAM_AS(#field, mxl_step_params, n.field, MXL_P_FLOAT, text, meaning)

#define MXL_STEP_LR       MXL_STEP_NUMBER(lr, MXL_REQUIRED, "Learning rate.")
#define MXL_STEP_MOMENTUM MXL_STEP_NUMBER(momentum, "0", "Factor of the momentum at each step.")
#define MXL_STEP_DECAY                                                                             \
    MXL_STEP_NUMBER(wd, "0", "Weight decay; its part of the gradient is not clipped.")
#define MXL_STEP_CLIPPED_DECAY                                                                     \
    MXL_STEP_NUMBER(wd, "0", "Weight decay; its part of the gradient is clipped with it.")
#define MXL_STEP_RESCALE                                                                           \
    MXL_STEP_NUMBER(rescale_grad, "1", "Factor of the gradient, applied before it is clipped.")
#define MXL_STEP_CLIP_DOC                                                                          \
    "The gradient is clipped to [-clip_gradient, clip_gradient]; a negative number: not."
#define MXL_STEP_CLIP    MXL_STEP_NUMBER(clip_gradient, "-1", MXL_STEP_CLIP_DOC)
#define MXL_STEP_SCALING MXL_STEP_RESCALE, MXL_STEP_CLIP
#define MXL_STEP_LAZY                                                                              \
    MXL_PARAM(mxl_step_params, lazy_update, MXL_P_BOOL, "1",                                       \
              "Of a row_sparse gradient: only the rows that it has are updated.")
#define MXL_STEP_BETAS                                                                             \
    MXL_STEP_NUMBER(beta1, "0.899999976", "Factor of the mean at each step."),                     \
        MXL_STEP_NUMBER(beta2, "0.999000013", "Factor of the variance at each step.")
#define MXL_STEP_EPSILON(text)                                                                     \
    MXL_STEP_NUMBER(epsilon, text, "Added to the root, so that it is not zero.")
#define MXL_STEP_LIST(name, field, meaning)                                                        \
    MXL_PARAM_AS(name, mxl_step_params, field, MXL_P_FLOATS, MXL_REQUIRED, meaning)
#define MXL_STEP_COUNT(name)                                                                       \
    MXL_PARAM_AS(name, mxl_step_params, num_weights, MXL_P_INT, "1", "The number of weights.",     \
                 .sets_outputs = true, MXL_AT_LEAST(1))

/* ---- rows of input tables ---- */

#define MXL_STEP_WEIGHT MXL_INPUT(weight, "The weights; give them as output too to update them.")
#define MXL_STEP_GRAD   MXL_INPUT(grad, "Their gradient.")
#define MXL_STEP_STATE(name, meaning)                                                              \
    MXL_INPUT(name, meaning ", which is updated in place.", .mutated = true)
#define MXL_STEP_MASTER                                                                            \
    MXL_STEP_STATE(weight32, "A float32 copy of the weights, from which they are computed")
#define MXL_STEP_MEANS                                                                             \
    MXL_STEP_STATE(mean, "The running mean of the gradient"),                                      \
        MXL_STEP_STATE(var, "The running mean of its square")
#define MXL_STEP_DATA(meaning) MXL_INPUT(data, meaning, .type_text = "NDArray-or-Symbol[]")

/* ---- operators ---- */

/* What an operator makes of each weight. Its arrays are the weight, the gradient, `states` arrays
 * that are updated and, if `mixed`, a float32 copy of the weight. */
typedef struct mxl_step_kind {
    const mxl_step_rule *rule;
    int states;
    bool mixed;
    int extra; /* arrays after those of all weights; of group adagrad, its history */
} mxl_step_kind;

static inline int mxl_step_stride(const mxl_step_kind *kind)
{
    return 2 + kind->states + kind->mixed;
}

/* Checks that the arrays of a weight, in[0] and on, have one shape, and the weight's dtype or, the
 * state and the copy of a mixed step, float32. -1 with the error set. */
int mxl_step_check(const mxl_op *op, const mxl_step_kind *kind, mxl_array *const *in);

/* The addresses of the arrays of a weight. lr, wd and eta are those of the parameters. */
mxl_step mxl_step_of(const mxl_step_kind *kind, const mxl_step_params *params, mxl_array *const *in,
                     mxl_array *out);

/* Runs the loop of a rule for a dtype. `first` as in mxl_steps_run; NULL for one weight. */
void mxl_step_run(const mxl_step_kind *kind, int dtype, int count, const mxl_step *steps,
                  const mxl_step_params *params, int64_t *first);

/* infer and compute of an operator with one weight. */
int mxl_step_infer(mxl_infer *infer, const mxl_step_kind *kind);
int mxl_step_compute(const mxl_call *call, const mxl_step_kind *kind);

/* Defines ID_kind, ID_infer and ID_compute of an operator with one weight. */
#define MXL_STEP_FUNCTIONS(id, STEP_RULE, STATES, MIXED)                                           \
    static const mxl_step_kind id##_kind = {&STEP_RULE, STATES, MIXED, 0};                         \
    static int id##_infer(mxl_infer *infer)                                                        \
    {                                                                                              \
        return mxl_step_infer(infer, &id##_kind);                                                  \
    }                                                                                              \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return mxl_step_compute(call, &id##_kind);                                                 \
    }

/* ---- row_sparse gradients ---- */

/* Where the gradient is row_sparse, and the weight and all states are, or, with `dense`, are not:
 * steps in place. Where `lazy` only the rows of the gradient are updated. A row_sparse weight must
 * have all rows; states are given all. */
bool mxl_step_stypes(mxl_stypes *call, bool dense);
int mxl_step_sparse(const mxl_call *call, const mxl_step_kind *kind, bool lazy);

/* Defines ID_forms of such an operator. LAZY may use its parameters, p. */
#define MXL_STEP_FORMS(id, DENSE, LAZY)                                                            \
    static bool id##_stypes(mxl_stypes *call)                                                      \
    {                                                                                              \
        return mxl_step_stypes(call, DENSE);                                                       \
    }                                                                                              \
    static int id##_sparse(const mxl_call *call)                                                   \
    {                                                                                              \
        const mxl_step_params *p = call->params;                                                   \
                                                                                                   \
        (void)p;                                                                                   \
        return mxl_step_sparse(call, &id##_kind, LAZY);                                            \
    }                                                                                              \
    static const mxl_sparse_forms id##_forms = {                                                   \
        .stypes = id##_stypes, .compute = id##_sparse, .writes_given = true};

/* The fields of such an operator. */
#define MXL_STEP_FIELDS(id, table)                                                                 \
    MXL_PARAMS(mxl_step_params, table), .infer = id##_infer, .compute = id##_compute,              \
        .in_place = true

/* What graphs know of such an operator: all arrays have the weight's shape and dtype, or, of a
 * mixed step, but for the weight and the gradient, float32. */
#define MXL_STEP_SAME  .shapes = "A*>A", .dtypes = "A*>A"
#define MXL_STEP_MIXED .shapes = "A*>A", .dtypes = "AAf*>A"

/* The operator op_ID of one weight, with ID_infer and ID_compute. After the tables of inputs and
 * parameters come its documentation and other fields by their names. */
#define MXL_STEP_OP(id, op_name, op_inputs, op_params, ...)                                        \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .inputs = op_inputs,                                                                       \
        MXL_STEP_FIELDS(id, op_params),                                                            \
        .doc = __VA_ARGS__,                                                                        \
    }

/* Of an operator with several weights: the numbers of inputs and outputs, whether an input is
 * updated, and its infer. `extra` arrays at the end are not checked. All weights have one dtype. */
int mxl_steps_arity(const mxl_step_kind *kind, int64_t num_weights, mxl_arity *arity);
bool mxl_steps_mutates(const mxl_call *call, const mxl_step_kind *kind, int i);
int mxl_steps_infer(mxl_infer *infer, const mxl_step_kind *kind);

/* Checks that a list has a number for each weight. */
int mxl_steps_check_list(const mxl_infer *infer, const char *name, int n);

/* Room for a call over several weights: their steps, and `first`. */
typedef struct mxl_steps {
    int count;
    mxl_step *steps;
    int64_t *first;
    size_t bytes;
} mxl_steps;

/* Allocates room and takes the addresses of all arrays. lr, wd and eta are taken from the lists of
 * the parameters that are not empty. -1 with the error set. */
int mxl_steps_new(mxl_steps *all, const mxl_call *call, const mxl_step_kind *kind);
void mxl_steps_free(mxl_steps *all);

/* Defines ID_kind, ID_arity and ID_mutates of an operator with several weights. */
#define MXL_STEPS_FUNCTIONS(id, STEP_RULE, STATES, MIXED, EXTRA)                                   \
    static const mxl_step_kind id##_kind = {&STEP_RULE, STATES, MIXED, EXTRA};                     \
    static int id##_arity(const void *params, mxl_arity *arity)                                    \
    {                                                                                              \
        return mxl_steps_arity(&id##_kind, ((const mxl_step_params *)params)->num_weights, arity); \
    }                                                                                              \
    static bool id##_mutates(const mxl_call *call, int i)                                          \
    {                                                                                              \
        return mxl_steps_mutates(call, &id##_kind, i);                                             \
    }

#endif
