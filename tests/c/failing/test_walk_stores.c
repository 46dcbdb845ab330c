/* The allocation walk over key-value stores: adding, pushing with and without an updater, pulling,
 * broadcasting. */
#include "walk_kit.h"

static KVStoreHandle store;
static const char *known[] = {"x", "w", "x"}, *fresh_name[] = {"new"};
static int updated;

static void update(const char *key, H pushed, H stored, void *payload)
{
    (void)key, (void)payload;
    updated++;
    let_go(pushed);
    let_go(stored);
}

static void begin(bool with_updater)
{
    H first[2] = {VEC(1, 1), VEC(2, 2)};

    CHECK_INT(MXKVStoreCreate("local", &store), 0);
    CHECK_INT(MXKVStoreInitEx(store, 2, known, first), 0);
    if (with_updater)
        CHECK_INT(MXKVStoreSetUpdaterEx(store, NULL, update, NULL), 0);
    drop(first[0]);
    drop(first[1]);
    updated = 0;
}

/* What the store held before. */
static void end(bool same)
{
    H out = VEC(0, 0);

    CHECK_INT(MXKVStorePullEx(store, 1, known, &out, 0), 0);
    if (same)
        CHECK_NEAR(at(out, 1), 1, 0);
    drop(out);
    CHECK_INT(MXKVStoreFree(store), 0);
}

static bool creates(stage *s)
{
    KVStoreHandle made = NULL;
    bool ok = failing(MXKVStoreCreate("local", &made) == 0);

    (void)s;
    CHECK_INT(MXKVStoreFree(made), 0);
    return ok;
}

static bool adds(stage *s)
{
    return failing(MXKVStoreInitEx(store, 1, fresh_name, &s->x) == 0);
}

static bool pushes(stage *s)
{
    H values[3] = {s->x, s->w, s->c};

    return failing(MXKVStorePushEx(store, 3, known, values, 0) == 0);
}

static bool pulls(stage *s)
{
    H out = NULL;
    bool ok = failing(MXNDArrayCreateEx64((const int64_t[]){2}, 1, 1, 0, 0, F64, &out) == 0);

    (void)s;
    ok = ok && failing(MXKVStorePullEx(store, 1, known, &out, 0) == 0);
    let_go(out);
    return ok;
}

static bool broadcasts(stage *s)
{
    H out = NULL;
    bool ok = failing(MXNDArrayCreateEx64((const int64_t[]){2}, 1, 1, 0, 0, F64, &out) == 0);

    ok = ok &&
         failing(MXKVStoreBroadcastEx(store, 1, fresh_name, 1, fresh_name, &s->x, &out, 0) == 0);
    let_go(out);
    return ok;
}

TEST(walk_creates)
{
    walk(creates, true, true);
}

/* Each round with a store of its own, made while there is memory. */
static bool with_store(stage *s, scenario run, bool updater)
{
    int64_t k = until_failure;
    bool done;

    until_failure = -1;
    begin(updater);
    until_failure = k;
    done = run(s);
    until_failure = -1;
    CHECK(!updater || updated == (done ? 2 : 0));
    end(!done);
    return done;
}

static bool adds_once(stage *s)
{
    return with_store(s, adds, false);
}

static bool pushes_once(stage *s)
{
    return with_store(s, pushes, false);
}

static bool updates_once(stage *s)
{
    return with_store(s, pushes, true);
}

static bool pulls_once(stage *s)
{
    return with_store(s, pulls, false);
}

static bool broadcasts_once(stage *s)
{
    return with_store(s, broadcasts, false);
}

TEST(walk_adds)
{
    walk(adds_once, true, true);
}

TEST(walk_pushes)
{
    walk(pushes_once, true, true);
}

TEST(walk_updates)
{
    walk(updates_once, true, true);
}

TEST(walk_pulls)
{
    walk(pulls_once, true, true);
}

TEST(walk_broadcasts)
{
    walk(broadcasts_once, true, true);
}

WALK_MAIN(ENTRY(walk_creates), ENTRY(walk_adds), ENTRY(walk_pushes), ENTRY(walk_updates),
          ENTRY(walk_pulls), ENTRY(walk_broadcasts))
