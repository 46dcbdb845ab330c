/* The matrix product over one floating type; included by gemm.c with T, NAME(x) and MICRO(), the
 * micro kernels. */

/* op(A)[i][p] is a[i * a_row + p * a_col], op(B)[p][j] is b[p * b_row + j * b_col]; one stride of
 * each pair is 1. The addend is at addend[i * add_row + j]; NULL: none. */
typedef struct NAME(job) {
    const mxl_gemm_micro *micro;
    const T *a, *b, *addend;
    T *c;
    int64_t a_row, a_col, b_row, b_col, add_row, ldc;
    int64_t m, n, k;

    /* For products by tiles: whether operands are packed; the current block, columns [j0, j0 + nb)
     * and depth [p0, p0 + kb); and the pieces that it is divided into, `down` times `across`. */
    bool pack_a, pack_b, ready, back; /* ready: B was packed before */
    bool late; /* a worker packs a strip of B when it comes to it, before its packed rows of A */
    int64_t j0, p0, nb, kb, down, across;
    T *packed_b; /* strip by strip; without pack_b only the last strip, if it is narrow */
    T *packed_a; /* for each worker, room_strip elements if late, and room_a */
    int64_t room_strip, room_a;
    const mxl_product_tail *tail; /* NULL: nothing follows */
    _Atomic int64_t next;         /* the first piece that no worker has taken */
} NAME(job);

/* ---- packing ---- */

/* `lanes` vectors of k elements side by side: out[p * width + l] = from[l * lane + p * step], zeros
 * from `lanes` to `width`. One of the strides is 1. */
static void NAME(pack)(T *out, int64_t width, const T *from, int64_t lane, int64_t step,
                       int64_t lanes, int64_t k)
{
    if (lanes < width)
        memset(out, 0, (size_t)(width * k) * sizeof(T));
    if (lane == 1) {
        for (int64_t p = 0; p < k; p++)
            memcpy(out + p * width, from + p * step, (size_t)lanes * sizeof(T));
    } else {
        mxl_transpose_kernel(sizeof(T), out, width, from, lane, k, lanes);
    }
}

/* The height of the tallest tile that fits the remaining rows. */
static int64_t NAME(height)(const NAME(job) *job, int64_t rows)
{
    const int *height = job->micro->heights;

    while (*height > rows)
        height++;
    return *height;
}

/* Packs rows of A tile by tile, each tile column by column. */
static void NAME(pack_a)(const NAME(job) *job, int64_t first, int64_t end, T *out)
{
    for (int64_t i = first, height; i < end; i += height) {
        height = NAME(height)(job, end - i);
        NAME(pack)(out + (i - first) * job->kb, height,
                   job->a + i * job->a_row + job->p0 * job->a_col, job->a_row, job->a_col, height,
                   job->kb);
    }
}

/* The width of the strip at column j of the block: wide, or narrow at the block's end. */
static int64_t NAME(width)(const NAME(job) *job, int64_t j)
{
    return job->nb - j <= job->micro->width ? job->micro->width : 2 * job->micro->width;
}

/* The strip of B at column j of the block. */
static void NAME(pack_strip)(const NAME(job) *job, int64_t j, T *out)
{
    int64_t wide = 2 * job->micro->width, columns = job->nb - j < wide ? job->nb - j : wide;

    NAME(pack)(out, NAME(width)(job, j), job->b + job->p0 * job->b_row + (job->j0 + j) * job->b_col,
               job->b_col, job->b_row, columns, job->kb);
}

/* One item of the range is a strip of B. */
static void NAME(pack_strips)(void *data, int64_t begin, int64_t end)
{
    const NAME(job) *job = data;
    int64_t wide = 2 * job->micro->width;

    for (int64_t j = begin * wide; j < end * wide && j < job->nb; j += wide)
        NAME(pack_strip)(job, j, job->packed_b + (job->pack_b ? j * job->kb : 0));
}

/* ---- tiles ---- */

/* Columns [j, j + width) of the block, rows [first, end); `a` is their packed part, `late` the
 * packed columns, or NULL if they were packed with the block or not at all. */
