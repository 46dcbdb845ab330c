/* Backward: orders of differentiation, roots, grad_outputs, gradient requests, returned variables.
 */
#include "engine_kit.h"

/* Derivatives of tanh at 0.3, orders 1 to 3, by hand. */
TEST(tanh_third_order)
{
    double t = tanh(0.3), d1 = 1 - t * t, d2 = -2 * t * d1, d3 = -2 * d1 * d1 + 4 * t * t * d1;
    double want[3] = {d1, d2, d3};
    H x = VEC(0.3), y;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("tanh", x);
    for (int order = 0; order < 3; order++) {
        H next = derivative(y, x, 1, 1);

        REQUIRE(next != NULL);
        CHECK_NEAR(at(next, 0), want[order], 1e-12);
        drop(y);
        y = next;
    }
    record(false);
    CHECK_INT(fresh(x), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    drop(y);
    drop(x);
}

/* Second order of a function of one input, for operators with saved inputs, outputs and scalars. */
TEST(second_orders)
{
    static const struct {
        const char *op, *scalar;
        double x, d1, d2;
    } cases[] = {
        {"exp", NULL, 0.5, 1.6487212707001282, 1.6487212707001282},
        {"log", NULL, 0.5, 2, -4},
        {"sqrt", NULL, 4, 0.25, -1.0 / 32},
        {"square", NULL, 3, 6, 2},
        {"sigmoid", NULL, 0, 0.25, 0},
        {"relu", NULL, 2, 1, 0},
        {"abs", NULL, -2, -1, 0},
        {"negative", NULL, 2, -1, 0},
        {"_copy", NULL, 2, 1, 0},
        {"_power_scalar", "3", 2, 12, 12},
        {"_rdiv_scalar", "2", 2, -0.5, 0.5},
        {"_mul_scalar", "5", 2, 5, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        H x = VEC(cases[i].x), y, d1, d2, again;

        attach(x, REQ_WRITE);
        record(true);
        y = cases[i].scalar == NULL ? op1(cases[i].op, x)
                                    : op_scalar(cases[i].op, x, cases[i].scalar);
        d1 = derivative(y, x, 1, 1);
        REQUIRE(d1 != NULL);
        CHECK_NEAR(at(d1, 0), cases[i].d1, 1e-12);
        again = ADD(d1, x); /* so that a constant derivative can be differentiated too */
        d2 = derivative(again, x, 0, 0);
        REQUIRE(d2 != NULL);
        CHECK_NEAR(at(d2, 0), cases[i].d2 + 1, 1e-12);
        record(false);
        drop(d1);
        drop(d2);
        drop(again);
        drop(y);
        drop(x);
    }
}

/* a (3,1) * b (2) + a: first and mixed second derivatives by hand. */
TEST(broadcast_second_order)
{
    int64_t shape[2] = {3, 1};
    H a = make(F64, 2, shape), b = VEC(10, 20), ab, y, sq, da, d2;

    fill(a, (double[]){1, 2, 3}, 3);
    attach(a, REQ_WRITE);
    attach(b, REQ_WRITE);
    record(true);
    ab = MUL(a, b);
    sq = op1("square", ab);
    y = ADD(sq, a);
    da = derivative(y, a, 1, 1); /* 2 a sum(b^2) + 2 */
    REQUIRE(da != NULL);
    CHECK_INT(MXLNDArrayGetInfo(da, 0, NULL, NULL), 2);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(at(da, i), 2 * (i + 1) * 500 + 2, 1e-12);
    CHECK_INT(backward(da), 0); /* d/da: 2 sum(b^2); d/db: 4 b sum(a) */
    record(false);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(grad_at(a, i), 1000, 1e-12);
    CHECK_NEAR(grad_at(b, 0), 4 * 10 * 6, 1e-12);
    CHECK_NEAR(grad_at(b, 1), 4 * 20 * 6, 1e-12);
    d2 = grad_of(b);
    CHECK_INT(MXLNDArrayGetInfo(d2, 0, NULL, NULL), 1);
    drop(d2);
    drop(da);
    drop(y);
    drop(sq);
    drop(ab);
    drop(b);
    drop(a);
}

TEST(head_gradients)
{
    H x = VEC(1, 2), y, z, g = VEC(10, 100), heads[3], grads[3] = {NULL, NULL, NULL};

    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    z = op_scalar("_mul_scalar", x, "3");
    record(false);
    CHECK_INT(backward_full(y, g, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 20, 0);
    CHECK_NEAR(grad_at(x, 1), 400, 0);
    heads[0] = y;
    heads[1] = z;
    heads[2] = y;
    grads[1] = g; /* y twice: 2 * 2x + 3 g */
    CHECK_INT(MXAutogradBackwardEx(3, heads, grads, 0, NULL, 1, 0, 1, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 34, 0);
    CHECK_NEAR(grad_at(x, 1), 308, 0);
    CHECK_NEAR(at(g, 0), 10, 0); /* the caller's head gradient is nobody's sum */
    CHECK_INT(MXAutogradBackward(3, heads, NULL, 1), 0);
    CHECK_NEAR(grad_at(x, 0), 7, 0);
    grads[0] = g;
    grads[1] = NULL;
    CHECK_INT(MXAutogradBackwardEx(2, heads + 1, (H[]){NULL, g}, 0, NULL, 1, 0, 1, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 23, 0);
    CHECK_INT(MXAutogradComputeGradient(2, heads), 0);
    CHECK_NEAR(grad_at(x, 1), 7, 0);
    drop(g);
    drop(z);
    drop(y);
    drop(x);
}

/* The same array given as the head gradient of two heads, and kept unchanged. */
TEST(head_gradient_shared)
{
    H x = VEC(2), g = VEC(5), y, z, heads[2], grads[2];

    attach(x, REQ_WRITE);
    record(true);
    y = op1("_copy", x);
    z = op1("_copy", x);
    record(false);
    heads[0] = y;
    heads[1] = z;
    grads[0] = grads[1] = g;
    CHECK_INT(MXAutogradBackward(2, heads, grads, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 10, 0);
    CHECK_NEAR(at(g, 0), 5, 0);
    drop(g);
    drop(y);
    drop(z);
    drop(x);
}

/* A leaf as head; its own gradient buffer as head gradient. */
TEST(leaf_head)
{
    H x = VEC(4, 5), g;

    attach(x, REQ_ADD);
    CHECK_INT(backward(x), 0);
    CHECK_INT(backward(x), 0);
    CHECK_NEAR(grad_at(x, 0), 2, 0);
    g = grad_of(x);
    CHECK_INT(backward_full(x, g, 0, 0), 0);
    CHECK_NEAR(grad_at(x, 1), 4, 0);
    drop(g);
    drop(x);
}

TEST(requests)
{
    static const uint32_t reqs[3] = {REQ_NULL, REQ_WRITE, REQ_ADD};

    for (int i = 0; i < 9; i++) {
        uint32_t rx = reqs[i / 3], rw = reqs[i % 3];
        H x = VEC(2), w = VEC(3), y;
        int status;

        attach_start(x, rx, 100);
        attach_start(w, rw, 100);
        record(true);
        y = MUL(x, w);
        record(false);
        status = backward(y);
        CHECK_INT(status, rx == REQ_NULL && rw == REQ_NULL ? -1 : 0);
        CHECK_NEAR(grad_at(x, 0), rx == REQ_NULL ? 100 : rx == REQ_ADD ? 103 : 3, 0);
        CHECK_NEAR(grad_at(w, 0), rw == REQ_NULL ? 100 : rw == REQ_ADD ? 102 : 2, 0);
        CHECK_INT(fresh(x), rx != REQ_NULL);
        CHECK_INT(fresh(w), rw != REQ_NULL);
        drop(y);
        drop(w);
        drop(x);
    }
}

TEST(unreached_keeps_gradient_and_flag)
{
    H x = VEC(2), u = VEC(3), y, dead;

    attach_start(x, REQ_WRITE, 7);
    attach_start(u, REQ_WRITE, 7);
    record(true);
    y = op1("square", x);
    dead = op1("square", u);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(u, 0), 7, 0);
    CHECK_INT(fresh(u), 0);
    CHECK_INT(fresh(x), 1);
    CHECK_INT(MXNDArraySetGradState(x, 0), 0);
    CHECK_INT(backward(dead), 0);
    CHECK_INT(fresh(x), 0);
    CHECK_INT(fresh(u), 1);
    attach(u, REQ_WRITE); /* attached anew: not written yet, as in 1.9.1 */
    CHECK_INT(fresh(u), 0);
    drop(dead);
    drop(y);
    drop(u);
    drop(x);
}

/* Reached, but nothing flows (BlockGrad): zero is written, in 1.9.1 too. */
TEST(blocked_gives_zero)
{
    H x = VEC(2), b, y;

    attach_start(x, REQ_WRITE, 7);
    record(true);
    b = op1("BlockGrad", x);
    y = op1("square", b);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), 0, 0);
    drop(y);
    drop(b);
    drop(x);
}

TEST(variables_returned)
{
    H x = VEC(2), w = VEC(5), u = VEC(1), p, y, vars[3], *grads = NULL;
    int *stypes = NULL;

    attach_start(x, REQ_ADD, 9);
    attach_start(w, REQ_WRITE, 9);
    attach(u, REQ_WRITE);
    record(true);
    p = MUL(x, w);
    y = MUL(p, p);
    record(false);
    vars[0] = w;
    vars[1] = x;
    vars[2] = x;
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, 3, vars, 1, 0, 1, &grads, &stypes), 0);
    CHECK_NEAR(at(grads[0], 0), 2 * 10 * 2, 0);
    CHECK_NEAR(at(grads[1], 0), 2 * 10 * 5, 0);
    CHECK_NEAR(at(grads[2], 0), 2 * 10 * 5, 0);
    CHECK(grads[1] != grads[2]);
    fill(grads[1], (double[]){0}, 1); /* an array of its own */
    CHECK_NEAR(at(grads[2], 0), 100, 0);
    for (int i = 0; i < 3; i++)
        drop(grads[i]);
    CHECK_NEAR(grad_at(x, 0), 9, 0);
    CHECK_INT(fresh(x), 0);
    /* of a value on the way */
    vars[0] = p;
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, 1, vars, 1, 0, 1, &grads, &stypes), 0);
    CHECK_NEAR(at(grads[0], 0), 20, 0);
    drop(grads[0]);
    /* not reached: an error, as in 1.9.1, also for a variable */
    vars[0] = x;
    vars[1] = u;
    grads = NULL;
    CHECK_FAILS(MXAutogradBackwardEx(1, &y, NULL, 2, vars, 0, 0, 1, &grads, &stypes), "variable 1");
    CHECK(grads == NULL);
    CHECK_INT(backward(y), 0); /* the failed one released nothing */
    drop(y);
    drop(p);
    drop(u);
    drop(w);
    drop(x);
}

