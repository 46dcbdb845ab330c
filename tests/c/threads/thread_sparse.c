/* Eight threads run operators on sparse arrays that have no form for them: each is said once. Run
 * under ThreadSanitizer. */
#include "../sparse/sparse_kit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mxlite/mxlite.h"

enum { THREADS = 8, OPS = 6 };

static const char *const ops[OPS] = {"cos", "exp", "sigmoid", "arccos", "softmax", "reciprocal"};
static atomic_int said[OPS];
static mxl_array *shared;

static void listen(const char *line)
{
    for (int i = 0; i < OPS; i++) {
        if (strncmp(line, ops[i], strlen(ops[i])) == 0)
            atomic_fetch_add(&said[i], 1);
    }
}

static void *work(void *data)
{
    (void)data;
    for (int i = 0; i < 10 * OPS; i++) {
        mxl_array *out = NULL;

        CHECK_INT(run_into(ops[i % OPS], "", mode_of(false, false), 1, &shared, &out), 0);
        mxl_array_release(out);
        CHECK_INT(MXLSetNotice(listen), 0);
    }
    return NULL;
}

TEST(said_once)
{
    pthread_t threads[THREADS];
    uint64_t seed = 7;
    mxl_array *dense = scattered(&seed, MXL_F32, SHAPE(5, 7), 3);

    shared = as_stored(dense, 'c');
    CHECK_INT(MXLSetNotice(listen), 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(MXLSetNotice(NULL), 0);
    for (int i = 0; i < OPS; i++)
        CHECK_INT(atomic_load(&said[i]), 1);
    mxl_array_release(shared);
    mxl_array_release(dense);
}

HARNESS_MAIN(ENTRY(said_once))
