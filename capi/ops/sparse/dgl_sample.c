/* Samplers of neighbours in graphs, for DGL: from each list of vertices some edges of each, then
 * some of each vertex that they lead to, and so on for some hops. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "engine/run/generator.h"
#include "kernel/sort/sort.h"
#include "kernel/sparse/choose.h"
#include "ops/sparse/dgl.h"

typedef struct sample_params {
    int64_t num_hops, num_neighbor, max_num_vertices;
} sample_params;

/* A sample under construction: vertices in the order in which they were found, the hop of each,
 * and where its edges begin, which are places in the graph's lists. */
typedef struct sample {
    const mxl_graph *graph;
    const float *probability; /* of each vertex; NULL: all are equal */
    const sample_params *p;
    int64_t count, visited; /* of the vertices; the visited ones have edges */
    int64_t *vertices, *hops, *begin;
    int64_t *edges;
    size_t used, room;
    int64_t *chosen; /* room for num_neighbor */
    float *weights;  /* room for those of the vertex's neighbours */
    size_t weights_room;
    mxl_map found;
    mxl_draws draws;
} sample;

/* ---- sampling ---- */

static int find_vertex(sample *s, int64_t vertex, int64_t hop)
{
    void **value;

    if (mxl_map_find(&s->found, mxl_graph_key(vertex)) != NULL ||
        s->count >= s->p->max_num_vertices)
        return 0;
    value = mxl_map_put(&s->found, mxl_graph_key(vertex));
    if (value == NULL)
        return -1;
    s->vertices[s->count] = vertex;
    s->hops[s->count++] = hop;
    return 0;
}

/* Chooses edges of a vertex that has more than are wanted. */
static int choose_edges(sample *s, int64_t begin, int64_t degree)
{
    if (s->probability == NULL) {
        mxl_choose(&s->draws, degree, s->p->num_neighbor, s->chosen);
        return 0;
    }
    while (s->weights_room < (size_t)degree) {
        if (mxl_grow((void *)&s->weights, sizeof(*s->weights), &s->weights_room) != 0)
            return -1;
    }
    for (int64_t k = 0; k < degree; k++)
        s->weights[k] = s->probability[s->graph->to[begin + k]];
    return mxl_choose_weighted(&s->draws, degree, s->weights, s->p->num_neighbor, s->chosen);
}

/* Notes edges of the next vertex, and the vertices that they lead to. */
static int visit(sample *s)
{
    int64_t vertex = s->vertices[s->visited], hop = s->hops[s->visited] + 1;
    int64_t begin = s->graph->begin[vertex], degree = s->graph->begin[vertex + 1] - begin;
    bool all = degree <= s->p->num_neighbor;

    if (!all && choose_edges(s, begin, degree) != 0)
        return -1;
    for (int64_t k = 0; k < (all ? degree : s->p->num_neighbor); k++) {
        int64_t edge = begin + (all ? k : s->chosen[k]);

        if (MXL_GROW(s->edges, s->used, s->room) != 0 ||
            find_vertex(s, s->graph->to[edge], hop) != 0)
            return -1;
        s->edges[s->used++] = edge;
    }
    return 0;
}

/* Sampling ends with the most vertices: those that are not visited by then have no edges. */
static int run(sample *s, const mxl_op *op, const mxl_array *seeds)
{
    const int64_t *seed = mxl_array_read(seeds);

    for (int64_t i = 0; i < seeds->size; i++) {
        if (seed[i] < 0 || seed[i] >= s->graph->vertices)
            return mxl_error("IndexError: %s: there is no vertex %lld in a graph of %lld", op->name,
                             (long long)seed[i], (long long)s->graph->vertices);
        if (find_vertex(s, seed[i], 0) != 0)
            return -1;
    }
    for (; s->visited < s->count && s->count < s->p->max_num_vertices; s->visited++) {
        s->begin[s->visited] = (int64_t)s->used;
        if (s->hops[s->visited] < s->p->num_hops && visit(s) != 0)
            return -1;
    }
    for (int64_t i = s->visited; i <= s->count; i++)
        s->begin[i] = (int64_t)s->used;
    return 0;
}

/* ---- results ---- */

/* Writes values of the vertices in the order of the vertices' numbers, then zeros. */
static void put_list(const sample *s, const int64_t *order, const int64_t *values, mxl_array *out)
{
    int64_t *to = mxl_array_write(out);

    for (int64_t i = 0; i < out->size; i++)
        to[i] = i < s->count ? values[order[i]] : 0;
}

static void put_probabilities(const sample *s, const int64_t *order, mxl_array *out)
{
    float *to = mxl_array_write(out);

    for (int64_t i = 0; i < out->size; i++)
        to[i] = i < s->count ? s->probability[s->vertices[order[i]]] : 0;
}

