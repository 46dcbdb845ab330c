/* The allocation walk over the functions of mxlite/graph.h. */
#include "graph_kit.h"
#include "walk_kit.h"

static const int zero = 0;

static void free_node(N node)
{
    CHECK_INT(MXLNodeFree(node), 0);
}

static void nothing(void *payload)
{
    (void)payload;
}

static bool looks(stage *s)
{
    N node = NULL, next = NULL;
    H value = NULL, variable = NULL;
    const char *name = NULL;
    int output = -1;
    bool ok = failing(MXLNDArrayGetEdge(s->y, &node, &output) == 0) &&
              failing(MXLNodeGetName(node, &name) == 0) &&
              failing(MXLNodeGetSaved(node, 0, &value, NULL, NULL, NULL) == 0) &&
              failing(MXLNodeGetInput(node, 0, &next, &output) == 0) &&
              failing(MXLNodeGetVariable(next, &variable) == 0) &&
              failing(MXLNodeSetPayload(node, s, nothing) == 0);

    free_node(node);
    free_node(next);
    let_go(value);
    let_go(variable);
    return ok;
}

static bool requires_grad(stage *s)
{
    bool ok = failing(MXLNDArraySetRequiresGrad(s->c, 1) == 0);

    CHECK_INT(MXLNDArraySetRequiresGrad(s->c, 0), 0);
    return ok;
}

/* ---- hooks ---- */

static stage *stage_now;

/* c in the gradient's place: an array that there is already. */
static int replaces(void *payload, int count, const H *grads, H *results)
{
    (void)payload;
    for (int i = 0; i < count; i++) {
        if (grads[i] != NULL)
            let_go(grads[i]);
        if (MXShallowCopyNDArray(stage_now->c, &results[i]) != 0)
            return -1;
    }
    return 0;
}

static int at_end(void *payload)
{
    (void)payload;
    return 0;
}

static int after(void *payload, int num_inputs, const H *input_grads, int num_outputs,
                 const H *output_grads, H *results)
{
    for (int i = 0; i < num_outputs; i++) {
        if (output_grads[i] != NULL)
            let_go(output_grads[i]);
    }
    if (MXLBackwardQueue(at_end, NULL, nothing) != 0) {
        for (int i = 0; i < num_inputs; i++)
            let_go(input_grads[i]);
        return -1;
    }
    return replaces(payload, num_inputs, input_grads, results);
}

static bool hooks(stage *s)
{
    MXLBackwardOptions keep = {.keep_graph = 1};
    MXLHookHandle made[4] = {NULL};
    N node = NULL, root = NULL, var = NULL;
    H grad = NULL;
    int output = -1;
    bool ok;

    stage_now = s;
    ok = failing(MXLNDArrayGetEdge(s->y, &node, &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->z, &root, &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->x, &var, &output) == 0) &&
         failing(MXLNDArrayAddHook(s->y, replaces, 0, NULL, nothing, &made[0]) == 0) &&
         failing(MXLNDArrayAddHook(s->x, replaces, 0, NULL, nothing, &made[1]) == 0) &&
         failing(MXLNodeAddPreHook(node, replaces, NULL, nothing, &made[2]) == 0) &&
         failing(MXLNodeAddHook(node, after, NULL, nothing, &made[3]) == 0) &&
         failing(MXLBackward(1, &root, &zero, NULL, &keep, 1, &var, &zero, &grad) == 0);
    if (ok)
        CHECK_NEAR(at(grad, 1), 1, 0); /* c */
    for (int i = 0; i < 4; i++) {
        if (made[i] != NULL)
            CHECK_INT(MXLHookRemove(made[i]), 0);
    }
    free_node(node);
    free_node(root);
    free_node(var);
    let_go(grad);
    return ok;
}

/* ---- what is recorded ---- */

static int pack(void *payload, H array, void **packed)
{
    (void)payload;
    *packed = array;
    return 0;
}

static int unpack(void *payload, void *packed, H *array)
{
    (void)payload;
    return MXShallowCopyNDArray(packed, array);
}

static void drop_packed(void *payload, void *packed)
{
    (void)payload;
    let_go(packed);
}

static int on_record(void *payload, N node, int num_outputs, const H *outputs)
{
    (void)payload;
    free_node(node);
    for (int i = 0; i < num_outputs; i++)
        let_go(outputs[i]);
    return 0;
}

