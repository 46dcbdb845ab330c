/* The allocation walk: every scenario with the k-th allocation failing, k = 0, 1, 2, ..., until it
 * goes through. Each time: the calls that fail say so with a message, nothing leaks, nothing of the
 * caller's has changed, and the process lives. Freed blocks are not kept: every allocation counts.
 */
#include "engine_kit.h"
#include "failing.h"

/* What a scenario works on, made before and dropped after with all the memory there is. */
typedef struct stage {
    H x, w, c, y, z, none;
    MXLCallHandle mul, plus;
    int deleted;
} stage;

/* Runs a scenario's calls; false at the first that failed. It cleans up what it made. */
typedef bool (*scenario)(stage *s);

static bool failing(bool ok)
{
    if (!ok)
        CHECK(MXGetLastError()[0] != '\0');
    return ok;
}

/* Frees without the harness: a free must work when no memory is left. */
static void let_go(H array)
{
    CHECK_INT(MXNDArrayFree(array), 0);
}

static void build(stage *s)
{
    const char *key = "scalar";

    CHECK_INT(MXLPrepare("broadcast_mul", 0, NULL, NULL, 0, NULL, &s->mul), 0);
    CHECK_INT(MXLPrepare("_plus_scalar", 0, NULL, NULL, 1, &key, &s->plus), 0);
    s->x = VEC(2, 3);
    s->w = VEC(5, 7);
    s->c = VEC(1, 1);
    attach_start(s->x, REQ_ADD, 1);
    attach_start(s->w, REQ_WRITE, 1);
    CHECK_INT(MXNDArrayCreateNone(&s->none), 0);
    record(true);
    s->y = MUL(s->x, s->w);
    s->z = op1("tanh", s->y);
    record(false);
}

static void clear(stage *s)
{
    H none = NULL;
    uint32_t req = REQ_NULL;

    CHECK_INT(MXAutogradMarkVariables(1, &s->x, &req, &none), 0);
    CHECK_INT(MXAutogradMarkVariables(1, &s->w, &req, &none), 0);
    drop(s->x);
    drop(s->w);
    drop(s->c);
    drop(s->y);
    drop(s->z);
    drop(s->none);
}

/* The caller's arrays, gradients and flags are as built. */
static void check_untouched(stage *s)
{
    CHECK_NEAR(at(s->x, 1), 3, 0);
    CHECK_NEAR(at(s->w, 1), 7, 0);
    CHECK_NEAR(at(s->c, 1), 1, 0);
    CHECK_NEAR(at(s->y, 1), 21, 0);
    CHECK_NEAR(grad_at(s->x, 1), 1, 0);
    CHECK_NEAR(grad_at(s->w, 1), 1, 0);
    CHECK_INT(fresh(s->x), 0);
    CHECK_INT(fresh(s->w), 0);
    CHECK_INT(MXLNDArrayGetInfo(s->none, 0, NULL, NULL), -1);
}

static void walk(scenario run, bool atomic, bool allocates)
{
    int64_t k = 0;

    for (bool done = false; !done && k < 2000; k++) {
        stage s = {0};
        bool on = true;
        int64_t bytes, now, handles, handles_now;

        build(&s);
        CHECK_INT(MXLGetLiveBytes(&bytes), 0);
        CHECK_INT(MXLGetLiveHandles(&handles), 0);
        until_failure = k;
        failed = 0;
        done = run(&s);
        until_failure = -1;
        CHECK(done || failed > 0); /* what fails without need is a bug */
        CHECK_INT(MXAutogradIsRecording(&on), 0);
        CHECK_INT(on, false);
        CHECK_INT(MXLGetLiveHandles(&handles_now), 0);
        CHECK_INT(handles_now, handles);
        CHECK_INT(MXLGetLiveBytes(&now), 0);
        if (!done && atomic && k > 20) /* (the first rounds fill what is made once) */
            CHECK(now <= bytes + 4096);
        if (!done && atomic)
            check_untouched(&s);
        clear(&s);
    }
    CHECK_INT(k > 1, allocates);
    CHECK(k < 2000);
}

/* ---- scenarios ---- */

static bool creates(stage *s)
{
    int64_t shape[6] = {1, 2, 1, 2, 1, 2};
    uint32_t small[1] = {3};
    H a = NULL, b = NULL, none = NULL;
    bool ok;

    (void)s;
    ok = failing(MXNDArrayCreateEx64(shape, 6, 1, 0, 0, F64, &a) == 0) &&
         failing(MXNDArrayCreate(small, 1, 1, 0, 0, &b) == 0) &&
         failing(MXNDArrayCreateNone(&none) == 0);
    let_go(a);
    let_go(b);
    let_go(none);
    return ok;
}

