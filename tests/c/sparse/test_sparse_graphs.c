/* Operators of graphs, which are csr matrices: edges by their ends, adjacency, subgraphs, samples
 * of neighbours: what holds of each sample, and how often edges are chosen. */
#include "ops_kit.h"

#include "array/sparse/sparse.h"

enum { MOST = 8 };

static mxl_array *list_of(int64_t n, const int64_t *values)
{
    mxl_array *list = mxl_array_new(MXL_I64, 1, &n);

    for (int64_t i = 0; i < n; i++)
        set_item(list, i, (double)values[i]);
    return list;
}

#define LIST(...)                                                                                  \
    list_of((int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* A csr matrix of what is not 0. */
static mxl_array *graph_of(int dtype, const int64_t *shape, const double *values)
{
    mxl_array *dense = filled(dtype, shape, values);
    mxl_array *graph = mxl_array_cast_storage(dense, MXL_CSR);

    mxl_array_release(dense);
    return graph;
}

#define GRAPH(dtype, shape, ...) graph_of(dtype, shape, (const double[]){__VA_ARGS__})

/* The graph of five vertices with an edge between each two of them, numbered from 1 on. */
static mxl_array *all_edges(void)
{
    double values[25];
    int number = 1;

    for (int i = 0; i < 25; i++)
        values[i] = i / 5 == i % 5 ? 0 : number++;
    return graph_of(MXL_I64, SHAPE(5, 5), values);
}

/* Runs an operator with several results; its status. */
static int run_many(const char *name, const char *params, int num_inputs, mxl_array *const *in,
                    int num_outputs, mxl_array **out)
{
    const mxl_op *op = mxl_op_find(name);
    _Alignas(16) char room[512];
    const char *keys[8], *values[8];
    char text[256];
    mxl_arena arena;
    int status = -1;

    (void)strncpy(text, params, sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    mxl_arena_init(&arena);
    for (int i = 0; i < num_outputs; i++)
        out[i] = NULL;
    if (op != NULL &&
        mxl_params_parse(op, split(text, keys, values), keys, values, room, &arena) == 0)
        status = mxl_invoke(op, room, num_inputs, in, num_outputs, out, PLAIN);
    mxl_arena_clear(&arena);
    return status;
}

static void release_all(int n, mxl_array **arrays)
{
    for (int i = 0; i < n; i++)
        mxl_array_release(arrays[i]);
}

/* Checks the parts of a csr array, and drops it. */
static void is_csr(mxl_array *array, int64_t rows, const int64_t *begin, const int64_t *to,
                   const int64_t *edge)
{
    mxl_parts *parts;

    REQUIRE(array != NULL && array->stype == MXL_CSR);
    parts = mxl_sparse_read(array);
    REQUIRE(parts != NULL);
    CHECK_INT(array->shape[0], rows);
    for (int64_t i = 0; i <= rows; i++)
        CHECK_INT(item(parts->indptr, i), begin[i]);
    CHECK_INT(mxl_parts_stored(parts), begin[rows]);
    for (int64_t k = 0; k < begin[rows]; k++) {
        CHECK_INT(item(parts->indices, k), to[k]);
        CHECK_INT(item(parts->data, k), edge[k]);
    }
    mxl_parts_release(parts);
    mxl_array_release(array);
}

#define NUMBERS(...) ((const int64_t[]){__VA_ARGS__})

TEST(edges)
{
    static const int dtypes[] = {MXL_I64, MXL_F32, MXL_F64, MXL_I32, MXL_F16};
    mxl_array *u = ARRAY(MXL_F32, SHAPE(4), 0, 0, 1, 2), *v = ARRAY(MXL_I32, SHAPE(4), 0, 1, 1, 9);
    mxl_array *far = ARRAY(MXL_I32, SHAPE(4), 0, 1, 3, 0), *dense = ARRAY(MXL_I64, SHAPE(1, 1), 1);
    mxl_array *one = LIST(0), *graph, *wide;

    for (int i = 0; i < 5; i++) {
        graph = GRAPH(dtypes[i], SHAPE(3, 3), 1, 0, 0, 0, 2, 0, 0, 0, 3);
        IS(run("_contrib_edge_id", "", PLAIN, 3, graph, u, v), dtypes[i], SHAPE(4), 1, -1, 2, -1);
        fails("IndexError: edge_id: there is no vertex 3 in a graph of 3", "_contrib_edge_id", "",
              3, graph, far, v);
        fails("lists of one length, got shapes (4,) and (1,)", "_contrib_edge_id", "", 3, graph, u,
              one);
        mxl_array_release(graph);
    }
    fails("edge_id: graphs must be csr", "_contrib_edge_id", "", 3, dense, one, one);
    graph = GRAPH(MXL_I64, SHAPE(2, 2), 0, 7, 0, 9);
    wide = run("_contrib_dgl_adjacency", "", PLAIN, 1, graph);
    CHECK_INT(wide->dtype, MXL_F32);
    is_csr(wide, 2, NUMBERS(0, 1, 2), NUMBERS(1, 1), NUMBERS(1, 1));
    fails("dgl_adjacency: graphs must be csr", "_contrib_dgl_adjacency", "", 1, dense);
    fails("must be a matrix of int64", "_contrib_dgl_adjacency", "", 1, u);
    mxl_array_release(graph);
    mxl_array_release(dense);
    mxl_array_release(one);
    mxl_array_release(far);
    mxl_array_release(u);
    mxl_array_release(v);
}

TEST(subgraphs)
{
    mxl_array *graph = GRAPH(MXL_I64, SHAPE(4, 4), 1, 0, 0, 2, 3, 0, 4, 0, 0, 5, 0, 0, 0, 6, 7, 0);
    mxl_array *in[3] = {graph, LIST(0, 1, 2), LIST(1, 3)}, *out[4], *bad[2] = {graph, NULL};

    CHECK_INT(run_many("_contrib_dgl_subgraph", "return_mapping=1", 3, in, 4, out), 0);
    is_csr(out[0], 3, NUMBERS(0, 1, 3, 4), NUMBERS(0, 0, 2, 1), NUMBERS(0, 1, 2, 3));
    is_csr(out[1], 2, NUMBERS(0, 0, 1), NUMBERS(0), NUMBERS(0));
    is_csr(out[2], 3, NUMBERS(0, 1, 3, 4), NUMBERS(0, 0, 2, 1), NUMBERS(1, 3, 4, 5));
    is_csr(out[3], 2, NUMBERS(0, 0, 1), NUMBERS(0), NUMBERS(6));
    CHECK_INT(run_many("_contrib_dgl_subgraph", "return_mapping=0", 2, in, 1, out), 0);
    is_csr(out[0], 3, NUMBERS(0, 1, 3, 4), NUMBERS(0, 0, 2, 1), NUMBERS(0, 1, 2, 3));
    bad[1] = LIST(1, 0);
    fails("ValueError: dgl_subgraph: the vertices must ascend, but 0 follows 1",
          "_contrib_dgl_subgraph", "return_mapping=0", 2, graph, bad[1]);
    mxl_array_release(bad[1]);
    bad[1] = LIST(1, 4);
    fails("IndexError: dgl_subgraph: there is no vertex 4 in a graph of 4", "_contrib_dgl_subgraph",
          "return_mapping=0", 2, graph, bad[1]);
    fails("must be a square matrix", "_contrib_dgl_subgraph", "return_mapping=0", 2, bad[1],
          bad[1]);
    mxl_array_release(bad[1]);
    release_all(3, in);
}

/* ---- samples ---- */

static bool is_named(const mxl_array *list, int64_t vertex)
{
    int64_t count = (int64_t)item(list, list->size - 1);

    for (int64_t i = 0; i < count; i++) {
        if ((int64_t)item(list, i) == vertex)
            return true;
    }
    return false;
}

/* What holds of every sample of the graph of all edges: vertices, edges, hops. */
static void check_sample(const mxl_array *list, const mxl_array *edges, const mxl_array *hops,
                         int64_t num_neighbor, int64_t num_hops)
{
    mxl_parts *parts = mxl_sparse_read(edges);
    int64_t count = (int64_t)item(list, list->size - 1);
    bool full = count == list->size - 1;

    for (int64_t i = 0; i < list->size - 1; i++) {
        int64_t begin = (int64_t)item(parts->indptr, i), end = (int64_t)item(parts->indptr, i + 1);
        int64_t from = (int64_t)item(list, i), hop = (int64_t)item(hops, i);

        CHECK(i == 0 || i >= count || item(list, i - 1) < item(list, i));
        CHECK(hop >= 0 && hop <= num_hops);
        CHECK(end - begin == (i < count && hop < num_hops ? num_neighbor : 0) ||
              (full && end == begin));
        for (int64_t k = begin; k < end; k++) {
            int64_t to = (int64_t)item(parts->indices, k);

            CHECK(k == begin || to > (int64_t)item(parts->indices, k - 1));
            CHECK_INT(item(parts->data, k), from * 4 + to + (to < from));
            CHECK(full || is_named(list, to));
        }
    }
    mxl_parts_release(parts);
}

TEST(samples)
{
    mxl_array *in[4] = {all_edges(), ARRAY(MXL_F32, SHAPE(5), 0.9, 0.8, 0.2, 0, 0.1), NULL, NULL};
    mxl_array *out[8], *uniform[3];

    in[2] = uniform[1] = LIST(3);
    in[3] = uniform[2] = LIST(0, 4, 0);
    uniform[0] = in[0];
    for (int i = 0; i < 50; i++) {
        CHECK_INT(run_many("_contrib_dgl_csr_neighbor_uniform_sample",
                           "num_hops=2 num_neighbor=2 max_num_vertices=7", 3, uniform, 6, out),
                  0);
        check_sample(out[0], out[2], out[4], 2, 2);
        check_sample(out[1], out[3], out[5], 2, 2);
        CHECK(is_named(out[0], 3) && is_named(out[1], 0) && is_named(out[1], 4));
        release_all(6, out);
        CHECK_INT(run_many("_contrib_dgl_csr_neighbor_non_uniform_sample",
                           "num_hops=1 num_neighbor=3 max_num_vertices=4", 4, in, 8, out),
                  0);
        check_sample(out[0], out[2], out[6], 3, 1);
        check_sample(out[1], out[3], out[7], 3, 1);
        for (int64_t k = 0; k < (int64_t)item(out[1], 4); k++)
            CHECK_NEAR(item(out[5], k), item(in[1], (int64_t)item(out[1], k)), 0);
        release_all(8, out);
    }
    release_all(4, in);
}

/* A sample that has the most vertices ends; the vertex that filled it keeps all its edges. */
TEST(limits)
{
    mxl_array *in[2] = {all_edges(), LIST(1, 0)}, *out[3];

    CHECK_INT(run_many("_contrib_dgl_csr_neighbor_uniform_sample",
                       "num_hops=1 num_neighbor=9 max_num_vertices=3", 2, in, 3, out),
              0);
    IS(out[0], MXL_I64, SHAPE(4), 0, 1, 2, 3);
    is_csr(out[1], 3, NUMBERS(0, 0, 4, 4), NUMBERS(0, 2, 3, 4), NUMBERS(5, 6, 7, 8));
    IS(out[2], MXL_I64, SHAPE(3), 0, 0, 1);
    CHECK_INT(run_many("_contrib_dgl_csr_neighbor_uniform_sample",
                       "num_hops=0 num_neighbor=2 max_num_vertices=4", 2, in, 3, out),
              0);
    IS(out[0], MXL_I64, SHAPE(5), 0, 1, 0, 0, 2);
    is_csr(out[1], 4, NUMBERS(0, 0, 0, 0, 0), NUMBERS(0), NUMBERS(0));
    mxl_array_release(out[2]);
    CHECK_INT(
        run_many("_contrib_dgl_csr_neighbor_uniform_sample", "max_num_vertices=1", 2, in, 3, out),
        -1);
    CHECK_HAS(mxl_error_text(), "2 seeds, but max_num_vertices is 1");
    mxl_array_release(in[1]);
    in[1] = LIST(5);
    CHECK_INT(run_many("_contrib_dgl_csr_neighbor_uniform_sample", "", 2, in, 3, out), -1);
    CHECK_HAS(mxl_error_text(), "there is no vertex 5 in a graph of 5");
    release_all(2, in);
}

/* How often each neighbour of vertex 0 is chosen. */
static void count_edges(const char *op, const char *params, int num_inputs, mxl_array **in,
                        int runs, double shares[5])
{
    mxl_array *out[4];

    for (int i = 0; i < 5; i++)
        shares[i] = 0;
    for (int i = 0; i < runs; i++) {
        mxl_parts *parts;

        CHECK_INT(run_many(op, params, num_inputs, in, num_inputs + 1, out), 0);
        parts = mxl_sparse_read(out[1]);
        for (int64_t k = 0; k < mxl_parts_stored(parts); k++)
            shares[(int)item(parts->indices, k)] += 1.0 / runs;
        mxl_parts_release(parts);
        release_all(num_inputs + 1, out);
    }
}

TEST(shares)
{
    mxl_array *in[3] = {all_edges(), LIST(0), NULL};
    double shares[5];

    mxl_random_seed(5);
    for (int k = 1; k < 4; k++) {
        char params[64] = "num_neighbor=1 max_num_vertices=6";

        params[13] = (char)('0' + k);
        count_edges("_contrib_dgl_csr_neighbor_uniform_sample", params, 2, in, 4000, shares);
        for (int i = 1; i < 5; i++)
            CHECK_NEAR(shares[i], k / 4.0, 0.03);
    }
    in[2] = in[1];
    in[1] = ARRAY(MXL_F32, SHAPE(5), 9, 1, 2, 3, 4);
    count_edges("_contrib_dgl_csr_neighbor_non_uniform_sample", "num_neighbor=1 max_num_vertices=6",
                3, in, 4000, shares);
    for (int i = 1; i < 5; i++)
        CHECK_NEAR(shares[i], i / 10.0, 0.03);
    mxl_array_release(in[1]);
    in[1] = ARRAY(MXL_F32, SHAPE(5), 0, 0, 1, 0, 1);
    count_edges("_contrib_dgl_csr_neighbor_non_uniform_sample", "num_neighbor=3 max_num_vertices=6",
                3, in, 2000, shares);
    CHECK_NEAR(shares[2] + shares[4], 2, 1e-9);
    CHECK_NEAR(shares[1], 0.5, 0.05);
    release_all(3, in);
}

TEST(compact)
{
    mxl_array *in[2] = {graph_of(
                            MXL_I64, SHAPE(8, 8),
                            (const double[64]){[11] = 5, [13] = 6, [25] = 7, [46] = 8, [49] = 9}),
                        LIST(1)},
              *out[3], *pair[2], *again[2];

    CHECK_INT(run_many("_contrib_dgl_csr_neighbor_uniform_sample",
                       "num_hops=3 num_neighbor=9 max_num_vertices=7", 2, in, 3, out),
              0);
    pair[0] = out[1];
    pair[1] = out[0];
    CHECK_INT(run_many("_contrib_dgl_graph_compact", "graph_sizes=(4,) return_mapping=1", 2, pair,
                       2, again),
              0);
    is_csr(again[0], 4, NUMBERS(0, 2, 3, 4, 5), NUMBERS(1, 2, 0, 3, 0), NUMBERS(0, 1, 2, 3, 4));
    is_csr(again[1], 4, NUMBERS(0, 2, 3, 4, 5), NUMBERS(1, 2, 0, 3, 0), NUMBERS(5, 6, 7, 8, 9));
    fails("graph 0 has 4 vertices, graph_sizes says 3", "_contrib_dgl_graph_compact",
          "graph_sizes=3 return_mapping=0", 2, out[1], out[0]);
    fails("graph_sizes has 2 numbers for 1 graphs", "_contrib_dgl_graph_compact",
          "graph_sizes=(4,4) return_mapping=0", 2, out[1], out[0]);
    fails("does not go with a graph of shape (8,8)", "_contrib_dgl_graph_compact",
          "graph_sizes=4 return_mapping=0", 2, in[0], out[0]);
    set_item(out[0], 1, 7);
    fails("vertex 3 is not in the list of vertices", "_contrib_dgl_graph_compact",
          "graph_sizes=4 return_mapping=0", 2, out[1], out[0]);
    release_all(3, out);
    release_all(2, in);
}

HARNESS_MAIN(ENTRY(edges), ENTRY(subgraphs), ENTRY(samples), ENTRY(limits), ENTRY(shares),
             ENTRY(compact))
