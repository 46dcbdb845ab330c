/* Symbols, cached operators and executors through the C API: structure, JSON, gradients, sizes. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbol_kit.h"

static void check_list(int (*list)(SymbolHandle, uint32_t *, const char ***), SymbolHandle symbol,
                       const char *joined)
{
    uint32_t count = 0;
    const char **names;
    char text[512] = "";

    CHECK_INT(list(symbol, &count, &names), 0);
    for (uint32_t i = 0; i < count; i++) {
        strncat(text, i > 0 ? " " : "", sizeof(text) - strlen(text) - 1);
        strncat(text, names[i], sizeof(text) - strlen(text) - 1);
    }
    CHECK_STR(text, joined);
}

TEST(lists)
{
    SymbolHandle net = make_net();

    check_list(MXSymbolListArguments, net,
               "data fc1_weight fc1_bias bn_gamma bn_beta fc2_weight fc2_bias softmax_label");
    check_list(MXSymbolListAuxiliaryStates, net, "bn_moving_mean bn_moving_var");
    check_list(MXSymbolListOutputs, net, "softmax_output");
    CHECK_INT(MXSymbolFree(net), 0);
}

/* A text that is read and written again is the same. */
TEST(json_round_trip)
{
    SymbolHandle net = make_net(), again;
    const char *json;
    char *copy;

    CHECK_INT(MXSymbolSaveToJSON(net, &json), 0);
    copy = malloc(strlen(json) + 1);
    REQUIRE(copy != NULL);
    strcpy(copy, json);
    CHECK_INT(MXSymbolCreateFromJSON(copy, &again), 0);
    CHECK_INT(MXSymbolSaveToJSON(again, &json), 0);
    CHECK_STR(json, copy);
    free(copy);
    CHECK_INT(MXSymbolFree(net), 0);
    CHECK_INT(MXSymbolFree(again), 0);
}

/* A chain of so many nodes: nothing recurses, and every list grows. */
TEST(long_chain)
{
    enum { LENGTH = 20000 };
    SymbolHandle chain, again;
    uint32_t count = 0;
    const char *json;
    char name[32];

    CHECK_INT(MXSymbolCreateVariable("x", &chain), 0);
    for (int i = 0; i < LENGTH; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        chain = then("negative", name, NULL, NULL, chain);
        REQUIRE(chain != NULL);
    }
    CHECK_INT(MXSymbolSaveToJSON(chain, &json), 0);
    CHECK_INT(MXSymbolCreateFromJSON(json, &again), 0);
    CHECK_INT(MXSymbolFree(chain), 0);
    CHECK_INT(MXSymbolGetInternals(again, &chain), 0);
    CHECK_INT(MXSymbolGetNumOutputs(chain, &count), 0);
    CHECK_INT(count, LENGTH + 1);
    CHECK_INT(MXSymbolFree(again), 0);
    CHECK_INT(MXSymbolFree(chain), 0);
}

/* What fails leaves the symbol as it was. */
TEST(failed_compose)
{
    SymbolHandle net = make_net(), other;
    const char *key = "nosuch";

    CHECK_INT(MXSymbolCreateVariable("x", &other), 0);
    CHECK_INT(MXSymbolCompose(net, "other", 1, &key, &other), -1);
    CHECK_INT(MXSymbolCompose(net, "other", 1, NULL, &other), -1);
    CHECK_HAS(MXGetLastError(), "by name only");
    check_list(MXSymbolListOutputs, net, "softmax_output");
    key = "data";
    CHECK_INT(MXSymbolCompose(net, "other", 1, &key, &other), 0);
    check_list(MXSymbolListArguments, net,
               "x fc1_weight fc1_bias bn_gamma bn_beta fc2_weight fc2_bias softmax_label");
    check_list(MXSymbolListOutputs, net, "other_output");
    CHECK_INT(MXSymbolFree(net), 0);
    CHECK_INT(MXSymbolFree(other), 0);
}

