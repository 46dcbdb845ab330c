/* The allocation walk over loops and branches in symbols. */
#include "walk_kit.h"

#include "control_kit.h"

static SymbolHandle loop;
static H state, weight;

static void walk_loop(scenario run, bool atomic)
{
    loop = make_loop("[0]", "2");
    state = VEC(1);
    weight = VEC(10);
    walk(run, atomic, true);
    CHECK_INT(MXSymbolFree(loop), 0);
    drop(state);
    drop(weight);
}

static bool composes(stage *s)
{
    SymbolHandle made = make_loop("[0]", "2");

    (void)s;
    CHECK_INT(MXSymbolFree(made), 0);
    return failing(made != NULL);
}

static bool reads(stage *s)
{
    static const char *const files[] = {WHILE_JSON("[0]", "4"), BRANCH_JSON("[1]")};
    bool ok = true;

    (void)s;
    for (int i = 0; i < 2 && ok; i++) {
        SymbolHandle made = NULL, copy = NULL;

        ok = failing(MXSymbolCreateFromJSON(files[i], &made) == 0) &&
             failing(MXSymbolCopy(made, &copy) == 0);
        CHECK_INT(MXSymbolFree(made), 0);
        CHECK_INT(MXSymbolFree(copy), 0);
    }
    return ok;
}

static bool writes(stage *s)
{
    const char *text;

    (void)s;
    return failing(MXSymbolSaveToJSON(loop, &text) == 0);
}

static bool infers(stage *s)
{
    static const char *names[] = {"data"};
    static const int sizes[] = {3, 4};
    static const uint32_t places[] = {0, 2};
    uint32_t counts[3];
    const int *ndims[3], **data[3];
    int complete = 0;

    (void)s;
    return failing(MXSymbolInferShapeEx(loop, 1, names, places, sizes, &counts[0], &ndims[0],
                                        &data[0], &counts[1], &ndims[1], &data[1], &counts[2],
                                        &ndims[2], &data[2], &complete) == 0);
}

/* One call, recorded; its results go. */
static bool runs_symbol(SymbolHandle symbol, int count, H *in, int results)
{
    CachedOpHandle op = NULL;
    int num = 0, before = 0;
    bool ok = failing(MXCreateCachedOp(symbol, &op) == 0);
    H *out = NULL;

    CHECK_INT(MXAutogradSetIsRecording(1, &before), 0);
    ok = ok && failing(MXInvokeCachedOp(op, count, in, &num, &out) == 0);
    CHECK_INT(MXAutogradSetIsRecording(before, &before), 0);
    for (int i = 0; i < results && ok; i++)
        let_go(out[i]);
    CHECK_INT(MXFreeCachedOp(op), 0);
    return ok;
}

static bool runs(stage *s)
{
    H in[3] = {s->x, state, weight};

    return runs_symbol(loop, 3, in, 2);
}

/* With steps and without. */
static bool runs_while(stage *s)
{
    static const double numbers[] = {0, 3};
    bool ok = true;

    (void)s;
    for (int i = 0; i < 2 && ok; i++) {
        SymbolHandle made = NULL;
        H in[2] = {NULL, NULL};
        int64_t one = 1;

        ok = failing(MXSymbolCreateFromJSON(WHILE_JSON("[0]", "4"), &made) == 0);
        for (int k = 0; k < 2 && ok; k++)
            ok = failing(MXNDArrayCreateEx64(&one, 1, 1, 0, 0, F64, &in[k]) == 0) &&
                 failing(MXNDArraySyncCopyFromCPU(in[k], &numbers[k == 1 && i == 1], 1) == 0);
        ok = ok && runs_symbol(made, 2, in, 2);
        let_go(in[0]);
        let_go(in[1]);
        CHECK_INT(MXSymbolFree(made), 0);
    }
    return ok;
}

static bool cuts(stage *s)
{
    SymbolHandle a = NULL, product = NULL, sum = NULL, *cut = NULL;
    bool ok = failing(MXSymbolCreateVariable("a", &a) == 0);
    int size = 0;

    (void)s;
    ok = ok && failing((product = apply_to("exp", 0, NULL, NULL, 1, &a)) != NULL) &&
         failing((sum = apply_to("elemwise_add", 0, NULL, NULL, 2,
                                 (SymbolHandle[]){product, product})) != NULL) &&
         failing(MXSymbolSetAttr(sum, "__subgraph_name__", "g") == 0) &&
         failing(MXSymbolCutSubgraph(sum, &cut, &size) == 0);
    for (int i = 0; i < size; i++)
        CHECK_INT(MXSymbolFree(cut[i]), 0);
    CHECK_INT(MXSymbolFree(a), 0);
    CHECK_INT(MXSymbolFree(product), 0);
    CHECK_INT(MXSymbolFree(sum), 0);
    return ok;
}

TEST(walk_composes)
{
    walk_loop(composes, true);
}

TEST(walk_reads)
{
    walk_loop(reads, true);
}

TEST(walk_writes)
{
    walk_loop(writes, true);
}

TEST(walk_infers)
{
    walk_loop(infers, true);
}

TEST(walk_runs)
{
    walk_loop(runs, true);
}

TEST(walk_while)
{
    walk_loop(runs_while, true);
}

TEST(walk_cuts)
{
    walk_loop(cuts, true);
}

WALK_MAIN(ENTRY(walk_composes), ENTRY(walk_reads), ENTRY(walk_writes), ENTRY(walk_infers),
          ENTRY(walk_runs), ENTRY(walk_while), ENTRY(walk_cuts))
