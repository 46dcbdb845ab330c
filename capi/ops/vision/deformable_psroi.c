/* _contrib_DeformablePSROIPooling: bins of regions, each the mean of bilinear samples in channels
 * of its own, at places that move. Composed: the samples of all bins are those of one sampler,
 * which has derivatives of every order. The gradient of regions is zero. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/spatial/psroi.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/nn/images.h"
#include "ops/shape/movement.h"
#include "ops/vision/vision.h"

typedef struct moved_params {
    double spatial_scale;
    int64_t output_dim, group_size, pooled_size, part_size, sample_per_part;
    double trans_std;
    int no_trans;
} moved_params;

enum { LARGEST = 1 << 15 }; /* rows of a grid */

static int moved_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const moved_params *)params)->no_trans ? 2 : 3;
    return 0;
}

static int moved_check(void *params)
{
    const moved_params *p = params;
    const struct {
        const char *name;
        int64_t value, least;
    } rows[] = {{"output_dim", p->output_dim, 1},
                {"group_size", p->group_size, 1},
                {"pooled_size", p->pooled_size, 1},
                {"part_size", p->part_size, 0},
                {"sample_per_part", p->sample_per_part, 1}};

    for (int i = 0; i < 5; i++) {
        if (rows[i].value < rows[i].least || rows[i].value > LARGEST)
            return mxl_error("_contrib_DeformablePSROIPooling: %s must be from %lld to %d, got "
                             "%lld",
                             rows[i].name, (long long)rows[i].least, LARGEST,
                             (long long)rows[i].value);
    }
    if (!(p->spatial_scale >= 0 && p->spatial_scale <= 1))
        return mxl_error("_contrib_DeformablePSROIPooling: spatial_scale must be from 0 to 1, got "
                         "%g",
                         p->spatial_scale);
    if (!(p->trans_std >= 0 && p->trans_std <= 1))
        return mxl_error("_contrib_DeformablePSROIPooling: trans_std must be from 0 to 1, got %g",
                         p->trans_std);
    return 0;
}

static int64_t parts_of(const moved_params *p)
{
    return p->part_size > 0 ? p->part_size : p->pooled_size;
}

static int check_trans(const mxl_infer *infer)
{
    const moved_params *p = infer->params;
    const mxl_array *trans = infer->in[2], *regions = infer->in[1];
    int64_t parts = parts_of(p), shape[4] = {regions->shape[0], 0, parts, parts};

    if (mxl_check_dtypes(infer->op, regions, trans) != 0)
        return -1;
    shape[1] = trans->ndim == 4 ? trans->shape[1] : 2;
    if (!mxl_shape_same(trans->ndim, trans->shape, 4, shape))
        return mxl_error("%s: trans must have shape %s, got %s", infer->op->name,
                         MXL_SHAPE_TEXT(4, shape), MXL_SHAPE_OF(trans));
    if (shape[1] < 2 || shape[1] % 2 != 0 || p->output_dim % (shape[1] / 2) != 0)
        return mxl_error("%s: trans must have two channels for each of the classes, whose number "
                         "divides output_dim %lld; got %lld channels",
                         infer->op->name, (long long)p->output_dim, (long long)shape[1]);
    return 0;
}

static int moved_infer(mxl_infer *infer)
{
    const moved_params *p = infer->params;

    if (mxl_sensitive_infer(infer, infer->in[0], p->output_dim, p->group_size, p->pooled_size) != 0)
        return -1;
    return infer->num_inputs > 2 ? check_trans(infer) : 0;
}

/* ---- what is known of a call ---- */

/* The sizes of a call; regions are sorted by images, `most` of them for each. */
typedef struct sizes {
    mxl_psroi roi;
    const moved_params *p;
    const void *regions;
    int64_t classes, bins, samples, most;
} sizes;

/* A constant of the dtype of the call from numbers that `made` has in float64; scoped. */
static mxl_array *constant(mxl_scope *s, mxl_array *made, int dtype)
{
    return made == NULL || dtype == MXL_F64 ? made : mxl_cast(s, made, dtype);
}

static mxl_array *new_numbers(mxl_scope *s, int ndim, const int64_t *shape)
{
    return mxl_scope_own(s, mxl_array_new(MXL_F64, ndim, shape));
}

