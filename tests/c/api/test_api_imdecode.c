/* `_imdecode` of MXListFunctions: images, parts of them, means, outputs; what is refused. */
#include "engine_kit.h"
#include "images_kit.h"

static FunctionHandle function;
static const kit_image *const png = &kit_images[6]; /* 9 x 13 */

enum { ROWS = 9, COLUMNS = 13 };

static int call(H mean, const float *scalars, H out, const char *bytes)
{
    char key[] = "str_img", *keys[] = {key}, *values[] = {(char *)(size_t)bytes};
    float numbers[7];

    memcpy(numbers, scalars, sizeof(numbers));
    return MXFuncInvokeEx(function, &mean, numbers, &out, 1, keys, values);
}

static void set_up(void)
{
    CHECK_INT(MXGetFunction("_imdecode", &function), 0);
    REQUIRE(function != NULL);
}

/* The pixels of _cvimdecode: B, G, R. */
static void decode(unsigned char *pixels)
{
    const char *keys[] = {"to_rgb"}, *values[] = {"0"};
    int64_t size = (int64_t)png->size;
    H bytes = make(3, 1, &size), *images = NULL;
    OpHandle op = NULL;
    int count = 0;

    CHECK_INT(MXNDArraySyncCopyFromCPU(bytes, png->bytes, png->size), 0);
    CHECK_INT(NNGetOpHandle("_cvimdecode", &op), 0);
    CHECK_INT(MXImperativeInvoke(op, 1, &bytes, &count, &images, 1, keys, values), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(images[0], pixels, 3 * ROWS * COLUMNS), 0);
    drop(images[0]);
    drop(bytes);
}

TEST(images)
{
    unsigned char pixels[3 * ROWS * COLUMNS];
    const float all[] = {0, 0, 0, 0, 0, 3, (float)png->size};
    const float part[] = {1, 2, 3, 6, 5, 3, (float)png->size};
    H none = NULL, out = NULL, batch = make(F32, 4, (const int64_t[]){2, 3, 2, 4});
    H mean = make(F64, 3, (const int64_t[]){3, ROWS, COLUMNS}), wide = NULL;
    double means[3 * ROWS * COLUMNS];
    float got[3 * ROWS * COLUMNS];

    set_up();
    decode(pixels);
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    CHECK_INT(MXNDArrayCreateNone(&out), 0);
    CHECK_INT(call(none, all, out, png->bytes), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(out, got, 3 * ROWS * COLUMNS), 0);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS * COLUMNS; i++)
            CHECK_NEAR(got[c * ROWS * COLUMNS + i], pixels[3 * i + c], 0);
    CHECK_INT(call(none, part, batch, png->bytes), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(batch, got, 48), 0);
    CHECK_NEAR(got[24], pixels[3 * (3 * COLUMNS + 2)], 0);
    CHECK_NEAR(got[47], pixels[3 * (4 * COLUMNS + 5) + 2], 0);
    for (int i = 0; i < 3 * ROWS * COLUMNS; i++)
        means[i] = i * 0.5;
    CHECK_INT(MXNDArraySyncCopyFromCPU(mean, means, 3 * ROWS * COLUMNS), 0);
    CHECK_INT(MXNDArrayCreateNone(&wide), 0);
    CHECK_INT(call(mean, all, wide, png->bytes), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(wide, means, 3 * ROWS * COLUMNS), 0);
    CHECK_NEAR(means[COLUMNS], pixels[3 * COLUMNS] - COLUMNS * 0.5, 0);
    drop(none);
    drop(out);
    drop(batch);
    drop(mean);
    drop(wide);
}

static const struct {
    float scalars[7];
    const char *says;
} bad[] = {
    {{0, 0, 0, 0, 0, 4, 100}, "there are 1 or 3 channels, got 4"},
    {{0, 0, 0, 0, 0, 3, -1}, "number 6 must be 0 to 2^30, got -1"},
    {{0, 0.5F, 0, 0, 0, 3, 100}, "number 1 must be 0 to 2^30, got 0.5"},
    {{0, 0, 0, 0, 0, 3, 40}, "cvimdecode: "},
    {{0, 0, 0, 0, 0, 3, 0}, "cvimdecode: "},
    {{0, 3, 0, 2, 2, 3, 0}, "the part from (3,0) to (2,2) is none of an image of 13 x 9"},
    {{0, 0, 0, 14, 2, 3, 0}, "the part from (0,0) to (14,2) is none"},
    {{0, 0, 0, 3, 10, 3, 0}, "the part from (0,0) to (3,10) is none"},
    {{2, 0, 0, 0, 0, 3, 0}, "there is no image 2 in an array of 2"},
    {{1, 0, 0, 3, 2, 3, 0}, "copyto: "},
};

TEST(what_is_refused)
{
    H none = NULL, batch = make(F32, 4, (const int64_t[]){2, 3, ROWS, COLUMNS}), mean = VEC(1, 2);
    const float all[] = {0, 0, 0, 0, 0, 3, (float)png->size};
    float numbers[7] = {0};

    set_up();
    CHECK_INT(MXNDArrayCreateNone(&none), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        float scalars[7];

        memcpy(scalars, bad[i].scalars, sizeof(scalars));
        if (scalars[6] == 0 && i > 4)
            scalars[6] = (float)png->size;
        CHECK_INT(call(none, scalars, batch, png->bytes), -1);
        CHECK_HAS(MXGetLastError(), "MXFuncInvokeEx: imdecode: ");
        CHECK_HAS(MXGetLastError(), bad[i].says);
    }
    CHECK_INT(call(mean, all, batch, png->bytes), -1);
    CHECK_HAS(MXGetLastError(), "the mean has the shape (2,), the image (3,9,13)");
    CHECK_INT(call(none, all, batch, NULL), -1);
    CHECK_HAS(MXGetLastError(), "imdecode: the parameter str_img, and no other, was expected");
    CHECK_INT(call(NULL, all, batch, png->bytes), -1);
    CHECK_INT(call(none, all, NULL, png->bytes), -1);
    CHECK_INT(MXFuncInvoke(function, &none, numbers, &batch), -1);
    CHECK_HAS(MXGetLastError(), "the parameter str_img");
    drop(none);
    drop(batch);
    drop(mean);
}

TEST(description)
{
    const char *name, *doc, **names, **types, **docs, *result;
    uint32_t count, uses, scalars, outputs;
    int mask;

    set_up();
    CHECK_INT(MXFuncGetInfo(function, &name, &doc, &count, &names, &types, &docs, &result), 0);
    CHECK_STR(name, "_imdecode");
    CHECK_INT(count, 8);
    CHECK_STR(names[7], "size");
    CHECK_STR(types[0], "NDArray-or-Symbol");
    CHECK_INT(MXFuncDescribe(function, &uses, &scalars, &outputs, &mask), 0);
    CHECK_INT(uses * 1000 + scalars * 100 + outputs * 10 + (uint32_t)mask, 1715);
}

HARNESS_MAIN(ENTRY(images), ENTRY(what_is_refused), ENTRY(description))
