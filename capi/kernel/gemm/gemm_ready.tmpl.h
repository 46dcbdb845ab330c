/* Products with a B that was packed before, over one floating type; gemm.tmpl.h includes this.
 * Pieces are some rows of some strips, with all of their depth, so that threads wait for one
 * another only at the end. */

typedef struct NAME(ready) {
    const NAME(job) *job;
    const T *packed_b;
    T *packed_a;                  /* by blocks of depth; without pack_a NULL */
    int64_t most_k, most_n;       /* of a block */
    int64_t strips;               /* of all columns */
    int64_t blocks, halves;       /* parts of the rows, and of such a part */
    int64_t across, piece_strips; /* parts of the columns, and their strips */
} NAME(ready);

/* The depth of the block that begins at p0. */
static int64_t NAME(depth)(const NAME(ready) *r, int64_t p0)
{
    return r->job->k - p0 < r->most_k ? r->job->k - p0 : r->most_k;
}

/* One item of the range is a tallest tile's rows: packs them, of all blocks. */
__attribute__((cold)) static void NAME(ready_rows)(void *data, int64_t begin, int64_t end)
{
    const NAME(ready) *r = data;
    NAME(job) job = *r->job;
    int64_t high = job.micro->heights[0], first = begin * high;
    int64_t last = end * high < job.m ? end * high : job.m;

    for (job.p0 = 0; job.p0 < job.k; job.p0 += job.kb) {
        job.kb = NAME(depth)(r, job.p0);
        NAME(pack_a)(&job, first, last, r->packed_a + job.p0 * job.m + first * job.kb);
    }
}

/* Rows [first, last) of columns [j, end) of a block of columns, with the current block of depth. */
static void NAME(ready_strips)(const NAME(job) *job, const T *a, int64_t first, int64_t last,
                               int64_t j, int64_t end)
{
    int64_t wide = 2 * job->micro->width, many = MXL_GEMM_STRIPS * wide;
    bool single = last - first == 1 && a == NULL && job->micro->strips != NULL;
    const T *addend = job->p0 > 0 ? job->c : job->addend;
    int64_t at = first * job->ldc + job->j0,
            add_at = first * (job->p0 > 0 ? job->ldc : job->add_row);

    for (; single && end - j >= many; j += many)
        job->micro->strips(job->kb, job->a + first * job->a_row + job->p0 * job->a_col, job->a_col,
                           job->packed_b + j * job->kb, wide * job->kb,
                           addend != NULL ? addend + add_at + job->j0 + j : NULL, job->c + at + j);
    for (; j < end; j += wide)
        NAME(strip)(job, a, NULL, first, last, j);
}

/* Rows [first, last) of columns [column, end). */
static void NAME(ready_part)(const NAME(ready) *r, int64_t first, int64_t last, int64_t column,
                             int64_t end)
{
    NAME(job) job = *r->job;
    int64_t wide = 2 * job.micro->width, next;

    for (; column < end; column = next) {
        job.j0 = column / r->most_n * r->most_n;
        job.nb = job.n - job.j0 < r->most_n ? job.n - job.j0 : r->most_n;
        next = end < job.j0 + job.nb ? end : job.j0 + job.nb;
        for (job.p0 = 0; job.p0 < job.k; job.p0 += job.kb) {
            job.kb = NAME(depth)(r, job.p0);
            job.packed_b = (T *)(uintptr_t)r->packed_b + job.j0 * job.k +
                           (job.nb + wide - 1) / wide * wide * job.p0;
            NAME(ready_strips)(&job,
                               job.pack_a ? r->packed_a + job.p0 * job.m + first * job.kb : NULL,
                               first, last, column - job.j0, next - job.j0);
        }
    }
}

/* One item of the range is a piece. */
static void NAME(ready_pieces)(void *data, int64_t begin, int64_t end)
{
    const NAME(ready) *r = data;
    const NAME(job) *job = r->job;
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;

    for (int64_t i = begin; i < end; i++) {
        int64_t piece = job->back ? begin + end - 1 - i : i, half = piece % r->halves;
        int64_t row = piece / r->halves / r->across * r->halves + half;
        int64_t column = piece / r->halves % r->across * r->piece_strips * wide;
        int64_t first = NAME(part)(job->m, high, r->blocks * r->halves, row);
        int64_t last = NAME(part)(job->m, high, r->blocks * r->halves, row + 1);
        int64_t next = column + r->piece_strips * wide;

        next = next < job->n ? next : job->n;
        NAME(ready_part)(r, first, last, column, next);
        if (job->tail != NULL)
            job->tail->run(job->tail->context, job->c + first * job->ldc + column, first,
                           last - first, column, next - column);
    }
}

/* Chooses the pieces: several for each thread, and equally many. (Built for size.) */
__attribute__((cold)) static void NAME(ready_share)(NAME(ready) *r, int64_t threads)
{
    const NAME(job) *job = r->job;
    int64_t high = job->micro->heights[0], rows = (job->m + high - 1) / high;
    int64_t wanted = threads > 1 ? threads * FINE_UNITS : 1,
            least = rows == 1 ? MXL_GEMM_STRIPS : 1;

    r->blocks = (job->m + BLOCK_M - 1) / BLOCK_M;
    r->piece_strips = r->strips * r->blocks / wanted;
    if (r->piece_strips < least)
        r->piece_strips = least;
    if (job->tail != NULL && r->piece_strips * 2 * job->micro->width * BLOCK_M > TAIL_PART)
        r->piece_strips = (r->piece_strips + 1) / 2;
    r->across = (r->strips + r->piece_strips - 1) / r->piece_strips;
    r->halves = r->blocks == 1 && r->across < 2 * wanted && rows >= 4 && threads > 1 ? 2 : 1;
}

__attribute__((noinline)) static int NAME(with_packed)(NAME(job) *job, bool alone)
{
    int64_t high = job->micro->heights[0], wide = 2 * job->micro->width;
    NAME(ready)
    r = {.job = job,
         .packed_b = job->packed_b,
         .most_k = NAME(most_k)(job),
         .most_n = NAME(most_n)(job),
         .strips = (job->n + wide - 1) / wide};
    int64_t pieces, work;
    size_t bytes = 0;

    job->pack_b = true;
    job->pack_a = job->m > 1 && NAME(clash)(job->a_row == 1 ? job->a_col : job->a_row);
    NAME(ready_share)(&r, alone ? 1 : mxl_thread_count());
    if (job->pack_a) {
        bytes = (size_t)(job->m * job->k) * sizeof(T);
        r.packed_a = mxl_alloc(bytes);
        if (r.packed_a == NULL)
            return -1;
        work = (job->m + high - 1) / high;
        mxl_parallel_for(work, alone ? work : grain_of(8 * high * job->k), NAME(ready_rows), &r);
    }
    pieces = r.blocks * r.halves * r.across;
    work = job->m * r.piece_strips * wide / (r.blocks * r.halves) * job->k;
    (job->back ? mxl_parallel_back : mxl_parallel_fine)(pieces,
                                                        alone ? pieces : 1 + FINE_WORK / (work + 1),
                                                        grain_of(work), NAME(ready_pieces), &r);
    mxl_free(r.packed_a, bytes);
    return 0;
}
