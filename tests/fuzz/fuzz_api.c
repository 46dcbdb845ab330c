/* Random sequences of calls of the public API with valid, stale, wrong and random handles and odd
 * parameters. A call may fail; it may not crash, fail without a message, or lose a handle. Built
 * with its own main (make fuzz), or with -fsanitize=fuzzer -DFUZZ_NO_MAIN. */
#define FUZZ_NAME "fuzz_api"
#include "fuzz_operators.h"

enum { MAX_PREPARED = 20000 };

/* ---- what happens ---- */

static void create(fuzz *f)
{
    static const int dtypes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,
                                 0, 0, 1, 1, 1, 4, 6, 3, 2, 5, 7, 12, 99, -1};
    static const int usual[4] = {1, 2, 2, 2};
    int64_t shape[6];
    int ndim = next(f, 3) == 0 ? (int)next(f, 7) : usual[next(f, 4)],
        dtype = dtypes[next(f, sizeof dtypes / sizeof *dtypes)];
    NDArrayHandle out = NULL;

    for (int i = 0; i < ndim && i < 6; i++)
        shape[i] = next(f, 32) == 0 ? (int64_t)next(f, 3) - 1 : (int64_t)next(f, 8) / 6 + 2;
    if (next(f, 16) == 0)
        checked(MXNDArrayCreateNone(&out));
    else
        checked(MXNDArrayCreateEx64(shape, ndim > 6 ? 0 : ndim, 1, 0, 0, dtype, &out));
    if (out != NULL)
        put(f, out);
}

/* A part of a sparse array: small numbers, which are indices now and then. */
static void put_part(fuzz *f, NDArrayHandle array, int dtype, int64_t size, int i)
{
    int64_t numbers[8];
    NDArrayHandle part = NULL;

    if (checked(MXNDArrayCreateEx64(&size, 1, 1, 0, 0, dtype, &part)) != 0)
        return;
    for (int k = 0; k < 8; k++)
        numbers[k] =
            next(f, 16) == 0 ? (int64_t)next(f, 256) - 9 : (i == 0 ? k : (int64_t)next(f, 3));
    if (dtype == 6)
        (void)checked(MXNDArraySyncCopyFromCPU(part, numbers, (size_t)size));
    (void)checked(MXNDArraySyncCopyFromNDArray(array, part, i));
    (void)MXNDArrayFree(part);
}

static void create_sparse(fuzz *f)
{
    int csr = (int)next(f, 2), types[2] = {6, 6}, ndims[2] = {1, 1};
    int64_t shape[2] = {(int64_t)next(f, 4), (int64_t)next(f, 4)}, stored = (int64_t)next(f, 4),
            sizes[2] = {csr ? shape[0] + 1 : stored, stored};
    NDArrayHandle out = NULL;

    if (checked(MXNDArrayCreateSparseEx64(1 + csr, shape, 2, 1, 0, 0, 0, 1 + (uint32_t)csr, types,
                                          ndims, sizes, &out)) != 0)
        return;
    for (int i = 0; i <= csr && next(f, 8) != 0; i++)
        put_part(f, out, 6, next(f, 16) == 0 ? (int64_t)next(f, 4) : sizes[i], i);
    (void)checked(MXNDArraySyncCheckFormat(out, next(f, 2) != 0));
    put(f, out);
}

static void invoke(fuzz *f)
{
    AtomicSymbolCreator op = operator(f);
    const char *keys[4], *values[4];
    NDArrayHandle in[4], given[4], *outputs = NULL;
    int num_in = 0, params = parameters(f, op, keys, values, &num_in), num_out = 0;
    const int *stypes;

    for (int i = 0; i < num_in; i++)
        in[i] = pick(f);
    if (next(f, 4) == 0) {
        num_out = next(f, 4) == 0 ? 1 + (int)next(f, 3) : 1;
        for (int i = 0; i < num_out; i++)
            given[i] = pick(f);
        outputs = given;
    }
    if (checked(MXImperativeInvokeEx(op, num_in, in, &num_out, &outputs, params, keys, values,
                                     &stypes)) != 0)
        return;
    for (int i = 0; i < num_out && outputs != given; i++) {
        NDArrayHandle made = outputs[i];

        put(f, made);
    }
}

/* Whether a parameter is a list: the library reads its pointer then, so only lists may go there. */
static int is_list(AtomicSymbolCreator op, const char *key)
{
    const char *name, *doc, *counted, *result, **names, **types, **docs;
    uint32_t count;

    if (MXSymbolGetAtomicSymbolInfo(op, &name, &doc, &count, &names, &types, &docs, &counted,
                                    &result) != 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], key) == 0)
            return strncmp(types[i], "Shape", 5) == 0 || strstr(types[i], "tuple") != NULL;
    }
    return 0;
}

