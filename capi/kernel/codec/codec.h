/* Images in files: PNG and JPEG to pixels, with the conventions of OpenCV, whose numbers
 * MXNet 1.9.1 gives. For ops/vision and data/. */
#ifndef MXL_KERNEL_CODEC_CODEC_H
#define MXL_KERNEL_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixels of uint8, (rows, columns, channels); three channels are R, G, B. */
typedef struct mxl_bitmap {
    int64_t rows, columns, channels;
    uint8_t *bytes; /* a block of `size` bytes */
    size_t size;
} mxl_bitmap;

/* The most pixels of an image, as in OpenCV. */
enum { MXL_BITMAP_MOST = 1 << 30 };

/* Reads an image, with 3 channels (`color`) or 1. Transparency is ignored, 16 bits become 8, and an
 * image that EXIF data at its begin turn is turned. Memory grows with the file, not with the sizes
 * that it claims. -1 with the error set: it is no PNG or JPEG, of a kind that is not supported, or
 * damaged.
 */
int mxl_bitmap_decode(const void *data, size_t size, bool color, mxl_bitmap *image);
void mxl_bitmap_clear(mxl_bitmap *image);

/* For the formats: a new bitmap with undefined pixels; -1 with the error set. */
int mxl_bitmap_make(mxl_bitmap *image, int64_t rows, int64_t columns, int64_t channels);
int mxl_png_decode(const uint8_t *data, size_t size, bool color, mxl_bitmap *image);
int mxl_jpeg_decode(const uint8_t *data, size_t size, bool color, mxl_bitmap *image);

#endif
