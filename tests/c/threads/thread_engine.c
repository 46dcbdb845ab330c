/* The engine from many threads at once: own arrays, shared variables, shared graphs, handles that
 * other threads free during use. Run under ThreadSanitizer. */
#include "engine_kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef MXL_SANITIZER
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 1000 };
#endif
enum { THREADS = 8 };

typedef struct job {
    int number;
    H shared, other;
    _Atomic(H) *slots; /* handles that come and go */
    atomic_int *running;
} job;

static void run_all(void *(*work)(void *), H shared, H other, _Atomic(H) *slots)
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    atomic_int running = THREADS;

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){i, shared, other, slots, &running};
        REQUIRE(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* ---- own arrays ---- */

static void *own_work(void *data)
{
    const job *j = data;
    double start = j->number + 2;

    for (int i = 0; i < ROUNDS; i++) {
        H x = VEC(start), y, z, d, e;
        bool on = true;

        CHECK_INT(MXAutogradIsRecording(&on), 0);
        CHECK(!on); /* nobody else's flag */
        attach(x, REQ_WRITE);
        record(true);
        y = op1("square", x);
        z = MUL(y, x); /* x^3 */
        d = derivative(z, x, 1, 1);
        if (CHECK(d != NULL)) {
            CHECK_NEAR(at(d, 0), 3 * start * start, 1e-12);
            e = derivative(d, x, 1, 0);
            CHECK_NEAR(at(e, 0), 6 * start, 1e-12);
            drop(e);
            drop(d);
        }
        record(false);
        CHECK_INT(backward(z), 0);
        CHECK_NEAR(grad_at(x, 0), 3 * start * start, 1e-12);
        drop(z);
        drop(y);
        drop(x);
    }
    return NULL;
}

TEST(own_arrays)
{
    run_all(own_work, NULL, NULL, NULL);
}

/* ---- shared variables: no gradient is lost ---- */

static void *shared_work(void *data)
{
    const job *j = data;
    double scale = j->number + 1;
    H c = vec(1, &scale);

    for (int i = 0; i < ROUNDS; i++) {
        H p, y;

        record(true);
        p = MUL(j->shared, c);
        y = MUL(p, j->other);
        record(false);
        CHECK_INT(backward(y), 0);
        drop(y);
        drop(p);
    }
    drop(c);
    return NULL;
}

TEST(shared_variables)
{
    H x = VEC(2), w = VEC(3);
    double sum = THREADS * (THREADS + 1) / 2.0 * ROUNDS;

    attach(x, REQ_ADD);
    attach(w, REQ_ADD);
    run_all(shared_work, x, w, NULL);
    CHECK_NEAR(grad_at(x, 0), 3 * sum, 0); /* whole numbers: exact */
    CHECK_NEAR(grad_at(w, 0), 2 * sum, 0);
    CHECK_INT(fresh(x), 1);
    drop(w);
    drop(x);
}

/* The same where adding takes longer than all else. */
static void *large_work(void *data)
{
    const job *j = data;

    for (int i = 0; i < 4 * ROUNDS; i++)
        CHECK_INT(backward_full(j->shared, j->other, 1, 0), 0);
    return NULL;
}

TEST(shared_large_variable)
{
    enum { SIZE = 1 << 14 };
    static const double zeros[SIZE];
    double *values = malloc(sizeof(zeros));
    H x = vec(SIZE, zeros), ones = op1("ones_like", x), y, grad = op1("zeros_like", x);
    uint32_t req = REQ_ADD;
    int64_t lost = 0;

    REQUIRE(values != NULL);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &grad), 0);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    record(false);
    run_all(large_work, y, ones, NULL);
    CHECK_INT(MXNDArraySyncCopyToCPU(grad, values, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        lost += values[i] != 8.0 * THREADS * ROUNDS;
    CHECK_INT(lost, 0);
    free(values);
    drop(grad);
    drop(y);
    drop(ones);
    drop(x);
}

/* The same recorded: sums with their graphs, each built on the one before. */
static void *shared_recorded_work(void *data)
{
    const job *j = data;

    for (int i = 0; i < ROUNDS / 20; i++) {
        H y;

        record(true);
        y = op1("square", j->shared);
        CHECK_INT(backward_full(y, NULL, 1, 1), 0);
        record(false);
        drop(y);
    }
    return NULL;
}

TEST(shared_variable_create_graph)
{
    H x = VEC(2), g, d, none = NULL;
    uint32_t req = REQ_NULL;
    double times = THREADS * (ROUNDS / 20);

    attach(x, REQ_ADD);
    run_all(shared_recorded_work, x, NULL, NULL);
    CHECK_NEAR(grad_at(x, 0), 4 * times, 0);
    g = grad_of(x);
    d = derivative(g, x, 0, 0);
    if (CHECK(d != NULL))
        CHECK_NEAR(at(d, 0), 2 * times, 0);
    drop(d);
    drop(g);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &none), 0);
    drop(x);
}

/* A variable without a buffer: the first of them makes it. */
TEST(shared_first_gradient)
{
    H x = VEC(2), w = VEC(3), none = NULL;
    uint32_t req = REQ_ADD;

    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &none), 0);
    attach(w, REQ_NULL);
    run_all(shared_work, x, w, NULL);
    CHECK_NEAR(grad_at(x, 0), 3 * (THREADS * (THREADS + 1) / 2.0) * ROUNDS, 0);
    drop(w);
    drop(x);
}

