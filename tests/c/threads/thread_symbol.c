/* A cached operator on eight threads, which share the weights that it keeps in packed form. */
#include "engine_kit.h"
#include "symbol_kit.h"

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

static void run_all(job *j)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(CHECK_INT(pthread_create(&threads[i], NULL, work, j), 0));
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

TEST(weights_are_shared)
{
    static const int64_t data[] = {1, 2, 5, 5}, weight[] = {2, 2, 3, 3};
    job j = {.data = filled(4, data, 1), .weight = filled(4, weight, 2), .expected = 36};

    REQUIRE(CHECK_INT(make_convolution("2", &j.op), 0));
    run_all(&j);
    /* edited in place: what was kept is of no use */
    CHECK_INT(op_into("_mul_scalar", 1, &j.weight, j.weight), 0);
    j.expected = 36;
    run_all(&j);
    CHECK_INT(MXFreeCachedOp(j.op), 0);
    drop(j.data);
    drop(j.weight);
}

HARNESS_MAIN(ENTRY(weights_are_shared))
