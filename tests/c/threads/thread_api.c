/* Arrays, views and infos of the C API from several threads: one uses objects that another frees,
 * all request infos first, all add operators, all draw random numbers. Also run under
 * ThreadSanitizer. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mxlite/mxlite.h"
#include "op/op.h"

#ifdef MXL_SANITIZER
enum { THREADS = 8, ROUNDS = 2000 };
#else
enum { THREADS = 8, ROUNDS = 20000 };
#endif

static void run_threads(void *(*run)(void *), void *data)
{
    pthread_t threads[THREADS];
    int started = 0;

    while (started < THREADS && pthread_create(&threads[started], NULL, run, data) == 0)
        started++;
    CHECK_INT(started, THREADS);
    for (int i = 0; i < started; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* ---- the first to ask makes it for all ---- */

typedef struct lists {
    _Atomic(void *) names, creators, types;
} lists;

/* Whether `value` is what another thread found there before, if one did. */
static bool agree(_Atomic(void *) *place, void *value)
{
    void *there = NULL;

    return atomic_compare_exchange_strong(place, &there, value) || there == value;
}

static void *ask(void *data)
{
    lists *l = data;
    const char **names, **types, **docs, **list, *name, *doc;
    AtomicSymbolCreator *creators;
    uint32_t count, args;

    if (!CHECK(MXListAllOpNames(&count, &list) == 0) ||
        !CHECK(MXSymbolListAtomicSymbolCreators(&count, &creators) == 0))
        return NULL;
    CHECK(agree(&l->names, list));
    CHECK(agree(&l->creators, creators));
    for (uint32_t i = 0; i < count; i++) {
        if (!CHECK(NNGetOpInfo(creators[i], &name, &doc, &args, &names, &types, &docs, NULL) == 0))
            return NULL;
        for (uint32_t k = 0; k < args; k++)
            CHECK(strlen(names[k]) > 0 && strlen(types[k]) > 0);
        if (i == 0)
            CHECK(agree(&l->types, types));
    }
    return NULL;
}

TEST(asked_together)
{
    lists l = {NULL, NULL, NULL};

    run_threads(ask, &l);
}

/* ---- operators that are added while others ask ---- */

static mxl_op more[THREADS];
static atomic_int taken;

static bool has_op(const AtomicSymbolCreator *creators, uint32_t count, const char *name)
{
    const char *found = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (!CHECK(MXSymbolGetAtomicSymbolName(creators[i], &found) == 0))
            return false;
        if (strcmp(found, name) == 0)
            return true;
    }
    return false;
}

static void *add(void *data)
{
    const mxl_op *op = &more[atomic_fetch_add(&taken, 1)];
    const char *name, *doc, **names, **types, **docs;
    AtomicSymbolCreator *creators;
    OpHandle handle;
    uint32_t count;

    (void)data;
    CHECK_INT(mxl_op_add(1, &op), 0);
    if (CHECK(MXSymbolListAtomicSymbolCreators(&count, &creators) == 0))
        CHECK(has_op(creators, count, op->name));
    if (CHECK(NNGetOpHandle(op->name, &handle) == 0) &&
        CHECK(NNGetOpInfo(handle, &name, &doc, &count, &names, &types, &docs, NULL) == 0))
        CHECK_STR(name, op->name);
    return NULL;
}

TEST(added_while_asked)
{
    static char names[THREADS][8];
    AtomicSymbolCreator *before, *after;
    uint32_t old, count;

    REQUIRE(CHECK_INT(MXSymbolListAtomicSymbolCreators(&old, &before), 0));
    for (int i = 0; i < THREADS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "more_%d", i);
        more[i] = *mxl_op_find("tanh");
        more[i].name = names[i];
        more[i].aliases = NULL;
        more[i].numpy_name = NULL;
    }
    run_threads(add, NULL);
    REQUIRE(CHECK_INT(MXSymbolListAtomicSymbolCreators(&count, &after), 0));
    CHECK_INT(count, old + THREADS);
    CHECK_INT(memcmp(before, after, old * sizeof(*after)), 0); /* the shorter list is as it was */
    for (int i = 0; i < THREADS; i++)
        CHECK(has_op(after, count, names[i]));
}

