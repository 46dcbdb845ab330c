/* Quantized graphs; see passes.h. Nodes become quantized ones in the order of the walk, so that
 * what makes a node's inputs is quantized already. */
#include <stdio.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "ops/quantized/quantized.h"
#include "symbol/indexed.h"
#include "symbol/passes/passes.h"

typedef struct quantizing {
    const mxl_quantizing *asked;
    mxl_str *calibrated;
    mxl_indexed graph;
    const mxl_quantized_form **form; /* [nodes]: NULL where a node stays */
    mxl_graph_node **bytes;   /* [entries]: kept; the node whose three outputs they are as bytes */
    mxl_graph_node **numbers; /* [entries]: kept; the node that makes numbers of bytes again */
    mxl_graph_node **given;   /* [3 * entries]: kept; a variable's bytes and limits */
    int *maker;               /* [entries] */
} quantizing;

/* ---- which nodes ---- */

static const mxl_quantized_form *form_of(const mxl_quantizing *asked, const mxl_graph_node *node)
{
    if (node->op == NULL || node->visible > 1 ||
        mxl_pass_is_listed(asked->num_nodes, asked->nodes, node->name) ||
        mxl_pass_is_listed(asked->num_ops, asked->ops, mxl_graph_node_op_name(node)))
        return NULL;
    return mxl_quantized_form_of(node->op, node->params);
}

/* Leaves of the forms those that are between layers; `mark`: 1 behind one, 2 before one. */
static void keep_between(quantizing *q, unsigned char *mark)
{
    const mxl_indexed *g = &q->graph;
    int count = g->walk.count;

    for (int n = 0; n < count; n++) {
        for (int i = g->args[n]; q->form[n] != NULL && i < g->args[n + 1]; i++) {
            int from = q->maker[g->input[i]];

            if (q->form[from] != NULL && (q->form[from]->leads || (mark[from] & 1)))
                mark[n] |= 1;
        }
    }
    for (int n = count - 1; n >= 0; n--) {
        bool ends = q->form[n] != NULL && (q->form[n]->leads || (mark[n] & 2));

        for (int i = g->args[n]; ends && i < g->args[n + 1]; i++)
            mark[q->maker[g->input[i]]] |= 2;
    }
    for (int n = 0; n < count; n++) {
        if (q->form[n] != NULL && !q->form[n]->leads && mark[n] != 3)
            q->form[n] = NULL;
    }
}

static int choose_nodes(quantizing *q)
{
    int count = q->graph.walk.count;
    unsigned char *mark = mxl_alloc_zero((size_t)count + 1);

    if (mark == NULL)
        return -1;
    for (int n = 0; n < count; n++) {
        for (int e = q->graph.first[n]; e < q->graph.first[n + 1]; e++)
            q->maker[e] = n;
        q->form[n] = form_of(q->asked, q->graph.walk.node[n]);
    }
    if (q->asked->smart)
        keep_between(q, mark);
    mxl_free(mark, (size_t)count + 1);
    return 0;
}

/* ---- new nodes; NULL with the error set ---- */

static mxl_graph_node *named_node(const mxl_op *op, const char *before, const char *name,
                                  const char *after)
{
    mxl_graph_node *node = NULL;
    mxl_str text = {0};

    mxl_str_addf(&text, "%s%s%s", before, name, after);
    if (text.failed)
        (void)mxl_error_memory(text.capacity);
    else
        node = mxl_graph_node_new(op, mxl_text_copy(text.text));
    mxl_str_clear(&text);
    return node;
}

/* A node over `count` outputs of another one, from `output` on; with the dtype of bytes. */
static mxl_graph_node *node_over(const quantizing *q, const mxl_op *op, const char *before,
                                 const char *name, const char *after, mxl_entry from, int count)
{
    mxl_graph_node *node = named_node(op, before, name, after);
    mxl_entry inputs[3] = {from, {from.node, 1, 0}, {from.node, 2, 0}};

    if (node != NULL && ((op != &mxl_op_dequantize &&
                          mxl_attrs_set(&node->attrs, "out_type", q->asked->dtype) != 0) ||
                         mxl_pass_set_inputs(node, inputs, count) != 0)) {
        mxl_ref_release(&node->ref);
        return NULL;
    }
    return node;
}

/* ---- calibration ---- */

/* Appends the name of an array. */
static void note_array(quantizing *q, const char *name)
{
    mxl_str_addf(q->calibrated, "%s%c", name, 0);
}

/* ---- borders ---- */