TEST(same_leaf_many_times)
{
    enum { TIMES = 300 };
    H x = VEC(2), y = VEC(0);

    attach(x, REQ_WRITE);
    record(true);
    for (int i = 0; i < TIMES; i++) {
        H next = ADD(y, x);

        drop(y);
        y = next;
    }
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), TIMES, 0);
    drop(y);
    drop(x);
}

/* A gradient of a variable without a buffer is made on the first backward. */
TEST(leaf_without_buffer)
{
    H x = VEC(3), none = NULL, y, g;
    uint32_t req = REQ_ADD;

    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &none), 0);
    record(true);
    y = op1("square", x);
    record(false);
    g = grad_of(x);
    CHECK(g == NULL);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 12, 0);
    drop(y);
    drop(x);
}

/* Gradient of an integer cast: back in the input's dtype. */
TEST(cast_back)
{
    const char *key = "dtype", *value = "float32";
    H x = VEC(1.5), y, z, g;
    int dtype = -1;

    attach(x, REQ_WRITE);
    record(true);
    y = try_op("Cast", 1, &x, 1, &key, &value);
    REQUIRE(y != NULL);
    z = op1("square", y);
    record(false);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 0), 3, 0);
    g = grad_of(x);
    CHECK_INT(MXLNDArrayGetInfo(g, 0, NULL, &dtype), 1);
    CHECK_INT(dtype, F64);
    drop(g);
    drop(z);
    drop(y);
    drop(x);
}

