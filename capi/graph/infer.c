/* Inference: rules and the operators' own shape functions, until nothing changes. */
#include "graph/infer.h"

#include <string.h>

#include "base/memory/mem.h"
#include "base/dtype.h"
#include "engine/run/invoke.h"
#include "graph/control/control.h"
#include "op/plan.h"
#include "ops/custom.h"

/* ---- facts ---- */

bool mxl_shape_known(const mxl_shape *shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0)
            return false;
    }
    return shape->ndim >= 0;
}

static size_t facts_bytes(const mxl_indexed *graph)
{
    return ((size_t)graph->entries + 1) * (sizeof(mxl_shape) + sizeof(int));
}

/* The attributes are parsed like the parameters of an operator. */
static const mxl_op variable = {.name = "Variable",
                                MXL_ONLY_PARAM(mxl_tuple, shape, MXL_P_SHAPE, MXL_REQUIRED)};

/* The shape that a variable states by the attribute __shape__. */
static int note_shape(mxl_facts *facts, int entry, const mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__shape__");
    mxl_shape *said = &facts->shape[entry];
    mxl_arena arena;
    mxl_tuple list;
    int status;

    if (text == NULL || said->ndim >= 0)
        return 0;
    mxl_arena_init(&arena);
    status = mxl_param_parse(&variable, variable.params, text, &list, &arena);
    if (status == 0 && list.n > MXL_MAX_NDIM)
        status = mxl_error("attribute __shape__ has more than %d axes", MXL_MAX_NDIM);
    if (status == 0) {
        mxl_shape_set(said, list.n, list.v);
        mxl_shape_from_caller(said, facts->legacy_shape);
    }
    mxl_arena_clear(&arena);
    return status == 0 ? 0 : mxl_error_prefix(node->name);
}

/* The same of a dtype and __dtype__. */
static int note_dtype(mxl_facts *facts, int entry, const mxl_graph_node *node)
{
    const char *text = mxl_attrs_get(&node->attrs, "__dtype__");

    if (text != NULL && facts->dtype[entry] == MXL_DTYPE_UNKNOWN && text[0] >= '0' &&
        text[0] <= '9' && text[1] == '\0')
        facts->dtype[entry] = text[0] - '0';
    return 0;
}

/* Takes what variables state by attributes, where the caller said nothing. */
static int read_notes(mxl_facts *facts, int (*note)(mxl_facts *, int, const mxl_graph_node *))
{
    const mxl_indexed *graph = facts->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];

        if (node->op == NULL && note(facts, graph->first[n], node) != 0)
            return -1;
    }
    return 0;
}

int mxl_facts_begin(mxl_facts *facts, const mxl_indexed *graph, bool legacy_shape)
{
    facts->graph = graph;
    facts->legacy_shape = legacy_shape;
    facts->shape = mxl_alloc(facts_bytes(graph));
    if (facts->shape == NULL)
        return -1;
    facts->dtype = (int *)(facts->shape + graph->entries);
    for (int e = 0; e < graph->entries; e++) {
        facts->shape[e].ndim = -1;
        facts->dtype[e] = MXL_DTYPE_UNKNOWN;
    }
    return 0;
}

void mxl_facts_end(mxl_facts *facts)
{
    if (facts->shape != NULL)
        mxl_free(facts->shape, facts_bytes(facts->graph));
    facts->shape = NULL;
}

void mxl_shape_from_caller(mxl_shape *shape, bool legacy_shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0 || (legacy_shape && shape->dim[i] == 0))
            shape->dim[i] = -1;
    }
    if (legacy_shape && shape->ndim == 0)
        shape->ndim = -1;
}

/* Fills `to`; 1 where something was new, 0 where not, -1 where they contradict (no error set). */
static int merge(mxl_shape *to, const mxl_shape *from)
{
    int changed = 0;

    if (from->ndim < 0)
        return 0;
    if (to->ndim < 0) {
        *to = *from;
        return 1;
    }
    if (to->ndim != from->ndim)
        return -1;
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] >= 0 && from->dim[i] >= 0 && to->dim[i] != from->dim[i])
            return -1;
    }
    for (int i = 0; i < to->ndim; i++) {
        if (to->dim[i] < 0 && from->dim[i] >= 0) {
            to->dim[i] = from->dim[i];
            changed = 1;
        }
    }
    return changed;
}

static int contradicts(const mxl_shape *to, const mxl_shape *from)
{
    return mxl_error("Shape inconsistent, Provided = %s, inferred shape=%s",
                     MXL_SHAPE_TEXT(to->ndim, to->dim), MXL_SHAPE_TEXT(from->ndim, from->dim));
}

