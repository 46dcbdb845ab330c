/* Small modules of base: errors, strings, maps, shapes, dtypes, half precision, references, state.
 */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/map.h"
#include "base/memory/mem.h"
#include "base/ref.h"
#include "base/shape.h"
#include "base/text/str.h"

TEST(errors)
{
    CHECK_STR(mxl_error_text(), "");
    CHECK_INT(mxl_error("dot: inner dimensions %d and %d differ", 3, 4), -1);
    CHECK_STR(mxl_error_text(), "dot: inner dimensions 3 and 4 differ");
    CHECK(mxl_error_null("two\nlines\r%s", "100%") == NULL);
    CHECK_STR(mxl_error_text(), "two lines 100%");
    /* The message may be made of the one before. */
    mxl_error("again: %s", mxl_error_text());
    CHECK_STR(mxl_error_text(), "again: two lines 100%");
    mxl_error_memory(12345678901234ULL);
    CHECK_STR(mxl_error_text(), "out of memory: 12345678901234 bytes were asked for");
}

TEST(long_errors_are_cut)
{
    char text[3 * MXL_ERROR_TEXT];

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    mxl_error("%s", text);
    CHECK_INT(strlen(mxl_error_text()), MXL_ERROR_TEXT - 1);
    CHECK_STR(mxl_error_text() + MXL_ERROR_TEXT - 5, "a...");
    text[MXL_ERROR_TEXT - 1] = '\0';
    mxl_error("%s", text);
    CHECK_STR(mxl_error_text(), text);
    /* Not in the middle of a character of two bytes, whichever way it lies. */
    for (int shift = 0; shift < 2; shift++) {
        memset(text, 'a', sizeof text - 1);
        for (size_t i = (size_t)shift; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "\xC3\xA4", 2);
        mxl_error("%s", text);
        CHECK_HAS(mxl_error_text(), "\xA4...");
        CHECK(strlen(mxl_error_text()) >= MXL_ERROR_TEXT - 2);
    }
}

static void check_prefix(const char *before, const char *after)
{
    mxl_error("%s", before);
    CHECK_INT(mxl_error_prefix("tanh"), -1);
    CHECK_STR(mxl_error_text(), after);
}

TEST(error_prefixes)
{
    check_prefix("no such dtype", "tanh: no such dtype");
    check_prefix("tanh: no such dtype", "tanh: no such dtype");
    check_prefix("tanhshrink: no", "tanh: tanhshrink: no");
    check_prefix("ValueError: bad axis", "ValueError: tanh: bad axis");
    check_prefix("ValueError: tanh: bad axis", "ValueError: tanh: bad axis");
    check_prefix("Error: x", "Error: tanh: x");
    check_prefix("terror: x", "tanh: terror: x");
    check_prefix("NotImplementedError:x", "NotImplementedError:tanh: x");
    check_prefix("", "tanh: ");
}

TEST(strings)
{
    mxl_str str = {0};
    char expected[4000] = "";

    mxl_str_add(&str, "");
    CHECK_INT(str.length, 0);
    for (int i = 0; i < 300; i++) {
        mxl_str_addf(&str, "%d,", i);
        mxl_str_add(&str, "abc ");
        (void)snprintf(expected + strlen(expected), 20, "%d,abc ", i);
    }
    CHECK(!str.failed);
    CHECK_STR(str.text, expected);
    CHECK_INT(str.length, strlen(expected));
    mxl_str_clear(&str);
    CHECK(str.text == NULL && str.length == 0 && str.capacity == 0);
}

static void *no_alloc(void *payload, size_t bytes, size_t align)
{
    (void)payload;
    (void)bytes;
    (void)align;
    return NULL;
}

static void no_free(void *payload, void *block, size_t bytes)
{
    (void)payload;
    (void)block;
    (void)bytes;
}