static bool views(stage *s)
{
    int64_t shape[5] = {1, 2, 1, 1, 1};
    H a = MXLNDArraySlice(s->c, 0, 1), b = NULL, d = NULL, e = NULL;
    bool ok = failing(a != NULL);

    if (ok)
        ok = failing((b = MXLNDArrayReshape(s->c, 5, shape, 0)) != NULL) &&
             failing((d = MXLNDArrayAt(s->c, 1)) != NULL) &&
             failing(MXNDArrayDetach(s->y, &e) == 0);
    let_go(a);
    let_go(b);
    let_go(d);
    let_go(e);
    return ok;
}

static bool recorded_view(stage *s)
{
    bool before = record(true);
    H a = MXLNDArraySlice(s->y, 0, 1);
    bool ok = failing(a != NULL);

    record(before);
    let_go(a);
    return ok;
}

static bool invokes(stage *s)
{
    const char *key = "scalar", *value = "3.5";
    H in[2] = {s->x, s->c};
    H a = try_op("broadcast_add", 2, in, 0, NULL, NULL);
    H b = a == NULL ? NULL : try_op("_power_scalar", 1, &a, 1, &key, &value);
    bool ok = failing(b != NULL);

    let_go(a);
    let_go(b);
    return ok;
}

static bool sums(stage *s)
{
    const char *keys[2] = {"axis", "keepdims"}, *values[2] = {"(0,)", "True"};
    bool before = record(true);
    H a = try_op("sum", 1, &s->y, 2, keys, values);
    bool ok = failing(a != NULL);

    record(before);
    if (ok)
        ok = failing(MXAutogradBackwardEx(1, &a, NULL, 0, NULL, 0, 0, 1, NULL, NULL) == 0);
    let_go(a);
    return ok;
}

static bool prepares(stage *s)
{
    static int counter; /* a request that was never made before */
    char text[32];
    const char *key = "scalar", *value = text;
    MXLCallHandle call = NULL;
    int number = counter++, digits = 0;

    (void)s;
    while (digits == 0 || number > 0) {
        text[digits++] = (char)('0' + number % 10);
        number /= 10;
    }
    text[digits] = '\0';
    return failing(MXLPrepare("_rminus_scalar", 1, &key, &value, 0, NULL, &call) == 0);
}

static bool prepared(stage *s)
{
    H a = MXLCall2(s->mul, s->x, s->c), b = NULL, outputs[1] = {NULL};
    H in[2] = {s->c, s->c};
    int num = 1;
    bool ok = failing(a != NULL) && failing((b = MXLCall1Float(s->plus, a, 2)) != NULL) &&
              failing(MXLCallInto(s->mul, 2, in, NULL, &num, outputs) == 0);

    let_go(a);
    let_go(b);
    let_go(outputs[0]);
    return ok;
}

/* out=: the array given is written or it is not. */
static bool given_output(stage *s)
{
    H in[2] = {s->x, s->w};

    return failing(op_into("broadcast_mul", 2, in, s->none) == 0) &&
           failing(op_into("broadcast_mul", 2, in, s->c) == 0);
}

static bool given_output_prepared(stage *s)
{
    H in[2] = {s->x, s->w}, out = s->c;
    int num = 1;

    return failing(MXLCallInto(s->mul, 2, in, NULL, &num, &out) == 0);
}

static bool records(stage *s)
{
    bool before = record(true), ok;
    H a = MXLCall2(s->mul, s->z, s->w), b = NULL;

    ok = failing(a != NULL) && failing((b = MXLCall1Float(s->plus, a, 2)) != NULL);
    record(before);
    let_go(a);
    let_go(b);
    return ok;
}

static bool backwards(stage *s)
{
    return failing(MXAutogradBackward(1, &s->z, NULL, 0) == 0);
}

static bool backwards_two_heads(stage *s)
{
    H heads[3] = {s->z, s->y, s->z}, grads[3] = {NULL, s->c, s->c};

    return failing(MXAutogradBackward(3, heads, grads, 1) == 0);
}

static bool returns_gradients(stage *s)
{
    H vars[3] = {s->x, s->w, s->y}, *grads = NULL;
    int *stypes = NULL;

    if (MXAutogradBackwardEx(1, &s->z, NULL, 3, vars, 1, 0, 1, &grads, &stypes) != 0) {
        CHECK(grads == NULL);
        return failing(false);
    }
    for (int i = 0; i < 3; i++)
        let_go(grads[i]);
    return true;
}

/* Accumulates recorded gradients into both buffers. */
static bool creates_graph(stage *s)
{
    return failing(MXAutogradBackwardEx(1, &s->z, NULL, 0, NULL, 1, 1, 1, NULL, NULL) == 0);
}

