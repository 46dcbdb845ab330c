/* Bytes that claim to be files of samples (records of images with and without boxes, lists, rows of
 * LibSVM, CSV, MNIST's files) through each data iterator: an error of one line or batches that can
 * be read, never a crash or a loss. Built with its own main (make fuzz), or with -fsanitize=fuzzer
 * -DFUZZ_NO_MAIN; it starts from tests/fuzz/corpus/samples. */
#define _GNU_SOURCE 1 /* memfd_create */
#include <mxlite/mxlite.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what)
{
    fprintf(stderr, "fuzz_samples: %s\n", what);
    abort();
}

static void failed(void)
{
    if (MXGetLastError()[0] == '\0' || strchr(MXGetLastError(), '\n') != NULL)
        die("a failure without its one line");
}

/* Whether a call worked. */
static bool worked(int status)
{
    if (status != 0)
        failed();
    return status == 0;
}

#include "fuzz_read.h"

static void read_array(int (*get)(DataIterHandle, NDArrayHandle *), DataIterHandle iterator)
{
    NDArrayHandle array = NULL;

    if (get(iterator, &array) != 0)
        die(MXGetLastError());
    read_values(array);
    if (MXNDArrayFree(array) != 0)
        die("a handle that cannot be freed");
}

/* Keys and values, in turns, to NULL; "" is the file. */
static const char *const kinds[][20] = {
    {"CSVIter", "data_csv", "", "data_shape", "(3,)", "batch_size", "2", NULL},
    {"LibSVMIter", "data_libsvm", "", "data_shape", "(9,)", "batch_size", "2", "label_libsvm", "",
     "label_shape", "(9,)", "num_parts", "2", NULL},
    {"MNISTIter", "image", "", "label", "", "batch_size", "1", NULL},
    {"ImageRecordIter", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "2",
     "max_rotate_angle", "20", "min_random_scale", "0.5", "random_s", "30", "inter_method", "10",
     NULL},
    {"ImageRecordUInt8Iter", "path_imgrec", "", "data_shape", "(1,5,6)", "batch_size", "1",
     "path_imgidx", "", "random_resized_crop", "1", "min_random_area", "0.1", NULL},
    {"ImageRecordInt8Iter", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "1",
     "mean_img", "", NULL},
    {"ImageRecordIter_v1", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "1",
     "path_imglist", "", "label_width", "3", NULL},
    {"ImageRecordUInt8Iter_v1", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "1",
     NULL},
    {"ImageDetRecordIter", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "2",
     "rand_crop_prob", "0.5", "rand_pad_prob", "0.5", "max_pad_scale", "2", "resize_mode", "fit",
     NULL},
    {"ImageDetRecordIter", "path_imgrec", "", "data_shape", "(3,5,6)", "batch_size", "1",
     "path_imglist", "", NULL},
};

static DataIterCreator maker(const char *wanted)
{
    const char *name, *doc, **a, **b, **c;
    DataIterCreator *list;
    uint32_t count, args;

    if (MXListDataIters(&count, &list) != 0)
        die(MXGetLastError());
    for (uint32_t i = 0; i < count; i++)
        if (MXDataIterGetIterInfo(list[i], &name, &doc, &args, &a, &b, &c) == 0 &&
            strcmp(name, wanted) == 0)
            return list[i];
    die("there is no such iterator");
    return NULL;
}

static void iterate(const char *const *kind, const char *path)
{
    const char *keys[10], *values[10];
    DataIterHandle iterator = NULL;
    uint32_t count = 0;
    int any = 1;

    for (; kind[2 * count + 1] != NULL; count++) {
        keys[count] = kind[2 * count + 1];
        values[count] = kind[2 * count + 2][0] == '\0' ? path : kind[2 * count + 2];
    }
    if (!worked(MXDataIterCreateIter(maker(kind[0]), count, keys, values, &iterator)))
        return;
    for (int i = 0; i < 4 && any != 0; i++) {
        if (!worked(MXDataIterNext(iterator, &any)) || any == 0)
            continue;
        read_array(MXDataIterGetData, iterator);
        read_array(MXDataIterGetLabel, iterator);
    }
    if (MXDataIterFree(iterator) != 0)
        die("a handle that cannot be freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t before = 0, after = 0;
    int file = memfd_create("samples", 0);
    char path[64];

    if (file < 0 || write(file, data, size) != (ssize_t)size)
        die("no file in memory");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    (void)MXLGetLiveHandles(&before);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        iterate(kinds[i], path);
    (void)MXLGetLiveHandles(&after);
    if (before != after)
        die("a handle was lost or freed twice");
    close(file);
    return 0;
}

#define FUZZ_NAME "fuzz_samples"
#include "fuzz_files.h"