static bool records(stage *s)
{
    H a = NULL, b = NULL, grad = NULL;
    N root = NULL, var = NULL;
    MXLBackwardOptions plain = {.keep_graph = 0};
    int output = -1;
    bool before = record(true);
    bool pushed = failing(MXLPushSavedHooks(pack, unpack, drop_packed, NULL, nothing) == 0);
    bool ok = pushed && failing(MXLSetRecordHook(on_record, NULL) == 0) &&
              failing((a = MXLCall2(s->mul, s->x, s->w)) != NULL) &&
              failing((b = MXLCall2(s->mul, a, s->x)) != NULL);

    if (pushed)
        CHECK_INT(MXLPopSavedHooks(), 0);
    CHECK_INT(MXLSetRecordHook(NULL, NULL), 0);
    record(before);
    ok = ok && failing(MXLNDArrayGetEdge(b, &root, &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->x, &var, &output) == 0) &&
         failing(MXLBackward(1, &root, &zero, NULL, &plain, 1, &var, &zero, &grad) == 0);
    if (ok)
        CHECK_NEAR(at(grad, 1), 42, 0); /* 2 x w */
    free_node(root);
    free_node(var);
    let_go(a);
    let_go(b);
    let_go(grad);
    return ok;
}

/* Into the variables: all of them, or none. */
static bool accumulates(stage *s)
{
    MXLBackwardOptions keep = {.keep_graph = 1};
    N root = NULL;
    int output = -1;
    bool ok = failing(MXLNDArrayGetEdge(s->z, &root, &output) == 0) &&
              failing(MXLBackward(1, &root, &zero, NULL, &keep, 0, NULL, NULL, NULL) == 0);

    free_node(root);
    return ok;
}

/* ---- functions ---- */

/* A call of PyTorch's dialect, with up to two parameters; made with all the memory there is. */
static MXLCallHandle torch(const char *name, const char **keys, const char **values)
{
    int64_t left = until_failure;
    MXLCallHandle call = NULL;

    until_failure = -1;
    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, NULL, NULL, name, keys == NULL ? 0 : 2, keys, values,
                           0, NULL, &call),
              0);
    until_failure = left;
    return call;
}

static int released, forgotten;

static void count_release(void *payload)
{
    (void)payload;
    released++;
}

static void count_forget(void *payload)
{
    (void)payload;
    forgotten++;
}

/* The head for the first input, an array that there is for the others. */
static int gives(void *payload, int num_outputs, const H *output_grads, int num_inputs,
                 const int *wants, H *results)
{
    int status = 0;

    (void)payload;
    for (int i = 1; i < num_inputs && status == 0; i++) {
        if (wants[i])
            status = MXShallowCopyNDArray(stage_now->c, &results[i]);
    }
    if (status == 0)
        status = MXShallowCopyNDArray(output_grads[0], &results[0]);
    for (int i = 0; i < num_outputs; i++)
        let_go(output_grads[i]);
    return status;
}

/* What a call recorded it releases, what failed is the caller's. */
static bool function(H *in, int count, H *out, int *expected)
{
    static MXLCallHandle like;
    int taken = -1, status;

    if (like == NULL)
        like = torch("_copy", NULL, NULL);
    status = MXLFunctionRecord(like, count, in, 1, out, gives, NULL, count_forget, count_release,
                               &taken);
    CHECK_INT(taken, status == 0);
    *expected += taken;
    return failing(status == 0);
}

static bool functions(stage *s)
{
    MXLBackwardOptions plain = {.dialect = 1};
    H in[2] = {s->x, s->w}, out = NULL, grads[2] = {NULL, NULL};
    N root = NULL, vars[2] = {NULL, NULL};
    int output = -1, expected = 0, zeros[2] = {0, 0};
    bool ok;

    stage_now = s;
    released = forgotten = 0;
    ok = failing(MXNDArrayDetach(s->c, &out) == 0) && function(in, 2, &out, &expected) &&
         failing(MXLNDArrayGetEdge(out, &root, &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->x, &vars[0], &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->w, &vars[1], &output) == 0) &&
         failing(MXLBackward(1, &root, &zero, NULL, &plain, 2, vars, zeros, grads) == 0);
    if (ok) {
        CHECK_NEAR(at(grads[0], 1), 1, 0);
        CHECK_INT(forgotten, 1);
    }
    free_node(root);
    free_node(vars[0]);
    free_node(vars[1]);
    let_go(grads[0]);
    let_go(grads[1]);
    let_go(out);
    CHECK_INT(released, expected);
    return ok;
}