static bool second_order(stage *s)
{
    H d = derivative(s->z, s->x, 1, 1), e = NULL;
    bool ok = failing(d != NULL) && failing((e = derivative(d, s->w, 0, 0)) != NULL);

    let_go(d);
    let_go(e);
    return ok;
}

/* Variables: all or none becomes one. */
static bool marks(stage *s)
{
    H a = NULL, b = NULL, g = NULL, vars[2], grads[2];
    uint32_t reqs[2] = {REQ_WRITE, REQ_WRITE};
    int64_t two = 2;
    bool ok = failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &a) == 0) &&
              failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &b) == 0) &&
              failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &g) == 0);

    (void)s;
    vars[0] = a;
    vars[1] = b;
    grads[0] = g;
    grads[1] = g;
    if (ok && !failing(MXAutogradMarkVariables(2, vars, reqs, grads) == 0)) {
        int64_t before = until_failure;
        H seen;

        ok = false;
        until_failure = -1;
        seen = grad_of(a);
        CHECK(seen == NULL);
        until_failure = before;
    }
    let_go(a);
    let_go(b);
    let_go(g);
    return ok;
}

static int copy_backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                         const int is_train, void *state)
{
    int status = op_into("_copyto", 1, &ptrs[0], ptrs[1]);

    (void)num_ograds;
    (void)num_igrads;
    (void)reqs;
    (void)is_train;
    (void)state;
    let_go(ptrs[0]);
    let_go(ptrs[1]);
    return status == 0;
}

static int count_delete(void *state)
{
    ((stage *)state)->deleted++;
    return 1;
}

static bool custom(stage *s)
{
    int (*callbacks[2])(void) = {CALLBACK(copy_backward), CALLBACK(count_delete)};
    void *contexts[2] = {s, s};
    struct MXCallbackList list = {2, callbacks, contexts};
    int64_t two = 2;
    H out = NULL;
    bool ok = failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &out) == 0), recorded;

    recorded = ok && failing(custom_record(1, &s->x, 1, &out, &list) == 0);
    ok = recorded && failing(MXAutogradBackward(1, &out, NULL, 0) == 0);
    let_go(out);
    CHECK_INT(s->deleted, recorded); /* a failing record leaves the function with its caller */
    return ok;
}

/* A variable without a buffer among others that have one. */
static bool first_gradient(stage *s)
{
    H a = NULL, none = NULL, sum = NULL, in[2];
    uint32_t req = REQ_WRITE;
    int64_t two = 2;
    bool before, ok = failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &a) == 0) &&
                      failing(MXAutogradMarkVariables(1, &a, &req, &none) == 0);

    before = record(true);
    in[0] = s->z;
    in[1] = a;
    if (ok)
        ok = failing((sum = try_op("broadcast_add", 2, in, 0, NULL, NULL)) != NULL);
    record(before);
    if (ok)
        ok = failing(MXAutogradBackward(1, &sum, NULL, 0) == 0);
    let_go(sum);
    let_go(a);
    return ok;
}

/* Workspaces of factorisations, and gradients that need several. */
static bool factorises(stage *s)
{
    static const char *const ops[] = {"_linalg_potrf", "_linalg_potri", "_linalg_inverse",
                                      "_linalg_det"};
    const double values[4] = {2, 0.5, 0.5, 3};
    const int64_t shape[2] = {2, 2};
    H all[5] = {NULL}, grad = NULL;
    uint32_t write = REQ_WRITE;
    bool before = false, ok;

    (void)s;
    ok = failing(MXNDArrayCreateEx64(shape, 2, 1, 0, 0, F64, &all[0]) == 0) &&
         failing(MXNDArrayCreateEx64(shape, 2, 1, 0, 0, F64, &grad) == 0) &&
         failing(MXNDArraySyncCopyFromCPU(all[0], values, 4) == 0) &&
         failing(MXAutogradMarkVariables(1, &all[0], &write, &grad) == 0);
    before = record(true);
    for (int i = 0; ok && i < 4; i++)
        ok = failing((all[i + 1] = try_op(ops[i], 1, &all[i], 0, NULL, NULL)) != NULL);
    record(before);
    ok = ok && failing(MXAutogradBackward(1, &all[4], NULL, 0) == 0);
    for (int i = 0; i < 5; i++)
        let_go(all[i]);
    let_go(grad);
    return ok;
}

