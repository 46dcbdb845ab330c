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

WALK_MAIN(ENTRY(walk_forwards), ENTRY(walk_forwards_given), ENTRY(walk_backwards),
          ENTRY(walk_backwards_twice))
