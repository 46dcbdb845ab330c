/* Inference of every operator's symbol: without inputs, with too few, too many and unknown ones,
 * through all functions that infer. No call may read what is not there (make asan-c), each fails
 * with one line or answers, and nothing is lost. */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

#include "symbol_kit.h"

enum { MOST_PARAMS = 40, MOST_INPUTS = 24 };

/* ---- an operator with the parameters that it needs ---- */

/* A value for a parameter of that type, as introspection prints types. */
static const char *value_for(const char *type, char *room, size_t size)
{
    const char *quote = type[0] == '{' ? strchr(type, '\'') : NULL;

    if (quote != NULL) {
        snprintf(room, size, "%.*s", (int)strcspn(quote + 1, "'"), quote + 1);
        return room;
    }
    if (strncmp(type, "Shape", 5) == 0 || strncmp(type, "tuple", 5) == 0)
        return strstr(type, "float") != NULL ? "(1.0,)" : "(2,)";
    return strncmp(type, "boolean", 7) == 0 ? "True" : "2";
}

/* A symbol without inputs; NULL where the parameters are not enough (Custom). *inputs: how many
 * introspection lists. */
static SymbolHandle make_atomic(const char *name, uint32_t *inputs)
{
    const char *own, *doc, **names, **types, **docs, *count_key, *result;
    const char *keys[MOST_PARAMS], *values[MOST_PARAMS];
    char rooms[MOST_PARAMS][40];
    uint32_t count = 0, given = 0;
    SymbolHandle symbol = NULL;
    OpHandle op;

    *inputs = 0;
    if (NNGetOpHandle(name, &op) != 0 ||
        MXSymbolGetAtomicSymbolInfo(op, &own, &doc, &count, &names, &types, &docs, &count_key,
                                    &result) != 0)
        return NULL;
    for (uint32_t i = 0; i < count && given < MOST_PARAMS; i++) {
        *inputs += strncmp(types[i], "NDArray", 7) == 0;
        if (strstr(types[i], "required") == NULL || strncmp(types[i], "NDArray", 7) == 0)
            continue;
        keys[given] = names[i];
        values[given] = value_for(types[i], rooms[given], sizeof(rooms[given]));
        given++;
    }
    if (MXSymbolCreateAtomicSymbol(op, given, keys, values, &symbol) != 0)
        return NULL;
    return symbol;
}

/* ---- everything that infers ---- */

/* A status that is 0, or -1 with its line. */
static int clear_status(int status)
{
    const char *line = MXGetLastError();

    CHECK(status == 0 || (status == -1 && line[0] != '\0' && strchr(line, '\n') == NULL));
    return status;
}

typedef struct known {
    const char *keys[MOST_INPUTS];
    uint32_t count, places[MOST_INPUTS + 1];
    int64_t places64[MOST_INPUTS + 1];
    int sizes[MOST_INPUTS * 4], dtypes[MOST_INPUTS];
    int64_t sizes64[MOST_INPUTS * 4];
} known;

/* The same shape and dtype for the variables of these names. */
static void say(known *k, uint32_t count, const char **names, int ndim, const int *shape, int dtype)
{
    memset(k, 0, sizeof(*k));
    for (uint32_t i = 0; i < count && i < MOST_INPUTS; i++) {
        k->keys[i] = names[i];
        k->dtypes[i] = dtype;
        for (int d = 0; d < ndim; d++)
            k->sizes64[i * (uint32_t)ndim + (uint32_t)d] =
                k->sizes[i * (uint32_t)ndim + (uint32_t)d] = shape[d];
        k->places64[i + 1] = k->places[i + 1] = (i + 1) * (uint32_t)ndim;
        k->count++;
    }
}

