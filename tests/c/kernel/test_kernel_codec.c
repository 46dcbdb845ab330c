/* Images in files: the pixels of MXNet 1.9.1, kinds of PNG, compressed data, and damage, which is
 * an error or some pixels, in little memory. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "images_kit.h"
#include "kernel/codec/codec.h"
#include "kernel/codec/inflate.h"

TEST(pixels_of_mxnet)
{
    for (int i = 0; i < KIT_IMAGES; i++) {
        const kit_image *k = &kit_images[i];

        for (int color = 0; color < 2; color++) {
            mxl_bitmap image;

            if (!CHECK_INT(mxl_bitmap_decode(k->bytes, k->size, color == 1, &image), 0)) {
                fprintf(stderr, "    %s: %s\n", k->name, mxl_error_text());
                continue;
            }
            CHECK_INT(image.rows, k->rows);
            CHECK_INT(image.columns, k->columns);
            CHECK_INT(image.channels, color == 1 ? 3 : 1);
            if (!CHECK_INT(mxl_crc32(0, image.bytes, image.size), color == 1 ? k->color : k->gray))
                fprintf(stderr, "    %s, color %d\n", k->name, color);
            mxl_bitmap_clear(&image);
        }
    }
}

/* Each cut of an image is an error. */
TEST(cuts)
{
    for (int i = 0; i < KIT_IMAGES; i++) {
        for (size_t size = 0; size < kit_images[i].size; size++) {
            char *cut = malloc(size + 1);
            mxl_bitmap image;

            REQUIRE(cut != NULL);
            memcpy(cut, kit_images[i].bytes, size);
            CHECK_INT(mxl_bitmap_decode(cut, size, true, &image), -1);
            CHECK(image.bytes == NULL && mxl_error_text()[0] != '\0');
            free(cut);
        }
    }
}