static int put_edges(const sample *s, const int64_t *order, mxl_array *out)
{
    mxl_csr_draft draft;
    int64_t stored = 0;

    if (mxl_csr_draft_begin(&draft, out->shape[0], (int64_t)s->used) != 0)
        return -1;
    for (int64_t i = 0; i < out->shape[0]; i++) {
        int64_t from = i < s->count ? order[i] : 0;
        int64_t end = i < s->count ? s->begin[from + 1] : 0;

        for (int64_t k = i < s->count ? s->begin[from] : 0; k < end; k++) {
            draft.tos[stored] = s->graph->to[s->edges[k]];
            draft.edges[stored++] = s->graph->edge[s->edges[k]];
        }
        draft.begins[i + 1] = stored;
    }
    return mxl_csr_draft_end(&draft, out, 0);
}

/* Fills the outputs of list i of n. */
static int put_all(const sample *s, const mxl_call *call, int i, int n, int64_t *order)
{
    mxl_sort_job job = {.dtype = MXL_I64,
                        .outer = 1,
                        .n = s->count,
                        .inner = 1,
                        .k = s->count,
                        .in = s->vertices,
                        .positions = order,
                        .position_dtype = MXL_I64};
    mxl_array *vertices = call->out[i];

    if (mxl_sort(&job) != 0)
        return -1;
    put_list(s, order, s->vertices, vertices);
    ((int64_t *)mxl_array_write(vertices))[vertices->size - 1] = s->count;
    if (s->probability != NULL)
        put_probabilities(s, order, call->out[2 * n + i]);
    put_list(s, order, s->hops, call->out[call->num_outputs - n + i]);
    return put_edges(s, order, call->out[n + i]);
}

/* ---- the operators ---- */

static int sample_list(const mxl_call *call, const mxl_graph *graph, const float *probability,
                       int i, int n, mxl_rng rng)
{
    const sample_params *p = call->params;
    int64_t most = p->max_num_vertices;
    size_t bytes = (size_t)(4 * most + 1 + p->num_neighbor) * sizeof(int64_t);
    int64_t *room = mxl_alloc(bytes);
    sample s = {.graph = graph, .probability = probability, .p = p};
    int status = -1;

    if (room != NULL) {
        s.vertices = room;
        s.hops = room + most;
        s.begin = room + 2 * most;
        s.chosen = room + 4 * most + 1;
        mxl_draws_begin(&s.draws, rng, (uint64_t)i);
        status = run(&s, call->op, call->in[call->num_inputs - n + i]);
        if (status == 0)
            status = put_all(&s, call, i, n, room + 3 * most + 1);
    }
    mxl_map_clear(&s.found);
    mxl_free(s.edges, s.room * sizeof(*s.edges));
    mxl_free(s.weights, s.weights_room * sizeof(*s.weights));
    mxl_free(room, bytes);
    return status;
}

static int sample_compute(const mxl_call *call, int before)
{
    int n = call->num_inputs - before, status = 0;
    const float *probability = before > 1 ? mxl_array_read(call->in[1]) : NULL;
    mxl_rng rng = mxl_random_stream();
    mxl_graph graph;

    if (mxl_graph_open(&graph, call->in[0]) != 0)
        return mxl_error_prefix(call->op->name);
    for (int i = 0; i < n && status == 0; i++)
        status = sample_list(call, &graph, probability, i, n, rng);
    mxl_graph_close(&graph);
    return status;
}

static bool sample_stypes(mxl_stypes *call, int before)
{
    int n = call->num_inputs - before;

    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i] != (i == 0 ? MXL_CSR : MXL_DENSE))
            return false;
    }
    for (int i = n; i < 2 * n; i++)
        call->out[i] = MXL_CSR;
    return true;
}

static int sample_arity(mxl_arity *arity, int before)
{
    if (arity->inputs <= before)
        arity->inputs = before + 1;
    arity->outputs = arity->visible = (arity->inputs - before) * (before + 2);
    return 0;
}

static int check_sizes(const mxl_infer *infer)
{
    const sample_params *p = infer->params;

    if (p->num_hops < 0 || p->num_neighbor < 0 || p->max_num_vertices < 0 ||
        p->num_neighbor > INT32_MAX || p->max_num_vertices > INT32_MAX)
        return mxl_error("%s: num_hops, num_neighbor and max_num_vertices must be 0 or more, and "
                         "the last two below 2^31; got %lld, %lld, %lld",
                         infer->op->name, (long long)p->num_hops, (long long)p->num_neighbor,
                         (long long)p->max_num_vertices);
    return mxl_dgl_check_graph(infer->op, infer->in[0]);
}

