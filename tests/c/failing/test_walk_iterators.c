/* The allocation walk over data iterators, and over the decoding of images. */
#include "walk_kit.h"

#include <stdio.h>

#include "images_kit.h"

#define CSV_FILE    "build/test_walk_iterators.csv"
#define IMAGE_FILE  "build/test_walk_iterators.images"
#define DIGITS_FILE "build/test_walk_iterators.digits"

#define RECORD_FILE "build/test_walk_iterators.rec"
#define LIST_FILE   "build/test_walk_iterators.lst"
#define MEAN_FILE   "build/test_walk_iterators.mean"

static const char *image_keys[] = {"path_imgrec",  "data_shape", "batch_size",
                                   "path_imglist", "resize",     "pad"};
static const char *image_values[] = {RECORD_FILE, "(3,4,5)", "1", LIST_FILE, "7", "1"};
static void *decode_op;
static const char *csv_keys[] = {"data_csv", "data_shape", "label_csv", "batch_size"};
static const char *csv_values[] = {CSV_FILE, "(2,)", CSV_FILE, "2"};
static const char *svm_keys[] = {"data_libsvm",  "data_shape",  "batch_size",
                                 "label_libsvm", "label_shape", "num_parts"};
static const char *svm_values[] = {CSV_FILE, "(3,)", "1", CSV_FILE, "(3,)", "2"};
static const char *mnist_keys[] = {"image", "label", "batch_size"};
static const char *mnist_values[] = {IMAGE_FILE, DIGITS_FILE, "1"};

static void put_file(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");

    REQUIRE(file != NULL);
    CHECK_INT(fwrite(bytes, 1, size, file), size);
    CHECK_INT(fclose(file), 0);
}

static int take_batch(DataIterHandle iterator)
{
    H data = NULL, label = NULL;
    int any = 0;
    bool ok = failing(MXDataIterNext(iterator, &any) == 0) &&
              failing(MXDataIterGetData(iterator, &data) == 0) &&
              failing(MXDataIterGetLabel(iterator, &label) == 0);

    let_go(data);
    let_go(label);
    return ok;
}

/* Makes an iterator and takes a batch. */
static bool run(int which, uint32_t count, const char **keys, const char **values)
{
    DataIterCreator *makers;
    DataIterHandle iterator = NULL;
    uint32_t kinds;
    bool ok = failing(MXListDataIters(&kinds, &makers) == 0) &&
              failing(MXDataIterCreateIter(makers[which], count, keys, values, &iterator) == 0) &&
              take_batch(iterator);

    CHECK_INT(MXDataIterFree(iterator), 0);
    return ok;
}

static bool csv(stage *s)
{
    (void)s;
    return run(0, 4, csv_keys, csv_values);
}

static bool libsvm(stage *s)
{
    (void)s;
    return run(7, 6, svm_keys, svm_values);
}

static bool mnist(stage *s)
{
    (void)s;
    return run(8, 3, mnist_keys, mnist_values);
}

static bool images(stage *s)
{
    (void)s;
    return run(4, 6, image_keys, image_values);
}

static const char *changed_keys[] = {
    "path_imgrec",   "data_shape", "batch_size",   "mean_img",      "max_rotate_angle",
    "max_crop_size", "pad",        "inter_method", "min_crop_size", "shuffle"};
static const char *changed_values[] = {RECORD_FILE, "(3,4,5)", "1", MEAN_FILE, "30",
                                       "8",         "1",       "2", "8",       "1"};

static const char *box_keys[] = {
    "path_imgrec", "data_shape",     "batch_size",    "path_imglist",     "rand_pad_prob",
    "mean_img",    "rand_crop_prob", "max_pad_scale", "num_crop_sampler", "resize"};
static const char *box_values[] = {RECORD_FILE, "(3,4,5)", "1", LIST_FILE, "1",
                                   MEAN_FILE,   "1",       "2", "2",       "9"};

static bool boxes(stage *s)
{
    (void)s;
    (void)remove(MEAN_FILE);
    return run(1, 10, box_keys, box_values);
}

/* The mean is computed and written each time, and read by a second iterator. */
static bool changed_images(stage *s)
{
    bool ok;

    (void)s;
    (void)remove(MEAN_FILE);
    ok = run(4, 10, changed_keys, changed_values);
    return ok && run(4, 10, changed_keys, changed_values);
}

static H image_bytes;

static bool decodes(stage *s)
{
    H out = NULL, *outs = NULL;
    const int *stypes;
    int count = 0;
    bool ok;

    (void)s;
    ok = failing(MXImperativeInvokeEx(decode_op, 1, &image_bytes, &count, &outs, 0, NULL, NULL,
                                      &stypes) == 0);
    if (ok)
        out = outs[0];
    let_go(out);
    return ok;
}

