/* Shapes and dtypes through the graphs of a node: what is known outside goes in, the graph is
 * inferred, and what follows comes out. */
#include <string.h>

#include "base/memory/mem.h"
#include "symbol/control/control.h"
#include "ops/control_ops.h"
#include "base/system/threads.h"

enum { WHOLE = -2, UNKNOWN_STEPS = -1 };

/* Two entries that have one dtype and one shape; or the shape of the outer one has a first axis
 * more, of `steps` positions. */
typedef struct tie {
    int inner, outer;
    int64_t steps; /* WHOLE: none */
    bool data;     /* the outer one is an array that a loop goes over */
} tie;

typedef struct ties {
    mxl_rule *rule;
    mxl_indexed graph; /* of the graph within */
    mxl_facts facts;
    int *variable; /* entries of its variables */
    tie *list;
    int count;
    mxl_arena arena;
} ties;

static void ties_end(ties *t)
{
    mxl_facts_end(&t->facts);
    mxl_indexed_end(&t->graph);
    mxl_arena_clear(&t->arena);
}

/* Numbers graph g of the node. */
static int ties_begin(ties *t, const mxl_graph_node *node, mxl_rule *rule, int g)
{
    size_t room;
    int count = 0;

    *t = (ties){.rule = rule};
    mxl_arena_init(&t->arena);
    if (mxl_indexed_begin(&t->graph, node->graphs[g]) != 0) {
        mxl_arena_clear(&t->arena);
        return -1;
    }
    room = (size_t)t->graph.walk.count + 2 * (size_t)t->graph.symbol->count + 1;
    t->variable = mxl_arena_alloc(&t->arena, room * sizeof(*t->variable));
    t->list = mxl_arena_alloc(&t->arena, room * sizeof(*t->list));
    if (t->variable == NULL || t->list == NULL ||
        mxl_facts_begin(&t->facts, &t->graph, rule->legacy_shape) != 0) {
        ties_end(t);
        return -1;
    }
    for (int n = 0; n < t->graph.walk.count; n++) {
        if (t->graph.walk.node[n]->op == NULL)
            t->variable[count++] = t->graph.first[n];
    }
    return 0;
}

static void add(ties *t, int inner, int outer, int64_t steps, bool data)
{
    t->list[t->count++] = (tie){inner, outer, steps, data};
}

/* ---- moving facts ---- */

/* The shape of one step of an array. */
static mxl_shape without_steps(const ties *t, const mxl_shape *shape)
{
    mxl_shape step = {.ndim = -1};

    if (shape->ndim > 1) {
        mxl_shape_set(&step, shape->ndim - 1, shape->dim + 1);
    } else if (shape->ndim == 1) {
        step.ndim = t->facts.legacy_shape ? 1 : 0;
        step.dim[0] = 1;
    }
    return step;
}

/* The shape of all steps; without ndim where that does not follow. */
static mxl_shape with_steps(const ties *t, const tie *each, const mxl_shape *step,
                            const mxl_shape *known)
{
    mxl_shape shape = {.ndim = -1};
    bool one = t->facts.legacy_shape && step->ndim == 1 && (step->dim[0] < 0 || step->dim[0] == 1);

    if (each->data && one && known->ndim == 1) { /* its parts have no dimensions */
        shape.ndim = 1;
    } else if (step->ndim >= 0 && step->ndim < MXL_MAX_NDIM &&
               !(each->data && one && known->ndim < 0)) {
        shape.ndim = step->ndim + 1;
        memcpy(shape.dim + 1, step->dim, (size_t)step->ndim * sizeof(*step->dim));
    } else if (known->ndim > 0) {
        shape = *known;
    }
    shape.dim[0] = each->steps;
    return shape;
}

static int shapes_in(const ties *t)
{
    for (int i = 0; i < t->count; i++) {
        const tie *each = &t->list[i];
        const mxl_shape *outer = &t->rule->shapes[each->outer];
        mxl_shape step = each->steps == WHOLE ? *outer : without_steps(t, outer);

        if (mxl_facts_say_shape((mxl_facts *)(uintptr_t)&t->facts, each->inner, &step) != 0)
            return -1;
    }
    return 0;
}

static int shapes_out(const ties *t)
{
    for (int i = 0; i < t->count; i++) {
        const tie *each = &t->list[i];
        mxl_shape *outer = &t->rule->shapes[each->outer];
        mxl_shape shape = t->facts.shape[each->inner];

        if (each->steps != WHOLE)
            shape = with_steps(t, each, &shape, outer);
        if (mxl_rule_merge(t->rule, outer, &shape) != 0)
            return -1;
    }
    return 0;
}

static int dtypes_in(const ties *t)
{
    for (int i = 0; i < t->count; i++) {
        if (mxl_facts_say_dtype((mxl_facts *)(uintptr_t)&t->facts, t->list[i].inner,
                                t->rule->dtypes[t->list[i].outer]) != 0)
            return -1;
    }
    return 0;
}

static int dtypes_out(const ties *t)
{
    for (int i = 0; i < t->count; i++) {
        if (mxl_rule_say_dtype(t->rule, t->list[i].outer, t->facts.dtype[t->list[i].inner]) != 0)
            return -1;
    }
    return 0;
}

/* ---- which entries belong together ---- */

/* How many steps a loop over data has, as far as an array says it. */
static int64_t steps_of(const mxl_rule *rule, const mxl_foreach_params *p)
{
    for (int i = 0; i < p->in_data_locs.n; i++) {
        const mxl_shape *shape = mxl_rule_in(rule, i);

        if (shape->ndim > 0 && shape->dim[0] >= 0)
            return shape->dim[0];
    }
    for (int i = 0; i < p->num_out_data; i++) {
        const mxl_shape *shape = mxl_rule_out(rule, i);

        if (shape->ndim > 0 && shape->dim[0] >= 0)
            return shape->dim[0];
    }
    return UNKNOWN_STEPS;
}