/* y = tanh(x * x); a call is recorded, twice differentiable. */
TEST(cached_op)
{
    SymbolHandle x, square, tanh_symbol;
    H array = VEC(0.5, -1), *out = NULL, y;
    CachedOpHandle op;
    int count = 0;

    CHECK_INT(MXSymbolCreateVariable("x", &x), 0);
    square = apply("square", "sq", NULL, NULL, x);
    tanh_symbol = apply("tanh", "th", NULL, NULL, square);
    CHECK_INT(MXCreateCachedOp(tanh_symbol, &op), 0);
    CHECK_INT(MXSymbolFree(x), 0);
    CHECK_INT(MXSymbolFree(square), 0);
    CHECK_INT(MXSymbolFree(tanh_symbol), 0);
    attach(array, REQ_WRITE);
    record(true);
    CHECK_INT(MXInvokeCachedOp(op, 1, &array, &count, &out), 0);
    record(false);
    CHECK_INT(count, 1);
    y = out[0];
    CHECK_NEAR(at(y, 1), 0.76159416, 1e-6);
    CHECK_INT(MXAutogradBackward(1, &y, NULL, 0), 0);
    CHECK_NEAR(grad_at(array, 1), -2 * (1 - 0.76159416 * 0.76159416), 1e-6);
    drop(y);
    CHECK_INT(MXFreeCachedOp(op), 0);
    drop(array);
}

TEST(executor)
{
    SymbolHandle net = make_net();
    NDArrayHandle *outputs;
    uint32_t count;
    bound b;

    REQUIRE(CHECK_INT(bind_net(net, &b), 0));
    CHECK_INT(MXSymbolFree(net), 0);
    CHECK_INT(b.num_args, NET_ARGS);
    CHECK_INT(b.num_states, NET_STATES);
    CHECK_INT(MXExecutorBackward(b.executor, 0, NULL), 0); /* without a forward, as in 1.9.1 */
    CHECK_INT(MXExecutorForward(b.executor, 1), 0);
    CHECK_INT(MXExecutorBackward(b.executor, 0, NULL), 0);
    CHECK_INT(MXExecutorOutputs(b.executor, &count, &outputs), 0);
    CHECK_INT(count, 1);
    CHECK_NEAR(at(outputs[0], 0), 1.0 / 3, 1e-6);
    CHECK_INT(MXNDArrayFree(outputs[0]), 0);
    /* of the last layer's bias: the sum over rows of p - one_hot(label 0) */
    CHECK_NEAR(at(b.grads[6], 0), 2 * (1.0 / 3 - 1), 1e-6);
    CHECK_NEAR(at(b.grads[6], 1), 2 * (1.0 / 3), 1e-6);
    /* A backward releases its graph; another one runs the forward again. */
    CHECK_INT(op_into("negative", 1, &b.grads[6], b.grads[6]), 0);
    CHECK_INT(MXExecutorBackward(b.executor, 0, NULL), 0);
    CHECK_NEAR(at(b.grads[6], 0), 2 * (1.0 / 3 - 1), 1e-6);
    unbind(&b);
}

static int inner_status;
static bool inner_said;

static void run_again(const char *name, NDArrayHandle array, void *executor)
{
    (void)name;
    inner_status = MXExecutorForward(executor, 0);
    inner_said = strstr(MXGetLastError(), "being run") != NULL;
    CHECK_INT(MXNDArrayFree(array), 0);
}

/* A monitor, as another thread, cannot run the executor that runs. */
TEST(busy_executor)
{
    SymbolHandle net = make_net();
    bound b;

    REQUIRE(CHECK_INT(bind_net(net, &b), 0));
    CHECK_INT(MXSymbolFree(net), 0);
    CHECK_INT(MXExecutorSetMonitorCallback(b.executor, run_again, b.executor), 0);
    CHECK_INT(MXExecutorForward(b.executor, 0), 0);
    CHECK_INT(inner_status, -1);
    CHECK(inner_said);
    CHECK_INT(MXExecutorSetMonitorCallback(b.executor, NULL, NULL), 0);
    CHECK_INT(MXExecutorForward(b.executor, 0), 0);
    unbind(&b);
}

