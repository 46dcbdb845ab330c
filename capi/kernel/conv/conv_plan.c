/* Plans of convolutions: which planes, and which taps at which positions of the output. */
#include "kernel/conv/conv_plan.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"

static int64_t product(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

/* Position number i of a block of three dimensions. */
static void position(int64_t i, const int64_t *size, int64_t *at)
{
    at[2] = i % size[2];
    at[1] = i / size[2] % size[1];
    at[0] = i / size[2] / size[1];
}

/* The element of a plane at a position. */
static int64_t plane_index(const mxl_planes *p, const int64_t *at)
{
    return (at[0] * p->plane[1] + at[1]) * p->pitch + at[2];
}

static int64_t index_of(const int64_t *at, const int64_t *size)
{
    return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

/* Whether the elements of an image's planes can be counted. */
static bool planes_fit(const mxl_planes *p, int64_t phases)
{
    int64_t n = p->channels, most = INT64_MAX / 64;

    return !__builtin_mul_overflow(n, phases, &n) && !__builtin_mul_overflow(n, p->plane[0], &n) &&
           !__builtin_mul_overflow(n, p->plane[1], &n) &&
           !__builtin_mul_overflow(n, p->plane[2], &n) && n <= most;
}

/* Room for lattices, phases, and the taps of all lattices. */
static int take_room(mxl_conv_plan *plan, int64_t lattices, int64_t phases, int64_t taps,
                     int64_t **plane_at, int64_t **weight_at)
{
    size_t first = (size_t)lattices * sizeof(mxl_lattice);

    if (!planes_fit(&plan->planes, phases))
        return mxl_error("out of memory: room for the padded images of a convolution");
    plan->bytes = first + (size_t)(3 * phases + 2 * taps) * sizeof(int64_t);
    plan->room = mxl_alloc_zero(plan->bytes);
    if (plan->room == NULL)
        return -1;
    plan->num_lattices = lattices;
    plan->lattices = plan->room;
    plan->planes.num_phases = phases;
    plan->planes.phases = (void *)((char *)plan->room + first);
    *plane_at = (int64_t *)(plan->planes.phases + phases);
    *weight_at = *plane_at + taps;
    return 0;
}

void mxl_conv_plan_clear(mxl_conv_plan *plan)
{
    mxl_free(plan->room, plan->bytes);
}

/* ---- y from x ---- */

/* The phase of kernel position t is t * dilate modulo stride, which repeats after stride / gcd
 * positions. */
static int64_t gcd(int64_t stride, int64_t dilate)
{
    while (dilate != 0) {
        int64_t rest = stride % dilate;

        stride = dilate;
        dilate = rest;
    }
    return stride;
}

int mxl_conv_plan_forward(const mxl_conv *v, mxl_conv_plan *plan)
{
    int64_t taps = product(v->kernel), used[3], period[3], *plane_at, *weight_at, size;
    mxl_planes *p = &plan->planes;
    mxl_lattice *l;

    *plan = (mxl_conv_plan){.planes = {.dtype = v->dtype, .channels = v->groups * v->in}};
    for (int i = 0; i < 3; i++) {
        p->image[i] = v->x_size[i];
        p->step[i] = v->stride[i];
        p->lead[i] = v->pad[i];
        p->plane[i] = v->y_size[i] + (v->kernel[i] - 1) * v->dilate[i] / v->stride[i];
        period[i] = v->stride[i] / gcd(v->stride[i], v->dilate[i]);
        used[i] = period[i] < v->kernel[i] ? period[i] : v->kernel[i];
    }
    if (take_room(plan, 1, product(used), taps, &plane_at, &weight_at) != 0)
        return -1;
    for (int64_t f = 0; f < product(used); f++) {
        int64_t at[3];

        position(f, used, at);
        for (int i = 0; i < 3; i++)
            p->phases[f][i] = at[i] * v->dilate[i] % v->stride[i];
    }
    mxl_planes_overlap(p, v->y_size[2]);
    size = mxl_planes_size(p);
    l = &plan->lattices[0];
    *l = (mxl_lattice){
        .apart = {1, 1, 1}, .num_taps = taps, .plane_at = plane_at, .weight_at = weight_at};
    memcpy(l->count, v->y_size, sizeof l->count);
    for (int64_t t = 0; t < taps; t++) {
        int64_t at[3], phase[3], shift[3];

        position(t, v->kernel, at);
        for (int i = 0; i < 3; i++) {
            phase[i] = at[i] % period[i];
            shift[i] = at[i] * v->dilate[i] / v->stride[i];
        }
        plane_at[t] = index_of(phase, used) * size + plane_index(p, shift);
        weight_at[t] = t;
    }
    return 0;
}

/* ---- x from y ---- */

/* In one dimension: kernel position t adds y[o] to x[o * stride + t * dilate - pad]. So it serves
 * the positions of x whose remainder by the stride is `remainder`; number m of these reads y[m +
 * shift]. */
static void tap_of(const mxl_conv *v, int i, int64_t t, int64_t *remainder, int64_t *shift)
{
    int64_t stride = v->stride[i], at = t * v->dilate[i] - v->pad[i];

    *remainder = (at % stride + stride) % stride;
    *shift = (*remainder - at) / stride;
}

/* Positions of x with a remainder. */
static int64_t count_of(const mxl_conv *v, int i, int64_t remainder)
{
    return remainder < v->x_size[i] ? (v->x_size[i] - remainder - 1) / v->stride[i] + 1 : 0;
}

/* The taps of the lattice with these remainders; returns how many. */
static int64_t find_taps(const mxl_conv *v, const mxl_planes *p, const int64_t *remainders,
                         int64_t *plane_at, int64_t *weight_at)
{
    int64_t count = 0;

    for (int64_t t = 0; t < product(v->kernel); t++) {
        int64_t at[3], shift[3];
        bool fits = true;

        position(t, v->kernel, at);
        for (int i = 0; i < 3; i++) {
            int64_t remainder;

            tap_of(v, i, at[i], &remainder, &shift[i]);
            fits = fits && remainder == remainders[i];
            shift[i] += p->lead[i];
        }
        if (!fits)
            continue;
        plane_at[count] = plane_index(p, shift);
        weight_at[count++] = t;
    }
    return count;
}

int mxl_conv_plan_data(const mxl_conv *v, mxl_conv_plan *plan)
{
    int64_t lattices[3], *plane_at, *weight_at;
    mxl_planes *p = &plan->planes;

    *plan = (mxl_conv_plan){.planes = {.dtype = v->dtype, .channels = v->groups * v->out}};
    for (int i = 0; i < 3; i++) {
        int64_t least = INT64_MAX, most = INT64_MIN, remainder, shift;

        for (int64_t t = 0; t < v->kernel[i]; t++) {
            tap_of(v, i, t, &remainder, &shift);
            least = shift < least ? shift : least;
            most = shift > most ? shift : most;
        }
        p->image[i] = v->y_size[i];
        p->step[i] = 1;
        p->lead[i] = -least;
        p->plane[i] = count_of(v, i, 0) + most - least;
        lattices[i] = v->stride[i] < v->x_size[i] ? v->stride[i] : v->x_size[i];
    }
    if (take_room(plan, product(lattices), 1, product(v->kernel), &plane_at, &weight_at) != 0)
        return -1;
    mxl_planes_overlap(p, count_of(v, 2, 0));
    for (int64_t n = 0; n < plan->num_lattices; n++) {
        mxl_lattice *l = &plan->lattices[n];

        position(n, lattices, l->first);
        for (int i = 0; i < 3; i++) {
            l->apart[i] = v->stride[i];
            l->count[i] = count_of(v, i, l->first[i]);
        }
        l->plane_at = plane_at;
        l->weight_at = weight_at;
        l->num_taps = find_taps(v, p, l->first, plane_at, weight_at);
        plane_at += l->num_taps;
        weight_at += l->num_taps;
    }
    return 0;
}
