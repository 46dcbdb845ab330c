/* Records of images, for tests of iterators over them. */
#ifndef RECORDS_KIT_H
#define RECORDS_KIT_H

#include "images_kit.h"
#include "iterator_kit.h"

static char records[160], list[160], record_index[160];

/* Makes the folder and names the files in it. */
KIT void name_records(void)
{
    make_folder();
    (void)snprintf(records, sizeof(records), "%s/a.rec", folder);
    (void)snprintf(record_index, sizeof(record_index), "%s/a.idx", folder);
    (void)snprintf(list, sizeof(list), "%s/a.lst", folder);
}

/* Appends a record: its head, labels (none: `label` is the only one), an image. Returns where it
 * begins. */
KIT size_t put_labels(RecordIOHandle writer, uint64_t id, float label, uint32_t count,
                      const float *labels, const kit_image *image)
{
    static char bytes[4096];
    uint64_t ids[2] = {id, 0};
    size_t at = 24 + 4 * (size_t)count, place;

    memcpy(bytes, &count, 4);
    memcpy(bytes + 4, &label, 4);
    memcpy(bytes + 8, ids, 16);
    if (count > 0)
        memcpy(bytes + 24, labels, 4 * (size_t)count);
    memcpy(bytes + at, image->bytes, image->size);
    CHECK_INT(MXRecordIOWriterTell(writer, &place), 0);
    CHECK_INT(MXRecordIOWriterWriteRecord(writer, bytes, at + image->size), 0);
    return place;
}

KIT void read_array(int (*get)(DataIterHandle, NDArrayHandle *), DataIterHandle iterator, void *to,
                    size_t count)
{
    NDArrayHandle array = NULL;

    CHECK_INT(get(iterator, &array), 0);
    CHECK_INT(MXNDArraySyncCopyToCPU(array, to, count), 0);
    CHECK_INT(MXNDArrayFree(array), 0);
}

#endif
