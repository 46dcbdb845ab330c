/* LibSVMIter: rows of values as csr matrices, labels of lines and of a second file, parts, lines
 * that are no such lines. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "iterator_kit.h"

#include <math.h>

static const char five[] = "1 0:0.5 2:1.5 # a comment 1:7\n# another\n\n0:9 qid:3 1:2\r\n"
                           " 1 0:1\t1:1 1:2\n3 2:4e0\n5";

/* A dense copy of a csr matrix, whose handle is freed. */
static NDArrayHandle dense(NDArrayHandle array)
{
    const char *key = "stype", *value = "default";
    NDArrayHandle *made = NULL;
    OpHandle op = NULL;
    int stype = -1, count = 0;
    const int *stypes;

    CHECK_INT(MXNDArrayGetStorageType(array, &stype), 0);
    CHECK_INT(stype, 2);
    CHECK_INT(MXNDArraySyncCheckFormat(array, false), 0);
    CHECK_INT(NNGetOpHandle("cast_storage", &op), 0);
    CHECK_INT(MXImperativeInvokeEx(op, 1, &array, &count, &made, 1, &key, &value, &stypes), 0);
    CHECK_INT(MXNDArrayFree(array), 0);
    return made != NULL ? made[0] : NULL;
}

static void expect_rows(DataIterHandle iterator, const float data[6], float first, float second,
                        int number)
{
    const float label[] = {first, second};
    uint64_t *index = NULL, count = 0;

    CHECK_INT(next(iterator), 1);
    expect_array(dense(data_of(iterator)), "2,3", data, 6);
    expect_array(label_of(iterator), "2", label, 2);
    CHECK_INT(MXDataIterGetIndex(iterator, &index, &count), 0);
    CHECK(count == 2 && index[0] == (uint64_t)number);
}

#define BASIC "data_libsvm", data_path, "data_shape", "(3,)", "batch_size", "2"

TEST(rows)
{
    static const float a[] = {0.5F, 0, 1.5F, 0, 2, 0}, b[] = {1, 2, 0, 0, 0, 4},
                       c[] = {0, 0, 0, 0.5F, 0, 1.5F}, d[] = {0, 2, 0, 1, 2, 0};
    DataIterHandle iterator;
    int pad = 99;

    name_files();
    fill_text(data_path, five);
    iterator = created("LibSVMIter", PAIRS(BASIC, "dtype", "float32"));
    expect_rows(iterator, a, 1, 0, 0);
    expect_rows(iterator, b, 1, 3, 2);
    expect_rows(iterator, c, 5, 1, 4);
    CHECK_INT(MXDataIterGetPadNum(iterator, &pad), 0);
    CHECK_INT(pad, 1);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterBeforeFirst(iterator), 0);
    expect_rows(iterator, d, 0, 1, 1);
    CHECK_INT(MXDataIterFree(iterator), 0);
    fill_text(data_path, "# nothing\n");
    iterator = created("LibSVMIter", PAIRS(BASIC));
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 1);
}

/* What a line names is stored as it stands: zeros, and indices in any order. */
TEST(stored)
{
    static const float values[] = {7, 0, 1};
    static const int64_t places[] = {2, 0, 1};
    DataIterHandle iterator;
    NDArrayHandle array, part;
    int64_t got[3] = {0};

    name_files();
    fill_text(data_path, "1 2:7 0:0\n\n2 1:1\n");
    iterator = created("LibSVMIter", PAIRS(BASIC));
    CHECK_INT(next(iterator), 1);
    array = data_of(iterator);
    CHECK_INT(MXNDArrayGetDataNDArray(array, &part), 0);
    expect_array(part, "3", values, 3);
    CHECK_INT(MXNDArrayGetAuxNDArray(array, 1, &part), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(part, got, 3), 0);
    CHECK(memcmp(got, places, sizeof(got)) == 0);
    CHECK_INT(MXNDArrayFree(part), 0);
    CHECK_INT(MXNDArrayFree(array), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 1);
}

/* Labels are the rows of a second file, also of a part. */
TEST(rows_of_labels)
{
    static const float first[] = {5, 6, 0, 3}, part[] = {0, 0, 0, 1};
    DataIterHandle iterator;

    name_files();
    fill_text(data_path, five);
    fill_text(label_path, "1 0:5 1:6\n1 1:3\n1\n1 1:1\n7 1:9\n8\n");
    iterator =
        created("LibSVMIter", PAIRS(BASIC, "label_libsvm", label_path, "label_shape", "(2,)"));
    CHECK_INT(next(iterator), 1);
    expect_array(dense(label_of(iterator)), "2,2", first, 4);
    CHECK_INT(MXDataIterFree(iterator), 0);
    iterator = created("LibSVMIter", PAIRS(BASIC, "label_libsvm", label_path, "label_shape",
                                           "(2,1)", "num_parts", "3", "part_index", "2"));
    CHECK_INT(next(iterator), 1);
    expect_array(label_of(iterator), "2,2,1", part, 4);
    CHECK_INT(next(iterator), 1);
    CHECK_INT(next(iterator), 0);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 2);
}

