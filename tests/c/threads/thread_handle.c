/* Handles under concurrency: eight threads pin handles that others free and replace. Run under
 * ThreadSanitizer. */
#define _GNU_SOURCE 1 /* nanosleep */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/handle.h"
#include "base/memory/mem.h"

enum { THREADS = 8, SHARED = 32, ROUNDS = 30000, ALIVE = 0x600D, DEAD = 0xDEAD };

typedef struct object {
    mxl_ref ref;
    atomic_int magic;
    int plain; /* written once before the handle is known, and at release */
} object;

static _Atomic uint64_t shared[SHARED];
static atomic_int made, released, refused, pinned;
static atomic_bool stop;

static void object_release(mxl_ref *ref)
{
    object *self = (object *)(void *)ref;

    CHECK_INT(atomic_exchange(&self->magic, DEAD), ALIVE);
    self->plain = DEAD;
    atomic_fetch_add(&released, 1);
    mxl_free(self, sizeof *self);
}

static uint64_t new_handle(void)
{
    object *self = mxl_alloc(sizeof *self);
    uint64_t handle;

    mxl_ref_init(&self->ref, object_release);
    atomic_init(&self->magic, ALIVE);
    self->plain = ALIVE;
    handle = mxl_handle_new(MXL_KIND_ARRAY, &self->ref);
    CHECK(handle != 0);
    atomic_fetch_add(&made, 1);
    return handle;
}

static void use(uint64_t handle)
{
    object *self = (object *)(void *)mxl_handle_pin(MXL_KIND_ARRAY, handle);

    if (self == NULL) {
        const char *text = mxl_error_text();

        CHECK(strstr(text, "it has been freed") != NULL);
        atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
        return;
    }
    CHECK_INT(atomic_load_explicit(&self->magic, memory_order_relaxed), ALIVE);
    CHECK_INT(self->plain, ALIVE);
    atomic_fetch_add_explicit(&pinned, 1, memory_order_relaxed);
    mxl_handle_unpin(handle);
}

/* Uses what is on the board, and what was on it: stale handles whose slots others use again. */
static void *user(void *data)
{
    uint64_t seed = (uintptr_t)data, old[16] = {0};

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t r = harness_random(&seed);
        uint64_t handle = atomic_load(&shared[r % SHARED]);

        if (handle != 0)
            use(handle);
        if (old[r >> 8 & 15] != 0)
            use(old[r >> 8 & 15]);
        old[i & 15] = handle;
        /* Some users make and free handles too, so that slots change threads. */
        if (r >> 60 == 0) {
            uint64_t gone = atomic_exchange(&shared[r >> 16 & (SHARED - 1)], new_handle());

            CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, gone), 0);
        }
    }
    return NULL;
}

static void *freer(void *data)
{
    uint64_t seed = (uintptr_t)data;

    while (!atomic_load(&stop)) {
        uint64_t r = harness_random(&seed);
        uint64_t handle = atomic_exchange(&shared[r % SHARED], new_handle());

        CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), 0);
        if (handle != 0)
            CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), -1);
    }
    return NULL;
}

static void begin(void)
{
    atomic_store(&made, 0);
    atomic_store(&released, 0);
    atomic_store(&stop, false);
    for (int i = 0; i < SHARED; i++)
        atomic_store(&shared[i], new_handle());
}

static void end(void)
{
    for (int i = 0; i < SHARED; i++)
        CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, atomic_exchange(&shared[i], 0)), 0);
    CHECK_INT(atomic_load(&made), atomic_load(&released));
}

TEST(one_frees_what_others_pin)
{
    pthread_t threads[THREADS];

    begin();
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, i == 0 ? freer : user,
                               (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(threads[0], NULL);
    CHECK(atomic_load(&refused) > 0);
    CHECK(atomic_load(&pinned) > 0);
    end();
}

/* All free the same handle: one succeeds, and the object goes when the last pin does. */
static _Atomic uint64_t target;
static atomic_int winners;

/* A barrier of all threads; macOS has none. */
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_met = PTHREAD_COND_INITIALIZER;
static int waiting, meetings;

/* Whether this thread is the last to come. */
static bool meet(void)
{
    int before;
    bool last;

    pthread_mutex_lock(&meeting);
    before = meetings;
    last = ++waiting == THREADS;
    if (last) {
        waiting = 0;
        meetings++;
        pthread_cond_broadcast(&all_met);
    }
    while (before == meetings)
        pthread_cond_wait(&all_met, &meeting);
    pthread_mutex_unlock(&meeting);
    return last;
}

static void *race_to_free(void *data)
{
    (void)data;
    for (int i = 0; i < 500; i++) {
        uint64_t handle;
        mxl_ref *pin;

        if (meet()) {
            atomic_store(&winners, 0);
            atomic_store(&target, new_handle());
        }
        (void)meet();
        handle = atomic_load(&target);
        pin = mxl_handle_pin(MXL_KIND_ARRAY, handle);
        if (mxl_handle_free(MXL_KIND_ARRAY, handle) == 0)
            atomic_fetch_add(&winners, 1);
        if (pin != NULL) {
            CHECK_INT(((object *)(void *)pin)->plain, ALIVE);
            mxl_handle_unpin(handle);
        }
        (void)meet();
        CHECK_INT(atomic_load(&winners), 1);
        CHECK_INT(atomic_load(&made), atomic_load(&released));
    }
    return NULL;
}

TEST(all_free_the_same_handle)
{
    pthread_t threads[THREADS];

    atomic_store(&made, 0);
    atomic_store(&released, 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, race_to_free, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* One object, references kept and dropped everywhere: released once, by the last. */
static void *keep_and_drop(void *data)
{
    object *self = data;

    for (int i = 0; i < 20000; i++) {
        mxl_ref_retain(&self->ref);
        CHECK_INT(self->plain, ALIVE);
        mxl_ref_release(&self->ref);
    }
    mxl_ref_release(&self->ref);
    return NULL;
}

TEST(references_from_many_threads)
{
    pthread_t threads[THREADS];
    object *self = mxl_alloc(sizeof *self);

    atomic_store(&released, 0);
    mxl_ref_init(&self->ref, object_release);
    atomic_init(&self->magic, ALIVE);
    self->plain = ALIVE;
    for (int i = 0; i < THREADS; i++)
        mxl_ref_retain(&self->ref);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, keep_and_drop, self) == 0);
    mxl_ref_release(&self->ref);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&released), 1);
}

HARNESS_MAIN(ENTRY(one_frees_what_others_pin), ENTRY(all_free_the_same_handle),
             ENTRY(references_from_many_threads))
