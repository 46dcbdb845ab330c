/* Roots of a backward and derivatives of gradients in MXNet's front end, where PyTorch's differs.
 */
#include "graph_kit.h"

static int64_t column[2] = {2, 1};

/* MXLBackward of one head into all variables. */
static int backward_as(int dialect, H head, H head_grad, int create)
{
    MXLBackwardOptions options = {.keep_graph = 1, .create_graph = create, .dialect = dialect};
    int output, status;
    N node = edge_of(head, &output);

    status = MXLBackward(1, &node, &output, &head_grad, &options, 0, NULL, NULL, NULL);
    CHECK_INT(MXLNodeFree(node), 0);
    return status;
}

/* ---- gradients of heads ---- */

/* Of another shape, with as many elements: in the head's shape. */
TEST(head_gradients_of_another_shape)
{
    H x = make(F64, 2, column), y, z, flat = VEC(10, 100), both[2], grads[2];

    fill(x, (double[]){1, 2}, 2);
    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    z = op_scalar("_mul_scalar", x, "3");
    record(false);
    CHECK_INT(backward_full(y, flat, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 20, 0);
    CHECK_NEAR(grad_at(x, 1), 400, 0);
    CHECK_INT(backward_full(x, flat, 1, 0), 0); /* a variable is its own head */
    CHECK_NEAR(grad_at(x, 1), 100, 0);
    both[0] = y;
    both[1] = z;
    grads[0] = flat;
    grads[1] = NULL;
    CHECK_INT(MXAutogradBackward(2, both, grads, 1), 0);
    CHECK_NEAR(grad_at(x, 1), 403, 0);
    CHECK_NEAR(at(flat, 1), 100, 0);
    CHECK_INT(backward_as(MXL_DIALECT_MXNET, y, flat, 0), 0);
    CHECK_NEAR(grad_at(x, 1), 400, 0);
    CHECK_FAILS(backward_as(MXL_DIALECT_TORCH, y, flat, 0), "shape (2,), head 0 has (2,1)");
    drop(z);
    drop(y);
    drop(flat);
    drop(x);
}

/* With more elements than the head the first ones count, in the head's dtype; a loss reads none. */
TEST(head_gradients_of_another_size_and_dtype)
{
    static const int64_t three = 3;
    H x = make(F64, 2, column), y, loss, wide = make(F32, 1, &three), narrow = VEC(5);

    fill(x, (double[]){1, 2}, 2);
    CHECK_INT(MXNDArraySyncCopyFromCPU(wide, (float[]){10, 100, 1000}, 3), 0);
    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    loss = op1("MakeLoss", x);
    record(false);
    CHECK_INT(backward_full(y, wide, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 20, 0);
    CHECK_NEAR(grad_at(x, 1), 400, 0);
    CHECK_FAILS(backward_as(MXL_DIALECT_TORCH, y, wide, 0), "shape (3,), head 0 has (2,1)");
    CHECK_FAILS(backward_full(y, narrow, 1, 0), "shape (1,), head 0 has (2,1)");
    CHECK_INT(backward_full(loss, narrow, 1, 0), 0);
    CHECK_NEAR(grad_at(x, 1), 1, 0);
    drop(loss);
    drop(y);
    drop(narrow);
    drop(wide);
    drop(x);
}

/* A gradient flows to the head's gradient, in its own shape. */
TEST(a_recorded_head_gradient_of_another_shape)
{
    H x = make(F64, 2, column), g = VEC(10, 100), y, *grads = NULL, d;
    int *stypes = NULL;

    fill(x, (double[]){1, 2}, 2);
    attach(x, REQ_WRITE);
    attach(g, REQ_WRITE);
    record(true);
    y = op1("square", x);
    REQUIRE(MXAutogradBackwardEx(1, &y, &g, 1, &x, 1, 1, 1, &grads, &stypes) == 0);
    d = grads[0]; /* 2 x g */
    record(false);
    CHECK_INT(backward(d), 0);
    CHECK_NEAR(grad_at(g, 0), 2, 0);
    CHECK_NEAR(grad_at(g, 1), 4, 0);
    CHECK_NEAR(grad_at(x, 1), 200, 0);
    drop(d);
    drop(y);
    drop(g);
    drop(x);
}

/* ---- frozen heads ---- */

/* A head that only variables without a request, and constants, led to: how it is made. */
static H of_the_variable(H f, H c)
{
    H again = NULL;

    (void)c;
    CHECK_INT(MXShallowCopyNDArray(f, &again), 0);
    return again;
}

static H of_one(H f, H c)
{
    (void)c;
    return op1("square", f);
}

static H of_both(H f, H c)
{
    H one = MUL(f, c), sum = ADD(one, one);

    drop(one);
    return sum;
}

static H composed(H f, H c)
{
    (void)c;
    return op1("softmin", f);
}

static H of_a_view(H f, H c)
{
    (void)c;
    return MXLNDArraySlice(f, 0, 1);
}

static H written(H f, H c)
{
    H out = VEC(0, 0);

    (void)c;
    CHECK_INT(op_into("square", 1, &f, out), 0);
    return out;
}

static int never(int num_ograds, int num_igrads, void **ptrs, const int *reqs, const int is_train,
                 void *state)
{
    (void)num_ograds, (void)num_igrads, (void)ptrs, (void)reqs, (void)is_train, (void)state;
    return 0;
}

static int forget(void *state)
{
    (void)state;
    return 1;
}

static H of_a_function(H f, H c)
{
    int (*callbacks[2])(void) = {CALLBACK(never), CALLBACK(forget)};
    void *contexts[2] = {NULL, NULL};
    struct MXCallbackList list = {2, callbacks, contexts};
    H out = VEC(1);

    (void)c;
    CHECK_INT(custom_record(1, &f, 1, &out, &list), 0);
    return out;
}

static H (*const frozen[])(H f, H c) = {of_the_variable, of_one,  of_both,      composed,
                                        of_a_view,       written, of_a_function};

TEST(frozen_heads)
{
    for (size_t k = 0; k < sizeof(frozen) / sizeof(*frozen); k++) {
        for (int first = 0; first < 2; first++) {
            H x = VEC(1, 2), f = VEC(3, 4), c = VEC(5, 6), wide = VEC(1, 2, 3), heads[2], d;
            H grads[2] = {NULL, NULL}, *results = NULL;
            int *stypes = NULL;

            attach(x, REQ_WRITE);
            attach_start(f, REQ_NULL, 9);
            record(true);
            heads[first] = frozen[k](f, c);
            heads[1 - first] = op1("square", x);
            record(false);
            grads[first] = wide; /* nobody looks at it */
            CHECK_INT(MXAutogradBackward(2, heads, grads, 1), 0);
            CHECK_NEAR(grad_at(x, 1), 4, 0);
            CHECK_NEAR(grad_at(f, 1), 9, 0);
            CHECK_INT(MXAutogradBackwardEx(2, heads, NULL, 1, &x, 1, 0, 1, &results, &stypes), 0);
            CHECK_NEAR(at(results[0], 1), 4, 0);
            drop(results[0]);
            d = derivative(heads[first], x, 1, 0);
            CHECK(d == NULL);
            CHECK_HAS(MXGetLastError(), "variable 0 is not reached");
            CHECK_FAILS(backward_full(heads[first], NULL, 1, 0), "wants a gradient");
            drop(heads[0]);
            drop(heads[1]);
            drop(wide);
            drop(c);
            drop(f);
            drop(x);
        }
    }
}

static H of_constants(H f, H c)
{
    (void)f;
    return op1("square", c);
}

static H detached(H f, H c)
{
    H out = MUL(f, c), alone = NULL;

    CHECK_INT(MXNDArrayDetach(out, &alone), 0);
    drop(out);
    return alone;
}

static H unrecorded(H f, H c)
{
    H out;

    record(false);
    out = MUL(f, c);
    record(true);
    return out;
}

/* A constant was written over what was frozen. */
static H overwritten(H f, H c)
{
    H out = MUL(f, c);

    CHECK_INT(op_into("square", 1, &c, out), 0);
    return out;
}

static H (*const constant[])(H f, H c) = {of_constants, detached, unrecorded, overwritten};

/* A constant is no head: nobody meant that. */
TEST(constant_heads)
{
    for (size_t k = 0; k < sizeof(constant) / sizeof(*constant); k++) {
        H x = VEC(1, 2), f = VEC(3, 4), c = VEC(5, 6), heads[2];

        attach(x, REQ_WRITE);
        attach(f, REQ_NULL);
        record(true);
        heads[0] = op1("square", x);
        heads[1] = constant[k](f, c);
        record(false);
        CHECK_FAILS(MXAutogradBackward(2, heads, NULL, 1), "head 1 is not in a recorded graph");
        CHECK_NEAR(grad_at(x, 1), 0, 0);
        drop(heads[0]);
        drop(heads[1]);
        drop(c);
        drop(f);
        drop(x);
    }
}

/* ---- derivatives that vanish ---- */

static H times_two(H x, H w)
{
    (void)w;
    return op_scalar("_mul_scalar", x, "2");
}

static H sum_of(H x, H w)
{
    (void)w;
    return op1("sum", x);
}

static H in_radians(H x, H w)
{
    (void)w;
    return op1("radians", x);
}

static H product(H x, H w)
{
    return MUL(x, w);
}

static H variable_itself(H x, H w)
{
    return of_the_variable(x, w);
}

static H sign_of(H x, H w)
{
    (void)w;
    return op1("sign", x);
}

static const struct {
    H (*function)(H x, H w);
    double first; /* where w is 7 */
} linear[] = {{times_two, 2}, {sum_of, 1},          {in_radians, 0.017453292519943295},
              {product, 7},   {variable_itself, 1}, {sign_of, 0}};

/* d^2 y / dx^2 and d^3 y / dx^3, returned and in the buffer. */
TEST(derivatives_that_vanish)
{
    for (size_t k = 0; k < sizeof(linear) / sizeof(*linear); k++) {
        H x = VEC(3, 4), w = VEC(7, 7), y, first, second, third;

        attach_start(x, REQ_WRITE, 5);
        attach_start(w, REQ_WRITE, 5);
        record(true);
        y = linear[k].function(x, w);
        first = derivative(y, x, 1, 1);
        REQUIRE(first != NULL);
        CHECK_NEAR(at(first, 1), linear[k].first, 1e-18);
        second = derivative(first, x, 1, 1);
        REQUIRE(second != NULL);
        CHECK_NEAR(at(second, 1), 0, 0);
        third = derivative(second, x, 1, 0);
        REQUIRE(third != NULL);
        CHECK_NEAR(at(third, 1), 0, 0);
        record(false);
        CHECK_NEAR(grad_at(x, 1), 5, 0);
        CHECK_INT(backward(first), 0);
        CHECK_NEAR(grad_at(x, 1), 0, 0);
        CHECK_NEAR(grad_at(w, 1), linear[k].function == product ? 1 : 5, 0);
        drop(third);
        drop(second);
        drop(first);
        drop(y);
        drop(w);
        drop(x);
    }
}

/* x w by x, then by x: what does not vanish stays, and zeros are added to nothing. */
TEST(sums_of_what_vanishes)
{
    H x = VEC(3), w = VEC(7), y, d, penalty, *grads = NULL;
    H asked[2] = {x, w};
    int *stypes = NULL;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    record(true);
    y = MUL(x, w);
    d = derivative(y, x, 1, 1);
    penalty = op1("square", d); /* w^2 */
    record(false);
    CHECK_INT(MXAutogradBackwardEx(1, &penalty, NULL, 2, asked, 1, 0, 1, &grads, &stypes), 0);
    CHECK_NEAR(at(grads[0], 0), 0, 0);
    CHECK_NEAR(at(grads[1], 0), 14, 0);
    drop(grads[0]);
    drop(grads[1]);
    CHECK_INT(backward(y), 0);
    CHECK_INT(backward(penalty), 0); /* which needs nothing of y's graph */
    CHECK_NEAR(grad_at(w, 0), 14, 0);
    drop(penalty);
    drop(d);
    drop(y);
    drop(w);
    drop(x);
}

/* A variable that the first derivative was not asked for by is none of its business. */
TEST(variables_not_asked_for)
{
    H x = VEC(3), w = VEC(7), y, z, sum, d, none;

    attach(x, REQ_WRITE);
    attach(w, REQ_WRITE);
    record(true);
    y = times_two(x, w);
    z = op1("square", w);
    sum = ADD(y, z);
    d = derivative(sum, x, 1, 1);
    record(false);
    none = derivative(d, w, 1, 0);
    CHECK(none == NULL);
    CHECK_HAS(MXGetLastError(), "variable 0 is not reached");
    drop(d);
    drop(sum);
    drop(z);
    drop(y);
    drop(w);
    drop(x);
}

/* PyTorch's dialect: what is a constant has no derivative. */
TEST(vanishing_in_the_other_dialect)
{
    MXLBackwardOptions options = {.keep_graph = 1, .create_graph = 1, .dialect = MXL_DIALECT_TORCH};
    H x = leaf(VEC(3)), y, d = NULL;
    int output, zero = 0;
    N head, variable = edge_of(x, NULL), node;

    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    record(false);
    head = edge_of(y, &output);
    CHECK_INT(MXLBackward(1, &head, &output, NULL, &options, 1, &variable, &zero, &d), 0);
    CHECK_NEAR(at(d, 0), 2, 0);
    node = edge_of(d, NULL);
    CHECK(node == NULL);
    CHECK_INT(MXLNodeFree(head), 0);
    CHECK_INT(MXLNodeFree(variable), 0);
    drop(d);
    drop(y);
    drop(x);
}

/* ---- what a caller's code gives ---- */

/* dx = 2 x dy, by numbers that nobody recorded: its derivative is not zero, but unknown. */
static int by_numbers(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                      const int *wants, H *results)
{
    H x = *(H *)payload;

    (void)num_inputs, (void)wants;
    results[0] = VEC(2 * at(x, 0) * at(output_grads[0], 0));
    for (int i = 0; i < num_outputs; i++)
        drop(output_grads[i]);
    return 0;
}

TEST(functions_that_are_not_recorded)
{
    MXLCallHandle like = NULL;
    H x = VEC(3), y = VEC(9), d, none;
    int taken = 0;

    attach(x, REQ_WRITE);
    CHECK_INT(
        MXLPrepareAs(MXL_DIALECT_MXNET, "Square", NULL, "_copy", 0, NULL, NULL, 0, NULL, &like), 0);
    record(true);
    CHECK_INT(MXLFunctionRecord(like, 1, &x, 1, &y, by_numbers, &x, NULL, NULL, &taken), 0);
    CHECK_INT(taken, 1);
    d = derivative(y, x, 1, 1);
    record(false);
    CHECK_NEAR(at(d, 0), 6, 0);
    none = derivative(d, x, 0, 0);
    CHECK(none == NULL);
    CHECK_HAS(MXGetLastError(), "head 0 is not in a recorded graph");
    drop(d);
    drop(y);
    drop(x);
}

/* The same in a hook: on the variable, on an array, before and after a node. */
static int scaled(void *payload, int count, const H *grads, H *results)
{
    bool looks = *(int *)payload != 0;

    for (int i = 0; i < count; i++) {
        results[i] = looks ? NULL : VEC(2 * at(grads[i], 0));
        drop(grads[i]);
    }
    return 0;
}

static int scaled_after(void *payload, int num_inputs, const H *input_grads, int num_outputs,
                        const H *output_grads, H *results)
{
    drop(output_grads[0]);
    CHECK_INT(num_outputs, 1);
    return scaled(payload, num_inputs > 0, input_grads, results); /* the scalar has none */
}

TEST(hooks_that_are_not_recorded)
{
    for (int kind = 0; kind < 4; kind++) {
        for (int looks = 0; looks < 2; looks++) {
            H x = VEC(3), y, z, d, second;
            N node;

            attach(x, REQ_WRITE);
            record(true);
            y = op_scalar("_mul_scalar", x, "3");
            z = op_scalar("_mul_scalar", y, "5");
            record(false);
            node = edge_of(y, NULL);
            if (kind < 2)
                CHECK_INT(MXLNDArrayAddHook(kind == 0 ? x : y, scaled, 0, &looks, NULL, NULL), 0);
            else if (kind == 2)
                CHECK_INT(MXLNodeAddPreHook(node, scaled, &looks, NULL, NULL), 0);
            else
                CHECK_INT(MXLNodeAddHook(node, scaled_after, &looks, NULL, NULL), 0);
            CHECK_INT(MXLNodeFree(node), 0);
            record(true);
            d = derivative(z, x, 1, 1);
            record(false);
            CHECK_NEAR(at(d, 0), looks ? 15 : 30, 0);
            second = derivative(d, x, 0, 0);
            CHECK_INT(second != NULL, looks);
            if (looks) {
                CHECK_NEAR(at(second, 0), 0, 0);
                drop(second);
            }
            drop(d);
            drop(z);
            drop(y);
            drop(x);
        }
    }
}

HARNESS_MAIN(ENTRY(head_gradients_of_another_shape),
             ENTRY(head_gradients_of_another_size_and_dtype),
             ENTRY(a_recorded_head_gradient_of_another_shape), ENTRY(frozen_heads),
             ENTRY(constant_heads), ENTRY(derivatives_that_vanish), ENTRY(sums_of_what_vanishes),
             ENTRY(variables_not_asked_for), ENTRY(vanishing_in_the_other_dialect),
             ENTRY(functions_that_are_not_recorded), ENTRY(hooks_that_are_not_recorded))