static void prepared(fuzz *f)
{
    static int made;
    static const int64_t lists[] = {0, 1, -1, 2, INT64_MIN, INT64_MAX, 3, -2};
    AtomicSymbolCreator op = operator(f);
    const char *keys[4], *values[4], *name = NULL;
    NDArrayHandle in[4], outputs[3] = {NULL, NULL, NULL};
    MXLValue args[4];
    MXLCallHandle call = NULL;
    int num_in = 0, params = parameters(f, op, keys, values, &num_in);
    int constant = params > 0 ? (int)next(f, 4) : 0, num_out = (int)next(f, 4), known = 0;

    constant = constant > params ? params : constant;
    if (made > MAX_PREPARED || MXSymbolGetAtomicSymbolName(op, &name) != 0)
        return;
    if (checked(MXLPrepare(name, constant, keys, values, params - constant, keys + constant,
                           &call)) != 0)
        return;
    made++;
    for (int i = 0; i < 4; i++) {
        switch (next(f, 3)) {
        case 0:
            args[i].i = lists[next(f, 8)];
            break;
        case 1:
            args[i].f = (double)next(f, 8) - 3.5;
            break;
        default: /* a list that can be read as far as it says */
            args[i].list.n = (int64_t)next(f, 10) - 1;
            args[i].list.values = lists;
            args[i].list.n = args[i].list.n > 8 ? 8 : args[i].list.n;
        }
    }
    for (int i = 0; i < params - constant; i++) {
        if (is_list(op, keys[constant + i])) {
            args[i].list.n = (int64_t)next(f, 5) - 1;
            args[i].list.values = lists + next(f, 4);
        }
    }
    for (int i = 0; i < num_in && i < 4; i++)
        in[i] = pick(f);
    (void)checked(MXLCallGetNumOutputs(call, next(f, 2) == 0 ? NULL : args, &known));
    if (next(f, 2) == 0) {
        put(f, MXLCall(call, num_in, in, args));
        return;
    }
    for (int i = 0; i < num_out && i < 3; i++)
        outputs[i] = next(f, 3) == 0 ? pick(f) : NULL;
    {
        NDArrayHandle asked[3];

        memcpy(asked, outputs, sizeof asked);
        if (checked(MXLCallInto(call, num_in, in, args, &num_out, outputs)) != 0) {
            if (memcmp(asked, outputs, sizeof asked) != 0)
                die("a failing call changed its outputs");
            return;
        }
        for (int i = 0; i < num_out; i++)
            if (asked[i] == NULL)
                put(f, outputs[i]);
    }
}

static void view(fuzz *f)
{
    NDArrayHandle array = pick(f);
    int64_t shape[4];
    int ndim = (int)next(f, 4);

    for (int i = 0; i < ndim; i++)
        shape[i] = (int64_t)next(f, 9) - 4;
    switch (next(f, 4)) {
    case 0:
        put(f, MXLNDArraySlice(array, (int64_t)next(f, 4) - 1, (int64_t)next(f, 5) - 1));
        break;
    case 1:
        put(f, MXLNDArrayAt(array, (int64_t)next(f, 5) - 1));
        break;
    case 2:
        put(f, MXLNDArrayReshape(array, ndim, shape, (int)next(f, 2)));
        break;
    default: {
        NDArrayHandle out = NULL;

        if (checked(MXNDArrayDetach(array, &out)) == 0)
            put(f, out);
    }
    }
}

static void mark(fuzz *f)
{
    NDArrayHandle vars[2], grads[2];
    uint32_t reqs[2], count = 1 + next(f, 2);

    for (uint32_t i = 0; i < count; i++) {
        vars[i] = pick(f);
        reqs[i] = next(f, 5);
        grads[i] = NULL;
        if (next(f, 2) == 0)
            grads[i] = pick(f);
    }
    checked(MXAutogradMarkVariables(count, vars, reqs, grads));
}

/* An array of its shape, marked. */
static void attach(fuzz *f)
{
    NDArrayHandle array = pick(f), grad = NULL, *outputs = NULL;
    OpHandle op = NULL;
    uint32_t req = next(f, 2) == 0 ? 1 : 3;
    int count = 0, before, unused;

    if (MXAutogradSetIsRecording(0, &before) != 0 || NNGetOpHandle("zeros_like", &op) != 0)
        die("zeros_like");
    if (checked(MXImperativeInvoke(op, 1, &array, &count, &outputs, 0, NULL, NULL)) == 0) {
        grad = outputs[0];
        checked(MXAutogradMarkVariables(1, &array, &req, &grad));
        checked(MXNDArrayFree(grad));
    }
    (void)MXAutogradSetIsRecording(before, &unused);
}

