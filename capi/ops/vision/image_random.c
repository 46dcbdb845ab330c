/* _image_random_*: colours of an image changed by random factors; adjust_lighting. Their gradient
 * is the one that arrives, as in 1.9.1: that of an image that was not changed. */
#include <stddef.h>

#include "array/copy.h"
#include "engine/run/generator.h"
#include "kernel/random/draw.h"
#include "kernel/vision/colour.h"
#include "ops/vision/image.h"

typedef enum aspect { BRIGHTNESS, CONTRAST, SATURATION, HUE, ASPECTS } aspect;

/* Changes one aspect of an image by a factor; for hue, the part of a circle. */
static void change(const mxl_array *x, aspect what, double factor, const void *in, void *out)
{
    int64_t channels = x->shape[2], pixels = x->shape[0] * x->shape[1];
    mxl_colour colour = {.scale = what == HUE ? 1 : factor};

    if (what == CONTRAST) {
        double gray = (1 - factor) * mxl_colour_gray(x->dtype, pixels, channels, in);

        for (int c = 0; c < 3; c++)
            colour.offset[c] = gray;
    } else if (what == SATURATION) {
        /* Of the gray level 1.9.1 takes the share of blue alone. An image of one channel stays. */
        colour.share = 0.114 * (1 - factor);
        colour.scale = channels == 1 ? 1 : factor;
    } else if (what == HUE) {
        colour.turn = factor;
    }
    mxl_colour_change(x->dtype, pixels, channels, &colour, in, out);
}

/* ---- one aspect ---- */

typedef struct factor_params {
    double min_factor, max_factor;
} factor_params;

static int factor_check(void *params)
{
    const factor_params *p = params;

    if (!(p->min_factor >= 0 && p->max_factor >= 0))
        return mxl_error(
            "_image_random: min_factor and max_factor must be 0 or more, got %g and %g",
            p->min_factor, p->max_factor);
    return 0;
}

static const mxl_op op_brightness, op_contrast, op_saturation, op_hue;

static int factor_compute(const mxl_call *call)
{
    const factor_params *p = call->params;
    aspect what = call->op == &op_brightness   ? BRIGHTNESS
                  : call->op == &op_contrast   ? CONTRAST
                  : call->op == &op_saturation ? SATURATION
                                               : HUE;
    mxl_draws draws;

    mxl_draws_begin(&draws, mxl_random_stream(), 0);
    change(call->in[0], what,
           (double)(float)mxl_draw_uniform(&draws, (float)p->min_factor, (float)p->max_factor),
           mxl_array_read(call->in[0]), mxl_array_write(call->out[0]));
    return 0;
}

#define FACTOR(id, text, ...)                                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = "_image_random_" text,                                                             \
        .numbers_inputs = true,                                                                    \
        .aliases = MXL_ALIASES("_npx__image_random_" text),                                        \
        .inputs = mxl_inputs_image,                                                                \
        MXL_PARAMS_OF(factor_params,                                                               \
                      MXL_PARAM(factor_params, min_factor, MXL_P_FLOAT, MXL_REQUIRED,              \
                                "The least factor, 0 or more."),                                   \
                      MXL_PARAM(factor_params, max_factor, MXL_P_FLOAT, MXL_REQUIRED,              \
                                "The largest factor, 0 or more.")),                                \
        .check = factor_check,                                                                     \
        .infer = mxl_image_infer,                                                                  \
        .compute = factor_compute,                                                                 \
        .draws = true,                                                                             \
        .grad = mxl_grad_pass,                                                                     \
        .doc = __VA_ARGS__,                                                                        \
    }

FACTOR(brightness, "brightness",
       "An image times a random factor, evenly distributed. Gradients pass as they are.");
FACTOR(contrast, "contrast",
       "An image whose distance from its mean gray level is multiplied with a random factor, "
       "evenly distributed. Gradients pass as they are.");
FACTOR(saturation, "saturation",
       "An image mixed with a gray one: a random factor of it, evenly distributed, and one minus "
       "the factor of the share of blue in the gray level (0.114 blue, as 1.9.1 has it). Gradients "
       "pass as they are.");
FACTOR(hue, "hue",
       "An image with its hue turned by a random part of a circle, evenly distributed. Gradients "
       "pass as they are.");

/* ---- all aspects ---- */

typedef struct jitter_params {
    double most[ASPECTS];
} jitter_params;