static int sample_infer(mxl_infer *infer, int before)
{
    const sample_params *p = infer->params;
    int64_t most = p->max_num_vertices, ends = most + 1;
    int64_t shape[2] = {most, infer->in[0]->ndim == 2 ? infer->in[0]->shape[1] : 0};
    int n = infer->num_inputs - before;

    if (check_sizes(infer) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        const mxl_array *seeds = infer->in[before + i];

        if (mxl_dgl_check_list(infer->op, seeds) != 0)
            return -1;
        if (seeds->shape[0] > most)
            return mxl_error("%s: %lld seeds, but max_num_vertices is %lld", infer->op->name,
                             (long long)seeds->shape[0], (long long)most);
    }
    for (int i = 0; i < infer->num_outputs; i++) {
        int kind = i / n;

        if (kind == 1)
            mxl_shape_set(&infer->out_shape[i], 2, shape);
        else
            mxl_shape_set(&infer->out_shape[i], 1, kind == 0 ? &ends : &most);
        infer->out_dtype[i] = kind == 2 && before > 1 ? MXL_F32 : MXL_I64;
    }
    return 0;
}

#define SAMPLER(id, BEFORE)                                                                        \
    static int id##_arity(const void *params, mxl_arity *arity)                                    \
    {                                                                                              \
        (void)params;                                                                              \
        return sample_arity(arity, BEFORE);                                                        \
    }                                                                                              \
    static bool id##_stypes(mxl_stypes *call)                                                      \
    {                                                                                              \
        return sample_stypes(call, BEFORE);                                                        \
    }                                                                                              \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return sample_compute(call, BEFORE);                                                       \
    }                                                                                              \
    static const mxl_sparse_forms id##_forms = {.stypes = id##_stypes, .compute = id##_compute};

/* How many arrays come before the lists of vertices. */
SAMPLER(uniform, 1)
SAMPLER(weighted, 2)

static int uniform_infer(mxl_infer *infer)
{
    return sample_infer(infer, 1);
}

static int weighted_infer(mxl_infer *infer)
{
    const mxl_array *graph = infer->in[0], *probability = infer->in[1];

    if (graph->ndim == 2 && (probability->dtype != MXL_F32 || probability->ndim != 1 ||
                             probability->shape[0] != graph->shape[0]))
        return mxl_error("%s: probability must have a float32 number for each of %lld vertices, "
                         "got shape %s of %s",
                         infer->op->name, (long long)graph->shape[0], MXL_SHAPE_OF(probability),
                         mxl_dtype_name(probability->dtype));
    return sample_infer(infer, 2);
}

#define ONE   .type_text = "NDArray-or-Symbol"
#define GRAPH MXL_INPUT(csr_matrix, "A graph: a square csr matrix of int64.", ONE)
#define SEEDS                                                                                      \
    MXL_INPUT(seed_arrays, "Lists of vertices, int64: one sample begins at each.",                 \
              .type_text = "NDArray-or-Symbol[]")
#define SAMPLE_PARAMS                                                                              \
    MXL_PARAMS_OF(sample_params,                                                                   \
                  MXL_PARAM(sample_params, num_hops, MXL_P_INT, "1",                               \
                            "How far from the list it goes.", .type_name = "long"),                \
                  MXL_PARAM(sample_params, num_neighbor, MXL_P_INT, "2",                           \
                            "The most edges of a vertex.", .type_name = "long"),                   \
                  MXL_PARAM(sample_params, max_num_vertices, MXL_P_INT, "100",                     \
                            "The most vertices of a sample.", .type_name = "long"))
#define RESULTS_BEGIN                                                                              \
    "For each list in turn: the vertices of the sample, ascending, then zeros, and last how many " \
    "there are; then for each list a csr matrix of the chosen edges, with a row for each vertex "  \
    "of the sample and a column for each of the graph; "
#define RESULTS_END                                                                                \
    "then how many hops from the list each vertex is. A sample that has the most vertices ends: "  \
    "those not visited by then have no edges."

static const mxl_op op_uniform = {
    .name = "_contrib_dgl_csr_neighbor_uniform_sample",
    .doc = "Samples of a graph around lists of vertices: edges of a vertex are chosen with equal "
           "probability. " RESULTS_BEGIN RESULTS_END,
    MXL_INPUTS(GRAPH, SEEDS),
    SAMPLE_PARAMS,
    .key_var_num_args = "num_args",
    .arity = uniform_arity,
    .infer = uniform_infer,
    .compute = mxl_dgl_refuse,
    .draws = true,
    .sparse = &uniform_forms,
};

static const mxl_op op_weighted = {
    .name = "_contrib_dgl_csr_neighbor_non_uniform_sample",
    .doc = "Samples of a graph around lists of vertices: edges of a vertex are chosen one after "
           "another in proportion to the probability of where they lead. " RESULTS_BEGIN
           "then the probabilities of the vertices; " RESULTS_END,
    MXL_INPUTS(GRAPH, MXL_INPUT(probability, "A number for each vertex, float32.", ONE), SEEDS),
    SAMPLE_PARAMS,
    .key_var_num_args = "num_args",
    .arity = weighted_arity,
    .infer = weighted_infer,
    .compute = mxl_dgl_refuse,
    .draws = true,
    .sparse = &weighted_forms,
};

const mxl_op *const mxl_ops_dgl_sample[] = {&op_uniform, &op_weighted, NULL};
