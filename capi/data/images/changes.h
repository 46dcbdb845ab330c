/* Changes of images and the random numbers that choose them, for augment.c and detect.c. Functions
 * that may fail return -1 with the error set; the image is then as it was, or changed in part. */
#ifndef MXL_DATA_CHANGES_H
#define MXL_DATA_CHANGES_H

#include "kernel/codec/codec.h"
#include "kernel/vision/image_resize.h"

/* ---- chances ---- */

/* The random numbers of one image. */
typedef struct mxl_chances {
    uint32_t key[2], counter[4], words[4];
    int left; /* of the words */
} mxl_chances;

void mxl_chances_begin(mxl_chances *by, uint64_t seed, uint64_t draw);

/* Uniform in [0, 1), between two bounds, and one of `count` numbers from 0; normal. */
double mxl_chance(mxl_chances *by);
double mxl_chance_between(mxl_chances *by, double low, double high);
int64_t mxl_chance_of(mxl_chances *by, int64_t count);
double mxl_chance_normal(mxl_chances *by);

/* ---- shapes ---- */

/* A parameter inter_method as a method: 9 is chosen by the sizes, 10 by chance. */
mxl_interpolation mxl_change_method(int64_t inter_method, mxl_chances *by, const mxl_bitmap *image,
                                    int64_t rows, int64_t columns);
/* Whether parameters `resize` and `inter_method` are within their bounds; -1 with the error set. */
int mxl_change_check(int64_t resize, int64_t inter_method);

/* Makes the shorter side `side` pixels long; -1: nothing. */
int mxl_change_short(mxl_bitmap *image, int64_t side, int64_t inter_method, mxl_chances *by);

/* Right becomes left. */
void mxl_change_mirror(mxl_bitmap *image);

int mxl_change_size(mxl_bitmap *image, int64_t rows, int64_t columns, mxl_interpolation method);

/* Pads the image to rows x columns pixels: its first pixel comes to (top, left), the others are
 * `fill`, a parameter fill_value. */
int mxl_change_pad(mxl_bitmap *image, int64_t rows, int64_t columns, int64_t top, int64_t left,
                   int64_t fill);

/* The image becomes a part of itself. */
int mxl_change_cut(mxl_bitmap *image, int64_t top, int64_t left, int64_t rows, int64_t columns);

/* An affine map into an image of another size; what comes from outside the old image is `fill`, a
 * parameter fill_value. See kernel/vision/warp.h. */
int mxl_change_warp(mxl_bitmap *image, const double map[6], int64_t rows, int64_t columns,
                    mxl_interpolation method, int64_t fill);

/* ---- colours, of three channels ---- */

/* Each value times `factor`, plus `more`. */
void mxl_change_scale(mxl_bitmap *image, float factor, float more);

/* Away from the mean gray of the image, and from the gray of each pixel. */
void mxl_change_contrast(mxl_bitmap *image, float factor);
void mxl_change_saturation(mxl_bitmap *image, float factor);

/* Adds to hue (of 180), luminance and saturation (of 255), which end at their bounds. */
void mxl_change_hls(mxl_bitmap *image, const int more[3]);

/* Adds a number to each channel, and leaves the fractions out. */
void mxl_change_add(mxl_bitmap *image, const float more[3]);

#endif
