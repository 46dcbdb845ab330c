/* Data iterators (MXDataIter*): the samples of batches over several epochs, parameters, damaged
 * files. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "iterator_kit.h"

#include <pthread.h>

/* The present batch of two samples (n, 10 n), labels n / 2, whose index is n. */
static void expect_pair(DataIterHandle iterator, int first, int second, int pad)
{
    const float data[] = {(float)first, (float)first * 10, (float)second, (float)second * 10};
    const float label[] = {(float)first / 2, (float)second / 2};
    uint64_t *index = NULL, count = 99;
    int found = 99;

    expect_array(data_of(iterator), "2,2", data, 4);
    expect_array(label_of(iterator), "2", label, 2);
    CHECK_INT(MXDataIterGetIndex(iterator, &index, &count), 0);
    CHECK_INT(count, 2);
    CHECK(index != NULL && index[0] == (uint64_t)first && index[1] == (uint64_t)second);
    CHECK_INT(MXDataIterGetPadNum(iterator, &found), 0);
    CHECK_INT(found, pad);
}

static void write_five(void)
{
    name_files();
    fill_text(data_path, "0,0\n1, 10\r\n\n2,20,\n 3 ,3e1\n4,+40.");
    fill_text(label_path, "0\n0.5\n1\n1.5\n2\n7\n");
}

static void expect_epoch(DataIterHandle iterator, int begin, int end)
{
    for (int i = begin; i + 1 < end; i += 2) {
        CHECK_INT(next(iterator), 1);
        expect_pair(iterator, i, i + 1, 0);
    }
}

/* The last batch takes the first sample of the next epoch, which begins behind it; every other
 * epoch is even. */
TEST(csv_round)
{
    DataIterHandle iterator;

    write_five();
    iterator = created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "(2,)", "label_csv",
                                        label_path, "batch_size", "2", "no_such", "1"));
    for (int epoch = 0; epoch < 2; epoch++) {
        expect_epoch(iterator, 0, 4);
        CHECK_INT(next(iterator), 1);
        expect_pair(iterator, 4, 0, 1);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
        expect_epoch(iterator, 1, 5);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    }
    CHECK_INT(next(iterator), 1);
    CHECK_INT(MXDataIterBeforeFirst(iterator), 0); /* in the middle: from the begin */
    expect_epoch(iterator, 0, 4);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* The rest of the last batch is what the batch before had there; of the first one, zeros. */
TEST(csv_not_round)
{
    static const float six[] = {0, 0, 1, 10, 2, 20, 3, 30, 4, 40, 0, 0};
    DataIterHandle iterator;

    write_five();
    iterator = created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "[2]", "label_csv",
                                        label_path, "batch_size", "2", "round_batch", "False"));
    for (int epoch = 0; epoch < 2; epoch++) {
        expect_epoch(iterator, 0, 4);
        CHECK_INT(next(iterator), 1);
        expect_pair(iterator, 4, 3, 1);
        CHECK_INT(next(iterator), 0);
        CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    }
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "(1,2)", "label_shape",
                                        "(3,)", "batch_size", "6", "round_batch", "0"));
    CHECK_INT(next(iterator), 1);
    expect_array(data_of(iterator), "6,1,2", six, 12);
    expect_array(label_of(iterator), "6", (const float[6]){0}, 6); /* as in 1.9.1 */
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* What a batch gave stays when the iterator goes on or is freed. */
TEST(batches_stay)
{
    static const float first[] = {0, 0, 1, 10};
    NDArrayHandle data, label;
    DataIterHandle iterator;

    write_five();
    iterator =
        created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "2", "batch_size", "2"));
    CHECK_INT(next(iterator), 1);
    data = data_of(iterator);
    label = label_of(iterator);
    CHECK_INT(next(iterator), 1);
    CHECK_INT(MXDataIterFree(iterator), 0);
    expect_array(data, "2,2", first, 4);
    expect_array(label, "2", (const float[2]){0}, 2);
    CHECK_INT(remove_folder(), 2);
}

