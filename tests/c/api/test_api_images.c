/* Data iterators over images of a file of records: samples, labels, parts, random changes, damage.
 * (Pixels themselves: test_kernel_codec.c.) */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "io_kit.h"

#include <string.h>

#include "base/memory/mem.h"
#include "images_kit.h"
#include "kernel/codec/codec.h"
#include "kernel/codec/inflate.h"

enum { COUNT = 5, ROWS = 6, COLUMNS = 7, PIXELS = ROWS * COLUMNS };

static char records[160], list[160], record_index[160];

static int create(const char *name, const char *const *pairs, DataIterHandle *out)
{
    DataIterCreator *makers;
    const char *keys[24], *values[24], *found, *doc, **a, **b, **c;
    uint32_t n = 0, makers_count, args, at = 0;

    CHECK_INT(MXListDataIters(&makers_count, &makers), 0);
    for (; at < makers_count; at++) {
        CHECK_INT(MXDataIterGetIterInfo(makers[at], &found, &doc, &args, &a, &b, &c), 0);
        if (strcmp(found, name) == 0)
            break;
    }
    for (; pairs[2 * n] != NULL; n++) {
        keys[n] = pairs[2 * n];
        values[n] = pairs[2 * n + 1];
    }
    return MXDataIterCreateIter(makers[at], n, keys, values, out);
}

#define PAIRS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static DataIterHandle created(const char *name, const char *const *pairs)
{
    DataIterHandle iterator = NULL;

    if (!CHECK_INT(create(name, pairs, &iterator), 0))
        fprintf(stderr, "    %s\n", MXGetLastError());
    return iterator;
}

/* A record: its head, labels (none: `label`), an image. Returns where it begins. */
static size_t put_image(RecordIOHandle writer, uint64_t id, float label, uint32_t labels,
                        const kit_image *image)
{
    static char bytes[4096];
    uint64_t ids[2] = {id, 0};
    size_t at = 24, place;

    memcpy(bytes, &labels, 4);
    memcpy(bytes + 4, &label, 4);
    memcpy(bytes + 8, ids, 16);
    for (uint32_t i = 0; i < labels; i++, at += 4) {
        float value = label + (float)i;

        memcpy(bytes + at, &value, 4);
    }
    memcpy(bytes + at, image->bytes, image->size);
    CHECK_INT(MXRecordIOWriterTell(writer, &place), 0);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, bytes, at + image->size), 0);
    return place;
}