static void backward(fuzz *f)
{
    NDArrayHandle heads[3], head_grads[3], vars[2], *grads = NULL;
    int *stypes = NULL;
    uint32_t num_heads = next(f, 8) == 0 ? next(f, 4) : 1,
             num_vars = next(f, 3) == 0 ? next(f, 3) : 0;
    int retain = (int)next(f, 2), create = next(f, 3) == 0, train = (int)next(f, 2);

    for (uint32_t i = 0; i < num_heads; i++) {
        heads[i] = pick(f);
        head_grads[i] = next(f, 4) == 0 ? pick(f) : NULL;
    }
    for (uint32_t i = 0; i < num_vars; i++)
        vars[i] = pick(f);
    if (checked(MXAutogradBackwardEx(num_heads, heads, head_grads, num_vars, vars, retain, create,
                                     train, &grads, &stypes)) != 0)
        return;
    for (uint32_t i = 0; i < num_vars; i++)
        put(f, grads[i]);
}

/* ---- a custom function ---- */

static int on_backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                       const int train, void *state)
{
    fuzz *f = state;
    int count = num_ograds + num_igrads, ok = next(f, 8) != 0;
    OpHandle op = NULL;

    (void)reqs;
    (void)train;
    (void)NNGetOpHandle("_copyto", &op);
    for (int i = 0; i < num_igrads && ok; i++) {
        NDArrayHandle source = ptrs[0], *out = (NDArrayHandle *)&ptrs[num_ograds + i];
        int one = 1;

        if (next(f, 4) == 0)
            source = pick(f);
        (void)MXImperativeInvoke(op, 1, &source, &one, &out, 0, NULL, NULL);
    }
    for (int i = 0; i < count; i++) {
        if (next(f, 8) == 0)
            put(f, ptrs[i]);
        else
            checked(MXNDArrayFree(ptrs[i]));
    }
    return ok;
}

static int on_delete(void *state)
{
    ((fuzz *)state)->functions--;
    return 1;
}

static void custom(fuzz *f)
{
    int (*callbacks[2])(void) = {(int (*)(void))(void (*)(void))on_backward,
                                 (int (*)(void))(void (*)(void))on_delete};
    void *contexts[2] = {f, f};
    struct MXCallbackList list = {2, callbacks, contexts};
    NDArrayHandle in[2] = {pick(f), pick(f)}, out[2] = {pick(f), pick(f)};

    f->functions++;
    if (checked(MXCustomFunctionRecord(1 + (int)next(f, 2), in, 1 + (int)next(f, 2), out, &list)) !=
        0)
        f->functions--;
}

static void small_things(fuzz *f)
{
    NDArrayHandle array = pick(f), out = NULL;
    double room[64] = {0};
    int64_t shape[8];
    int number;
    bool flag;

    switch (next(f, 9)) {
    case 0:
        (void)MXAutogradSetIsRecording(next(f, 4) != 0, &number);
        break;
    case 1:
        (void)MXAutogradSetIsTraining((int)next(f, 2), &number);
        break;
    case 2:
        (void)MXSetIsNumpyShape((int)next(f, 3), &number);
        break;
    case 3:
        if (checked(MXNDArrayGetGrad(array, &out)) == 0 && out != NULL)
            put(f, out);
        break;
    case 4:
        (void)checked(MXNDArraySetGradState(array, (int)next(f, 3)));
        break;
    case 5:
        (void)checked(MXLNDArrayBumpVersion(array));
        break;
    case 6:
        (void)checked(MXNDArraySyncCopyFromCPU(array, room, next(f, 64)));
        break;
    case 7:
        (void)MXLNDArrayGetInfo(array, (int)next(f, 8), shape, &number);
        (void)MXAutogradIsRecording(&flag);
        break;
    default:
        (void)discard(array); /* stays in its slot: stale */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const actions[])(fuzz *) = {
        create,   create_sparse, invoke,       invoke,       invoke, invoke,
        prepared, view,          mark,         attach,       attach, backward,
        backward, custom,        small_things, small_things, create, create_sparse};
    fuzz f = {.data = data, .left = size};
    int64_t before = 0, after = 0;
    int unused;

    limit_memory();
    (void)MXAutogradSetIsRecording(1, &unused);
    (void)MXLGetLiveHandles(&before);
    while (f.left > 0)
        actions[next(&f, sizeof actions / sizeof *actions)](&f);
    (void)MXAutogradSetIsRecording(0, &unused);
    (void)MXSetIsNumpyShape(0, &unused);
    for (int i = 0; i < SLOTS; i++)
        (void)discard(f.slots[i]);
    (void)MXNDArrayWaitAll(); /* the last error of a deferred call is kept until it is reported */
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    if (f.functions != 0)
        die("a custom function was not deleted, or twice");
    return 0;
}

#include "fuzz_main.h"