TEST(csv_integers)
{
    static const char *const dtypes[] = {"int32", "int64"};
    static const int flags[] = {4, 6};

    name_files();
    fill_text(data_path, "1,-2147483648\n3,2147483647\n");
    for (int i = 0; i < 2; i++) {
        DataIterHandle iterator =
            created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "(2,)", "batch_size", "2",
                                     "dtype", dtypes[i]));
        int64_t wide[4] = {0};
        int32_t narrow[4];
        NDArrayHandle data;
        int dtype;

        CHECK_INT(next(iterator), 1);
        data = data_of(iterator);
        CHECK_INT(MXNDArrayGetDType(data, &dtype), 0);
        CHECK_INT(dtype, flags[i]);
        CHECK_INT(MXNDArraySyncCopyToCPU(data, i == 0 ? (void *)narrow : (void *)wide, 4), 0);
        CHECK_INT(i == 0 ? narrow[1] : wide[1], INT32_MIN);
        CHECK_INT(MXNDArrayFree(data), 0);
        CHECK_INT(MXDataIterFree(iterator), 0);
    }
    CHECK_INT(remove_folder(), 1);
}

typedef struct bad_csv {
    const char *data, *label, *key, *value, *says;
} bad_csv;

static const bad_csv bad_csvs[] = {
    {"1,2\n3\n", NULL, NULL, NULL, "data: line 2 has 1 numbers; a sample has 2"},
    {"1,2,3\n", NULL, NULL, NULL, "data: line 1 has 3 numbers; a sample has 2"},
    {"1,2\n\n3,x\n", NULL, NULL, NULL, "data: line 3: \"x\" is no number"},
    {"1,,2\n", NULL, NULL, NULL, "data: line 1: \"\" is no number"},
    {"1,2\n", "", NULL, NULL, "CSVIter: 1 lines of data, but 0 of labels"},
    {"1,2\n", "0.5", "dtype", "int64", "label: line 1: \"0.5\" is no int64"},
    {"1,2147483648\n", NULL, "dtype", "int32", "\"2147483648\" is no int32"},
    {"1,2\n", NULL, "dtype", "float16", "dtype must be float32, int32 or int64, got float16"},
    {"1,2\n", NULL, "data_shape", "(1000000000,)", "the file has 4 bytes"},
    {"1,2\n", NULL, "data_shape", "(-1,)", "data_shape: "},
    {"1,2\n", NULL, "data_shape", "x", "CSVIter: parameter data_shape: \"x\" is not a tuple"},
    {"1,2\n", NULL, "batch_size", "0", "CSVIter: parameter batch_size must be at least 1, got 0"},
    {"1,2\n", NULL, "batch_size", "4611686018427387904", "CSVIter: "},
    {"1,2\n", NULL, "ctx", "tpu", "CSVIter: parameter ctx: \"tpu\" is not one of cpu, gpu"},
    {"1,2\n", NULL, "data_csv", "no such file", "CSVIter: cannot open \"no such file\": No such"},
    {"1,2\n", NULL, "data_csv", "s3://a/b", "CSVIter: 's3://a/b': only local files"},
    {"1,2\n", NULL, "data_csv", "tests", "Is a dir"},
};

TEST(bad_csv_files)
{
    name_files();
    for (size_t i = 0; i < sizeof(bad_csvs) / sizeof(*bad_csvs); i++) {
        const bad_csv *c = &bad_csvs[i];
        const char *key = c->key != NULL ? c->key : "prefetch_buffer";
        const char *value = c->key != NULL ? c->value : "1";
        bool shape = strcmp(key, "data_shape") == 0, size = strcmp(key, "batch_size") == 0;
        bool path_given = strcmp(key, "data_csv") == 0;

        fill_text(data_path, c->data);
        if (c->label != NULL)
            fill_text(label_path, c->label);
        refuses("CSVIter",
                PAIRS("data_csv", path_given ? value : data_path, "data_shape",
                      shape ? value : "(2,)", "batch_size", size ? value : "2", "label_csv",
                      c->label != NULL ? label_path : "NULL",
                      shape || size || path_given ? "no_such" : key, value),
                c->says);
    }
    refuses("CSVIter", PAIRS("data_csv", data_path, "batch_size", "2"),
            "MXDataIterCreateIter: CSVIter: required parameter \"data_shape\" is missing");
    CHECK_INT(remove_folder(), 2);
}

