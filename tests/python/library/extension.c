/* A library of operators for the extension interface of MXNet 1.9.1, in plain C: it exports the
 * functions of lib_api.h itself. test_library.py builds and loads it. Macros make libraries that
 * must be refused: VERSION (of the interface), REFUSES, NO_PARSE, TAKEN (the name of an operator).
 * With THROWS errors are exceptions of C++.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION 11
#endif
#ifndef PREFIX
#define PREFIX "c_"
#endif

typedef const char *const *texts;

/* ---- messages ---- */

static char *messages[64];
static int count_messages;

#ifdef THROWS
int throwing(const char *text); /* throwing.cc */
#define fail throwing
#else
static int fail(const char *text)
{
    if (count_messages < 64)
        messages[count_messages++] = strdup(text);
    return 0;
}
#endif

int _msgSize(void)
{
    return count_messages;
}

void _msgGet(int i, const char **text)
{
    *text = messages[i];
}

static const char *find(texts keys, texts values, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return values[i];
    return "";
}

/* ---- operators: bodies, which only this library calls ---- */

typedef void *(*allocate)(void *, int);

typedef struct call {
    texts keys, values;
    int count, num_in, num_out;
    const int64_t **in_shape, **out_shape;
    int *in_ndim, *out_ndim;
    void **in, **out;
    allocate alloc;
    void *owner, *generators;
    int *state;
} call;

typedef int body(const call *c);

static int64_t size_of(const call *c, int i)
{
    int64_t size = 1;

    for (int k = 0; k < c->in_ndim[i]; k++)
        size *= c->in_shape[i][k];
    return size;
}

static int cube(const call *c)
{
    const float *x = c->in[0];
    float *y = c->out[0];

    for (int64_t i = 0; i < size_of(c, 0); i++)
        y[i] = x[i] * x[i] * x[i];
    return 1;
}

static int cube_back(const call *c)
{
    const float *dy = c->in[0], *x = c->in[1];
    float *dx = c->out[0];

    for (int64_t i = 0; i < size_of(c, 0); i++)
        dx[i] = 3 * x[i] * x[i] * dy[i];
    return 1;
}

static float alpha_of(const call *c)
{
    const char *text = find(c->keys, c->values, c->count, "alpha");

    return text[0] == '\0' ? 1 : strtof(text, NULL);
}

static int gemm(const call *c)
{
    const float *a = c->in[0], *b = c->in[1];
    float *y = c->out[0];
    int64_t n = c->in_shape[0][0], k = c->in_shape[0][1], m = c->in_shape[1][1];

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float sum = 0;

            for (int64_t q = 0; q < k; q++)
                sum += a[i * k + q] * b[q * m + j];
            y[i * m + j] = alpha_of(c) * sum;
        }
    return 1;
}

static int gemm_back(const call *c)
{
    const float *dy = c->in[0], *a = c->in[1], *b = c->in[2];
    int64_t n = c->in_shape[1][0], k = c->in_shape[1][1], m = c->in_shape[2][1];
    float *da = c->out[0], *db = c->out[1], alpha = alpha_of(c);

    memset(da, 0, (size_t)(n * k) * sizeof(*da));
    memset(db, 0, (size_t)(k * m) * sizeof(*db));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t q = 0; q < k; q++) {
                da[i * k + q] += alpha * dy[i * m + j] * b[q * m + j];
                db[q * m + j] += alpha * dy[i * m + j] * a[i * k + q];
            }
    return 1;
}

/* a + b and a - b, through memory of the caller's. */
static int pair(const call *c)
{
    const float *a = c->in[0], *b = c->in[1];
    int64_t size = size_of(c, 0);
    float *sum = c->alloc(c->owner, (int)(size * (int64_t)sizeof(float)));

    if (sum == NULL)
        return fail("no memory");
    for (int64_t i = 0; i < size; i++)
        sum[i] = a[i] + b[i];
    memcpy(c->out[0], sum, (size_t)size * sizeof(float));
    for (int64_t i = 0; i < size; i++)
        ((float *)c->out[1])[i] = a[i] - b[i];
    return 1;
}