static void NAME(strip)(const NAME(job) *job, const T *a, const T *late, int64_t first, int64_t end,
                        int64_t j)
{
    int64_t width = NAME(width)(job, j), columns = job->nb - j < width ? job->nb - j : width;
    bool wide = width > job->micro->width, packed = job->pack_b || columns < width;
    const T *b = late != NULL ? late
                 : packed     ? job->packed_b + (job->pack_b ? j * job->kb : 0)
                              : job->b + job->p0 * job->b_row + job->j0 + j;
    const T *addend = job->p0 > 0 ? job->c : job->addend;
    int64_t add_row = job->p0 > 0 ? job->ldc : job->add_row;
    bool down = job->pack_a || job->a_row == 1;
    _Alignas(64) T edge[MXL_GEMM_MR * MXL_GEMM_NR];

    for (int64_t i = first, height; i < end; i += height) {
        const T *more = addend == NULL ? NULL : addend + i * add_row + job->j0 + j;
        T *c = job->c + i * job->ldc + job->j0 + j;
        const T *here = job->pack_a ? a + (i - first) * job->kb
                                    : job->a + i * job->a_row + job->p0 * job->a_col;
        int64_t step;

        height = NAME(height)(job, end - i);
        step = job->pack_a ? height : down ? job->a_col : job->a_row;
        if (columns == width) {
            (down ? job->micro->down : job->micro->along)[height][wide](
                job->kb, here, step, b, packed ? width : job->b_row, more, add_row, c, job->ldc);
            continue;
        }
        (down ? job->micro->down : job->micro->along)[height][wide](job->kb, here, step, b, width,
                                                                    NULL, 0, edge, width);
        for (int64_t row = 0; row < height; row++) {
            for (int64_t l = 0; l < columns; l++)
                c[row * job->ldc + l] = more == NULL
                                            ? edge[row * width + l]
                                            : more[row * add_row + l] + edge[row * width + l];
        }
    }
}

/* The beginning of part number `part` of `parts` parts of [0, count). Parts consist of whole
 * `size`s and are as equal as that allows. */
static int64_t NAME(part)(int64_t count, int64_t size, int64_t parts, int64_t part)
{
    int64_t begin = (count + size - 1) / size * part / parts * size;

    return begin < count ? begin : count;
}

/* Rows [first, last) of columns [*from, j) of the block are summed; the tail takes them when they
 * are many, or all up to j_last. */
static void NAME(follow)(const NAME(job) *job, int64_t first, int64_t last, int64_t *from,
                         int64_t j, int64_t j_last)
{
    int64_t end = j < job->nb ? j : job->nb;

    if (job->tail == NULL || job->p0 + job->kb < job->k ||
        (j < j_last && (end - *from) * (last - first) < TAIL_PART))
        return;
    job->tail->run(job->tail->context, job->c + first * job->ldc + job->j0 + *from, first,
                   last - first, job->j0 + *from, end - *from);
    *from = end;
}

/* One item of the range is a worker with a buffer for packed rows of A. It takes pieces until none
 * is left. */
static void NAME(workers)(void *data, int64_t begin, int64_t end)
{
    NAME(job) *job = data;
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;

    for (int64_t worker = begin; worker < end; worker++) {
        T *room = job->packed_a + worker * (job->room_strip + job->room_a);
        T *strip = job->late ? room : NULL, *a = room + job->room_strip;
        int64_t unit, held = -1;

        while ((unit = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) <
               job->down * job->across) {
            int64_t row = unit / job->across, column = unit % job->across;
            int64_t first = NAME(part)(job->m, high, job->down, row);
            int64_t last = NAME(part)(job->m, high, job->down, row + 1);
            int64_t j = NAME(part)(job->nb, wide, job->across, column);
            int64_t j_last = NAME(part)(job->nb, wide, job->across, column + 1), from = j;

            if (job->pack_a && held != row)
                NAME(pack_a)(job, first, last, a);
            held = row;
            for (; j < j_last; j += wide) {
                if (job->late)
                    NAME(pack_strip)(job, j, strip);
                NAME(strip)(job, a, strip, first, last, j);
                NAME(follow)(job, first, last, &from, j + wide, j_last);
            }
        }
    }
}

/* All rows of the current block. */
static void NAME(block)(NAME(job) *job, int64_t workers)
{
    int64_t wide = 2 * job->micro->width, strips = (job->nb + wide - 1) / wide;

    if (job->late)
        ; /* strip by strip */
    else if (job->pack_b)
        mxl_parallel_for(strips, grain_of(8 * wide * job->kb), NAME(pack_strips), job);
    else if (job->nb % job->micro->width != 0)
        NAME(pack_strips)(job, strips - 1, strips);
    atomic_store_explicit(&job->next, 0, memory_order_relaxed);
    mxl_parallel_for(workers, 1, NAME(workers), job);
}

