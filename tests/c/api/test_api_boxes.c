/* ImageDetRecordIter: labels and boxes of changed images, parameters, labels that are none.
 * (Pixels and labels beside 1.9.1: gluon_cases/pictures/box_records.py.) */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "records_kit.h"

#include <math.h>

enum { IMAGES = 2, LABEL = 16 };

static const float boxes[2][12] = {{2, 5, 0, 0.125F, 0.25F, 0.5F, 0.5F},
                                   {2, 5, 1, 0.25F, 0.25F, 0.75F, 0.75F, 2, 0.5F, 0, 1, 0.5F}};

static void write_boxes(void)
{
    static const uint32_t counts[] = {7, 12};
    RecordIOHandle writer = NULL;

    name_records();
    CHECK_INT(MXRecordIOWriterCreate(records, &writer), 0);
    for (int i = 0; i < IMAGES; i++)
        (void)put_labels(writer, 100 + (uint64_t)i, 0, counts[i], boxes[i], &kit_images[i]);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
}

#define BASIC "path_imgrec", records, "data_shape", "(3,6,7)", "batch_size", "1"

static void expect_label(DataIterHandle iterator, const float *values, int count)
{
    float got[LABEL];

    CHECK_INT(next(iterator), 1);
    read_array(MXDataIterGetLabel, iterator, got, LABEL);
    for (int i = 0; i < LABEL; i++)
        CHECK_NEAR(got[i], i < count ? values[i] : -1, 1e-6);
}

TEST(labels)
{
    static const float first[] = {3, 6, 7, 7, 2, 5, 0, 0.125F, 0.25F, 0.5F, 0.5F},
                       second[] = {3,     6,     7,     12, 2,    5, 1, 0.25F,
                                   0.25F, 0.75F, 0.75F, 2,  0.5F, 0, 1, 0.5F},
                       mirrored[] = {3, 6, 7, 7, 2, 5, 0, 0.5F, 0.25F, 0.875F, 0.5F};
    DataIterHandle iterator;

    write_boxes();
    iterator = created("ImageDetRecordIter", PAIRS(BASIC));
    for (int epoch = 0; epoch < 2; epoch++) {
        expect_label(iterator, first, 11);
        expect_label(iterator, second, 16);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    }
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("ImageDetRecordIter", PAIRS(BASIC, "rand_mirror_prob", "1"));
    expect_label(iterator, mirrored, 11);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 1);
}

/* Boxes stay boxes within the image, whatever is done; each seed does the same again. */
TEST(changes)
{
    static const char *const given[][6] = {
        {"rand_crop_prob", "1", "min_crop_scales", "(0.1,0.5)", "num_crop_sampler", "2"},
        {"rand_crop_prob", "1", "crop_emit_mode", "overlap", "min_crop_object_coverages", "0.5"},
        {"rand_crop_prob", "1", "min_crop_aspect_ratios", "0.5", "max_crop_aspect_ratios", "3"},
        {"rand_crop_prob", "1", "max_crop_overlaps", "0.5", "min_crop_sample_coverages", "0.1"},
        {"rand_pad_prob", "1", "max_pad_scale", "3", "fill_value", "300"},
        {"rand_pad_prob", "1", "max_pad_scale", "4", "rand_crop_prob", "1"},
        {"random_hue_prob", "1", "max_random_hue", "50", "resize_mode", "fit"},
        {"random_saturation_prob", "0.5", "max_random_saturation", "90", "resize_mode", "shrink"},
        {"random_illumination_prob", "1", "max_random_illumination", "90", "inter_method", "10"},
        {"random_contrast_prob", "1", "max_random_contrast", "2", "fill_value", "-3"},
    };
    float data[2][3 * 6 * 7], label[2][LABEL];

    write_boxes();
    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        const char *const *g = given[i];

        for (int again = 0; again < 2; again++) {
            DataIterHandle iterator =
                created("ImageDetRecordIter",
                        PAIRS(BASIC, g[0], g[1], g[2], g[3], g[4], g[5], "seed", "7"));

            for (int k = 0; k < 9; k++) {
                if (k % 2 == 0 && k > 0)
                    CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
                CHECK_INT(next(iterator), 1);
                read_array(MXDataIterGetData, iterator, data[again], 3 * 6 * 7);
                read_array(MXDataIterGetLabel, iterator, label[again], LABEL);
                CHECK(label[again][3] == 7 || label[again][3] == 12);
                for (int at = 7; at < 4 + (int)label[again][3]; at += 5)
                    CHECK(label[again][at] >= 0 && label[again][at] < label[again][at + 2] &&
                          label[again][at + 2] <= 1 && label[again][at + 1] >= 0 &&
                          label[again][at + 1] < label[again][at + 3] && label[again][at + 3] <= 1);
            }
            CHECK_INT(MXDataIterFree(iterator), 0);
        }
        CHECK(memcmp(data[0], data[1], sizeof(data[0])) == 0);
        CHECK(memcmp(label[0], label[1], sizeof(label[0])) == 0);
    }
    CHECK_INT(remove_folder(), 1);
}

/* ---- errors ---- */