static void tie_foreach(ties *t, const mxl_foreach_params *p)
{
    const mxl_rule *rule = t->rule;
    int64_t steps = steps_of(rule, p);
    int input = 0, states = p->in_data_locs.n;

    for (int i = 0; i < p->in_data_locs.n; i++)
        add(t, t->variable[p->in_data_locs.v[i]], rule->in[input++], steps, true);
    for (int i = 0; i < p->in_state_locs.n; i++)
        add(t, t->variable[p->in_state_locs.v[i]], rule->in[input++], WHOLE, false);
    for (int i = 0; i < p->remain_locs.n; i++)
        add(t, t->variable[p->remain_locs.v[i]], rule->in[input++], WHOLE, false);
    for (int i = 0; i < t->graph.symbol->count; i++) {
        bool stacked = i < p->num_out_data;

        add(t, t->graph.head[i], rule->out + i, stacked ? steps : WHOLE, false);
        if (!stacked)
            add(t, t->graph.head[i], rule->in[states++], WHOLE, false);
    }
}

static void tie_inputs(ties *t, mxl_tuple places)
{
    for (int i = 0; i < places.n; i++)
        add(t, t->variable[i], t->rule->in[places.v[i]], WHOLE, false);
}

static void tie_while(ties *t, const mxl_while_params *p)
{
    const mxl_rule *rule = t->rule;

    tie_inputs(t, p->func_input_locs);
    for (int i = 0; i < t->graph.symbol->count; i++) {
        int64_t k = i - p->num_out_data;

        add(t, t->graph.head[i], rule->out + i, k < 0 ? p->max_iterations : WHOLE, false);
        if (k >= 0)
            add(t, t->graph.head[i], rule->in[p->func_input_locs.v[p->func_var_locs.v[k]]], WHOLE,
                false);
    }
}

static void tie_graph(ties *t, int g)
{
    const mxl_rule *node = t->rule;
    const mxl_cond_params *branch = node->params;

    if (node->op->graphs == MXL_FOREACH) {
        tie_foreach(t, node->params);
    } else if (node->op->graphs == MXL_WHILE && g == 0) {
        tie_inputs(t, ((const mxl_while_params *)node->params)->cond_input_locs);
    } else if (node->op->graphs == MXL_WHILE) {
        tie_while(t, node->params);
    } else if (g == 0) {
        tie_inputs(t, branch->cond_input_locs);
    } else {
        tie_inputs(t, g == 1 ? branch->then_input_locs : branch->else_input_locs);
    }
}

/* ---- branches ---- */

/* What a branch makes, of which the other one may differ. */
typedef struct made {
    mxl_shape shape;
    int dtype;
} made;

static made common(const made *a, const made *b)
{
    made both = *a;

    if (a->dtype != b->dtype)
        both.dtype = MXL_DTYPE_UNKNOWN;
    if (a->shape.ndim != b->shape.ndim)
        both.shape.ndim = -1;
    for (int k = 0; k < both.shape.ndim; k++) {
        if (a->shape.dim[k] != b->shape.dim[k])
            both.shape.dim[k] = -1;
    }
    return both;
}

/* Notes what the first branch makes, and what the second one makes, too. */
static void note_made(const ties *t, int g, made *list)
{
    for (int i = 0; i < t->rule->num_out; i++) {
        int head = t->graph.head[i];
        made one = {t->facts.shape[head], t->facts.dtype[head]};

        list[i] = g == 1 ? one : common(&list[i], &one);
    }
}

static int say_made(mxl_rule *rule, const made *list)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (mxl_rule_merge(rule, mxl_rule_out(rule, i), &list[i].shape) != 0 ||
            mxl_rule_say_dtype(rule, rule->out + i, list[i].dtype) != 0)
            return -1;
    }
    return 0;
}

/* ---- all graphs of a node ---- */

static int infer_graphs(const mxl_graph_node *node, mxl_rule *rule, int (*in)(const ties *),
                        int (*infer)(mxl_facts *), int (*out)(const ties *))
{
    bool branches = node->op->graphs == MXL_BRANCH;
    size_t bytes = (size_t)rule->num_out * sizeof(made);
    made *list;
    int status = 0;

    if (node->graphs == NULL)
        return mxl_error("has no graphs yet; compose it with %d first", node->op->graphs);
    list = mxl_alloc(bytes);
    if (list == NULL)
        return -1;
    for (int g = 0; g < node->op->graphs && status == 0; g++) {
        ties t;

        status = ties_begin(&t, node, rule, g);
        if (status != 0)
            break;
        tie_graph(&t, g);
        status = in(&t) == 0 && infer(&t.facts) == 0 && out(&t) == 0 ? 0 : -1;
        if (branches && g > 0 && status == 0)
            note_made(&t, g, list);
        ties_end(&t);
    }
    if (branches && status == 0)
        status = say_made(rule, list);
    mxl_free(list, bytes);
    return status;
}

int mxl_control_shapes(const mxl_graph_node *node, mxl_rule *rule)
{
    return infer_graphs(node, rule, shapes_in, mxl_infer_shapes, shapes_out);
}

int mxl_control_dtypes(const mxl_graph_node *node, mxl_rule *rule)
{
    return infer_graphs(node, rule, dtypes_in, mxl_infer_dtypes, dtypes_out);
}
