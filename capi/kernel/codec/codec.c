/* Images in files: the format by its first bytes; see codec.h. */
#include "kernel/codec/codec.h"

#include <string.h>

#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"

int mxl_bitmap_make(mxl_bitmap *image, int64_t rows, int64_t columns, int64_t channels)
{
    *image = (mxl_bitmap){rows, columns, channels, NULL, (size_t)(rows * columns * channels)};
    image->bytes = mxl_alloc(image->size);
    if (image->bytes != NULL)
        return 0;
    *image = (mxl_bitmap){0};
    return -1;
}

void mxl_bitmap_clear(mxl_bitmap *image)
{
    mxl_free(image->bytes, image->size);
    *image = (mxl_bitmap){0};
}

int mxl_bitmap_decode(const void *data, size_t size, bool color, mxl_bitmap *image)
{
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    char begins[MXL_BEGINNING_ROOM];
    int status = -1;

    *image = (mxl_bitmap){0};
    if (size == 0)
        return mxl_error("the image is empty");
    if (size >= sizeof(png) && memcmp(data, png, sizeof(png)) == 0)
        status = mxl_png_decode(data, size, color, image);
    else if (size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0)
        status = mxl_jpeg_decode(data, size, color, image);
    else
        mxl_error("%zu bytes that are no PNG and no JPEG: the image %s", size,
                  mxl_beginning(begins, data, size));
    if (status != 0)
        mxl_bitmap_clear(image);
    return status;
}
