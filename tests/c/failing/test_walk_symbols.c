/* The allocation walk over symbols: making, reading, inferring, binding, running. */
#include "walk_kit.h"

#include <stdio.h>

#include "symbol_kit.h"

static SymbolHandle net;
static bound ready;
static char *json;

static void begin(void)
{
    const char *text;

    net = make_net();
    CHECK(net != NULL);
    CHECK_INT(MXSymbolSaveToJSON(net, &text), 0);
    json = malloc(strlen(text) + 1);
    strcpy(json, text);
    CHECK_INT(bind_net(net, &ready), 0);
}

static void end(void)
{
    unbind(&ready);
    CHECK_INT(MXSymbolFree(net), 0);
    free(json);
}

static bool makes(stage *s)
{
    SymbolHandle made = make_net();

    (void)s;
    CHECK_INT(MXSymbolFree(made), 0);
    return failing(made != NULL);
}

static bool reads(stage *s)
{
    SymbolHandle made = NULL;
    bool ok = failing(MXSymbolCreateFromJSON(json, &made) == 0);

    (void)s;
    CHECK_INT(MXSymbolFree(made), 0);
    return ok;
}

static bool writes(stage *s)
{
    const char *text;

    (void)s;
    return failing(MXSymbolSaveToJSON(net, &text) == 0);
}

static bool quantizes(stage *s)
{
    static const char *offline[] = {"fc1_weight"}, *names[] = {"data"};
    const float low = -1, high = 2;
    const char **found;
    uint32_t count;
    SymbolHandle made = NULL, calibrated = NULL;
    bool ok;

    (void)s;
    ok = failing(MXQuantizeSymbol(net, &made, NULL, 0, NULL, 0, NULL, 1, offline, "int8", true,
                                  "full", "tensor-wise", &count, &found) == 0) &&
         failing(MXSetCalibTableToQuantizedSymbol(made, 1, names, &low, &high, &calibrated) == 0);
    CHECK_INT(MXSymbolFree(made), 0);
    CHECK_INT(MXSymbolFree(calibrated), 0);
    return ok;
}

static bool infers(stage *s)
{
    static const char *names[] = {"data"};
    static const int sizes[] = {2, 5};
    static const uint32_t places[] = {0, 2};
    uint32_t counts[3];
    const int *ndims[3], **data[3];
    int complete = 0;

    (void)s;
    return failing(MXSymbolInferShapeEx(net, 1, names, places, sizes, &counts[0], &ndims[0],
                                        &data[0], &counts[1], &ndims[1], &data[1], &counts[2],
                                        &ndims[2], &data[2], &complete) == 0);
}

static bool binds(stage *s)
{
    bound b;
    bool ok = failing(bind_net(net, &b) == 0);

    (void)s;
    unbind(&b);
    return ok;
}

/* Into a buffer with an array that is too small, and another. */
static bool binds_shared(stage *s)
{
    static const int64_t small[] = {1, 1}, other[] = {3};
    const char *names[] = {"data", "other"};
    NDArrayHandle given[] = {filled(2, small, 1), filled(1, other, 1)};
    shared_buffer shared = {2, names, given};
    bound b;
    bool ok = given[0] != NULL && given[1] != NULL && failing(bind_shared(net, &shared, &b) == 0);

    (void)s;
    for (int i = 0; ok && i < shared.count; i++)
        (void)MXNDArrayFree(shared.arrays[i]);
    if (ok)
        unbind(&b);
    (void)MXNDArrayFree(given[0]);
    (void)MXNDArrayFree(given[1]);
    return ok;
}

static bool runs(stage *s)
{
    (void)s;
    return failing(MXExecutorForward(ready.executor, 1) == 0) &&
           failing(MXExecutorBackward(ready.executor, 0, NULL) == 0);
}

/* With a head gradient in float16, which is cast to float64. */
static bool casts_heads(stage *s)
{
    static const uint32_t shape[] = {2, 3};
    NDArrayHandle head = NULL;
    bool ok = MXNDArrayCreateEx(shape, 2, 1, 0, 0, 2, &head) == 0 &&
              failing(MXExecutorForward(ready.executor, 1) == 0) &&
              failing(MXExecutorBackward(ready.executor, 1, &head) == 0);

    (void)s;
    let_go(head);
    return ok;
}

static void look(const char *name, NDArrayHandle array, void *payload)
{
    (void)name, (void)payload;
    let_go(array);
}

/* Whatever fails, the monitor is gone afterwards. */
static bool runs_monitored(stage *s)
{
    bool ok;

    (void)s;
    CHECK_INT(MXExecutorSetMonitorCallbackEX(ready.executor, look, NULL, true), 0);
    ok = failing(MXExecutorForward(ready.executor, 1) == 0) &&
         failing(MXExecutorBackward(ready.executor, 0, NULL) == 0);
    CHECK_INT(MXExecutorSetMonitorCallback(ready.executor, NULL, NULL), 0);
    return ok;
}

static bool reshapes(stage *s)
{
    static const char *name = "data";
    static const int sizes[] = {1, 5};
    static const uint32_t places[] = {0, 2};
    uint32_t args = 0, states = 0;
    H *arg, *grad, *state;
    ExecutorHandle made = NULL;
    bool ok =
        failing(MXExecutorReshapeEx(1, 0, 1, 0, 0, NULL, NULL, NULL, 1, &name, sizes, places, &args,
                                    &arg, &grad, &states, &state, ready.executor, &made) == 0);

    (void)s;
    for (uint32_t i = 0; ok && i < args; i++) {
        let_go(arg[i]);
        let_go(grad[i]);
    }
    for (uint32_t i = 0; ok && i < states; i++)
        let_go(state[i]);
    CHECK_INT(MXExecutorFree(made), 0);
    return ok;
}