/* How many of the calls fail. */
static int infer_all(SymbolHandle symbol, known *k)
{
    uint32_t n[3];
    size_t n64[3];
    const int *ndim[3], **sizes[3], *dtypes[3];
    const int64_t **sizes64[3];
    const uint32_t *ndim32[3], **sizes32[3];
    uint32_t unsigned_sizes[MOST_INPUTS * 4];
    int complete, failed = 0;

    for (int i = 0; i < MOST_INPUTS * 4; i++)
        unsigned_sizes[i] = (uint32_t)(k->sizes[i] < 0 ? 0 : k->sizes[i]);
#define ASK(function, places, data, counts, ranks, results)                                        \
    failed += clear_status(function(symbol, k->count, k->keys, places, data, &counts[0],           \
                                    &ranks[0], &results[0], &counts[1], &ranks[1], &results[1],    \
                                    &counts[2], &ranks[2], &results[2], &complete)) != 0
    ASK(MXSymbolInferShape, k->places, unsigned_sizes, n, ndim32, sizes32);
    ASK(MXSymbolInferShapePartial, k->places, unsigned_sizes, n, ndim32, sizes32);
    ASK(MXSymbolInferShapeEx, k->places, k->sizes, n, ndim, sizes);
    ASK(MXSymbolInferShapePartialEx, k->places, k->sizes, n, ndim, sizes);
    ASK(MXSymbolInferShapeEx64, k->places64, k->sizes64, n64, ndim, sizes64);
    ASK(MXSymbolInferShapePartialEx64, k->places64, k->sizes64, n64, ndim, sizes64);
    failed +=
        clear_status(MXSymbolInferType(symbol, k->count, k->keys, k->dtypes, &n[0], &dtypes[0],
                                       &n[1], &dtypes[1], &n[2], &dtypes[2], &complete)) != 0;
    failed += clear_status(MXSymbolInferTypePartial(symbol, k->count, k->keys, k->dtypes, &n[0],
                                                    &dtypes[0], &n[1], &dtypes[1], &n[2],
                                                    &dtypes[2], &complete)) != 0;
    return failed;
}

static void free_all(uint32_t count, NDArrayHandle *arrays)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(MXNDArrayFree(arrays[i]), 0);
}

/* Whether an executor could be made. */
static bool binds(SymbolHandle symbol, known *k)
{
    NDArrayHandle *args, *grads, *states;
    ExecutorHandle executor;
    const char *req = "write";
    uint32_t num_args, num_states;

    if (clear_status(MXExecutorSimpleBindEx(
            symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &req, k->count, k->keys, k->sizes,
            k->places, k->count, k->keys, k->dtypes, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
            NULL, &num_args, &args, &grads, &num_states, &states, NULL, &executor)) != 0)
        return false;
    free_all(num_args, args);
    free_all(num_args, grads);
    free_all(num_states, states);
    CHECK_INT(MXExecutorFree(executor), 0);
    return true;
}

/* Executors and cached operators that are given no array. */
static void call_without_arrays(SymbolHandle symbol)
{
    ExecutorHandle executor;
    CachedOpHandle cached;
    NDArrayHandle *outputs = NULL;
    int count = 0;

    if (clear_status(MXExecutorBindX(symbol, 1, 0, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0,
                                     NULL, &executor)) == 0)
        CHECK_INT(MXExecutorFree(executor), 0);
    if (clear_status(MXCreateCachedOp(symbol, &cached)) != 0)
        return;
    if (clear_status(MXInvokeCachedOp(cached, 0, NULL, &count, &outputs)) == 0)
        free_all((uint32_t)count, outputs);
    CHECK_INT(MXFreeCachedOp(cached), 0);
}

/* ---- all operators ---- */

static void all_names(void (*with)(const char *name))
{
    uint32_t count = 0;
    const char **names;

    REQUIRE(CHECK_INT(MXListAllOpNames(&count, &names), 0));
    CHECK(count > 900);
    for (uint32_t i = 0; i < count; i++)
        with(names[i]);
}

static int made, refused;

/* An operator that takes inputs is refused before it has them. */
static void ask_uncomposed(const char *name)
{
    uint32_t inputs, arguments = 0;
    SymbolHandle symbol = make_atomic(name, &inputs), whole = NULL;
    const char **names;
    known none;

    if (symbol == NULL)
        return;
    made++;
    say(&none, 0, NULL, 0, NULL, 0);
    CHECK_INT(MXSymbolCopy(symbol, &whole), 0);
    if (MXSymbolCompose(whole, "it", 0, NULL, NULL) == 0 &&
        MXSymbolListArguments(whole, &arguments, &names) == 0 && arguments > 0) {
        refused++;
        if (!CHECK_INT(infer_all(symbol, &none), 8) || !CHECK(!binds(symbol, &none)))
            printf("%s\n", name);
        CHECK_HAS(MXGetLastError(), "is not composed");
    } else {
        (void)infer_all(symbol, &none);
        (void)binds(symbol, &none);
    }
    call_without_arrays(symbol);
    CHECK_INT(MXSymbolFree(symbol), 0);
    CHECK_INT(MXSymbolFree(whole), 0);
}

