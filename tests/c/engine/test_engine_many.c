/* Operators with many inputs, several outputs, or inputs that they update, from recording to
 * gradients. */
#include "engine_kit.h"

/* More inputs than anything has room for without memory. */
TEST(many_inputs)
{
    enum { TIMES = 300 };
    const char *key = "num_args", *value = "300";
    H x = VEC(2), u = VEC(1), in[TIMES], all;

    attach(x, REQ_WRITE);
    attach(u, REQ_ADD);
    for (int i = 0; i < TIMES; i++)
        in[i] = i == 7 ? u : x;
    record(true);
    all = try_op("add_n", TIMES, in, 1, &key, &value);
    REQUIRE(all != NULL);
    record(false);
    CHECK_NEAR(at(all, 0), 2 * (TIMES - 1) + 1, 0);
    CHECK_INT(backward(all), 0);
    CHECK_NEAR(grad_at(x, 0), TIMES - 1, 0);
    CHECK_NEAR(grad_at(u, 0), 1, 0);
    drop(all);
    /* a number that is not the true one */
    value = "299";
    CHECK(try_op("add_n", TIMES, in, 1, &key, &value) == NULL);
    CHECK_HAS(MXGetLastError(), "num_args");
    drop(u);
    drop(x);
}

/* y = split(x^2) into three; of which one, then two, then all lead to a head. */
TEST(several_outputs)
{
    const char *keys[2] = {"num_outputs", "axis"}, *values[2] = {"3", "0"};
    OpHandle split;
    H x = VEC(1, 2, 3), sq, *outputs = NULL, part[3], triple;
    int num = 0;
    const int *stypes;

    CHECK_INT(NNGetOpHandle("SliceChannel", &split), 0);
    attach(x, REQ_WRITE);
    record(true);
    sq = op1("square", x);
    REQUIRE(MXImperativeInvokeEx(split, 1, &sq, &num, &outputs, 2, keys, values, &stypes) == 0);
    CHECK_INT(num, 3);
    for (int i = 0; i < 3; i++)
        part[i] = outputs[i];
    triple = op_scalar("_mul_scalar", part[2], "3");
    record(false);
    CHECK_INT(MXAutogradBackwardEx(1, &part[1], NULL, 0, NULL, 1, 0, 1, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    CHECK_NEAR(grad_at(x, 1), 4, 0);
    CHECK_NEAR(grad_at(x, 2), 0, 0);
    CHECK_INT(MXAutogradBackwardEx(3, (H[]){part[0], triple, part[0]}, NULL, 0, NULL, 1, 0, 1, NULL,
                                   NULL),
              0);
    CHECK_NEAR(grad_at(x, 0), 4, 0);
    CHECK_NEAR(grad_at(x, 1), 0, 0);
    CHECK_NEAR(grad_at(x, 2), 18, 0);
    /* of an output that no head reaches: zero, while its node is reached */
    CHECK_INT(
        MXAutogradBackwardEx(1, &triple, NULL, 1, &part[1], 0, 0, 1, &outputs, &(int *){NULL}), 0);
    CHECK_NEAR(at(outputs[0], 0), 0, 0);
    drop(outputs[0]);
    for (int i = 0; i < 3; i++)
        drop(part[i]);
    drop(triple);
    drop(sq);
    drop(x);
}

/* A prepared call tells how many outputs it has, or that its arguments decide. */
TEST(numbers_of_outputs)
{
    const char *parts[2] = {"axis", "num_outputs"}, *four[1] = {"4"}, *type[1] = {"act_type"};
    const char *slope[1] = {"slope"}, *rrelu[1] = {"rrelu"};
    MXLValue arguments[2] = {{.i = 0}, {.i = 5}};
    MXLCallHandle call;
    int count = 0;

    CHECK_INT(MXLPrepare("dot", 0, NULL, NULL, 0, NULL, &call), 0);
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLPrepare("Dropout", 0, NULL, NULL, 0, NULL, &call), 0); /* one is hidden */
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, 1);
    CHECK_INT(MXLPrepare("moments", 0, NULL, NULL, 0, NULL, &call), 0);
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(MXLPrepare("LeakyReLU", 1, type, rrelu, 1, slope, &call), 0);
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, 2);
    CHECK_INT(MXLPrepare("split", 1, &parts[1], four, 1, parts, &call), 0);
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, 4);
    CHECK_INT(MXLPrepare("split", 0, NULL, NULL, 2, parts, &call), 0);
    CHECK_INT(MXLCallGetNumOutputs(call, NULL, &count), 0);
    CHECK_INT(count, -1);
    CHECK_INT(MXLCallGetNumOutputs(call, arguments, &count), 0);
    CHECK_INT(count, 5);
    arguments[1].i = INT64_MAX;
    count = 7;
    CHECK_INT(MXLCallGetNumOutputs(call, arguments, &count), -1);
    CHECK_INT(count, 7);
}

/* An optimizer's step: writes the weight it was given and its momentum; not under a record that has
 * the weight as a variable. */
TEST(updated_inputs)
{
    const char *keys[2] = {"lr", "momentum"}, *values[2] = {"0.5", "0.5"};
    OpHandle step;
    H w = VEC(4), g = VEC(2), m = VEC(1), in[3], out[1], *outputs = out;
    int num = 1;
    const int *stypes;

    CHECK_INT(NNGetOpHandle("sgd_mom_update", &step), 0);
    attach(w, REQ_WRITE);
    in[0] = out[0] = w;
    in[1] = g;
    in[2] = m;
    record(true);
    CHECK_INT(MXImperativeInvokeEx(step, 3, in, &num, &outputs, 2, keys, values, &stypes), -1);
    CHECK_NEAR(at(w, 0), 4, 0);
    CHECK_NEAR(at(m, 0), 1, 0);
    record(false);
    CHECK_INT(MXImperativeInvokeEx(step, 3, in, &num, &outputs, 2, keys, values, &stypes), 0);
    CHECK_NEAR(at(m, 0), -0.5, 0); /* 0.5 * 1 - 0.5 * 2 */
    CHECK_NEAR(at(w, 0), 3.5, 0);
    drop(m);
    drop(g);
    drop(w);
}

/* A view's gradient; a view of a view; a row; and a reshape, all to second order. */
TEST(views)
{
    int64_t shape[2] = {2, 2};
    H x = VEC(1, 2, 3, 4), table, row, tail, sq, y, d, e;

    attach(x, REQ_WRITE);
    record(true);
    table = MXLNDArrayReshape(x, 2, shape, 0);
    row = MXLNDArrayAt(table, 1);
    tail = MXLNDArraySlice(row, 1, 2);
    REQUIRE(tail != NULL);
    sq = MUL(tail, tail);
    y = MUL(tail, sq);
    d = derivative(y, x, 1, 1);
    REQUIRE(d != NULL);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(at(d, i), i == 3 ? 48 : 0, 0);
    e = derivative(d, x, 1, 0);
    REQUIRE(e != NULL);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(at(e, i), i == 3 ? 24 : 0, 0);
    record(false);
    drop(e);
    drop(d);
    drop(y);
    drop(sq);
    drop(tail);
    drop(row);
    drop(table);
    drop(x);
}

HARNESS_MAIN(ENTRY(many_inputs), ENTRY(several_outputs), ENTRY(numbers_of_outputs),
             ENTRY(updated_inputs), ENTRY(views))