/* ---- a shared graph ---- */

static void *graph_work(void *data)
{
    const job *j = data;

    for (int i = 0; i < ROUNDS; i++)
        CHECK_INT(backward_full(j->shared, NULL, 1, 0), 0);
    return NULL;
}

TEST(shared_graph_retained)
{
    H x = VEC(2), y, z;

    attach(x, REQ_ADD);
    record(true);
    y = op1("square", x);
    z = op1("square", y);
    record(false);
    run_all(graph_work, z, NULL, NULL);
    CHECK_NEAR(grad_at(x, 0), 32.0 * THREADS * ROUNDS, 0);
    drop(z);
    drop(y);
    drop(x);
}

/* Not retained: one may win, the others get an error or come first; nobody crashes. */
static atomic_int wins;

static void *release_work(void *data)
{
    const job *j = data;

    if (backward_full(j->shared, NULL, 0, 0) == 0)
        atomic_fetch_add(&wins, 1);
    else
        CHECK_HAS(MXGetLastError(), "released");
    return NULL;
}

TEST(shared_graph_released)
{
    for (int i = 0; i < 20; i++) {
        H x = VEC(2), y, z;

        attach(x, REQ_ADD);
        record(true);
        y = op1("square", x);
        z = op1("exp", y);
        record(false);
        atomic_store(&wins, 0);
        run_all(release_work, z, NULL, NULL);
        CHECK(atomic_load(&wins) >= 1);
        drop(z);
        drop(y);
        drop(x);
    }
}

/* ---- one frees what others use ---- */

enum { SLOTS = 16 };

/* All threads over the same variables, which they exchange. */
static void run_over_slots(void *(*work)(void *))
{
    _Atomic(H) slots[SLOTS];

    for (int i = 0; i < SLOTS; i++) {
        H x = VEC(1);

        attach(x, REQ_ADD);
        atomic_init(&slots[i], x);
    }
    run_all(work, NULL, NULL, slots);
    for (int i = 0; i < SLOTS; i++)
        drop(atomic_load(&slots[i]));
}

/* A recorded product, or NULL where a thread has freed one of the two. */
static H product(H a, H b)
{
    H in[2] = {a, b}, y;

    record(true);
    y = try_op("broadcast_mul", 2, in, 0, NULL, NULL);
    record(false);
    if (y == NULL)
        CHECK_HAS(MXGetLastError(), "handle");
    return y;
}

static void *hostile_work(void *data)
{
    const job *j = data;
    uint64_t seed = (uint64_t)j->number + 1;

    for (int i = 0; i < ROUNDS * 4; i++) {
        _Atomic(H) *slot = &j->slots[harness_random(&seed) % SLOTS];
        H a = atomic_load(slot), b = atomic_load(&j->slots[harness_random(&seed) % SLOTS]), y;

        if (j->number == 0) { /* frees, and puts something else there */
            H fresh_one = VEC(1), old;

            attach(fresh_one, REQ_ADD);
            old = atomic_exchange(slot, fresh_one);
            CHECK_INT(MXNDArrayFree(old), 0);
            continue;
        }
        y = product(a, b);
        if (y == NULL)
            continue;
        CHECK_INT(backward(y), 0);
        drop(y);
    }
    return NULL;
}

TEST(freed_under_the_feet)
{
    run_over_slots(hostile_work);
}

/* ---- one marks what others record ---- */

/* Marks it, whoever may have freed it meanwhile. */
static void mark_anew(H x, uint32_t request)
{
    H grad = VEC(0);

    if (MXAutogradMarkVariables(1, &x, &request, &grad) != 0)
        CHECK_HAS(MXGetLastError(), "handle");
    drop(grad);
}

/* A recorded value becomes a variable, which drops its place, while others look at that place; and
 * variables get other requests and buffers while others deliver to them. */
static void *marking_work(void *data)
{
    const job *j = data;
    uint64_t seed = (uint64_t)j->number + 1;

    for (int i = 0; i < ROUNDS * 4; i++) {
        _Atomic(H) *slot = &j->slots[harness_random(&seed) % SLOTS];
        H x = atomic_load(slot), y;

        if (j->number == 0) {
            H start = VEC(1), recorded;

            attach(start, REQ_ADD);
            record(true);
            recorded = op1("square", start);
            record(false);
            drop(start);
            x = atomic_exchange(slot, recorded);
            attach(recorded, REQ_WRITE);
            CHECK_INT(MXNDArrayFree(x), 0);
        } else if (j->number < 3) {
            mark_anew(x, i % 3 == 0 ? REQ_NULL : i % 3 == 1 ? REQ_WRITE : REQ_ADD);
        } else {
            y = product(x, x);
            if (y == NULL)
                continue;
            /* Nothing wants a gradient where the request was null. */
            if (backward_full(y, NULL, 1, 0) != 0)
                CHECK_HAS(MXGetLastError(), "grad");
            drop(y);
        }
    }
    return NULL;
}

TEST(marked_while_recorded)
{
    run_over_slots(marking_work);
}

HARNESS_MAIN(ENTRY(marked_while_recorded), ENTRY(own_arrays), ENTRY(shared_variables),
             ENTRY(shared_large_variable), ENTRY(shared_variable_create_graph),
             ENTRY(shared_first_gradient), ENTRY(shared_graph_retained),
             ENTRY(shared_graph_released), ENTRY(freed_under_the_feet))