int mxl_facts_say_shape(mxl_facts *facts, int entry, const mxl_shape *shape)
{
    return merge(&facts->shape[entry], shape) < 0 ? contradicts(&facts->shape[entry], shape) : 0;
}

int mxl_facts_say_dtype(mxl_facts *facts, int entry, int dtype)
{
    int *known = &facts->dtype[entry];

    if (*known != MXL_DTYPE_UNKNOWN && dtype != MXL_DTYPE_UNKNOWN && *known != dtype)
        return mxl_error("Type inconsistent, Provided = %s, inferred type = %s",
                         mxl_dtype_name(*known), mxl_dtype_name(dtype));
    if (dtype != MXL_DTYPE_UNKNOWN)
        *known = dtype;
    return 0;
}

int mxl_rule_merge(mxl_rule *rule, mxl_shape *to, const mxl_shape *from)
{
    int status = merge(to, from);

    rule->changed |= status > 0;
    return status < 0 ? contradicts(to, from) : 0;
}

int mxl_rule_say(mxl_rule *rule, int i, int ndim, const int64_t *dim)
{
    mxl_shape said;
    char room[32];

    if (i >= rule->num_in)
        return 0;
    mxl_shape_set(&said, ndim, dim);
    return mxl_rule_merge(rule, mxl_rule_in(rule, i), &said) == 0
               ? 0
               : mxl_error_prefix(mxl_graph_node_input(rule->node, i, room));
}

/* ---- the operators' own functions ---- */

/* Arrays without memory, of which infer reads dtype and shape. */
typedef struct stand_ins {
    mxl_array *array; /* [count] */
    mxl_array **list;
    int64_t (*dims)[2 * MXL_MAX_NDIM];
    mxl_shape *out_shape;
    int *out_dtype;
    mxl_shape other; /* in place of an unknown one */
    mxl_arena arena;
} stand_ins;

static int stand_ins_begin(stand_ins *s, const mxl_rule *rule)
{
    size_t in = (size_t)rule->num_in + 1, out = (size_t)rule->num_out + 1;

    mxl_arena_init(&s->arena);
    s->array = mxl_arena_alloc(&s->arena, in * sizeof(*s->array));
    s->list = mxl_arena_alloc(&s->arena, in * sizeof(*s->list));
    s->dims = mxl_arena_alloc(&s->arena, in * sizeof(*s->dims));
    s->out_shape = mxl_arena_alloc(&s->arena, out * sizeof(*s->out_shape));
    s->out_dtype = mxl_arena_alloc(&s->arena, out * sizeof(*s->out_dtype));
    if (s->array == NULL || s->list == NULL || s->dims == NULL || s->out_shape == NULL ||
        s->out_dtype == NULL) {
        mxl_arena_clear(&s->arena);
        return -1;
    }
    memset(s->array, 0, in * sizeof(*s->array));
    return 0;
}

/* Input i with `size` in place of unknown sizes, and a dtype in place of an unknown one. */
static void stand_in(stand_ins *s, const mxl_rule *rule, int i, int64_t size, int dtype)
{
    const mxl_shape *shape = mxl_rule_in(rule, i)->ndim < 0 ? &s->other : mxl_rule_in(rule, i);
    int known = rule->facts->dtype[rule->in[i]];
    mxl_array *array = &s->array[i];

    array->dtype = known != MXL_DTYPE_UNKNOWN ? known : dtype;
    array->ndim = shape->ndim;
    array->contiguous = true;
    array->shape = s->dims[i];
    array->strides = s->dims[i] + shape->ndim;
    for (int k = 0; k < shape->ndim; k++)
        array->shape[k] = shape->dim[k] < 0 ? size : shape->dim[k];
    array->size = mxl_shape_size(array->ndim, array->shape);
    mxl_shape_strides(array->ndim, array->shape, array->strides);
    s->list[i] = array;
}

