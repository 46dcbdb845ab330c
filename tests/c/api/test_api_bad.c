/* Calls every function of capi/api/exports.txt that is `whole`, and every MXL function, with bad
 * handles and NULL arguments. Each must return -1 or NULL with one clear line, change nothing and
 * not crash. A function that is missing from both tables here fails the test. */
#include "harness.h"

#include <stdio.h>

#include "bad_calls.h"
#include "bad_packed.h"
#include "bad_profile.h"
#include "bad_records.h"
#include "bad_small.h"
#include "bad_stores.h"
#include "bad_symbols.h"

typedef struct place {
    const char *name;
    mxl_kind kind;
    bool null_is_fine;
} place;

#define PLACE(name, kind, null_is_fine, expression) {#name, MXL_KIND_##kind, null_is_fine},
static const place places[] = {HANDLE_PLACES(PLACE) GRAPH_PLACES(PLACE) PROFILE_PLACES(PLACE)
                                   SYMBOL_PLACES(PLACE) STORE_PLACES(PLACE) PACKED_PLACES(PLACE)
                                       SMALL_PLACES(PLACE) RECORD_PLACES(PLACE)};

static int call_place(size_t index, void *h)
{
    size_t at = 0;

#define TRY_PLACE(name, kind, null_is_fine, expression)                                            \
    if (at++ == index)                                                                             \
        return expression;
    HANDLE_PLACES(TRY_PLACE)
    GRAPH_PLACES(TRY_PLACE)
    PROFILE_PLACES(TRY_PLACE)
    SYMBOL_PLACES(TRY_PLACE)
    STORE_PLACES(TRY_PLACE)
    PACKED_PLACES(TRY_PLACE)
    SMALL_PLACES(TRY_PLACE)
    RECORD_PLACES(TRY_PLACE)
    return 0;
}

/* What can be called with nothing wrong. */
static const char *const never_fails[] = {"MXLSetGradMode",      "MXLSetInplace",
                                          "MXLSetInferenceMode", "MXGetLastError",
                                          "NNGetLastError",      "MXNotifyShutdown",
                                          "MXLSetRecordHook",    "MXNDArrayWaitAll",
                                          "MXRandomSeed",        "MXNDArrayCallDLPackDeleter",
                                          "MXProfilePause",      "MXLPythonRelease",
                                          "MXLPythonEndCapsule", "MXLSetNotice"};

static void bad_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)block;
    (void)bytes;
}

#define NAME_OF(name, expression) #name,
static const char *const argument_names[] = {
    BAD_ARGUMENTS(NAME_OF) LIBRARY_ARGUMENTS(NAME_OF) GRAPH_ARGUMENTS(NAME_OF)
        PROFILE_ARGUMENTS(NAME_OF) SYMBOL_ARGUMENTS(NAME_OF) STORE_ARGUMENTS(NAME_OF)
            PACKED_ARGUMENTS(NAME_OF) SMALL_ARGUMENTS(NAME_OF) RECORD_ARGUMENTS(NAME_OF)};

static int call_argument(size_t index)
{
    size_t at = 0;

#define TRY_ARGUMENT(name, expression)                                                             \
    if (at++ == index)                                                                             \
        return expression;
    BAD_ARGUMENTS(TRY_ARGUMENT)
    LIBRARY_ARGUMENTS(TRY_ARGUMENT)
    GRAPH_ARGUMENTS(TRY_ARGUMENT)
    PROFILE_ARGUMENTS(TRY_ARGUMENT)
    SYMBOL_ARGUMENTS(TRY_ARGUMENT)
    STORE_ARGUMENTS(TRY_ARGUMENT)
    PACKED_ARGUMENTS(TRY_ARGUMENT)
    SMALL_ARGUMENTS(TRY_ARGUMENT)
    RECORD_ARGUMENTS(TRY_ARGUMENT)
    return 0;
}

/* ---- running them ---- */

enum { PLACES = sizeof(places) / sizeof(*places) };
enum { ARGUMENTS = sizeof(argument_names) / sizeof(*argument_names) };

static NDArrayHandle new_array(void)
{
    static const float values[] = {0, 1, 2, 3, 4, 5};
    NDArrayHandle h = NULL;

    CHECK_INT(MXNDArrayCreate(shape_u32, 2, 1, 0, 0, &h), 0);
    CHECK_INT(MXNDArraySyncCopyFromCPU(h, values, 6), 0);
    return h;
}

