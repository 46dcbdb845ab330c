/* Everything of the engine and the API that grows, through the sizes at which it does: exact
 * gradients of small integers. */
#include "graph_kit.h"

#include <stdio.h>

/* Every room begins with a power of two, or a number beside one. */
static const int sizes[] = {1,  2,  15, 16, 17, 31,  32,  33,  47,
                            48, 49, 63, 64, 65, 127, 128, 129, 1000};

enum { NUM_SIZES = sizeof(sizes) / sizeof(*sizes), MOST = 1000 };

/* add_n of that many arrays. */
static H add_all(int count, H *in)
{
    const char *key = "num_args", *value;
    char text[16];

    snprintf(text, sizeof(text), "%d", count);
    value = text;
    return try_op("add_n", count, in, 1, &key, &value);
}

/* x * 1 + ... + x * n, and the first of them again: n nodes are ready at once, and one of them gets
 * another gradient while it waits. */
static void ready_nodes(int n)
{
    H x = VEC(1), in[MOST + 1], y;
    char factor[16];

    attach(x, REQ_WRITE);
    record(true);
    for (int i = 0; i < n; i++) {
        snprintf(factor, sizeof(factor), "%d", i + 1);
        in[i] = op_scalar("_mul_scalar", x, factor);
    }
    in[n] = in[0];
    y = add_all(n + 1, in);
    record(false);
    CHECK_INT(backward(y), 0);
    CHECK_NEAR(grad_at(x, 0), n * (n + 1) / 2 + 1, 0);
    for (int i = 0; i < n; i++)
        drop(in[i]);
    drop(y);
    drop(x);
}

TEST(many_ready_nodes)
{
    for (int i = 0; i < NUM_SIZES; i++)
        ready_nodes(sizes[i]);
}

HARNESS_MAIN(ENTRY(many_ready_nodes))
