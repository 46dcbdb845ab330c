/* The data iterators that 1.9.1 lists, by name. */
#include "api/common.h"

typedef struct iterator_info {
    const char *name, *doc;
} iterator_info;

static const iterator_info iterators[] = {
    {"CSVIter", "Batches of rows of comma-separated files."},
    {"ImageDetRecordIter", "Batches of images with boxes, of a record file."},
    {"ImageRecordIter_v1", "Batches of images of a record file."},
    {"ImageRecordUInt8Iter_v1", "Batches of images of a record file, as bytes."},
    {"ImageRecordIter", "Batches of images of a record file."},
    {"ImageRecordUInt8Iter", "Batches of images of a record file, as bytes."},
    {"ImageRecordInt8Iter", "Batches of images of a record file, as signed bytes."},
    {"LibSVMIter", "Batches of rows of files in LibSVM's format."},
    {"MNISTIter", "Batches of the images of MNIST."},
};

enum { ITERATORS = sizeof(iterators) / sizeof(iterators[0]) };

int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array)
{
    DataIterCreator *list;

    API_NEED(out_size);
    API_NEED(out_array);
    list = api_buffer_get(API_BUFFER_HANDLES, sizeof(*list) * ITERATORS);
    if (list == NULL)
        return mxl_error_prefix(__func__);
    for (uint32_t i = 0; i < ITERATORS; i++)
        list[i] = (DataIterCreator)(uintptr_t)mxl_handle_permanent(MXL_KIND_ITERATOR, i);
    *out_size = ITERATORS;
    *out_array = list;
    return 0;
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description,
                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                          const char ***arg_descriptions)
{
    static const char *none[1];
    int64_t number = mxl_handle_number(MXL_KIND_ITERATOR, api_number(creator), ITERATORS);

    API_NEED(name);
    API_NEED(description);
    API_NEED(num_args);
    API_NEED(arg_names);
    API_NEED(arg_type_infos);
    API_NEED(arg_descriptions);
    if (number < 0)
        return mxl_error_prefix(__func__);
    *name = iterators[number].name;
    *description = iterators[number].doc;
    *num_args = 0;
    *arg_names = *arg_type_infos = *arg_descriptions = none;
    return 0;
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                         const char **vals, DataIterHandle *out)
{
    int64_t number = mxl_handle_number(MXL_KIND_ITERATOR, api_number(handle), ITERATORS);

    (void)num_param, (void)keys, (void)vals, (void)out;
    if (number < 0)
        return mxl_error_prefix(__func__);
    return mxl_error("%s: %s is not supported by mxlite in C; see docs/compatibility.md", __func__,
                     iterators[number].name);
}
