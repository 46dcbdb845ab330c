/* Several element-wise loops in one pass; see chain.h. */
#include "kernel/elementwise/chain.h"

#include <string.h>

#include "base/thread.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/elementwise/strided_walk.h"

enum {
    TILE = 512, /* elements of a tile */
    SHORT = 24  /* elements; shorter runs are not worth a call each */
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
    int count;
} chain_job;

static inline char *stream_at(const mxl_stream *s, int64_t begin, int64_t pos)
{
    return s->data + (s->scratch ? begin : pos) * s->step * (int64_t)s->size;
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

static void chain_chunk(void *data, int64_t begin, int64_t end)
{
    const chain_job *job = data;

    for (int64_t pos = begin; pos < end; pos += TILE) {
        int64_t n = end - pos < TILE ? end - pos : TILE;

        for (int i = 0; i < job->count; i++) {
            const mxl_link *link = &job->links[i];
            const void *in[MXL_LOOP_INPUTS];
            int64_t step[MXL_LOOP_INPUTS];

            char *out = stream_at(&link->out, begin, pos);

            for (int k = 0; k < link->num_in; k++) {
                const mxl_stream *from = &link->in[k];

                step[k] = from->step;
                in[k] = from->strided == NULL ? stream_at(from, begin, pos)
                                              : strided_tile(link, k, pos, n, out, &step[k]);
            }
            link->row(out, in, step, n, link->params);
        }
    }
}

void mxl_chain_run(const mxl_link *links, int count, int weight, int64_t n)
{
    chain_job job = {links, count};

    mxl_parallel_fine(n, MXL_LOOP_UNIT / weight + 1, MXL_LOOP_GRAIN / weight + 1, chain_chunk,
                      &job);
}
