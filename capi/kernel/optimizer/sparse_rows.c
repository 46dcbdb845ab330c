/* Steps with a gradient that has some rows; see sparse_rows.h. */
#include "kernel/optimizer/sparse_rows.h"

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/elementwise/loop.h"

enum {
    AHEAD = 4,           /* rows that are fetched ahead, */
    LINE = 64,           /* by lines of the cache, */
    MOST_FETCHED = 1024, /* at most so many bytes of each */
    ZEROS = 4096,        /* elements of a gradient of 0 */
};

typedef struct rows_job {
    const mxl_sparse_step *sparse;
    size_t row_bytes, state_bytes; /* of a row */
    const char *zeros;             /* a gradient of `zero_rows` rows */
    int64_t zero_rows;
} rows_job;

static rows_job job_of(const mxl_sparse_step *sparse)
{
    size_t width = mxl_dtype_size(sparse->dtype), row = width * (size_t)sparse->columns;

    return (rows_job){
        .sparse = sparse, .row_bytes = row, .state_bytes = sparse->loop != NULL ? row : width};
}

/* Updates rows from `row` on. */
static void run_rows(const rows_job *job, int64_t row, int64_t count, const void *grad)
{
    const mxl_sparse_step *sparse = job->sparse;
    mxl_step step = *sparse->step;

    step.weight = (const char *)step.weight + (size_t)row * job->row_bytes;
    step.out = (char *)step.out + (size_t)row * job->row_bytes;
    for (int i = 0; i < sparse->num_states; i++)
        step.state[i] = (char *)step.state[i] + (size_t)row * job->state_bytes;
    step.grad = grad;
    step.size = count * sparse->columns;
    if (sparse->loop != NULL)
        sparse->loop(&step, sparse->numbers, 0, step.size);
    else
        mxl_step_rows_here(sparse->dtype, &step, sparse->numbers, count, sparse->columns);
}

static void fetch(const void *base, int64_t row, size_t bytes)
{
    const char *at = (const char *)base + (size_t)row * bytes;

    for (size_t i = 0; i < bytes && i < MOST_FETCHED; i += LINE)
        __builtin_prefetch(at + i, 1);
}

static void fetch_row(const rows_job *job, int64_t row)
{
    const mxl_step *step = job->sparse->step;

    fetch(step->weight, row, job->row_bytes);
    for (int i = 0; i < job->sparse->num_states; i++)
        fetch(step->state[i], row, job->state_bytes);
}

/* Rows that follow one another run as one. */
static void run_range(void *data, int64_t begin, int64_t end)
{
    const rows_job *job = data;
    const int64_t *rows = job->sparse->rows;
    const char *grad = job->sparse->step->grad;

    for (int64_t k = begin, next; k < end; k = next) {
        next = k + 1;
        while (next < end && rows[next] == rows[next - 1] + 1)
            next++;
        if (k + AHEAD < end)
            fetch_row(job, rows[k + AHEAD]);
        run_rows(job, rows[k], next - k, grad + (size_t)k * job->row_bytes);
    }
}

bool mxl_sparse_step_ascends(const mxl_sparse_step *sparse)
{
    for (int64_t k = 1; k < sparse->count; k++) {
        if (sparse->rows[k] <= sparse->rows[k - 1])
            return false;
    }
    return true;
}

static void run_parallel(int64_t count, mxl_range_fn run, rows_job *job)
{
    int64_t columns = job->sparse->columns;

    mxl_parallel_fine(count, MXL_LOOP_UNIT / 4 / (columns + 1) + 1,
                      MXL_LOOP_GRAIN / 4 / (columns + 1) + 1, run, job);
}

void mxl_sparse_step_rows(const mxl_sparse_step *sparse)
{
    rows_job job = job_of(sparse);

    if (mxl_sparse_step_ascends(sparse))
        run_parallel(sparse->count, run_range, &job);
    else
        run_range(&job, 0, sparse->count);
}

/* ---- all rows ---- */

/* Of rows without gradient. */
static void run_zeros(const rows_job *job, int64_t row, int64_t end)
{
    for (int64_t n; row < end; row += n) {
        n = end - row < job->zero_rows ? end - row : job->zero_rows;
        run_rows(job, row, n, job->zeros);
    }
}

/* The first place in the list whose number is not below `row`. */
static int64_t first_from(const mxl_sparse_step *sparse, int64_t row)
{
    int64_t low = 0, high = sparse->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sparse->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void run_all(void *data, int64_t begin, int64_t end)
{
    const rows_job *job = data;
    const mxl_sparse_step *sparse = job->sparse;
    int64_t row = begin;

    for (int64_t k = first_from(sparse, begin); k < sparse->count && sparse->rows[k] < end; k++) {
        run_zeros(job, row, sparse->rows[k]);
        row = sparse->rows[k];
        run_rows(job, row, 1, (const char *)sparse->step->grad + (size_t)k * job->row_bytes);
        row++;
    }
    run_zeros(job, row, end);
}

int mxl_sparse_step_all(const mxl_sparse_step *sparse, int64_t all)
{
    rows_job job = job_of(sparse);
    size_t bytes;
    void *zeros;

    job.zero_rows = ZEROS / (sparse->columns + 1) + 1;
    bytes = job.row_bytes * (size_t)job.zero_rows;
    zeros = mxl_alloc_zero(bytes);
    if (zeros == NULL)
        return -1;
    job.zeros = zeros;
    run_parallel(all, run_all, &job);
    mxl_free(zeros, bytes);
    return 0;
}