/* Heads that need memory for places, lengths or flags, with their gradients. */
static bool looks_up(stage *s)
{
    const char *keys[2] = {"use_sequence_length", "shape"}, *values[2] = {"1", "(2,)"};
    int64_t row[2] = {1, 2};
    H index = MXLNDArrayReshape(s->c, 2, row, 0), heads[6] = {NULL}, in[3] = {s->y, NULL, NULL};
    bool before = record(true), ok = failing(index != NULL);
    H steps = ok ? MXLNDArrayReshape(s->y, 2, row, 0) : NULL, all[3] = {s->y, s->z, index};
    H of_steps[2] = {steps, s->c};

    in[1] = index;
    ok = ok && failing(steps != NULL) &&
         failing((heads[0] = try_op("gather_nd", 2, in, 0, NULL, NULL)) != NULL) &&
         failing((heads[1] = try_op("scatter_nd", 2, in, 1, keys + 1, values + 1)) != NULL) &&
         failing((heads[2] = try_op("_scatter_set_nd", 3, all, 1, keys + 1, values + 1)) != NULL) &&
         failing((heads[3] = try_op("SequenceLast", 2, of_steps, 1, keys, values)) != NULL) &&
         failing((heads[4] = try_op("SequenceReverse", 2, of_steps, 1, keys, values)) != NULL);
    in[1] = s->c;
    ok = ok && failing((heads[5] = try_op("_contrib_boolean_mask", 2, in, 0, NULL, NULL)) != NULL);
    record(before);
    ok = ok && failing(MXAutogradBackward(6, heads, NULL, 0) == 0);
    for (int i = 0; i < 6; i++)
        let_go(heads[i]);
    let_go(index);
    let_go(steps);
    return ok;
}

#define WALK(name, scenario, atomic)                                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        walk(scenario, atomic, true);                                                              \
    }

WALK(walk_creates, creates, true)
WALK(walk_views, views, true)
WALK(walk_recorded_view, recorded_view, true)
WALK(walk_invokes, invokes, true)
WALK(walk_sums, sums, true)
WALK(walk_factorises, factorises, false)

/* What is prepared stays: the second round of the harness has nothing to make. */
TEST(walk_prepares)
{
    static bool done;

    if (!done)
        walk(prepares, true, true);
    done = true;
}

WALK(walk_prepared, prepared, true)
WALK(walk_given_output, given_output, false)

TEST(walk_given_output_prepared)
{
    walk(given_output_prepared, true, false); /* needs no memory at all */
}

WALK(walk_records, records, true)
WALK(walk_backwards, backwards, true)
WALK(walk_two_heads, backwards_two_heads, true)
WALK(walk_returns_gradients, returns_gradients, true)
WALK(walk_creates_graph, creates_graph, true)
WALK(walk_second_order, second_order, true)
WALK(walk_marks, marks, true)
WALK(walk_custom, custom, true)
WALK(walk_first_gradient, first_gradient, true)
WALK(walk_looks_up, looks_up, true)

/* What a backward without retain_graph costs when memory ends on the way: nothing as long as no
 * node has run; the values saved by those that have, which it gives back as it goes so that a step
 * needs no more memory than its forward did. Then the graph says that it is released. A retained
 * one stays. Gradients are as they were in each case (check_untouched). */
TEST(what_a_failed_backward_costs)
{
    for (int retain = 0; retain < 2; retain++) {
        int whole = 0, released = 0;

        for (int64_t k = 0; k < 200; k++) {
            stage s = {0};
            int status;

            build(&s);
            until_failure = k;
            status = backward_full(s.z, NULL, retain, 0);
            until_failure = -1;
            if (status == 0) {
                clear(&s);
                break;
            }
            check_untouched(&s);
            if (backward(s.z) == 0) {
                whole++;
                CHECK_INT(fresh(s.x), 1);
            } else {
                released++;
                CHECK_HAS(MXGetLastError(), "released by an earlier backward");
                check_untouched(&s);
            }
            clear(&s);
        }
        CHECK(whole > 0);
        CHECK(retain ? released == 0 : released > 0);
    }
}

int main(int argc, char **argv)
{
    static const harness_test tests[] = {ENTRY(walk_creates),
                                         ENTRY(walk_views),
                                         ENTRY(walk_recorded_view),
                                         ENTRY(walk_invokes),
                                         ENTRY(walk_sums),
                                         ENTRY(walk_factorises),
                                         ENTRY(walk_prepares),
                                         ENTRY(walk_prepared),
                                         ENTRY(walk_given_output),
                                         ENTRY(walk_given_output_prepared),
                                         ENTRY(walk_records),
                                         ENTRY(walk_backwards),
                                         ENTRY(walk_two_heads),
                                         ENTRY(walk_returns_gradients),
                                         ENTRY(walk_creates_graph),
                                         ENTRY(walk_second_order),
                                         ENTRY(walk_marks),
                                         ENTRY(walk_custom),
                                         ENTRY(walk_first_gradient),
                                         ENTRY(walk_looks_up),
                                         ENTRY(what_a_failed_backward_costs)};

    if (MXLSetAllocator(counted, counted_free, NULL, 0) != 0)
        return 1;
    return harness_main(argc, argv, tests, sizeof tests / sizeof *tests, HARNESS_LIVE);
}