static int pair_back(const call *c)
{
    const float *g = c->in[0], *h = c->in[1];

    for (int64_t i = 0; i < size_of(c, 0); i++) {
        ((float *)c->out[0])[i] = g[i] + h[i];
        ((float *)c->out[1])[i] = g[i] - h[i];
    }
    return 1;
}

/* Input 0 is written to: s += x, y = s x. */
static int running(const call *c)
{
    float *s = c->in[0];
    const float *x = c->in[1];

    for (int64_t i = 0; i < size_of(c, 0); i++) {
        s[i] += x[i];
        ((float *)c->out[0])[i] = s[i] * x[i];
    }
    return 1;
}

static int running_back(const call *c)
{
    const float *dy = c->in[0], *s = c->in[1];

    for (int64_t i = 0; i < size_of(c, 0); i++)
        ((float *)c->out[1])[i] = dy[i] * s[i];
    return 1;
}

static int states_alive;

static int counter(const call *c)
{
    ++*c->state;
    for (int64_t i = 0; i < size_of(c, 0); i++)
        ((float *)c->out[0])[i] = ((const float *)c->in[0])[i] * (float)*c->state;
    return 1;
}

static int counter_back(const call *c)
{
    for (int64_t i = 0; i < size_of(c, 0); i++)
        ((float *)c->out[0])[i] = ((const float *)c->in[0])[i] * (float)*c->state;
    return 1;
}

static int alive(const call *c)
{
    *(float *)c->out[0] = (float)states_alive;
    return 1;
}

/* The next number of the first generators: 624 words of a twister, then how many were used. */
static int first_words(const call *c)
{
    const unsigned long *words = c->generators;

    for (int i = 0; i < 3; i++)
        ((float *)c->out[0])[i] = (float)(words[i * 625] & 0xffffff);
    return words[624] == 624;
}

/* How many parameters there are. */
static int parameters(const call *c)
{
    for (int i = 0; i < 3; i++)
        ((float *)c->out[0])[i] = (float)c->count;
    return 1;
}

static int failing(const call *c)
{
    const char *where = find(c->keys, c->values, c->count, "where");

    if (strcmp(where, "quietly") == 0)
        return 0;
    return strcmp(where, "forward") == 0 ? fail("forward makes no sense\n") : cube(c);
}

static int failing_back(const call *c)
{
    (void)c;
    return fail("backward makes no sense");
}

/* ---- the list of operators ---- */

enum { SUBGRAPH = 1, SPARSE = 2 };

typedef struct op {
    const char *name;
    body *forward, *backward;
    int stateful, inputs, outputs, mutated; /* mutated: an input or -1 */
    const char *device;
    int kind;
} op;

static const op ops[] = {
#ifdef TAKEN
    {TAKEN, cube, NULL, 0, 1, 1, -1, "cpu"},
#endif
    {PREFIX "cube", cube, cube_back, 0, 1, 1, -1, "cpu"},
    {PREFIX "plain", cube, NULL, 0, 1, 1, -1, "cpu"},
    {PREFIX "gemm", gemm, gemm_back, 0, 2, 1, -1, "cpu"},
    {PREFIX "pair", pair, pair_back, 0, 2, 2, -1, "cpu"},
    {PREFIX "running", running, running_back, 0, 2, 1, 0, "cpu"},
    {PREFIX "counter", counter, counter_back, 1, 1, 1, -1, "cpu"},
    {PREFIX "alive", alive, NULL, 0, 0, 1, -1, "cpu"},
    {PREFIX "words", first_words, NULL, 0, 0, 1, -1, "cpu"},
    {PREFIX "failing", failing, failing_back, 0, 1, 1, -1, "cpu"},
    {PREFIX "gpu", cube, NULL, 0, 1, 1, -1, "gpu"},
    {PREFIX "parameters", parameters, NULL, 0, 0, 1, -1, "cpu"},
    {PREFIX "part", cube, NULL, 0, 1, 1, -1, "cpu", SUBGRAPH},
    {PREFIX "sparse", cube, NULL, 0, 1, 1, -1, "cpu", SPARSE},
    {"_contrib_" PREFIX "cube", cube, cube_back, 0, 1, 1, -1, "cpu"},
};

enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static const op *of_body[OPS]; /* what the pointers that the caller keeps point to */
static const char *device[OPS];
static void *forward[OPS], *backward[OPS];

int _opVersion(void)
{
    return VERSION;
}

int initialize(int version)
{
#ifdef REFUSES
    return fail("this library wants another MXNet");
#endif
    return version == 10901;
}

int _opRegSize(void)
{
    return OPS;
}

void _opRegGet(int i, const char **name, int *is_subgraph, const char ***forward_devices,
               void ***forward_bodies, int *num_forward, const char ***backward_devices,
               void ***backward_bodies, int *num_backward, const char ***state_devices,
               void ***state_bodies, int *num_state, const void **parse, const void **types,
               const void **stypes, const void **shapes, const void **mutates)
{
    const op *o = &ops[i];

    of_body[i] = o;
    device[i] = o->device;
    forward[i] = (void *)o;
    backward[i] = (void *)((const char *)o + 1); /* told from the forward by the lowest bit */
    *name = o->name;
    *is_subgraph = o->kind == SUBGRAPH;
    *forward_devices = *backward_devices = *state_devices = &device[i];
    *forward_bodies = *state_bodies = &forward[i];
    *backward_bodies = &backward[i];
    *num_forward = !o->stateful;
    *num_backward = !o->stateful && o->backward != NULL;
    *num_state = o->stateful;
    *parse = *types = *shapes = o;
    *stypes = o->kind == SPARSE ? o : NULL;
    *mutates = o->mutated >= 0 ? o : NULL;
#ifdef NO_PARSE
    if (i == OPS - 1)
        *parse = NULL;
#endif
}

void _opCallFree(void *block)
{
    free(block);
}

static int fails_here(texts keys, texts values, int count, const char *where)
{
    return strcmp(find(keys, values, count, "where"), where) == 0;
}

int _opCallParseAttrs(const op *o, texts keys, texts values, int count, int *num_in, int *num_out)
{
    if (fails_here(keys, values, count, "parse"))
        return fail("attributes make no sense");
    *num_in = o->inputs;
    *num_out = o->outputs;
    return 1;
}

static unsigned *copied(const unsigned *sizes, int ndim)
{
    unsigned *copy = malloc((size_t)(ndim + 1) * sizeof(*copy));

    if (ndim > 0)
        memcpy(copy, sizes, (size_t)ndim * sizeof(*copy));
    return copy;
}

int _opCallInferShape(const op *o, texts keys, texts values, int count, unsigned **in, int *ndims,
                      int num_in, unsigned ***new_in, int **new_ndims, unsigned ***out,
                      int **out_ndims, int num_out)
{
    static const unsigned three[] = {3};

    if (fails_here(keys, values, count, "shapes")) {
        fail("shapes make no sense");
        return fail("at all");
    }
    if (o->forward == gemm && (ndims[0] != 2 || ndims[1] != 2 || in[0][1] != in[1][0]))
        return fail("these are no factors");
    *new_in = malloc((size_t)(num_in + 1) * sizeof(**new_in));
    *new_ndims = malloc((size_t)(num_in + 1) * sizeof(**new_ndims));
    *out = malloc((size_t)num_out * sizeof(**out));
    *out_ndims = malloc((size_t)num_out * sizeof(**out_ndims));
    for (int i = 0; i < num_in; i++) {
        (*new_in)[i] = copied(in[i], ndims[i]);
        (*new_ndims)[i] = ndims[i];
    }
    for (int i = 0; i < num_out; i++) {
        (*out)[i] = num_in > 0 ? copied(in[0], ndims[0]) : copied(three, 1);
        (*out_ndims)[i] = num_in > 0 ? ndims[0] : 1;
    }
    if (o->forward == gemm)
        (*out)[0][1] = in[1][1];
    return 1;
}

int _opCallInferType(const op *o, texts keys, texts values, int count, int *in, int num_in,
                     int *out, int num_out)
{
    (void)o;
    if (fails_here(keys, values, count, "types") || (num_in > 0 && in[0] != 0))
        return fail("this is no float32");
    for (int i = 0; i < num_in; i++)
        in[i] = 0;
    for (int i = 0; i < num_out; i++)
        out[i] = 0;
    return 1;
}