/* Where the samples are before they move: (regions, 1, 2, bins, samples), columns before rows. */
static mxl_array *find_places(mxl_scope *s, const sizes *z, int dtype)
{
    int64_t shape[5] = {z->roi.regions, 1, 2, z->bins, z->samples}, per = z->p->sample_per_part;
    mxl_array *made = new_numbers(s, 5, shape);
    double *at = made == NULL ? NULL : mxl_array_write(made);

    for (int64_t n = 0; at != NULL && n < z->roi.regions; n++) {
        mxl_psroi_region r = mxl_psroi_region_at(&z->roi, z->regions, n, -0.5);

        for (int64_t i = 0; i < 2 * z->bins * z->samples; i++) {
            int64_t axis = 1 - i / (z->bins * z->samples), bin = i / z->samples % z->bins;
            int64_t sample = i % z->samples;

            bin = axis == 0 ? bin / z->roi.bins : bin % z->roi.bins;
            sample = axis == 0 ? sample / per : sample % per;
            *at++ = (double)bin * r.bin[axis] + r.start[axis] +
                    (double)sample * mxl_psroi_round(&z->roi, r.bin[axis] / (double)per);
        }
    }
    return constant(s, made, dtype);
}

/* How far trans = 1 moves the samples: (regions, 1, 2, 1). */
static mxl_array *find_units(mxl_scope *s, const sizes *z, int dtype)
{
    mxl_array *made = new_numbers(s, 4, (int64_t[]){z->roi.regions, 1, 2, 1});
    double *at = made == NULL ? NULL : mxl_array_write(made);

    for (int64_t n = 0; at != NULL && n < z->roi.regions; n++) {
        mxl_psroi_region r = mxl_psroi_region_at(&z->roi, z->regions, n, -0.5);

        at[2 * n] = (double)(float)z->p->trans_std * r.size[1];
        at[2 * n + 1] = (double)(float)z->p->trans_std * r.size[0];
    }
    return constant(s, made, dtype);
}

/* Positions (bins) along an axis of `per` * `per`: those of the row and the column of each bin. */
static mxl_array *bin_positions(mxl_scope *s, const sizes *z, int64_t per, bool of_parts)
{
    mxl_array *made = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &z->bins));
    int64_t *at = made == NULL ? NULL : mxl_array_write(made), n = z->roi.bins;

    for (int64_t b = 0; at != NULL && b < z->bins; b++) {
        int64_t place[2] = {b / n, b % n};

        for (int i = 0; i < 2; i++) {
            if (of_parts)
                place[i] = (int64_t)floorf((float)place[i] / (float)n * (float)per);
            else
                place[i] = mxl_psroi_cell(&z->roi, place[i]);
        }
        at[b] = place[0] * per + place[1];
    }
    return made;
}

/* Regions by images: (images * most) the numbers of their regions, 0 where there are fewer; and
 * where each region is among these. */
static int sort_regions(mxl_scope *s, sizes *z, mxl_array **regions, mxl_array **slots)
{
    int64_t images = z->roi.batch, all, *count, *at, *slot;
    size_t bytes = (size_t)images * sizeof(int64_t);

    count = mxl_alloc(bytes);
    if (count == NULL)
        return -1;
    for (int64_t i = 0; i < images; i++)
        count[i] = 0;
    z->most = 0;
    *slots = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &z->roi.regions));
    slot = *slots == NULL ? NULL : mxl_array_write(*slots);
    for (int64_t n = 0; slot != NULL && n < z->roi.regions; n++) {
        int64_t image = mxl_psroi_region_at(&z->roi, z->regions, n, -0.5).image;

        slot[n] = count[image]++;
        z->most = count[image] > z->most ? count[image] : z->most;
    }
    mxl_free(count, bytes);
    all = images * z->most;
    *regions = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, &all));
    at = *regions == NULL ? NULL : mxl_array_write(*regions);
    if (at == NULL || slot == NULL)
        return -1;
    for (int64_t i = 0; i < all; i++)
        at[i] = 0;
    for (int64_t n = 0; n < z->roi.regions; n++) {
        slot[n] += mxl_psroi_region_at(&z->roi, z->regions, n, -0.5).image * z->most;
        at[slot[n]] = n;
    }
    return 0;
}

/* ---- the composition ---- */

