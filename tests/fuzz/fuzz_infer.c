/* Random operators with random parameters, composed into graphs of a few nodes or not at all, and
 * asked by every function that infers, with random shapes and dtypes of some variables: a clear
 * error or an answer; never a crash or a loss. Built with its own main (make fuzz), or with
 * -fsanitize=fuzzer -DFUZZ_NO_MAIN.
 */
#define FUZZ_NAME "fuzz_infer"
#include "fuzz_operators.h"

enum { MOST_NODES = 6, MOST_KNOWN = 4, MOST_AXES = 6 };

/* ---- graphs ---- */

static SymbolHandle variable(fuzz *f)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    SymbolHandle made = NULL;
    const char *notes[] = {"(0, 3)", "(2,)", "(-1, 4)", "()", "abc", "(2, 3, 4, 5)", "7"};

    (void)checked(MXSymbolCreateVariable(names[next(f, 5)], &made));
    if (made != NULL && next(f, 8) == 0)
        (void)checked(MXSymbolSetAttr(made, "__shape__", notes[next(f, 7)]));
    if (made != NULL && next(f, 8) == 0)
        (void)checked(MXSymbolSetAttr(made, "__dtype__", notes[4 + next(f, 3)]));
    return made;
}

/* One output of an earlier node, or a variable; new. */
static SymbolHandle input(fuzz *f, SymbolHandle *nodes, int count)
{
    SymbolHandle chosen = NULL;
    uint32_t outputs = 0;

    if (count == 0 || next(f, 3) == 0)
        return variable(f);
    if (checked(MXSymbolGetNumOutputs(nodes[next(f, (unsigned)count)], &outputs)) != 0)
        return variable(f);
    (void)checked(MXSymbolGetOutput(nodes[next(f, (unsigned)count)], next(f, 4), &chosen));
    return chosen != NULL ? chosen : variable(f);
}

/* A node, composed or not; NULL where its parameters are refused. */
static SymbolHandle node(fuzz *f, SymbolHandle *nodes, int count)
{
    AtomicSymbolCreator op = operator(f);
    const char *keys[4], *values[4];
    SymbolHandle made = NULL, inputs[6];
    int num_inputs = 0, given = parameters(f, op, keys, values, &num_inputs);

    if (checked(MXSymbolCreateAtomicSymbol(op, (uint32_t)given, keys, values, &made)) != 0)
        return NULL;
    if (next(f, 10) == 0)
        return made;
    num_inputs = next(f, 4) == 0 ? (int)next(f, 6) : num_inputs;
    for (int i = 0; i < num_inputs; i++)
        inputs[i] = input(f, nodes, count);
    (void)checked(
        MXSymbolCompose(made, next(f, 8) == 0 ? "a" : "n", (uint32_t)num_inputs, NULL, inputs));
    for (int i = 0; i < num_inputs; i++)
        (void)checked(MXSymbolFree(inputs[i]));
    if (next(f, 12) == 0)
        (void)checked(MXSymbolSetAttr(made, given > 0 ? keys[0] : "axis", text(f)));
    return made;
}

/* ---- what is known ---- */

typedef struct known {
    const char *keys[MOST_KNOWN];
    uint32_t count, places[MOST_KNOWN + 1], sizes32[MOST_KNOWN * MOST_AXES];
    int64_t places64[MOST_KNOWN + 1], sizes64[MOST_KNOWN * MOST_AXES];
    int sizes[MOST_KNOWN * MOST_AXES], dtypes[MOST_KNOWN];
} known;

static void say(fuzz *f, SymbolHandle symbol, known *k)
{
    static const int sizes[] = {0, -1, 1, 2, 3, 4, 5, 8, 2, 3, 1 << 20, 2147483647};
    uint32_t names_count = 0;
    const char **names = NULL;

    memset(k, 0, sizeof *k);
    if (checked(MXSymbolListArguments(symbol, &names_count, &names)) != 0 || names_count == 0)
        return;
    for (uint32_t i = 0; i < MOST_KNOWN && next(f, 4) != 0; i++) {
        uint32_t ndim = next(f, MOST_AXES + 1), at = k->places[i];

        k->keys[i] = names[next(f, 64) % names_count];
        k->dtypes[i] = (int)next(f, 10) - 1;
        for (uint32_t d = 0; d < ndim; d++) {
            k->sizes[at + d] = sizes[next(f, 128) % (next(f, 16) == 0 ? 12 : 10)];
            k->sizes64[at + d] = k->sizes[at + d];
            k->sizes32[at + d] = (uint32_t)k->sizes[at + d];
        }
        k->places64[i + 1] = k->places[i + 1] = at + ndim;
        k->count++;
    }
}

