/* The operator descriptor: one operator as constant data. Each file of ops/ lists its descriptors;
 * param, infer, registry and the engine read them. */
#ifndef MXL_OP_OP_H
#define MXL_OP_OP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array/array.h"
#include "base/error.h"
#include "base/text/str.h"
#include "kernel/elementwise/loop.h"

typedef struct mxl_op mxl_op;
typedef struct mxl_plan mxl_plan;   /* op/plan.h: the plan of a movement */
typedef struct mxl_scope mxl_scope; /* engine/run/scope.h: owner of temporaries */
typedef struct mxl_grad mxl_grad;   /* engine/backward/grad.h: the arguments of a vjp */
typedef struct mxl_batch mxl_batch; /* engine/batch/batch.h: a call with batched arrays */
typedef struct mxl_rule mxl_rule;   /* op/rule.h: what is known of a node of a graph */
typedef struct mxl_size_function mxl_size_function; /* op/shapes: what texts of shapes name */
typedef struct mxl_shape_forms mxl_shape_forms;     /* op/shapes: such texts, compiled */
typedef struct mxl_promotion mxl_promotion;         /* op/promotion.h: operands of other dtypes */
typedef struct mxl_sparse_forms mxl_sparse_forms;   /* op/sparse_forms.h: sparse operands */

/* Types of parameters and the field that holds each in the operator's parameter struct. */
typedef enum mxl_param_type {
    MXL_P_INT,       /* int64_t */
    MXL_P_OPT_INT,   /* int64_t, MXL_NONE for None */
    MXL_P_FLOAT,     /* double */
    MXL_P_OPT_FLOAT, /* double, a NaN for None */
    MXL_P_BOOL,      /* int */
    MXL_P_OPT_BOOL,  /* int, -1 for None */
    MXL_P_ENUM,      /* int: index into .values; "None" may be one of them */
    MXL_P_DTYPE, /* int: mxl_dtype; "None" gives MXL_DTYPE_UNKNOWN; .values are the allowed names */
    MXL_P_SHAPE, /* mxl_tuple of integers; a single integer counts as one axis */
    MXL_P_OPT_SHAPE, /* the same, n = -1 for None */
    MXL_P_TUPLE_OPT, /* mxl_tuple whose entries may be MXL_NONE: bounds of slices */
    MXL_P_FLOATS,    /* mxl_floats; a single number counts as a list of one; n = -1 for None, if
                        that is the default */
    MXL_P_STRING     /* const char * */
} mxl_param_type;

typedef struct mxl_param {
    const char *name;
    int32_t min; /* MXL_P_INT with has_min: smallest allowed value */
    bool has_min : 1;
    bool sets_outputs : 1; /* the number of visible outputs depends on it */
    uint8_t type;          /* an mxl_param_type */
    uint16_t offset;       /* of the field in the parameter struct */
    const char *def;       /* the default as text; NULL: required */
    const char *doc;
    const char *const *values; /* MXL_P_ENUM, MXL_P_DTYPE: the allowed names, ends with NULL */
    const char *type_text;     /* type and default, for introspection; NULL: type_name, default */
    const char *type_name;     /* the type, for introspection; the default follows without quotes.
                                  "long" and "double" have 64 bits, other numbers 32; NULL: derived
                                  from `type` */
} mxl_param;

/* One row of a parameter table: the struct and its field, which has the parameter's name; the type;
 * the default as text; documentation; then further fields by their names. The same for a field of
 * another name than the parameter's. */
