/* Growing structures below the engine, around the sizes at which they grow: lists, maps, strings,
 * the arena of a call's parameters, pins and references of one object, pooled blocks, handles of
 * two threads. */
#include "sizes_kit.h"

#include <pthread.h>

#include "base/handle.h"
#include "base/map.h"
#include "base/memory/mem.h"
#include "base/text/str.h"
#include "op/op.h"

/* ---- lists ---- */

typedef struct entry {
    int64_t number;
    char text[16];
} entry;

/* Items of 1, 8 and 24 bytes; where there is room nothing moves. */
static void lists(int n)
{
    char *bytes = NULL;
    int64_t *numbers = NULL;
    entry *entries = NULL;
    size_t rooms[3] = {0, 0, 0};

    for (int i = 0; i < n; i++) {
        const void *before = numbers;
        bool full = (size_t)i == rooms[1];

        REQUIRE(MXL_GROW(bytes, (size_t)i, rooms[0]) == 0);
        REQUIRE(MXL_GROW(numbers, (size_t)i, rooms[1]) == 0);
        REQUIRE(MXL_GROW(entries, (size_t)i, rooms[2]) == 0);
        CHECK(full || numbers == before);
        bytes[i] = (char)(i % 100);
        numbers[i] = i;
        entries[i].number = -i;
        (void)snprintf(entries[i].text, sizeof(entries[i].text), "%d", i);
    }
    for (int i = 0; i < n; i++) {
        char text[16];

        (void)snprintf(text, sizeof(text), "%d", i);
        CHECK_INT(bytes[i], i % 100);
        CHECK_INT(numbers[i], i);
        CHECK_INT(entries[i].number, -i);
        CHECK_STR(entries[i].text, text);
    }
    for (int i = 0; i < 3; i++)
        CHECK(rooms[i] >= (size_t)n && (rooms[i] < 2 * (size_t)n || rooms[i] <= 32));
    mxl_free(bytes, rooms[0] * sizeof(*bytes));
    mxl_free(numbers, rooms[1] * sizeof(*numbers));
    mxl_free(entries, rooms[2] * sizeof(*entries));
}

TEST(lists_of_items)
{
    at_each_size(lists);
}

/* ---- maps ---- */

/* Keys side by side, and far apart; after each insertion all of them are found. */
static void maps(int n)
{
    static char keys[MOST << 10];
    const int steps[2] = {1, 1 << 10};

    for (int k = 0; k < 2; k++) {
        mxl_map map = {0};

        for (int i = 0; i < n; i++) {
            void **value = mxl_map_put(&map, keys + i * steps[k]);

            REQUIRE(value != NULL);
            CHECK(*value == NULL);
            *value = keys + i;
            CHECK_INT(map.count, i + 1);
            CHECK(map.capacity >= 2 * map.count);
        }
        for (int i = 0; i < n; i++) {
            CHECK(*mxl_map_find(&map, keys + i * steps[k]) == keys + i);
            CHECK(*mxl_map_put(&map, keys + i * steps[k]) == keys + i);
        }
        CHECK(mxl_map_find(&map, keys + n * steps[k]) == NULL);
        CHECK_INT(map.count, n);
        mxl_map_clear(&map);
    }
}

TEST(maps_of_pointers)
{
    at_each_size(maps);
}

/* ---- strings ---- */

/* n characters: one by one, at once, and formatted. */
static void strings(int n)
{
    char all[MOST + 1];
    mxl_str single = {0}, whole = {0}, formatted = {0};

    for (int i = 0; i < n; i++) {
        char one[2] = {(char)('a' + i % 26), '\0'};

        all[i] = one[0];
        mxl_str_add(&single, one);
        CHECK_INT(single.text[i + 1], '\0');
        mxl_str_addf(&formatted, "%c", one[0]);
    }
    all[n] = '\0';
    mxl_str_add(&whole, all);
    mxl_str_add(&whole, "");
    CHECK_STR(single.text, all);
    CHECK_STR(whole.text, all);
    CHECK_STR(formatted.text, all);
    mxl_str_addf(&whole, "%s", all);
    CHECK_INT(whole.length, 2 * n);
    CHECK_STR(whole.text + n, all);
    CHECK(!single.failed && !whole.failed && !formatted.failed);
    mxl_str_clear(&single);
    mxl_str_clear(&whole);
    mxl_str_clear(&formatted);
}

TEST(strings_of_characters)
{
    at_each_size(strings);
}

/* ---- the arena ---- */