/* In random order, each aspect that has a range. Integers are rounded after each. */
static int jitter_compute(const mxl_call *call)
{
    const jitter_params *p = call->params;
    aspect order[ASPECTS] = {BRIGHTNESS, CONTRAST, SATURATION, HUE};
    mxl_array *x = call->in[0];
    mxl_draws draws;
    void *out;

    if (mxl_array_copy_into(call->out[0], x) != 0)
        return -1;
    out = mxl_array_write(call->out[0]); /* after the copy, which may have been deferred */
    mxl_draws_begin(&draws, mxl_random_stream(), 0);
    for (int i = 0; i < ASPECTS; i++) {
        int other = i + (int)mxl_draw_below(&draws, (uint64_t)(ASPECTS - i));
        aspect what = order[other];
        double most = p->most[what], factor = mxl_draw_uniform(&draws, -most, most);

        order[other] = order[i];
        if (most > 0)
            change(x, what, what == HUE ? factor : 1 + factor, out, out);
    }
    return 0;
}

#define MOST(text, index, meaning)                                                                 \
    {.name = text,                                                                                 \
     .type = MXL_P_FLOAT,                                                                          \
     .offset = offsetof(jitter_params, most) + (index) * sizeof(double),                           \
     .doc = meaning}

static const mxl_op op_jitter = {
    .name = "_image_random_color_jitter",
    .aliases = MXL_ALIASES("_npx__image_random_color_jitter"),
    .numbers_inputs = true,
    .doc =
        "An image with brightness, contrast, saturation and hue changed in random order, each by "
        "a random factor. Gradients pass as they are.",
    .inputs = mxl_inputs_image,
    MXL_PARAMS_OF(jitter_params,
                  MOST("brightness", BRIGHTNESS, "How far the factor may be from 1."),
                  MOST("contrast", CONTRAST, "How far the factor may be from 1."),
                  MOST("saturation", SATURATION, "How far the factor may be from 1."),
                  MOST("hue", HUE, "The largest part of a circle, in either direction.")),
    .infer = mxl_image_infer,
    .compute = jitter_compute,
    .draws = true,
    .grad = mxl_grad_pass,
};

/* ---- lighting ---- */

/* Adds the principal components of the colours of ImageNet, times a number each. An image of one
 * channel stays. */
static void light(const mxl_call *call, const double alpha[3])
{
    static const double components[3][3] = {
        {55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
        {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
        {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203},
    };
    const mxl_array *x = call->in[0];
    mxl_colour colour = {.scale = 1};

    for (int c = 0; c < 3 && x->shape[2] == 3; c++) {
        for (int k = 0; k < 3; k++)
            colour.offset[c] += components[c][k] * alpha[k];
    }
    mxl_colour_change(x->dtype, x->shape[0] * x->shape[1], x->shape[2], &colour, mxl_array_read(x),
                      mxl_array_write(call->out[0]));
}

static int lighting_infer(mxl_infer *infer)
{
    const mxl_floats *alpha = infer->params;

    if (alpha->n < 3)
        return mxl_error("%s: alpha must have 3 numbers, got %d", infer->op->name, alpha->n);
    return mxl_image_infer(infer);
}

static int lighting_compute(const mxl_call *call)
{
    light(call, ((const mxl_floats *)call->params)->v);
    return 0;
}

static const mxl_op op_lighting = {
    .name = "_image_adjust_lighting",
    .aliases = MXL_ALIASES("_npx__image_adjust_lighting"),
    .numbers_inputs = true,
    .doc = "An image of three channels plus three numbers times the principal components of the "
           "colours of ImageNet; one of one channel as it is.",
    .inputs = mxl_inputs_image,
    MXL_ONLY_PARAM(mxl_floats, alpha, MXL_P_FLOATS, MXL_REQUIRED, "The three numbers."),
    .infer = lighting_infer,
    .compute = lighting_compute,
    .grad = mxl_grad_pass,
};

static int random_lighting_compute(const mxl_call *call)
{
    double alpha[3], deviation = *(const double *)call->params;
    mxl_draws draws;

    mxl_draws_begin(&draws, mxl_random_stream(), 0);
    for (int k = 0; k < 3; k++)
        alpha[k] = mxl_draw_normal(&draws, 0, deviation);
    light(call, alpha);
    return 0;
}

static const mxl_op op_random_lighting = {
    .name = "_image_random_lighting",
    .aliases = MXL_ALIASES("_npx__image_random_lighting"),
    .numbers_inputs = true,
    .doc = "_image_adjust_lighting by random numbers, normally distributed around 0.",
    .inputs = mxl_inputs_image,
    MXL_ONLY_PARAM(double, alpha_std, MXL_P_FLOAT, "0.0500000007", "The standard deviation."),
    .infer = mxl_image_infer,
    .compute = random_lighting_compute,
    .draws = true,
    .grad = mxl_grad_pass,
};

const mxl_op *const mxl_ops_image_random[] = {
    &op_brightness, &op_contrast, &op_saturation,      &op_hue,
    &op_jitter,     &op_lighting, &op_random_lighting, NULL};
