/* Perl's and R's executor groups give one shared buffer to all their executors: it has the data,
 * and no parameters. */
#include "client.h"

typedef struct buffer {
    int count;
    const char **names;
    NDArrayHandle *arrays;
} buffer;

typedef struct bound {
    ExecutorHandle executor;
    NDArrayHandle args[3], grads[3];
} bound;

/* Of a batch of so many rows; `from`: whose parameters it has. */
static bound bind(SymbolHandle net, int rows, buffer *shared, ExecutorHandle from)
{
    const char *data = "data", *write = "write", *parameters[] = {"fc1_weight", "fc1_bias"};
    const int sizes[] = {rows, 3};
    const uint32_t places[] = {0, 2};
    NDArrayHandle *args, *grads, *states;
    uint32_t num_args = 0, num_states = 0;
    bound made = {0};

    CALL(MXExecutorSimpleBindEx(
        net, 1, 0, 0, NULL, NULL, NULL, 0, NULL, &write, 1, &data, sizes, places, 0, NULL, NULL, 0,
        NULL, NULL, 2, parameters, &shared->count, shared->names, shared->arrays, &shared->names,
        &shared->arrays, &num_args, &args, &grads, &num_states, &states, from, &made.executor));
    EXPECT(num_args == 3 && num_states == 0);
    for (uint32_t i = 0; i < num_args && i < 3; i++) {
        made.args[i] = args[i];
        made.grads[i] = grads[i];
    }
    return made;
}

/* Whether two arrays begin in the same memory. */
static bool same_memory(NDArrayHandle one, NDArrayHandle other)
{
    const client_param value[] = {{"scalar", "0"}, {NULL, NULL}},
                       more[] = {{"scalar", "5"}, {NULL, NULL}};

    CALL(run_into("_mul_scalar", value, 1, &one, 1, &one));
    CALL(run_into("_mul_scalar", value, 1, &other, 1, &other));
    CALL(run_into("_plus_scalar", more, 1, &one, 1, &one));
    return first(other) == 5;
}

int main(void)
{
    const client_param hidden[] = {{"num_hidden", "4"}, {NULL, NULL}};
    SymbolHandle data = variable("data"), net = symbol("FullyConnected", "fc1", hidden, 1, &data);
    buffer shared = {0};
    bound large = bind(net, 8, &shared, NULL), apart, beside;

    EXPECT(shared.count == 2);
    for (int i = 0; i < shared.count; i++)
        EXPECT(strcmp(shared.names[i], "data") == 0 ||
               strcmp(shared.names[i], "grad of data") == 0);
    apart = bind(net, 2, &shared, NULL);
    beside = bind(net, 2, &shared, large.executor);
    EXPECT(shared.count == 2);
    for (int i = 0; i < 3; i++) {
        EXPECT(same_memory(large.args[i], beside.args[i]));
        EXPECT(same_memory(large.grads[i], beside.grads[i]));
        EXPECT(same_memory(large.args[i], apart.args[i]) == (i == 0));
        EXPECT(same_memory(large.grads[i], apart.grads[i]) == (i == 0));
    }
    return failures != 0;
}
