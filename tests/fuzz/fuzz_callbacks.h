/* What fuzz_graph.c gives to the library: callbacks that call it again, fail, and return what is no
 * gradient; payloads that are counted. And its handles of nodes, hooks and variables. */
#ifndef FUZZ_CALLBACKS_H
#define FUZZ_CALLBACKS_H

#include "fuzz_input.h"

enum { NODES = 6, HOOKS = 6, VARIABLES = 128, DEEPEST = 3 };

/* One input while it runs. */
static fuzz *all;
static MXLNodeHandle nodes[NODES];
static MXLHookHandle hooks[HOOKS];
static NDArrayHandle variables[VARIABLES];
static int depth, payloads, num_variables;

static void act(fuzz *f);

/* ---- handles ---- */

static MXLNodeHandle pick_node(fuzz *f)
{
    return next(f, 32) == 0 ? pick(f) : nodes[next(f, NODES)];
}

static void put_node(fuzz *f, MXLNodeHandle node)
{
    unsigned slot = next(f, NODES);

    if (node == NULL)
        return;
    (void)checked(MXLNodeFree(nodes[slot]));
    nodes[slot] = node;
}

static void put_hook(fuzz *f, MXLHookHandle hook)
{
    unsigned slot = next(f, HOOKS);

    if (hook == NULL)
        return;
    if (next(f, 2) == 0)
        (void)checked(MXLHookRemove(hooks[slot]));
    else
        (void)checked(MXLHookFree(hooks[slot]));
    hooks[slot] = hook;
}

/* A new array that may be a variable. One that is none any more and is edited then, or one that is
 * a view, may come to lead to itself, and so keeps itself alive: no others stay variables, and all
 * of these are let go at the end. */
static void keep_variable(NDArrayHandle array)
{
    NDArrayHandle again = NULL;

    if (num_variables < VARIABLES && checked(MXShallowCopyNDArray(array, &again)) == 0)
        variables[num_variables++] = again;
}

static bool is_kept(NDArrayHandle array)
{
    uint64_t id, other;

    for (int i = 0; i < num_variables; i++) {
        if (MXLNDArrayGetId(array, &id) == 0 && MXLNDArrayGetId(variables[i], &other) == 0 &&
            id == other)
            return true;
    }
    return false;
}

static void want(NDArrayHandle array)
{
    if (checked(MXLNDArraySetRequiresGrad(array, 1)) == 0 && !is_kept(array))
        (void)checked(MXLNDArraySetRequiresGrad(array, 0));
}

static void use_up(fuzz *f, NDArrayHandle array)
{
    if (array != NULL && next(f, 4) == 0)
        put(f, array);
    else
        (void)checked(MXNDArrayFree(array));
}

/* ---- payloads ---- */

/* What the library is given: released once, told to forget at most once, and not after that. */
typedef struct payload {
    bool forgotten;
    NDArrayHandle kept; /* of a packed value */
} payload;

static payload *new_payload(void)
{
    payload *p = calloc(1, sizeof(*p));

    if (p == NULL)
        die("no memory");
    payloads++;
    return p;
}

static void release(void *data)
{
    free(data); /* a second time is the sanitizer's */
    payloads--;
}

static void forget(void *data)
{
    payload *p = data;

    if (p->forgotten)
        die("a function was told twice to forget");
    p->forgotten = true;
}

/* Not taken: the payload is still ours. */
static void settle(int status, payload *p)
{
    if (checked(status) != 0)
        release(p);
}

/* ---- callbacks ---- */

/* A few calls of whatever, a few levels deep. */
static void inside(fuzz *f)
{
    if (depth < DEEPEST && next(f, 2) == 0) {
        depth++;
        for (unsigned i = next(f, 3); i > 0; i--)
            act(f);
        depth--;
    }
}

/* What a callback returns: mostly nothing, or a gradient it was given. */
static NDArrayHandle result(fuzz *f, NDArrayHandle like)
{
    NDArrayHandle out = NULL;

    switch (next(f, 8)) {
    case 0:
        return pick_node(f); /* an array is expected */
    case 1:
        like = pick(f);
        break;
    case 2:
        return MXL_NO_GRADIENT;
    case 3:
    case 4:
        break;
    default:
        return NULL;
    }
    if (like != NULL)
        (void)checked(MXShallowCopyNDArray(like, &out));
    return out;
}

static int fails(fuzz *f)
{
    if (next(f, 8) != 0)
        return 0;
    if (next(f, 2) == 0)
        NNAPISetLastError("ValueError: on purpose");
    return 1;
}

static int on_grad(void *data, int count, const NDArrayHandle *grads, NDArrayHandle *results)
{
    (void)data;
    inside(all);
    for (int i = 0; i < count; i++) {
        results[i] = result(all, grads[i]);
        use_up(all, grads[i]);
    }
    return fails(all);
}

static int on_node(void *data, int num_inputs, const NDArrayHandle *input_grads, int num_outputs,
                   const NDArrayHandle *output_grads, NDArrayHandle *results)
{
    for (int i = 0; i < num_outputs; i++)
        use_up(all, output_grads[i]);
    return on_grad(data, num_inputs, input_grads, results);
}

static int on_variable(void *data, NDArrayHandle variable)
{
    (void)data;
    inside(all);
    use_up(all, variable);
    return fails(all);
}

static int on_end(void *data)
{
    (void)data;
    inside(all);
    return fails(all);
}

static int on_rule(void *data, int num_outputs, const NDArrayHandle *output_grads, int num_inputs,
                   const int *wants, NDArrayHandle *results)
{
    (void)data;
    inside(all);
    for (int i = 0; i < num_inputs; i++) {
        if (wants[i] || next(all, 8) == 0)
            results[i] = result(all, output_grads[next(all, (unsigned)num_outputs)]);
    }
    if (next(all, 4) == 0)
        put(all, MXLCustomFunctionOutput(pick(all), (int)next(all, 2)));
    for (int i = 0; i < num_outputs; i++)
        use_up(all, output_grads[i]);
    return fails(all);
}

static int on_record(void *data, MXLNodeHandle node, int num_outputs, const NDArrayHandle *outputs)
{
    (void)data;
    inside(all);
    put_node(all, node);
    for (int i = 0; i < num_outputs; i++)
        use_up(all, outputs[i]);
    return fails(all);
}

static int pack(void *data, NDArrayHandle array, void **packed)
{
    payload *p;

    (void)data;
    inside(all);
    if (fails(all)) {
        (void)checked(MXNDArrayFree(array));
        return 1;
    }
    p = new_payload();
    p->kept = array;
    *packed = p;
    return 0;
}

static int unpack(void *data, void *packed, NDArrayHandle *array)
{
    (void)data;
    inside(all);
    *array = next(all, 8) == 0 ? result(all, NULL) : NULL;
    if (*array == NULL)
        (void)checked(MXShallowCopyNDArray(((payload *)packed)->kept, array));
    return fails(all);
}

static void drop_packed(void *data, void *packed)
{
    (void)data;
    (void)checked(MXNDArrayFree(((payload *)packed)->kept));
    release(packed);
}

#endif
