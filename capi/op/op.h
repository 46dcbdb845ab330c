/* The operator descriptor: everything the library knows of one operator, as constant data. Families
 * in ops/ list theirs; param, infer, registry and the engine read them. */
#ifndef MXL_OP_OP_H
#define MXL_OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array/array.h"
#include "base/error.h"
#include "base/str.h"
#include "kernel/elementwise/loop.h"

typedef struct mxl_op mxl_op;
typedef struct mxl_plan mxl_plan;   /* op/plan.h: where the elements of a movement come from */
typedef struct mxl_scope mxl_scope; /* engine/run/scope.h: owner of temporaries */
typedef struct mxl_grad mxl_grad;   /* engine/backward/grad.h: what a gradient rule sees */

/* Types of parameters and the field that holds each in the operator's parameter struct. */
typedef enum mxl_param_type {
    MXL_P_INT,       /* int64_t */
    MXL_P_OPT_INT,   /* int64_t, MXL_NONE for None */
    MXL_P_FLOAT,     /* double */
    MXL_P_OPT_FLOAT, /* double, a NaN for None */
    MXL_P_BOOL,      /* int */
    MXL_P_OPT_BOOL,  /* int, -1 for None */
    MXL_P_ENUM,      /* int: index into .values; "None" may be one of them */
    MXL_P_DTYPE, /* int: mxl_dtype; "None" gives MXL_DTYPE_UNKNOWN; .values are the names allowed */
    MXL_P_SHAPE, /* mxl_tuple of integers; a single integer counts as one axis */
    MXL_P_OPT_SHAPE, /* the same, n = -1 for None */
    MXL_P_TUPLE_OPT, /* mxl_tuple whose entries may be MXL_NONE: bounds of slices */
    MXL_P_STRING     /* const char * */
} mxl_param_type;

typedef struct mxl_param {
    const char *name;
    mxl_param_type type;
    size_t offset;   /* of the field in the parameter struct */
    const char *def; /* the default as text; NULL: required */
    const char *doc;
    const char *const *values; /* MXL_P_ENUM, MXL_P_DTYPE: the names allowed, ends with NULL */
    const char *type_text;     /* what introspection prints, where it is not made from the type */
    int64_t min;               /* MXL_P_INT with has_min: smallest value allowed */
    bool has_min;
    bool sets_outputs; /* the number of visible outputs depends on it */
} mxl_param;

typedef struct mxl_input {
    const char *name;
    const char *doc;
    bool mutated;          /* the operator writes into it */
    const char *type_text; /* what introspection prints, where it is not "NDArray-or-Symbol" */
    int after;             /* introspection prints it behind that many parameters */
} mxl_input;

typedef struct mxl_arity {
    int inputs;  /* in: -1, or how many the caller gave; out: how many are needed */
    int outputs; /* all, those that only the rule reads included */
    int visible; /* outputs that a caller sees */
} mxl_arity;

/* What infer reads and fills. Outputs given by the caller (out=) come with their dtype and shape
 * filled in, others with MXL_DTYPE_UNKNOWN and ndim -1. */
typedef struct mxl_infer {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    mxl_array *const *in; /* for their dtypes and shapes; values only where a shape depends on them
                             (_contrib_boolean_mask) */
    mxl_shape *out_shape;
    int *out_dtype;
    bool training;
    bool legacy_shape; /* MXNet's legacy mode: shapes () and extents 0 mean unknown */
    bool scalars;      /* PyTorch's dialect: a reduction of all axes has shape (), not (1,) */
    mxl_device device; /* of new outputs; set beforehand to that of results of the first input */
} mxl_infer;

/* One execution. Inputs are contiguous unless the operator has kernels (element-wise ones walk
 * strides). */
typedef struct mxl_call {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    mxl_array **in;
    mxl_array **out;
    bool training;
} mxl_call;

/* Which values the rule will read. The engine fills `wants`; saves marks `in` and `out`. */
typedef struct mxl_saves {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    const bool *wants; /* [num_inputs]: a gradient of this input is wanted */
    bool *in;          /* [num_inputs] */
    bool *out;         /* [num_outputs] */
    bool training;
} mxl_saves;

struct mxl_op {
    const char *name; /* as in MXNet 1.9.1; `_mxl_*` for what it lacks, which is not listed */
    const char *const *aliases; /* ends with NULL */
    const char *doc;
    const mxl_input *inputs; /* ends with {0} */
    const mxl_param *params; /* ends with {0} */
    size_t params_size;
    const char *key_var_num_args; /* the parameter that counts the inputs, or NULL */
    int (*arity)(const void *params,
                 mxl_arity *arity); /* NULL: 1 output, as many inputs as listed */
    int (*check)(void *params);     /* NULL, or: parameters that contradict each other; -1 */
    int (*infer)(mxl_infer *infer);
    int (*compute)(const mxl_call *call);
    const mxl_kernels *kernels; /* element-wise operators; compute is then mxl_run_loops */
    /* Or, for a composite: runs other operators and returns output 0, scoped; call->out[1] and on
     * get the others. It must do the same each time. Under a label the call is one node, whose
     * backward runs and differentiates it again. */
    mxl_array *(*compose)(mxl_scope *scope, const mxl_call *call);
    int (*grad)(mxl_grad *grad);        /* NULL: not differentiable */
    void (*saves)(mxl_saves *saves);    /* NULL: grad reads no values */
    int (*grad_kernel)(mxl_grad *grad); /* the same in one pass; used where nothing is recorded */
    int (*plan)(mxl_plan *plan);        /* operators that only move elements: op/plan.h */
    bool keeps_scalars;  /* a result without axes has none in MXNet's legacy mode either */
    bool forgets_base;   /* such a view is an array by itself: its input is a temporary */
    bool reads_training; /* params or results depend on the training flag (Dropout) */
    void (*forget)(mxl_ref *payload); /* NULL, or: a node's saved values were released */
    bool wraps_node; /* a node's payload is a node whose rule its own calls (CopySlices) */
    bool strided;    /* compute takes inputs of any strides, without kernels */
    bool in_place;   /* compute may write an output that lies exactly over an input */
};

