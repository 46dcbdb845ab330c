/* Parameters and sizes that convolutions share. For convolution.c and deconvolution.c. */
#ifndef MXL_OPS_CONV_CONV_OPS_H
#define MXL_OPS_CONV_CONV_OPS_H

#include "kernel/conv/conv.h"
#include "op/shapes/shapes.h"
#include "ops/build.h"

/* The parameters of Convolution, Deconvolution and of the operators of their derivatives; each has
 * some of them. Lists that may be empty stand for 1 (stride, dilate) or 0 (pad, adj) everywhere. */
typedef struct mxl_conv_params {
    mxl_tuple kernel, stride, dilate, pad;
    int64_t num_filter, num_group, workspace;
    int no_bias, cudnn_tune, cudnn_off, layout;
    mxl_tuple adj, target_shape;
    mxl_tuple size; /* of x, of the operator of its derivative */
} mxl_conv_params;

extern const mxl_op mxl_op_convolution;

extern const char *const mxl_conv_tunes[];
extern const char *const mxl_conv_layouts[];

#define MXL_CONV_FIELD(field, kind, text, ...)                                                     \
    MXL_PARAM(mxl_conv_params, field, kind, text, __VA_ARGS__)

/* The window's rows of a table; and those behind num_filter, without the layout. */
#define MXL_CONV_WINDOW                                                                            \
    MXL_CONV_FIELD(kernel, MXL_P_SHAPE, MXL_REQUIRED,                                              \
                   "Size of the kernel: one to three numbers, as many as spatial axes."),          \
        MXL_CONV_FIELD(stride, MXL_P_SHAPE, "[]",                                                  \
                       "Distance of neighbouring positions; empty: 1."),                           \
        MXL_CONV_FIELD(dilate, MXL_P_SHAPE, "[]",                                                  \
                       "Distance of neighbouring elements of the kernel; empty: 1."),              \
        MXL_CONV_FIELD(pad, MXL_P_SHAPE, "[]", "Zeros at each end of an axis; empty: 0.")
#define MXL_CONV_COUNT(field, name, text, least, ...)                                              \
    MXL_CONV_FIELD(field, MXL_P_INT, text, __VA_ARGS__, .type_name = name, MXL_AT_LEAST(least))
#define MXL_CONV_CHANNELS(room, bias)                                                              \
    MXL_CONV_COUNT(num_filter, "int (non-negative)", MXL_REQUIRED, 1, "Channels of the result."),  \
        MXL_CONV_COUNT(num_group, "int (non-negative)", "1", 1,                                    \
                       "Groups of channels; each is convolved by itself."),                        \
        MXL_CONV_COUNT(workspace, "long (non-negative)", room, 0, "Of no meaning here."),          \
        MXL_CONV_FIELD(no_bias, MXL_P_BOOL, bias, "Whether there is no bias."),                    \
        MXL_CONV_FIELD(cudnn_tune, MXL_P_ENUM, "None", "Of no meaning here.",                      \
                       .values = mxl_conv_tunes),                                                  \
        MXL_CONV_FIELD(cudnn_off, MXL_P_BOOL, "0", "Of no meaning here.")
#define MXL_CONV_LAYOUT(names)                                                                     \
    MXL_CONV_FIELD(layout, MXL_P_ENUM, "None",                                                     \
                   "Order of the axes: channels before the spatial axes, which is None too; the "  \
                   "others are refused.",                                                          \
                   .values = names)

/* The rows of the operators of the derivatives; the first has `size` too. And their shapes. */
#define MXL_CONV_PRODUCT                                                                           \
    MXL_CONV_WINDOW, MXL_CONV_COUNT(num_group, "int (non-negative)", "1", 1, "Groups of channels.")
#define MXL_CONV_SIZE                                                                              \
    MXL_CONV_FIELD(size, MXL_P_SHAPE, MXL_REQUIRED, "Sizes of the spatial axes of the data.")
#define MXL_CONV_X_SHAPES                                                                          \
    "y[N,num_group*F,*window(size)] weight[num_group*F,I,*kernel] -> [N,num_group*I,*size]"
#define MXL_CONV_W_SHAPES                                                                          \
    "data[N,num_group*I,*S:kernel] y[N,num_group*F,*window(S)] -> [num_group*F,I,*kernel]"

/* Whether there is a third input. */
int mxl_conv_arity(const void *params, mxl_arity *arity);

/* The extent of the kernel along axis i. */
static inline int64_t mxl_conv_reach(const mxl_conv_params *p, int i)
{
    return (p->kernel.v[i] - 1) * mxl_tuple_entry(p->dilate, i, 1) + 1;
}

/* The entries of the window's lists; -1 with the error set. */
int mxl_conv_check(const char *name, const mxl_conv_params *p);
/* The same of the operator of the derivative by the data, with its size. */
int mxl_conv_check_x(const char *name, const mxl_conv_params *p);
/* mxl_infer_said, and what no text says: the layout, and that num_group divides num_filter. */
int mxl_conv_infer(mxl_infer *infer);
/* For texts of shapes: *window(S), how often the kernel fits along each axis. */
extern const mxl_size_function mxl_conv_sizes[];

/* The convolution of x with w to y, from their shapes. */
mxl_conv mxl_conv_of(const mxl_conv_params *p, int dtype, int ndim, const int64_t *x,
                     const int64_t *w, const int64_t *y);

/* The three products (kernel/conv/conv.h) as calls: the window, the groups and, for mxl_conv_x, the
 * spatial size of x are from p. Scoped. */
mxl_array *mxl_conv_y(mxl_scope *s, const mxl_conv_params *p, mxl_array *x, mxl_array *w);
mxl_array *mxl_conv_x(mxl_scope *s, const mxl_conv_params *p, mxl_array *y, mxl_array *w);
mxl_array *mxl_conv_w(mxl_scope *s, const mxl_conv_params *p, mxl_array *x, mxl_array *y);

/* Sets the gradient of the bias, input 2: the sums of each channel of dy. */
int mxl_conv_grad_bias(mxl_grad *g);

#endif
