/* Several element-wise loops in one pass; see chain.h. */
#include "kernel/elementwise/chain.h"

#include <string.h>

#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/elementwise/strided_walk.h"

enum {
    LINE = 64,        /* bytes of a line of the caches */
    TILE = 512,       /* elements of a tile */
    NEAR_TILE = 1024, /* of a pass over few bytes, which gains more by fewer calls of loops */
    NEAR = 1 << 23,   /* bytes; more come from memory, or from a cache that others use too */
    ALONE = 1 << 14,  /* of one loop's: nothing has to stay in a cache for another */
    SHORT = 24,       /* elements; shorter runs are not worth a call each */
    LONG = 128,       /* elements; longer runs are not worth gathering: a tile ends with them */
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
    int64_t tile;
    int64_t part;      /* parts begin at multiples of it */
    int64_t run[RUNS]; /* lengths of long runs of operands with strides, and cuts of reductions */
    bool fetched[MXL_CHAIN_LINKS][MXL_LOOP_INPUTS]; /* whether operands are asked for early */
} chain_job;

static inline char *stream_at(const mxl_stream *s, int64_t begin, int64_t pos)
{
    if (s->scratch)
        pos = begin + (s->window == NULL ? 0 : pos % s->window->part % s->window->window);
    return s->data + pos * s->step * (int64_t)s->size;
}

/* The address of element `pos` of an operand with strides, and how many follow it in its run. */
static const char *strided_at(const mxl_stream *s, int64_t pos, int64_t *run)
{
    const mxl_strided *lies = s->strided;
    int last = lies->ndim - 1;
    int64_t inner = pos % lies->shape[last], offset = inner * lies->stride[last];

    *run = lies->shape[last] - inner;
    pos /= lies->shape[last];
    for (int axis = last - 1; axis >= 0; axis--) {
        offset += pos % lies->shape[axis] * lies->stride[axis];
        pos /= lies->shape[axis];
    }
    return s->data + offset * (int64_t)s->size;
}

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
    const char *from = strided_at(s, pos, &run);

    *step = stride;
    if (run >= n && (stride == 1 || !moves_alone(link, k)))
        return from;
    for (int64_t done = 0; done < n; done += run) {
        from = strided_at(s, pos + done, &run);
        run = run < n - done ? run : n - done;
        mxl_copy_run(s->size, tile + done * (int64_t)s->size, 1, from, stride, run);
    }
    *step = 1;
    return tile;
}

/* Asks for the next tile of an operand in memory, in the second-level cache: a loop computes on
 * tiles in the first-level cache while those of the next come. relu(a * b + c) * d - a is 1.2 times
 * as fast with 1e6 elements and 1.4 times with 1e7, and half as fast if tiles are asked for in the
 * first-level cache, which waits for few lines at a time. (Inlined always: gcc takes a function
 * that only prefetches for one without effect, and drops its calls.) */
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

/* Runs a loop on the tile of n elements at `pos`, in the part from `begin` on. */
static inline void run_link(const mxl_link *link, const bool *fetched, int64_t begin, int64_t pos,
                            int64_t n)
{
    const void *in[MXL_LOOP_INPUTS];
    int64_t step[MXL_LOOP_INPUTS];
    char *out = stream_at(&link->out, begin, pos);

    for (int k = 0; k < link->num_in; k++) {
        const mxl_stream *from = &link->in[k];

        if (fetched[k])
            prefetch_next(from, pos);
        step[k] = from->step;
        in[k] = from->strided == NULL ? stream_at(from, begin, pos)
                                      : strided_tile(link, k, pos, n, out, &step[k]);
    }
    link->row(out, in, step, n, link->params);
}

static void chain_chunk(void *data, int64_t begin, int64_t end)
{
    const chain_job *job = data;
    mxl_reduce_lanes lanes[MXL_CHAIN_TAKERS];

    for (int i = 0; i < job->takers; i++)
        lanes[i].used = false;
    for (int64_t pos = begin, n; pos < end; pos += n) {
        mxl_reduce_lanes *own = lanes;

        n = tile_size(job, pos, end);
        for (int i = 0; i < job->count; i++) {
            const mxl_link *link = &job->links[i];

            if (link->taker == NULL)
                run_link(link, job->fetched[i], begin, pos, n);
            else
                mxl_reduce_tiles_take(link->taker, own++, stream_at(&link->in[0], begin, pos), pos,
                                      n, link->out.data);
        }
    }
}

/* Lets tiles end where runs of this length end. */
static void note_run(chain_job *job, int64_t run)
{
    for (int i = 0; i < job->runs; i++) {
        if (job->run[i] == run)
            return;
    }
    if (job->runs < RUNS)
        job->run[job->runs++] = run;
}

static void note_takers(chain_job *job)
{
    for (int i = 0; i < job->count; i++) {
        const mxl_reduce_tiles *taker = job->links[i].taker;

        if (taker == NULL)
            continue;
        job->takers++;
        note_run(job, taker->cut);
        if (taker->part > job->part)
            job->part = taker->part;
    }
}

/* Lets tiles end where long runs of an operand end (NULL: it has no strides), if all reductions
 * can take such tiles. */
static void note_strides(chain_job *job, const mxl_strided *lies)
{
    int64_t run = lies == NULL ? 0 : lies->shape[lies->ndim - 1];
    bool may = run >= LONG;

    for (int i = 0; i < job->count && may; i++) {
        const mxl_reduce_tiles *taker = job->links[i].taker;

        may = taker == NULL || mxl_reduce_tiles_may_cut(taker, run);
    }
    if (may)
        note_run(job, run);
}

/* Forgets lengths of runs that whole tiles end with anyway. */
static void forget_whole_tiles(chain_job *job)
{
    for (int i = 0; i < job->runs; i++) {
        if (job->run[i] % job->tile != 0)
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

/* Sets how far tiles go, and which operands are asked for early: those of a pass over many bytes.
 */
static void note_memory(chain_job *job, int64_t n)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->count; i++) {
        const mxl_link *link = &job->links[i];

        for (int k = 0; k < link->num_in; k++) {
            job->fetched[i][k] = job->count > 1 && is_first(job, i, k);
            bytes += job->fetched[i][k] ? n * (int64_t)link->in[k].size : 0;
        }
        if (!link->out.scratch && link->out.data != NULL)
            bytes += n * (int64_t)link->out.size;
    }
    job->tile = job->count == 1 ? ALONE : bytes <= NEAR ? NEAR_TILE : TILE;
    if (bytes <= NEAR)
        memset(job->fetched, 0, (size_t)job->count * sizeof(*job->fetched));
}

/* The next number of elements that is a number of tiles: parts begin with a line of the caches. */
static int64_t whole_tiles(int64_t n)
{
    return n < TILE ? TILE : n - n % TILE;
}

static int64_t whole_parts(const chain_job *job, int64_t n)
{
    if (job->takers == 0)
        return whole_tiles(n);
    return n <= job->part ? job->part : (n + job->part - 1) / job->part * job->part;
}

void mxl_chain_run(const mxl_link *links, int count, int weight, int64_t n)
{
    chain_job job; /* not all of it is needed */

    job.links = links;
    job.count = count;
    job.runs = job.takers = 0;
    job.part = 1;
    note_takers(&job);
    note_memory(&job, n);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < links[i].num_in; k++)
            note_strides(&job, links[i].in[k].strided);
    }
    forget_whole_tiles(&job);
    mxl_parallel_fine(n, whole_parts(&job, MXL_LOOP_UNIT / weight),
                      whole_parts(&job, MXL_LOOP_GRAIN / weight), chain_chunk, &job);
}