TEST(strings_and_maps_without_memory)
{
    mxl_str str = {0};
    mxl_map map = {0};

    REQUIRE(mxl_mem_set_allocator(no_alloc, no_free, NULL, false) == 0);
    mxl_str_add(&str, "text");
    CHECK(str.failed);
    CHECK_HAS(mxl_error_text(), "out of memory");
    mxl_str_addf(&str, "%d", 1);
    CHECK(str.failed && str.text == NULL);
    mxl_str_clear(&str);
    CHECK(!str.failed);
    CHECK(mxl_map_put(&map, &map) == NULL);
    CHECK(mxl_map_find(&map, &map) == NULL);
    mxl_map_clear(&map);
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

TEST(maps)
{
    enum { COUNT = 20000 };
    mxl_map map = {0};
    static char keys[COUNT * 64];

    CHECK(mxl_map_find(&map, keys) == NULL);
    for (int i = 0; i < COUNT; i++) {
        void **value = mxl_map_put(&map, keys + 64 * i);

        REQUIRE(value != NULL);
        CHECK(*value == NULL);
        *value = keys + i;
    }
    CHECK_INT(map.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        void **value = mxl_map_find(&map, keys + 64 * i);

        REQUIRE(value != NULL);
        CHECK(*value == keys + i);
        CHECK(mxl_map_put(&map, keys + 64 * i) == value);
        CHECK(mxl_map_find(&map, keys + 64 * i + 1) == NULL);
    }
    CHECK_INT(map.count, COUNT);
    mxl_map_clear(&map);
    CHECK(mxl_map_find(&map, keys) == NULL);
}

#define DIMS(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), ((int64_t[]){__VA_ARGS__})

TEST(shape_counts)
{
    CHECK_INT(mxl_shape_count(0, NULL), 1);
    CHECK_INT(mxl_shape_count(DIMS(2, 3, 4)), 24);
    CHECK_INT(mxl_shape_count(DIMS(2, 0, 4)), 0);
    CHECK_INT(mxl_shape_size(DIMS(2, 3, 4)), 24);
    CHECK_INT(mxl_shape_count(DIMS(2, -1)), -1);
    CHECK_STR(mxl_error_text(), "shape (2,-1): extent -1 is negative");
    CHECK_INT(mxl_shape_count(DIMS((int64_t)1 << 58, 0)), 0);
    CHECK_INT(mxl_shape_count(DIMS(0, (int64_t)1 << 30, (int64_t)1 << 28)), 0);
    CHECK_INT(mxl_shape_count(DIMS(INT64_MAX, 0)), -1);
    CHECK_INT(mxl_shape_count(DIMS(0, (int64_t)1 << 60)), -1);
    CHECK_INT(mxl_shape_count(DIMS((int64_t)1 << 30, 0, (int64_t)1 << 30)), -1);
    CHECK_INT(mxl_shape_count(DIMS(0, -2)), -1);
    CHECK_INT(mxl_shape_count(DIMS(INT64_MAX, 2)), -1);
    CHECK_HAS(mxl_error_text(), "too many elements");
    CHECK_INT(mxl_shape_count(DIMS((int64_t)1 << 32, (int64_t)1 << 32, (int64_t)1 << 32)), -1);
    CHECK_INT(mxl_shape_count(DIMS((int64_t)1 << 60)), -1);
    CHECK_INT(mxl_shape_count(DIMS((int64_t)1 << 30, 1 << 20)), (int64_t)1 << 50);
}

TEST(shape_broadcasts)
{
    mxl_shape out;

    CHECK_INT(mxl_shape_broadcast(&out, DIMS(2, 1, 4), DIMS(3, 1)), 0);
    CHECK(mxl_shape_same(out.ndim, out.dim, DIMS(2, 3, 4)));
    CHECK_INT(mxl_shape_broadcast(&out, 0, NULL, DIMS(0, 5)), 0);
    CHECK(mxl_shape_same(out.ndim, out.dim, DIMS(0, 5)));
    CHECK_INT(mxl_shape_broadcast(&out, DIMS(1), DIMS(0)), 0);
    CHECK(mxl_shape_same(out.ndim, out.dim, DIMS(0)));
    CHECK_INT(mxl_shape_broadcast(&out, 0, NULL, 0, NULL), 0);
    CHECK_INT(out.ndim, 0);
    CHECK_INT(mxl_shape_broadcast(&out, DIMS(2, 3), DIMS(2)), -1);
    CHECK_STR(mxl_error_text(), "shapes (2,3) and (2,) cannot be broadcast together");
    CHECK_INT(out.ndim, 0);
    CHECK_INT(mxl_shape_broadcast(&out, DIMS(0), DIMS(3)), -1);
    /* In place. */
    mxl_shape_set(&out, DIMS(4, 1));
    CHECK_INT(mxl_shape_broadcast(&out, out.ndim, out.dim, DIMS(7, 1, 6)), 0);
    CHECK(mxl_shape_same(out.ndim, out.dim, DIMS(7, 4, 6)));
    CHECK(!mxl_shape_same(out.ndim, out.dim, DIMS(7, 4, 5)));
    CHECK(!mxl_shape_same(out.ndim, out.dim, DIMS(7, 4)));
}

TEST(shape_axes_and_texts)
{
    char text[16];
    int64_t many[MXL_MAX_NDIM];

    CHECK_INT(mxl_shape_axis(0, 3), 0);
    CHECK_INT(mxl_shape_axis(-1, 3), 2);
    CHECK_INT(mxl_shape_axis(-3, 3), 0);
    CHECK_INT(mxl_shape_axis(3, 3), -1);
    CHECK_STR(mxl_error_text(), "axis 3 is out of range for an array of 3 dimensions");
    CHECK_INT(mxl_shape_axis(-4, 3), -1);
    CHECK_INT(mxl_shape_axis(0, 0), -1);
    CHECK_INT(mxl_shape_axis(INT64_MIN, 3), -1);
    CHECK_STR(mxl_shape_text(text, sizeof text, 0, NULL), "()");
    CHECK_STR(mxl_shape_text(text, sizeof text, -1, NULL), "(unknown)");
    CHECK_STR(mxl_shape_text(text, sizeof text, DIMS(2)), "(2,)");
    CHECK_STR(mxl_shape_text(text, sizeof text, DIMS(2, 3)), "(2,3)");
    for (int i = 0; i < MXL_MAX_NDIM; i++)
        many[i] = INT64_MIN;
    for (size_t size = 1; size < sizeof text; size++) {
        text[size] = '#';
        CHECK_INT(strlen(mxl_shape_text(text, size, MXL_MAX_NDIM, many)), size - 1);
        CHECK_INT(text[size], '#');
    }
}

TEST(dtypes)
{
    const size_t sizes[] = {4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2};

    for (int i = 0; i < MXL_DTYPE_COUNT; i++) {
        CHECK(mxl_dtype_valid(i));
        CHECK_INT(mxl_dtype_size(i), sizes[i]);
        CHECK_INT(mxl_dtype_parse(mxl_dtype_name(i)), i);
    }
    CHECK_STR(mxl_dtype_name(MXL_F16), "float16");
    CHECK_STR(mxl_dtype_name(-1), "unknown");
    CHECK_STR(mxl_dtype_name(13), "unknown");
    CHECK_INT(mxl_dtype_parse("float"), MXL_DTYPE_UNKNOWN);
    CHECK_INT(mxl_dtype_parse(""), MXL_DTYPE_UNKNOWN);
    CHECK(mxl_dtype_is_float(MXL_F16) && !mxl_dtype_is_float(MXL_I64));
}

/* The value of a half, by its definition. */
static double half_value(unsigned h)
{
    int exponent = (int)(h >> 10 & 31);
    double mantissa = h & 1023;
    double value = exponent == 31  ? (mantissa > 0 ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(1024 + mantissa, exponent - 25);

    return h & 0x8000 ? -value : value;
}

TEST(every_half_to_float_and_back)
{
    for (unsigned h = 0; h < 65536; h++) {
        float f = mxl_half_to_float((mxl_half)h);
        double expected = half_value(h);

        if (isnan(expected)) {
            CHECK(isnan(f));
            CHECK((mxl_half_from_float(f) & 0x7C00) == 0x7C00);
            CHECK((mxl_half_from_float(f) & 0x03FF) != 0);
        } else {
            CHECK((double)f == expected);
            CHECK_INT(mxl_half_from_float(f), h);
        }
        CHECK_INT(signbit(f) != 0, h >> 15);
        CHECK_INT(mxl_half_from_float(f) >> 15, h >> 15);
    }
}

/* Round to nearest even, by its definition. */
static unsigned half_nearest(float f)
{
    double x = fabs((double)f), unit = 0x1p-24;
    unsigned sign = signbit(f) ? 0x8000 : 0;
    int exponent;

    (void)frexp(x, &exponent);
    if (exponent - 11 > -24)
        unit = ldexp(1, exponent - 11);
    x = nearbyint(x / unit) * unit;
    if (x > 65504)
        return sign | 0x7C00;
    (void)frexp(x, &exponent);
    if (x < 0x1p-14)
        return sign | (unsigned)(x * 0x1p24);
    return sign | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexp(x, 11 - exponent) - 1024);
}

TEST(floats_round_to_the_nearest_half)
{
    const float edges[] = {0.0f,       65504.0f,     65519.99f,    65520.0f,      1e30f,
                           0x1p-24f,   0x1p-25f,     0x1.8p-25f,   0x1p-26f,      0x1.8p-24f,
                           0x1p-14f,   0x1.ffcp-15f, 0x1.ffep-15f, 0x1.ffffp-15f, 1.0f,
                           0x1.002p0f, 0x1.006p0f,   0x1p-149f};
    uint64_t seed = 5;

    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        CHECK_INT(mxl_half_from_float(edges[i]), half_nearest(edges[i]));
        CHECK_INT(mxl_half_from_float(-edges[i]), half_nearest(-edges[i]));
    }
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)harness_random(&seed);
        float f;

        /* Half of them between 2^-26 and 2^18, where something happens; some exactly in the middle.
         */
        if (i % 2 == 0)
            bits = (bits & 0x807FFFFF) | (101 + bits % 44) << 23;
        if (i % 4 == 0)
            bits = (bits & ~0x1FFFu) | 0x1000;
        memcpy(&f, &bits, sizeof f);
        if (isnan(f))
            CHECK((mxl_half_from_float(f) & 0x7FFF) > 0x7C00);
        else
            CHECK_INT(mxl_half_from_float(f),
                      isinf(f) ? (f < 0 ? 0xFC00 : 0x7C00) : half_nearest(f));
    }
}

