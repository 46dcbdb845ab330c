/* The notation of shapes: one text says what the shapes of an operator's inputs and outputs have to
 * do with one another, for calls (which know all inputs), for graphs (which know some shapes, or
 * parts of them), for errors and for the documentation.
 *
 *     data[N,C,*S:kernel] weight[num_filter,C/num_group,*kernel] bias[num_filter]
 *         -> [N,num_filter,*window(S)]
 *
 * Inputs stand before the arrow, with their names, and outputs behind it; each has its axes in
 * brackets. Inputs that a call has not are left out from the end.
 *
 *     N  Rows        a capital begins a size that the call decides: the same wherever it stands
 *     *S             any number of axes, with the same sizes wherever it stands; *S:kernel: as many
 *                    as the parameter `kernel` has entries
 *     3  num_filter  a size that is fixed, or that a parameter (an integer) has
 *     *kernel        as many axes as a parameter (a list) has entries, of these sizes
 *     C*4  C/groups  products and quotients, which must be whole; found in both directions
 *     prod(S)        the product of the sizes of *S, 1 for none; or of a parameter (a list)
 *     len(shape)     how many entries a parameter (a list) has
 *     window(X,...)  a function of the operator (`size_functions`) of sizes, or with *window(S) of
 *                    each size of *S, or of a parameter
 *     C@axis         this size stands where the parameter `axis` says, counted from either end
 *     [*A|1]         one axis of size 1 where *A is empty
 *     [A]|[A,1]      either; where both are possible the first one, unless the array's rank is all
 *                    that is known of it
 *     .              an array of any shape; A for an array is short for [*A], in a group for [*A_i]
 *     (a[*S_i] b[])... a group that is repeated, on each side at most once: in each repetition what
 *                    ends with _i has another size. A* is short for (A)...
 *     count  sum(D_i) how many repetitions there are; a sum over all
 *
 * A bracket may have several *S, if all but one are known from elsewhere, or stand on two sides of
 * an @. */
#ifndef MXL_OP_SHAPES_H
#define MXL_OP_SHAPES_H

#include "op/op.h"

/* A function that texts name. `i` counts the sizes of the list that it is called for. */
typedef struct mxl_size_ask {
    const mxl_op *op;
    const void *params;
    int i;
    int64_t arg[3]; /* all known: -1 occurs in `back` alone, as arg[0] */
} mxl_size_ask;

struct mxl_size_function {
    const char *name;
    /* Sets the size; -1 with the error set where there is none. */
    int (*size)(const mxl_size_ask *ask, int64_t *size);
    /* NULL, or: arg[0] from the size; -1: it does not follow. */
    int64_t (*back)(const mxl_size_ask *ask, int64_t size);
};

/* ---- texts, compiled ---- */

enum {
    MXL_SHAPES_SIZES = 12,
    MXL_SHAPES_LISTS = 6,
    MXL_SHAPES_TERMS = 56,
    MXL_SHAPES_ENTRIES = 20,
    MXL_SHAPES_FACTORS = 3,
    MXL_SHAPES_READS = 12, /* parameters */
    MXL_SHAPES_WORDS = 48  /* of what memo.c keeps */
};

/* What a factor of a size is: a number, the size of this number, a parameter, the length of a list
 * parameter, the product of a list, the number of repetitions, the sum of a size over them. */
typedef enum mxl_factor_kind {
    MXL_BY_NUMBER,
    MXL_BY_SIZE,
    MXL_BY_PARAM,
    MXL_BY_LENGTH,
    MXL_BY_PRODUCT,
    MXL_BY_COUNT,
    MXL_BY_SUM,
    MXL_BY_PARAM_PRODUCT,
    MXL_BY_LIST, /* of *function(S): one size of the list, or of the parameter */
    MXL_BY_PARAM_LIST
} mxl_factor_kind;

typedef struct mxl_factor {
    uint8_t kind;
    bool divides;
    int32_t value; /* number of the size or list; offset of the parameter; the number itself */
} mxl_factor;

/* A part of the text. */
typedef struct mxl_piece {
    uint16_t at, length;
} mxl_piece;

