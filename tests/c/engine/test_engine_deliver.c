/* Accumulation of gradients into buffers and into arrays of the caller: requests refused before any
 * write, shared buffers, zeros, devices. */
#include "graph_kit.h"

#include "api/common.h"
#include "engine/backward/backward.h"

/* A buffer in memory that became read-only after it was marked: nothing is written. */
TEST(a_buffer_that_may_only_be_read)
{
    double values[2] = {5, 5};
    int64_t two = 2;
    H x = VEC(1, 2), w = VEC(3, 4), buffer, y;
    uint32_t req = REQ_WRITE;

    buffer = MXLNDArrayFromMemory(values, 1, &two, F64, NULL, NULL);
    attach_start(w, REQ_WRITE, 7);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &buffer), 0);
    record(true);
    y = MUL(x, w);
    record(false);
    CHECK_INT(MXLNDArrayProtect(buffer), 0);
    CHECK_FAILS(backward_full(y, NULL, 1, 0),
                "a gradient buffer: the array's memory may only be read");
    CHECK_NEAR(values[1], 5, 0);
    CHECK_NEAR(grad_at(w, 1), 7, 0);
    drop(y);
    drop(buffer);
    drop(w);
    drop(x);
}

/* A buffer that was none when it was marked, and has become one of another dtype. */
TEST(a_buffer_of_another_dtype)
{
    int64_t one = 1;
    H x = VEC(3), single = make(F32, 1, &one), buffer = NULL, y;
    uint32_t req = REQ_WRITE;

    CHECK_INT(MXNDArrayCreateNone(&buffer), 0);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &req, &buffer), 0);
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_FAILS(backward_full(y, NULL, 1, 0), "or another dtype");
    CHECK_INT(op_into("_copy", 1, &single, buffer), 0);
    CHECK_FAILS(backward_full(y, NULL, 1, 0), "or another dtype");
    drop(y);
    drop(buffer);
    drop(single);
    drop(x);
}

/* Two variables that add to one buffer, recorded or not: neither gradient is lost. */
TEST(one_buffer_for_two)
{
    for (int create = 0; create < 2; create++) {
        H x = VEC(3), w = VEC(5), buffer = VEC(100), both[2] = {x, w}, buffers[2], y, none[2];
        uint32_t reqs[2] = {REQ_ADD, REQ_ADD}, off[2] = {REQ_NULL, REQ_NULL};

        buffers[0] = buffers[1] = buffer;
        none[0] = none[1] = NULL;
        CHECK_INT(MXAutogradMarkVariables(2, both, reqs, buffers), 0);
        record(true);
        y = MUL(x, w);
        record(false);
        CHECK_INT(backward_full(y, NULL, 1, create), 0);
        CHECK_NEAR(at(buffer, 0), 108, 0);
        CHECK_INT(MXAutogradMarkVariables(2, both, off, none), 0);
        drop(y);
        drop(buffer);
        drop(w);
        drop(x);
    }
}

/* Zeros where nothing arrived come from nowhere: a buffer of them leads to no variable. */
TEST(zeros_stand_nowhere)
{
    H x = VEC(3), y, d, grad;
    N node;

    attach_start(x, REQ_WRITE, 7);
    record(true);
    y = op_scalar("_mul_scalar", x, "2");
    d = derivative(y, x, 1, 1);
    record(false);
    CHECK_INT(backward_full(d, NULL, 0, 1), 0);
    grad = grad_of(x);
    CHECK_NEAR(at(grad, 0), 0, 0);
    node = edge_of(grad, NULL);
    CHECK(node == NULL);
    drop(grad);
    drop(d);
    drop(y);
    drop(x);
}

/* A variable that was asked for, first or last, and may be out of reach, gets zeros in MXNet's
 * dialect; in PyTorch's its gradient stays. */
static void ask_out_of_reach(int dialect, int first)
{
    MXLBackwardOptions options = {
        .keep_graph = 1, .allow_unreachable = 1, .accumulate_grad = 1, .dialect = dialect};
    H x = VEC(3), w = VEC(5), y;
    N head, wanted[2];
    int output, zeros[2] = {0, 0};

    attach_start(x, REQ_WRITE, 7);
    attach_start(w, REQ_WRITE, 7);
    record(true);
    y = op1("square", x);
    record(false);
    head = edge_of(y, &output);
    wanted[first] = edge_of(w, NULL);
    wanted[1 - first] = edge_of(x, NULL);
    CHECK_INT(MXLBackward(1, &head, &output, NULL, &options, 2, wanted, zeros, NULL), 0);
    CHECK_NEAR(grad_at(x, 0), 6, 0);
    CHECK_NEAR(grad_at(w, 0), dialect == MXL_DIALECT_MXNET ? 0 : 7, 0);
    CHECK_INT(MXLNodeFree(head), 0);
    CHECK_INT(MXLNodeFree(wanted[0]), 0);
    CHECK_INT(MXLNodeFree(wanted[1]), 0);
    drop(y);
    drop(w);
    drop(x);
}

