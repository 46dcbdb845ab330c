/* See depthwise.h.
 *
 * A worker takes a channel of an image at a time. Its planes are made in memory that stays in the
 * worker's cache: only the rows of the image are copied, as the zeros around them are there from
 * the channel before. */
#include "kernel/conv/depthwise.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/depthwise_micro.h"
#include "kernel/target.h"

enum {
    FEW = 2,               /* most channels of the output for one of the images */
    LINE = 16,             /* floats of a line of a cache */
    SOME = 8,              /* channels that a worker takes at a time */
    WORTH_THREAD = 1 << 17 /* products that are worth a thread */
};

/* The rows of the image in the planes of one phase. */
typedef struct phase {
    int64_t depth, rows, n; /* sizes */
    int64_t from, to;       /* where they begin, in the image and in the planes of a channel */
} phase;

typedef struct engine {
    const mxl_correlation *c;
    const mxl_depthwise_micro *micro;
    const mxl_lattice *l;
    mxl_depthwise_rows rows;
    const phase *phases;      /* of the planes */
    int64_t planes, room;     /* floats of planes, of a worker's memory */
    int64_t image, result;    /* elements of a channel of the image, and of the output */
    float *memory;            /* of all workers */
    const float *scale, *add; /* of the tail, or NULL */
    atomic_int_fast64_t next; /* the channels of an image that are taken next */
} engine;

bool mxl_depthwise_fits(const mxl_correlation *c)
{
    return c->in == 1 && c->out <= FEW && c->planes.dtype == MXL_F32 && c->num_lattices == 1 &&
           c->lattices[0].apart[2] == 1 && c->lattices[0].num_taps > 0;
}

/* ---- planes ---- */

static void find_phase(const mxl_planes *p, int64_t number, phase *f)
{
    int64_t first[3], end[3], at[3];

    for (int i = 0; i < 3; i++) {
        mxl_planes_inside(p, i, p->phases[number][i], &first[i], &end[i]);
        at[i] = first[i] * p->step[i] + p->phases[number][i] - p->lead[i];
    }
    f->depth = end[0] - first[0];
    f->rows = end[1] - first[1];
    f->n = (end[2] < p->pitch ? end[2] : p->pitch) - first[2];
    f->from = (at[0] * p->image[1] + at[1]) * p->image[2] + at[2];
    f->to = number * mxl_planes_size(p) + (first[0] * p->plane[1] + first[1]) * p->pitch + first[2];
}

/* Whole vectors, of which the last may overlap the one before. */
MXL_INLINE void copy(float *to, const float *from, int64_t n, int64_t some)
{
    int64_t i = 0;

    for (; i + some <= n; i += some)
        memcpy(to + i, from + i, (size_t)some * sizeof(float));
    if (i < n)
        memcpy(to + n - some, from + n - some, (size_t)some * sizeof(float));
}

/* Rows of n elements that are `step` apart. */
MXL_INLINE void copy_rows_at(int level, float *to, int64_t to_pitch, const float *from,
                             int64_t from_pitch, int64_t rows, int64_t n, int64_t step)
{
    (void)level;
    for (int64_t r = 0; r < rows; r++, to += to_pitch, from += from_pitch) {
        if (step == 1 && n >= 16) {
            copy(to, from, n, 16);
        } else if (step == 1 && n >= 4) {
            copy(to, from, n, 4);
        } else {
            for (int64_t i = 0; i < n; i++)
                to[i] = from[i * step];
        }
    }
}
MXL_FROM_AVX2(copy_rows,
              (float *to, int64_t to_pitch, const float *from, int64_t from_pitch, int64_t rows,
               int64_t n, int64_t step),
              to, to_pitch, from, from_pitch, rows, n, step)

/* Whether two phases have the columns of the same rows by turns, and which begins: 0, 1; -1: not.
 */
static int by_turns(const mxl_planes *p, const phase *f, const phase *g)
{
    int64_t apart = g->from - f->from, more = f->n - g->n;

    if (p->step[2] != 2 || f->depth != g->depth || f->rows != g->rows || f->n < 1 || g->n < 1)
        return -1;
    if (apart == 1 && (more == 0 || more == 1))
        return 0;
    return apart == -1 && (more == 0 || more == -1) ? 1 : -1;
}

static void make_planes(const engine *e, const float *image, float *planes)
{
    const mxl_planes *p = &e->c->planes;
    int64_t sheet = p->plane[1] * p->pitch, step = p->step[0] * p->image[1] * p->image[2];
    int64_t row = p->step[1] * p->image[2];

    for (int64_t i = 0; i < p->num_phases; i++) {
        const phase *f = &e->phases[i], *g = i + 1 < p->num_phases ? f + 1 : f;
        int first = by_turns(p, f, g);

        if (first >= 0) {
            const phase *even = first == 0 ? f : g, *odd = first == 0 ? g : f;
            mxl_depthwise_split split = {f->rows, even->n, odd->n, row, p->pitch};

            for (int64_t d = 0; d < f->depth; d++)
                e->micro->split(&split, image + even->from + d * step,
                                planes + even->to + d * sheet, planes + odd->to + d * sheet);
            i++;
            continue;
        }
        for (int64_t d = 0; d < f->depth && f->n > 0; d++)
            copy_rows(planes + f->to + d * sheet, p->pitch, image + f->from + d * step, row,
                      f->rows, f->n, p->step[2]);
    }
}

