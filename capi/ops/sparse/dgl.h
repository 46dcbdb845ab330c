/* What the operators of graphs share: a graph is a square csr matrix of int64, which has the number
 * of the edge from i to j at (i, j). */
#ifndef MXL_OPS_SPARSE_DGL_H
#define MXL_OPS_SPARSE_DGL_H

#include "base/map.h"
#include "op/sparse_forms.h"
#include "ops/build.h"

/* -1 with the error set where the array is not square and of int64; or is no list of int64. */
int mxl_dgl_check_graph(const mxl_op *op, const mxl_array *graph);
int mxl_dgl_check_list(const mxl_op *op, const mxl_array *list);

/* In place of compute, where the graph is no csr matrix: -1 with the error set. */
int mxl_dgl_refuse(const mxl_call *call);

/* The parts of a graph as lists, for reading. */
typedef struct mxl_graph {
    mxl_parts *parts; /* kept */
    int64_t vertices;
    const int64_t *begin, *to, *edge;
} mxl_graph;

/* -1 with the error set where the parts contradict one another. */
int mxl_graph_open(mxl_graph *graph, const mxl_array *array);
static inline void mxl_graph_close(mxl_graph *graph)
{
    mxl_parts_release(graph->parts);
}

/* New vertices by old ones, which are 0 or more. */
static inline const void *mxl_graph_key(int64_t vertex)
{
    return (const void *)(uintptr_t)((uint64_t)vertex + 1);
}

/* A csr matrix under construction: `rows` rows in `begin`, and room for the most elements. */
typedef struct mxl_csr_draft {
    mxl_array *begin, *to, *edge; /* kept, of int64 */
    int64_t *begins, *tos, *edges;
} mxl_csr_draft;

int mxl_csr_draft_begin(mxl_csr_draft *draft, int64_t rows, int64_t stored);
/* Gives the csr array what was drafted, or only releases it where `status` is not 0. */
int mxl_csr_draft_end(mxl_csr_draft *draft, mxl_array *out, int status);

#endif
