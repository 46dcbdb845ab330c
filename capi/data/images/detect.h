/* The parameters of ImageDetRecordIter; detect.c opens and reads, image_kinds.c describes. */
#ifndef MXL_DATA_DETECT_H
#define MXL_DATA_DETECT_H

#include "data/images/image_params.h"

enum { MXL_DETECT_FIT, MXL_DETECT_FORCE, MXL_DETECT_SHRINK };

/* X(kind, name, default, documentation) before and after those that all iterators have. */
#define MXL_DETECT_FILE(X)                                                                         \
    X(STRING, path_imglist, "", "Path of a list with other labels: an id, labels, a name.")        \
    X(STRING, path_imgrec, "./data/imgrec.rec", "Path of the records.")                            \
    X(STRING, aug_seq, "det_aug_default", "Must be det_aug_default.")                              \
    X(INT, label_width, "-1", "How many numbers each label has; -1: any.")                         \
    MXL_IMAGE_READING(X)                                                                           \
    MXL_IMAGE_CHUNKS(X)                                                                            \
    X(INT, label_pad_width, "0", "Numbers that a label is padded to; 0: those of the longest.")    \
    X(FLOAT, label_pad_value, "-1", "What labels are padded with.")                                \
    X(BOOL, shuffle, "0", "Whether each epoch has a random order.")                                \
    X(INT, seed, "0", "Seed of the order and of the random changes.")

#define MXL_DETECT_CHANGES(X)                                                                      \
    X(INT, resize, "-1", "Size that the shorter side gets first.")                                 \
    X(FLOAT, rand_crop_prob, "0", "Probability that a random part is cut out.")                    \
    X(FLOATS, min_crop_scales, "[0]", "Least root of a part's area, of each sampler.")             \
    X(FLOATS, max_crop_scales, "[1]", "The greatest.")                                             \
    X(FLOATS, min_crop_aspect_ratios, "[1]", "Least ratio of a part's columns to its rows.")       \
    X(FLOATS, max_crop_aspect_ratios, "[1]", "The greatest.")                                      \
    X(FLOATS, min_crop_overlaps, "[0]", "Least common area over both together, for one object.")   \
    X(FLOATS, max_crop_overlaps, "[1]", "The greatest.")                                           \
    X(FLOATS, min_crop_sample_coverages, "[0]", "Least common area over the part's.")              \
    X(FLOATS, max_crop_sample_coverages, "[1]", "The greatest.")                                   \
    X(FLOATS, min_crop_object_coverages, "[0]", "Least common area over the object's.")            \
    X(FLOATS, max_crop_object_coverages, "[1]", "The greatest.")                                   \
    X(INT, num_crop_sampler, "1", "How many samplers there are.")                                  \
    X(EMIT, crop_emit_mode, "center", "Which objects stay: by their middle or their area.")        \
    X(FLOAT, emit_overlap_thresh, "0.300000012", "Part of an object's area that is enough.")       \
    X(SHAPE, max_crop_trials, "[25]", "How often each sampler tries.")                             \
    X(FLOAT, rand_pad_prob, "0", "Probability that an image is put into a larger one.")            \
    X(FLOAT, max_pad_scale, "1", "How much larger that may be.")                                   \
    X(INT, max_random_hue, "0", "Bound of random hue.")                                            \
    X(FLOAT, random_hue_prob, "0", "Its probability.")                                             \
    X(INT, max_random_saturation, "0", "Bound of random saturation.")                              \
    X(FLOAT, random_saturation_prob, "0", "Its probability.")                                      \
    X(INT, max_random_illumination, "0", "Bound of random luminance.")                             \
    X(FLOAT, random_illumination_prob, "0", "Its probability.")                                    \
    X(FLOAT, max_random_contrast, "0", "Bound of random contrast.")                                \
    X(FLOAT, random_contrast_prob, "0", "Its probability.")                                        \
    X(FLOAT, rand_mirror_prob, "0", "Probability that an image is mirrored.")                      \
    X(INT, fill_value, "127", "Value around an image in a larger one.")                            \
    MXL_IMAGE_METHOD(X)                                                                            \
    X(MODE, resize_mode, "force",                                                                  \
      "force: both sides; fit: as large as fits in; shrink: the same of larger images.")           \
    X(STRING, mean_img, "", "Path of the mean of all samples; made if it is not there.")           \
    MXL_IMAGE_MEANS(X)                                                                             \
    X(FLOAT, std_r, "0", "What red or gray values are divided by then; 0: they are not.")          \
    X(FLOAT, std_g, "0", "The same of green.")                                                     \
    X(FLOAT, std_b, "0", "The same of blue.")                                                      \
    X(FLOAT, std_a, "0", "Ignored: there are no values of transparency.")                          \
    X(FLOAT, scale, "1", "What values are multiplied by then.")

typedef struct mxl_detect_params {
    mxl_batch_params batch;
    int round_batch;
    MXL_DETECT_FILE(MXL_IMAGE_FIELD)
    MXL_DETECT_CHANGES(MXL_IMAGE_FIELD)
} mxl_detect_params;

/* Two lists of bounds of the samplers. */
typedef struct mxl_detect_bounds {
    const char *name;
    mxl_floats min, max;
    bool apart, beyond; /* they must differ; they may be above 1 */
} mxl_detect_bounds;

int mxl_detect_open(mxl_batches *batches, const void *params);
void mxl_detect_close(mxl_batches *batches);

extern const mxl_batches_kind mxl_batches_detect;

#endif
