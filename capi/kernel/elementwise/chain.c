/* Several element-wise loops in one pass; see chain.h. */
#include "kernel/elementwise/chain.h"

#include <stdatomic.h>
#include <string.h>

#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/elementwise/segments.h"
#include "kernel/elementwise/strided_walk.h"
#include "base/system/threads.h"

enum {
    LINE = 64,        /* bytes of a line of the caches */
    TILE = 512,       /* elements of a tile */
    NEAR_TILE = 1024, /* of a pass over few bytes, which gains more by fewer calls of loops */
    NEAR = 1 << 23,   /* bytes; more come from memory, or from a cache that others use too */
    ALONE = 1 << 14,  /* of one segment in registers: nothing has to stay in a cache for another */
    SHORT = 24,       /* elements; shorter runs are not worth a call each */
    LONG = 128,       /* elements; longer runs are not worth gathering: a tile ends with them */
    MOST_PLACES = 64,
    RUNS = 4 + MXL_CHAIN_TAKERS /* lengths of runs that tiles are cut to */
};

bool mxl_strided_init(mxl_strided *s, int ndim, const int64_t *shape, const int64_t *strides)
{
    mxl_walk walk;
    size_t bytes;

    mxl_walk_init(&walk, 1, ndim, shape, &strides);
    if (walk.ndim > MXL_CHAIN_NDIM || walk.shape[walk.ndim - 1] < SHORT ||
        (walk.stride[0][walk.ndim - 1] != 0 && walk.stride[0][walk.ndim - 1] != 1))
        return false;
    bytes = (size_t)walk.ndim * sizeof(int64_t);
    s->ndim = walk.ndim;
    memcpy(s->shape, walk.shape, bytes);
    memcpy(s->stride, walk.stride[0], bytes);
    return true;
}

typedef struct chain_job {
    const mxl_link *links;
    int count, runs, takers;
    bool near; /* the pass is over few bytes */
    int64_t tile;
    int64_t part;      /* parts begin at multiples of it */
    int64_t run[RUNS]; /* lengths of long runs of operands with strides, and cuts of reductions */
    mxl_segments segments;
    int places;                 /* for scratch, from the beginning of its memory on; 0: not used */
    int64_t room;               /* elements of a place */
    atomic_uint_fast64_t taken; /* a bit for each place */
} chain_job;

/* Whether no other operand than k advances: a loop needs one that does. */
static bool moves_alone(const mxl_link *link, int k)
{
    for (int i = 0; i < link->num_in; i++) {
        if (i != k && link->in[i].step != 0)
            return false;
    }
    return true;
}

/* n elements of operand k, which has strides: where they lie, or gathered in `tile`. */
static const void *strided_tile(const mxl_link *link, int k, int64_t pos, int64_t n, char *tile,
                                int64_t *step)
{
    const mxl_stream *s = &link->in[k];
    int64_t stride = s->strided->stride[s->strided->ndim - 1], run;
    const char *from = mxl_strided_at(s, pos, &run);

    *step = stride;
    if (run >= n && (stride == 1 || !moves_alone(link, k)))
        return from;
    for (int64_t done = 0; done < n; done += run) {
        from = mxl_strided_at(s, pos + done, &run);
        run = run < n - done ? run : n - done;
        mxl_copy_run(s->size, tile + done * (int64_t)s->size, 1, from, stride, run);
    }
    *step = 1;
    return tile;
}

/* Asks for the next tile of an operand in memory, in the second-level cache: a loop computes on
 * tiles in the first-level cache while those of the next come. (Segments do so block by block.
 * Inlined always: gcc takes a function that only prefetches for one without effect, and drops its
 * calls.) */
__attribute__((always_inline)) static inline void prefetch_next(const mxl_stream *s, int64_t pos)
{
    const char *next = s->data + (pos + TILE) * (int64_t)s->size;

    for (int64_t i = 0; i < TILE * (int64_t)s->size; i += LINE)
        __builtin_prefetch(next + i, 0, 2);
}

/* How many elements the tile at `pos` has. */
static int64_t tile_size(const chain_job *job, int64_t pos, int64_t end)
{
    int64_t n = end - pos < job->tile ? end - pos : job->tile;

    for (int i = 0; i < job->runs; i++) {
        int64_t left = job->run[i] - pos % job->run[i];

        n = n < left ? n : left;
    }
    return n;
}

/* Runs a loop on the elements of the tile from `into` on. */
static inline void run_link(const mxl_link *link, const mxl_chain_tile *tile, int64_t into)
{
    const void *in[MXL_LOOP_INPUTS];
    int64_t step[MXL_LOOP_INPUTS];
    char *out = mxl_stream_at(&link->out, tile, into);

    for (int k = 0; k < link->num_in; k++) {
        const mxl_stream *from = &link->in[k];

        step[k] = from->step;
        in[k] = from->strided == NULL
                    ? mxl_stream_at(from, tile, into)
                    : strided_tile(link, k, tile->pos + into, tile->n - into, out, &step[k]);
    }
    link->row(out, in, step, tile->n - into, link->params);
}