static NDArrayHandle of_name(const shared_buffer *shared, const char *name)
{
    for (int i = 0; i < shared->count; i++) {
        if (strcmp(shared->names[i], name) == 0)
            return shared->arrays[i];
    }
    return NULL;
}

/* An array that is large enough is the argument's memory, a small one is replaced, and all arrays
 * that are made are added, under handles that are the caller's. */
TEST(bind_to_buffer)
{
    static const int64_t large[] = {60}, small[] = {1};
    const char *names[] = {"fc1_weight", "fc1_bias"};
    NDArrayHandle given[] = {filled(1, large, 7), filled(1, small, 7)}, *lent;
    shared_buffer shared = {2, names, given};
    SymbolHandle net = make_net();
    double values[60];
    bound b;

    REQUIRE(CHECK_INT(bind_shared(net, &shared, &b), 0));
    CHECK_INT(shared.count, 2 * NET_ARGS);
    CHECK(of_name(&shared, "grad of data") != NULL);
    CHECK_INT(MXNDArraySyncCopyToCPU(b.args[1], values, 20), 0);
    CHECK_NEAR(values[19], 7, 0);
    for (int i = 0; i < 20; i++)
        values[i] = i;
    CHECK_INT(MXNDArraySyncCopyFromCPU(b.args[1], values, 20), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(given[0], values, 60), 0);
    CHECK_NEAR(values[19], 19, 0);
    CHECK_NEAR(values[20], 7, 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(of_name(&shared, "fc1_bias"), values, 4), 0);
    CHECK_NEAR(values[3], 0, 0);
    lent = shared.arrays;
    for (int i = 0; i < shared.count; i++)
        CHECK_INT(MXNDArrayFree(lent[i]), 0);
    unbind(&b);
    CHECK_INT(MXNDArrayFree(given[0]), 0);
    CHECK_INT(MXNDArrayFree(given[1]), 0);
    CHECK_INT(MXSymbolFree(net), 0);
}

/* Devices of groups: lists that are missing, names that are, groups that are, devices that are
 * none; a device that no node needs is not read. */
TEST(devices_of_groups)
{
    static const int64_t shape[] = {2, 2};
    static const int types[] = {1, 2}, numbers[] = {3, 0};
    const char *groups[] = {"g", "unused"}, *none[] = {NULL, NULL}, *others[] = {"other", "more"};
    NDArrayHandle arg = filled(2, shape, 1), *outputs;
    SymbolHandle x = NULL, net;
    ExecutorHandle executor = NULL;
    uint32_t count = 0;
    int type, number;

    CHECK_INT(MXSymbolCreateVariable("x", &x), 0);
    net = then("exp", "e", NULL, NULL, x);
    CHECK_INT(MXSymbolSetAttr(net, "__ctx_group__", "g"), 0);
#define BIND(names, count, kinds)                                                                  \
    MXExecutorBindX(net, 1, 0, count, names, kinds, numbers, 1, &arg, NULL, NULL, 0, NULL,         \
                    &executor)
    CHECK_INT(BIND(NULL, 1, types), -1);
    CHECK_HAS(MXGetLastError(),
              "MXExecutorBindX: 1 groups have devices, and a list of them is NULL");
    CHECK_INT(BIND(groups, 1, NULL), -1);
    CHECK_INT(BIND(none, 1, types), -1);
    CHECK_HAS(MXGetLastError(), "MXExecutorBindX: the name of group 0 is NULL");
    CHECK_INT(BIND(others, 1, types), -1);
    CHECK_HAS(MXGetLastError(), "group2ctx has no device for g, the group of e");
    CHECK_INT(BIND(groups, 1, types + 1), -1);
    CHECK_HAS(MXGetLastError(), "g: device type 2");
    CHECK(executor == NULL);
    CHECK_INT(BIND(groups, 2, types), 0);
#undef BIND
    CHECK_INT(MXExecutorOutputs(executor, &count, &outputs), 0);
    CHECK_INT(MXNDArrayGetContext(outputs[0], &type, &number), 0);
    CHECK_INT(number, 3);
    CHECK_INT(MXNDArrayFree(outputs[0]), 0);
    CHECK_INT(MXExecutorFree(executor), 0);
    CHECK_INT(MXNDArrayFree(arg), 0);
    CHECK_INT(MXSymbolFree(net), 0);
}