/* Places of 0 to n - 1 bytes, and one of 16 n among them: aligned, and none lies in another. */
static void places(int n)
{
    mxl_arena arena;
    unsigned char *place[MOST], *large = NULL;

    mxl_arena_init(&arena);
    for (int i = 0; i < n; i++) {
        place[i] = mxl_arena_alloc(&arena, (size_t)i);
        REQUIRE(place[i] != NULL);
        CHECK_INT((uintptr_t)place[i] % 16, 0);
        memset(place[i], i % 251, (size_t)i);
        if (i == n / 2) {
            large = mxl_arena_alloc(&arena, (size_t)n * 16);
            REQUIRE(large != NULL);
            memset(large, 255, (size_t)n * 16);
        }
    }
    for (int i = 0; i < n; i++) {
        int wrong = 0;

        for (int k = 0; k < i; k++)
            wrong += place[i][k] != i % 251;
        CHECK_INT(wrong, 0);
    }
    CHECK(large != NULL && large[0] == 255 && large[n * 16 - 1] == 255);
    mxl_arena_clear(&arena);
    CHECK(arena.more == NULL);
}

TEST(places_of_an_arena)
{
    at_each_size(places);
}

/* ---- references and pins of one object ---- */

typedef struct object {
    mxl_ref ref;
    int *released;
} object;

static void on_release(mxl_ref *ref)
{
    object *o = (object *)ref;

    ++*o->released;
    mxl_free(o, sizeof(*o));
}

static object *new_object(int *released)
{
    object *o = mxl_alloc(sizeof(*o));

    mxl_ref_init(&o->ref, on_release);
    o->released = released;
    return o;
}

static void holders(int n)
{
    int released = 0;
    object *o = new_object(&released);
    uint64_t handle = mxl_handle_new(MXL_KIND_ARRAY, &o->ref);

    REQUIRE(handle != 0);
    for (int i = 0; i < n; i++) {
        CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == &o->ref);
        mxl_ref_retain(&o->ref);
    }
    CHECK_INT(mxl_handle_free(MXL_KIND_ARRAY, handle), 0);
    CHECK(mxl_handle_pin(MXL_KIND_ARRAY, handle) == NULL);
    for (int i = 0; i < n; i++) {
        CHECK_INT(released, 0);
        mxl_ref_release(&o->ref);
    }
    for (int i = 0; i < n; i++) {
        CHECK_INT(released, 0);
        mxl_handle_unpin(handle);
    }
    CHECK_INT(released, 1);
}

TEST(holders_of_an_object)
{
    at_each_size(holders);
}

/* ---- freed blocks ---- */

/* Blocks of one size, freed in order, backwards and from the middle, and taken again. */
static void blocks(int n)
{
    static const size_t sizes[] = {16, 48, 1000, 5000};

    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        int64_t before = mxl_mem_live_bytes();
        char *block[MOST];

        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < n; i++) {
                block[i] = mxl_alloc(sizes[k]);
                REQUIRE(block[i] != NULL);
                memset(block[i], i % 128, sizes[k]);
            }
            for (int i = 0; i < n; i++)
                CHECK(block[i][0] == i % 128 && block[i][sizes[k] - 1] == i % 128);
            for (int i = 0; i < n; i++) {
                int turned = round == 1 ? n - 1 - i : round == 2 ? (i + n / 2) % n : i;

                mxl_free(block[turned], sizes[k]);
            }
            CHECK_INT(mxl_mem_live_bytes(), before);
        }
    }
}

TEST(freed_blocks)
{
    at_each_size(blocks);
}

/* ---- handles of two threads ---- */

typedef struct share {
    int count;
    H arrays[MOST];
} share;

static void *free_all(void *arg)
{
    share *s = arg;

    for (int i = 0; i < s->count; i++)
        CHECK_NEAR(at(s->arrays[i], 0), i, 0);
    drop_all(s->count, s->arrays);
    return NULL;
}

/* One thread makes, the other frees; then what was freed is used again. */
static void two_threads(int n)
{
    share s = {.count = n};

    for (int round = 0; round < 2; round++) {
        pthread_t thread;

        for (int i = 0; i < n; i++)
            s.arrays[i] = VEC(i);
        REQUIRE(pthread_create(&thread, NULL, free_all, &s) == 0);
        CHECK_INT(pthread_join(thread, NULL), 0);
        for (int i = 0; i < n; i++)
            CHECK_FAILS(MXNDArrayFree(s.arrays[i]), "MXNDArrayFree");
    }
}

TEST(handles_of_two_threads)
{
    at_each_size(two_threads);
}

HARNESS_MAIN(ENTRY(lists_of_items), ENTRY(maps_of_pointers), ENTRY(strings_of_characters),
             ENTRY(places_of_an_arena), ENTRY(holders_of_an_object), NOT_WASM(freed_blocks),
             NOT_WASM(handles_of_two_threads))
