/* Lists of the labels of images; see data/images/image_source.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "data/images/image_source.h"
#include "data/lines.h"
#include "op/text.h"

/* An image, and where its labels are. */
typedef struct listed_image {
    uint64_t id;
    size_t first, count;
} listed_image;

struct mxl_image_list {
    listed_image *images; /* sorted by id, and in the order of the lines where ids are equal */
    size_t count, room;
    float *labels;
    size_t used, label_room;
};

static int compare_listed(const void *left, const void *right)
{
    const listed_image *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static int add_label(mxl_image_list *list, const char *word)
{
    double label;

    if (mxl_text_float(word, &label) != MXL_TEXT_OK)
        return 1;
    if (MXL_GROW(list->labels, list->used, list->label_room) != 0)
        return -1;
    list->labels[list->used++] = (float)label;
    return 0;
}

/* Reads `width` labels of the present line. */
static int read_some(mxl_image_list *list, mxl_lines *lines, int64_t width)
{
    char word[MXL_WORD];

    for (int64_t i = 0; i < width; i++) {
        int status = mxl_lines_word(lines, word) ? add_label(list, word) : 1;

        if (status > 0)
            return mxl_error("%s: line %lld has no %lld labels", lines->path,
                             (long long)lines->number, (long long)width);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* Reads all labels of the present line, which its last word follows. */
static int read_all(mxl_image_list *list, mxl_lines *lines)
{
    char word[MXL_WORD], next[MXL_WORD];
    bool any = mxl_lines_word(lines, word);

    while (any && mxl_lines_word(lines, next)) {
        int status = add_label(list, word);

        if (status > 0)
            return mxl_lines_error(lines, "\"%s\" is no label", word);
        if (status != 0)
            return -1;
        memcpy(word, next, sizeof(word));
    }
    return 0;
}

static int read_line(mxl_image_list *list, mxl_lines *lines, int64_t width)
{
    size_t first = list->used;
    char word[MXL_WORD];
    int64_t id;

    (void)mxl_lines_word(lines, word);
    if (mxl_text_int(word, false, &id) != MXL_TEXT_OK)
        return mxl_lines_error(lines, "\"%s\" is no id", word);
    if ((width > 0 ? read_some(list, lines, width) : read_all(list, lines)) != 0 ||
        MXL_GROW(list->images, list->count, list->room) != 0)
        return -1;
    list->images[list->count++] = (listed_image){(uint64_t)id, first, list->used - first};
    return 0;
}

mxl_image_list *mxl_image_list_read(const char *path, int64_t width)
{
    mxl_image_list *list = mxl_alloc_zero(sizeof(*list));
    mxl_lines lines;
    int status = 0;

    if (list == NULL || mxl_lines_open(&lines, path) != 0) {
        mxl_image_list_free(list);
        return NULL;
    }
    while (status == 0 && mxl_lines_next(&lines))
        status = read_line(list, &lines, width);
    mxl_lines_close(&lines);
    if (status != 0) {
        mxl_image_list_free(list);
        return NULL;
    }
    if (list->count > 0)
        qsort(list->images, list->count, sizeof(*list->images), compare_listed);
    return list;
}

void mxl_image_list_free(mxl_image_list *list)
{
    if (list == NULL)
        return;
    mxl_free(list->images, list->room * sizeof(*list->images));
    mxl_free(list->labels, list->label_room * sizeof(*list->labels));
    mxl_free(list, sizeof(*list));
}

int mxl_image_list_find(const mxl_image_list *list, mxl_image_record *record)
{
    size_t first = 0, end = list->count;
    const listed_image *found;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (list->images[middle].id <= record->id)
            first = middle + 1;
        else
            end = middle;
    }
    found = first > 0 ? &list->images[first - 1] : NULL;
    if (found == NULL || found->id != record->id)
        return mxl_error("the list has no image with id %llu", (unsigned long long)record->id);
    record->labels = list->labels + found->first;
    record->count = (int64_t)found->count;
    return 0;
}