/* The same by the function of MXListFunctions, into an image of a batch. */
static bool legacy(stage *s)
{
    static const kit_image *const k = &kit_images[6];
    char key[] = "str_img", *keys[] = {key}, *values[] = {(char *)(size_t)k->bytes};
    float scalars[] = {1, 1, 2, 4, 5, 3, (float)k->size};
    FunctionHandle function = NULL;
    H mean = NULL, out = NULL;
    uint32_t shape[] = {2, 3, 3, 3};
    bool ok;

    (void)s;
    ok = failing(MXGetFunction("_imdecode", &function) == 0) &&
         failing(MXNDArrayCreateNone(&mean) == 0) &&
         failing(MXNDArrayCreateEx(shape, 4, 1, 0, 0, 0, &out) == 0) &&
         failing(MXFuncInvokeEx(function, &mean, scalars, &out, 1, keys, values) == 0);
    let_go(mean);
    let_go(out);
    return ok;
}

static bool describes(stage *s)
{
    const char *name, *doc, **a, **b, **c;
    DataIterCreator *makers;
    uint32_t kinds, count;

    (void)s;
    return failing(MXListDataIters(&kinds, &makers) == 0) &&
           failing(MXDataIterGetIterInfo(makers[0], &name, &doc, &count, &a, &b, &c) == 0);
}

/* A batch that found no memory is the next one. */
TEST(no_batch_is_lost)
{
    DataIterCreator *makers;
    DataIterHandle iterator = NULL;
    float values[4];
    uint32_t kinds;
    int any = 99;
    H data;

    put_file(CSV_FILE, "1,2\n3,4\n5,6\n7,8\n", 16);
    csv_values[2] = "NULL";
    CHECK_INT(MXListDataIters(&kinds, &makers), 0);
    CHECK_INT(MXDataIterCreateIter(makers[0], 4, csv_keys, csv_values, &iterator), 0);
    CHECK_INT(MXDataIterNext(iterator, &any), 0);
    for (int k = 0; k < 2; k++) {
        until_failure = k;
        CHECK_INT(MXDataIterNext(iterator, &any), -1);
        until_failure = -1;
    }
    CHECK_INT(MXDataIterNext(iterator, &any), 0);
    CHECK_INT(MXDataIterGetData(iterator, &data), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(data, values, 4), 0);
    CHECK_NEAR(values[0], 5, 0);
    drop(data);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove(CSV_FILE), 0);
}

TEST(csv_files)
{
    csv_values[1] = "(1,)";
    csv_values[2] = CSV_FILE;
    put_file(CSV_FILE, "1\n2\n3\n", 6);
    walk(csv, true, true);
    CHECK_INT(remove(CSV_FILE), 0);
    csv_values[1] = "(2,)";
}

TEST(libsvm_files)
{
    put_file(CSV_FILE, "1 0:1 2:3\n2 1:4\n3\n", 18);
    walk(libsvm, true, true);
    CHECK_INT(remove(CSV_FILE), 0);
}

TEST(mnist_files)
{
    static const char images[] = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01"
                                 "ab";
    static const char digits[] = "\0\0\x08\x01\0\0\0\x02\x01\x02";

    put_file(IMAGE_FILE, images, sizeof(images) - 1);
    put_file(DIGITS_FILE, digits, sizeof(digits) - 1);
    walk(mnist, true, true);
    CHECK_INT(remove(IMAGE_FILE), 0);
    CHECK_INT(remove(DIGITS_FILE), 0);
}

TEST(image_files)
{
    static const int kinds[] = {0, 2, 3, 6, 7};
    char record[2048] = {0};
    RecordIOHandle writer = NULL;

    put_file(LIST_FILE, "0\t3\tname\n", 9);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const kit_image *k = &kit_images[kinds[i]];

        memcpy(record + 24, k->bytes, k->size);
        CHECK_INT(MXRecordIOWriterCreate(RECORD_FILE, &writer), 0);
        CHECK_INT(MXRecordIOWriterWriteRecord(writer, record, 24 + k->size), 0);
        CHECK_INT(MXRecordIOWriterFree(writer), 0);
        walk(images, true, true);
    }
    walk(changed_images, true, true);
    put_file(LIST_FILE, "0\t2\t5\t1\t.1\t.2\t.6\t.7\tname\n", 25);
    walk(boxes, true, true);
    CHECK_INT(remove(MEAN_FILE), 0);
    CHECK_INT(remove(RECORD_FILE), 0);
    CHECK_INT(remove(LIST_FILE), 0);
}

TEST(decoding)
{
    static const int kinds[] = {0, 2, 4, 5, 6, 7};

    CHECK_INT(NNGetOpHandle("_cvimdecode", &decode_op), 0);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const kit_image *k = &kit_images[kinds[i]];
        int64_t size = (int64_t)k->size;

        image_bytes = make(3, 1, &size);
        CHECK_INT(MXNDArraySyncCopyFromCPU(image_bytes, k->bytes, k->size), 0);
        walk(decodes, true, true);
        drop(image_bytes);
    }
}

WALK(describing, describes, true)
WALK(decoding_by_function, legacy, true)

WALK_MAIN(ENTRY(csv_files), ENTRY(libsvm_files), ENTRY(image_files), ENTRY(decoding),
          ENTRY(mnist_files), NOT_WASM(describing), ENTRY(decoding_by_function),
          ENTRY(no_batch_is_lost))