static void set_up(void)
{
    NDArrayHandle grad = new_array();

    good = new_array();
    variable = new_array();
    CHECK_INT(MXAutogradMarkVariables(1, &variable, write_req, &grad), 0);
    CHECK_INT(MXNDArrayFree(grad), 0);
    CHECK_INT(MXLNDArrayGetEdge(variable, &good_node, &int_a), 0);
    CHECK_INT(NNGetOpHandle("exp", &exp_op), 0);
    CHECK_INT(MXLPrepare("exp", 0, NULL, NULL, 0, NULL, &exp_call), 0);
    CHECK_INT(MXLPrepareAs(1, NULL, NULL, "_copy", 0, NULL, NULL, 0, NULL, &torch_call), 0);
    CHECK_INT(MXLPrepare("_plus_scalar", 0, NULL, NULL, 1, scalar_key, &scalar_call), 0);
    CHECK_INT(MXLPrepare("_plus_scalar", 0, NULL, NULL, 1, is_int_key, &int_call), 0);
    CHECK_INT(MXLPrepare("split", 0, NULL, NULL, 1, parts_key, &split_call), 0);
    CHECK_INT(MXLPrepare("sum", 0, NULL, NULL, 1, axis_key, &list_call), 0);
    set_up_symbols();
    set_up_stores();
    set_up_packed();
    set_up_records();
}

static void tear_down(void)
{
    tear_down_records();
    tear_down_stores();
    tear_down_symbols();
    CHECK_INT(MXNDArrayFree(good), 0);
    CHECK_INT(MXNDArrayFree(variable), 0);
    CHECK_INT(MXLNodeFree(good_node), 0);
}

static bool holds(bool held, const char *name, const void *h)
{
    if (!held)
        fprintf(stderr, "    %s, handle %p: %s\n", name, h, MXGetLastError());
    return held;
}

/* After a failed call: a line that is this failure's own; nothing half-made; the arrays as they
 * were. */
static void check_failure(const char *name, const void *h, int status)
{
    const char *line = MXGetLastError();
    int64_t live;
    float values[6];

    holds(CHECK_INT(status, -1), name, h);
    holds(CHECK(strlen(line) > 5 && strcmp(line, "stale line") != 0), name, h);
    holds(CHECK(strchr(line, '\n') == NULL), name, h);
    holds(CHECK(out == NULL || out == (void *)(uintptr_t)UNTOUCHED), name, h);
    CHECK_INT(MXLGetLiveHandles(&live), 0);
    holds(CHECK_INT(live, number), name, h);
    CHECK_INT(MXNDArraySyncCopyToCPU(good, values, 6), 0);
    for (int i = 0; i < 6; i++)
        holds(CHECK(values[i] == (float)i), name, h);
}

static void prepare_call(void)
{
    out = (void *)(uintptr_t)UNTOUCHED;
    no_count = 0;
    negative_count = -1;
    two_outputs = 2;
    no_list = NULL;
    NNAPISetLastError("stale line");
    CHECK_INT(MXLGetLiveHandles(&number), 0);
}

/* Every place that takes a handle, with one that is not of its kind, or of no kind. */
static void everywhere(void *h, bool is_array, bool is_op, bool is_call)
{
    for (size_t i = 0; i < PLACES; i++) {
        if ((places[i].kind == MXL_KIND_ARRAY && is_array) ||
            (places[i].kind == MXL_KIND_OP && is_op) ||
            (places[i].kind == MXL_KIND_CALL && is_call) || (h == NULL && places[i].null_is_fine))
            continue;
        prepare_call();
        check_failure(places[i].name, h, call_place(i, h));
    }
}

TEST(null_handles)
{
    set_up();
    everywhere(NULL, false, false, false);
    tear_down();
}

TEST(freed_handles)
{
    NDArrayHandle freed, reused, again;

    set_up();
    freed = new_array();
    reused = new_array();
    CHECK_INT(MXNDArrayFree(freed), 0);
    everywhere(freed, false, false, false);
    CHECK_INT(MXNDArrayFree(reused), 0);
    again = new_array();
    /* The slot that was free last is the first to be taken. */
    CHECK(((uintptr_t)again ^ (uintptr_t)reused) >> MXL_HANDLE_GENERATION_AT != 0);
    CHECK((uint64_t)((uintptr_t)again ^ (uintptr_t)reused) << (64 - MXL_HANDLE_GENERATION_AT) == 0);
    everywhere(reused, false, false, false);
    CHECK_INT(MXNDArrayFree(again), 0);
    tear_down();
}