/* One size of a bracket, or with `many` a list of them. `plain` are those of one size's name, which
 * most are. */
typedef struct mxl_term {
    bool plain;
    bool many;
    int8_t list;     /* of `many`: the list, -1: another */
    int8_t function; /* number of the function, whose arguments the factors are; -1: none */
    int16_t tuple;   /* of `many`: offset of the parameter, -1: another */
    int16_t axis;    /* @: offset of the parameter, -1: none */
    uint8_t factors;
    mxl_piece text;
    mxl_factor factor[MXL_SHAPES_FACTORS];
} mxl_term;

typedef struct mxl_shape_entry {
    bool any;                    /* says nothing */
    bool or_one;                 /* [*A|1]: one axis of size 1 where there would be none */
    bool as_input;               /* of an output: an input has the same text */
    bool or_next;                /* the entry behind it is another form of the same array */
    uint8_t first, terms, lists; /* of the terms so many are lists */
    int8_t at;                   /* the term with @, counted from `first`; -1: none */
    mxl_piece name, text;        /* "data" and "[N,C]" */
} mxl_shape_entry;

/* Entries (by their numbers) before, in and behind the group. */
typedef struct mxl_side {
    uint8_t entry[MXL_SHAPES_ENTRIES];
    uint8_t before, group, after;
} mxl_side;

/* A parameter that decides: an integer of 8 or 4 bytes, or a list. */
typedef struct mxl_shape_read {
    uint16_t offset;
    uint8_t bytes; /* 0: a list */
} mxl_shape_read;

/* The last call: what it was, and the dtypes and shapes of its results (memo.c). */
typedef struct mxl_shape_memo {
    atomic_flag busy; /* a thread reads or writes it */
    bool full;
    int64_t word[MXL_SHAPES_WORDS], result[MXL_SHAPES_WORDS];
} mxl_shape_memo;

typedef struct mxl_shapes {
    struct mxl_shapes *next;
    const char *text;
    mxl_side side[2];
    uint8_t sizes, lists, terms, entries, groups;
    uint16_t each_size, each_list; /* bits: those that differ in each repetition */
    mxl_piece size_name[MXL_SHAPES_SIZES], list_name[MXL_SHAPES_LISTS];
    int16_t list_as[MXL_SHAPES_LISTS]; /* offset of the parameter that has as many entries, or -1 */
    mxl_shape_entry entry[MXL_SHAPES_ENTRIES];
    mxl_term term[MXL_SHAPES_TERMS];
    int8_t reads; /* -1: parameters that memo.c cannot compare decide */
    mxl_shape_read read[MXL_SHAPES_READS];
    mxl_shape_memo memo;
} mxl_shapes;

/* Compiles; -1 with the error set, which says where, for a text that is none. */
int mxl_shapes_compile(const mxl_op *op, const char *text, mxl_shapes *shapes);

/* ---- what is known ---- */

/* A call, or a node of a graph: one of the two. */
typedef struct mxl_shape_facts {
    const mxl_op *op;
    const void *params;
    int num_in, num_out;
    mxl_infer *call;
    mxl_rule *rule;
} mxl_shape_facts;

/* Finds what follows from the text, and completes the shapes: of a call those of all outputs; -1
 * with the error set where something contradicts, and nothing is changed. */
int mxl_shapes_solve(const mxl_shapes *shapes, const mxl_shape_facts *facts);

/* ---- the last call ---- */

/* Sets the results if all that decides about them is as in the last call. */
bool mxl_memo_find(mxl_shapes *shapes, mxl_infer *infer);
/* Keeps what decides about a call, and its results. */
void mxl_memo_keep(mxl_shapes *shapes, const mxl_infer *infer);
/* The call reads this parameter; also all of the operator, whose functions may. */
void mxl_memo_read(mxl_shapes *shapes, const mxl_param *param);
void mxl_memo_read_all(mxl_shapes *shapes, const mxl_op *op);

/* The text of a call with these parameters; NULL: there is none. */
const char *mxl_op_shapes(const mxl_op *op, const void *params);
/* The same of dtypes; "A*>A*" where nothing is said. */
const char *mxl_op_dtypes(const mxl_op *op, const void *params);

#endif
