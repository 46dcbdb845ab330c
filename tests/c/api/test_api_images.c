/* Data iterators over images of a file of records: samples, labels, parts, random changes, damage.
 * (Pixels themselves: test_kernel_codec.c.) */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "records_kit.h"

#include "base/memory/mem.h"
#include "kernel/codec/codec.h"
#include "kernel/codec/inflate.h"

enum { COUNT = 5, ROWS = 6, COLUMNS = 7, PIXELS = ROWS * COLUMNS };

/* A record with the labels `label`, `label` + 1, ... */
static size_t put_image(RecordIOHandle writer, uint64_t id, float label, uint32_t labels,
                        const kit_image *image)
{
    float values[8];

    for (uint32_t i = 0; i < labels; i++)
        values[i] = label + (float)i;
    return put_labels(writer, id, label, labels, values, image);
}

/* Five records of the first images, of ids 100 to 104 and labels 0 to 4, with an index. */
static void write_records(uint32_t labels)
{
    RecordIOHandle writer = NULL;
    FILE *file;

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

    name_records();
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

    name_records();
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

    name_records();
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
        CHECK_HAS(MXGetLastError(), "a.rec: the list has no image with id 10");
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

    name_records();
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
    iterator = created("ImageRecordUInt8Iter_v1",
                       PAIRS("path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1"));
    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetData, iterator, signed_bytes, 3 * PIXELS);
    CHECK(memcmp(bytes, signed_bytes, sizeof(bytes)) == 0);
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
        {"resize", "9", "inter_method", "9"},
        {"pad", "4", "fill_value", "1"},
        {"rand_crop", "1", "seed_aug", "3"},
        {"rand_mirror", "1", "inter_method", "10"},
        {"shuffle", "1", "seed", "12"},
        {"resize", "5", "inter_method", "3"},
        {"max_rotate_angle", "20", "max_shear_ratio", "0.3"},
        {"min_random_scale", "0.5", "inter_method", "10"},
        {"max_aspect_ratio", "0.4", "min_img_size", "20"},
        {"min_crop_size", "3", "max_crop_size", "9"},
        {"random_resized_crop", "1", "min_random_area", "0.1"},
        {"brightness", "0.5", "contrast", "0.4"},
        {"saturation", "0.5", "pca_noise", "0.4"},
        {"random_h", "100", "random_s", "90"},
        {"random_l", "80", "mean_r", "3"},
        {"max_random_contrast", "0.5", "max_random_illumination", "30"},
    };
    float data[2][3 * 30 * 8], label;

    name_records();
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

static void refuses_images(const char *const *pairs, const char *text)
{
    refuses("ImageRecordIter", pairs, text);
    CHECK_HAS(MXGetLastError(), "MXDataIterCreateIter: ImageRecordIter: ");
}

TEST(bad_parameters)
{
    FILE *file;

    name_records();
    write_records(0);
    refuses_images(PAIRS("data_shape", "(3,6,7)", "batch_size", "2"), "path_imgrec is missing");
    refuses_images(PAIRS(BASIC, "dtype", "float64"),
                   "dtype must be float32, uint8 or int8, got float64");
    refuses_images(PAIRS(BASIC, "inter_method", "6"),
                   "inter_method must be 0 to 5, 9 or 10, got 6");
    refuses_images(PAIRS(BASIC, "pad", "1048577"), "pad must be at most 2^20, got 1048577");
    refuses_images(PAIRS(BASIC, "resize", "0"), "resize must be 1 to 2^20 or -1, got 0");
    refuses_images(PAIRS(BASIC, "aug_seq", ""), "aug_seq must be aug_default, got \"\"");
    refuses_images(PAIRS(BASIC, "rotate", "1048577"),
                   "rotate, random_h, random_s and random_l must");
    refuses_images(PAIRS(BASIC, "max_crop_size", "5"),
                   "min_crop_size and max_crop_size must be 1 or");
    refuses_images(PAIRS(BASIC, "min_crop_size", "5", "max_crop_size", "4"), "got 5 and 4");
    refuses_images(PAIRS(BASIC, "random_resized_crop", "1", "rand_crop", "1"),
                   "random_resized_crop must be false with rand_crop");
    refuses_images(PAIRS(BASIC, "random_resized_crop", "1", "min_random_area", "0"),
                   "min_random_area must be above 0 and at most max_random_area, got 0 and 1");
    refuses_images(
        PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(1,6,7)", "random_s", "3"),
        "random_l need samples of 3 channels");
    refuses_images(PAIRS(BASIC, "mean_img", record_index), "a.idx");
    refuses_images(PAIRS(BASIC, "mean_img", "s3://a"), "only local files");
    refuses_images(PAIRS(BASIC, "mean_img", "/no/such/folder/mean"), "/no/such/folder/mean");
    refuses_images(PAIRS(BASIC, "label_width", "0"), "label_width must be 1 to");
    refuses_images(PAIRS(BASIC, "num_parts", "0"), "part_index 0 of num_parts 0");
    refuses_images(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(4,6,7)"),
                   "data_shape must have 1 or 3 channels");
    refuses_images(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(6,7)"),
                   "data_shape must have 3 numbers (channels, rows, columns), got 2");
    refuses_images(PAIRS(BASIC, "path_imgidx", "no such file"), "cannot open \"no such file\"");
    refuses_images(PAIRS(BASIC, "path_imgidx", records), "is no key and position");
    refuses_images(PAIRS(BASIC, "path_imglist", record_index, "label_width", "2"),
                   "line 1 has no 2 labels");
    file = fopen(list, "w");
    REQUIRE(file != NULL);
    fputs("a\t1\tname\n", file);
    CHECK_INT(fclose(file), 0);
    refuses_images(PAIRS(BASIC, "path_imglist", list), "line 1: \"a\" is no id");
    CHECK_INT(remove_folder(), 3);
}