/* ---- views of an array that another thread frees ---- */

static _Atomic(NDArrayHandle) shared;

static void *look(void *data)
{
    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        NDArrayHandle row = MXLNDArrayAt(atomic_load(&shared), 1);
        float values[2];

        /* It may have been freed meanwhile; else it is whole. */
        if (row == NULL)
            continue;
        CHECK_INT(MXNDArraySyncCopyToCPU(row, values, 2), 0);
        CHECK(values[0] == 2 && values[1] == 3);
        CHECK_INT(MXNDArrayFree(row), 0);
    }
    return NULL;
}

static void *replace(void *data)
{
    const uint32_t shape[] = {3, 2};
    const float values[] = {0, 1, 2, 3, 4, 5};

    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        NDArrayHandle next;

        if (!CHECK(MXNDArrayCreate(shape, 2, 1, 0, 0, &next) == 0))
            break;
        CHECK_INT(MXNDArraySyncCopyFromCPU(next, values, 6), 0);
        CHECK_INT(MXNDArrayFree(atomic_exchange(&shared, next)), 0);
    }
    return NULL;
}

static void *look_or_replace(void *data)
{
    return atomic_fetch_add((atomic_int *)data, 1) == 0 ? replace(NULL) : look(NULL);
}

TEST(freed_while_used)
{
    atomic_int number = 0;

    atomic_store(&shared, NULL);
    run_threads(look_or_replace, &number);
    CHECK_INT(MXNDArrayFree(atomic_load(&shared)), 0);
}

/* Of many frees of one handle, one succeeds. */
static atomic_int freed;

static void *free_all(void *data)
{
    NDArrayHandle *list = data;

    for (int i = 0; i < ROUNDS; i++) {
        if (MXNDArrayFree(list[i]) == 0)
            atomic_fetch_add(&freed, 1);
    }
    return NULL;
}

TEST(freed_once)
{
    static NDArrayHandle list[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        REQUIRE(MXNDArrayCreateNone(&list[i]) == 0);
    atomic_store(&freed, 0);
    run_threads(free_all, list);
    CHECK_INT(freed, ROUNDS);
}

/* ---- a variable's gradient ---- */

static void *ask_gradient(void *data)
{
    for (int i = 0; i < ROUNDS; i++) {
        NDArrayHandle grad = NULL;
        int state;

        CHECK_INT(MXNDArrayGetGrad(data, &grad), 0);
        CHECK(grad != NULL);
        CHECK_INT(MXNDArrayFree(grad), 0);
        CHECK_INT(MXNDArraySetGradState(data, i & 1), 0);
        CHECK_INT(MXNDArrayGetGradState(data, &state), 0);
    }
    return NULL;
}

TEST(gradients_of_one_variable)
{
    const uint32_t shape[] = {2};
    uint32_t write = 1;
    NDArrayHandle x, g;

    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &x) == 0);
    REQUIRE(MXNDArrayCreate(shape, 1, 1, 0, 0, &g) == 0);
    REQUIRE(MXAutogradMarkVariables(1, &x, &write, &g) == 0);
    CHECK_INT(MXNDArrayFree(g), 0);
    run_threads(ask_gradient, x);
    CHECK_INT(MXNDArrayFree(x), 0);
}

/* Modes and errors belong to a thread. */
static void *own_mode(void *data)
{
    int on = atomic_fetch_add((atomic_int *)data, 1) % 2, prev, now;

    CHECK_INT(MXSetIsNumpyShape(on, &prev), 0);
    CHECK_INT(prev, 0);
    CHECK_STR(MXGetLastError(), "");
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(MXIsNumpyShape(&now), 0);
        CHECK_INT(now, on);
        CHECK_INT(MXIsNumpyShape(NULL), -1);
        CHECK_HAS(MXGetLastError(), "MXIsNumpyShape");
    }
    return NULL;
}

TEST(own_modes)
{
    atomic_int number = 0;

    run_threads(own_mode, &number);
}

HARNESS_MAIN(ENTRY(asked_together), ENTRY(added_while_asked), ENTRY(freed_while_used),
             ENTRY(freed_once), ENTRY(gradients_of_one_variable), ENTRY(own_modes))
