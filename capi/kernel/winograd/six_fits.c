/* See six_fits.h. */
#include "kernel/winograd/six_fits.h"

#include <string.h>

#include "base/dtype.h"
#include "base/env.h"
#include "kernel/winograd/winograd.h"

/* What is gained is less where threads share the memory. */
#define MARGIN 1.15

/* Costs in products of numbers, measured on a Zen 4. */
enum {
    TILE_COST = 400,   /* a tile of a channel is mapped, there or back, */
    PANEL_COST = 600,  /* or for the derivative by the weights */
    SMALL_COST = 300,  /* the same of tiles of 4 x 4 */
    WEIGHT_COST = 700, /* the kernel of an input and an output is mapped, */
    BACK_COST = 300,   /* or its derivative is mapped back */
    CALL_COST = 4 << 20,
    LEAST_LANES = 8 /* of a vector */
};

static int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to;
}

static bool is_of(const mxl_conv *v)
{
    static const int64_t ones[3] = {1, 1, 1};
    int64_t r = v->kernel[1];

    return v->dtype == MXL_F32 && v->kernel[0] == 1 && (r == 3 || r == 5) && v->kernel[2] == r &&
           memcmp(v->stride, ones, sizeof(ones)) == 0 &&
           memcmp(v->dilate, ones, sizeof(ones)) == 0 && v->x_size[0] == 1 && v->y_size[0] == 1 &&
           v->pad[0] == 0 && v->pad[1] < r && v->pad[2] < r &&
           mxl_conv_micro_f32()->lanes >= LEAST_LANES && mxl_env_number("MXLITE_WINOGRAD", 1) != 0;
}

bool mxl_six_fits(const mxl_conv *v, const int64_t result[3], bool weights)
{
    int64_t r = v->kernel[1], m = 7 - r;
    int64_t in = up(v->in, MXL_SIX_LANES) * MXL_SIX_LANES;
    int64_t out = up(v->out, MXL_SIX_LANES) * MXL_SIX_LANES;
    double groups = (double)v->groups, pairs = (double)(v->in * v->out), few, cost;
    double tiles = groups * (double)(v->batch * up(result[1], m) * up(result[2], m));
    double places = groups * (double)(v->batch * result[1] * result[2]);

    if (!is_of(v))
        return false;
    cost = MXL_SIX_POINTS * tiles + (weights ? BACK_COST : WEIGHT_COST) * groups;
    cost *= (double)(in * out);
    cost += (weights ? PANEL_COST : TILE_COST) * tiles * (double)(in + out) + CALL_COST;
    few = 1.2 * (double)(r * r) * places * pairs;
    if (!weights) /* sums between the rows are made, and dropped */
        few *= (double)(result[2] + r - 1) / (double)(result[2] + 1);
    if (mxl_winograd_fits(v, result[1], result[2]))
        few = 4 * places * pairs + SMALL_COST / 4 * places * (double)(v->in + v->out);
    return MARGIN * cost < few;
}

mxl_six_view mxl_six_images(const mxl_conv *v, const void *from, const int64_t size[3],
                            const int64_t result[3], int64_t channels, const int64_t rim[3])
{
    int64_t m = 7 - v->kernel[1];

    return (mxl_six_view){.from = from,
                          .batch = v->batch,
                          .groups = v->groups,
                          .channels = channels,
                          .size = {size[1], size[2]},
                          .lead = {rim[1], rim[2]},
                          .m = m,
                          .reach = 6,
                          .rows = up(result[1], m),
                          .columns = up(result[2], m)};
}

mxl_six_view mxl_six_results(const mxl_conv *v, const void *from, const int64_t size[3],
                             int64_t channels)
{
    static const int64_t none[3] = {0, 0, 0};
    mxl_six_view view = mxl_six_images(v, from, size, size, channels, none);

    view.reach = view.m;
    return view;
}

static int64_t width_at(const mxl_conv_micro *micro, int64_t rest)
{
    enum { LANES = MXL_SIX_LANES };

    if (micro->lanes < LANES || rest < 2 * LANES)
        return LANES;
    return rest == 4 * LANES || rest < 3 * LANES ? 2 * LANES : 3 * LANES;
}

int64_t mxl_six_panel(const mxl_conv_micro *micro, int64_t count, int64_t k, int64_t *width)
{
    int64_t panel = 0;

    for (*width = width_at(micro, count); k >= panel + *width;
         *width = width_at(micro, count - panel))
        panel += *width;
    return panel;
}
