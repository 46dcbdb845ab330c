/* The allocation walk (walk_kit.h) over calls: creating, viewing, invoking, preparing, results in
 * given arrays, operators with workspaces. */
#include "walk_kit.h"

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

WALK(walk_creates, creates, true)
WALK(walk_views, views, true)
WALK(walk_recorded_view, recorded_view, true)
WALK(walk_invokes, invokes, true)
WALK(walk_sums, sums, true)
WALK(walk_factorises, factorises, false)
WALK(walk_looks_up, looks_up, true)

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

/* A list of a number, and zeros of that shape. */
static bool packed(stage *s)
{
    MXNetFunctionHandle integer, list, zeros;
    MXNetValue in[3] = {{.v_int64 = 2}, {0}, {0}}, item = {0}, whole = {0}, out = {0};
    int code[] = {0, 4, 4}, object[] = {8, 4, 4}, got;
    bool ok;

    (void)s;
    CHECK_INT(MXNetFuncGetGlobal("_Integer", &integer), 0);
    CHECK_INT(MXNetFuncGetGlobal("_ADT", &list), 0);
    CHECK_INT(MXNetFuncGetGlobal("_npi.zeros", &zeros), 0);
    ok = failing(MXNetFuncCall(integer, in, code, 1, &item, &got) == 0);
    ok = ok && failing(MXNetFuncCall(list, &item, object, 1, &whole, &got) == 0);
    in[0] = whole;
    ok = ok && failing(MXNetFuncCall(zeros, in, object, 3, &out, &got) == 0);
    CHECK_INT(MXNetObjectFree(item.v_handle), 0);
    CHECK_INT(MXNetObjectFree(whole.v_handle), 0);
    let_go(out.v_handle);
    return ok;
}

WALK(walk_packed, packed, true)

WALK_MAIN(ENTRY(walk_creates), ENTRY(walk_views), ENTRY(walk_recorded_view), ENTRY(walk_invokes),
          ENTRY(walk_sums), ENTRY(walk_factorises), ENTRY(walk_looks_up), ENTRY(walk_prepares),
          ENTRY(walk_prepared), ENTRY(walk_given_output), ENTRY(walk_given_output_prepared),
          ENTRY(walk_packed))
