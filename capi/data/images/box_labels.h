/* Labels of images with boxes: [head, width, ..., objects]. The first number says how many come
 * before the objects, the second how many an object has: class, left, top, right, bottom, ...;
 * places are parts of the image's sides. For detect.c. */
#ifndef MXL_DATA_BOX_LABELS_H
#define MXL_DATA_BOX_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "data/images/changes.h"

enum { MXL_BOX_LEAST = 7 }; /* numbers of a label with one object */

typedef struct mxl_box_labels {
    float *values;       /* of the whole label */
    int64_t head, width; /* of the head, of an object */
    int64_t count;       /* of the objects */
} mxl_box_labels;

/* A part of an image; it may be larger than the image. */
typedef struct mxl_part {
    float left, top, width, height;
} mxl_part;

/* What a part must be like for one object at least, and which objects it keeps. */
typedef struct mxl_part_rules {
    double scale[2], ratio[2]; /* bounds of its area's root, and of its sides' ratio */
    double overlap[2];         /* common area over the area of both together */
    double sample_cover[2];    /* common area over its own */
    double object_cover[2];    /* common area over the object's */
    bool by_center;            /* keeps objects whose middle is in it; else those */
    double threshold;          /* of which more than this part of the area is */
} mxl_part_rules;

/* Reads the label in values[0..count), and leaves out objects without an area. -1 with the error
 * set. */
int mxl_box_labels_read(float *values, int64_t count, mxl_box_labels *labels);

/* The objects of the mirrored image, and of a part of it, which all objects are in. */
void mxl_box_labels_mirror(mxl_box_labels *labels);
void mxl_box_labels_move(mxl_box_labels *labels, mxl_part part);

/* A random part; `ratio` is that of the image's columns to its rows. */
mxl_part mxl_part_draw(const mxl_part_rules *rules, double ratio, mxl_chances *by);

/* Cuts a part out: keeps some objects, and cuts them off at its sides. False, and nothing is
 * changed, if the rules do not allow the part, or it would keep none of the objects. */
bool mxl_box_labels_cut(mxl_box_labels *labels, const mxl_part_rules *rules, mxl_part part);

#endif
