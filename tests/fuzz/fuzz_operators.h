/* How the bytes of an input of fuzz_api.c are read: operators and their parameters. */
#ifndef FUZZ_OPERATORS_H
#define FUZZ_OPERATORS_H

#include "fuzz_input.h"

static const char *const texts[] = {
    "0",
    "1",
    "-1",
    "2",
    "3",
    "(0,)",
    "(1, 2)",
    "()",
    "None",
    "True",
    "False",
    "0.5",
    "-2.5",
    "1e308",
    "nan",
    "inf",
    "",
    "abc",
    "float32",
    "int32",
    "uint8",
    "float64",
    "(2, 3)",
    "(0, -1)",
    "(-1, 0)",
    "(-2,)",
    "(-3, -4, 1, -1)",
    "(1, 1, 1, 1, 1, 1)",
    "9223372036854775807",
    "-9223372036854775808",
    "(4611686018427387904, 4)",
    "(1000000, 1000000)",
    "((1, 2), (3, 4))",
    "(None, 1)",
    "[0, 1]",
    "2147483648",
    "add",
    "write",
    "csr",
    "row_sparse",
    "default",
};

/* Operators with forms for sparse arrays, and what makes them. */
static const char *const sparse_names[] = {
    "dot",
    "dot",
    "cast_storage",
    "cast_storage",
    "_sparse_retain",
    "_square_sum",
    "elemwise_add",
    "elemwise_mul",
    "elemwise_div",
    "broadcast_mul",
    "broadcast_div",
    "add_n",
    "clip",
    "slice",
    "take",
    "Concat",
    "where",
    "Embedding",
    "sgd_update",
    "sgd_mom_update",
    "adam_update",
    "ftrl_update",
    "_sparse_adagrad_update",
    "_contrib_group_adagrad_update",
    "_copyto",
    "zeros_like",
    "_mul_scalar",
    "_plus_scalar",
    "_scatter_elemwise_div",
    "_scatter_plus_scalar",
    "square",
    "sum",
    "mean",
    "norm",
    "_contrib_getnnz",
    "_contrib_edge_id",
    "_contrib_dgl_adjacency",
    "_contrib_dgl_subgraph",
    "_contrib_dgl_graph_compact",
    "_zeros",
};

static const char *text(fuzz *f)
{
    return texts[next(f, sizeof texts / sizeof *texts)];
}

static AtomicSymbolCreator operator(fuzz *f)
{
    uint32_t count = 0;
    AtomicSymbolCreator *all = NULL;
    OpHandle named = NULL;
    unsigned number = next(f, 256);

    if (number % 4 == 0) {
        if (NNGetOpHandle(sparse_names[number / 4 % (sizeof sparse_names / sizeof *sparse_names)],
                          &named) != 0)
            die("no such operator");
        return (AtomicSymbolCreator)named;
    }
    if (MXSymbolListAtomicSymbolCreators(&count, &all) != 0 || count == 0)
        die("no operators");
    return all[(number * 256u + next(f, 256)) % count];
}

/* Names of the operator's own parameters, mostly; and how many inputs it takes, mostly:
 * at most 4. */
static int parameters(fuzz *f, AtomicSymbolCreator op, const char **keys, const char **values,
                      int *num_inputs)
{
    const char *name, *doc, **names, **types, **docs, *count_key, *result;
    uint32_t num = 0, inputs = 0, own;
    int count = (int)next(f, 4);

    if (MXSymbolGetAtomicSymbolInfo(op, &name, &doc, &num, &names, &types, &docs, &count_key,
                                    &result) != 0)
        die("an operator without an info");
    while (inputs < num && strncmp(types[inputs], "NDArray", 7) == 0)
        inputs++;
    own = num - inputs;
    if (count_key[0] != '\0' || next(f, 16) == 0)
        *num_inputs = (int)next(f, 5);
    else
        *num_inputs = inputs > 4 ? 4 : (int)inputs;
    for (int i = 0; i < count; i++) {
        keys[i] =
            own > 0 && next(f, 64) != 0 ? names[inputs + next(f, 16) % own] : "no_such_parameter";
        values[i] = text(f);
    }
    return count;
}

#endif