/* The node that makes bytes of entry e, which is `entry` now. */
static mxl_graph_node *bytes_of(quantizing *q, int e, mxl_entry entry)
{
    if (q->bytes[e] == NULL) {
        mxl_str name = {0}, array = {0};

        mxl_pass_entry_name(&entry, &name);
        mxl_entry_name(&entry, &array);
        if (name.failed || array.failed) {
            (void)mxl_error_memory(name.capacity + array.capacity);
        } else {
            q->bytes[e] = node_over(q, &mxl_op_quantize_v2, "", name.text, "_quantize", entry, 1);
            note_array(q, array.text);
        }
        mxl_str_clear(&name);
        mxl_str_clear(&array);
    }
    return q->bytes[e];
}

/* Entry e as numbers: `entry` itself, or what the bytes stand for. A node that is missing: there
 * was an error. */
static mxl_entry numbers_of(quantizing *q, int e, mxl_entry entry)
{
    int n = q->maker[e];

    if (q->form[n] == NULL)
        return entry;
    if (q->numbers[e] == NULL) {
        const char *name = q->graph.walk.node[n]->name + strlen("quantized_");

        q->numbers[e] = node_over(q, &mxl_op_dequantize, "", name, "_dequantize",
                                  (mxl_entry){q->bytes[e], 0, 0}, 3);
    }
    return (mxl_entry){q->numbers[e], 0, 0};
}

/* ---- nodes ---- */

/* Sets the bytes of an input and their limits, at the place `limits`. */
static int take_bytes(quantizing *q, int e, mxl_entry entry, mxl_entry *input, mxl_entry *limits)
{
    const mxl_graph_node *source = entry.node;
    static const char *const ends[] = {"_quantize", "_quantize_min", "_quantize_max"};
    mxl_entry *to[3] = {input, &limits[0], &limits[1]};

    if (source->op == NULL &&
        mxl_pass_is_listed(q->asked->num_params, q->asked->params, source->name)) {
        for (int i = 0; i < 3; i++) {
            mxl_graph_node **node = &q->given[3 * e + i];

            if (*node == NULL)
                *node = named_node(NULL, "", source->name, ends[i]);
            if (*node == NULL)
                return -1;
            mxl_entry_set(to[i], (mxl_entry){*node, 0, 0});
        }
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        mxl_graph_node *node = bytes_of(q, e, entry);

        if (node == NULL)
            return -1;
        mxl_entry_set(to[i], (mxl_entry){node, i, 0});
    }
    return 0;
}

/* Renames a node to quantized_NAME; its old name, or NULL with the error set. */
static char *rename_node(mxl_graph_node *node)
{
    mxl_str text = {0};
    char *old = node->name, *made = NULL;

    mxl_str_addf(&text, "quantized_%s", old);
    if (text.failed)
        (void)mxl_error_memory(text.capacity);
    else
        made = mxl_text_copy(text.text);
    mxl_str_clear(&text);
    if (made == NULL)
        return NULL;
    node->name = made;
    return old;
}

/* Node n takes bytes; what makes its bytes is in q->bytes. `inputs` are zeros. */
static int quantize_with(quantizing *q, int n, mxl_entry *inputs)
{
    const mxl_quantized_form *form = q->form[n];
    mxl_graph_node *node = q->graph.walk.node[n], *result = node;
    int e = q->graph.first[n], count = node->num_inputs, limits = count;
    mxl_str array = {0};
    char *name;

    for (int i = 0; i < count; i++) {
        int of = q->graph.input[q->graph.args[n] + i];

        if (i < form->first || (form->last >= 0 && i >= form->last)) {
            mxl_entry number = numbers_of(q, of, node->inputs[i]);

            if (number.node == NULL)
                return -1;
            mxl_entry_set(&inputs[i], number);
        } else {
            if (take_bytes(q, of, node->inputs[i], &inputs[i], &inputs[limits]) != 0)
                return -1;
            limits += 2;
        }
    }
    mxl_entry_name(&(mxl_entry){node, 0, 0}, &array);
    node->op = form->op;
    node->is_numpys = false;
    if (array.failed || mxl_pass_set_inputs(node, inputs, limits) != 0 ||
        (name = rename_node(node)) == NULL) {
        mxl_str_clear(&array);
        return -1;
    }
    if (form->is_wide)
        result =
            node_over(q, &mxl_op_requantize, "requantize_", name, "", (mxl_entry){node, 0, 0}, 3);
    else
        mxl_ref_retain(&node->ref);
    if (form->is_wide || form->calibrated)
        note_array(q, array.text);
    mxl_text_free(name);
    mxl_str_clear(&array);
    q->bytes[e] = result;
    return result != NULL ? 0 : -1;
}