TEST(wrong_kinds)
{
    set_up();
    everywhere(good, true, false, false);
    everywhere(exp_op, false, true, false);
    everywhere(exp_call, false, false, true);
    tear_down();
}

TEST(random_handles)
{
    uint64_t seed = 3, local = 0;
    uint64_t generation = UINT64_C(1) << MXL_HANDLE_GENERATION_AT;
    uint64_t array, op, call;

    set_up();
    array = (uintptr_t)good;
    op = (uintptr_t)exp_op;
    call = (uintptr_t)exp_call;
    for (uint64_t small = 1; small < 20; small++)
        everywhere((void *)(uintptr_t)small, false, false, false);
    everywhere((void *)(uintptr_t)&local, false, false, false);
    everywhere((void *)((uintptr_t)&local + 1), false, false, false);
    everywhere((void *)UINTPTR_MAX, false, false, false);
    everywhere((void *)(uintptr_t)(array + generation), false, false, false);
    everywhere((void *)(uintptr_t)(op + generation), false, false, false);
    everywhere((void *)(uintptr_t)(call + generation), false, false, false);
    everywhere((void *)(uintptr_t)(array | UINT64_C(1) << 63), false, false, false);
    everywhere((void *)(uintptr_t)(op | UINT64_C(1) << 63), false, false, false);
    everywhere((void *)(uintptr_t)(array | UINT64_C(1) << 29), false, false, false);
    everywhere((void *)(uintptr_t)(op | UINT64_C(1) << 29), false, false, false);
    everywhere((void *)(uintptr_t)(call | UINT64_C(1) << 29), false, false, false);
    for (int i = 0; i < 100; i++) {
        uint64_t h = harness_random(&seed);

        everywhere((void *)(uintptr_t)h, false, false, false);
        /* As a handle may look: small enough, of each kind. */
        everywhere((void *)(uintptr_t)((h >> 11 & ~UINT64_C(15)) | ((unsigned)i % 8 << 1) | 1),
                   false, false, false);
    }
    tear_down();
}

TEST(bad_arguments)
{
    set_up();
    for (size_t i = 0; i < ARGUMENTS; i++) {
        prepare_call();
        check_failure(argument_names[i], NULL, call_argument(i));
    }
    tear_down();
}

/* ---- is anything missing? ---- */

static bool stands_here(const char *name)
{
    for (size_t i = 0; i < PLACES; i++)
        if (strcmp(places[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (strcmp(argument_names[i], name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(never_fails) / sizeof(*never_fails); i++)
        if (strcmp(never_fails[i], name) == 0)
            return true;
    return false;
}

/* The tests run in the project's folder. */
TEST(all_functions)
{
    FILE *file = fopen("capi/api/exports.txt", "r");
    char line[512], name[128], status[32];
    int count = 0;

    REQUIRE(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#' || sscanf(line, "%127s %31s", name, status) != 2 ||
            strcmp(status, "whole") != 0)
            continue;
        count++;
        holds(CHECK(stands_here(name)), name, NULL);
    }
    fclose(file);
    CHECK(count >= 60);
}

/* How many functions of ours a header declares; each must be called here. */
static int count_ours(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[512];
    int count = 0;

    if (!CHECK(file != NULL))
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        char *end = strchr(line, '('), *name;

        if (strncmp(line, "MXL_API ", 8) != 0 || end == NULL)
            continue;
        *end = '\0';
        name = strrchr(line, ' ') + 1;
        count++;
        holds(CHECK(stands_here(name)), name, NULL);
    }
    fclose(file);
    return count;
}

TEST(all_of_ours)
{
    CHECK(count_ours("include/mxlite/mxlite.h") >= 15);
    CHECK(count_ours("include/mxlite/graph.h") >= 25);
}

HARNESS_MAIN(ENTRY(null_handles), ENTRY(freed_handles), ENTRY(wrong_kinds),
             NOT_WASM(random_handles), ENTRY(bad_arguments), NOT_WASM(all_functions),
             NOT_WASM(all_of_ours))
