/* Expressions and the passes that run them. Between array/expression.c, which makes expressions and
 * guards them with its lock, and pass.c, which chooses what runs together. Functions with "held" in
 * their names are called with that lock held. */
#ifndef MXL_ARRAY_PASS_H
#define MXL_ARRAY_PASS_H

#include "array/array.h"
#include "kernel/elementwise/chain.h"

typedef struct mxl_expression mxl_expression;

/* An input: an array's elements, or a number that the loop applies to all elements. */
typedef struct mxl_operand {
    mxl_expression *reader;
    mxl_storage *storage;             /* kept, unless it is the reader's target; NULL: a number */
    int64_t offset;                   /* bytes */
    struct mxl_operand *next, **link; /* of the storage's readers */
    bool is_strided;
    mxl_strided strided;
    _Alignas(8) char number[8];
} mxl_operand;

/* A deferred call: a loop, or a reduction or another call that takes tiles (its taker). Its target
 * owns it. No other expression reads what a waiting taker makes. */
struct mxl_expression {
    mxl_storage *target;
    mxl_reduce_tiles *taker; /* NULL: a loop */
    mxl_loop row;
    mxl_opcode opcode; /* what the loop computes, if it is an instruction */
    const char *name;  /* of what it computes; lives as long as the process */
    int weight;
    int length; /* how many expressions must run with this one, itself counted; at most */
    bool edits; /* it, or what must run with it, replaces bytes that a part of that pass reads */
    int num_in;
    bool one_dtype;               /* the result has that of the inputs */
    size_t in_size, out_size;     /* of an element */
    int64_t n;                    /* elements of the inputs */
    int64_t made;                 /* bytes of the result */
    size_t bytes;                 /* of this block */
    uint64_t number;              /* in the order in which expressions are made */
    bool running;                 /* in a pass that a thread runs now */
    int rank;                     /* in a pass; -1: in none */
    bool extra;                   /* in a pass, which runs without it too */
    mxl_expression *next, **link; /* of all that wait */
    void *params;
    mxl_operand in[];
};

/* Expressions that run together: one, those that it needs, and others that read what these make. */
typedef struct mxl_pass {
    int count, weight, num_links;
    mxl_expression *list[MXL_CHAIN_LINKS]; /* in the order in which they were made */
    bool stored[MXL_CHAIN_LINKS];          /* something outside the pass refers to the result */
    int last[MXL_CHAIN_LINKS];             /* the last that reads the result; -1: none */
    int copied_by[MXL_CHAIN_LINKS];        /* the copy that the result is written to; -1: none */
    int taken[MXL_CHAIN_LINKS];            /* a reduction's input; -1: it is in memory */
    bool again[MXL_CHAIN_LINKS];           /* a reduction is to be computed from its stored input */
    mxl_stream result[MXL_CHAIN_LINKS];
    mxl_link links[MXL_CHAIN_LINKS];
} mxl_pass;

/* What a storage has beside its bytes; NULL: nothing. */
static inline mxl_extra *mxl_extra_of(mxl_storage *storage)
{
    return atomic_load_explicit(&storage->extra, memory_order_acquire);
}

/* ---- left.c: the memory that expressions own ---- */

/* Counts a storage's bytes as left to expressions, or as those of a result that waits, or no
 * longer: called after a change. */
void mxl_left_held_weigh(mxl_storage *storage);

/* Counts memory of an expression's own; negative when it is freed. */
void mxl_left_held_add(int64_t bytes);

/* The expression whose pass frees the memory that was left to expressions first; NULL: there is no
 * such memory. */
mxl_expression *mxl_left_held_holder(void);

/* Whether more bytes are left to expressions than there may be (MXL_MOST_LEFT). */
bool mxl_left_held_too_much(void);

/* ---- pass.c ---- */

/* Chooses what runs with `wanted`, and marks it as running. False, with nothing marked: a part of
 * what `wanted` needs runs in another thread. */
bool mxl_pass_held_collect(mxl_pass *p, mxl_expression *wanted);

/* Fills links. */
void mxl_pass_held_plan(mxl_pass *p);

/* Runs the loops; the profiler, where it runs, sees them if `measured`. The lock need not be held:
 * nothing of a running expression changes. False: the pass is to be planned and run once more, with
 * the inputs of some reductions stored. */
bool mxl_pass_run(mxl_pass *p, bool measured);

#endif