static const struct {
    const char *key, *value, *says;
} bad[] = {
    {"aug_seq", "aug_default", "aug_seq must be det_aug_default, got \"aug_default\""},
    {"dtype", "int8", "dtype must be float32, got int8"},
    {"inter_method", "6", "inter_method must be 0 to 5, 9 or 10, got 6"},
    {"resize", "0", "resize must be 1 to 2^20 or -1, got 0"},
    {"max_pad_scale", "1e9", "max_pad_scale must be at most 2^20, got 1e+09"},
    {"max_pad_scale", "nan", "max_pad_scale must be at most 2^20, got nan"},
    {"max_random_hue", "1048577", "max_random_illumination must be at most 2^20"},
    {"max_random_saturation", "-1048577", "max_random_illumination must be at most 2^20"},
    {"num_crop_sampler", "-1", "num_crop_sampler must be 0 to 1024, got -1"},
    {"min_crop_scales", "[]", "min_crop_scales and max_crop_scales must have 1 or num_crop"},
    {"max_crop_trials", "(1,2)", "max_crop_trials must have 1 or num_crop_sampler numbers"},
    {"min_crop_scales", "1", "must be 0 to 1, the second above the first, got 1 and 1"},
    {"max_crop_overlaps", "1.5", "max_crop_overlaps must be 0 to 1, the second not below"},
    {"min_crop_aspect_ratios", "2", "must be 0 to any number, the second not below the first"},
    {"min_crop_sample_coverages", "nan", "max_crop_sample_coverages must be 0 to 1"},
    {"label_pad_width", "11", "label_pad_width must be 12 to 1048576, got 11"},
    {"label_width", "7", "the image with id 101 has 12 labels, label_width is 7"},
    {"num_parts", "0", "part_index 0 of num_parts 0"},
    {"mean_img", "/no/such/folder/mean", "/no/such/folder/mean"},
    {"path_imglist", "/no/such/list", "cannot open \"/no/such/list\""},
};

static void refuses_boxes(const char *const *pairs, const char *text)
{
    refuses("ImageDetRecordIter", pairs, text);
    CHECK_HAS(MXGetLastError(), "MXDataIterCreateIter: ImageDetRecordIter: ");
}

TEST(bad_parameters)
{
    write_boxes();
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        refuses_boxes(PAIRS(BASIC, bad[i].key, bad[i].value), bad[i].says);
    refuses_boxes(PAIRS("data_shape", "(3,6,7)", "batch_size", "1"),
                  "cannot open \"./data/imgrec.rec\"");
    refuses_boxes(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(2,6,7)"),
                  "data_shape must have 1 or 3 channels, 1 to 2^20 rows");
    refuses_boxes(PAIRS("path_imgrec", records, "batch_size", "1", "data_shape", "(1,6,7)",
                        "random_hue_prob", "1"),
                  "random_illumination_prob need samples of 3 channels");
    fill_text(list, "100\t2\t5\tx\t1\tname\n");
    refuses_boxes(PAIRS(BASIC, "path_imglist", list), "line 1: \"x\" is no label");
    fill_text(list, "100\t2\t5\t0\t.1\t.1\t.2\t.2\tname\n");
    refuses_boxes(PAIRS(BASIC, "path_imglist", list), "the list has no image with id 101");
    CHECK_INT(remove_folder(), 2);
}

static const float no_labels[][9] = {
    {1, 5, 0, 0.1F, 0.1F, 0.2F, 0.2F},        {2, 4, 0, 0.1F, 0.1F, 0.2F, 0.2F, 1},
    {2, 5, 0, 0.1F, 0.1F, 0.2F, 0.2F, 3},     {2.5F, 5, 0, 0.1F, 0.1F, 0.2F, 0.2F},
    {NAN, 5, 0, 0.1F, 0.1F, 0.2F, 0.2F},      {1e30F, 5, 0, 0.1F, 0.1F, 0.2F, 0.2F},
    {2, INFINITY, 0, 0.1F, 0.1F, 0.2F, 0.2F}, {-2, -5, 0, 0.1F, 0.1F, 0.2F, 0.2F},
};

/* A label that is none is an error of its batch, and the next one comes after it. */
TEST(labels_that_are_none)
{
    RecordIOHandle writer = NULL;
    DataIterHandle iterator;
    int any = 99, count = (int)(sizeof(no_labels) / sizeof(*no_labels));

    name_records();
    CHECK_INT(MXRecordIOWriterCreate(records, &writer), 0);
    for (int i = 0; i < count; i++)
        (void)put_labels(writer, (uint64_t)i, 0, i == 1 || i == 2 ? 8 : 7, no_labels[i],
                         &kit_images[0]);
    (void)put_labels(writer, 50, 0, 0, NULL, &kit_images[0]);
    (void)put_labels(writer, 51, 0, 7, boxes[0], &kit_images[0]);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    iterator = created("ImageDetRecordIter", PAIRS(BASIC));
    for (int i = 0; i < count; i++) {
        CHECK_INT(MXDataIterNext(iterator, &any), -1);
        CHECK_HAS(MXGetLastError(), "numbers has no head of ");
    }
    CHECK_INT(MXDataIterNext(iterator, &any), -1);
    CHECK_HAS(MXGetLastError(), "id 50: a label with boxes has 7 numbers at least, got 1");
    CHECK_INT(next(iterator), 1);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(MXRecordIOWriterCreate(records, &writer), 0);
    (void)put_labels(writer, 50, 0, 0, NULL, &kit_images[0]);
    CHECK_INT(MXRecordIOWriterFree(writer), 0);
    refuses_boxes(PAIRS(BASIC), "a.rec: a label with boxes has 7 numbers at least, the longest");
    CHECK_INT(remove_folder(), 1);
}

HARNESS_MAIN(ENTRY(labels), ENTRY(changes), ENTRY(bad_parameters), ENTRY(labels_that_are_none))