/* Element-wise compute for every operator with kernels (ops with .kernels name it in .compute): one
 * output, 1 to MXL_LOOP_INPUTS inputs that broadcast to it. The dtype of input 0 chooses the loop;
 * all inputs and the output have it. An input may share memory with the output. */
int mxl_run_loops(const mxl_call *call);

/* The same where the output's dtype differs from the inputs' (an int array and a scalar that is not
 * one): inputs are cast to the output's dtype, whose loop runs. */
int mxl_run_loops_promoted(const mxl_call *call);

/* In MXNet's legacy mode output i gets shape (1,) for (), unless an input or `given`, the array to
 * write to (or NULL), has no axes either. Called after `infer`. */
void mxl_infer_legacy(mxl_infer *infer, int i, const mxl_array *given);

/* Shared `infer` rules. Errors begin with the operator's name. */
int mxl_infer_same(mxl_infer *infer);       /* all inputs of one shape and dtype; outputs alike */
int mxl_infer_broadcast(mxl_infer *infer);  /* two inputs of one dtype; NumPy's broadcast */
int mxl_infer_like_first(mxl_infer *infer); /* outputs like input 0, whatever the others are */
int mxl_infer_float_same(mxl_infer *infer); /* mxl_infer_same, floating dtypes only */
/* Output 0 has the shape that a parameter says and input 0's dtype. -1 with the error set where the
 * list is no shape of an array. */
int mxl_infer_to(mxl_infer *infer, mxl_tuple shape);

/* A shared `arity` rule: one input, two outputs that both are seen. */
int mxl_arity_two(const void *params, mxl_arity *arity);

/* Shared `saves` rules. */
void mxl_saves_input(mxl_saves *saves);  /* input 0 */
void mxl_saves_output(mxl_saves *saves); /* output 0 */
void mxl_saves_other(
    mxl_saves *saves); /* of two inputs: each one whose partner's gradient is wanted */

/* Parsing: fills the whole parameter struct from text, defaults included. Tuples and strings live
 * in `arena`. Unknown, repeated or malformed parameters and missing required ones: -1; an operator
 * that has no parameters ignores what it is given. */
typedef struct mxl_arena {
    size_t used;
    struct mxl_arena_block *more; /* further blocks, owned */
    _Alignas(16) char room[1024];
} mxl_arena;

void mxl_arena_init(mxl_arena *arena);
void *mxl_arena_alloc(mxl_arena *arena, size_t bytes); /* NULL with the error set */
void mxl_arena_clear(mxl_arena *arena);

int mxl_params_parse(const mxl_op *op, int count, const char *const *keys,
                     const char *const *values, void *params, mxl_arena *arena);
/* One parameter's value into its field. */
int mxl_param_parse(const mxl_op *op, const mxl_param *param, const char *text, void *params,
                    mxl_arena *arena);
const mxl_param *mxl_param_find(const mxl_op *op,
                                const char *name); /* NULL: none of that name; no error */

/* Bytes of a self-contained copy of the struct with its tuples and strings; and making it at dst
 * (aligned to 16, of that size). */
size_t mxl_params_bytes(const mxl_op *op, const void *params);
void mxl_params_copy(const mxl_op *op, void *dst, const void *params);

/* Appends a parameter's value as the parser reads it: "True", "(2, 3)", "0.1"; -1 with the error
 * set. */
int mxl_param_print(const mxl_param *param, const void *params, mxl_str *out);
/* Whether it has the value that it has when it is not given: 1 or 0; -1 with the error set. */
int mxl_param_is_default(const mxl_op *op, const mxl_param *param, const void *params);

/* What MXSymbolGetAtomicSymbolInfo prints as the type of a parameter, e.g. "int, optional,
 * default='1'". Written into buf; returns buf. */
char *mxl_param_type_text(const mxl_param *param, char *buf, size_t size);

/* The registry: name or alias -> operator. Numbers are stable within a process and dense. */
const mxl_op *mxl_op_find(const char *name); /* NULL with the error set */
const mxl_op *mxl_op_at(int number);         /* number < mxl_op_count() */
int mxl_op_number(const mxl_op *op);         /* -1 for an operator outside the registry */
int mxl_op_count(void);
/* All public names (aliases too, `_mxl_*` not), sorted; returns their number. */
int mxl_op_names(const char *const **names);

/* All families, ends with NULL; each is a list of operators that ends with NULL. Defined by
 * ops/all.c. */
extern const mxl_op *const *const mxl_families[];

/* How the graph shows nodes of an operator: PyTorch's name, and slots as in mxl_dialect. Rows end
 * with {0}; defined by ops/node_names.c. */
typedef struct mxl_node_row {
    const char *op, *node, *slots;
} mxl_node_row;

extern const mxl_node_row mxl_node_rows[];

#endif
