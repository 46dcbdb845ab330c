/* What the bytes of an input of fuzz_api.c stand for: handles, valid and not, operators and their
 * parameters. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <mxlite/mxlite.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 12 };

typedef struct fuzz {
    const uint8_t *data;
    size_t left;
    NDArrayHandle slots[SLOTS];
    int functions; /* custom functions recorded and not deleted */
} fuzz;

static void die(const char *what)
{
    fprintf(stderr, "fuzz_api: %s\n", what);
    abort();
}

/* What a failing call must leave. */
static int checked(int status)
{
    if (status != 0 && status != -1)
        die("a status that is neither 0 nor -1");
    if (status == -1 && (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL))
        die("a failure without its one line");
    return status;
}

static unsigned next(fuzz *f, unsigned below)
{
    if (f->left == 0)
        return 0;
    f->left--;
    return *f->data++ % below;
}

/* ---- handles ---- */

static NDArrayHandle pick(fuzz *f)
{
    unsigned kind = next(f, 256);
    uintptr_t wild = 0;

    if (kind == 0)
        return NULL;
    if (kind == 1) {
        for (int i = 0; i < 7; i++)
            wild = wild << 8 | next(f, 256);
        return (NDArrayHandle)(wild | 1);
    }
    if (kind == 2) {
        OpHandle op = NULL;

        (void)NNGetOpHandle("exp", &op);
        return op;
    }
    return f->slots[next(f, SLOTS)];
}

/* Ends what would keep an array alive through its own gradient, then frees it. */
static int discard(NDArrayHandle array)
{
    NDArrayHandle none = NULL;
    uint32_t req = 0;

    if (array != NULL && MXAutogradMarkVariables(1, &array, &req, &none) != 0)
        checked(-1);
    return checked(MXNDArrayFree(array));
}

static void put(fuzz *f, NDArrayHandle array)
{
    unsigned slot = next(f, SLOTS);

    if (array == NULL) {
        checked(-1);
        return;
    }
    (void)discard(f->slots[slot]); /* stale ones refuse */
    f->slots[slot] = array;
}

/* ---- parameters ---- */

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
