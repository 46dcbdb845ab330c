/* MXCustomFunctionRecord: ownership of handles, failing callbacks, higher orders, deletion of
 * functions, and backward inside backward. */
#include "engine_kit.h"

/* y = x^2 by a caller's function. */
typedef struct square {
    H x; /* kept by the function, as Python's save_for_backward does */
    int calls, deleted;
    int fail;      /* 1: the callback says it failed */
    int req;       /* seen for input 0 */
    int training;  /* seen */
    int recording; /* seen */
    int nested;    /* 1: run a backward of its own inside */
    H keep;        /* what the callback keeps of its input gradient; freed by the test */
    bool keeps;
    H watched; /* an array looked at when deleted */
} square;

static int square_backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                           const int is_train, void *state)
{
    square *s = state;
    H two, head[2] = {ptrs[0], NULL};
    bool recording = false;

    s->calls++;
    CHECK_INT(num_ograds, 1);
    CHECK_INT(num_igrads, 1);
    s->req = reqs[0];
    s->training = is_train;
    CHECK_INT(MXAutogradIsRecording(&recording), 0);
    s->recording = recording;
    if (s->nested) {
        H a = VEC(5), b;

        record(true);
        attach(a, REQ_WRITE);
        b = op1("square", a);
        CHECK_INT(backward(b), 0);
        CHECK_NEAR(grad_at(a, 0), 10, 0);
        record(recording);
        drop(b);
        drop(a);
    }
    if (!s->fail) {
        two = op_scalar("_mul_scalar", s->x, "2");
        head[1] = two;
        CHECK_INT(op_into("broadcast_mul", 2, head, ptrs[1]), 0);
        drop(two);
    }
    drop(ptrs[0]);
    if (s->keeps)
        s->keep = ptrs[1];
    else
        drop(ptrs[1]);
    return !s->fail;
}

static int square_delete(void *state)
{
    square *s = state;

    s->deleted++;
    if (s->watched != NULL)
        (void)grad_at(s->watched, 0); /* takes the variable's lock */
    return 1;
}

static int record_square(square *s, H x, H y)
{
    int (*callbacks[2])(void) = {CALLBACK(square_backward), CALLBACK(square_delete)};
    void *contexts[2] = {s, s};
    struct MXCallbackList list = {2, callbacks, contexts};

    s->x = x;
    return custom_record(1, &x, 1, &y, &list);
}

/* y = x^2 made without recording, then tied to x. */
static H square_of(square *s, H x)
{
    bool before = record(false);
    H y = op1("square", x);

    record(before);
    CHECK_INT(record_square(s, x, y), 0);
    return y;
}

TEST(gradient_and_delete)
{
    square s = {0};
    H x = VEC(3), y;
    int prev;

    attach(x, REQ_WRITE);
    y = square_of(&s, x);
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, 0, NULL, 1, 0, 0, NULL, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    CHECK_INT(s.calls, 1);
    CHECK_INT(s.req, REQ_WRITE);
    CHECK_INT(s.training, 0);
    CHECK_INT(s.recording, 0);
    CHECK_INT(s.deleted, 0);
    CHECK_INT(backward(y), 0);
    CHECK_INT(s.training, 1);
    CHECK_FAILS(backward(y), "retain_graph");
    CHECK_INT(s.calls, 2);
    drop(y);
    CHECK_INT(s.deleted, 1);
    CHECK_INT(MXAutogradSetIsTraining(0, &prev), 0);
    CHECK_INT(prev, 0);
    drop(x);
}

/* Nothing wants a gradient: the function is deleted at once. A failing record deletes nothing. */
TEST(never_recorded)
{
    square s = {0};
    H x = VEC(3), y = VEC(9), none = NULL;

    CHECK_INT(record_square(&s, x, y), 0);
    CHECK_INT(s.deleted, 1);
    CHECK_INT(backward(y), -1);
    attach(x, REQ_WRITE);
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    CHECK_INT(record_square(&s, x, none), -1);
    CHECK_INT(record_square(&s, none, y), -1);
    CHECK_INT(record_square(&s, x, x), -1); /* an output that is attached to a graph */
    CHECK_INT(record_square(&s, NULL, y), -1);
    CHECK_INT(record_square(&s, x, (H)(uintptr_t)12345), -1);
    CHECK_INT(s.deleted, 1);
    drop(none);
    drop(y);
    drop(x);
}

