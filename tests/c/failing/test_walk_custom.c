/* The allocation walk over custom operators: forward, recorded, into given arrays; backward, also
 * under create_graph. */
#include "walk_kit.h"

#include "custom_op_kit.h"

static H count;

static void walk_scaled(scenario run, bool atomic)
{
    begin_scaled();
    count = VEC(0);
    walk(run, atomic, true);
    drop(count);
    CHECK_INT(saw.props_deleted, saw.made);
}

static bool runs_scaled(stage *s, H *out)
{
    bool before = record(true);
    bool ok = failing(run_scaled(s->x, s->w, count, "2", out) == 0);

    record(before);
    return ok;
}

static bool forwards(stage *s)
{
    H out[2] = {NULL, NULL};
    bool ok = runs_scaled(s, out);

    let_go(out[0]);
    let_go(out[1]);
    return ok;
}

static bool forwards_given(stage *s)
{
    H out[2] = {s->c, s->none};

    return failing(run_scaled(s->y, s->z, count, "2", out) == 0);
}

static bool backwards(stage *s)
{
    H out[2] = {NULL, NULL};
    bool ok = runs_scaled(s, out) &&
              failing(MXAutogradBackwardEx(1, out, NULL, 0, NULL, 0, 0, 1, NULL, NULL) == 0);

    let_go(out[0]);
    let_go(out[1]);
    return ok;
}

static bool backwards_twice(stage *s)
{
    H out[2] = {NULL, NULL}, *first = NULL, d = NULL;
    int *stypes = NULL;
    bool ok = runs_scaled(s, out) &&
              failing(MXAutogradBackwardEx(1, out, NULL, 1, &s->x, 1, 1, 1, &first, &stypes) == 0);

    if (ok) {
        d = first[0];
        ok = failing(MXAutogradBackwardEx(1, &d, NULL, 0, NULL, 0, 0, 1, NULL, NULL) == 0);
    }
    let_go(d);
    let_go(out[0]);
    let_go(out[1]);
    return ok;
}

/* As a node of a symbol: composed, inferred, and run twice. */
static bool runs_symbol(stage *s)
{
    static const char *keys[] = {"op_type", "k"}, *values[] = {"scaled", "2"}, *names[] = {"x"};
    static const uint32_t places[] = {0, 1};
    static const int sizes[] = {2};
    H in[3] = {s->x, s->w, count}, *out = NULL;
    const int *ndims[3], **data[3];
    SymbolHandle x = NULL, symbol = NULL;
    CachedOpHandle op = NULL;
    uint32_t counts[3];
    OpHandle handle;
    bool ok = failing(MXSymbolCreateVariable("x", &x) == 0) &&
              failing(NNGetOpHandle("Custom", &handle) == 0) &&
              failing(MXSymbolCreateAtomicSymbol(handle, 2, keys, values, &symbol) == 0) &&
              failing(MXSymbolCompose(symbol, "it", 1, NULL, &x) == 0) &&
              failing(MXSymbolInferShapeEx(symbol, 1, names, places, sizes, &counts[0], &ndims[0],
                                           &data[0], &counts[1], &ndims[1], &data[1], &counts[2],
                                           &ndims[2], &data[2], &(int){0}) == 0) &&
              failing(MXCreateCachedOp(symbol, &op) == 0);

    for (int i = 0; i < 2 && ok; i++) {
        int num = 0;

        ok = failing(MXInvokeCachedOp(op, 3, in, &num, &out) == 0);
        for (int k = 0; k < num && ok; k++)
            let_go(out[k]);
        out = NULL;
    }
    CHECK_INT(MXFreeCachedOp(op), 0);
    CHECK_INT(MXSymbolFree(x), 0);
    CHECK_INT(MXSymbolFree(symbol), 0);
    return ok;
}

TEST(walk_forwards)
{
    walk_scaled(forwards, true);
}

TEST(walk_forwards_given)
{
    walk_scaled(forwards_given, true);
}

TEST(walk_backwards)
{
    walk_scaled(backwards, true);
}

TEST(walk_backwards_twice)
{
    walk_scaled(backwards_twice, false);
}

TEST(walk_runs_symbol)
{
    walk_scaled(runs_symbol, true);
}

WALK_MAIN(ENTRY(walk_runs_symbol), ENTRY(walk_forwards), ENTRY(walk_forwards_given),
          ENTRY(walk_backwards), ENTRY(walk_backwards_twice))
