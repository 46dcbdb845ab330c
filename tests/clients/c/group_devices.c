/* group2ctx: arrays, gradients, states and outputs say the device of their group, by each function
 * that binds. */
#include "client.h"

static const char *groups[] = {"a", "b"};
static const int types[] = {1, 1}, numbers[] = {1, 2};

static SymbolHandle make_net(void)
{
    const client_param first_layer[] = {{"num_hidden", "4"}, {"__ctx_group__", "a"}, {NULL, NULL}},
                       norm[] = {{"__ctx_group__", "a"}, {NULL, NULL}},
                       second_layer[] = {{"num_hidden", "4"}, {"__ctx_group__", "b"}, {NULL, NULL}};
    SymbolHandle net = variable("data");

    CALL(MXSymbolSetAttr(net, "__ctx_group__", "a"));
    net = symbol("FullyConnected", "fc1", first_layer, 1, &net);
    net = symbol("BatchNorm", "bn", norm, 1, &net);
    return symbol("FullyConnected", "fc2", second_layer, 1, &net);
}

static void check_outputs(ExecutorHandle executor, int device)
{
    NDArrayHandle *outputs;
    uint32_t count = 0;

    CALL(MXExecutorForward(executor, 1));
    CALL(MXExecutorOutputs(executor, &count, &outputs));
    EXPECT(count == 1 && device_of(outputs[0]) == device);
}

static void check_arrays(uint32_t num_args, NDArrayHandle *args, NDArrayHandle *grads,
                         uint32_t num_states, NDArrayHandle *states)
{
    EXPECT(num_args == 7 && num_states == 2);
    for (uint32_t i = 0; i < num_args; i++) {
        int device = i < 5 ? 1 : 2; /* fc2's weight and bias are the last two */

        EXPECT(device_of(args[i]) == device && device_of(grads[i]) == device);
    }
    for (uint32_t i = 0; i < num_states; i++)
        EXPECT(device_of(states[i]) == 1);
}

static void simple_bind(SymbolHandle net)
{
    const char *data = "data", *write = "write";
    const int sizes[] = {2, 3}, larger[] = {4, 3};
    const uint32_t places[] = {0, 2};
    NDArrayHandle *args, *grads, *states;
    uint32_t num_args = 0, num_states = 0;
    ExecutorHandle executor = NULL, reshaped = NULL;
    int no_buffer = -1;

    CALL(MXExecutorSimpleBindEx(net, 1, 0, 2, groups, types, numbers, 0, NULL, &write, 1, &data,
                                sizes, places, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, &no_buffer,
                                NULL, NULL, NULL, NULL, &num_args, &args, &grads, &num_states,
                                &states, NULL, &executor));
    check_arrays(num_args, args, grads, num_states, states);
    check_outputs(executor, 2);
    CALL(MXExecutorReshapeEx(0, 1, 1, 0, 2, groups, types, numbers, 1, &data, larger, places,
                             &num_args, &args, &grads, &num_states, &states, executor, &reshaped));
    check_arrays(num_args, args, grads, num_states, states);
    check_outputs(reshaped, 2);
    REFUSED(MXExecutorSimpleBindEx(net, 1, 0, 1, groups, types, numbers, 0, NULL, &write, 1, &data,
                                   sizes, places, 0, NULL, NULL, 0, NULL, NULL, 0, NULL, &no_buffer,
                                   NULL, NULL, NULL, NULL, &num_args, &args, &grads, &num_states,
                                   &states, NULL, &executor),
            "group2ctx");
}

static void bind(void)
{
    const client_param in_b[] = {{"__ctx_group__", "b"}, {NULL, NULL}};
    SymbolHandle x = variable("x"), net = symbol("exp", "e", in_b, 1, &x);
    NDArrayHandle arg = filled(2, 2, 1, 0), grad = filled(2, 2, 0, 0), other = filled(2, 2, 0, 5);
    uint32_t write = 1;
    ExecutorHandle executor = NULL;

    CALL(MXExecutorBindX(net, 1, 0, 2, groups, types, numbers, 1, &arg, NULL, NULL, 0, NULL,
                         &executor));
    check_outputs(executor, 2);
    CALL(MXExecutorBindEX(net, 1, 0, 0, NULL, NULL, NULL, 1, &arg, &grad, &write, 0, NULL, NULL,
                          &executor));
    check_outputs(executor, 0);
    CALL(MXExecutorBind(net, 1, 5, 1, &other, NULL, NULL, 0, NULL, &executor));
    check_outputs(executor, 5);
    REFUSED(MXExecutorBind(net, 1, 5, 1, &arg, NULL, NULL, 0, NULL, &executor), "cpu(5)");
    REFUSED(MXExecutorBind(net, 1, 0, 1, &arg, &other, &write, 0, NULL, &executor),
            "gradient of x");
}

int main(void)
{
    simple_bind(make_net());
    bind();
    return failures != 0;
}
