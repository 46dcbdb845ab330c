/* The floor under large.py's table: plain loops over arrays that exist already, and what the
 * machine gives at all. `floor THREADS` answers a line like large_worker.py does:
 * "LOOP<tab>SIZE<tab>COUNT" with the nanoseconds of one call. Each thread does its part of every
 * call and never waits for the others. Built with -O3 -march=native. */
#define _GNU_SOURCE 1 /* pthread_setaffinity_np */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 16, ARRAYS = 5, LANES = 64 };

typedef struct span {
    int64_t begin, end, cols;
} span;

static float *arrays[ARRAYS]; /* 0 is written to, but by the updates, which write to 0, 2 and 3 */
static volatile double sink;

typedef void (*loop_fn)(span s);

static void add(span s)
{
    float *restrict z = arrays[0];
    const float *restrict a = arrays[1], *restrict b = arrays[2];

    for (int64_t i = s.begin; i < s.end; i++)
        z[i] = a[i] + b[i];
}

static void copy(span s)
{
    float *restrict z = arrays[0];
    const float *restrict a = arrays[1];

    for (int64_t i = s.begin; i < s.end; i++)
        z[i] = a[i];
}

static void triad(span s)
{
    float *restrict z = arrays[0];
    const float *restrict a = arrays[1], *restrict b = arrays[2];

    for (int64_t i = s.begin; i < s.end; i++)
        z[i] = a[i] + 3.0f * b[i];
}

/* relu(a * b + c) * d - a in one pass. */
static void chain(span s)
{
    float *restrict z = arrays[0];
    const float *restrict a = arrays[1], *restrict b = arrays[2], *restrict c = arrays[3],
                          *restrict d = arrays[4];

    for (int64_t i = s.begin; i < s.end; i++) {
        float y = a[i] * b[i] + c[i];

        z[i] = (y > 0 ? y : 0) * d[i] - a[i];
    }
}

/* Spans begin at a row here and in `outer`. */
static void row(span s)
{
    for (int64_t i = s.begin; i < s.end; i += s.cols) {
        float *restrict z = arrays[0] + i;
        const float *restrict a = arrays[1] + i, *restrict b = arrays[2];

        for (int64_t j = 0; j < s.cols; j++)
            z[j] = a[j] + b[j];
    }
}

static void outer(span s)
{
    for (int64_t i = s.begin; i < s.end; i += s.cols) {
        float *restrict z = arrays[0] + i, a = arrays[1][i / s.cols];
        const float *restrict b = arrays[2];

        for (int64_t j = 0; j < s.cols; j++)
            z[j] = a + b[j];
    }
}

static void sum(span s)
{
    const float *a = arrays[1];
    float lanes[LANES] = {0};
    double total = 0;
    int64_t i = s.begin;

    for (; i + LANES <= s.end; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += a[i + k];
    for (; i < s.end; i++)
        total += a[i];
    for (int k = 0; k < LANES; k++)
        total += lanes[k];
    sink = total;
}

static void sgd(span s)
{
    float *restrict w = arrays[0], *restrict m = arrays[2];
    const float *restrict g = arrays[1];

    for (int64_t i = s.begin; i < s.end; i++) {
        m[i] = 0.9f * m[i] - 0.01f * g[i];
        w[i] += m[i];
    }
}

static void adam(span s)
{
    float *restrict w = arrays[0], *restrict m = arrays[2], *restrict v = arrays[3];
    const float *restrict g = arrays[1];

    for (int64_t i = s.begin; i < s.end; i++) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        w[i] -= 0.001f * m[i] / (sqrtf(v[i]) + 1e-8f);
    }
}