typedef struct link {
    mxl_ref ref;
    struct link *left, *right;
    int *released;
} link;

static void link_release(mxl_ref *ref)
{
    link *self = (link *)(void *)ref;

    if (self->left != NULL)
        mxl_ref_release(&self->left->ref);
    if (self->right != NULL)
        mxl_ref_release(&self->right->ref);
    ++*self->released;
    mxl_free(self, sizeof *self);
}

static link *new_link(link *left, link *right, int *released)
{
    link *self = mxl_alloc(sizeof *self);

    mxl_ref_init(&self->ref, link_release);
    self->left = left;
    self->right = right;
    self->released = released;
    return self;
}

TEST(a_long_chain_is_released_without_recursion)
{
    enum { COUNT = 1000000 };
    int released = 0;
    link *chain = NULL;

    for (int i = 0; i < COUNT; i++) {
        /* Each holds the last in two ways, so that both orders of release come. */
        if (chain != NULL && i % 2 == 0) {
            mxl_ref_retain(&chain->ref);
            chain = new_link(chain, chain, &released);
        } else {
            chain = new_link(chain, NULL, &released);
        }
    }
    CHECK(mxl_ref_is_unique(&chain->ref));
    mxl_ref_retain(&chain->ref);
    CHECK(!mxl_ref_is_unique(&chain->ref));
    mxl_ref_release(&chain->ref);
    CHECK_INT(released, 0);
    mxl_ref_release(&chain->ref);
    CHECK_INT(released, COUNT);
    mxl_ref_release(NULL);
}