/* A batch that needs more samples than there are is an error when it is made; the iterator goes on
 * after it as before. */
TEST(too_few_samples)
{
    DataIterHandle iterator;
    int any = 99;

    name_files();
    fill_text(data_path, "1,2\n");
    iterator =
        created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "(2,)", "batch_size", "3"));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(MXDataIterNext(iterator, &any), -1);
        CHECK_STR(MXGetLastError(), "MXDataIterNext: CSVIter: batches of 3 samples cannot be "
                                    "filled from 1 samples");
        CHECK_INT(any, 99);
    }
    CHECK_INT(MXDataIterFree(iterator), 0);
    fill_text(data_path, "\n");
    iterator =
        created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "(2,)", "batch_size", "3"));
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 1);
}

/* ---- MNIST ---- */

static void write_mnist(void)
{
    unsigned char images[16 + 5 * 2 * 3] = {0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 3};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 5, 6, 7, 8, 9};

    for (int i = 0; i < 30; i++)
        images[16 + i] = (unsigned char)(i * 8);
    name_files();
    fill(data_path, images, sizeof(images));
    fill(label_path, labels, sizeof(labels));
}

static void expect_images(DataIterHandle iterator, const char *shape, int first)
{
    float data[12], label[] = {(float)(5 + first), (float)(6 + first)};
    uint64_t *index, count;

    for (int i = 0; i < 12; i++)
        data[i] = (float)(first * 6 + i) / 32;
    CHECK_INT(next(iterator), 1);
    expect_array(data_of(iterator), shape, data, 12);
    expect_array(label_of(iterator), "2", label, 2);
    CHECK_INT(MXDataIterGetIndex(iterator, &index, &count), 0);
    CHECK(count == 2 && index[0] == 0 && index[1] == 0); /* as in 1.9.1 */
}

TEST(mnist)
{
    DataIterHandle iterator;

    write_mnist();
    for (int flat = 0; flat < 2; flat++) {
        iterator = created("MNISTIter",
                           PAIRS("image", data_path, "label", label_path, "batch_size", "2",
                                 "shuffle", "0", "flat", flat == 1 ? "1" : "0", "silent", "1"));
        for (int epoch = 0; epoch < 2; epoch++) {
            expect_images(iterator, flat == 1 ? "2,6" : "2,1,2,3", 0);
            expect_images(iterator, flat == 1 ? "2,6" : "2,1,2,3", 2);
            CHECK_INT(next(iterator), 0); /* one image is left out */
            CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
        }
        CHECK_INT(MXDataIterFree(iterator), 0);
    }
    iterator =
        created("MNISTIter", PAIRS("image", data_path, "label", label_path, "batch_size", "2",
                                   "shuffle", "0", "num_parts", "2", "part_index", "1"));
    expect_images(iterator, "2,1,2,3", 2);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* The digits of the present batch. */
static void digits_of(DataIterHandle iterator, float *values)
{
    NDArrayHandle label;

    CHECK_INT(next(iterator), 1);
    label = label_of(iterator);
    CHECK_INT(MXNDArraySyncCopyToCPU(label, values, 5), 0);
    CHECK_INT(MXNDArrayFree(label), 0);
}

/* The digits of an epoch; the next has the same order. */
static void digits(const char *seed, float *values)
{
    DataIterHandle iterator = created("MNISTIter", PAIRS("image", data_path, "label", label_path,
                                                         "batch_size", "5", "seed", seed));
    float again[5];

    digits_of(iterator, values);
    CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    digits_of(iterator, again);
    CHECK(memcmp(values, again, sizeof(again)) == 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
}

TEST(mnist_shuffled)
{
    static const char *const seeds[] = {"0", "1", "2", "3", "4", "5"};
    bool differs = false;
    float first[5];

    write_mnist();
    digits("0", first);
    for (int i = 0; i < 6; i++) {
        float values[5], sum = 0;

        digits(seeds[i], values);
        for (int k = 0; k < 5; k++)
            sum += values[k] * values[k];
        CHECK_NEAR(sum, 25 + 36 + 49 + 64 + 81, 0);
        differs = differs || memcmp(values, first, sizeof(values)) != 0;
        if (i == 0)
            CHECK(!differs);
    }
    CHECK(differs);
    CHECK_INT(remove_folder(), 2);
}

TEST(damaged_mnist)
{
    static const unsigned char huge[] = {0,   0,   8,   3, 255, 255, 255, 255, 255,
                                         255, 255, 255, 0, 0,   0,   3,   1};

    write_mnist();
    refuses("MNISTIter", PAIRS("image", label_path, "label", label_path),
            "MXDataIterCreateIter: MNISTIter: ");
    CHECK_HAS(MXGetLastError(), "is no idx file of uint8 with 3 axes");
    refuses("MNISTIter",
            PAIRS("image", data_path, "label", label_path, "num_parts", "2", "part_index", "2"),
            "part_index 2 of num_parts 2: 0 <= part_index < num_parts");
    refuses("MNISTIter", PAIRS("image", data_path, "label", label_path, "dtype", "uint8"),
            "dtype must be float32, got uint8");
    refuses("MNISTIter", PAIRS("label", label_path), "\"./train-images-idx3-ubyte\": No such");
    fill(data_path, huge, sizeof(huge));
    refuses("MNISTIter", PAIRS("image", data_path, "label", label_path),
            "has 1 bytes for elements, its shape (4294967295,4294967295,3) needs more");
    write_mnist();
    CHECK_INT(truncate(label_path, 11), 0);
    refuses("MNISTIter", PAIRS("image", data_path, "label", label_path), "needs more");
    CHECK_INT(remove_folder(), 2);
}

/* ---- handles ---- */

TEST(makers_are_not_iterators)
{
    DataIterHandle iterator;
    const char *name, *doc, **a, **b, **c;
    uint32_t count;

    write_five();
    iterator =
        created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "2", "batch_size", "2"));
    CHECK_INT(MXDataIterGetIterInfo(iterator, &name, &doc, &count, &a, &b, &c), -1);
    CHECK_HAS(MXGetLastError(), "MXDataIterGetIterInfo: ");
    CHECK_INT(MXDataIterBeforeFirst(maker("CSVIter")), -1);
    CHECK_INT(MXDataIterFree(maker("CSVIter")), -1);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), -1);
    CHECK_INT(MXDataIterFree(NULL), 0);
    CHECK_INT(remove_folder(), 2);
}

