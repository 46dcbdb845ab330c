/* Iterators over the images of a file of records; images.c opens it, augment.c makes the values
 * of a sample. */
#ifndef MXL_DATA_IMAGE_PLAN_H
#define MXL_DATA_IMAGE_PLAN_H

#include "data/images/image_params.h"

/* The parameters: X(kind, name, default, documentation). The first list is that of files, the
 * second of what is done to an image, the third of what is done to its values. */
#define MXL_IMAGE_FILE(X)                                                                          \
    X(STRING, path_imglist, "", "Path of a list with other labels: an id, labels, a name.")        \
    X(STRING, path_imgrec, "", "Path of the records.")                                             \
    X(STRING, path_imgidx, "", "Path of their index, which is read in place of the whole file.")   \
    X(STRING, aug_seq, "aug_default", "Must be aug_default.")                                      \
    X(INT, label_width, "1", "How many labels an image has.")                                      \
    MXL_IMAGE_READING(X)                                                                           \
    X(INT, device_id, "0", "Ignored: batches are in the CPU's memory.")                            \
    MXL_IMAGE_CHUNKS(X)                                                                            \
    X(OPT_INT, seed_aug, "None", "Seed of the random changes; None: the seed.")                    \
    X(BOOL, shuffle, "0", "Whether each epoch has a random order.")                                \
    X(INT, seed, "0", "Seed of the order.")

#define MXL_IMAGE_CHANGES(X)                                                                       \
    X(INT, resize, "-1", "Size that the shorter side gets first.")                                 \
    X(BOOL, rand_crop, "0", "Whether the part is cut out anywhere, not from the middle.")          \
    X(BOOL, random_resized_crop, "0", "Whether a random part is resized.")                         \
    X(INT, max_rotate_angle, "0", "Bound of random rotations.")                                    \
    X(FLOAT, max_aspect_ratio, "0", "Bound of random ratios of the sides.")                        \
    X(OPT_FLOAT, min_aspect_ratio, "None", "The other bound.")                                     \
    X(FLOAT, max_shear_ratio, "0", "Bound of random shears.")                                      \
    X(INT, max_crop_size, "-1", "Bound of random sizes of the part.")                              \
    X(INT, min_crop_size, "-1", "The other bound.")                                                \
    X(FLOAT, max_random_scale, "1", "Bound of random scales.")                                     \
    X(FLOAT, min_random_scale, "1", "The other bound.")                                            \
    X(FLOAT, max_random_area, "1", "Bound of random areas.")                                       \
    X(FLOAT, min_random_area, "1", "The other bound.")                                             \
    X(FLOAT, max_img_size, "1e+10", "Largest side of an image.")                                   \
    X(FLOAT, min_img_size, "0", "Smallest side of an image.")                                      \
    X(FLOAT, brightness, "0", "Bound of random brightness.")                                       \
    X(FLOAT, contrast, "0", "Bound of random contrast.")                                           \
    X(FLOAT, saturation, "0", "Bound of random saturation.")                                       \
    X(FLOAT, pca_noise, "0", "Size of random noise along the principal components.")               \
    X(INT, random_h, "0", "Bound of random hue.")                                                  \
    X(INT, random_s, "0", "Bound of random saturation.")                                           \
    X(INT, random_l, "0", "Bound of random luminance.")                                            \
    X(INT, rotate, "-1", "Angle of a rotation.")                                                   \
    X(INT, fill_value, "255", "Value of what pad adds.")                                           \
    MXL_IMAGE_METHOD(X)                                                                            \
    X(INT, pad, "0", "Pixels that are added on each side.")

#define MXL_IMAGE_VALUES(X)                                                                        \
    X(BOOL, mirror, "0", "Whether images are mirrored.")                                           \
    X(BOOL, rand_mirror, "0", "Whether half of the images are mirrored.")                          \
    X(STRING, mean_img, "", "Path of an image that is subtracted.")                                \
    MXL_IMAGE_MEANS(X)                                                                             \
    X(FLOAT, std_r, "1", "What red or gray values are divided by then.")                           \
    X(FLOAT, std_g, "1", "The same of green.")                                                     \
    X(FLOAT, std_b, "1", "The same of blue.")                                                      \
    X(FLOAT, std_a, "1", "Ignored: there are no values of transparency.")                          \
    X(FLOAT, scale, "1", "What values are multiplied by then.")                                    \
    X(FLOAT, max_random_contrast, "0", "Bound of random contrast.")                                \
    X(FLOAT, max_random_illumination, "0", "Bound of random illumination.")

typedef struct mxl_image_params {
    mxl_batch_params batch;
    int round_batch;
    MXL_IMAGE_FILE(MXL_IMAGE_FIELD)
    MXL_IMAGE_CHANGES(MXL_IMAGE_FIELD)
    MXL_IMAGE_VALUES(MXL_IMAGE_FIELD)
} mxl_image_params;

/* How an image becomes a sample. `p` has no strings or lists that live as long. */
typedef struct mxl_image_plan {
    mxl_image_params p;
    int dtype; /* float32, uint8 or int8 */
    int64_t channels, rows, columns;
    uint64_t seed;     /* of the random changes */
    const float *mean; /* of all samples, subtracted in place of mean_r and so on; or NULL */
} mxl_image_plan;

/* Decodes an image and writes its sample, planes of channels. `draw` numbers the random choices. -1
 * with the error set. */
int mxl_image_sample(const mxl_image_plan *plan, const void *bytes, size_t size, uint64_t draw,
                     void *to);

/* The functions of the kinds. `dtype` is that of the data if the parameters name none; ids_shown:
 * the index has the ids of the records, not 0. */
int mxl_images_open(mxl_batches *batches, const mxl_image_params *params, int dtype,
                    bool ids_shown);
void mxl_images_close(mxl_batches *batches);

extern const mxl_batches_kind mxl_batches_images, mxl_batches_images_u8, mxl_batches_images_i8,
    mxl_batches_images_v1, mxl_batches_images_u8_v1;

#endif
