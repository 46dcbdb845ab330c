/* Operators of callers, which `Custom` runs by their names. ops/custom.c registers and runs them;
 * api/custom/ makes them of MXNet's callbacks, api/library/ of the functions of loaded libraries.
 */
#ifndef MXL_OPS_CUSTOM_H
#define MXL_OPS_CUSTOM_H

#include "engine/backward/grad.h"
#include "op/op.h"

/* The arrays of a forward or a backward. An entry of `in`, `out` and `out_grad` is NULL if the
 * backward does not read it. */
typedef struct mxl_custom_arrays {
    mxl_array **in, **out;           /* [num_arguments], [num_outputs] */
    mxl_array **out_grad, **in_grad; /* of a backward, else NULL */
    const bool *wants;               /* [num_arguments]; of a backward */
    bool training, record;
} mxl_custom_arrays;

/* One call of a caller's operator, from its parameters on; counted, kept by the call's node. The
 * functions return 0, or -1 with the error set. */
typedef struct mxl_custom {
    mxl_ref ref; /* its release function ends with mxl_custom_clear */
    int num_arguments, num_aux, num_outputs;
    bool *reads;     /* what backward reads: of each gradient of an output, argument, output */
    mxl_array **aux; /* [num_aux]: aliases, kept from the forward on; before that NULL */
    size_t bytes;    /* of the block that holds both lists */
    char *names; /* of arguments, outputs and states, each with its final zero; NULL: the usual */
    size_t names_bytes;
    bool *mutated; /* [num_arguments]: those that forward writes to; NULL: none */
    /* NULL, or set for a forward by a program that keeps states (mxl_program): the operator of the
     * node, which has the state of the last run and gets that of this one; borrowed. */
    struct mxl_custom *lasting;
    int (*infer)(struct mxl_custom *custom, mxl_infer *infer);
    /* NULL: all arrays are dense. The storage types of the outputs, for those of the inputs; and of
     * the gradients of the arguments, which are preset to MXL_STYPE_NONE. */
    int (*stypes)(struct mxl_custom *custom, const int8_t *in, int8_t *out);
    int (*grad_stypes)(struct mxl_custom *custom, const int8_t *out_grad, const int8_t *in,
                       const int8_t *out, int8_t *in_grad);
    bool refused; /* stypes has failed: the error is set */
    /* For symbols: complete what is known of the arguments, outputs and states, in one list;
     * unknown are ndim -1, sizes of -1, and MXL_DTYPE_UNKNOWN. */
    int (*shapes)(struct mxl_custom *custom, mxl_shape *shapes, bool legacy_shape);
    int (*dtypes)(struct mxl_custom *custom, int *dtypes);
    int (*forward)(struct mxl_custom *custom, const mxl_custom_arrays *arrays);
    int (*backward)(struct mxl_custom *custom, const mxl_custom_arrays *arrays);
} mxl_custom;

/* Makes a call with the parameters that the caller gave, without op_type; NULL with the error set.
 * `creator` is that of mxl_custom_register. */
typedef mxl_custom *(*mxl_custom_maker)(void (*creator)(void), const char *op_type, int count,
                                        const char *const *keys, const char *const *values);

/* Registers an operator for the life of the process, in place of one that has the name. */
int mxl_custom_register(const char *op_type, mxl_custom_maker make, void (*creator)(void));

/* Allocates the two lists, once the three numbers are set; every tensor is marked as read. */
int mxl_custom_lists(mxl_custom *custom);
void mxl_custom_clear(mxl_custom *custom);

typedef struct mxl_custom_params {
    const char *op_type; /* once parsed, the name that it is registered under */
    mxl_custom *custom;  /* kept by the arena of the call, then by its node */
} mxl_custom_params;

/* Custom; descriptors with other names and parsers are made from it. */
extern const mxl_op mxl_op_custom;

/* The operator of a node of Custom, from its parameters; NULL for any other operator. */
mxl_custom *mxl_custom_of(const mxl_op *op, const void *params);
/* The name of an argument, output or state, which are numbered in this order, if there are names;
 * borrowed. */
const char *mxl_custom_name(const mxl_custom *custom, int i);

/* The places in `reads`. */
static inline int mxl_custom_reads_in(const mxl_custom *custom, int i)
{
    return custom->num_outputs + i;
}

static inline int mxl_custom_reads_out(const mxl_custom *custom, int i)
{
    return custom->num_outputs + custom->num_arguments + i;
}

#endif