/* The dense storage type is 0, that of rows 1. */
int _opCallInferSType(const op *o, texts keys, texts values, int count, int *in, int num_in,
                      int *out, int num_out)
{
    (void)o;
    if (fails_here(keys, values, count, "storage"))
        return fail("this is no sparse array");
    for (int i = 0; i < num_in; i++)
        if (in[i] != 0)
            return fail("an input is not dense");
    for (int i = 0; i < num_out; i++)
        out[i] = strcmp(find(keys, values, count, "rows"), "out") == 0;
    if (strcmp(find(keys, values, count, "rows"), "in") == 0)
        in[0] = 1;
    return 1;
}

int _opCallMutateInputs(const op *o, texts keys, texts values, int count, int **indices, int *size)
{
    (void)keys;
    (void)values;
    (void)count;
    *size = 1;
    *indices = malloc(sizeof(**indices));
    **indices = o->mutated;
    return 1;
}

#define ARRAYS(in)                                                                                 \
    const int64_t **in##_shapes, int *in##_ndims, void **in##_data, int *in##_types,               \
        size_t *in##_versions, const char **in##_devices, int *in##_ids, int num_##in
#define RESOURCES                                                                                  \
    allocate alloc, void *owner, allocate gpu_alloc, void *gpu_owner, void *stream,                \
        void *sparse_alloc, void *sparse_owner, int *in_stypes, int *out_stypes,                   \
        void **in_indices, void **out_indices, void **in_indptr, void **out_indptr,                \
        int64_t *in_indices_shapes, int64_t *out_indices_shapes, int64_t *in_indptr_shapes,        \
        int64_t *out_indptr_shapes, void *generators, void *gpu_generators
#define CALL                                                                                       \
    .num_in = num_in, .num_out = num_out, .in_shape = in_shapes, .out_shape = out_shapes,          \
    .in_ndim = in_ndims, .out_ndim = out_ndims, .in = in_data, .out = out_data, .alloc = alloc,    \
    .owner = owner, .generators = generators

int _opCallFCompute(const char *which, texts keys, texts values, int count, ARRAYS(in), ARRAYS(out),
                    RESOURCES)
{
    const call c = {.keys = keys, .values = values, .count = count, CALL};

    for (int i = 0; i < num_in; i++)
        if (strcmp(in_devices[i], "cpu") != 0 || in_types[i] != 0)
            return fail("an array is none of the CPU's");
    for (int i = 0; i < OPS; i++) {
        if (which == (const char *)of_body[i])
            return of_body[i]->forward(&c);
        if (which == (const char *)of_body[i] + 1)
            return of_body[i]->backward(&c);
    }
    return fail("no such body");
}

int _opCallCreateOpState(const op *o, texts keys, texts values, int count, const char *device_type,
                         int id, unsigned **shapes, int *ndims, int num_in, const int *types,
                         int **state)
{
    const char *start = find(keys, values, count, "start");

    (void)o;
    if (strcmp(start, "bad") == 0)
        return fail("start makes no sense");
    if (strcmp(device_type, "cpu") != 0 || id < 0 || num_in != 1 || ndims[0] < 0 || types[0] != 0 ||
        (ndims[0] > 0 && shapes[0][0] == 0))
        return fail("create_op_state was told nonsense");
    *state = strcmp(start, "none") == 0 ? NULL : malloc(sizeof(**state));
    if (*state == NULL)
        return 1;
    **state = atoi(start);
    states_alive++;
    return 1;
}

void _opCallDestroyOpState(int *state)
{
    states_alive--;
    free(state);
}

int _opCallFStatefulCompute(int is_forward, int *state, ARRAYS(in), ARRAYS(out), RESOURCES)
{
    const call c = {.state = state, CALL};

    return is_forward ? counter(&c) : counter_back(&c);
}

/* ---- what mxlite does not run ---- */

int _partRegSize(void)
{
    return 1;
}

int _partRegGetCount(int i, const char **name)
{
    (void)i;
    *name = PREFIX "partitioner";
    return 1;
}

int _passRegSize(void)
{
    return 1;
}

void _passRegGet(int i, const void **pass, const char **name)
{
    (void)i;
    *pass = ops;
    *name = PREFIX "pass";
}