/* A dtype that does not fit is an error, and the buffer stays the caller's. */
TEST(bind_to_buffer_of_another_dtype)
{
    const char *names[] = {"fc1_weight"};
    const uint32_t shape[] = {4, 5};
    NDArrayHandle array, given[1];
    shared_buffer shared = {1, names, given};
    SymbolHandle net = make_net();
    bound b;

    CHECK_INT(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, &array), 0);
    given[0] = array;
    CHECK_INT(bind_shared(net, &shared, &b), -1);
    CHECK_HAS(MXGetLastError(), "fc1_weight: the array of the shared buffer is of float32, "
                                "not of float64");
    CHECK_INT(MXNDArrayFree(array), 0);
    CHECK_INT(MXSymbolFree(net), 0);
}

/* Steps before the last one run nothing. */
TEST(partial_forward)
{
    static const uint32_t sizes[] = {2, 5}, places[] = {0, 2};
    const char *name = "data", *json;
    SymbolHandle net = make_net();
    PredictorHandle predictor;
    float values[6] = {9};
    int left = 1, steps = 0;

    CHECK_INT(MXSymbolSaveToJSON(net, &json), 0);
    CHECK_INT(MXPredCreate(json, NULL, 0, 1, 0, 1, &name, places, sizes, &predictor), 0);
    CHECK_INT(MXSymbolFree(net), 0);
    while (left > 0)
        REQUIRE(CHECK_INT(MXPredPartialForward(predictor, steps++, &left), 0));
    CHECK_INT(steps, 15);
    CHECK_INT(MXPredGetOutput(predictor, 0, values, 6), 0);
    CHECK_NEAR(values[0], 1.0 / 3, 1e-6);
    CHECK_INT(MXPredFree(predictor), 0);
}

/* The operator with its parameters and other attributes, without the inputs. */
TEST(uncomposed)
{
    SymbolHandle data, fc, again = NULL, none = NULL;
    const char *text;
    uint32_t count;
    int success;

    CHECK_INT(MXSymbolCreateVariable("data", &data), 0);
    fc = apply("FullyConnected", "fc", "num_hidden", "3", data);
    CHECK_INT(MXSymbolSetAttr(fc, "__k__", "v"), 0);
    REQUIRE(CHECK_INT(MXGenAtomicSymbolFromSymbol(fc, &again), 0));
    CHECK_INT(MXSymbolGetAttr(again, "num_hidden", &text, &success), 0);
    CHECK(success && strcmp(text, "3") == 0);
    CHECK_INT(MXSymbolGetAttr(again, "__k__", &text, &success), 0);
    CHECK(success && strcmp(text, "v") == 0);
    CHECK_INT(MXSymbolCompose(again, "other", 1, NULL, &fc), 0);
    CHECK_INT(MXSymbolGetNumOutputs(again, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXGenAtomicSymbolFromSymbol(data, &none), -1);
    CHECK_HAS(MXGetLastError(), "data is a variable");
    CHECK(none == NULL);
    CHECK_INT(MXSymbolFree(data), 0);
    CHECK_INT(MXSymbolFree(fc), 0);
    CHECK_INT(MXSymbolFree(again), 0);
}

HARNESS_MAIN(ENTRY(lists), ENTRY(json_round_trip), ENTRY(long_chain), ENTRY(failed_compose),
             ENTRY(cached_op), ENTRY(executor), ENTRY(busy_executor), ENTRY(partial_forward),
             ENTRY(bind_to_buffer), ENTRY(bind_to_buffer_of_another_dtype), ENTRY(uncomposed),
             ENTRY(devices_of_groups))