/* A batch with a damaged record or image is an error, and the next batch comes after it. */
TEST(damaged_records)
{
    static const kit_image none = {"none", "no image", 8, 0, 0, 0, 0};
    RecordIOHandle writer = NULL;
    DataIterHandle iterator;
    int any = 99;

    name_records();
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
    CHECK_HAS(MXGetLastError(), "MXDataIterNext: ImageRecordIter: /tmp/");
    CHECK_HAS(MXGetLastError(), "a.rec: the image with id 5: 8 bytes that are no PNG and no JPEG");
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_HAS(MXGetLastError(), "the record at byte 40 has 5 bytes, its head has 24");
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_HAS(MXGetLastError(), "the image with id 7: it has 3 labels, label_width is 1");
    CHECK_INT(next(iterator), 1);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* What cannot be done to one of the images is an error of its batch. */
TEST(images_that_do_not_fit)
{
    static const char *const given[][5] = {
        {"max_crop_size", "40", "min_crop_size", "19", "is smaller than max_crop_size 40"},
        {"min_random_scale", "0.001", "max_random_scale", "0.001", "cannot be scaled by 0.001"},
        {"min_img_size", "1e9", "max_img_size", "2e9", "cannot become one of 1000000000 x"},
        {"min_random_scale", "nan", "seed", "1", "cannot be scaled by nan"},
    };

    name_records();
    write_records(0);
    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        const char *const *g = given[i];
        DataIterHandle iterator = created("ImageRecordIter", PAIRS(BASIC, g[0], g[1], g[2], g[3]));
        int any = 99;

        CHECK_INT(MXDataIterNext(iterator, &any), -1);
        CHECK_HAS(MXGetLastError(), g[4]);
        CHECK_INT(MXDataIterFree(iterator), 0);
    }
    CHECK_INT(remove_folder(), 2);
}

/* A mean that is not there is computed and written; one of another shape is refused. */
TEST(means)
{
    float data[2 * 3 * PIXELS], again[2 * 3 * PIXELS], sum = 0;
    DataIterHandle iterator;

    name_records();
    write_records(0);
    for (int i = 0; i < 2; i++) {
        iterator = created("ImageRecordIter", PAIRS(BASIC, "mean_img", list));
        CHECK_INT(next(iterator), 1);
        read_array(MXDataIterGetData, iterator, i == 0 ? data : again, 2 * 3 * PIXELS);
        CHECK_INT(MXDataIterFree(iterator), 0);
    }
    CHECK(memcmp(data, again, sizeof(data)) == 0);
    iterator = created("ImageRecordIter", PAIRS("path_imgrec", records, "data_shape", "(3,6,7)",
                                                "batch_size", "1", "mean_img", list));
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(next(iterator), 1);
        read_array(MXDataIterGetData, iterator, data, 3 * PIXELS);
        sum += data[PIXELS];
    }
    CHECK_NEAR(sum, 0, 1e-3);
    CHECK_INT(MXDataIterFree(iterator), 0);
    refuses_images(
        PAIRS("path_imgrec", records, "data_shape", "(3,6,6)", "batch_size", "1", "mean_img", list),
        "has no float32 array of the shape (3,6,6)");
    CHECK_INT(unlink(list), 0);
    refuses_images(PAIRS(BASIC, "mean_img", list, "path_imgidx", "/dev/null"),
                   "there are no images to compute their mean of");
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
             ENTRY(bad_parameters), ENTRY(damaged_records), ENTRY(images_that_do_not_fit),
             NOT_WASM(means), ENTRY(compressed_mnist))