/* Runs the segment that begins with link i; loops compute what is left of the last block. */
static void run_segment(const chain_job *job, int i, const mxl_chain_tile *tile)
{
    int64_t done = mxl_segment_run(&job->segments, i, job->links[i].out.size, tile);

    for (int j = i; j < i + job->segments.links[i] && done < tile->n; j++)
        run_link(&job->links[j], tile, done);
}

static void prefetch_operands(const chain_job *job, int i, int64_t pos)
{
    for (int k = 0; k < job->links[i].num_in; k++) {
        if (job->links[i].in[k].fetched)
            prefetch_next(&job->links[i].in[k], pos);
    }
}

/* Takes the first free place for scratch. (There is one: other threads give theirs back.) */
static int take_place(chain_job *job)
{
    uint_fast64_t taken = atomic_load_explicit(&job->taken, memory_order_relaxed);

    for (;;) {
        int place = taken == UINT64_MAX ? MOST_PLACES : __builtin_ctzll(~taken);

        if (place >= job->places) {
            mxl_thread_yield();
            taken = atomic_load_explicit(&job->taken, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(
                       &job->taken, &taken, taken | UINT64_C(1) << place, memory_order_acquire,
                       memory_order_relaxed)) {
            return place;
        }
    }
}

static void run_part(const chain_job *job, int64_t begin, int64_t end, int64_t place)
{
    mxl_reduce_lanes lanes[MXL_CHAIN_TAKERS];
    mxl_chain_tile tile = {.begin = begin, .place = place};

    for (int i = 0; i < job->takers; i++)
        lanes[i].used = false;
    for (tile.pos = begin; tile.pos < end; tile.pos += tile.n) {
        mxl_reduce_lanes *own = lanes;
        int links;

        tile.n = tile_size(job, tile.pos, end);
        for (int i = 0; i < job->count; i += links) {
            const mxl_link *link = &job->links[i];

            links = job->segments.links[i] > 0 ? job->segments.links[i] : 1;
            if (job->segments.links[i] > 0) {
                run_segment(job, i, &tile);
                continue;
            }
            prefetch_operands(job, i, tile.pos);
            if (link->taker == NULL)
                run_link(link, &tile, 0);
            else
                mxl_reduce_tiles_take(link->taker, own++, mxl_stream_at(&link->in[0], &tile, 0),
                                      tile.pos, tile.n, link->out.data);
        }
    }
}

static void chain_chunk(void *data, int64_t begin, int64_t end)
{
    chain_job *job = data;
    int place;

    if (job->places == 0) {
        run_part(job, begin, end, begin);
        return;
    }
    place = take_place(job);
    run_part(job, begin, end, place * job->room);
    atomic_fetch_and_explicit(&job->taken, ~(UINT64_C(1) << place), memory_order_release);
}

/* Sets the places for scratch, one for each thread: were each part's in the memory of that part,
 * scratch would take as many pages as a result. Few elements have no room for places. */
static void set_places(chain_job *job, int64_t n)
{
    int threads = mxl_thread_count();

    job->room = job->tile;
    for (int i = 0; i < job->count; i++) {
        const mxl_reduce_tiles *taker = job->links[i].taker;

        if (taker != NULL && taker->window + job->tile > job->room)
            job->room = taker->window + job->tile;
    }
    job->places = threads <= MOST_PLACES && threads <= n / job->room ? threads : 0;
    atomic_init(&job->taken, 0);
}

/* Lets tiles end where runs of this length end. False: they end at too many places already. */
static bool note_run(chain_job *job, int64_t run)
{
    for (int i = 0; i < job->runs; i++) {
        if (job->run[i] == run)
            return true;
    }
    if (job->runs == RUNS)
        return false;
    job->run[job->runs++] = run;
    return true;
}

static void note_takers(chain_job *job)
{
    for (int i = 0; i < job->count; i++) {
        const mxl_reduce_tiles *taker = job->links[i].taker;

        if (taker == NULL)
            continue;
        job->takers++;
        (void)note_run(job, taker->cut);
        if (taker->part > job->part)
            job->part = taker->part;
    }
}

/* Lets tiles end where long runs of an operand end (NULL: it has no strides), if all reductions
 * can take such tiles. Whether the operand is contiguous, or one number, in each tile then. */
static bool note_strides(chain_job *job, const mxl_strided *lies)
{
    int64_t run;

    if (lies == NULL || lies->ndim == 1) /* one run goes along all elements */
        return true;
    run = lies->shape[lies->ndim - 1];
    if (run < LONG)
        return false;
    for (int i = 0; i < job->count; i++) {
        const mxl_reduce_tiles *taker = job->links[i].taker;

        if (taker != NULL && !mxl_reduce_tiles_may_cut(taker, run))
            return false;
    }
    return note_run(job, run);
}

static void note_segments(chain_job *job)
{
    bool whole[MXL_CHAIN_LINKS] = {false};

    for (int i = 0; i < job->count; i++) {
        const mxl_link *link = &job->links[i];

        whole[i] = true;
        for (int k = 0; k < link->num_in; k++)
            whole[i] = note_strides(job, link->in[k].strided) && whole[i];
    }
    mxl_segments_find(&job->segments, job->links, job->count, whole);
}

/* Forgets lengths of runs that whole tiles end with anyway. */
static void forget_whole_tiles(chain_job *job)
{
    for (int i = 0; i < job->runs; i++) {
        if (job->tile == ALONE || job->run[i] % job->tile != 0 ||
            (job->takers > 0 && job->part % job->tile != 0))
            return;
    }
    job->runs = 0;
}

/* Whether operand k of link i is the first of the pass that reads its bytes, from memory. (Of a
 * result that is stored too: its lines are then there when they are written.) */
static bool is_first(const chain_job *job, int i, int k)
{
    const mxl_stream *s = &job->links[i].in[k];

    if (s->scratch || s->step == 0 || s->strided != NULL)
        return false;
    for (int j = 0; j <= i; j++) {
        const mxl_link *before = &job->links[j];

        for (int l = 0; l < (j < i ? before->num_in : k); l++) {
            if (before->in[l].data == s->data)
                return false;
        }
    }
    return true;
}

/* Sets which operands are asked for early: those of a pass over many bytes. */
static void note_memory(chain_job *job, mxl_link *links, int64_t n)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->count; i++) {
        for (int k = 0; k < links[i].num_in; k++) {
            links[i].in[k].fetched = is_first(job, i, k);
            bytes += links[i].in[k].fetched ? n * (int64_t)links[i].in[k].size : 0;
        }
        if (!links[i].out.scratch && links[i].out.data != NULL)
            bytes += n * (int64_t)links[i].out.size;
    }
    job->near = bytes <= NEAR;
    for (int i = 0; i < job->count && job->near; i++) {
        for (int k = 0; k < links[i].num_in; k++)
            links[i].in[k].fetched = false;
    }
}