static bool calls(stage *s)
{
    CachedOpHandle op = NULL;
    H inputs[NET_ARGS + NET_STATES], *out = NULL;
    /* in the order of the walk: the states stand before the second layer */
    bool ok = failing(MXCreateCachedOp(net, &op) == 0);
    int count = 0;

    (void)s;
    memcpy(inputs, ready.args, 5 * sizeof(H));
    memcpy(inputs + 5, ready.states, 2 * sizeof(H));
    memcpy(inputs + 7, ready.args + 5, 3 * sizeof(H));
    ok = ok && failing(MXInvokeCachedOp(op, 10, inputs, &count, &out) == 0);
    if (ok)
        let_go(out[0]);
    CHECK_INT(MXFreeCachedOp(op), 0);
    return ok;
}

/* Twice, so that the second call has what the first one kept. */
static bool keeps_weights(stage *s)
{
    static const int64_t sizes[] = {1, 1, 3, 3};
    CachedOpHandle op = NULL;
    H inputs[2] = {filled(4, sizes, 2), filled(4, sizes, 1)};
    bool ok = failing(inputs[0] != NULL && inputs[1] != NULL && make_convolution("1", &op) == 0);

    (void)s;
    for (int i = 0; ok && i < 2; i++) {
        H *out = NULL;
        int count = 0;

        ok = failing(MXInvokeCachedOp(op, 2, inputs, &count, &out) == 0);
        if (ok)
            let_go(out[0]);
    }
    CHECK_INT(MXFreeCachedOp(op), 0);
    let_go(inputs[0]);
    let_go(inputs[1]);
    return ok;
}

static bool predicts(stage *s)
{
    static const uint32_t sizes[] = {2, 5}, places[] = {0, 2};
    const char *name = "data";
    PredictorHandle made[2] = {NULL, NULL};
    bool ok = failing(
        MXPredCreateMultiThread(json, NULL, 0, 1, 0, 1, &name, places, sizes, 2, made) == 0);

    (void)s;
    if (!ok)
        return false;
    ok = failing(MXPredForward(made[1]) == 0);
    CHECK_INT(MXPredFree(made[0]), 0);
    CHECK_INT(MXPredFree(made[1]), 0);
    return ok;
}

static void walk_symbols(scenario run, bool atomic)
{
    begin();
    walk(run, atomic, true);
    end();
}

static char list_bytes[4096];
static int list_size;

static bool lists(stage *s)
{
    NDListHandle list = NULL;
    uint32_t count;
    bool ok = failing(MXNDListCreate(list_bytes, list_size, &list, &count) == 0);

    (void)s;
    CHECK_INT(MXNDListFree(list), 0);
    return ok;
}

TEST(walk_makes)
{
    walk_symbols(makes, true);
}

TEST(walk_reads)
{
    walk_symbols(reads, true);
}

TEST(walk_writes)
{
    walk_symbols(writes, true);
}

TEST(walk_infers)
{
    walk_symbols(infers, true);
}

TEST(walk_binds_shared)
{
    walk_symbols(binds_shared, true);
}

TEST(walk_binds)
{
    walk_symbols(binds, true);
}

TEST(walk_quantizes)
{
    walk_symbols(quantizes, true);
}

/* A forward whose backward fails keeps its graph. */
TEST(walk_runs)
{
    walk_symbols(runs, false);
}

TEST(walk_casts_heads)
{
    walk_symbols(casts_heads, false);
}

TEST(walk_runs_monitored)
{
    walk_symbols(runs_monitored, false);
}

TEST(walk_reshapes)
{
    walk_symbols(reshapes, false);
}

TEST(walk_calls)
{
    walk_symbols(calls, true);
}

TEST(walk_keeps)
{
    walk_symbols(keeps_weights, true);
}

TEST(walk_predicts)
{
    walk_symbols(predicts, true);
}

static bool recorded(stage *s)
{
    SymbolHandle symbol = NULL;
    bool ok = failing(MXAutogradGetSymbol(s->z, &symbol) == 0);

    CHECK_INT(MXSymbolFree(symbol), 0);
    return ok;
}

TEST(walk_recorded)
{
    walk(recorded, true, true);
}

TEST(walk_lists)
{
    static const char *names[] = {"a", "b"};
    const char *path = "build/test_walk_symbols.params";
    H arrays[2] = {VEC(1, 2), VEC(3)};
    FILE *file;

    CHECK_INT(MXNDArraySave(path, 2, arrays, names), 0);
    drop(arrays[0]);
    drop(arrays[1]);
    file = fopen(path, "rb");
    REQUIRE(file != NULL);
    list_size = (int)fread(list_bytes, 1, sizeof(list_bytes), file);
    fclose(file);
    remove(path);
    walk(lists, true, true);
}

WALK_MAIN(ENTRY(walk_makes), ENTRY(walk_reads), ENTRY(walk_writes), ENTRY(walk_infers),
          ENTRY(walk_quantizes), ENTRY(walk_binds), ENTRY(walk_binds_shared), ENTRY(walk_runs),
          ENTRY(walk_casts_heads), ENTRY(walk_runs_monitored), ENTRY(walk_reshapes),
          ENTRY(walk_calls), ENTRY(walk_keeps), ENTRY(walk_predicts), ENTRY(walk_lists),
          ENTRY(walk_recorded))