/* The places of the samples: (regions, classes, 2, bins, samples). */
static mxl_array *move_places(mxl_scope *s, const sizes *z, const mxl_call *call)
{
    int64_t parts = parts_of(z->p), rows = z->roi.regions * z->classes * 2;
    mxl_array *places = find_places(s, z, call->in[0]->dtype), *trans;

    if (call->num_inputs < 3)
        return places;
    trans = mxl_transposed(s, mxl_reshape(s, call->in[2], 2, (int64_t[]){rows, parts * parts}));
    trans = mxl_transposed(s, mxl_take_rows(s, trans, bin_positions(s, z, parts, true)));
    trans = mxl_reshape(s, trans, 4, (int64_t[]){z->roi.regions, z->classes, 2, z->bins});
    trans = mxl_mul(s, trans, find_units(s, z, call->in[0]->dtype));
    trans = mxl_reshape(s, trans, 5, (int64_t[]){z->roi.regions, z->classes, 2, z->bins, 1});
    return mxl_add(s, places, trans);
}

/* 1 where a place is at most half a pixel outside of n pixels, else 0 */
static mxl_array *inside(mxl_scope *s, mxl_array *place, int64_t n)
{
    mxl_array *before = mxl_positive(s, mxl_negative(s, mxl_add_scalar(s, place, 0.5)));
    mxl_array *behind = mxl_positive(s, mxl_add_scalar(s, place, 0.5 - (double)n));

    return mxl_mul(s, mxl_one_minus(s, before), mxl_one_minus(s, behind));
}

/* The same places within the image, those that do not count at -1; and in *count, (regions,
 * classes, 1, bins), the number of those of a bin that do, 1 for none. */
static mxl_array *clip_places(mxl_scope *s, const sizes *z, mxl_array *places, mxl_array **count)
{
    mxl_array *axis[2], *counts;
    int64_t n[2] = {z->roi.width, z->roi.height};

    for (int i = 0; i < 2; i++)
        axis[i] = mxl_slice_axis(s, places, 2, i, i + 1);
    counts = mxl_mul(s, inside(s, axis[0], n[0]), inside(s, axis[1], n[1]));
    for (int i = 0; i < 2; i++) {
        axis[i] = mxl_add_scalar(s, mxl_clip(s, axis[i], 0, (double)(n[i] - 1)), 1);
        axis[i] = mxl_add_scalar(s, mxl_mul(s, axis[i], counts), -1);
    }
    counts = mxl_sum_axis(s, counts, 4);
    counts = mxl_add(s, counts, mxl_equal(s, counts, mxl_zeros_like(s, counts)));
    *count = mxl_reshape(s, counts, 4, (int64_t[]){z->roi.regions, z->classes, 1, z->bins});
    return mxl_concat(s, 2, axis, 2);
}

/* The planes that each bin reads: (bins * images * classes, channels of a class, rows, columns). */
static mxl_array *find_planes(mxl_scope *s, const sizes *z, mxl_array *x)
{
    int64_t groups = z->roi.groups, channels = z->p->output_dim * groups * groups;
    int64_t plane = z->roi.height * z->roi.width, images = z->roi.batch;

    if (x->shape[1] > channels)
        x = mxl_slice_axis(s, x, 1, 0, channels);
    x = mxl_reshape(s, x, 3, (int64_t[]){images * z->p->output_dim, groups * groups, plane});
    x = mxl_swap_axes(s, x, 0, 1);
    if (groups != z->roi.bins)
        x = mxl_take_rows(s, x, bin_positions(s, z, groups, false));
    return mxl_reshape(s, x, 4,
                       (int64_t[]){z->bins * images * z->classes, z->p->output_dim / z->classes,
                                   z->roi.height, z->roi.width});
}

/* The sums of the samples: (regions, classes, channels of a class, bins). */
static mxl_array *sum_samples(mxl_scope *s, sizes *z, mxl_array *x, mxl_array *places)
{
    int64_t images = z->roi.batch, classes = z->classes, dim = z->p->output_dim;
    mxl_array *regions, *slots, *y;

    if (sort_regions(s, z, &regions, &slots) != 0)
        return mxl_scope_own(s, NULL);
    places = mxl_reshape(s, mxl_take_rows(s, places, regions), 5,
                         (int64_t[]){images, z->most, classes * 2, z->bins, z->samples});
    places = mxl_swap_axes(s, mxl_swap_axes(s, places, 1, 3), 0, 1);
    places =
        mxl_reshape(s, places, 4, (int64_t[]){z->bins * images * classes, 2, z->most, z->samples});
    y = mxl_sum_axis(s, mxl_sample_pixels(s, find_planes(s, z, x), places), 3);
    y = mxl_reshape(s, y, 4, (int64_t[]){z->bins, images, dim, z->most});
    y = mxl_swap_axes(s, mxl_swap_axes(s, y, 0, 3), 0, 1);
    y = mxl_reshape(s, y, 2, (int64_t[]){images * z->most, dim * z->bins});
    y = mxl_take_rows(s, y, slots);
    return mxl_reshape(s, y, 4, (int64_t[]){z->roi.regions, classes, dim / classes, z->bins});
}