/* Chooses the pieces for `workers` workers: several for each, so that a late worker delays the
 * others less, and equally many for each. */
static void NAME(share)(NAME(job) *job, int64_t workers)
{
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;
    int64_t rows = (job->m + high - 1) / high, strips = (job->n + wide - 1) / wide;
    int64_t wanted = workers > 1 ? workers * UNITS : 1;

    job->down = (job->m + BLOCK_M - 1) / BLOCK_M;
    /* A strip that all rows are multiplied with at once stays in the cache. */
    job->late = job->pack_b && job->down == 1 && (workers == 1 || strips >= 2 * workers);
    if (job->down < wanted && !job->late)
        job->down = wanted;
    if (!job->late)
        job->down = (job->down + workers - 1) / workers * workers;
    if (job->down > rows)
        job->down = rows;
    job->across = (wanted + job->down - 1) / job->down;
    if (job->across > strips)
        job->across = strips;
}

/* True if rows `row` elements apart share so few places of a cache that they displace each other.
 */
static bool NAME(clash)(int64_t row)
{
    int64_t apart = row * (int64_t)sizeof(T);

    return (apart & -apart) > MOST_APART;
}

/* Chooses whether to pack. Packing costs a pass over an operand. Reading it unpacked causes cache
 * misses if rows are a power of two apart, so only operands that are read a few times stay
 * unpacked. */
static void NAME(choose)(NAME(job) *job)
{
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;
    bool near = job->k <= NEAR_DEPTH;
    int64_t reads = near ? 8 : NAME(clash)(job->b_row) ? 1 : 4;

    job->pack_a =
        job->n > wide * (near ? 8 : 2) || NAME(clash)(job->a_row == 1 ? job->a_col : job->a_row);
    job->pack_b = job->b_col != 1 || job->m > high * reads;
}

/* Depth and columns of the largest block of B; columns are whole wide strips. */
static int64_t NAME(most_k)(const NAME(job) *job)
{
    int64_t blocks = (job->k + BLOCK_K - 1) / BLOCK_K;

    return (job->k + blocks - 1) / blocks;
}

static int64_t NAME(most_n)(const NAME(job) *job)
{
    int64_t wide = 2 * job->micro->width, blocks = (job->n + BLOCK_N - 1) / BLOCK_N;

    return ((job->n + blocks - 1) / blocks + wide - 1) / wide * wide;
}

/* Calls `run` for each block of B. With `ready`, packed_b is where each one was packed: blocks lie
 * one behind another, as whole wide strips. */
static void NAME(blocks)(NAME(job) *job, void (*run)(NAME(job) *job, int64_t workers),
                         int64_t workers)
{
    int64_t wide = 2 * job->micro->width, most_k = NAME(most_k)(job), most_n = NAME(most_n)(job);
    T *first = job->packed_b;

    for (job->j0 = 0; job->j0 < job->n; job->j0 += most_n) {
        job->nb = job->n - job->j0 < most_n ? job->n - job->j0 : most_n;
        for (job->p0 = 0; job->p0 < job->k; job->p0 += most_k) {
            job->kb = job->k - job->p0 < most_k ? job->k - job->p0 : most_k;
            if (job->ready)
                job->packed_b =
                    first + job->j0 * job->k + (job->nb + wide - 1) / wide * wide * job->p0;
            run(job, workers);
        }
    }
}

#include "kernel/gemm/gemm_ready.tmpl.h"

static int NAME(tiles)(NAME(job) *job, bool alone)
{
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;
    int64_t rows = (job->m + high - 1) / high;
    int64_t most_k = NAME(most_k)(job), most_n = NAME(most_n)(job);
    int64_t workers = alone ? 1 : workers_for(job->m, job->n, most_k), room_b = 0;
    _Alignas(64) T near[NEAR_BYTES / sizeof(T)];
    T *room = near;
    size_t bytes;

    if (job->ready)
        return NAME(with_packed)(job, alone);
    NAME(choose)(job);
    NAME(share)(job, workers);
    if (job->late)
        job->room_strip = wide * most_k;
    else if (job->pack_b || job->n % job->micro->width != 0)
        room_b = (job->pack_b ? most_n : wide) * most_k;
    if (job->pack_a)
        job->room_a = ((rows + job->down - 1) / job->down * high * most_k + wide - 1) / wide * wide;
    bytes = (size_t)(room_b + (job->room_strip + job->room_a) * workers) * sizeof(T);
    if (bytes > sizeof(near)) {
        room = mxl_alloc(bytes);
        if (room == NULL)
            return -1;
    }
    job->packed_b = room;
    job->packed_a = room + room_b;
    NAME(blocks)(job, NAME(block), workers);
    if (room != near)
        mxl_free(room, bytes);
    return 0;
}