static void infer(fuzz *f, SymbolHandle symbol, known *k)
{
    uint32_t n[3], n32[3];
    size_t n64[3];
    const int *ndim[3], **sizes[3], *dtypes[3];
    const int64_t **sizes64[3];
    const uint32_t *ndim32[3], **sizes32[3];
    int complete;

#define ASK(function, places, data, counts, ranks, results)                                        \
    (void)checked(function(symbol, k->count, k->keys, places, data, &counts[0], &ranks[0],         \
                           &results[0], &counts[1], &ranks[1], &results[1], &counts[2], &ranks[2], \
                           &results[2], &complete))
    switch (next(f, 4)) {
    case 0:
        ASK(MXSymbolInferShape, k->places, k->sizes32, n32, ndim32, sizes32);
        ASK(MXSymbolInferShapePartial, k->places, k->sizes32, n32, ndim32, sizes32);
        break;
    case 1:
        ASK(MXSymbolInferShapeEx64, k->places64, k->sizes64, n64, ndim, sizes64);
        ASK(MXSymbolInferShapePartialEx64, k->places64, k->sizes64, n64, ndim, sizes64);
        break;
    default:
        ASK(MXSymbolInferShapeEx, k->places, k->sizes, n, ndim, sizes);
        ASK(MXSymbolInferShapePartialEx, k->places, k->sizes, n, ndim, sizes);
    }
    (void)checked(MXSymbolInferType(symbol, k->count, k->keys, k->dtypes, &n[0], &dtypes[0], &n[1],
                                    &dtypes[1], &n[2], &dtypes[2], &complete));
    (void)checked(MXSymbolInferTypePartial(symbol, k->count, k->keys, k->dtypes, &n[0], &dtypes[0],
                                           &n[1], &dtypes[1], &n[2], &dtypes[2], &complete));
}

/* ---- executors and cached operators ---- */

static void free_all(uint32_t count, NDArrayHandle *arrays)
{
    for (uint32_t i = 0; i < count; i++)
        (void)checked(MXNDArrayFree(arrays[i]));
}

static void bind(fuzz *f, SymbolHandle symbol, known *k)
{
    NDArrayHandle *args, *grads, *states;
    ExecutorHandle executor;
    const char *req = next(f, 2) == 0 ? "write" : "null";
    uint32_t num_args, num_states;

    if (checked(MXExecutorSimpleBindEx(symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, k->count,
                                       k->keys, k->sizes, k->places, next(f, 2) * k->count, k->keys,
                                       k->dtypes, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
                                       NULL, &num_args, &args, &grads, &num_states, &states, NULL,
                                       &executor)) != 0)
        return;
    free_all(num_args, args);
    free_all(num_args, grads);
    free_all(num_states, states);
    (void)checked(MXExecutorFree(executor));
}

/* With the arrays that there are, mostly as many as the graph has variables. */
static void call(fuzz *f, SymbolHandle symbol)
{
    NDArrayHandle *outputs = NULL, arrays[SLOTS], grads[SLOTS] = {NULL};
    uint32_t reqs[SLOTS] = {0}, args = 0;
    ExecutorHandle executor;
    CachedOpHandle cached;
    const char **names;
    int count = 0;

    (void)checked(MXSymbolListArguments(symbol, &args, &names));
    args = next(f, 8) == 0 || args > SLOTS ? next(f, SLOTS) : args;
    for (uint32_t i = 0; i < args; i++)
        arrays[i] = pick(f);
    if (checked(MXExecutorBindX(symbol, 1, 0, 0, NULL, NULL, NULL, args, arrays, grads, reqs, 0,
                                NULL, &executor)) == 0)
        (void)checked(MXExecutorFree(executor));
    if (checked(MXCreateCachedOp(symbol, &cached)) != 0)
        return;
    if (checked(MXInvokeCachedOp(cached, (int)args, arrays, &count, &outputs)) == 0)
        free_all((uint32_t)count, outputs);
    (void)checked(MXFreeCachedOp(cached));
}

static void make_arrays(fuzz *f)
{
    for (int i = 0; i < 4; i++) {
        int64_t shape[] = {next(f, 4), next(f, 4), 2};
        NDArrayHandle made = NULL;

        (void)checked(MXNDArrayCreateEx64(shape, (int)next(f, 4), 1, 0, 0, (int)next(f, 2), &made));
        put(f, made);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz f = {.data = data, .left = size};
    SymbolHandle nodes[MOST_NODES];
    int64_t before = 0, after = 0;
    int count = 0, mode, wanted;

    limit_memory();
    (void)MXLGetLiveHandles(&before);
    make_arrays(&f);
    wanted = 1 + (int)next(&f, MOST_NODES);
    (void)checked(MXSetIsNumpyShape((int)next(&f, 3), &mode));
    for (int tries = 0; tries < 40 && count < wanted; tries++) {
        nodes[count] = node(&f, nodes, count);
        count += nodes[count] != NULL;
    }
    for (int i = 0; i < count; i++) {
        for (int round = 0; round < 2; round++) {
            known k;

            say(&f, nodes[i], &k);
            infer(&f, nodes[i], &k);
            bind(&f, nodes[i], &k);
        }
        call(&f, nodes[i]);
    }
    for (int i = 0; i < count; i++)
        (void)checked(MXSymbolFree(nodes[i]));
    for (int i = 0; i < SLOTS; i++)
        (void)discard(f.slots[i]);
    (void)checked(MXSetIsNumpyShape(0, &mode));
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    return 0;
}

#include "fuzz_main.h"
