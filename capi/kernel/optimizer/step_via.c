/* Steps of other dtypes through the loops of float32: see mxl_step_via. */
#include "kernel/copy/cast.h"
#include "kernel/optimizer/step_loop.h"

enum { TILE = 512, STATES = 3 };

typedef float tile[TILE];

/* A weight that is updated in place is so in float32 too: a rule may compare the two (nag). */
static float *result_of(const mxl_step *step, tile weight, tile result)
{
    return step->out == step->weight ? weight : result;
}

/* Casts n elements from `at` on into the tile, or back; what is float32 stays where it is. */
static float *take(int dtype, const void *from, int64_t at, int64_t n, float *room)
{
    const void *first = (const char *)from + (size_t)at * mxl_dtype_size(dtype);
    const int64_t one = 1;

    if (dtype == MXL_F32)
        return (float *)(uintptr_t)first;
    mxl_cast_loop(dtype, MXL_F32)(room, &first, &one, n, NULL);
    return room;
}

static void give(int dtype, void *to, int64_t at, int64_t n, const float *room)
{
    const void *const first = room;
    const int64_t one = 1;

    if (dtype != MXL_F32)
        mxl_cast_loop(MXL_F32, dtype)((char *)to + (size_t)at * mxl_dtype_size(dtype), &first, &one,
                                      n, NULL);
}

void mxl_step_via(mxl_step_fn run, int state, int grad, int out, const mxl_step *step,
                  const mxl_step_numbers *numbers, int64_t begin, int64_t end)
{
    tile weight, gradient, states[STATES], result;

    for (int64_t at = begin, n; at < end; at += n) {
        mxl_step part = *step;

        n = end - at < TILE ? end - at : TILE;
        if (step->master != NULL)
            part.master = step->master + at;
        if (step->weight != NULL && (state != MXL_F32 || step->master == NULL))
            part.weight = take(state, step->weight, at, n, weight);
        part.grad = take(grad, step->grad, at, n, gradient);
        for (int i = 0; i < STATES; i++) {
            if (step->state[i] != NULL)
                part.state[i] = take(state, step->state[i], at, n, states[i]);
        }
        part.out = out == MXL_F32 ? (float *)step->out + at : result_of(step, weight, result);
        run(&part, numbers, 0, n);
        for (int i = 0; i < STATES; i++) {
            if (step->state[i] != NULL)
                give(state, step->state[i], at, n, part.state[i]);
        }
        give(out, step->out, at, n, part.out);
    }
}