/* A line belongs to the part that it begins in; one at the begin of a part, to the one before. */
TEST(parts)
{
    static const char *const numbers[] = {"0", "1", "2", "3"};
    static const int counts[][4] = {{4}, {3, 1}, {2, 1, 1}, {2, 1, 1, 0}};

    name_files();
    fill_text(data_path, "0 0:0\n1 0:1\n2 0:2\n3 0:3\n");
    for (int parts = 1; parts <= 4; parts++)
        for (int k = 0, at = 0; k < parts; k++) {
            char text[2] = {(char)('0' + parts)};
            DataIterHandle iterator = created(
                "LibSVMIter", PAIRS("data_libsvm", data_path, "data_shape", "1", "batch_size", "1",
                                    "num_parts", text, "part_index", numbers[k]));

            for (int i = 0; i < counts[parts - 1][k]; i++, at++) {
                float value = (float)at;

                CHECK_INT(next(iterator), 1);
                expect_array(dense(data_of(iterator)), "1,1", &value, 1);
            }
            CHECK_INT(next(iterator), 0);
            CHECK_INT(MXDataIterFree(iterator), 0);
        }
    CHECK_INT(remove_folder(), 1);
}

TEST(numbers)
{
    static const float wide[] = {0, INFINITY, 0.1F};
    DataIterHandle iterator;

    name_files();
    fill_text(data_path, "1 0:1e-50 1:1e39 2:0.1\n");
    iterator = created("LibSVMIter",
                       PAIRS("data_libsvm", data_path, "data_shape", "3", "batch_size", "1"));
    CHECK_INT(next(iterator), 1);
    expect_array(dense(data_of(iterator)), "1,3", wide, 3);
    CHECK_INT(MXDataIterFree(iterator), 0);
    CHECK_INT(remove_folder(), 1);
}

static const struct {
    const char *data, *key, *value, *says;
} bad[] = {
    {"1 0:1\nx 1:2\n", NULL, NULL, "data: line 2: \"x\" is no label"},
    {"1:x 1:2\n", NULL, NULL, "data: line 1: \"x\" is no weight"},
    {"\n1 1:2 3:1\n", NULL, NULL, "data: line 2: index 3 is not within a row of 3"},
    {"1 -1:2\n", NULL, NULL, "data: line 1: index -1 is not within"},
    {"1 1\n", NULL, NULL, "data: line 1: \"1\" is no index:value"},
    {"1 a:1\n", NULL, NULL, "data: line 1: \"a\" is no index"},
    {"1 :1\n", NULL, NULL, "data: line 1: \"\" is no index"},
    {"1 1:\n", NULL, NULL, "data: line 1: \"\" is no number"},
    {"1 1:3:4\n", NULL, NULL, "data: line 1: \"3:4\" is no number"},
    {"1 1:0.00000000000000000000000000000000000000000000000000000000000000005\n", NULL, NULL,
     "000...\" is no number"},
    {"1\n", "dtype", "float64", "dtype must be float32, got float64"},
    {"1\n", "round_batch", "0", "round_batch must be true"},
    {"1\n", "num_parts", "0", "part_index 0 of num_parts 0"},
    {"1\n", "label_shape", "(2,)", "label_shape must be (1,) without label_libsvm, got (2,)"},
    {"1\n", "label_shape", "(-1,)", "LibSVMIter: label_shape: "},
    {"1\n", "label_libsvm", "here", "label_shape must have more than one number with label_libsvm"},
};

TEST(bad_lines)
{
    name_files();
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        fill_text(data_path, bad[i].data);
        refuses("LibSVMIter",
                PAIRS(BASIC, bad[i].key != NULL ? bad[i].key : "ctx",
                      bad[i].key != NULL ? bad[i].value : "cpu"),
                bad[i].says);
        CHECK_HAS(MXGetLastError(), "MXDataIterCreateIter: LibSVMIter: ");
    }
    refuses("LibSVMIter", PAIRS("data_libsvm", data_path, "data_shape", "(3,4)", "batch_size", "1"),
            "data_shape must have 1 number, got 2");
    refuses("LibSVMIter", PAIRS("data_libsvm", "none", "data_shape", "(3,)", "batch_size", "1"),
            "cannot open \"none\"");
    fill_text(data_path, "1\n2\n");
    fill_text(label_path, "1\n");
    refuses("LibSVMIter", PAIRS(BASIC, "label_libsvm", label_path, "label_shape", "2"),
            "2 rows of data, but 1 of labels");
    fill_text(label_path, "1\n1 2:3\n");
    refuses("LibSVMIter", PAIRS(BASIC, "label_libsvm", label_path, "label_shape", "2"),
            "label: line 2: index 2 is not within a row of 2");
    CHECK_INT(remove_folder(), 2);
}

HARNESS_MAIN(ENTRY(rows), ENTRY(stored), ENTRY(rows_of_labels), ENTRY(parts), ENTRY(numbers),
             ENTRY(bad_lines))
