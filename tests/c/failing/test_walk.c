/* The allocation walk (walk_kit.h) over graphs: recording, backward, gradients of gradients,
 * marking, custom functions. */
#include "walk_kit.h"

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

/* Beside a head that adds nothing, with a head gradient of another shape. */
static bool backwards_lenient_heads(stage *s)
{
    int64_t shape[2] = {2, 1};
    H heads[2] = {s->z, s->c}, grads[2] = {MXLNDArrayReshape(s->c, 2, shape, 0), NULL};
    uint32_t req = REQ_NULL;
    bool ok = failing(grads[0] != NULL) &&
              failing(MXAutogradMarkVariables(1, &s->c, &req, &grads[1]) == 0) &&
              failing(MXAutogradBackward(2, heads, grads, 1) == 0);

    let_go(grads[0]);
    return ok;
}

static bool returned(stage *s, int create)
{
    H vars[3] = {s->x, s->w, s->y}, *grads = NULL;
    int *stypes = NULL;

    if (MXAutogradBackwardEx(1, &s->z, NULL, 3, vars, 1, create, 1, &grads, &stypes) != 0) {
        CHECK(grads == NULL);
        return failing(false);
    }
    for (int i = 0; i < 3; i++)
        let_go(grads[i]);
    return true;
}

static bool returns_gradients(stage *s)
{
    return returned(s, 0);
}

/* Each leads to its variable, and needs memory for that. */
static bool returns_recorded(stage *s)
{
    return returned(s, 1);
}

/* Accumulates recorded gradients into both buffers. */
static bool creates_graph(stage *s)
{
    return failing(MXAutogradBackwardEx(1, &s->z, NULL, 0, NULL, 1, 1, 1, NULL, NULL) == 0);
}

/* The same, w's buffer, which is written to, before x's, which a sum is made for. */
static bool creates_graph_reversed(stage *s)
{
    bool before = record(true), ok;
    H y = MXLCall2(s->mul, s->w, s->x);

    record(before);
    ok = failing(y != NULL) &&
         failing(MXAutogradBackwardEx(1, &y, NULL, 0, NULL, 1, 1, 1, NULL, NULL) == 0);
    let_go(y);
    return ok;
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
/* A second derivative that vanishes. */
static bool vanishes(stage *s)
{
    bool before = record(true), ok;
    H y = MXLCall1Float(s->plus, s->x, 2), d = NULL, e = NULL;

    ok = failing(y != NULL) && failing((d = derivative(y, s->x, 1, 1)) != NULL) &&
         failing((e = derivative(d, s->x, 0, 0)) != NULL);
    record(before);
    let_go(e);
    let_go(d);
    let_go(y);
    return ok;
}

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

/* The same where it is a head, whose gradient is the caller's array: it gets a copy. */
static bool first_gradient_given(stage *s)
{
    H a = NULL, none = NULL, heads[2] = {s->z, NULL}, grads[2] = {NULL, s->c};
    uint32_t req = REQ_WRITE;
    int64_t two = 2;
    bool ok = failing(MXNDArrayCreateEx64(&two, 1, 1, 0, 0, F64, &a) == 0) &&
              failing(MXAutogradMarkVariables(1, &a, &req, &none) == 0);

    heads[1] = a;
    if (ok)
        ok = failing(MXAutogradBackward(2, heads, grads, 0) == 0);
    let_go(a);
    return ok;
}

WALK(walk_records, records, true)
WALK(walk_backwards, backwards, true)
WALK(walk_two_heads, backwards_two_heads, true)
WALK(walk_lenient_heads, backwards_lenient_heads, true)
WALK(walk_returns_gradients, returns_gradients, true)
WALK(walk_returns_recorded, returns_recorded, true)
WALK(walk_creates_graph, creates_graph, true)
WALK(walk_creates_graph_reversed, creates_graph_reversed, true)
WALK(walk_second_order, second_order, true)
WALK(walk_vanishes, vanishes, true)
WALK(walk_marks, marks, true)
WALK(walk_custom, custom, true)
WALK(walk_first_gradient, first_gradient, true)
WALK(walk_first_gradient_given, first_gradient_given, true)

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

WALK_MAIN(ENTRY(walk_records), ENTRY(walk_backwards), ENTRY(walk_two_heads),
          ENTRY(walk_lenient_heads), ENTRY(walk_returns_gradients), ENTRY(walk_returns_recorded),
          ENTRY(walk_creates_graph), ENTRY(walk_creates_graph_reversed), ENTRY(walk_second_order),
          ENTRY(walk_vanishes), ENTRY(walk_marks), ENTRY(walk_custom), ENTRY(walk_first_gradient),
          ENTRY(walk_first_gradient_given), ENTRY(what_a_failed_backward_costs))
