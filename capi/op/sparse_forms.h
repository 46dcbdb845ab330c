/* How an operator runs on sparse arrays (`sparse` of its descriptor). What has no form for the
 * storage types of a call runs on dense copies of its inputs, which is recorded too. Rules are
 * those of the descriptor: they are written with operators, which take sparse arrays. */
#ifndef MXL_OP_SPARSE_FORMS_H
#define MXL_OP_SPARSE_FORMS_H

#include "array/sparse/sparse.h"
#include "op/op.h"

/* The storage types of a call; each entry is an mxl_stype. */
typedef struct mxl_stypes {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    const int8_t *in;
    const int8_t *given;      /* of arrays to write to; MXL_STYPE_NONE where there is none */
    int8_t *out;              /* preset to MXL_DENSE */
    mxl_array *const *arrays; /* the inputs, for their shapes; NULL: of a graph */
} mxl_stypes;

struct mxl_sparse_forms {
    /* Sets the storage types of the outputs; false: there is no form for these inputs. Asked where
     * an input or an array to write to is sparse, and always of an operator with makes_sparse. */
    bool (*stypes)(mxl_stypes *call);
    /* NULL: the operator is a composite whose parts take the inputs. Or: fills the outputs: dense
     * ones have any values, sparse ones store nothing and get parts by mxl_array_set_parts. Dense
     * inputs are contiguous. */
    int (*compute)(const mxl_call *call);
    /* NULL, or: in which storage types gradients of the inputs come, for gradients of the outputs
     * in those of `out_grad` (MXL_DENSE where none arrives). `in_grad` is preset to MXL_DENSE.
     * Asked also where no input is sparse (Embedding). Graphs make gradient arrays by it. */
    void (*grad_stypes)(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad);
    /* Arrays to write to are the outputs, whatever their storage type; compute leaves them as they
     * are where it fails. (Optimizers, which update some rows of one.) */
    bool writes_given;
    /* NULL, or: of an operator with makes_sparse, whether dense inputs may give sparse outputs. */
    bool (*makes)(const void *params);
};

/* Whether a call with dense inputs may give a sparse output. */
static inline bool mxl_op_may_make_sparse(const mxl_op *op, const void *params)
{
    return op->makes_sparse && (op->sparse->makes == NULL || op->sparse->makes(params));
}

/* True where all inputs have that storage type. */
static inline bool mxl_stypes_all(const mxl_stypes *call, mxl_stype stype)
{
    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i] != stype)
            return false;
    }
    return true;
}

#endif