TEST(failing_callback)
{
    square s = {.fail = 1};
    H x = VEC(3), u = VEC(2), y, z, w;
    H heads[2];

    attach_start(x, REQ_ADD, 1);
    attach_start(u, REQ_ADD, 1);
    record(true);
    y = square_of(&s, x);
    z = op1("exp", y);
    w = op1("square", u);
    record(false);
    heads[0] = z;
    heads[1] = w;
    CHECK_FAILS(MXAutogradBackward(2, heads, NULL, 0), "callback");
    CHECK_NEAR(grad_at(x, 0), 1, 0);
    CHECK_NEAR(grad_at(u, 0), 1, 0);
    CHECK_INT(fresh(u), 0);
    s.fail = 0; /* nothing was released: the same backward goes through now */
    CHECK_INT(MXAutogradBackward(2, heads, NULL, 0), 0);
    CHECK_NEAR(grad_at(x, 0), 1 + 6 * exp(9), 1e-12);
    CHECK_NEAR(grad_at(u, 0), 5, 0);
    drop(w);
    drop(z);
    drop(y);
    CHECK_INT(s.deleted, 1);
    drop(u);
    drop(x);
}

TEST(second_order)
{
    square s = {0};
    H x = VEC(3), y, d, e;

    attach(x, REQ_WRITE);
    record(true);
    y = square_of(&s, x);
    d = derivative(y, x, 1, 1);
    REQUIRE(d != NULL);
    CHECK_INT(s.recording, 1);
    CHECK_NEAR(at(d, 0), 6, 0);
    e = derivative(d, x, 0, 0);
    REQUIRE(e != NULL);
    CHECK_NEAR(at(e, 0), 2, 0);
    record(false);
    drop(e);
    drop(d);
    drop(y);
    CHECK_INT(s.deleted, 1);
    drop(x);
}

/* A backward inside the callback; the flags of the thread are as they were, also when it fails. */
TEST(nested_backward)
{
    square s = {.nested = 1};
    H x = VEC(3), y, *grads = NULL;
    int *stypes = NULL;
    bool on = false;

    attach(x, REQ_WRITE);
    record(true);
    y = square_of(&s, x);
    CHECK_INT(MXAutogradBackwardEx(1, &y, NULL, 1, &x, 1, 0, 1, &grads, &stypes), 0);
    CHECK_NEAR(at(grads[0], 0), 6, 0);
    drop(grads[0]);
    CHECK_INT(MXAutogradIsRecording(&on), 0);
    CHECK(on);
    s.fail = 1;
    CHECK_INT(backward(y), -1);
    CHECK_INT(MXAutogradIsRecording(&on), 0);
    CHECK(on);
    record(false);
    drop(y);
    drop(x);
}

/* The callback keeps its input gradient: what others add later must not show in it. */
TEST(kept_gradient)
{
    square s = {.keeps = true};
    H x = VEC(3), y, z;

    attach(x, REQ_WRITE);
    record(true);
    y = square_of(&s, x);
    z = ADD(y, x);
    record(false);
    CHECK_INT(backward(z), 0);
    CHECK_NEAR(grad_at(x, 0), 7, 0);
    CHECK_NEAR(at(s.keep, 0), 6, 0);
    drop(s.keep);
    drop(z);
    drop(y);
    drop(x);
}

/* A delete that looks at the variable whose gradient is just replaced. */
TEST(delete_looks_around)
{
    square s = {0};
    H x = VEC(3), y, z;

    attach(x, REQ_WRITE);
    s.watched = x;
    record(true);
    y = square_of(&s, x);
    z = op1("square", y);
    CHECK_INT(backward_full(z, NULL, 1, 1), 0); /* x.grad keeps the function alive */
    drop(y);
    drop(z);
    CHECK_INT(s.deleted, 0);
    y = op1("square", x);
    record(false);
    CHECK_INT(backward(y), 0); /* x.grad is written anew: the old graph goes */
    CHECK_INT(s.deleted, 1);
    drop(y);
    drop(x);
}

/* The callback ends the variable that its gradient is for. */
static int ending_backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                           const int is_train, void *state)
{
    H x = state, none = NULL;
    uint32_t req = REQ_NULL;

    (void)reqs;
    (void)is_train;
    CHECK_INT(num_ograds + num_igrads, 2);
    CHECK_INT(op_into("_copyto", 1, &ptrs[0], ptrs[1]), 0);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &none), 0);
    drop(ptrs[0]);
    drop(ptrs[1]);
    return 1;
}

TEST(variable_ended_on_the_way)
{
    H x = VEC(3), y = VEC(3), g;
    int (*callbacks[2])(void) = {CALLBACK(ending_backward), NULL};
    void *contexts[2] = {x, NULL};
    struct MXCallbackList list = {2, callbacks, contexts};

    attach(x, REQ_WRITE);
    CHECK_INT(custom_record(1, &x, 1, &y, &list), 0);
    CHECK_INT(backward_full(y, NULL, 1, 1), 0);
    g = grad_of(x);
    CHECK(g == NULL);
    CHECK_INT(fresh(x), 0);
    drop(y);
    drop(x);
}

