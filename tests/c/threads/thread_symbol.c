/* Cached operators on eight threads: the weights that one keeps in packed form, and the graphs of a
 * loop. */
#include "control_kit.h"
#include "engine_kit.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 40 };

typedef struct job {
    CachedOpHandle op;
    H data, weight;
    double expected;
} job;

/* Checks position (1, 1), which has all its neighbours. */
static void *work(void *given)
{
    const job *j = given;

    for (int i = 0; i < ROUNDS; i++) {
        H inputs[2] = {j->data, j->weight}, *out = NULL;
        int count = 0;

        if (CHECK_INT(MXInvokeCachedOp(j->op, 2, inputs, &count, &out), 0)) {
            CHECK_NEAR(at(out[0], 6), j->expected, 1e-4);
            drop(out[0]);
        }
    }
    return NULL;
}

static void run_all(job *j, void *(*run)(void *))
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(CHECK_INT(pthread_create(&threads[i], NULL, run, j), 0));
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

TEST(weights_are_shared)
{
    static const int64_t data[] = {1, 2, 5, 5}, weight[] = {2, 2, 3, 3};
    job j = {.data = filled(4, data, 1), .weight = filled(4, weight, 2), .expected = 36};

    REQUIRE(CHECK_INT(make_convolution("2", &j.op), 0));
    run_all(&j, work);
    /* edited in place: what was kept is of no use */
    CHECK_INT(op_into("_mul_scalar", 1, &j.weight, j.weight), 0);
    j.expected = 36;
    run_all(&j, work);
    CHECK_INT(MXFreeCachedOp(j.op), 0);
    drop(j.data);
    drop(j.weight);
}

/* The loop of control_kit.h, recorded or not: results 11, 14, 22 and the state 7. */
static void *loop(void *given)
{
    const job *j = given;
    H inputs[3] = {VEC(1, 2, 3), VEC(1), VEC(10)};

    attach_start(inputs[0], REQ_WRITE, 0);
    for (int i = 0; i < ROUNDS; i++) {
        H *out = NULL, both[2];
        int count = 0;

        record(i % 2 == 0);
        if (CHECK_INT(MXInvokeCachedOp(j->op, 3, inputs, &count, &out), 0)) {
            both[0] = out[0];
            both[1] = out[1];
            CHECK_NEAR(at(both[0], 2), 22, 0);
            CHECK_NEAR(at(both[1], 0), 7, 0);
            if (i % 2 == 0)
                CHECK_INT(MXAutogradBackwardEx(1, both, NULL, 0, NULL, 0, 0, 1, NULL, NULL), 0);
            drop(both[0]);
            drop(both[1]);
        }
        record(false);
    }
    CHECK_NEAR(grad_at(inputs[0], 0), 6, 0);
    for (int i = 0; i < 3; i++)
        drop(inputs[i]);
    return NULL;
}

TEST(loops_are_shared)
{
    SymbolHandle symbol = make_loop("[0]", "2");
    job j = {NULL};

    CHECK_INT(MXCreateCachedOp(symbol, &j.op), 0);
    run_all(&j, loop);
    CHECK_INT(MXFreeCachedOp(j.op), 0);
    CHECK_INT(MXSymbolFree(symbol), 0);
}

HARNESS_MAIN(ENTRY(weights_are_shared), ENTRY(loops_are_shared))
