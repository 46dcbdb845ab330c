/* Weights as the loops of convolutions read them, kept between calls. For winograd.c, correlate.c.
 */
#ifndef MXL_KERNEL_CONV_CONV_FORM_H
#define MXL_KERNEL_CONV_CONV_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/conv/conv.h"

/* What a form depends on beside the weights. */
typedef struct mxl_conv_form_key {
    int64_t kind; /* 0: packed for sums over taps, 1: mapped by Winograd, 2: in opposite order */
    int64_t dtype, level, groups, in, out, taps, w_group, w_out, w_in;
} mxl_conv_form_key;

struct mxl_conv_form {
    mxl_conv_form_key key;
    size_t bytes;
    void *data; /* aligned to 64 */
};

/* The weights in a form: *done if they are there already; otherwise room for them, which is in the
 * slot, or in no slot if that is NULL (then the caller frees it). NULL with the error set. */
mxl_conv_form *mxl_conv_form_get(mxl_conv_form **slot, const mxl_conv_form_key *key, size_t bytes,
                                 bool *done);

#endif
