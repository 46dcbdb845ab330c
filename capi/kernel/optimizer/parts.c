/* The parallel loop over several arrays. */
#include "kernel/optimizer/parts.h"

#include "base/thread.h"

typedef struct parts_job {
    int count;
    const int64_t *first;
    mxl_part_fn run;
    void *data;
} parts_job;

/* The last part that begins at `at` or before it: it is the one that holds it, as empty parts begin
 * where the next one does. */
static int part_at(const parts_job *job, int64_t at)
{
    int low = 0, high = job->count;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (job->first[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void run_range(void *data, int64_t begin, int64_t end)
{
    const parts_job *job = data;

    for (int part = part_at(job, begin); begin < end; part++) {
        int64_t start = job->first[part], stop = job->first[part + 1];

        stop = stop < end ? stop : end;
        if (begin < stop)
            job->run(job->data, part, begin - start, stop - start);
        begin = stop;
    }
}

void mxl_parts_run(int count, const int64_t *first, int64_t unit, int64_t grain, mxl_part_fn run,
                   void *data)
{
    parts_job job = {count, first, run, data};

    mxl_parallel_fine(first[count], unit, grain, run_range, &job);
}