TEST(uncomposed)
{
    made = refused = 0;
    all_names(ask_uncomposed);
    CHECK(made > 780);
    CHECK(refused > 680);
}

/* Of a composed symbol: nothing, unknown ranks and sizes, and shapes that few operators take. */
static void ask_all(SymbolHandle symbol)
{
    static const struct {
        int ndim, shape[4], dtype;
    } tries[] = {{0, {0}, -1},         {1, {3}, 0},           {2, {0, 3}, -1},
                 {2, {2, 4}, 4},       {3, {-1, -1, 2}, 1},   {4, {1, 2, 0, 3}, 0},
                 {4, {2, 3, 4, 4}, 7}, {4, {-1, 4, 5, -1}, 2}};
    uint32_t count = 0;
    const char **names;

    call_without_arrays(symbol);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        known k;

        if (!CHECK_INT(MXSymbolListArguments(symbol, &count, &names), 0))
            return;
        say(&k,
            i == 0       ? 0
            : i % 2 == 1 ? 1
                         : count,
            names, tries[i].ndim, tries[i].shape, tries[i].dtype);
        (void)infer_all(symbol, &k);
        if (i % 3 == 0)
            (void)binds(symbol, &k);
    }
}

static void compose_with(const char *name, uint32_t count)
{
    uint32_t inputs;
    SymbolHandle symbol = make_atomic(name, &inputs), variables[MOST_INPUTS];

    if (symbol == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        char text[16];

        snprintf(text, sizeof(text), "x%u", i);
        CHECK_INT(MXSymbolCreateVariable(text, &variables[i]), 0);
    }
    if (clear_status(MXSymbolCompose(symbol, "it", count, NULL, variables)) == 0)
        ask_all(symbol);
    else
        (void)clear_status(count > 0 ? MXSymbolCompose(symbol, "it", count - 1, NULL, variables)
                                     : -1);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(MXSymbolFree(variables[i]), 0);
    CHECK_INT(MXSymbolFree(symbol), 0);
}

static void ask_without(const char *name)
{
    compose_with(name, 0);
}

static void ask_with_one(const char *name)
{
    compose_with(name, 1);
}

static void ask_with_many(const char *name)
{
    compose_with(name, 7);
}

TEST(no_arguments)
{
    all_names(ask_without);
}

TEST(one_argument)
{
    all_names(ask_with_one);
}

TEST(many_arguments)
{
    all_names(ask_with_many);
}

/* An attribute that is set after composing may ask for other inputs than there are. */
TEST(attributes_set_later)
{
    const char *keys[] = {"state_size", "num_layers", "mode"}, *values[] = {"2", "1", "gru"};
    SymbolHandle symbol, data;
    OpHandle op;
    known k;

    CHECK_INT(NNGetOpHandle("RNN", &op), 0);
    CHECK_INT(MXSymbolCreateAtomicSymbol(op, 3, keys, values, &symbol), 0);
    CHECK_INT(MXSymbolCreateVariable("data", &data), 0);
    CHECK_INT(MXSymbolCompose(symbol, "it", 1, NULL, &data), 0);
    CHECK_INT(MXSymbolSetAttr(symbol, "mode", "lstm"), 0);
    say(&k, 1, (const char *[]){"data"}, 3, (int[]){3, 2, 4}, 0);
    CHECK_INT(infer_all(symbol, &k), 8);
    CHECK_HAS(MXGetLastError(), "RNN: takes 4 inputs, got 3");
    CHECK(!binds(symbol, &k));
    call_without_arrays(symbol);
    CHECK_INT(MXSymbolFree(symbol), 0);
    CHECK_INT(MXSymbolFree(data), 0);
}

HARNESS_MAIN(ENTRY(uncomposed), ENTRY(no_arguments), ENTRY(one_argument), ENTRY(many_arguments),
             ENTRY(attributes_set_later))
