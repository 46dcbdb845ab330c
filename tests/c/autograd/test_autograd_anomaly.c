/* Anomaly mode of backward, and the state of the random number generator. */
#include "graph_kit.h"

TEST(anomalies)
{
    H x = VEC(4, 0, 1), y, z, head = VEC(0, 0, 0);
    N node = NULL, mine;
    int before = -1;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("sqrt", x);
    z = op_scalar("_mul_scalar", y, "2");
    record(false);
    CHECK_FAILS(MXLSetAnomaly(3, NULL), "check is 3");
    CHECK_INT(MXLSetAnomaly(1, &before), 0);
    CHECK_INT(before, 0);
    CHECK_INT(backward_full(z, NULL, 1, 0), 0); /* infinite, which is not looked for */
    CHECK_FAILS(backward_full(z, head, 1, 0),
                "sqrt: its backward returned NaN for input 0, at (1,)");
    CHECK_INT(MXLAnomalyTakeNode(&node), 0);
    REQUIRE(node != NULL);
    mine = edge_of(y, NULL);
    CHECK(node_id(node) == node_id(mine));
    MXLNodeFree(node);
    MXLNodeFree(mine);
    CHECK_INT(MXLAnomalyTakeNode(&node), 0);
    CHECK(node == NULL);
    CHECK_INT(MXLSetAnomaly(2, &before), 0);
    CHECK_INT(before, 1);
    CHECK_FAILS(backward_full(z, NULL, 1, 0), "a NaN or an infinity for input 0");
    CHECK_INT(MXLSetAnomaly(0, NULL), 0); /* a node is kept until the thread ends */
    CHECK_INT(backward(z), 0);
    drop(head);
    drop(z);
    drop(y);
    drop(x);
}

/* Where in an array of several axes. */
TEST(anomalies_have_a_position)
{
    int64_t shape[3] = {2, 1, 3};
    H x = make(F64, 3, shape), y, head = make(F64, 3, shape);

    fill(x, (double[6]){4, 4, 4, 4, 4, 0}, 6);
    fill(head, (double[6]){0}, 6);
    leaf(x);
    record(true);
    y = op1("sqrt", x);
    record(false);
    CHECK_INT(MXLSetAnomaly(1, NULL), 0);
    CHECK_FAILS(backward_full(y, head, 1, 0), "NaN for input 0, at (1,0,2)");
    CHECK_INT(MXLSetAnomaly(0, NULL), 0);
    drop(head);
    drop(y);
    drop(x);
}

TEST(finding)
{
    double values[6] = {1, 2, (double)INFINITY, 4, (double)NAN, -(double)INFINITY};
    int64_t shape[2] = {2, 3}, index = 0;

    for (size_t i = 0; i < 3; i++) {
        H a = make(F64, 2, shape), b = NULL, clean;
        const char *key = "dtype", *names[] = {"float32", "float64", "float16"};

        fill(a, values, 6);
        b = try_op("Cast", 1, &a, 1, &key, &names[i]);
        CHECK_INT(MXLNDArrayFindNonFinite(b, 1, &index), 0);
        CHECK_INT(index, 4);
        CHECK_INT(MXLNDArrayFindNonFinite(b, 2, &index), 0);
        CHECK_INT(index, 2);
        CHECK_INT(MXLNDArrayFindNonFinite(b, 0, &index), 0);
        CHECK_INT(index, -1);
        clean = op1("zeros_like", b);
        CHECK_INT(MXLNDArrayFindNonFinite(clean, 2, &index), 0);
        CHECK_INT(index, -1);
        drop(clean);
        drop(b);
        drop(a);
    }
}

/* ---- random numbers ---- */

static double draw(void)
{
    const char *keys[2] = {"shape", "dtype"}, *values[2] = {"(3,)", "float64"};
    H out = try_op("_random_uniform", 0, NULL, 2, keys, values);
    double value = at(out, 1);

    drop(out);
    return value;
}

TEST(random_state)
{
    uint64_t state[2] = {0, 0};
    double first, second;

    CHECK_INT(MXRandomSeed(5), 0);
    (void)draw();
    CHECK_INT(MXLRandomGetState(state), 0);
    first = draw();
    second = draw();
    CHECK(first != second);
    CHECK_INT(MXRandomSeed(6), 0);
    CHECK(draw() != first);
    CHECK_INT(MXLRandomSetState(state), 0);
    CHECK(draw() == first);
    CHECK(draw() == second);
}

HARNESS_MAIN(ENTRY(anomalies), ENTRY(anomalies_have_a_position), ENTRY(finding),
             ENTRY(random_state))