/* Five records of the first images, of ids 100 to 104 and labels 0 to 4, with an index. */
static void write_records(uint32_t labels)
{
    RecordIOHandle writer = NULL;
    FILE *file;

    (void)snprintf(records, sizeof(records), "%s/a.rec", folder);
    (void)snprintf(record_index, sizeof(record_index), "%s/a.idx", folder);
    (void)snprintf(list, sizeof(list), "%s/a.lst", folder);
    CHECK_INT(MXRecordIOWriterCreate(records, &writer), 0);
    file = fopen(record_index, "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < COUNT; i++)
        fprintf(file, "%d\t%zu\n", i,
                put_image(writer, 100 + (uint64_t)i, (float)i, labels, &kit_images[i]));
    CHECK_INT(fclose(file), 0);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
}

/* The pixel of an image: of the middle part of ROWS x COLUMNS, mirrored if asked for. */
static int pixel(int number, int channel, int y, int x, bool mirrored)
{
    const kit_image *k = &kit_images[number];
    mxl_bitmap image;
    int value;

    CHECK_INT(mxl_bitmap_decode(k->bytes, k->size, true, &image), 0);
    y += (k->rows - ROWS) / 2;
    x = (k->columns - COLUMNS) / 2 + (mirrored ? COLUMNS - 1 - x : x);
    value = image.bytes[(y * k->columns + x) * 3 + channel];
    mxl_bitmap_clear(&image);
    return value;
}

static int next(DataIterHandle iterator)
{
    int any = 99;

    if (!CHECK_INT(MXDataIterNext(iterator, &any), 0))
        fprintf(stderr, "    %s\n", MXGetLastError());
    return any;
}

static void read_array(int (*get)(DataIterHandle, NDArrayHandle *), DataIterHandle iterator,
                       void *to, size_t count)
{
    NDArrayHandle array = NULL;

    CHECK_INT(get(iterator, &array), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(array, to, count), 0);
    CHECK_INT(MXNDArrayFree(array), 0);
}

/* The present batch has these images, labels 0, 1, ... of them times `step` */
static void expect(DataIterHandle iterator, int first, int second, bool mirrored)
{
    float data[2 * 3 * PIXELS], label[2];
    int numbers[] = {first, second};

    read_array(MXDataIterGetData, iterator, data, 2 * 3 * PIXELS);
    read_array(MXDataIterGetLabel, iterator, label, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(label[i], numbers[i], 0);
        for (int c = 0; c < 3; c++) {
            const float *plane = data + (i * 3 + c) * PIXELS;

            CHECK_NEAR(plane[0], pixel(numbers[i], c, 0, 0, mirrored), 0);
            CHECK_NEAR(plane[1], pixel(numbers[i], c, 0, 1, mirrored), 0);
            CHECK_NEAR(plane[PIXELS - 1], pixel(numbers[i], c, ROWS - 1, COLUMNS - 1, mirrored), 0);
        }
    }
}

#define BASIC "path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "2"

TEST(epochs)
{
    DataIterHandle iterator;

    make_folder();
    write_records(0);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "preprocess_threads", "3"));
    for (int epoch = 0; epoch < 2; epoch++) {
        CHECK_INT(next(iterator), 1);
        expect(iterator, 0, 1, false);
        CHECK_INT(next(iterator), 1);
        expect(iterator, 2, 3, false);
        CHECK_INT(next(iterator), 1);
        expect(iterator, 4, 0, false);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
        CHECK_INT(next(iterator), 1);
        expect(iterator, 1, 2, false);
        CHECK_INT(next(iterator), 1);
        expect(iterator, 3, 4, false);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    }
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "mirror", "True"));
    CHECK_INT(next(iterator), 1);
    expect(iterator, 0, 1, true);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* Parts by an index have as many records; without one, as many bytes. */
TEST(parts)
{
    DataIterHandle iterator;

    make_folder();
    write_records(0);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "path_imgidx", record_index, "num_parts",
                                                "2", "part_index", "1"));
    CHECK_INT(next(iterator), 1);
    expect(iterator, 3, 4, false);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "num_parts", "2", "part_index", "1"));
    CHECK_INT(next(iterator), 1);
    expect(iterator, 3, 4, false);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

TEST(labels)
{
    DataIterHandle iterator;
    float label[4];
    FILE *file;

    make_folder();
    write_records(2);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "label_width", "2"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetLabel, iterator, label, 4);
    CHECK(label[0] == 0 && label[1] == 1 && label[2] == 1 && label[3] == 2);
    CHECK_INT(MXDataIterFree(iterator), 0);
    file = fopen(list, "w");
    REQUIRE(file != NULL);
    for (int id = 1200; id > 200; id--) /* as many others, in no order; the last of an id counts */
        (void)fprintf(file, "%d\t3\t4\tc.png\n", id);
    fputs("101\t7\t8\tb.png\n\n100\t0.5\t-1\ta.png\n101\t5\t5\td.png\n7\t1\t1\te.png\n", file);
    CHECK_INT(fclose(file), 0);
    iterator = created("ImageRecordIter", PAIRS(BASIC, "label_width", "2", "path_imglist", list));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetLabel, iterator, label, 4);
    CHECK(label[0] == 0.5F && label[1] == -1 && label[2] == 5 && label[3] == 5);
    for (int i = 0; i < 2; i++) { /* what cannot be read is left out */
        int any = 99;

        CHECK_INT(MXDataIterNext(iterator, &any), -1);
        CHECK_HAS(MXGetLastError(), "MXDataIterNext: ImageRecordIter: the list has no image with "
                                    "id 10");
    }
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 3);
}