#define MXL_PARAM(params, field, param_type, ...)                                                  \
    MXL_PARAM_AS(#field, params, field, param_type, __VA_ARGS__)
#define MXL_PARAM_AS(param_name, params, field, param_type, ...)                                   \
    {.name = param_name, .type = param_type, .offset = offsetof(params, field), __VA_ARGS__}
#define MXL_REQUIRED    NULL                        /* as a default: there is none */
#define MXL_AT_LEAST(n) .min = (n), .has_min = true /* of MXL_P_INT */

typedef struct mxl_input {
    const char *name;
    const char *doc;
    const char *type_text; /* for introspection; NULL: "NDArray-or-Symbol" */
    int16_t after;         /* introspection prints it after that many parameters */
    bool mutated;          /* the operator writes into it (see also `mutates` of mxl_op) */
} mxl_input;

/* One row of an input table: name, documentation, then further fields by their names. */
#define MXL_INPUT(input_name, ...) {.name = #input_name, __VA_ARGS__}

typedef struct mxl_arity {
    int inputs;  /* in: -1, or the number that the caller gave; out: the number needed */
    int outputs; /* all, with those that only the vjp reads */
    int visible; /* outputs that a caller sees */
} mxl_arity;

/* The input and output of infer. Outputs given by the caller (out=) have their dtype and shape set,
 * others MXL_DTYPE_UNKNOWN and ndim -1. */
typedef struct mxl_infer {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    mxl_array *const *in; /* for their dtypes and shapes; values only where a shape depends on them
                             (_contrib_boolean_mask) */
    mxl_shape *out_shape;
    int *out_dtype;
    bool training;
    bool legacy_shape; /* MXNet's legacy mode: shapes () and sizes 0 mean unknown */
    bool scalars;      /* PyTorch's front end: a reduction over all axes has shape (), not (1,) */
    mxl_device device; /* of new outputs; preset to that of results of the first input */
} mxl_infer;

/* What becomes of uint64, whose carrier int64 has other numbers for its larger half
 * (engine/run/carry.h). */
typedef enum mxl_u64 {
    MXL_U64_NONE,     /* an error, unless there is an `u64_loop` */
    MXL_U64_WRAPS,    /* the same bits result of int64: sums, products, bits, movements */
    MXL_U64_INDEXED,  /* the same, and the last input has indices */
    MXL_U64_ORDERED,  /* results in uint64 are chosen among the inputs by their order: maxima */
    MXL_U64_COMPARED, /* results say something of the order: comparisons, positions */
} mxl_u64;

/* One execution. Inputs are contiguous unless the operator has kernels (element-wise ones walk
 * strides). */
typedef struct mxl_call {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    mxl_array **in;
    mxl_array **out;
    bool training;
    bool is_new;           /* output 0 was made for this call: no other thread can see it */
    struct mxl_kept *kept; /* of an operator that keeps a form: what it may keep; NULL: nothing */
} mxl_call;

/* The values that the vjp will read. The engine fills `wants`; `saves` marks `in` and `out`. */
typedef struct mxl_saves {
    const mxl_op *op;
    const void *params;
    int num_inputs, num_outputs;
    const bool *wants; /* [num_inputs]: a gradient of this input is wanted */
    bool *in;          /* [num_inputs] */
    bool *out;         /* [num_outputs] */
    bool training;
} mxl_saves;

/* Memory of one call's parameters, for their tuples and strings. */
typedef struct mxl_arena {
    size_t used;
    struct mxl_arena_block *more; /* further blocks, owned */
    mxl_ref *kept;                /* what the parameters point to, released with them; NULL: none */
    _Alignas(16) char room[1024];
} mxl_arena;

/* The texts of an operator that were compiled (op/shapes/shapes.h): a list that grows. */
struct mxl_shape_forms {
    _Atomic(struct mxl_shapes *) first;
};

struct mxl_op {
    const char *name; /* as in MXNet 1.9.1; `_mxl_*` if MXNet lacks it, which is not listed */
    const char *const *aliases; /* ends with NULL */
    /* NULL, or: the name of an operator of NumPy arrays, one by itself in MXNet, that this one is
     * too. A symbol that was made by it, or by an alias of NumPy's, keeps it in its file. */
    const char *numpy_name;
    const char *doc;
    const char *refused;     /* NULL, or: why mxlite lacks it; no call gets to it */
    const mxl_input *inputs; /* ends with {0}; NULL: one array, `data` */
    const mxl_param *params; /* ends with {0}; NULL: none */
    size_t params_size;
    const char *key_var_num_args; /* the parameter that counts the inputs, or NULL */
    /* NULL, or: takes the place of the parser, for an operator of which a call may have any
     * parameters (Custom). */
    int (*parse)(const mxl_op *op, int count, const char *const *keys, const char *const *values,
                 void *params, mxl_arena *arena);
    mxl_ref *(*held)(const void *params); /* NULL, or: the counted object that the struct of such an
                                             operator points to; its node keeps it as payload */
    int (*arity)(const void *params,
                 mxl_arity *arity); /* NULL: 1 output, as many inputs as listed */
    int (*check)(void *params);     /* NULL, or: refuses contradictory parameters; -1 */
    /* NULL, or, where the number of inputs varies: whether the operator writes into input i */
    bool (*mutates)(const mxl_call *call, int i);
    int (*infer)(mxl_infer *infer); /* of symbols sizes may be unknown: MXL_UNKNOWN_SIZE */
    int (*compute)(const mxl_call *call);
    const mxl_kernels *kernels; /* element-wise loops; compute is then mxl_run_loops */
    /* Or, for a composite: runs other operators and returns output 0, scoped; call->out[1] and on
     * get the others. Without infer a meta run of it gives dtypes and shapes. It must do the same
     * each time. Under a label the call is one node, whose backward runs and differentiates it
     * again. */
    mxl_array *(*compose)(mxl_scope *scope, const mxl_call *call);
    int (*grad)(mxl_grad *grad);         /* NULL: not differentiable */
    void (*saves)(mxl_saves *saves);     /* NULL: grad reads no values */
    bool (*is_loss)(const void *params); /* NULL, or: grad is the same whatever gradient arrives */
    int (*grad_kernel)(mxl_grad *grad);  /* grad in one pass, if backward is not recorded */
    int (*plan)(mxl_plan *plan);         /* of a movement: op/plan.h */
    const mxl_promotion *promotion;      /* NULL: inputs must have the dtypes that infer wants */
    const mxl_sparse_forms *sparse;      /* NULL: sparse inputs are replaced by dense copies */
    void (*forget)(mxl_ref *payload);    /* NULL, or: saved tensors were released */
#ifndef MXL_WITHOUT_BATCHES
    /* NULL, or: how a whole batch of calls runs (engine/batch/batch.h), where `by_rows`, `along`
     * and the text of shapes do not say it. Sets the results. 1: done, 0: not of these arrays, -1
     * with the error set. */
    int (*batch)(mxl_batch *batch, mxl_array **out);
#else
    bool batch; /* without that part: not used */
#endif
    /* Bits, as there are many descriptors. */
    bool makes_sparse : 1;  /* dense inputs may give sparse outputs: `sparse` is always asked */
    bool keeps_scalars : 1; /* a result without dimensions stays so in MXNet's legacy mode, which
                               its composition does not see */
    bool forgets_base : 1;  /* a view of it becomes an array without base: its input is temporary */
    bool wraps_node : 1;    /* its node's payload is a node whose vjp its own calls (CopySlices) */
    bool strided : 1;       /* compute takes inputs with any strides, without kernels */
    bool keeps_layout : 1;  /* as of those with kernels, a result may lie as its inputs do */
    bool in_place : 1;      /* compute may write an output that lies exactly over an input */
    bool keeps_form : 1;    /* compute keeps a form of input 1 between calls (op/kept.h) */
    bool draws : 1;        /* results may be random: another call with the same inputs has others */
    bool cheap : 1;        /* results are computed again rather than kept for backward, where a
                              graph is asked to (symbol/passes/remat.h); of one that draws, where
                              it has one output. With kernels or a plan it is one anyway */
    bool fails_late : 1;   /* an error of compute is reported where a result is read
                              (array/failure.h) */
    bool grad_updates : 1; /* grad updates inputs, also where no gradient arrives (BatchNorm) */
    bool by_rows : 1;      /* axis 0 of all inputs and results counts cases, each on its own */
    bool along : 1;        /* the same of any axis in front, with one more in all: `axis` alone
                              matters */
    bool writes_last : 1;  /* compute writes when it has read all inputs: outputs may lie anywhere,
                              and have any strides if it is `strided` */
    bool any_dtype : 1;    /* compute takes the dtypes without loops as they are: copies, casts */
    bool low : 1;          /* compute takes bfloat16 as it is, or returns 1 and has done nothing */
    bool keeps_result : 1; /* graphs keep the result of a parameter between predictions */
    bool needs_out : 1;    /* writes into an array that is given (out=), whose dtype, and shape
                              where no input tells, it takes: without one infer fails */
    uint8_t u64;           /* mxl_u64 */
    mxl_loop u64_loop;     /* element-wise, of uint64 where no way of `u64` does; in place of it */
    /* PyTorch's name of its nodes, and slots as in mxl_dialect. NULL: a name is made of the
     * operator's own, "_maximum_scalar" MaximumBackward0; and no slots. */
    const char *node_name, *node_slots;
    int graphs; /* it runs that many graphs, which a symbol's node holds; `refused` says why no
                   other call gets to it (_foreach) */

    /* ---- for symbols, which ask before they run; calls read `shapes` and `dtypes` at most ---- */

    /* How the shapes of inputs and outputs depend on one another, in the notation of
     * op/shapes/shapes.h: "data[N,C,*S] weight[num_filter,C] -> [N,num_filter,*S]". Graphs read it,
     * and with MXL_SHAPES calls do: no function says shapes again. `shapes_of` is NULL or gives the
     * text of parameters that choose among several (NULL: `shapes`, which the documentation shows);
     * each text is a constant of the program. */
    const char *shapes;
    const char *(*shapes_of)(const void *params);
    mxl_shape_forms *shape_forms;
    const mxl_size_function *size_functions; /* ends with {0} */
    /* The same of dtypes: a letter for each input, then '>', then one for each output. '.' says
     * nothing, nor does a missing letter; "A*" at the end of a side is for all that follow, and
     * letters in () are repeated for all there are. Those with the same capital are the same; of
     * them, in calls, F must be floating and W float32 or float64, and T of symbols is what the
     * parameter `dtype` names where nothing is known. w is F, and float32 where that is float16 or
     * bfloat16; h, f, d are floating dtypes of 16, 32 and 64 bits, i and l integers of 32 and 64, u
     * uint8, c int8, b bool; t is what the parameter `dtype` names, or A if it names none; s, q and
     * r are as t, but of bool s is int64, and of what is not floating q is float32 and r float64; a
     * (A) and n (int32) hold where nothing else is known, and say nothing; e is as a, but says A
     * where nothing else does. NULL: all have one. */
    const char *dtypes;
    const char *(*dtypes_of)(const void *params); /* NULL, or as shapes_of */
    /* What no text can say (op/rule.h); -1 with the error set where it contradicts. Shapes: in
     * addition to the text. Dtypes: in its place. */
    int (*complete_shapes)(mxl_rule *rule);
    int (*complete_dtypes)(mxl_rule *rule);
    bool completes_alone; /* these say all: symbols do not call infer */
    bool needs_all;       /* no result follows before all inputs are known, as in 1.9.1 */
    bool by_masks;        /* by_values (next) concerns inputs that are masks, of bool or uint8 */
    int by_values;        /* shapes of results depend on the values of the input of this number,
                             from 1 on, and of those behind it, if there are any */

    /* Names of inputs where the table lacks them: words; those in () are repeated with a number.
     * "(weight grad) lrs": weight_0, grad_0, weight_1, grad_1, lrs. Or, where a name depends on
     * parameters, a function; NULL: the name as without it. */
    const char *input_names;
    const char *(*input_name)(const void *params, int i);
    bool numbers_inputs; /* monitors see input0, input1 in place of the names in its table; that is
                            what they see of an operator without a table */
    /* Names of outputs: words, or a function. Others are "output" or, of several, "output1". */
    const char *output_names;
    const char *(*output_name)(const void *params, int i);
    /* How many outputs symbols count, where 1.9.1 has others that nobody sees than are here; or a
     * function of the parameters. 0: those of arity. */
    int total_outputs;
    int (*count_outputs)(const void *params);

    /* NULL, or: whether input i is an auxiliary state, also where calls do not write into it; and
     * how a variable that is input i begins, as its attribute __init__, or NULL. */
    bool (*is_state)(const void *params, int i);
    const char *(*first_value)(const void *params, int i);
    bool mixed_precision; /* output i is input i in another dtype; symbols can go without it */
    bool axis_was_none;   /* files that MXNet wrote before 0.9.5 have axis -1 for None */
};

/* Groups of fields of a descriptor: its input table; the parameter struct and its table, with the
 * rows or by name; a struct that is its only parameter; element-wise loops. */
#define MXL_INPUTS(...)                                                                            \
    .inputs = (const mxl_input[])                                                                  \
    {                                                                                              \
        __VA_ARGS__, {0}                                                                           \
    }
#define MXL_PARAMS_OF(type, ...)                                                                   \
    .params = (const mxl_param[]){__VA_ARGS__, {0}}, .params_size = sizeof(type)
#define MXL_PARAMS(type, table) .params = table, .params_size = sizeof(type)
#define MXL_ONLY_PARAM(field_type, param_name, param_type, ...)                                    \
    MXL_PARAMS_OF(field_type, {.name = #param_name, .type = param_type, .offset = 0, __VA_ARGS__})
#define MXL_LOOPS(id) .compute = mxl_run_loops, .kernels = &id##_kernels

/* The rule of ops/batch/ that the field `batch` has, in a library with that part. */
#ifndef MXL_WITHOUT_BATCHES
#define MXL_BATCH(rule) .batch = (rule)
#else
#define MXL_BATCH(rule) .batch = false
#endif

/* Shapes and dtypes of calls are what the texts say: `shapes` and `dtypes`. MXL_SHAPES_TABLE is for
 * operators whose infer calls mxl_infer_said and then checks what no text says. */
#define MXL_SHAPES_TABLE(...)                                                                      \
    .shapes = __VA_ARGS__, .shape_forms = &(mxl_shape_forms)                                       \
    {                                                                                              \
        NULL                                                                                       \
    }
#define MXL_SHAPES(...) .infer = mxl_infer_said, MXL_SHAPES_TABLE(__VA_ARGS__)

extern const mxl_input mxl_inputs_data[]; /* data */

static inline const mxl_input *mxl_op_inputs(const mxl_op *op)
{
    return op->inputs != NULL ? op->inputs : mxl_inputs_data;
}

static inline const mxl_param *mxl_op_params(const mxl_op *op)
{
    static const mxl_param none[] = {{0}};

    return op->params != NULL ? op->params : none;
}

/* Element-wise compute for every operator with kernels (ops with .kernels name it in .compute): one
 * output, 1 to MXL_LOOP_INPUTS inputs that broadcast to it. The dtype of input 0 chooses the loop;
 * all inputs and the output have it. An input may share memory with the output. */
int mxl_run_loops(const mxl_call *call);

/* The same with the loops of another operator, in place of the call's: `count` inputs, one output.
 */
int mxl_run_kernels(const mxl_call *call, const mxl_kernels *kernels, int count, mxl_array **in,
                    mxl_array *out);

/* In MXNet's legacy mode, gives output i the shape (1,) in place of (), unless an input, or the
 * array to write to (`given`, may be NULL), has no dimensions either. Called after `infer`. */
void mxl_infer_legacy(mxl_infer *infer, int i, const mxl_array *given);

/* Shared checks; -1 with the error set, which begins with the operator's name: two inputs have one
 * dtype, an input has a floating dtype, or float32 or float64; and an axis, which may be negative,
 * counted from 0. */
int mxl_check_dtypes(const mxl_op *op, const mxl_array *a, const mxl_array *b);
int mxl_check_float(const mxl_op *op, const mxl_array *x);
int mxl_check_full_float(const mxl_op *op, const mxl_array *x);
int mxl_check_axis(const mxl_op *op, int64_t axis, int ndim);

/* The number, which was said as float64, is not one of uint64 that may have lost digits. */
int mxl_check_digits(const char *op_name, double number, int dtype);

/* The same of a list: it has `count` entries or none, each from `least` to INT32_MAX. */
int mxl_check_list(const char *op_name, const char *what, mxl_tuple list, int count, int64_t least);

/* Shared `infer` rules. Errors begin with the operator's name. */
int mxl_infer_same(mxl_infer *infer);       /* all inputs have one shape and dtype; outputs alike */
int mxl_infer_broadcast(mxl_infer *infer);  /* two inputs of one dtype; NumPy's broadcast */
int mxl_infer_like_first(mxl_infer *infer); /* outputs like input 0, other inputs are ignored */
int mxl_infer_float_same(mxl_infer *infer); /* mxl_infer_same, floating dtypes only */
int mxl_infer_said(mxl_infer *infer);       /* the texts of MXL_SHAPES and `dtypes` */
/* Gives every output a dtype and a shape; 0. */
int mxl_infer_set(mxl_infer *infer, int dtype, int ndim, const int64_t *shape);
/* Output 0 gets input 0's dtype and the shape of a parameter. -1 with the error set if the list is
 * not a valid shape. */
int mxl_infer_to(mxl_infer *infer, mxl_tuple shape);

/* Appends sizes to the shape of output 0; -1 with the error set for too many axes. */
int mxl_infer_append(mxl_infer *infer, int ndim, const int64_t *dims);

/* Shared `arity` rules: one input, two outputs, which are both visible or the first one; the given
 * inputs, at least one. */
int mxl_arity_two(const void *params, mxl_arity *arity);
int mxl_arity_hidden(const void *params, mxl_arity *arity);
int mxl_arity_given(const void *params, mxl_arity *arity);

/* Shared `saves` rules. */
void mxl_saves_input(mxl_saves *saves);            /* input 0 */
void mxl_saves_second(mxl_saves *saves);           /* input 1 */
void mxl_saves_inputs(mxl_saves *saves);           /* all inputs */
void mxl_saves_output(mxl_saves *saves);           /* output 0 */
void mxl_saves_outputs(mxl_saves *saves);          /* all outputs */
void mxl_saves_input_and_output(mxl_saves *saves); /* input 0 and output 0 */
void mxl_saves_index(mxl_saves *saves); /* input 1, where the gradient of input 0 is wanted */
void mxl_saves_other(
    mxl_saves *saves); /* of two inputs: each one if the gradient of the other is wanted */

void mxl_arena_init(mxl_arena *arena);
void *mxl_arena_alloc(mxl_arena *arena, size_t bytes); /* NULL with the error set */
void mxl_arena_clear(mxl_arena *arena);

/* -1 with the reason for an operator that is refused. A node of a symbol may be one with graphs. */
int mxl_op_check_refused(const mxl_op *op);

/* Parsing fills the whole parameter struct from text, with defaults for missing values. Tuples and
 * strings are stored in `arena`. -1 for unknown, repeated, malformed or missing required
 * parameters; an operator without parameters ignores all. -1 for an operator that is refused, but
 * for one with graphs. */
int mxl_params_parse(const mxl_op *op, int count, const char *const *keys,
                     const char *const *values, void *params, mxl_arena *arena);
/* Whether the parameter, of MXL_P_DTYPE, may be that dtype. */
bool mxl_param_takes_dtype(const mxl_param *param, int dtype);
/* Parses the value of one parameter into its field. */
int mxl_param_parse(const mxl_op *op, const mxl_param *param, const char *text, void *params,
                    mxl_arena *arena);
const mxl_param *mxl_param_find(const mxl_op *op, const char *name); /* or NULL, without an error */
/* -1 with the error of a parameter that the operator has not. */
int mxl_param_unknown(const mxl_op *op, const char *name);

/* Copies the struct with its tuples and strings: the bytes of a self-contained copy, and the copy
 * at dst (aligned to 16, of that size). */
size_t mxl_params_bytes(const mxl_op *op, const void *params);
void mxl_params_copy(const mxl_op *op, void *dst, const void *params);

/* Appends a parameter's value in the syntax of the parser: "True", "(2, 3)", "0.1"; -1 with the
 * error set. */
int mxl_param_print(const mxl_param *param, const void *params, mxl_str *out);
/* 1 if the parameter has its default value, else 0; -1 with the error set. */
int mxl_param_is_default(const mxl_op *op, const mxl_param *param, const void *params);

/* The type of a parameter in the text of MXSymbolGetAtomicSymbolInfo, e.g. "int, optional,
 * default='1'". Writes into buf; returns buf. */
char *mxl_param_type_text(const mxl_param *param, char *buf, size_t size);

enum { MXL_NAME = 32 }; /* room for the name of an input or output */

/* How many outputs symbols count of an operator that has `outputs`. */
int mxl_op_total_outputs(const mxl_op *op, const void *params, int outputs);
/* The name of output i, of an operator that names it; NULL for others. In `room`. */
const char *mxl_op_output_name(const mxl_op *op, const void *params, int i, char room[MXL_NAME]);
/* The name of input i of as many as the call has: "weight", or "arg2" where nothing names it; in
 * `room`. */
const char *mxl_op_input_name(const mxl_op *op, const void *params, int num_inputs, int i,
                              char room[MXL_NAME]);

/* The registry: name or alias -> operator. Numbers are dense and stable within a process. */
const mxl_op *mxl_op_find(const char *name); /* NULL with the error set */
/* Whether a name by which the operator was found means its `numpy_name`. */
bool mxl_op_is_numpys(const mxl_op *op, const char *name);
const mxl_op *mxl_op_at(int number); /* number < mxl_op_count() */
int mxl_op_number(const mxl_op *op); /* -1 for an operator outside the registry */
int mxl_op_count(void);
/* All public names (with aliases, without `_mxl_*`), sorted. Returns their number. The list stays
 * as it is when operators are added. */
int mxl_op_names(const char *const **names);
/* Adds operators for the life of the process, whose descriptors stay where they are: all of them,
 * or none with -1 if there is one of such a name already. Safe beside calls of other threads. */
int mxl_op_add(int count, const mxl_op *const *ops);

enum { MXL_OPS_MOST = 1 << 16 }; /* operators of a process */

/* Hands over all operators, before the first lookup: families, each a list that ends with NULL, as
 * does the list of them. ops/all.c calls it as the library is loaded. */
void mxl_registry_begin(const mxl_op *const *const *families);

#endif