static int freed_slots;

static void count_and_free(void *slot)
{
    freed_slots++;
    mxl_free(slot, 100);
}

static void *fill_slots(void *unused)
{
    mxl_state *state = mxl_state_get();

    (void)unused;
    CHECK(state == mxl_state_get() && state == mxl_state_here);
    CHECK(!state->recording && !state->training && !state->numpy_shape);
    for (int i = 0; i < MXL_STATE_SLOTS; i++) {
        CHECK(state->slots[i] == NULL);
        state->slots[i] = mxl_alloc(100);
        state->slot_free[i] = count_and_free;
    }
    return NULL;
}

TEST(slots_are_freed_with_the_thread)
{
    pthread_t thread;

    freed_slots = 0;
    REQUIRE(pthread_create(&thread, NULL, fill_slots, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_INT(freed_slots, MXL_STATE_SLOTS);
    fill_slots(NULL);
    mxl_state_clear_slots();
    CHECK_INT(freed_slots, 2 * MXL_STATE_SLOTS);
    CHECK(mxl_state_get()->slots[3] == NULL);
}

HARNESS_MAIN(ENTRY(errors), ENTRY(long_errors_are_cut), ENTRY(error_prefixes), ENTRY(strings),
             ENTRY(strings_and_maps_without_memory), ENTRY(maps), NOT_WASM(shape_counts),
             ENTRY(shape_broadcasts), ENTRY(shape_axes_and_texts), ENTRY(dtypes),
             ENTRY(every_half_to_float_and_back), ENTRY(floats_round_to_the_nearest_half),
             ENTRY(a_long_chain_is_released_without_recursion),
             NOT_WASM(slots_are_freed_with_the_thread))