/* Packs the current block. */
static void NAME(pack_block)(NAME(job) *job, int64_t workers)
{
    int64_t wide = 2 * job->micro->width;

    (void)workers;
    mxl_parallel_for((job->nb + wide - 1) / wide, grain_of(8 * wide * job->kb), NAME(pack_strips),
                     job);
}

/* Packs op(B) into `room` of as many elements as packed_size says. */
static int64_t NAME(packed_size)(int64_t n, int64_t k)
{
    int64_t wide = 2 * MICRO()->width;

    return (n + wide - 1) / wide * wide * k;
}

static void NAME(pack_all)(bool tb, int64_t n, int64_t k, const void *b, int64_t ldb, T *room)
{
    NAME(job)
    job = {.micro = MICRO(),
           .b = b,
           .b_row = tb ? 1 : ldb,
           .b_col = tb ? ldb : 1,
           .n = n,
           .k = k,
           .pack_b = true,
           .ready = true,
           .packed_b = room};

    if (n > 0 && k > 0)
        NAME(blocks)(&job, NAME(pack_block), 1);
}

/* ---- choice of algorithm ---- */

/* True if inner products cost less than tiles, in vector instructions: inner products add a sum at
 * the end of each product; tiles add packing, and columns beyond the matrix. */
static bool NAME(suits_inner)(const NAME(job) *job)
{
    int64_t w = job->micro->width, few = job->m < job->n ? job->m : job->n;
    int64_t many = job->m < job->n ? job->n : job->m;
    double groups = (double)((few + 3) / 4) * (double)((many + 3) / 4), k = (double)job->k;
    double inner = groups * (16 * ceil(k / (double)w) + 16 * INNER_SUM);
    double columns = ceil((double)job->n / (double)w);
    double tiles = ((double)(job->m < 4 ? 4 : job->m) * columns + (double)job->n * PACK) * k;

    return inner < tiles && (few <= MXL_GEMM_INNER || job->k * few <= INNER_ROOM);
}

/* Few rows of A or columns of B, while the other operand is contiguous along k: by inner products.
 */
static int NAME(few)(const NAME(job) *job, bool columns)
{
    int64_t row = columns ? job->b_col : job->a_row, step = columns ? job->b_row : job->a_col;
    int64_t num = columns ? job->n : job->m;
    const T *few = columns ? job->b : job->a;
    T *flat = NULL;
    NAME(inner_job)
    inner = {.micro = job->micro,
             .few = few,
             .many = columns ? job->a : job->b,
             .addend = job->addend,
             .c = job->c,
             .num_few = num,
             .num_many = columns ? job->m : job->n,
             .k = job->k,
             .few_row = row,
             .many_row = columns ? job->a_row : job->b_col,
             .c_few = columns ? 1 : job->ldc,
             .c_many = columns ? job->ldc : 1,
             .add_few = columns ? 1 : job->add_row,
             .add_many = columns ? job->add_row : 1};

    if (step != 1 && job->k > 1) {
        flat = mxl_alloc((size_t)(num * job->k) * sizeof(T));
        if (flat == NULL)
            return -1;
        NAME(pack)(flat, job->k, few, step, row, job->k, num);
        inner.few = flat;
        inner.few_row = job->k;
    }
    NAME(inner)(&inner);
    if (flat != NULL)
        mxl_free(flat, (size_t)(num * job->k) * sizeof(T));
    return 0;
}

/* For products so small that choosing an algorithm would cost more: W columns of a row at a time.
 */
#define TINY_PIECE(W)                                                                              \
    for (; j + W <= q->n; j += W) {                                                                \
        T sum[W] = {0};                                                                            \
                                                                                                   \
        for (int64_t p = 0; p < q->k; p++) {                                                       \
            for (int l = 0; l < W; l++)                                                            \
                sum[l] += a[p * a_col] * b[p * b_row + (j + l) * b_col];                           \
        }                                                                                          \
        for (int l = 0; l < W; l++)                                                                \
            c[j + l] = more == NULL ? sum[l] : more[j + l] + sum[l];                               \
    }

