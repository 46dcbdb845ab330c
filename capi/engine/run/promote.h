/* Promotion: the dtype in which an operator computes operands of several dtypes. One order of
 * dtypes serves NumPy's operators, which call mxl_promote_pair, and the calls of a front end that
 * promotes (mxl_dialect), whose operators say in their descriptor what they do with it. Calls
 * within rules and composites promote nothing. */
#ifndef MXL_ENGINE_RUN_PROMOTE_H
#define MXL_ENGINE_RUN_PROMOTE_H

#include "engine/run/invoke.h"
#include "op/promotion.h"

/* The smallest dtype that both can be converted to: floats over integers over bool; of two
 * integers as NumPy has it. */
int mxl_promote_pair(int a, int b);

/* A floating dtype itself; for others `floating`. */
static inline int mxl_promote_to_float(int dtype, int floating)
{
    return mxl_dtype_is_float(dtype) ? dtype : floating;
}

/* Whether a result of one dtype may be written to an array of another: not to a lower kind. */
bool mxl_promote_fits(int from, int to);

/* The dtype that integers become, and floating numbers beside integers: float32, unless it was set;
 * of the whole process. */
int mxl_promote_default(void);
void mxl_promote_set_default(int dtype);

/* A number as an operand. */
typedef struct mxl_number {
    bool is_int;
    int64_t i; /* if it is an integer */
    double f;  /* if not */
} mxl_number;

/* The number as a new array without dimensions, of int64 or float64; NULL with the error set. */
mxl_array *mxl_promote_number(const mxl_number *number);

/* Whether operands need a promotion by the operator's rule. */
static inline bool mxl_promote_wanted(const mxl_promotion *rule, int count,
                                      mxl_array *const *inputs)
{
    int first;

    if (rule->from >= count)
        return false;
    first = inputs[rule->from]->dtype;
    for (int i = rule->from + 1; i < count; i++) {
        if (inputs[i]->dtype != first)
            return true;
    }
    return (rule->as_is >> (first & 31) & 1) == 0; /* one without a shape has dtype -1 */
}

/* mxl_invoke of an operator with `promotion` and one output: casts the operands, recorded, and runs
 * the operator. `number`: 1 + the input that is a number; 0: none is. Where an array is given for
 * the result, that must be of no lower kind; on failure it is unchanged. Calls with a wrong number
 * of inputs, or with arrays without a shape, get mxl_invoke's error. */
int mxl_promote_invoke(const mxl_op *op, const void *params, int count, mxl_array *const *inputs,
                       int number, mxl_array **out, mxl_mode mode);

#endif