/* Makes the check sums of a PNG's chunks right again. */
static void mend(uint8_t *bytes, size_t size)
{
    for (size_t at = 8; size - at >= 12;) {
        size_t length = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 |
                        (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        uint32_t crc;

        if (length > size - at - 12)
            return;
        crc = mxl_crc32(0, bytes + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            bytes[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + length;
    }
}

/* Damaged images are errors or images; the sanitizers see what else they could be. */
TEST(damage)
{
    uint64_t seed = 7;
    int errors = 0;

    for (int round = 0; round < 4000; round++) {
        const kit_image *k = &kit_images[round % KIT_IMAGES];
        uint8_t *bytes = malloc(k->size);
        mxl_bitmap image;

        REQUIRE(bytes != NULL);
        memcpy(bytes, k->bytes, k->size);
        for (int i = 0; i < 1 + round % 3; i++) {
            uint64_t random = harness_random(&seed);

            bytes[random % k->size] ^= (uint8_t)(1 << (random >> 40) % 8);
        }
        if (k->bytes[1] == 'P')
            mend(bytes, k->size);
        if (mxl_bitmap_decode(bytes, k->size, round % 2 == 0, &image) == 0)
            mxl_bitmap_clear(&image);
        else
            errors++;
        free(bytes);
    }
    CHECK(errors > 500);
}

/* Sizes that a file claims take no memory. */
TEST(claims)
{
    static const char jpeg[] = "\xff\xd8\xff\xc0\0\x0b\x08\x7f\xff\x7f\xff\x01\x01\x11\0\xff\xd9";
    char png[sizeof(png_deflated)];
    mxl_bitmap image;
    int64_t before = mxl_mem_live_bytes();

    memcpy(png, png_deflated, sizeof(png));
    png[17] = png[21] = 0x02; /* 131,085 columns and more rows */
    mend((uint8_t *)png, sizeof(png) - 1);
    CHECK_INT(mxl_bitmap_decode(png, sizeof(png) - 1, true, &image), -1);
    CHECK_HAS(mxl_error_text(), "at most 2^30 are allowed");
    png[17] = 0;
    mend((uint8_t *)png, sizeof(png) - 1);
    CHECK_INT(mxl_bitmap_decode(png, sizeof(png) - 1, true, &image), -1);
    CHECK_HAS(mxl_error_text(), "bytes of compressed pixels are too few");
    CHECK_INT(mxl_bitmap_decode(jpeg, sizeof(jpeg) - 1, true, &image), -1);
    CHECK_HAS(mxl_error_text(), "JPEG: 17 bytes are too few for 32767 x 32767 pixels");
    CHECK_INT(mxl_mem_live_bytes(), before);
}

TEST(what_is_no_image)
{
    mxl_bitmap image;

    CHECK_INT(mxl_bitmap_decode("", 0, true, &image), -1);
    CHECK_STR(mxl_error_text(), "the image is empty");
    CHECK_INT(mxl_bitmap_decode("nothing", 7, true, &image), -1);
    CHECK_STR(mxl_error_text(),
              "7 bytes that are no PNG and no JPEG: the image begins with the text \"nothing\"");
    CHECK_INT(mxl_bitmap_decode("\xff\xd8\xff\xd9", 4, true, &image), -1);
    CHECK_STR(mxl_error_text(), "JPEG: there is no image");
    CHECK_INT(mxl_bitmap_decode("\xff\xd8\xff\xc9\0\x0b", 6, true, &image), -1);
    CHECK_HAS(mxl_error_text(), "JPEG: it ends at byte 6, within marker 0xc9");
}

/* Frames of four components, of 12 bits, of arithmetic coding. */
TEST(kinds_that_are_not_supported)
{
    static const struct {
        const char *bytes, *says;
    } kinds[] = {
        {"\xff\xd8\xff\xc0\0\x14\x08\0\x01\0\x01\x02\1\x11\0\2\x11\0\3\x11\0\4\x11\0",
         "JPEG: 2 components; only 1, 3 and 4 are supported"},
        {"\xff\xd8\xff\xc1\0\x14\x0c\0\x01\0\x01\x01\1\x11\0\2\x11\0\3\x11\0\4\x11\0",
         "JPEG: samples of 12 bits; only those of 8 are supported"},
        {"\xff\xd8\xff\xc9\0\x14\x08\0\x01\0\x01\x01\1\x11\0\2\x11\0\3\x11\0\4\x11\0",
         "JPEG: the coding of marker 0xc9 (lossless, arithmetic, hierarchical) is not supported"},
    };
    mxl_bitmap image;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        CHECK_INT(mxl_bitmap_decode(kinds[i].bytes, 24, true, &image), -1);
        CHECK_STR(mxl_error_text(), kinds[i].says);
    }
}

/* ---- compressed data ---- */

/* "abcabcabcabc" and a stored block, as zlib writes them. */
TEST(zlib_data)
{
    static const uint8_t repeated[] = {0x78, 0xda, 0x4b, 0x4c, 0x4a, 0x4e, 0x84,
                                       0x21, 0x00, 0x1d, 0xe0, 0x04, 0x99};
    static const uint8_t stored[] = {0x78, 0x01, 0x01, 0x03, 0x00, 0xfc, 0xff,
                                     'x',  'y',  'z',  0x02, 0xd7, 0x01, 0x6c};
    uint8_t out[16], bad[sizeof(repeated)];

    CHECK_INT(mxl_inflate_zlib(repeated, sizeof(repeated), out, 12), 0);
    CHECK(memcmp(out, "abcabcabcabc", 12) == 0);
    CHECK_INT(mxl_inflate_zlib(stored, sizeof(stored), out, 3), 0);
    CHECK(memcmp(out, "xyz", 3) == 0);
    CHECK_INT(mxl_inflate_zlib(repeated, sizeof(repeated), out, 11), -1);
    CHECK_HAS(mxl_error_text(), "they have more bytes than they should have");
    CHECK_INT(mxl_inflate_zlib(repeated, sizeof(repeated), out, 13), -1);
    CHECK_HAS(mxl_error_text(), "they have fewer bytes than they should have");
    memcpy(bad, repeated, sizeof(bad));
    bad[12] ^= 1;
    CHECK_INT(mxl_inflate_zlib(bad, sizeof(bad), out, 12), -1);
    CHECK_HAS(mxl_error_text(), "the check sum differs");
    for (size_t size = 0; size < sizeof(repeated); size++)
        CHECK_INT(mxl_inflate_zlib(repeated, size, out, 12), -1);
}

/* A file of gzip with a name, and damage to each of its bytes. */
TEST(gzip_data)
{
    static const uint8_t file[] = {0x1f, 0x8b, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                   0x03, 0x6e, 0x00, 0x4b, 0x4c, 0x4a, 0x4e, 0x84, 0x21,
                                   0x00, 0x34, 0x2a, 0x6e, 0x5a, 0x0c, 0x00, 0x00, 0x00};
    uint8_t bad[sizeof(file)];
    char *out = NULL;
    size_t size = 0;
    int errors = 0;

    if (CHECK_INT(mxl_inflate_gzip(file, sizeof(file), &out, &size), 0)) {
        CHECK_INT(size, 12);
        CHECK_STR(out, "abcabcabcabc");
        mxl_free(out, size + 1);
    } else {
        fprintf(stderr, "    %s\n", mxl_error_text());
    }
    for (size_t i = 0; i < 8 * sizeof(file); i++) {
        memcpy(bad, file, sizeof(file));
        bad[i / 8] ^= (uint8_t)(1 << i % 8);
        if (mxl_inflate_gzip(bad, sizeof(bad), &out, &size) == 0)
            mxl_free(out, size + 1);
        else
            errors++;
    }
    CHECK(errors > 100);
    for (size_t cut = 0; cut < sizeof(file); cut++)
        CHECK_INT(mxl_inflate_gzip(file, cut, &out, &size), -1);
}

HARNESS_MAIN(ENTRY(pixels_of_mxnet), ENTRY(cuts), ENTRY(damage), ENTRY(claims),
             ENTRY(what_is_no_image), ENTRY(kinds_that_are_not_supported), ENTRY(zlib_data),
             ENTRY(gzip_data))