TEST(descriptions)
{
    const char *name, *doc, **names, **types, **docs;
    uint32_t count;

    CHECK_INT(MXDataIterGetIterInfo(maker("CSVIter"), &name, &doc, &count, &names, &types, &docs),
              0);
    CHECK_INT(count, 9);
    CHECK_STR(names[0], "data_csv");
    CHECK_STR(types[0], "string, required");
    CHECK_STR(types[1], "Shape(tuple), required");
    CHECK_STR(types[4], "int (non-negative), required");
    CHECK_STR(types[6], "long (non-negative), optional, default=4");
    CHECK_STR(types[7], "{'cpu', 'gpu'},optional, default='gpu'");
    CHECK(docs[8] != NULL && docs[8][0] != '\0');
}

/* ---- threads ---- */

static void *take_all(void *iterator)
{
    for (int i = 0; i < 200; i++) {
        NDArrayHandle data = NULL;
        int any;

        CHECK_INT(MXDataIterNext(iterator, &any), 0);
        if (MXDataIterGetData(iterator, &data) == 0)
            CHECK_INT(MXNDArrayFree(data), 0);
        if (any == 0)
            CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    }
    return NULL;
}

TEST(threads_take_turns)
{
    pthread_t threads[3];
    DataIterHandle iterator;

    write_five();
    iterator =
        created("CSVIter", PAIRS("data_csv", data_path, "data_shape", "2", "batch_size", "2"));
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, take_all, iterator) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

HARNESS_MAIN(ENTRY(csv_round), ENTRY(csv_not_round), ENTRY(batches_stay), ENTRY(csv_integers),
             NOT_WASM(bad_csv_files), ENTRY(too_few_samples), ENTRY(mnist), ENTRY(mnist_shuffled),
             ENTRY(damaged_mnist), ENTRY(makers_are_not_iterators), ENTRY(descriptions),
             NOT_WASM(threads_take_turns))
