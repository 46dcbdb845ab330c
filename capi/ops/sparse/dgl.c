/* Graphs as csr matrices, for DGL: edges by their ends, adjacency, subgraphs of given vertices, and
 * what the samplers of dgl_sample.c give without its empty rows and columns. */
#include "ops/sparse/dgl.h"

#include <string.h>

#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "ops/sparse/forms.h"

int mxl_dgl_check_graph(const mxl_op *op, const mxl_array *graph)
{
    if (graph->dtype != MXL_I64)
        return mxl_error("%s: a graph must be int64, got %s", op->name,
                         mxl_dtype_name(graph->dtype));
    if (graph->ndim != 2 || graph->shape[0] != graph->shape[1])
        return mxl_error("%s: a graph must be a square matrix, got shape %s", op->name,
                         MXL_SHAPE_OF(graph));
    return 0;
}

int mxl_dgl_check_list(const mxl_op *op, const mxl_array *list)
{
    if (list->dtype == MXL_I64 && list->ndim == 1)
        return 0;
    return mxl_error("%s: vertices must be a list of int64, got shape %s of %s", op->name,
                     MXL_SHAPE_OF(list), mxl_dtype_name(list->dtype));
}

int mxl_dgl_refuse(const mxl_call *call)
{
    return mxl_error("%s: graphs must be csr, and other arrays dense", call->op->name);
}

int mxl_graph_open(mxl_graph *graph, const mxl_array *array)
{
    graph->parts = mxl_sparse_read(array);
    if (graph->parts == NULL)
        return -1;
    graph->vertices = array->shape[0];
    graph->begin = mxl_array_read(graph->parts->indptr);
    graph->to = mxl_array_read(graph->parts->indices);
    graph->edge = mxl_array_read(graph->parts->data);
    return 0;
}

int mxl_csr_draft_begin(mxl_csr_draft *draft, int64_t rows, int64_t stored)
{
    int64_t bounds = rows + 1;

    draft->begin = mxl_array_new(MXL_I64, 1, &bounds);
    draft->to = mxl_array_new(MXL_I64, 1, &stored);
    draft->edge = mxl_array_new(MXL_I64, 1, &stored);
    if (draft->begin == NULL || draft->to == NULL || draft->edge == NULL) {
        (void)mxl_csr_draft_end(draft, NULL, -1);
        return -1;
    }
    draft->begins = mxl_array_write(draft->begin);
    draft->tos = mxl_array_write(draft->to);
    draft->edges = mxl_array_write(draft->edge);
    draft->begins[0] = 0;
    return 0;
}

int mxl_csr_draft_end(mxl_csr_draft *draft, mxl_array *out, int status)
{
    mxl_parts *parts;

    if (status != 0) {
        mxl_array_release(draft->begin);
        mxl_array_release(draft->to);
        mxl_array_release(draft->edge);
        return status;
    }
    parts = mxl_parts_new(true, draft->edge, draft->to, draft->begin);
    if (parts == NULL)
        return -1;
    mxl_array_set_parts(out, parts);
    mxl_parts_release(parts);
    return 0;
}

/* ---- edge_id ---- */

static int edge_infer(mxl_infer *infer)
{
    const mxl_array *u = infer->in[1], *v = infer->in[2];

    if (u->ndim != 1 || !mxl_array_same_shape(u, v))
        return mxl_error("%s: u and v must be lists of one length, got shapes %s and %s",
                         infer->op->name, MXL_SHAPE_OF(u), MXL_SHAPE_OF(v));
    if (infer->in[0]->ndim != 2)
        return mxl_error("%s: data must be a matrix, got shape %s", infer->op->name,
                         MXL_SHAPE_OF(infer->in[0]));
    return mxl_infer_set(infer, infer->in[0]->dtype, 1, u->shape);
}

static bool edge_stypes(mxl_stypes *call)
{
    return call->in[0] == MXL_CSR && call->in[1] == MXL_DENSE && call->in[2] == MXL_DENSE;
}