/* An error says which call and which of its arrays: a program with many calls needs both. */
TEST(errors_name_call_and_array)
{
    H x = VEC(1, 2), in[2] = {x, NULL}, *outputs = NULL, gone = VEC(3);
    MXLCallHandle add;
    OpHandle op;
    const int *stypes;
    int num = 0;

    drop(gone);
    REQUIRE(MXLPrepare("broadcast_add", 0, NULL, NULL, 0, NULL, &add) == 0);
    CHECK(MXLCall2(add, x, gone) == NULL);
    CHECK_HAS(MXGetLastError(), "broadcast_add: input 1: ");
    CHECK_HAS(MXGetLastError(), "freed");
    CHECK(MXLCall2(add, gone, x) == NULL);
    CHECK_HAS(MXGetLastError(), "broadcast_add: input 0: ");
    CHECK(MXLCall(add, 2, in, NULL) == NULL);
    CHECK_HAS(MXGetLastError(), "broadcast_add: input 1: NULL");
    REQUIRE(NNGetOpHandle("dot", &op) == 0);
    CHECK_FAILS(MXImperativeInvokeEx(op, 2, in, &num, &outputs, 0, NULL, NULL, &stypes),
                "dot: input 1: NULL");
    CHECK_FAILS(MXImperativeInvokeEx(x, 2, in, &num, &outputs, 0, NULL, NULL, &stypes),
                "MXImperativeInvoke: ");
    CHECK_FAILS(MXAutogradBackward(1, &in[1], NULL, 0), "backward: head 0: NULL");
    CHECK_FAILS(MXAutogradBackward(1, NULL, NULL, 0), "MXAutogradBackward: ");
    drop(x);
}

HARNESS_MAIN(ENTRY(errors_name_call_and_array), ENTRY(tanh_third_order), ENTRY(second_orders),
             ENTRY(broadcast_second_order), ENTRY(head_gradients), ENTRY(head_gradient_shared),
             ENTRY(leaf_head), ENTRY(requests), ENTRY(unreached_keeps_gradient_and_flag),
             ENTRY(blocked_gives_zero), ENTRY(variables_returned), ENTRY(same_leaf_many_times),
             ENTRY(leaf_without_buffer), ENTRY(cast_back))