/* Shapes and dtypes of a composition that has no infer: those of what it makes of zeros. */
static int infer_by_running(mxl_infer *infer)
{
    mxl_mode mode = {.legacy_shape = infer->legacy_shape, .dialect = &mxl_dialect_mxnet};
    int count = infer->num_inputs + infer->num_outputs, status = 0;
    size_t bytes = ((size_t)count + 1) * sizeof(mxl_array *);
    mxl_array **in = mxl_alloc_zero(bytes), **out;

    if (in == NULL)
        return -1;
    out = in + infer->num_inputs;
    for (int i = 0; i < infer->num_inputs && status == 0; i++) {
        in[i] = mxl_array_zeros_like(infer->in[i]);
        status = in[i] == NULL ? -1 : 0;
    }
    if (status == 0)
        status = mxl_invoke(infer->op, infer->params, infer->num_inputs, in, infer->num_outputs,
                            out, mode);
    for (int i = 0; i < infer->num_outputs && status == 0; i++) {
        infer->out_dtype[i] = out[i]->dtype;
        mxl_shape_set(&infer->out_shape[i], out[i]->ndim, out[i]->shape);
    }
    for (int i = 0; i < count; i++)
        mxl_array_release(in[i]);
    mxl_free(in, bytes);
    return status;
}

/* Calls infer; -1 with the error set. */
static int call_infer(stand_ins *s, const mxl_rule *rule, int64_t size, int dtype)
{
    mxl_infer infer = {.op = rule->node->op,
                       .params = rule->node->params,
                       .num_inputs = rule->num_in,
                       .num_outputs = rule->num_out,
                       .in = s->list,
                       .out_shape = s->out_shape,
                       .out_dtype = s->out_dtype,
                       .legacy_shape = rule->facts->legacy_shape};
    bool scalar = false; /* an input without dimensions, which has no storage here */

    for (int i = 0; i < rule->num_in; i++)
        stand_in(s, rule, i, size, dtype);
    for (int i = 0; i < rule->num_out; i++) {
        s->out_dtype[i] = MXL_DTYPE_UNKNOWN;
        s->out_shape[i].ndim = -1;
    }
    if (infer.op->infer == NULL)
        return infer_by_running(&infer);
    if (infer.op->infer(&infer) != 0)
        return -1;
    for (int i = 0; i < rule->num_in; i++)
        scalar |= s->array[i].ndim == 0;
    for (int i = 0; i < rule->num_out; i++) {
        if (s->out_shape[i].ndim == 0 && rule->num_in > 0 && !scalar)
            mxl_infer_legacy(&infer, i, NULL);
    }
    return 0;
}

/* The same with `dtype` for the first unknown input, and for others what the rules say then. */
static int call_guessing(stand_ins *s, mxl_rule *rule, int64_t size, int dtype)
{
    mxl_facts facts = *rule->facts;
    mxl_rule guess = *rule;
    size_t bytes = (size_t)facts.graph->entries * sizeof(int);
    int unknown = -1, status;

    for (int i = rule->num_in; i-- > 0;)
        unknown = facts.dtype[rule->in[i]] == MXL_DTYPE_UNKNOWN ? i : unknown;
    if (unknown < 0)
        return call_infer(s, rule, size, dtype);
    facts.dtype = mxl_alloc(bytes);
    if (facts.dtype == NULL)
        return -1;
    memcpy(facts.dtype, rule->facts->dtype, bytes);
    facts.dtype[rule->in[unknown]] = dtype;
    guess.facts = &facts;
    if (mxl_rule_dtypes(&guess) != 0)
        memcpy(facts.dtype, rule->facts->dtype, bytes);
    status = call_infer(s, &guess, size, dtype);
    mxl_free(facts.dtype, bytes);
    return status;
}

/* The same with the first dtype that the operator takes: that of an input, or a usual one. */
static int call_any_dtype(stand_ins *s, mxl_rule *rule, int64_t size)
{
    static const int dtypes[] = {MXL_F32, MXL_I64, MXL_BOOL, MXL_F16, MXL_F64};

    for (int i = 0; i < rule->num_in; i++) {
        int known = rule->facts->dtype[rule->in[i]];

        if (known != MXL_DTYPE_UNKNOWN && call_guessing(s, rule, size, known) == 0)
            return 0;
    }
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (call_guessing(s, rule, size, dtypes[i]) == 0)
            return 0;
    }
    return call_guessing(s, rule, size, dtypes[0]); /* its error */
}

/* In place of unknown sizes: two that have many divisors, and one that a slice may lie beyond and
 * that a squeeze drops. */
static const int64_t stand_in_sizes[] = {60, 84, 1};

/* What stays the same between `first` and the shapes that infer gave last; -1 as ndim: nothing. */
static void keep_common(const stand_ins *s, const mxl_rule *rule, mxl_shape *first)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (first[i].ndim != s->out_shape[i].ndim)
            first[i].ndim = -1;
        for (int k = 0; k < first[i].ndim; k++) {
            if (first[i].dim[k] != s->out_shape[i].dim[k])
                first[i].dim[k] = -1;
        }
    }
}