/* An element of a list of any dtype, as int64. */
static int64_t number_at(const mxl_array *list, int64_t i)
{
    const void *at = (const char *)mxl_array_read(list) + i * (int64_t)mxl_dtype_size(list->dtype);
    int64_t number, step = 1;

    mxl_cast_loop(list->dtype, MXL_I64)(&number, &at, &step, 1, NULL);
    return number;
}

static int find_edges(const mxl_call *call, const mxl_parts *parts)
{
    const int64_t *begin = mxl_array_read(parts->indptr), *to = mxl_array_read(parts->indices);
    const char *data = mxl_array_read(parts->data);
    int64_t width = (int64_t)mxl_dtype_size(call->out[0]->dtype), step = 1, none = -1;
    char *out = mxl_array_write(call->out[0]);
    const void *none_at = &none;
    uint64_t absent = 0;

    mxl_cast_loop(MXL_I64, call->out[0]->dtype)(&absent, &none_at, &step, 1, NULL);
    for (int64_t i = 0; i < call->out[0]->size; i++) {
        int64_t u = number_at(call->in[1], i), v = number_at(call->in[2], i), k;

        if (u < 0 || u >= call->in[0]->shape[0])
            return mxl_error("IndexError: %s: there is no vertex %lld in a graph of %lld",
                             call->op->name, (long long)u, (long long)call->in[0]->shape[0]);
        for (k = begin[u]; k < begin[u + 1] && to[k] != v; k++)
            ;
        memcpy(out + i * width, k < begin[u + 1] ? data + k * width : (const char *)&absent,
               (size_t)width);
    }
    return 0;
}

static int edge_compute(const mxl_call *call)
{
    mxl_parts *parts = mxl_sparse_read(call->in[0]);
    int status = parts == NULL ? -1 : find_edges(call, parts);

    mxl_parts_release(parts);
    return status;
}

static const mxl_sparse_forms edge_forms = {.stypes = edge_stypes, .compute = edge_compute};

static const mxl_op op_edge_id = {
    .name = "_contrib_edge_id",
    .doc = "The elements of a csr matrix at (u[i], v[i]); -1 where none is stored.",
    MXL_INPUTS(MXL_INPUT(data, "A csr matrix: the numbers of a graph's edges."),
               MXL_INPUT(u, "Rows: where edges begin."), MXL_INPUT(v, "Columns: where they end.")),
    .infer = edge_infer,
    .dtypes = "A..>A",
    .compute = mxl_dgl_refuse,
    .sparse = &edge_forms,
};

/* ---- dgl_adjacency ---- */

static bool adjacency_stypes(mxl_stypes *call)
{
    call->out[0] = MXL_CSR;
    return call->in[0] == MXL_CSR;
}

static int adjacency_infer(mxl_infer *infer)
{
    const mxl_array *graph = infer->in[0];

    if (graph->dtype != MXL_I64 || graph->ndim != 2)
        return mxl_error("%s: data must be a matrix of int64, got shape %s of %s", infer->op->name,
                         MXL_SHAPE_OF(graph), mxl_dtype_name(graph->dtype));
    return mxl_infer_set(infer, MXL_F32, graph->ndim, graph->shape);
}

static int adjacency_compute(const mxl_call *call)
{
    mxl_parts *parts = mxl_sparse_read(call->in[0]);
    mxl_array *ones = parts == NULL ? NULL : mxl_array_new(MXL_F32, 1, parts->indices->shape);
    const float one = 1;
    int status = -1;

    if (ones != NULL) {
        mxl_fill(sizeof(one), mxl_array_write(ones), &one, ones->size);
        status = mxl_sparse_give_data(call->out[0], parts, ones);
    }
    mxl_parts_release(parts);
    return status;
}

static const mxl_sparse_forms adjacency_forms = {.stypes = adjacency_stypes,
                                                 .compute = adjacency_compute};