/* One that edits a view: CopySlices around its node, and the view made anew. */
static bool functions_on_views(stage *s)
{
    static MXLCallHandle copy, part;
    const char *keys[2] = {"axis", "index"}, *values[2] = {"0", "1"};
    MXLBackwardOptions plain = {.dialect = 1};
    H y = NULL, v = NULL, late = NULL, kept = NULL, grad = NULL;
    N root = NULL, var = NULL;
    int output = -1, expected = 0;
    bool ok;

    if (copy == NULL) {
        copy = torch("_copy", NULL, NULL);
        part = torch("_mxl_select", keys, values);
    }
    stage_now = s;
    released = forgotten = 0;
    ok = failing((y = MXLCall1(copy, s->x)) != NULL) && failing((v = MXLCall1(part, y)) != NULL) &&
         failing((late = MXLCall1(part, y)) != NULL) && function(&v, 1, &v, &expected) &&
         failing(MXLNDArrayPin(late, &kept) == 0) &&
         failing(MXLNDArrayGetEdge(v, &root, &output) == 0) &&
         failing(MXLNDArrayGetEdge(s->x, &var, &output) == 0) &&
         failing(MXLBackward(1, &root, &zero, NULL, &plain, 1, &var, &zero, &grad) == 0);
    if (ok) {
        CHECK_NEAR(at(grad, 0), 0, 0);
        CHECK_NEAR(at(grad, 1), 1, 0);
        CHECK_INT(forgotten, 1);
    }
    free_node(root);
    free_node(var);
    let_go(grad);
    let_go(kept);
    let_go(late);
    let_go(v);
    let_go(y);
    CHECK_INT(released, expected);
    return ok;
}

/* ---- a buffer that goes on the way ---- */

static void takes_buffer(void *payload)
{
    const stage *s = payload;

    CHECK_INT(MXLNDArraySetGrad(s->w, NULL), 0);
}

/* x's gradient buffer is attached to a node: when it is written, the node goes, and with it w's
 * buffer, before w gets the caller's head gradient. That is copied, or the backward fails. */
static bool buffer_goes(stage *s)
{
    static MXLCallHandle copy;
    int64_t left = until_failure;
    H heads[2] = {NULL, s->w}, grads[2] = {NULL, s->c}, buffer;
    uint32_t req = REQ_WRITE;
    int taken = 0;
    bool ok;

    until_failure = -1;
    stage_now = s;
    buffer = VEC(1, 1);
    if (copy == NULL)
        copy = torch("_copy", NULL, NULL);
    CHECK_INT(MXLFunctionRecord(copy, 1, &s->w, 1, &buffer, gives, s, NULL, takes_buffer, &taken),
              0);
    CHECK_INT(taken, 1);
    CHECK_INT(MXAutogradMarkVariables(1, &s->x, &req, &buffer), 0);
    record(true);
    heads[0] = MUL(s->x, s->c);
    record(false);
    until_failure = left;
    ok = failing(MXAutogradBackward(2, heads, grads, 0) == 0);
    until_failure = -1;
    if (ok)
        CHECK_NEAR(grad_or(s->w, 1), 1, 0);
    let_go(heads[0]);
    let_go(buffer);
    return ok;
}

WALK(walk_looks, looks, true)
WALK(walk_requires_grad, requires_grad, true)
WALK(walk_hooks, hooks, true)
WALK(walk_records, records, true)
WALK(walk_accumulates, accumulates, true)
WALK(walk_functions, functions, true)
WALK(walk_functions_on_views, functions_on_views, true)
WALK(walk_buffer_goes, buffer_goes, false)

WALK_MAIN(ENTRY(walk_looks), ENTRY(walk_requires_grad), ENTRY(walk_hooks), ENTRY(walk_records),
          ENTRY(walk_accumulates), ENTRY(walk_functions), ENTRY(walk_functions_on_views),
          ENTRY(walk_buffer_goes))