static void NAME(tiny)(const mxl_product *q, const T *a, const T *b, T *c)
{
    int64_t a_row = q->ta ? 1 : q->lda, a_col = q->ta ? q->lda : 1;
    int64_t b_row = q->tb ? 1 : q->ldb, b_col = q->tb ? q->ldb : 1;

    for (int64_t i = 0; i < q->m; i++, a += a_row, c += q->ldc) {
        const T *more = q->accumulate ? c : q->bias;
        int64_t j = 0;

        TINY_PIECE(4)
        TINY_PIECE(1)
    }
}
#undef TINY_PIECE

static bool NAME(is_tiny)(const mxl_product *q)
{
    return q->m <= TINY_SIDE && q->n <= TINY_SIDE && q->k <= TINY_SIDE && q->packed == NULL;
}

static NAME(job) NAME(job_of)(const mxl_product *q, const void *a, const void *b, void *c)
{
    return (NAME(job)){.micro = MICRO(),
                       .a = a,
                       .b = b,
                       .c = c,
                       .addend = q->accumulate ? c : q->bias,
                       .a_row = q->ta ? 1 : q->lda,
                       .a_col = q->ta ? q->lda : 1,
                       .b_row = q->tb ? 1 : q->ldb,
                       .b_col = q->tb ? q->ldb : 1,
                       .add_row = q->accumulate ? q->ldc : 0,
                       .ldc = q->ldc,
                       .m = q->m,
                       .n = q->n,
                       .k = q->k,
                       .ready = q->packed != NULL,
                       .packed_b =
                           q->packed != NULL ? (T *)(uintptr_t)packed_data(q->packed) : NULL,
                       .back = q->back,
                       .tail = q->tail};
}

/* The algorithms: sums of scaled rows, or columns; inner products of few columns, or rows; tiles.
 */
enum { NAME(BY_ROWS), NAME(BY_COLUMNS), NAME(BY_FEW_COLUMNS), NAME(BY_FEW_ROWS), NAME(BY_TILES) };

static int NAME(way)(const NAME(job) *job)
{
    bool a_along = job->a_col == 1 || job->k == 1, b_along = job->b_row == 1 || job->k == 1;
    bool inner = a_along && b_along && NAME(suits_inner)(job);

    if (job->ready)
        return NAME(BY_TILES);
    if (job->b_col == 1 && (job->m == 1 || job->k <= SHALLOW))
        return NAME(BY_ROWS);
    if (job->a_row == 1 && job->n == 1)
        return NAME(BY_COLUMNS);
    if (a_along && (job->n <= MXL_GEMM_INNER || (inner && job->n <= job->m)))
        return NAME(BY_FEW_COLUMNS);
    return b_along && (job->m <= MXL_GEMM_INNER || inner) ? NAME(BY_FEW_ROWS) : NAME(BY_TILES);
}

/* Whether all of op(B) is packed. */
static bool NAME(packs)(const mxl_product *q)
{
    NAME(job) job = NAME(job_of)(q, q->a, q->b, q->c);

    if (NAME(is_tiny)(q) || NAME(way)(&job) != NAME(BY_TILES))
        return false;
    NAME(choose)(&job);
    return job.pack_b;
}

/* Chooses the algorithm by shape and runs it. */
static int NAME(by_shape)(const mxl_product *q, const void *a, const void *b, void *c, bool alone)
{
    NAME(job) job = NAME(job_of)(q, a, b, c);
    int way = NAME(way)(&job), status = 0;
    NAME(scaled_job)
    rows = {b,         a,         job.addend, c,       job.m, job.n,       job.k,
            job.b_row, job.a_row, job.a_col,  job.ldc, 1,     job.add_row, 1};
    NAME(scaled_job)
    columns = {a,         b, job.addend, c, 1,       job.m, job.k,
               job.a_col, 0, job.b_row,  0, job.ldc, 0,     job.add_row};

    if (way == NAME(BY_TILES))
        return NAME(tiles)(&job, alone);
    if (way == NAME(BY_ROWS))
        NAME(scaled)(&rows);
    else if (way == NAME(BY_COLUMNS))
        NAME(scaled)(&columns);
    else
        status = NAME(few)(&job, way == NAME(BY_FEW_COLUMNS));
    if (status == 0)
        follow_all(q, c, alone);
    return status;
}

static int NAME(product)(const mxl_product *q, const void *a, const void *b, void *c, bool alone)
{
    if (!NAME(is_tiny)(q))
        return NAME(by_shape)(q, a, b, c, alone);
    NAME(tiny)(q, a, b, c);
    follow_all(q, c, alone);
    return 0;
}

#undef NAME
#undef T
#undef MICRO
