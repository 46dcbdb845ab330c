/* Lists of callers around the sizes at which the library's buffers for them grow: arrays and names
 * of files, keywords, prepared calls and their inputs, views and edits, saved-tensor hooks, long
 * names. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "io_kit.h"
#include "sizes_kit.h"

/* ---- files ---- */

enum { LONGEST_NAME = 300, FEW = 3 };

/* What array i is called: of any length up to LONGEST_NAME, none twice but the empty ones. */
static const char *name_at(char *room, int i)
{
    int length = i % (LONGEST_NAME - 8);

    if (i % 50 == 7)
        length = 0;
    memset(room, 'a' + i % 26, (size_t)length);
    snprintf(room + length, LONGEST_NAME - (size_t)length, "%s", "");
    if (length > 0)
        snprintf(room + length, LONGEST_NAME - (size_t)length, "%d", i);
    return room;
}

/* n arrays as `files` made them, and their names where they had some. */
static void check_loaded(int n, uint32_t count, const H *arrays, uint32_t named, const char **names,
                         bool with_names)
{
    char room[LONGEST_NAME];

    CHECK_INT(count, n);
    CHECK_INT(named, with_names ? n : 0);
    CHECK((names != NULL) == with_names);
    for (uint32_t i = 0; i < count; i++) {
        H array = arrays[i];

        if (with_names)
            CHECK_STR(names[i], name_at(room, (int)i));
        CHECK_NEAR(at(array, 0), i, 0);
        CHECK_INT(MXLNDArrayGetInfo(array, 0, NULL, NULL), 1);
    }
}

static void check_files(int n, H *arrays, const char **names)
{
    static char bytes[1 << 20];
    uint32_t count = 0, named = 0;
    const char **found = NULL;
    H *list = NULL, own[MOST];
    FILE *file;
    size_t size;

    CHECK_INT(MXNDArraySave(path, (uint32_t)n, arrays, names), 0);
    REQUIRE(MXNDArrayLoad(path, &count, &list, &named, &found) == 0 && count == (uint32_t)n);
    memcpy(own, list, count * sizeof(H));
    check_loaded(n, count, own, named, found, names != NULL);
    drop_all(n, own);
    file = fopen(path, "rb");
    REQUIRE(file != NULL);
    size = fread(bytes, 1, sizeof(bytes), file);
    CHECK_INT(fclose(file), 0);
    REQUIRE(MXNDArrayLoadFromBuffer(bytes, size, &count, &list, &named, &found) == 0);
    memcpy(own, list, count * sizeof(H));
    check_loaded(n, count, own, named, found, names != NULL);
    drop_all((int)count, own);
    CHECK(MXNDArrayLoadFromBuffer(bytes, size - 1, &count, &list, &named, &found) != 0);
}

static void files(int n)
{
    static char texts[MOST][LONGEST_NAME];
    const char *names[MOST];
    H arrays[MOST];

    for (int i = 0; i < n; i++) {
        arrays[i] = VEC(i, 1);
        names[i] = name_at(texts[i], i);
    }
    check_files(n, arrays, NULL);
    check_files(n, arrays, names);
    drop_all(n, arrays);
}

TEST(many_arrays_in_a_file)
{
    make_folder();
    at_each_size(files);
    CHECK_INT(remove_folder(), 1);
}

/* ---- keywords ---- */

/* n keywords: unknown ones to an operator that has no parameters, attributes to one that has some,
 * then one that it does not know among them. */
static void keywords(int n)
{
    static char texts[MOST][16];
    const char *keys[MOST + 1], *values[MOST + 1];
    H x = VEC(1, 2), y;

    for (int i = 0; i <= n; i++) {
        snprintf(texts[i % MOST], sizeof(texts[0]), "__key%d__", i);
        keys[i] = texts[i % MOST];
        values[i] = "3";
    }
    keys[n] = "scalar";
    y = try_op("zeros_like", 1, &x, n + 1, keys, values);
    REQUIRE(y != NULL);
    CHECK_NEAR(at(y, 1), 0, 0);
    drop(y);
    y = try_op("_mul_scalar", 1, &x, n + 1, keys, values);
    REQUIRE(y != NULL);
    CHECK_NEAR(at(y, 1), 6, 0);
    drop(y);
    keys[n - 1] = "unheard";
    CHECK(try_op("_mul_scalar", 1, &x, n + 1, keys, values) == NULL);
    CHECK_HAS(MXGetLastError(), "unknown parameter \"unheard\"");
    drop(x);
}