static const mxl_op op_adjacency = {
    .name = "_contrib_dgl_adjacency",
    .doc = "The csr matrix with 1, in float32, in place of all that is stored.",
    MXL_INPUTS(MXL_INPUT(data, "A csr matrix of int64: the numbers of a graph's edges.")),
    .infer = adjacency_infer,
    .dtypes = "l>f",
    .compute = mxl_dgl_refuse,
    .sparse = &adjacency_forms,
};

/* ---- dgl_subgraph and dgl_graph_compact ---- */

typedef struct part_params {
    int return_mapping;
    mxl_tuple graph_sizes;
} part_params;

#define MAPPING                                                                                    \
    MXL_PARAM(part_params, return_mapping, MXL_P_BOOL, MXL_REQUIRED,                               \
              "Whether the same matrices with the edges' numbers in the given graph follow.",      \
              .sets_outputs = true)

/* Writes the edges of some rows of a graph between vertices that the map has: their old numbers. */
static int draft_rows(const mxl_op *op, mxl_csr_draft *draft, const mxl_graph *graph, int64_t rows,
                      const int64_t *from, const mxl_map *map, bool drops)
{
    int64_t stored = 0;

    for (int64_t i = 0; i < rows; i++) {
        int64_t row = from == NULL ? i : from[i];

        for (int64_t k = graph->begin[row]; k < graph->begin[row + 1]; k++) {
            void **found = mxl_map_find(map, mxl_graph_key(graph->to[k]));

            if (found == NULL && !drops)
                return mxl_error("%s: vertex %lld is not in the list of vertices", op->name,
                                 (long long)graph->to[k]);
            if (found == NULL)
                continue;
            draft->tos[stored] = (int64_t)(uintptr_t)*found;
            draft->edges[stored++] = graph->edge[k];
        }
        draft->begins[i + 1] = stored;
    }
    return 0;
}

static int map_vertices(const mxl_op *op, mxl_map *map, int64_t count, const int64_t *list,
                        int64_t vertices)
{
    for (int64_t i = 0; i < count; i++) {
        void **value;

        if (list[i] < 0 || list[i] >= vertices)
            return mxl_error("IndexError: %s: there is no vertex %lld in a graph of %lld", op->name,
                             (long long)list[i], (long long)vertices);
        value = mxl_map_put(map, mxl_graph_key(list[i]));
        if (value == NULL)
            return -1;
        *value = (void *)(uintptr_t)i;
    }
    return 0;
}

/* The draft has room for the most edges; the arrays of the result have what there is. */
static int give_rows(mxl_csr_draft *draft, int64_t rows, mxl_array *out, mxl_array *mapping)
{
    int64_t stored = draft->begins[rows];
    mxl_array *to = mxl_array_view(draft->to, 0, 1, &stored);
    mxl_array *old = mxl_array_view(draft->edge, 0, 1, &stored);
    mxl_array *edge = mxl_array_new(MXL_I64, 1, &stored);
    mxl_parts *parts = NULL, *mapped = NULL;

    for (int64_t k = 0; edge != NULL && k < stored; k++)
        ((int64_t *)mxl_array_write(edge))[k] = k;
    if (to != NULL && old != NULL && edge != NULL) {
        mxl_array_retain(to);
        mxl_array_retain(draft->begin);
        parts = mxl_parts_new(true, edge, to, draft->begin);
        mxl_array_retain(to);
        mxl_array_retain(draft->begin);
        mapped = mxl_parts_new(true, old, to, draft->begin);
    } else {
        mxl_array_release(old);
        mxl_array_release(edge);
    }
    if (parts != NULL && mapped != NULL) {
        mxl_array_set_parts(out, parts);
        if (mapping != NULL)
            mxl_array_set_parts(mapping, mapped);
    }
    mxl_array_release(to);
    mxl_parts_release(parts);
    mxl_parts_release(mapped);
    return parts != NULL && mapped != NULL ? 0 : -1;
}