static mxl_array *moved_compose(mxl_scope *s, const mxl_call *call)
{
    const moved_params *p = call->params;
    const int64_t *images = call->in[0]->shape,
                  out[4] = {call->in[1]->shape[0], p->output_dim, p->pooled_size, p->pooled_size};
    mxl_array *regions = call->in[1], *places, *count, *sums;
    sizes z = {.p = p,
               .classes = call->num_inputs > 2 ? call->in[2]->shape[1] / 2 : 1,
               .bins = p->pooled_size * p->pooled_size,
               .samples = p->sample_per_part * p->sample_per_part};

    if (out[0] == 0) { /* no rows of the images, so that backward reaches them */
        mxl_array *none = mxl_scope_own(s, mxl_array_new(MXL_I64, 1, (int64_t[]){0}));

        return mxl_reshape(s, mxl_take_rows(s, call->in[0], none), 4, out);
    }
    if (regions->dtype == MXL_F16)
        regions = mxl_cast(s, regions, MXL_F32);
    if (regions != NULL && !regions->contiguous)
        regions = mxl_scope_own(s, mxl_array_contiguous(regions));
    if (regions == NULL)
        return NULL;
    z.roi = (mxl_psroi){.dtype = regions->dtype,
                        .batch = images[0],
                        .height = images[2],
                        .width = images[3],
                        .regions = out[0],
                        .bins = p->pooled_size,
                        .groups = p->group_size,
                        .scale = p->spatial_scale};
    z.regions = mxl_array_read(regions);
    if (mxl_psroi_check(&z.roi, z.regions) != 0) {
        (void)mxl_error_prefix(call->op->name);
        return mxl_scope_own(s, NULL);
    }
    places = clip_places(s, &z, move_places(s, &z, call), &count);
    if (places == NULL)
        return NULL;
    sums = sum_samples(s, &z, call->in[0], places);
    return mxl_reshape(s, mxl_div(s, sums, count), 4, out);
}

#define FIELD(field, kind, text, ...) MXL_PARAM(moved_params, field, kind, text, __VA_ARGS__)
#define SYMBOL                        .type_text = "Symbol"

static const mxl_op op_moved = {
    .name = "_contrib_DeformablePSROIPooling",
    .doc = "Regions of images in bins, each the mean of bilinear samples in a channel of its own, "
           "at places that move; 0 for a bin without samples in the image.",
    MXL_INPUTS(MXL_INPUT(data,
                         "Images (batch, output_dim * group_size^2, rows, columns) of a "
                         "floating dtype.",
                         SYMBOL),
               MXL_INPUT(rois,
                         "(regions, 5), of the dtype of data: the number of an image, then "
                         "left, top, right and bottom of the region.",
                         SYMBOL),
               MXL_INPUT(trans,
                         "(regions, 2 * classes, part_size, part_size): how far each part "
                         "moves, in columns and in rows; absent with no_trans.",
                         SYMBOL)),
    MXL_PARAMS_OF(
        moved_params,
        FIELD(spatial_scale, MXL_P_FLOAT, MXL_REQUIRED,
              "Factor of the regions' coordinates, 0 to 1."),
        FIELD(output_dim, MXL_P_INT, MXL_REQUIRED, "Channels of the result."),
        FIELD(group_size, MXL_P_INT, MXL_REQUIRED,
              "Rows, and columns, of the grid of channels of each channel of the result."),
        FIELD(pooled_size, MXL_P_INT, MXL_REQUIRED, "Rows, and columns, of bins of a region."),
        FIELD(part_size, MXL_P_INT, "0", "Rows, and columns, of trans; 0: pooled_size."),
        FIELD(sample_per_part, MXL_P_INT, "1", "Rows, and columns, of samples of a bin."),
        FIELD(trans_std, MXL_P_FLOAT, "0",
              "The part of a region's size by which a trans of 1 moves, 0 to 1."),
        FIELD(no_trans, MXL_P_BOOL, "0", "Whether there is no trans.")),
    .arity = moved_arity,
    .check = moved_check,
    .output_names = "output top_count",
    .total_outputs = 2,
    .infer = moved_infer,
    .compose = moved_compose,
};

const mxl_op *const mxl_ops_deformable_psroi[] = {&op_moved, NULL};