TEST(many_keywords)
{
    at_each_size(keywords);
}

/* ---- prepared calls ---- */

/* A call for each of n constants; a request that comes again is answered with the same call. */
static void prepared_calls(int n)
{
    const char *key = "scalar", *value;
    MXLCallHandle call[MOST], again;
    H x = VEC(1, 2);
    char text[16];

    value = text;
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%d", i + 7);
        CHECK_INT(MXLPrepare("_mul_scalar", 1, &key, &value, 0, NULL, &call[i]), 0);
    }
    for (int i = 0; i < n; i++) {
        H y = MXLCall1(call[i], x);

        CHECK_NEAR(at(y, 1), 2 * (i + 7), 0);
        drop(y);
        snprintf(text, sizeof(text), "%d", i + 7);
        CHECK_INT(MXLPrepare("_mul_scalar", 1, &key, &value, 0, NULL, &again), 0);
        CHECK(again == call[i]);
    }
    drop(x);
}

TEST(many_prepared_calls)
{
    at_each_size(prepared_calls);
}

/* One call of n inputs, then one of n outputs: new ones, and ones that it is given. */
static void call_of_many(int n)
{
    const char *keys[2] = {"axis", "num_outputs"}, *zero = "0";
    H x = counting(n, 3), parts[MOST] = {NULL}, joined;
    MXLCallHandle split, join;
    MXLValue value = {.i = n};
    int count = n;

    CHECK_INT(MXLPrepare("SliceChannel", 1, keys, &zero, 1, &keys[1], &split), 0);
    CHECK_INT(MXLPrepare("stack", 1, keys, &zero, 0, NULL, &join), 0);
    for (int round = 0; round < 2; round++) {
        CHECK_INT(MXLCallInto(split, 1, &x, &value, &count, parts), 0);
        CHECK_INT(count, n);
        joined = MXLCall(join, n, parts, NULL);
        REQUIRE(joined != NULL);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(at(parts[i], 0), i + 3 + 5 * round, 0);
            CHECK_NEAR(element(joined, i), i + 3 + 5 * round, 0);
        }
        drop(joined);
        drop(x);
        x = counting(n, 8);
    }
    drop_all(n, parts);
    drop(x);
}

TEST(calls_of_many)
{
    at_each_size(call_of_many);
}

/* ---- long names ---- */

/* A label, a mode and an operator's name of n characters. */
static void long_name(int n)
{
    static char name[MOST + 1];
    const char *key = "mode", *value = name;
    MXLCallHandle call;
    OpHandle op;
    H x = leaf(VEC(1)), y;
    N node;

    memset(name, 'n', (size_t)n);
    name[n] = '\0';
    CHECK_INT(MXLPrepareAs(MXL_DIALECT_TORCH, name, "0", "_copy", 0, NULL, NULL, 0, NULL, &call),
              0);
    y = MXLCall1(call, x);
    REQUIRE(y != NULL);
    node = edge_of(y, NULL);
    CHECK_STR(name_of(node), name);
    CHECK_INT(MXLNodeFree(node), 0);
    drop(y);
    CHECK_FAILS(NNGetOpHandle(name, &op), n < 60 ? name : "nnnn");
    CHECK(try_op("pick", 1, &x, 1, &key, &value) == NULL);
    CHECK(try_op("pick", 1, &x, 1, &value, &key) == NULL);
    drop(x);
}

TEST(long_names)
{
    at_each_size(long_name);
}

HARNESS_MAIN(ENTRY(many_arrays_in_a_file), ENTRY(many_keywords), ENTRY(many_prepared_calls),
             ENTRY(calls_of_many), ENTRY(long_names))