/* Multiplies and adds in registers: a call is s.end - s.begin of them. */
#define FMA_LOOP(name, real, per_vector)                                                           \
    typedef real name##_vector __attribute__((vector_size(64)));                                   \
    static void name(span s)                                                                       \
    {                                                                                              \
        name##_vector lane[12], x, y;                                                              \
        real total = 0;                                                                            \
                                                                                                   \
        for (int k = 0; k < per_vector; k++) {                                                     \
            x[k] = 1 - (real)1e-7;                                                                 \
            y[k] = (real)1e-7;                                                                     \
        }                                                                                          \
        for (int l = 0; l < 12; l++)                                                               \
            lane[l] = x + (real)l;                                                                 \
        for (int64_t i = s.begin; i < s.end; i += 12 * per_vector)                                 \
            for (int l = 0; l < 12; l++)                                                           \
                lane[l] = lane[l] * x + y;                                                         \
        for (int l = 0; l < 12; l++)                                                               \
            total += lane[l][l % per_vector];                                                      \
        sink = (double)total;                                                                      \
    }
FMA_LOOP(fma32, float, 16)
FMA_LOOP(fma64, double, 8)

static const struct {
    const char *name;
    loop_fn run;
} loops[] = {{"add", add},   {"copy", copy},   {"triad", triad}, {"chain", chain},
             {"row", row},   {"outer", outer}, {"sum", sum},     {"sgd", sgd},
             {"adam", adam}, {"fma32", fma32}, {"fma64", fma64}};

static int threads;
static struct {
    loop_fn run;
    int64_t size, cols;
    long count;
} job;
static pthread_barrier_t barrier;

typedef struct part {
    pthread_t thread;
    int number;
    double begin, end;
} part;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A thread's part of each call, whole rows of it, on a processor of its own; once before the clock
 * runs. */
static void *work(void *data)
{
    part *p = data;
    cpu_set_t own;
    int64_t rows = job.size / job.cols;
    span s = {rows * p->number / threads * job.cols, rows * (p->number + 1) / threads * job.cols,
              job.cols};

    CPU_ZERO(&own);
    CPU_SET((unsigned)p->number, &own);
    (void)pthread_setaffinity_np(pthread_self(), sizeof own, &own);
    job.run(s);
    pthread_barrier_wait(&barrier);
    p->begin = now();
    for (long i = 0; i < job.count; i++)
        job.run(s);
    p->end = now();
    return NULL;
}

/* Nanoseconds of one call, from the first thread's begin to the last one's end. */
static double measure(void)
{
    part parts[MAX_THREADS];
    double begin = INFINITY, end = 0;

    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        parts[t].number = t;
        if (pthread_create(&parts[t].thread, NULL, work, &parts[t]) != 0)
            exit(1);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(parts[t].thread, NULL);
        begin = fmin(begin, parts[t].begin);
        end = fmax(end, parts[t].end);
    }
    pthread_barrier_destroy(&barrier);
    return (end - begin) / (double)job.count;
}

int main(int argc, char **argv)
{
    enum { LARGEST = 10000000 };
    char name[16];
    long long size;

    threads = argc > 1 ? atoi(argv[1]) : 1;
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    for (int i = 0; i < ARRAYS; i++) {
        arrays[i] = aligned_alloc(64, LARGEST * sizeof(float));
        if (arrays[i] == NULL)
            return 1;
        for (int64_t j = 0; j < LARGEST; j++)
            arrays[i][j] = 1.0f + (float)(j % 1000) / 1024;
    }
    printf("%s\n", __VERSION__);
    fflush(stdout);
    while (scanf("%15s %lld %ld", name, &size, &job.count) == 3) {
        job.run = NULL;
        for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
            if (strcmp(loops[i].name, name) == 0)
                job.run = loops[i].run;
        job.size = size;
        job.cols = job.run == row || job.run == outer ? (size == 1000 ? 100 : 1000) : 1;
        if (job.run == NULL || (size > LARGEST && job.run != fma32 && job.run != fma64)) {
            printf("nan\n");
        } else {
            printf("%.3f\n", measure());
        }
        fflush(stdout);
    }
    return 0;
}
