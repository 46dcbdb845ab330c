/* See depthwise.h.
 *
 * A worker takes some rows of a channel of an image at a time. Their planes are made in memory that
 * stays in the worker's cache: only the rows of the image are copied, as the zeros around them are
 * there from the start. Few images are divided by rows, as the convolutions before and after this
 * one divide positions: then each thread finds in its caches what it wrote. */
#include "kernel/conv/depthwise.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/conv/depthwise_micro.h"
#include "kernel/target.h"

enum {
    FEW = 2,               /* most channels of the output for one of the images */
    LINE = 16,             /* floats of a line of a cache */
    SOME = 8,              /* channels of an item */
    LEAST_ROWS = 4,        /* of a part */
    PART_FLOATS = 6 << 10, /* of the planes of a part, about */
    MOVED = 8,             /* what an element of the image costs, in products, and */
    WORTH_THREAD = 1 << 17 /* what is worth a thread */
};

/* The rows of the image in the planes of one phase. */
typedef struct phase {
    int64_t depth, rows, n; /* sizes */
    int64_t from, to;       /* where they begin, in the image and in the planes of a channel */
    int64_t first;          /* their first row in a plane */
} phase;

typedef struct engine {
    const mxl_correlation *c;
    const mxl_depthwise_micro *micro;
    const mxl_lattice *l;
    mxl_depthwise_rows rows;
    const phase *phases;      /* [parts][those of the planes] */
    int64_t planes, room;     /* floats of planes, of a worker's memory */
    int64_t image, result;    /* elements of a channel of the image, and of the output */
    float *memory;            /* of all workers */
    const float *scale, *add; /* of the tail, or NULL */
    int64_t parts;            /* of the rows of the output */
} engine;

bool mxl_depthwise_fits(const mxl_correlation *c)
{
    return c->in == 1 && c->out <= FEW && c->planes.dtype == MXL_F32 && c->num_lattices == 1 &&
           c->lattices[0].apart[2] == 1 && c->lattices[0].num_taps > 0;
}

/* ---- planes ---- */