/* A number of elements of about n that a part may have: parts begin with a tile, and with a line of
 * the caches. */
static int64_t whole_parts(const chain_job *job, int64_t n)
{
    int64_t tile = job->tile == ALONE ? TILE : job->tile;

    if (job->takers > 0)
        return n <= job->part ? job->part : (n + job->part - 1) / job->part * job->part;
    return n < tile ? tile : n - n % tile;
}

/* Runs a single loop, one of whose operands has strides, without tiles. */
static void run_strided(const mxl_link *link, int weight, const mxl_strided *lies)
{
    static const int64_t number[MXL_CHAIN_NDIM] = {0};
    const mxl_stream *out = &link->out;
    int64_t dense[MXL_CHAIN_NDIM], stride = 1;
    const void *in[MXL_LOOP_INPUTS];
    const int64_t *strides[MXL_LOOP_INPUTS];
    size_t size[MXL_LOOP_INPUTS];

    for (int axis = lies->ndim - 1; axis >= 0; axis--) {
        dense[axis] = stride;
        stride *= lies->shape[axis];
    }
    for (int k = 0; k < link->num_in; k++) {
        const mxl_stream *s = &link->in[k];

        in[k] = s->data;
        size[k] = s->size;
        strides[k] = s->strided != NULL ? lies->stride : s->step == 0 ? number : dense;
    }
    if (link->opcode == MXL_CODE_COPY)
        mxl_copy_strided(out->size, lies->ndim, lies->shape, out->data, dense, in[0], lies->stride);
    else
        (void)mxl_loops(link->row, weight, lies->ndim, lies->shape, out->data, dense, out->size,
                        link->num_in, in, strides, size, link->params);
}

/* Runs a single loop as if it had not been deferred. */
static void run_alone(const mxl_link *link, int weight, int64_t n)
{
    const void *in[MXL_LOOP_INPUTS];
    int64_t step[MXL_LOOP_INPUTS];
    size_t size[MXL_LOOP_INPUTS];

    for (int k = 0; k < link->num_in; k++) {
        if (link->in[k].strided != NULL) {
            run_strided(link, weight, link->in[k].strided);
            return;
        }
        in[k] = link->in[k].data;
        step[k] = link->in[k].step;
        size[k] = link->in[k].size;
    }
    mxl_loop_run(link->row, weight, n, link->out.data, link->out.size, link->num_in, in, step, size,
                 link->params);
}

void mxl_chain_run(mxl_link *links, int count, int weight, int64_t n)
{
    chain_job job; /* not all of it is needed */

    if (count == 1 && links->taker == NULL) {
        run_alone(links, weight, n);
        return;
    }
    job.links = links;
    job.count = count;
    job.runs = job.takers = 0;
    job.part = 1;
    note_takers(&job);
    note_memory(&job, links, n);
    note_segments(&job);
    job.tile = job.segments.in_registers ? ALONE : job.near ? NEAR_TILE : TILE;
    forget_whole_tiles(&job);
    set_places(&job, n);
    mxl_parallel_fine(n, whole_parts(&job, MXL_LOOP_UNIT / weight),
                      whole_parts(&job, MXL_LOOP_GRAIN / weight), chain_chunk, &job);
}