TEST(out_of_reach)
{
    for (int dialect = MXL_DIALECT_MXNET; dialect <= MXL_DIALECT_TORCH; dialect++) {
        ask_out_of_reach(dialect, 0);
        ask_out_of_reach(dialect, 1);
    }
}

/* A recorded gradient leads to its variable and to what it was computed with, not to a copy of
 * that; one that is not recorded leads nowhere. */
TEST(where_gradients_lead)
{
    H x = VEC(3), y, d;
    N node, variable, found;
    int count = 0;

    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    d = derivative(y, x, 1, 1);
    record(false);
    node = edge_of(d, NULL);
    CHECK_STR(name_of(node), "GradientOfBackward0");
    CHECK_INT(MXLNodeGetNumInputs(node, &count), 0);
    CHECK_INT(count, 2);
    variable = edge_of(x, NULL);
    CHECK_INT(MXLNodeGetInput(node, 1, &found, &count), 0);
    CHECK_INT(node_id(found), node_id(variable));
    CHECK_INT(MXLNodeFree(found), 0);
    CHECK_INT(MXLNodeFree(variable), 0);
    node = step(node, 0);
    CHECK_STR(name_of(node), "MulBackward0");
    CHECK_INT(MXLNodeFree(node), 0);
    drop(d);
    d = derivative(y, x, 1, 0);
    node = edge_of(d, NULL);
    CHECK(node == NULL);
    drop(d);
    drop(y);
    drop(x);
}

/* Results go into the caller's array, as many as were asked for. */
TEST(no_more_than_asked_for)
{
    H x = VEC(3), y;
    mxl_array *head, *variable, *grads[2];

    attach(x, REQ_WRITE);
    record(true);
    y = op1("square", x);
    record(false);
    head = api_pin_for(y, "test");
    variable = api_pin_for(x, "test");
    grads[0] = NULL;
    grads[1] = variable;
    CHECK_INT(mxl_backward(&(mxl_backward_args){.num_heads = 1,
                                                .heads = &head,
                                                .num_variables = 1,
                                                .variables = &variable,
                                                .grads = grads,
                                                .dialect = &mxl_dialect_mxnet}),
              0);
    CHECK(grads[0] != NULL);
    CHECK(grads[1] == variable);
    mxl_array_release(grads[0]);
    api_unpin(x);
    api_unpin(y);
    drop(y);
    drop(x);
}

/* A gradient is where its variable is, wherever what it was computed of is. */
TEST(devices)
{
    int64_t one = 1;
    H x = NULL, c = VEC(2), y, d;
    int type = 0, id = -1;

    CHECK_INT(MXNDArrayCreateEx64(&one, 1, 1, 3, 0, F64, &x), 0);
    fill(x, (double[]){3}, 1);
    attach(x, REQ_WRITE);
    record(true);
    y = MUL(c, x);
    d = derivative(y, x, 0, 0);
    record(false);
    CHECK_INT(MXNDArrayGetContext(d, &type, &id), 0);
    CHECK_INT(type, 1);
    CHECK_INT(id, 3);
    CHECK_NEAR(at(d, 0), 2, 0);
    drop(d);
    drop(y);
    drop(c);
    drop(x);
}

/* ---- hooks ---- */

static int fails(void *payload, H variable)
{
    (void)payload;
    drop(variable);
    return 1;
}

static int counts(void *payload, int num_inputs, const H *input_grads, int num_outputs,
                  const H *output_grads, H *results)
{
    (void)input_grads, (void)results;
    CHECK_INT(num_inputs, 0);
    for (int i = 0; i < num_outputs; i++)
        drop(output_grads[i]);
    ++*(int *)payload;
    return 0;
}

/* A hook that sees the gradient accumulated fails: so does the backward, and no hook comes after.
 */
TEST(a_hook_that_fails)
{
    int calls = 0;
    H x = VEC(3), y;
    MXLHookHandle hook;
    N node;

    attach(x, REQ_WRITE);
    node = edge_of(x, NULL);
    CHECK_INT(MXLNodeAddHook(node, counts, &calls, NULL, NULL), 0);
    CHECK_INT(MXLNDArrayAddAccumulatedHook(x, fails, NULL, NULL, &hook), 0);
    record(true);
    y = op1("square", x);
    record(false);
    CHECK_FAILS(backward_full(y, NULL, 1, 0), "a hook after accumulation failed");
    CHECK_INT(calls, 0);
    CHECK_INT(MXLHookRemove(hook), 0);
    CHECK_INT(backward_full(y, NULL, 1, 0), 0);
    CHECK_INT(calls, 1);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    drop(x);
}

