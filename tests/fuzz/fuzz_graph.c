/* Random sequences of calls of mxlite/graph.h with valid, stale, wrong and random handles: graphs
 * of both dialects, edits in place, hooks, functions and saved values whose callbacks call the API
 * again, fail, and return what is no gradient. As fuzz_api.c; what is given to the library has to
 * be released, once. */
#define FUZZ_NAME "fuzz_graph"
#include "fuzz_callbacks.h"

/* ---- graphs ---- */

/* An operator of one dialect, prepared once: with one parameter, or none. */
static const struct {
    const char *name, *key, *value;
    int inputs;
} kinds[] = {{"exp", NULL, NULL, 1},
             {"square", NULL, NULL, 1},
             {"tanh", NULL, NULL, 1},
             {"BlockGrad", NULL, NULL, 1},
             {"_mul_scalar", "scalar", "2", 1},
             {"_plus_scalar", "scalar", "1", 1},
             {"_copy", NULL, NULL, 1},
             {"broadcast_add", NULL, NULL, 2},
             {"broadcast_mul", NULL, NULL, 2},
             {"_mxl_copy_over", NULL, NULL, 2},
             {"dot", NULL, NULL, 2},
             {"transpose", NULL, NULL, 1},
             {"_mxl_select", "index", "1", 1},
             {"slice_axis", "begin", "1", 1},
             {"expand_dims", "axis", "0", 1},
             {"sum", NULL, NULL, 1},
             {"split", "num_outputs", "2", 1},
             {"Dropout", "p", "0.5", 1},
             {"argmax", NULL, NULL, 1}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static MXLCallHandle prepared(unsigned kind, int dialect)
{
    static MXLCallHandle calls[KINDS][2];
    const char *keys[3] = {kinds[kind].key, "axis", "end"},
               *values[3] = {kinds[kind].value, "0", "2"};
    int count = kinds[kind].key == NULL                                 ? 0
                : strcmp(kinds[kind].name, "slice_axis") == 0           ? 3
                : strstr("_mxl_select split", kinds[kind].name) != NULL ? 2
                                                                        : 1;

    if (calls[kind][dialect] == NULL &&
        MXLPrepareAs(dialect, NULL, NULL, kinds[kind].name, count, keys, values, 0, NULL,
                     &calls[kind][dialect]) != 0)
        die(MXGetLastError());
    return calls[kind][dialect];
}

static void create(fuzz *f)
{
    static const int64_t shape[2] = {2, 2};
    double values[4] = {1, 2, 3, 0};
    NDArrayHandle out = NULL;

    checked(MXNDArrayCreateEx64(shape, 1 + (int)next(f, 2), 1, 0, 0, (int)next(f, 8) != 0, &out));
    if (out == NULL)
        return;
    (void)MXNDArraySyncCopyFromCPU(out, values, 2);
    keep_variable(out);
    if (next(f, 4) != 0)
        want(out);
    put(f, out);
}

static void invoke(fuzz *f)
{
    unsigned kind = next(f, KINDS);
    MXLCallHandle call = prepared(kind, next(f, 4) != 0);
    NDArrayHandle in[2] = {pick(f), pick(f)}, outputs[2] = {NULL, NULL}, given[2];
    int count = 2, num = 1;

    if (next(f, 3) == 0)
        outputs[0] = next(f, 2) == 0 ? in[0] : pick(f);
    if (next(f, 8) == 0)
        outputs[1] = pick(f);
    memcpy(given, outputs, sizeof given);
    if (MXLCallGetNumOutputs(call, NULL, &num) != 0)
        num = 1;
    if (checked(MXLCallInto(call, kinds[kind].inputs, in, NULL, &count, outputs)) != 0)
        return;
    for (int i = 0; i < num; i++) {
        if (given[i] == NULL)
            put(f, outputs[i]);
    }
}

static void view(fuzz *f)
{
    NDArrayHandle array = pick(f), out = NULL;
    int64_t shape = -1;
    int kept;

    switch (next(f, 8)) {
    case 0:
        put(f, MXLNDArraySlice(array, 0, 1));
        break;
    case 1:
        put(f, MXLNDArrayAt(array, 1));
        break;
    case 2:
        put(f, MXLNDArrayReshape(array, 1, &shape, 0));
        break;
    case 3:
        if (checked(MXNDArrayDetach(array, &out)) == 0)
            put(f, out);
        break;
    case 4:
        if (checked(MXLNDArrayPin(array, &out)) == 0)
            put(f, out);
        break;
    case 6:
        (void)checked(MXLNDArrayTurn(array, pick(f), &kept));
        break;
    case 5:
        if (checked(MXLNDArrayPlace(array, pick_node(f), (int)next(f, 2), &out)) == 0)
            put(f, out);
        break;
    default:
        if (checked(MXShallowCopyNDArray(array, &out)) == 0)
            put(f, out);
    }
}

static void function(fuzz *f)
{
    NDArrayHandle in[2] = {pick(f), pick(f)}, out[2] = {NULL, NULL};
    payload *p = new_payload();
    int taken = -1, outputs = 1 + (next(f, 4) == 0);

    for (int i = 0; i < outputs; i++) {
        out[i] = in[i];
        if (next(f, 3) != 0 && checked(MXNDArrayDetach(pick(f), &out[i])) == 0)
            put(f, out[i]);
    }
    if (checked(MXLFunctionRecord(prepared(next(f, KINDS), next(f, 4) != 0), 1 + (int)next(f, 2),
                                  in, outputs, out, on_rule, p, next(f, 4) == 0 ? NULL : forget,
                                  release, &taken)) != 0 &&
        taken != 0)
        die("a function was taken by a call that failed");
    if (taken != 1)
        release(p);
}

/* ---- walks ---- */

static void edges(fuzz *f)
{
    MXLNodeHandle node = NULL;
    int output = 0;

    if (next(f, 2) == 0)
        (void)checked(MXLNDArrayGetEdge(pick(f), &node, &output));
    else
        (void)checked(MXLNodeGetInput(pick_node(f), (int)next(f, 3), &node, &output));
    put_node(f, node);
}

static void look(fuzz *f)
{
    MXLNodeHandle node = pick_node(f);
    const char *text, **keys, **values;
    int number, other, slots[4];
    int64_t shape[4], bytes;
    uint64_t id;

    (void)checked(MXLNodeGetId(node, &id));
    (void)checked(MXLNodeGetName(node, &text));
    (void)checked(MXLNodeGetOperator(node, &text));
    (void)checked(MXLNodeGetSequence(node, &id));
    (void)checked(MXLNodeIsReleased(node, &number));
    (void)checked(MXLNodeGetNumInputs(node, &number));
    (void)checked(MXLNodeGetNumOutputs(node, &number));
    (void)checked(MXLNodeGetNumSaved(node, &number));
    (void)checked(MXLNodeGetParams(node, &number, &keys, &values));
    if (MXLNodeGetSlots(node, 4, slots) < 0 || MXLNodeGetInfo(node, 1, 0, 4, shape, &number) < 0)
        checked(-1);
    (void)checked(MXLNodeGetSaved(node, (int)next(f, 3) - 1, NULL, &number, &other, &bytes));
}

static void take(fuzz *f)
{
    MXLNodeHandle node = pick_node(f);
    NDArrayHandle array = NULL;
    payload *p;
    void *there;

    switch (next(f, 4)) {
    case 0:
        if (checked(MXLNodeGetSaved(node, (int)next(f, 2), &array, NULL, NULL, NULL)) == 0)
            put(f, array);
        break;
    case 1:
        if (checked(MXLNodeGetVariable(node, &array)) == 0)
            put(f, array);
        break;
    case 2:
        p = new_payload();
        settle(MXLNodeSetPayload(node, p, release), p);
        break;
    default:
        (void)checked(MXLNodeGetPayload(node, &there));
        (void)checked(MXLNodeFree(node)); /* stays in its slot: stale */
    }
}

/* ---- hooks ---- */

static void hook(fuzz *f)
{
    payload *p = new_payload();
    MXLHookHandle made = NULL, *out = next(f, 4) == 0 ? NULL : &made;

    switch (next(f, 4)) {
    case 0:
        settle(MXLNDArrayAddHook(pick(f), on_grad, (int)next(f, 2), p, release, out), p);
        break;
    case 1:
        settle(MXLNDArrayAddAccumulatedHook(pick(f), on_variable, p, release, out), p);
        break;
    case 2:
        settle(MXLNodeAddPreHook(pick_node(f), on_grad, p, release, out), p);
        break;
    default:
        settle(MXLNodeAddHook(pick_node(f), on_node, p, release, out), p);
    }
    put_hook(f, made);
}

static void watch(fuzz *f)
{
    payload *p;
    int unused;

    switch (next(f, 8)) {
    case 0:
    case 1:
        p = new_payload();
        settle(MXLPushSavedHooks(pack, unpack, drop_packed, p, release), p);
        break;
    case 2:
    case 3:
    case 4:
        (void)checked(MXLPopSavedHooks());
        break;
    case 5:
        (void)checked(MXLSetRecordHook(next(f, 2) == 0 ? on_record : NULL, f));
        break;
    case 6:
        (void)checked(MXLSetAnomaly((int)next(f, 3), &unused));
        break;
    default:
        p = new_payload();
        settle(MXLBackwardQueue(on_end, p, release), p);
    }
}

static void flags(fuzz *f)
{
    MXLNodeHandle node = NULL;
    int unused;

    switch (next(f, 5)) {
    case 0:
        (void)MXAutogradSetIsRecording(next(f, 4) != 0, &unused);
        break;
    case 1:
        (void)MXLSetGradMode(next(f, 4) != 0, &unused);
        break;
    case 2:
        (void)MXLSetInplace((int)next(f, 2), &unused);
        break;
    case 3:
        (void)checked(MXLAnomalyTakeNode(&node));
        put_node(f, node);
        break;
    default:
        (void)discard(pick(f)); /* stays in its slot: stale */
    }
}

static void variable(fuzz *f)
{
    NDArrayHandle array = pick(f), grad = NULL;

    switch (next(f, 4)) {
    case 0:
        if (next(f, 4) != 0)
            want(array);
        else
            (void)checked(MXLNDArraySetRequiresGrad(array, 0));
        break;
    case 1:
        (void)checked(MXLNDArraySetGrad(array, next(f, 2) == 0 ? NULL : pick(f)));
        break;
    case 2:
        (void)checked(MXLNDArrayCheckEdit(array));
        break;
    default:
        if (checked(MXNDArrayGetGrad(array, &grad)) == 0 && grad != NULL)
            put(f, grad);
    }
}

/* ---- backward ---- */

static void backward(fuzz *f)
{
    MXLBackwardOptions options = {.keep_graph = (int)next(f, 2),
                                  .create_graph = next(f, 3) == 0,
                                  .allow_unreachable = next(f, 3) != 0,
                                  .accumulate_grad = (int)next(f, 2),
                                  .training = (int)next(f, 2),
                                  .dialect = (int)next(f, 2)};
    MXLNodeHandle roots[2], wanted[2];
    NDArrayHandle heads[2], grads[2] = {NULL, NULL};
    int outputs[4] = {0}, num_roots = 1 + (next(f, 4) == 0), num_inputs = (int)next(f, 3);

    for (int i = 0; i < 2; i++) {
        roots[i] = pick_node(f);
        wanted[i] = pick_node(f);
        heads[i] = next(f, 8) == 0 ? pick(f) : NULL;
        outputs[i] = next(f, 8) == 0;
        outputs[2 + i] = next(f, 8) == 0;
    }
    if (next(f, 2) == 0) { /* from an array, which is where most graphs are */
        MXLNodeHandle node = NULL;

        (void)checked(MXLNDArrayGetEdge(pick(f), &node, &outputs[0]));
        if (node != NULL)
            roots[0] = node;
        put_node(f, node);
    }
    if (checked(MXLBackward(num_roots, roots, outputs, heads, &options, num_inputs, wanted,
                            outputs + 2, grads)) != 0 &&
        (grads[0] != NULL || grads[1] != NULL))
        die("a failing backward returned gradients");
    for (int i = 0; i < 2; i++) {
        if (grads[i] != NULL)
            put(f, grads[i]);
    }
}

static void backward_mxnet(fuzz *f)
{
    NDArrayHandle head = pick(f), wanted = pick(f), *grads = NULL;
    int *stypes = NULL;
    uint32_t count = next(f, 2);

    if (checked(MXAutogradBackwardEx(1, &head, NULL, count, &wanted, (int)next(f, 2),
                                     next(f, 3) == 0, 1, &grads, &stypes)) == 0 &&
        count > 0)
        put(f, grads[0]);
}

static void act(fuzz *f)
{
    static void (*const actions[])(fuzz *) = {
        create, create, invoke,   invoke,   invoke,   invoke,   invoke,   invoke,        view,
        view,   edges,  edges,    edges,    look,     take,     hook,     hook,          hook,
        watch,  flags,  variable, function, function, backward, backward, backward_mxnet};

    actions[next(f, sizeof actions / sizeof *actions)](f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz f = {.data = data, .left = size};
    MXLNodeHandle node = NULL;
    int64_t before = 0, after = 0;
    int unused;

    limit_memory();
    (void)MXAutogradSetIsRecording(1, &unused);
    (void)MXLGetLiveHandles(&before);
    all = &f;
    for (int i = 0; i < SLOTS; i++)
        create(&f);
    while (f.left > 0)
        act(&f);
    (void)MXAutogradSetIsRecording(0, &unused);
    (void)MXLSetGradMode(1, &unused);
    (void)MXLSetInplace(0, &unused);
    (void)MXLSetAnomaly(0, &unused);
    (void)MXLSetRecordHook(NULL, NULL);
    while (MXLPopSavedHooks() == 0)
        continue;
    (void)checked(MXLAnomalyTakeNode(&node));
    (void)checked(MXLNodeFree(node));
    for (int i = 0; i < SLOTS; i++)
        (void)discard(f.slots[i]);
    while (num_variables > 0)
        (void)discard(variables[--num_variables]);
    for (int i = 0; i < NODES; i++) {
        (void)checked(MXLNodeFree(nodes[i]));
        nodes[i] = NULL;
    }
    for (int i = 0; i < HOOKS; i++) {
        (void)checked(MXLHookFree(hooks[i]));
        hooks[i] = NULL;
    }
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    if (payloads != 0)
        die("a payload was not released");
    return 0;
}

#include "fuzz_main.h"