__attribute__((cold)) static void find_phase(const mxl_planes *p, int64_t number, phase *f)
{
    int64_t first[3], end[3], at[3];

    for (int i = 0; i < 3; i++) {
        mxl_planes_inside(p, i, p->phases[number][i], &first[i], &end[i]);
        at[i] = first[i] * p->step[i] + p->phases[number][i] - p->lead[i];
    }
    f->first = first[1];
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

/* What a phase has of rows [h, end) of a plane. */
__attribute__((cold)) static phase rows_of(const mxl_planes *p, phase f, int64_t h, int64_t end)
{
    int64_t skip = h > f.first ? h - f.first : 0;

    if (f.first + f.rows > end)
        f.rows = end - f.first;
    f.rows = f.rows > skip ? f.rows - skip : 0;
    f.from += skip * p->step[1] * p->image[2];
    f.to += skip * p->pitch;
    return f;
}

/* What the planes have of an image, by its phases. */
static void make_planes(const engine *e, const phase *phases, const float *image, float *planes)
{
    const mxl_planes *p = &e->c->planes;
    int64_t sheet = p->plane[1] * p->pitch, step = p->step[0] * p->image[1] * p->image[2];
    int64_t row = p->step[1] * p->image[2];

    for (int64_t i = 0; i < p->num_phases; i++) {
        const phase *f = &phases[i], *g = i + 1 < p->num_phases ? f + 1 : f;
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

/* Rows [h, end) of output channel k of a group, of an image. */
static void channel(const engine *e, int64_t image, int64_t group, int64_t k, int64_t h,
                    int64_t end, const float *planes, float *weights)
{
    const mxl_correlation *c = e->c;
    const float *w = (const float *)c->weights + group * c->w_group + k * c->w_out;
    int64_t number = group * c->out + k, sheet = c->dst_size[1] * c->dst_size[2];
    int64_t at = (image * c->groups * c->out + number) * e->result + h * c->dst_size[2];
    float bias = c->bias != NULL ? ((const float *)c->bias)[number] : 0;
    float scale = e->scale != NULL ? e->scale[number] : 1;
    mxl_depthwise_rows rows = e->rows;

    rows.rows = end - h;
    planes += h * c->planes.pitch;
    for (int64_t t = 0; t < e->l->num_taps; t++)
        weights[t] = w[e->l->weight_at[t]] * scale;
    for (int64_t d = 0; d < e->l->count[0]; d++, at += sheet)
        e->micro->sums(&rows, bias, planes + d * c->planes.plane[1] * c->planes.pitch, weights,
                       e->add != NULL ? e->add + at : NULL, (float *)c->dst + at);
}

/* The first row of a part. */
static int64_t part_at(const engine *e, int64_t part)
{
    return e->l->count[1] * part / e->parts;
}

static int64_t pieces_of(const mxl_correlation *c)
{
    return (c->groups + SOME - 1) / SOME;
}

/* One item of the range is some channels of a part of the rows of an image. */
static void work(void *data, int64_t begin, int64_t end)
{
    const engine *e = data;
    const mxl_correlation *c = e->c;
    float *planes = e->memory + mxl_parallel_worker() * e->room;
    int64_t pieces = pieces_of(c);

    for (int64_t item = begin; item < end; item++) {
        int64_t part = item / pieces % e->parts, image = item / pieces / e->parts;
        int64_t h = part_at(e, part), h_end = part_at(e, part + 1);
        int64_t group = item % pieces * SOME;
        int64_t last = group + SOME < c->groups ? group + SOME : c->groups;

        for (; group < last; group++) {
            make_planes(e, e->phases + part * c->planes.num_phases,
                        (const float *)c->src + (image * c->groups + group) * e->image, planes);
            for (int64_t k = 0; k < c->out; k++)
                channel(e, image, group, k, h, h_end, planes, planes + e->planes);
        }
    }
}

/* As many parts as their planes fit a cache, and for all workers. */
static int64_t parts_of(const engine *e, int64_t workers)
{
    const mxl_correlation *c = e->c;
    int64_t most = e->l->count[1] / LEAST_ROWS, parts = 1 + e->planes / PART_FLOATS;

    if (e->l->count[0] != 1)
        return 1;
    if (c->batch < workers && parts > 1)
        parts = (parts + workers - 1) / workers * workers;
    return most < parts ? 1 : parts;
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

/* (Built for size, as what it calls once.) */
__attribute__((cold)) int mxl_depthwise(const mxl_correlation *c)
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
    int64_t items = c->batch * pieces_of(c), workers = mxl_thread_count();
    int64_t work_each = c->out * c->taps * e.result + MOVED * e.image, extra;
    size_t phases, bytes;
    phase *list;

    if (workers > items || items * SOME * work_each < 2 * WORTH_THREAD)
        workers = 1;
    e.planes = mxl_planes_channel(&c->planes) + c->planes.plane[2] + MXL_DEPTHWISE_REACH;
    e.room = (e.planes + l->num_taps + 2 * LINE) / LINE * LINE;
    e.parts = parts_of(&e, workers);
    phases = (size_t)(e.parts * c->planes.num_phases) * sizeof(phase);
    bytes = (size_t)(workers * e.room) * sizeof(float) + phases;
    e.memory = mxl_alloc(bytes);
    if (e.memory == NULL)
        return -1;
    e.phases = list = (phase *)(void *)(e.memory + workers * e.room);
    extra = c->planes.plane[1] - l->count[1];
    for (int64_t i = 0; i < e.parts * c->planes.num_phases; i++) {
        int64_t part = i / c->planes.num_phases;

        find_phase(&c->planes, i % c->planes.num_phases, &list[i]);
        if (e.parts > 1)
            list[i] =
                rows_of(&c->planes, list[i], part_at(&e, part), part_at(&e, part + 1) + extra);
    }
    memset(e.memory, 0, (size_t)(workers * e.room) * sizeof(float));
    mxl_parallel_workers(items * e.parts, 1, workers, work, &e);
    mxl_free(e.memory, bytes);
    return 0;
}