/* With several sizes in place of unknown ones: sizes of results that stay the same are known, in
 * `found`, or, where *ran before, what of `found` stays the same. The operator must take the first
 * two sizes: else nothing is, and *ran stays. */
static void try_sizes(stand_ins *s, mxl_rule *rule, mxl_shape *found, bool *ran)
{
    size_t bytes = (size_t)rule->num_out * sizeof(*found);
    mxl_shape *first = found + rule->num_out;

    if (call_any_dtype(s, rule, stand_in_sizes[0]) != 0)
        return;
    memcpy(first, s->out_shape, bytes);
    if (call_any_dtype(s, rule, stand_in_sizes[1]) != 0)
        return;
    keep_common(s, rule, first);
    if (call_any_dtype(s, rule, stand_in_sizes[2]) == 0)
        keep_common(s, rule, first);
    if (*ran) {
        memcpy(s->out_shape, first, bytes);
        keep_common(s, rule, found);
    } else {
        memcpy(found, first, bytes);
    }
    *ran = true;
}

static const int stand_in_ranks[] = {2, 4, 3, 1};

/* The shapes of results, or what is known of them: with several ranks and sizes in place of unknown
 * ones. Where the operator refuses them, or takes one rank alone, nothing is. */
static int infer_partly(stand_ins *s, mxl_rule *rule, bool ranks)
{
    size_t bytes = (size_t)rule->num_out * 2 * sizeof(mxl_shape);
    mxl_shape *found = mxl_arena_alloc(&s->arena, bytes + 1);
    int runs = 0;

    if (found == NULL)
        return -1;
    for (int i = 0; i < (ranks ? 4 : 1); i++) {
        bool ran = runs > 0;

        s->other = (mxl_shape){.ndim = stand_in_ranks[i], .dim = {-1, -1, -1, -1}};
        try_sizes(s, rule, found, &ran);
        runs += ran;
    }
    for (int i = 0; i < rule->num_out && runs > ranks; i++) {
        if (mxl_rule_merge(rule, mxl_rule_out(rule, i), &found[i]) != 0)
            return -1;
    }
    return 0;
}

/* What is known of the shapes of inputs: all, at least one size not, one rank not, no rank. */
typedef enum input_shapes { ALL_KNOWN, SIZE_UNKNOWN, RANK_UNKNOWN, NONE_KNOWN } input_shapes;

static input_shapes shapes_of_inputs(const mxl_rule *rule)
{
    input_shapes worst = ALL_KNOWN;
    int ranks = 0;

    for (int i = 0; i < rule->num_in; i++) {
        const mxl_shape *in = mxl_rule_in(rule, i);

        ranks += in->ndim >= 0;
        if (in->ndim < 0)
            worst = RANK_UNKNOWN;
        else if (worst == ALL_KNOWN && !mxl_shape_known(in))
            worst = SIZE_UNKNOWN;
    }
    return rule->num_in > 0 && ranks == 0 ? NONE_KNOWN : worst;
}

/* Output shapes from input shapes, by the operator's own function. */
static int infer_outputs(mxl_rule *rule)
{
    input_shapes known = shapes_of_inputs(rule);
    const mxl_op *op = rule->node->op;
    bool needed = false;
    stand_ins s;
    int status = 0;

    for (int i = 0; i < rule->num_out; i++)
        needed |= !mxl_shape_known(mxl_rule_out(rule, i));
    if (known != ALL_KNOWN && (!needed || mxl_rule_needs_all(op)))
        return 0;
    if (known == NONE_KNOWN || (known == RANK_UNKNOWN && op->infer == NULL))
        return 0;
    if (stand_ins_begin(&s, rule) != 0)
        return -1;
    if (known != ALL_KNOWN) {
        status = infer_partly(&s, rule, known == RANK_UNKNOWN);
    } else {
        status = call_any_dtype(&s, rule, 0);
        for (int i = 0; i < rule->num_out && status == 0; i++)
            status = mxl_rule_merge(rule, mxl_rule_out(rule, i), &s.out_shape[i]);
    }
    mxl_arena_clear(&s.arena);
    return status;
}

/* Output dtypes by the operator's own function, with shapes that are tried where they are not
 * known: dtypes seldom depend on them. If not all inputs are known, it only finds whether results
 * have the dtype of the inputs. *found: all outputs are known. */
