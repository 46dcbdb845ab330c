/* Whether the parameters of a node fit the graphs that it runs. */
#include <string.h>

#include "base/memory/mem.h"
#include "symbol/control/control.h"
#include "ops/control_ops.h"
#include "base/system/threads.h"

/* A file with deeper ones cannot be read: they are deeper JSON than the parser takes. */
enum { DEEPEST = 14 };

/* The number of variables of a graph; raises *depth to what its nodes need. -1 with the error set.
 */
static int count_variables(const mxl_symbol *graph, int *depth)
{
    mxl_node_walk walk;
    int count = 0;

    if (mxl_walk_begin(&walk, graph) != 0)
        return -1;
    for (int n = 0; n < walk.count; n++) {
        count += walk.node[n]->op == NULL;
        if (walk.node[n]->depth >= *depth)
            *depth = walk.node[n]->depth + 1;
    }
    mxl_walk_end(&walk);
    return count;
}

/* Positions are below `limit`, the number of what `of` says. */
static int check_places(const char *what, mxl_tuple list, int limit, const char *of)
{
    for (int i = 0; i < list.n; i++) {
        if (list.v[i] < 0 || list.v[i] >= limit)
            return mxl_error("%s has position %lld, but there are %d %s", what,
                             (long long)list.v[i], limit, of);
    }
    return 0;
}

static int check_count(const char *what, int64_t given, int64_t expected, const char *of)
{
    return given == expected ? 0
                             : mxl_error("%s: expected %lld, as there are so many %s, got %lld",
                                         what, (long long)expected, of, (long long)given);
}

/* Each position is in one of the lists, once. */
static int check_once(int count, int lists, const mxl_tuple *list)
{
    bool *seen = mxl_alloc_zero((size_t)count + 1);
    int status = seen != NULL ? 0 : -1;

    for (int k = 0; k < lists && status == 0; k++) {
        for (int i = 0; i < list[k].n && status == 0; i++) {
            if (seen[list[k].v[i]])
                status = mxl_error("position %lld of a variable is given twice",
                                   (long long)list[k].v[i]);
            seen[list[k].v[i]] = true;
        }
    }
    mxl_free(seen, (size_t)count + 1);
    return status;
}

static int check_foreach(const mxl_graph_node *node, const mxl_foreach_params *p, const int *count,
                         int num_inputs)
{
    const mxl_tuple lists[] = {p->in_data_locs, p->in_state_locs, p->remain_locs};

    if (p->in_data_locs.n == 0)
        return mxl_error("in_data_locs is empty; a loop needs an array to go over");
    if (check_places("in_data_locs", p->in_data_locs, count[0], "variables") != 0 ||
        check_places("in_state_locs", p->in_state_locs, count[0], "variables") != 0 ||
        check_places("remain_locs", p->remain_locs, count[0], "variables") != 0 ||
        check_once(count[0], 3, lists) != 0)
        return -1;
    if (check_count("positions", lists[0].n + lists[1].n + lists[2].n, count[0], "variables") !=
            0 ||
        check_count("arrays", num_inputs, count[0], "variables") != 0 ||
        check_count("num_outputs", p->num_outputs, node->graphs[0]->count, "results of fn") != 0)
        return -1;
    return check_count("num_out_data", p->num_out_data, p->num_outputs - p->in_state_locs.n,
                       "results that are no states");
}

static int check_while(const mxl_graph_node *node, const mxl_while_params *p, const int *count,
                       int num_inputs)
{
    if (check_places("cond_input_locs", p->cond_input_locs, num_inputs, "arrays") != 0 ||
        check_places("func_input_locs", p->func_input_locs, num_inputs, "arrays") != 0 ||
        check_places("func_var_locs", p->func_var_locs, count[1], "variables") != 0 ||
        check_once(count[1], 1, &p->func_var_locs) != 0)
        return -1;
    if (check_count("cond_input_locs", p->cond_input_locs.n, count[0], "variables of cond") != 0 ||
        check_count("func_input_locs", p->func_input_locs.n, count[1], "variables of func") != 0 ||
        check_count("results of cond", node->graphs[0]->count, 1, "conditions") != 0 ||
        check_count("num_outputs", p->num_outputs, node->graphs[1]->count, "results of func") != 0)
        return -1;
    return check_count("num_out_data", p->num_out_data, p->num_outputs - p->func_var_locs.n,
                       "results that are no variables");
}

static int check_branch(const mxl_graph_node *node, const mxl_cond_params *p, const int *count,
                        int num_inputs)
{
    static const char *const names[] = {"cond_input_locs", "then_input_locs", "else_input_locs"};
    const mxl_tuple lists[] = {p->cond_input_locs, p->then_input_locs, p->else_input_locs};

    for (int g = 0; g < 3; g++) {
        int64_t results = g == 0 ? 1 : p->num_outputs;

        if (check_places(names[g], lists[g], num_inputs, "arrays") != 0 ||
            check_count(names[g], lists[g].n, count[g], "variables of the graph") != 0 ||
            check_count(g == 0 ? "results of cond" : "results of a branch", node->graphs[g]->count,
                        results, g == 0 ? "conditions" : "outputs") != 0)
            return -1;
    }
    return 0;
}

int mxl_graph_node_check_graphs(mxl_graph_node *node, const void *params, int num_inputs)
{
    int count[MXL_BRANCH], depth = 0, status;

    for (int g = 0; g < node->op->graphs; g++) {
        count[g] = count_variables(node->graphs[g], &depth);
        if (count[g] < 0)
            return -1;
    }
    if (depth > DEEPEST)
        return mxl_error("%s: graphs within graphs are %d deep; the most is %d", node->op->name,
                         depth, DEEPEST);
    if (node->op->graphs == MXL_FOREACH)
        status = check_foreach(node, params, count, num_inputs);
    else if (node->op->graphs == MXL_WHILE)
        status = check_while(node, params, count, num_inputs);
    else
        status = check_branch(node, params, count, num_inputs);
    node->depth = depth;
    return status == 0 ? 0 : mxl_error_prefix(node->op->name);
}