/* ---- what a callback does between two variables ---- */

typedef struct meddler {
    H other;                          /* the variable whose turn is next */
    enum { TAKES, SETS, GIVES } what; /* its buffer, the buffer's values, a buffer */
    double given;
    int calls;
} meddler;

static int no_rule(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                   const int *wants, H *results)
{
    (void)payload, (void)num_inputs, (void)wants, (void)results;
    for (int i = 0; i < num_outputs; i++)
        drop(output_grads[i]);
    return 0;
}

static void on_release(void *payload)
{
    meddler *m = payload;
    int64_t one = 1;
    H grad = NULL;

    m->calls++;
    if (m->what == SETS) {
        grad = grad_of(m->other);
        fill(grad, (double[]){1000}, 1);
    } else {
        if (m->what == GIVES) /* nothing has written to it yet */
            grad = MXLNDArrayFromMemory(&m->given, 1, &one, F64, NULL, NULL);
        CHECK_INT(MXLNDArraySetGrad(m->other, grad), 0);
    }
    if (grad != NULL)
        drop(grad);
}

/* A gradient buffer attached to a node of `m`: when it is written, the node goes, and on_release
 * runs. */
static H buffer_of(meddler *m)
{
    MXLCallHandle like = NULL;
    H from = leaf(VEC(1)), buffer = VEC(10);
    int taken = 0;

    CHECK_INT(MXLPrepareAs(MXL_DIALECT_MXNET, "Mine", NULL, "_copy", 0, NULL, NULL, 0, NULL, &like),
              0);
    record(true);
    CHECK_INT(MXLFunctionRecord(like, 1, &from, 1, &buffer, no_rule, m, NULL, on_release, &taken),
              0);
    record(false);
    CHECK_INT(taken, 1);
    drop(from);
    return buffer;
}

/* x w, where x's buffer is written first: w's is another, or has other values, when its turn comes.
 * A recorded sum in place of x's would keep the old node. */
static void meddle(int dialect, int create, uint32_t req, meddler m)
{
    MXLBackwardOptions options = {.keep_graph = 1, .create_graph = create, .dialect = dialect};
    H x = VEC(3), w = VEC(5), y, none = NULL, buffer;
    uint32_t off = REQ_NULL, of_x = create ? REQ_WRITE : req;
    double want = 3;

    m.other = w;
    if (m.what == GIVES)
        CHECK_INT(MXAutogradMarkVariables(1, &w, &req, &none), 0);
    else
        attach_start(w, req, 7);
    buffer = buffer_of(&m);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &of_x, &buffer), 0);
    drop(buffer);
    record(true);
    y = MUL(x, w);
    record(false);
    CHECK_INT(m.calls, 0);
    CHECK_INT(run_from(y, &options), 0);
    CHECK_INT(m.calls, 1);
    if (m.what != TAKES && req == REQ_ADD)
        want += 1000;
    CHECK_NEAR(grad_at(w, 0), want, 0);
    CHECK_NEAR(grad_at(x, 0), of_x == REQ_ADD ? 15 : 5, 0);
    CHECK_INT(fresh(w), 1);
    CHECK_INT(MXAutogradMarkVariables(1, &x, &off, &none), 0);
    CHECK_INT(MXAutogradMarkVariables(1, &w, &off, &none), 0);
    drop(y);
    drop(w);
    drop(x);
}

TEST(buffers_that_change_on_the_way)
{
    for (int dialect = MXL_DIALECT_MXNET; dialect <= MXL_DIALECT_TORCH; dialect++) {
        for (int create = 0; create < 2; create++) {
            for (int what = TAKES; what <= GIVES; what++) {
                meddle(dialect, create, REQ_WRITE, (meddler){.what = what, .given = 1000});
                meddle(dialect, create, REQ_ADD, (meddler){.what = what, .given = 1000});
            }
        }
    }
}

HARNESS_MAIN(ENTRY(a_buffer_that_may_only_be_read), ENTRY(a_buffer_of_another_dtype),
             ENTRY(one_buffer_for_two), ENTRY(zeros_stand_nowhere), ENTRY(out_of_reach),
             ENTRY(where_gradients_lead), ENTRY(no_more_than_asked_for), ENTRY(devices),
             ENTRY(a_hook_that_fails), ENTRY(buffers_that_change_on_the_way))