/* The same where the gradient is returned: it is the one that was asked for. */
TEST(returned_variable_ended_on_the_way)
{
    H x = VEC(3), y = VEC(3), d;
    int (*callbacks[2])(void) = {CALLBACK(ending_backward), NULL};
    void *contexts[2] = {x, NULL};
    struct MXCallbackList list = {2, callbacks, contexts};

    attach(x, REQ_WRITE);
    CHECK_INT(custom_record(1, &x, 1, &y, &list), 0);
    d = derivative(y, x, 0, 0);
    REQUIRE(d != NULL);
    CHECK_NEAR(at(d, 0), 1, 0);
    drop(d);
    drop(y);
    drop(x);
}

/* Two inputs, two outputs; an output that no head reaches gives a zero head gradient; an input
 * whose request is null says so. */
static int cross_backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                          const int is_train, void *state)
{
    int *seen = state;

    (void)is_train;
    CHECK_INT(num_ograds, 2);
    CHECK_INT(num_igrads, 2);
    seen[0] = reqs[0];
    seen[1] = reqs[1];
    CHECK_NEAR(at(ptrs[1], 0), 0, 0);
    CHECK_INT(op_into("_copyto", 1, &ptrs[0], ptrs[2]), 0);
    CHECK_INT(op_into("_copyto", 1, &ptrs[0], ptrs[3]), 0);
    for (int i = 0; i < 4; i++)
        drop(ptrs[i]);
    return 1;
}

TEST(several_inputs_and_outputs)
{
    int seen[2] = {-1, -1};
    int (*callbacks[2])(void) = {CALLBACK(cross_backward), NULL};
    void *contexts[2] = {seen, NULL};
    struct MXCallbackList list = {2, callbacks, contexts};
    H in[2] = {VEC(1), VEC(2)}, out[2] = {VEC(3), VEC(4)};

    attach_start(in[0], REQ_NULL, 9);
    attach(in[1], REQ_WRITE);
    CHECK_INT(custom_record(2, in, 2, out, &list), 0);
    CHECK_INT(backward(out[0]), 0);
    CHECK_INT(seen[0], REQ_NULL);
    CHECK_INT(seen[1], REQ_WRITE);
    CHECK_NEAR(grad_at(in[0], 0), 9, 0);
    CHECK_NEAR(grad_at(in[1], 0), 1, 0);
    for (int i = 0; i < 2; i++) {
        drop(in[i]);
        drop(out[i]);
    }
}

/* A function recorded while nothing is would be lost silently: refused, its owner keeps it. */
TEST(not_recording)
{
    square s = {0};
    int (*callbacks[2])(void) = {CALLBACK(square_backward), CALLBACK(square_delete)};
    void *contexts[2] = {&s, &s};
    struct MXCallbackList list = {2, callbacks, contexts};
    H x = VEC(1), y = VEC(2);

    attach(x, REQ_WRITE);
    CHECK_FAILS(MXCustomFunctionRecord(1, &x, 1, &y, &list), "not recording");
    CHECK_INT(s.deleted, 0);
    drop(y);
    drop(x);
}

/* Lists that cannot be. */
TEST(bad_lists)
{
    int (*callbacks[2])(void) = {NULL, NULL};
    void *contexts[2] = {NULL, NULL};
    struct MXCallbackList list = {1, callbacks, contexts};
    H x = VEC(1), y = VEC(2);

    attach(x, REQ_WRITE);
    CHECK_INT(custom_record(1, &x, 1, &y, &list), -1);
    list.num_callbacks = 2;
    CHECK_INT(custom_record(1, &x, 1, &y, &list), -1);
    list.callbacks = NULL;
    CHECK_INT(custom_record(1, &x, 1, &y, &list), -1);
    CHECK_INT(custom_record(1, &x, 1, &y, NULL), -1);
    CHECK_INT(custom_record(0, &x, 1, &y, &list), -1);
    CHECK_INT(custom_record(1, &x, -1, &y, &list), -1);
    CHECK_INT(custom_record(1, NULL, 1, &y, &list), -1);
    CHECK_INT(custom_record(1, &x, 1, NULL, &list), -1);
    drop(y);
    drop(x);
}

HARNESS_MAIN(ENTRY(not_recording), ENTRY(gradient_and_delete), ENTRY(never_recorded),
             ENTRY(failing_callback), ENTRY(second_order), ENTRY(nested_backward),
             ENTRY(kept_gradient), ENTRY(delete_looks_around), ENTRY(variable_ended_on_the_way),
             ENTRY(returned_variable_ended_on_the_way), ENTRY(several_inputs_and_outputs),
             ENTRY(bad_lists))