/* The edges of a graph between the first `count` vertices of a list: rows are those of the list, or
 * with `drops` false already in its order. */
static int part_of(const mxl_call *call, const mxl_array *array, const mxl_array *list,
                   int64_t count, bool drops, int i)
{
    const part_params *p = call->params;
    const int64_t *vertices = mxl_array_read(list);
    int n = p->return_mapping ? call->num_outputs / 2 : call->num_outputs;
    mxl_csr_draft draft;
    mxl_map map = {0};
    mxl_graph graph;
    int64_t most = 0;
    int status;

    if (mxl_graph_open(&graph, array) != 0)
        return mxl_error_prefix(call->op->name);
    status = map_vertices(call->op, &map, count, vertices, array->shape[1]);
    for (int64_t k = 0; status == 0 && k < count; k++) {
        int64_t row = drops ? vertices[k] : k;

        most += graph.begin[row + 1] - graph.begin[row];
    }
    if (status == 0)
        status = mxl_csr_draft_begin(&draft, count, most);
    if (status == 0) {
        status = draft_rows(call->op, &draft, &graph, count, drops ? vertices : NULL, &map, drops);
        if (status == 0)
            status =
                give_rows(&draft, count, call->out[i], p->return_mapping ? call->out[n + i] : NULL);
        (void)mxl_csr_draft_end(&draft, NULL, -1);
    }
    mxl_map_clear(&map);
    mxl_graph_close(&graph);
    return status;
}

/* `graphs` inputs are csr, the others dense; all outputs are csr. */
static bool part_stypes(mxl_stypes *call, int graphs)
{
    for (int i = 0; i < call->num_inputs; i++) {
        if (call->in[i] != (i < graphs ? MXL_CSR : MXL_DENSE))
            return false;
    }
    for (int i = 0; i < call->num_outputs; i++)
        call->out[i] = MXL_CSR;
    return true;
}

static int part_arity(const void *params, mxl_arity *arity, int parts)
{
    const part_params *p = params;

    arity->outputs = arity->visible = parts * (p->return_mapping ? 2 : 1);
    return 0;
}

static int subgraph_arity(const void *params, mxl_arity *arity)
{
    if (arity->inputs < 2)
        arity->inputs = 2;
    return part_arity(params, arity, arity->inputs - 1);
}

static int subgraph_infer(mxl_infer *infer)
{
    int n = infer->num_inputs - 1;

    if (mxl_dgl_check_graph(infer->op, infer->in[0]) != 0)
        return -1;
    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_array *list = infer->in[1 + i % n];

        if (mxl_dgl_check_list(infer->op, list) != 0)
            return -1;
        mxl_shape_set(&infer->out_shape[i], 2, (int64_t[]){list->shape[0], list->shape[0]});
        infer->out_dtype[i] = MXL_I64;
    }
    return 0;
}

static bool subgraph_stypes(mxl_stypes *call)
{
    return part_stypes(call, 1);
}

static int subgraph_compute(const mxl_call *call)
{
    for (int i = 0; i < call->num_inputs - 1; i++) {
        const mxl_array *list = call->in[1 + i];
        const int64_t *vertices = mxl_array_read(list);

        for (int64_t k = 1; k < list->size; k++) {
            if (vertices[k] < vertices[k - 1])
                return mxl_error("ValueError: %s: the vertices must ascend, but %lld follows %lld",
                                 call->op->name, (long long)vertices[k],
                                 (long long)vertices[k - 1]);
        }
        if (part_of(call, call->in[0], list, list->size, true, i) != 0)
            return -1;
    }
    return 0;
}

static const mxl_sparse_forms subgraph_forms = {.stypes = subgraph_stypes,
                                                .compute = subgraph_compute};

