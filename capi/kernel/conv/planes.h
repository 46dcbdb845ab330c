/* The images of a convolution as its inner loops read them. */
#ifndef MXL_KERNEL_CONV_PLANES_H
#define MXL_KERNEL_CONV_PLANES_H

#include <stdbool.h>
#include <stdint.h>

/* Images (image, channel, three dimensions) become planes (image, channel, phase, three
 * dimensions). Element i of a plane is element i * step + phase - lead of the image, or zero
 * outside: so a kernel's step through the image is a fixed distance in a plane, and needs no checks
 * at borders. There are as many phases as `step` says; those that are not used are not made. */
typedef struct mxl_planes {
    int dtype; /* of the images; planes of float16 are float32 */
    int64_t channels;
    int64_t image[3], step[3], lead[3], plane[3];
    int64_t pitch; /* distance of the rows of a plane: rows share the zeros at their ends */
    int64_t num_phases;
    int64_t (*phases)[3]; /* [num_phases], borrowed */
} mxl_planes;

/* Sets the pitch: by how many zeros every row ends and begins, so much closer are rows; but at
 * least `least`, the positions of the output in a row. */
void mxl_planes_overlap(mxl_planes *p, int64_t least);

/* Elements of one plane, of a channel with all its phases. Behind the last plane there must be room
 * for as many zeros as rows share, which mxl_planes_make does not write. */
int64_t mxl_planes_size(const mxl_planes *p);
int64_t mxl_planes_channel(const mxl_planes *p);

/* True if the images are their own planes. */
bool mxl_planes_direct(const mxl_planes *p);

/* The positions of a plane's dimension i that lie inside the image: [*first, *end). */
void mxl_planes_inside(const mxl_planes *p, int i, int64_t phase, int64_t *first, int64_t *end);

/* Makes the planes of `count` images. */
void mxl_planes_make(const mxl_planes *p, int64_t count, const void *images, void *planes);

#endif