/* ---- the work ---- */

/* Output channel k of a group, of an image. */
static void channel(const engine *e, int64_t image, int64_t group, int64_t k, const float *planes,
                    float *weights)
{
    const mxl_correlation *c = e->c;
    const float *w = (const float *)c->weights + group * c->w_group + k * c->w_out;
    int64_t number = group * c->out + k, sheet = c->dst_size[1] * c->dst_size[2];
    int64_t at = (image * c->groups * c->out + number) * e->result;
    float bias = c->bias != NULL ? ((const float *)c->bias)[number] : 0;
    float scale = e->scale != NULL ? e->scale[number] : 1;

    for (int64_t t = 0; t < e->l->num_taps; t++)
        weights[t] = w[e->l->weight_at[t]] * scale;
    for (int64_t d = 0; d < e->l->count[0]; d++, at += sheet)
        e->micro->sums(&e->rows, bias, planes + d * c->planes.plane[1] * c->planes.pitch, weights,
                       e->add != NULL ? e->add + at : NULL, (float *)c->dst + at);
}

/* One item of the range is a worker, which takes some channels of an image at a time until there
 * are no more. */
static void work(void *data, int64_t begin, int64_t end)
{
    engine *e = data;
    const mxl_correlation *c = e->c;
    int64_t pieces = (c->groups + SOME - 1) / SOME, item;

    for (int64_t worker = begin; worker < end; worker++) {
        float *planes = e->memory + worker * e->room;

        memset(planes, 0, (size_t)e->planes * sizeof(float));
        while ((item = atomic_fetch_add(&e->next, 1)) < c->batch * pieces) {
            int64_t image = item / pieces, first = (item - image * pieces) * SOME;
            int64_t last = first + SOME < c->groups ? first + SOME : c->groups;

            for (int64_t group = first; group < last; group++) {
                make_planes(e, (const float *)c->src + (image * c->groups + group) * e->image,
                            planes);
                for (int64_t k = 0; k < c->out; k++)
                    channel(e, image, group, k, planes, planes + e->planes);
            }
        }
    }
}

/* The distance of the rows of 3 x 3 taps that are neighbours in the planes, or 0. */
static int64_t square_of(const mxl_lattice *l)
{
    int64_t apart = l->num_taps == 9 ? l->plane_at[3] - l->plane_at[0] : 0;

    for (int64_t t = 0; t < 9 && apart != 0; t++) {
        if (l->plane_at[t] != l->plane_at[0] + t / 3 * apart + t % 3)
            apart = 0;
    }
    return apart;
}

int mxl_depthwise(const mxl_correlation *c)
{
    const mxl_lattice *l = &c->lattices[0];
    engine e = {.c = c,
                .micro = mxl_depthwise_micro_f32(),
                .l = l,
                .rows = {.taps = l->num_taps,
                         .offsets = l->plane_at,
                         .square = square_of(l),
                         .rows = l->count[1],
                         .n = l->count[2],
                         .dst_pitch = c->dst_size[2],
                         .pitch = c->planes.pitch,
                         .low = c->tail != NULL ? (float)c->tail->low : -INFINITY,
                         .high = c->tail != NULL ? (float)c->tail->high : INFINITY},
                .scale = c->tail != NULL ? c->tail->scale : NULL,
                .add = c->tail != NULL ? c->tail->add : NULL,
                .image = c->planes.image[0] * c->planes.image[1] * c->planes.image[2],
                .result = c->dst_size[0] * c->dst_size[1] * c->dst_size[2]};
    int64_t items = c->batch * ((c->groups + SOME - 1) / SOME), workers = mxl_thread_count();
    size_t phases = (size_t)c->planes.num_phases * sizeof(phase), bytes;
    phase *list;

    if (workers > items || items * SOME * c->out * c->taps * e.result < 2 * WORTH_THREAD)
        workers = 1;
    e.planes = mxl_planes_channel(&c->planes) + c->planes.plane[2] + MXL_DEPTHWISE_REACH;
    e.room = (e.planes + l->num_taps + 2 * LINE) / LINE * LINE;
    bytes = (size_t)(workers * e.room) * sizeof(float) + phases;
    e.memory = mxl_alloc(bytes);
    if (e.memory == NULL)
        return -1;
    e.phases = list = (phase *)(void *)(e.memory + workers * e.room);
    for (int64_t i = 0; i < c->planes.num_phases; i++)
        find_phase(&c->planes, i, &list[i]);
    mxl_parallel_for(workers, 1, work, &e);
    mxl_free(e.memory, bytes);
    return 0;
}
