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
};

static const char *text(fuzz *f)
{
    return texts[next(f, sizeof texts / sizeof *texts)];
}

static AtomicSymbolCreator operator(fuzz *f)
{
    uint32_t count = 0;
    AtomicSymbolCreator *all = NULL;

    if (MXSymbolListAtomicSymbolCreators(&count, &all) != 0 || count == 0)
        die("no operators");
    return all[next(f, 256) * 7u % count];
}

/* Names of the operator's own parameters, mostly; and how many inputs it takes, mostly. */
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
        *num_inputs = (int)next(f, 4);
    else
        *num_inputs = inputs > 3 ? 3 : (int)inputs;
    for (int i = 0; i < count; i++) {
        keys[i] =
            own > 0 && next(f, 64) != 0 ? names[inputs + next(f, 16) % own] : "no_such_parameter";
        values[i] = text(f);
    }
    return count;
}

#endif