/* float32 is normalised, uint8 is not, int8 ends at 127; gray; the ids of version 1. */
TEST(values)
{
    float numbers[3 * PIXELS];
    uint8_t bytes[3 * PIXELS];
    int8_t signed_bytes[3 * PIXELS];
    uint64_t *index = NULL, count;
    DataIterHandle iterator;

    make_folder();
    write_records(0);
    iterator = created("ImageRecordIter",
                       PAIRS("path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1",
                             "mean_g", "10", "std_g", "4", "scale", "0.5", "mean_r", "1"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetData, iterator, numbers, 3 * PIXELS);
    CHECK_NEAR(numbers[0], (pixel(0, 0, 0, 0, false) - 1) * 0.5, 1e-5);
    CHECK_NEAR(numbers[PIXELS], (pixel(0, 1, 0, 0, false) - 10) * 0.125, 1e-5);
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageRecordUInt8Iter",
                       PAIRS("path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetData, iterator, bytes, 3 * PIXELS);
    CHECK_INT(bytes[PIXELS + 8], pixel(0, 1, 1, 1, false));
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageRecordInt8Iter",
                       PAIRS("path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetData, iterator, signed_bytes, 3 * PIXELS);
    for (int i = 0; i < 3 * PIXELS; i++)
        CHECK_INT(signed_bytes[i], bytes[i] > 127 ? 127 : bytes[i]);
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageRecordIter_v1", PAIRS(BASIC));
    CHECK_INT(next(iterator), 1);
    CHECK_INT(MXDataIterGetIndex(iterator, &index, &count), 0);
    CHECK(count == 2 && index[0] == 100 && index[1] == 101);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* Images that are smaller than a sample, or resized, padded, cut at random; each seed has its own
 * choices, and the same ones again. */
TEST(changes)
{
    static const char *const changes[][4] = {
        {"resize", "9", "inter_method", "9"}, {"pad", "4", "fill_value", "1"},
        {"rand_crop", "1", "seed_aug", "3"},  {"rand_mirror", "1", "inter_method", "10"},
        {"shuffle", "1", "seed", "12"},       {"resize", "5", "inter_method", "3"},
    };
    float data[2][3 * 30 * 8], label;

    make_folder();
    write_records(0);
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        const char *const *c = changes[i];

        for (int again = 0; again < 2; again++) {
            DataIterHandle iterator =
                created("ImageRecordIter", PAIRS("path_imgrec", records, "data_shape", "(3,30,8)",
                                                 "batch_size", "1", c[0], c[1], c[2], c[3]));

            for (int k = 0; k < COUNT; k++)
                CHECK_INT(next(iterator), 1);
            CHECK_INT(next(iterator), 0);
            CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
            CHECK_INT(next(iterator), 1);
            read_array(MXDataIterGetData, iterator, data[again], 3 * 30 * 8);
            read_array(MXDataIterGetLabel, iterator, &label, 1);
            CHECK(label >= 0 && label < COUNT);
            CHECK_INT(MXDataIterFree(iterator), 0);
        }
        CHECK(memcmp(data[0], data[1], sizeof(data[0])) == 0);
    }
    CHECK_INT(remove_folder(), 2);
}

/* ---- errors ---- */

static void refuses(const char *const *pairs, const char *text)
{
    DataIterHandle iterator = NULL;

    CHECK_INT(create("ImageRecordIter", pairs, &iterator), -1);
    CHECK_HAS(MXGetLastError(), "MXDataIterCreateIter: ImageRecordIter: ");
    CHECK_HAS(MXGetLastError(), text);
    CHECK(iterator == NULL);
}

TEST(bad_parameters)
{
    FILE *file;

    make_folder();
    write_records(0);
    refuses(PAIRS("data_shape", "(3,6,7)", "batch_size", "2"), "path_imgrec is missing");
    refuses(PAIRS(BASIC, "rotate", "30"), "mxlite lacks what parameter rotate does");
    refuses(PAIRS(BASIC, "max_random_contrast", "0.5"), "parameter max_random_contrast");
    refuses(PAIRS(BASIC, "mean_img", "mean.bin"), "mxlite lacks what parameter mean_img does");
    refuses(PAIRS(BASIC, "dtype", "float64"), "dtype must be float32, uint8 or int8, got float64");
    refuses(PAIRS(BASIC, "inter_method", "5"), "inter_method must be 0 to 4, 9 or 10, got 5");
    refuses(PAIRS(BASIC, "pad", "-1"), "pad must be 0 to 2^20");
    refuses(PAIRS(BASIC, "label_width", "0"), "label_width must be 1 to");
    refuses(PAIRS(BASIC, "num_parts", "0"), "part_index 0 of num_parts 0");
    refuses(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(4,6,7)"),
            "data_shape must have 1 or 3 channels");
    refuses(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(6,7)"),
            "data_shape must have 3 numbers (channels, rows, columns), got 2");
    refuses(PAIRS(BASIC, "path_imgidx", "no such file"), "cannot open \"no such file\"");
    refuses(PAIRS(BASIC, "path_imgidx", records), "is no key and position");
    refuses(PAIRS(BASIC, "path_imglist", record_index, "label_width", "2"),
            "line 1 has no 2 labels");
    file = fopen(list, "w");
    REQUIRE(file != NULL);
    fputs("a\t1\tname\n", file);
    CHECK_INT(fclose(file), 0);
    refuses(PAIRS(BASIC, "path_imglist", list), "line 1: \"a\" is no id");
    CHECK_INT(remove_folder(), 3);
}

/* A batch with a damaged record or image is an error, and the next batch comes after it. */
TEST(damaged_records)
{
    static const kit_image none = {"none", "no image", 8, 0, 0, 0, 0};
    RecordIOHandle writer = NULL;
    DataIterHandle iterator;
    int any = 99;

    make_folder();
    write_records(0);
    CHECK_INT(MXRecordIOWriterCreate(records, &writer), 0);
    (void)put_image(writer, 5, 0, 0, &none);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, "short", 5), 0);
    (void)put_image(writer, 7, 0, 3, &kit_images[0]);
    (void)put_image(writer, 8, 4, 0, &kit_images[4]);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    iterator = created("ImageRecordIter",
                       PAIRS("path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1"));
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_STR(MXGetLastError(), "MXDataIterNext: ImageRecordIter: the image with id 5: 8 bytes "
                                "that are no PNG and no JPEG");
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_HAS(MXGetLastError(), "the record at byte 40 has 5 bytes, its head has 24");
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_HAS(MXGetLastError(), "the image with id 7 has 3 labels, label_width is 1");
    CHECK_INT(next(iterator), 1);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* ---- compressed MNIST ---- */

/* A file as gzip writes what it cannot make smaller. */
static void write_stored(const char *name, const char *bytes, uint16_t size)
{
    static const char head[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01";
    uint16_t inverted = (uint16_t)~size;
    uint32_t tail[] = {mxl_crc32(0, (const uint8_t *)bytes, size), size};
    FILE *file = fopen(name, "wb");

    REQUIRE(file != NULL);
    fwrite(head, 1, sizeof(head) - 1, file);
    fwrite(&size, 2, 1, file);
    fwrite(&inverted, 2, 1, file);
    fwrite(bytes, 1, size, file);
    fwrite(tail, 4, 2, file);
    CHECK_INT(fclose(file), 0);
}

TEST(compressed_mnist)
{
    static const char images[] = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x40";
    static const char digits[] = "\0\0\x08\x01\0\0\0\x02\x04\x09";
    DataIterHandle iterator = NULL;
    float data[4], label[2];

    make_folder();
    (void)snprintf(records, sizeof(records), "%s/images", folder);
    (void)snprintf(list, sizeof(list), "%s/digits", folder);
    write_stored(records, images, sizeof(images) - 1);
    write_stored(list, digits, sizeof(digits) - 1);
    iterator = created("MNISTIter",
                       PAIRS("image", records, "label", list, "batch_size", "2", "shuffle", "0"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetData, iterator, data, 4);
    read_array(MXDataIterGetLabel, iterator, label, 2);
    CHECK(data[0] == 1 / 256.0F && data[3] == 0.25F && label[0] == 4 && label[1] == 9);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(truncate(records, 30), 0);
    CHECK_INT(create("MNISTIter", PAIRS("image", records, "label", list), &iterator), -1);
    CHECK_HAS(MXGetLastError(), "images: the compressed data are damaged");
    CHECK_INT(remove_folder(), 2);
}

HARNESS_MAIN(ENTRY(epochs), ENTRY(parts), ENTRY(labels), ENTRY(values), ENTRY(changes),
             ENTRY(bad_parameters), ENTRY(damaged_records), ENTRY(compressed_mnist))
