/* Deferring calls that take the tiles of what makes their input: reductions, and what is computed
 * by whole rows; see expression.h. */
#include <string.h>

#include "array/expression.h"
#include "kernel/reduce/reduce_tiles.h"

/* Whether the whole input may be about to be made. */
static bool may_take(const mxl_array *in)
{
    return in->contiguous && in->offset == 0 && mxl_storage_waits(in->storage);
}

static size_t tiles_head(void)
{
    return (sizeof(mxl_reduce_tiles) + 15) & ~(size_t)15;
}

static void copy_tiles(const void *op, void *to, const void *params)
{
    mxl_reduce_tiles *tiles = to;

    (void)op;
    *tiles = *(const mxl_reduce_tiles *)params;
    mxl_reduce_tiles_place(tiles, (char *)to + tiles_head());
}

bool mxl_defer_reduction(mxl_reduction kind, const char *name, mxl_array *in, const bool *reduced,
                         mxl_array *out)
{
    mxl_reduce_tiles tiles;
    mxl_deferral later = {.name = name,
                          .weight = 1,
                          .num_in = 1,
                          .in = &in,
                          .out = out,
                          .reduces = true,
                          .params = &tiles,
                          .copy_params = copy_tiles};
    size_t room;

    if (!may_take(in))
        return false;
    room = mxl_reduce_tiles_init(&tiles, kind, in->dtype, in->ndim, in->shape, reduced);
    later.params_bytes = tiles_head() + room;
    return room > 0 && mxl_defer(&later);
}

typedef struct rows_params {
    mxl_reduce_tiles tiles;
    const void *context;
    size_t bytes;
} rows_params;

static void copy_rows(const void *op, void *to, const void *params)
{
    const rows_params *rows = params;
    mxl_reduce_tiles *tiles = to;

    (void)op;
    *tiles = rows->tiles;
    tiles->context = memcpy((char *)to + tiles_head(), rows->context, rows->bytes);
}

bool mxl_defer_rows(mxl_deferral call, mxl_rows_fn compute, int64_t count)
{
    rows_params rows = {.context = call.params, .bytes = call.params_bytes};
    const mxl_array *in = call.in[0];

    if (!may_take(in) ||
        !mxl_reduce_tiles_init_rows(&rows.tiles, compute, in->dtype, in->size / count, count))
        return false;
    call.reduces = true;
    call.params = &rows;
    call.params_bytes += tiles_head();
    call.copy_params = copy_rows;
    return mxl_defer(&call);
}
