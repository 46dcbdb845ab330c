/* Overlaps of boxes, and non-maximum suppression. Boxes are float32 or float64 (`dtype`). For
 * ops/vision/. */
#ifndef MXL_KERNEL_VISION_BOXES_H
#define MXL_KERNEL_VISION_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How four numbers are a box: center and size, or left, top, right and bottom. The overlap of two
 * boxes (IoU) is the area they share over the area that either covers. A box whose right is left of
 * its left, or its bottom above its top, has no area. */
typedef enum mxl_box_format { MXL_BOX_CENTER, MXL_BOX_CORNER } mxl_box_format;

/* out[i, j] is the overlap of box i of `a` and box j of `b`; 0 if neither has an area. -1 with the
 * error set: out of memory. */
int mxl_box_overlaps(int dtype, mxl_box_format format, int64_t rows, const void *a, int64_t columns,
                     const void *b, void *out);

/* Candidates in the order of their scores, best first, as lists that loops run over. */
typedef struct mxl_candidates {
    int64_t count;
    int64_t *at;              /* the caller's number of each */
    void *side[4];            /* left, top, right, bottom */
    void *area, *kind, *lost; /* kind: NULL, or numbers: only candidates of one kind compete */
} mxl_candidates;

/* Places the lists of `count` candidates in `room`, which has mxl_candidates_bytes. The caller
 * fills `at`, `side` and `kind`. */
size_t mxl_candidates_bytes(int dtype, int64_t count);
void mxl_candidates_place(mxl_candidates *list, int dtype, int64_t count, bool kinds, void *room);

/* How candidates compete. */
typedef struct mxl_contest {
    double threshold; /* the overlap above which the worse one is lost, */
    bool inclusive;   /* or from which on */
    double extra;     /* added to widths and heights: 1 for boxes that count whole pixels */
} mxl_contest;

/* Goes through the list from its best and drops the candidates that overlap too much with a better
 * one that was kept. The kept ones come first in all lists, in their order. Returns their number.
 */
int64_t mxl_candidates_keep(mxl_candidates *list, int dtype, const mxl_contest *contest);

/* Non-maximum suppression of (batch, rows, width) numbers, each row a box with a score. */
typedef struct mxl_nms_job {
    int dtype;
    int64_t batch, rows, width;
    const void *in;
    int64_t coord, score, kind; /* columns; kind -1: all boxes compete */
    bool across_kinds;          /* all compete though there are kinds */
    double background;          /* rows of this kind are dropped */
    double valid;               /* so are rows whose score is not greater */
    double threshold;
    int64_t most; /* best rows that compete, at most `rows` */
    mxl_box_format from, to;
    void *out;       /* as `in`: the kept rows, best first, then rows of -1 */
    int64_t *origin; /* (batch, rows): the number of each row in `in`, or -1 */
} mxl_nms_job;

/* -1 with the error set: out of memory. */
int mxl_nms(const mxl_nms_job *job);

#endif