static int infer_output_dtypes(mxl_rule *rule, bool *found)
{
    int dtype = MXL_DTYPE_UNKNOWN, status = 0;
    bool whole = true, ran = false;
    stand_ins s;

    *found = false;
    for (int i = 0; i < rule->num_in; i++) {
        int known = rule->facts->dtype[rule->in[i]];

        whole &= known != MXL_DTYPE_UNKNOWN;
        if (dtype == MXL_DTYPE_UNKNOWN)
            dtype = known;
    }
    if (dtype == MXL_DTYPE_UNKNOWN)
        dtype = MXL_F32;
    if (rule->node->op->infer == NULL)
        return 0;
    if (stand_ins_begin(&s, rule) != 0)
        return -1;
    for (int i = 0; i < 4 && !ran; i++) {
        s.other = (mxl_shape){.ndim = stand_in_ranks[i], .dim = {-1, -1, -1, -1}};
        ran = call_infer(&s, rule, stand_in_sizes[0], dtype) == 0;
    }
    *found = ran && whole;
    for (int i = 0; i < rule->num_out && ran && status == 0; i++) {
        rule->other_outputs |= s.out_dtype[i] != dtype;
        if (whole)
            status = mxl_rule_say_dtype(rule, rule->out + i, s.out_dtype[i]);
    }
    mxl_arena_clear(&s.arena);
    return status;
}

static int infer_dtypes_of(mxl_rule *rule)
{
    bool found;

    if (rule->node->op->graphs > 0)
        return mxl_control_dtypes(rule);
    if (mxl_custom_of(rule->node->op, rule->node->params) != NULL)
        return mxl_rule_custom_dtypes(rule);
    if (infer_output_dtypes(rule, &found) != 0)
        return -1;
    return found ? 0 : mxl_rule_dtypes(rule);
}

/* ---- all nodes ---- */

static int infer_shapes_of(mxl_rule *rule)
{
    if (rule->node->op->graphs > 0)
        return mxl_control_shapes(rule);
    if (mxl_custom_of(rule->node->op, rule->node->params) != NULL)
        return mxl_rule_custom_shapes(rule);
    if (mxl_rule_shapes(rule) != 0)
        return -1;
    return mxl_rule_says_all(rule->node) ? 0 : infer_outputs(rule);
}

static int infer_node(mxl_facts *facts, int n, int (*infer)(mxl_rule *), bool *changed)
{
    const mxl_indexed *graph = facts->graph;
    mxl_graph_node *node = graph->walk.node[n];
    mxl_rule rule = {.node = node,
                     .facts = facts,
                     .in = graph->input + graph->args[n],
                     .num_in = node->num_inputs,
                     .out = graph->first[n],
                     .num_out = node->outputs};

    if (node->op == NULL || infer(&rule) == 0) {
        *changed |= rule.changed;
        return 0;
    }
    mxl_error_prefix(node->name);
    return mxl_error_prefix("Error in operator");
}

static int infer_all(mxl_facts *facts, int (*infer)(mxl_rule *))
{
    int count = facts->graph->walk.count;
    bool changed = true;

    while (changed) {
        changed = false;
        for (int n = 0; n < count; n++) {
            if (infer_node(facts, n, infer, &changed) != 0)
                return -1;
        }
        if (!changed)
            break;
        changed = false;
        for (int n = count; n-- > 0;) {
            if (infer_node(facts, n, infer, &changed) != 0)
                return -1;
        }
    }
    return 0;
}

/* Every operator has its inputs and outputs: rules and infer functions read them unchecked. It
 * lacks them before it is composed, and where attributes that were set later say another number. */
static int check_nodes(const mxl_indexed *graph)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        mxl_arity arity;

        if (node->op == NULL)
            continue;
        if (mxl_invoke_arity(node->op, node->params, node->num_inputs, &arity) != 0) {
            if (node->num_inputs == 0)
                (void)mxl_error("%s: is not composed with its inputs", node->op->name);
            return mxl_error_prefix("Error in operator");
        }
    }
    return 0;
}

static int infer_facts(mxl_facts *facts, int (*note)(mxl_facts *, int, const mxl_graph_node *),
                       int (*infer)(mxl_rule *))
{
    if (check_nodes(facts->graph) != 0 || read_notes(facts, note) != 0)
        return -1;
    return infer_all(facts, infer);
}

int mxl_infer_shapes(mxl_facts *facts)
{
    return infer_facts(facts, note_shape, infer_shapes_of);
}

int mxl_infer_dtypes(mxl_facts *facts)
{
    return infer_facts(facts, note_dtype, infer_dtypes_of);
}