static int quantize_node(quantizing *q, int n)
{
    mxl_graph_node *node = q->graph.walk.node[n];
    int room = 3 * node->num_inputs, status = 0;

    if (q->form[n] != NULL) {
        mxl_entry *inputs = mxl_alloc_zero((size_t)room * sizeof(*inputs));

        if (inputs == NULL)
            return -1;
        status = quantize_with(q, n, inputs);
        for (int i = 0; i < room; i++) {
            if (inputs[i].node != NULL)
                mxl_ref_release(&inputs[i].node->ref);
        }
        mxl_free(inputs, (size_t)room * sizeof(*inputs));
        return status;
    }
    for (int i = 0; i < node->num_inputs && status == 0; i++) {
        mxl_entry *input = &node->inputs[i];
        mxl_entry number = numbers_of(q, q->graph.input[q->graph.args[n] + i], *input);

        if (number.node == NULL)
            return -1;
        if (number.node != input->node) {
            mxl_ref_release(&input->node->ref);
            mxl_entry_set(input, number);
        }
    }
    return status;
}

static int quantize_all(quantizing *q)
{
    int status = choose_nodes(q);

    for (int n = 0; n < q->graph.walk.count && status == 0; n++)
        status = quantize_node(q, n);
    for (int i = 0; i < q->graph.symbol->count && status == 0; i++) {
        mxl_entry *entry = &q->graph.symbol->entry[i];
        mxl_entry number = numbers_of(q, q->graph.head[i], *entry);

        if (number.node == NULL)
            return -1;
        if (number.node != entry->node) {
            mxl_ref_release(&entry->node->ref);
            mxl_entry_set(entry, number);
        }
    }
    return status;
}

int mxl_pass_quantize(mxl_symbol *symbol, const mxl_quantizing *asked, mxl_str *calibrated)
{
    quantizing q = {.asked = asked, .calibrated = calibrated};
    int status = -1, count, entries;
    size_t bytes;

    if (mxl_indexed_begin(&q.graph, symbol) != 0)
        return -1;
    count = q.graph.walk.count;
    entries = q.graph.entries;
    bytes =
        ((size_t)count + 5 * (size_t)entries + 1) * sizeof(void *) + (size_t)entries * sizeof(int);
    q.form = mxl_alloc_zero(bytes);
    for (int n = 0; n < count; n++)
        mxl_ref_retain(&q.graph.walk.node[n]->ref);
    if (q.form != NULL) {
        q.bytes = (mxl_graph_node **)(void *)(q.form + count);
        q.numbers = q.bytes + entries;
        q.given = q.numbers + entries;
        q.maker = (int *)(void *)(q.given + 3 * (ptrdiff_t)entries);
        status = quantize_all(&q);
        for (int e = 0; e < 5 * entries; e++) {
            if (q.bytes[e] != NULL)
                mxl_ref_release(&q.bytes[e]->ref);
        }
    }
    if (status == 0 && calibrated->failed)
        status = mxl_error_memory(calibrated->capacity);
    for (int n = 0; n < count; n++)
        mxl_ref_release(&q.graph.walk.node[n]->ref);
    mxl_free(q.form, bytes);
    mxl_indexed_end(&q.graph);
    return status;
}

/* ---- limits ---- */

/* Appends what mxl_pass_quantize called the array whose limits are parameters of the node; nothing:
 * there is none. */
static void calibrated_name(const mxl_graph_node *node, mxl_str *out)
{
    const mxl_graph_node *of = node->op == &mxl_op_requantize ? node->inputs[0].node : node;
    size_t prefix = strlen("quantized_");

    if (node->op == &mxl_op_quantize_v2)
        mxl_entry_name(&node->inputs[0], out);
    else if ((of != node || node->op == &mxl_op_quantized_norm) &&
             strncmp(of->name, "quantized_", prefix) == 0)
        mxl_str_addf(out, "%s_output", of->name + prefix);
}

static int set_limit(mxl_graph_node *node, const char *key, float value)
{
    char text[64];

    snprintf(text, sizeof(text), "%f", (double)value);
    return mxl_attrs_set(&node->attrs, key, text);
}

int mxl_pass_calibrate(mxl_symbol *symbol, int count, const char *const *names, const float *low,
                       const float *high)
{
    mxl_node_walk walk;
    int status = 0;

    if (mxl_walk_begin(&walk, symbol) != 0)
        return -1;
    for (int n = 0; n < walk.count && status == 0; n++) {
        mxl_graph_node *node = walk.node[n];
        mxl_str array = {0};

        if (node->op != NULL && node->num_inputs > 0)
            calibrated_name(node, &array);
        for (int i = 0; i < count && array.text != NULL && status == 0; i++) {
            if (strcmp(names[i], array.text) != 0)
                continue;
            if (set_limit(node, "min_calib_range", low[i]) != 0 ||
                set_limit(node, "max_calib_range", high[i]) != 0)
                status = -1;
            else
                status = mxl_graph_node_parse(node, node->num_inputs);
        }
        if (array.failed)
            status = mxl_error_memory(array.capacity);
        mxl_str_clear(&array);
    }
    mxl_walk_end(&walk);
    return status;
}