static const mxl_op op_subgraph = {
    .name = "_contrib_dgl_subgraph",
    .doc =
        "The edges of a graph between the vertices of a list, for each list: a csr matrix, whose "
        "row and column i are vertex i of the list, and whose values count the edges from 0 on.",
    MXL_INPUTS(MXL_INPUT(graph, "A graph: a square csr matrix of int64.",
                         .type_text = "NDArray-or-Symbol"),
               MXL_INPUT(data, "Lists of vertices, int64, ascending.",
                         .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(part_params, MAPPING),
    .key_var_num_args = "num_args",
    .arity = subgraph_arity,
    .infer = subgraph_infer,
    .compute = mxl_dgl_refuse,
    .sparse = &subgraph_forms,
};

static int compact_arity(const void *params, mxl_arity *arity)
{
    if (arity->inputs < 2)
        arity->inputs = 2;
    if (arity->inputs % 2 != 0)
        return mxl_error("dgl_graph_compact: takes as many lists of vertices as graphs, got %d "
                         "arrays",
                         arity->inputs);
    return part_arity(params, arity, arity->inputs / 2);
}

static int compact_infer(mxl_infer *infer)
{
    const part_params *p = infer->params;
    int n = infer->num_inputs / 2;

    if (p->graph_sizes.n != n)
        return mxl_error("%s: graph_sizes has %d numbers for %d graphs", infer->op->name,
                         p->graph_sizes.n, n);
    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_array *graph = infer->in[i % n], *list = infer->in[n + i % n];
        int64_t size = p->graph_sizes.v[i % n], shape[2] = {size, size};

        if (mxl_dgl_check_list(infer->op, list) != 0)
            return -1;
        if (graph->ndim != 2 || graph->dtype != MXL_I64 || list->shape[0] != graph->shape[0] + 1)
            return mxl_error("%s: a list of shape %s does not go with a graph of shape %s of %s",
                             infer->op->name, MXL_SHAPE_OF(list), MXL_SHAPE_OF(graph),
                             mxl_dtype_name(graph->dtype));
        if (size < 0 || size > graph->shape[0])
            return mxl_error("%s: graph_sizes: %lld of a graph of %lld rows", infer->op->name,
                             (long long)size, (long long)graph->shape[0]);
        mxl_shape_set(&infer->out_shape[i], 2, shape);
        infer->out_dtype[i] = MXL_I64;
    }
    return 0;
}

static bool compact_stypes(mxl_stypes *call)
{
    return part_stypes(call, call->num_inputs / 2);
}

static int compact_compute(const mxl_call *call)
{
    const part_params *p = call->params;
    int n = call->num_inputs / 2;

    for (int i = 0; i < n; i++) {
        const mxl_array *list = call->in[n + i];
        int64_t size = p->graph_sizes.v[i];
        int64_t count = ((const int64_t *)mxl_array_read(list))[list->size - 1];

        if (count != size)
            return mxl_error("%s: graph %d has %lld vertices, graph_sizes says %lld",
                             call->op->name, i, (long long)count, (long long)size);
        if (part_of(call, call->in[i], list, size, false, i) != 0)
            return -1;
    }
    return 0;
}

static const mxl_sparse_forms compact_forms = {.stypes = compact_stypes,
                                               .compute = compact_compute};

static const mxl_op op_compact = {
    .name = "_contrib_dgl_graph_compact",
    .doc = "What a sampler of neighbours gives, without its empty rows and columns: square csr "
           "matrices, whose values count the edges from 0 on.",
    MXL_INPUTS(MXL_INPUT(graph_data, "The matrices of the samplers, then their lists of vertices.",
                         .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(part_params, MAPPING,
                  MXL_PARAM(part_params, graph_sizes, MXL_P_SHAPE, MXL_REQUIRED,
                            "How many vertices each has: the last number of its list.")),
    .key_var_num_args = "num_args",
    .arity = compact_arity,
    .infer = compact_infer,
    .compute = mxl_dgl_refuse,
    .sparse = &compact_forms,
};

const mxl_op *const mxl_ops_dgl[] = {
    &op_edge_id, &op_adjacency, &op_subgraph, &op_compact, NULL,
};
