/* How an operator takes operands of other dtypes in a front end that promotes: a field of its
 * descriptor, which engine/run/promote.h reads. */
#ifndef MXL_OP_PROMOTION_H
#define MXL_OP_PROMOTION_H

#include "op/op.h"

/* Sets of dtypes, a bit for each. */
enum {
    MXL_SET_FLOATS = 1 << MXL_F32 | 1 << MXL_F64 | 1 << MXL_F16 | 1 << MXL_BF16,
    MXL_SET_INTEGERS = 1 << MXL_U8 | 1 << MXL_I8 | 1 << MXL_I32 | 1 << MXL_I64 | 1 << MXL_I16 |
        1 << MXL_U16 | 1 << MXL_U32 | 1 << MXL_U64,
    MXL_SET_NUMBERS = MXL_SET_FLOATS | MXL_SET_INTEGERS,
    MXL_SET_BOOL = 1 << MXL_BOOL,
    MXL_SET_ALL = MXL_SET_NUMBERS | MXL_SET_BOOL
};

/* The operands of one call: as they were given, and cast to their common dtype. */
typedef struct mxl_operands {
    const mxl_op *op;
    int dtype; /* the common one */
    int count;
    mxl_array *const *given, *const *in;
    int number; /* 1 + which of them is a number; 0: none */
} mxl_operands;

struct mxl_promotion {
    unsigned as_is;            /* dtypes that all operands may have with nothing to do: a set */
    unsigned refused;          /* common dtypes that are errors: a set */
    bool to_floats;            /* integers and bool become the default floating dtype first */
    bool to_bool;              /* the result is bool */
    bool bool_as_byte;         /* bool is computed as uint8, and the result is bool again */
    int from;                  /* the first input that is an operand */
    const mxl_op *of_integers; /* computes integers in its place, with all digits; or NULL */
    /* Of an operator of an array and a number (mxl_scalar_params): the one of two arrays, to which
     * the number is an operand unless the array is floating; and whether it is the first. */
    const mxl_op *of_two;
    bool number_first;
    /* NULL, or: -1 with the error set for operands that the operator does not take. */
    int (*check)(const mxl_operands *operands);
};

/* Promotions of families: numbers; floats, which integers become (exp); comparisons. */
extern const mxl_promotion mxl_promotes_numbers, mxl_promotes_floats, mxl_promotes_compared;

/* `check` of divisions of integers: no divisor is 0, unless there is nothing to divide. */
int mxl_check_divisor(const mxl_operands *operands);

#endif
