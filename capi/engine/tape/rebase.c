/* Edits in place that the tape follows. A view v of b is edited by v = f(v, x...): b's value
 * becomes a node CopySlices with the inputs b, x..., whose rule calls that of f for the part of the
 * gradient that v covers. So b's other elements keep their gradient, and other views of b are found
 * to be out of date when they are read next. */
#include "engine/tape/rebase.h"

#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/backward/grad.h"
#include "engine/run/builtin_ops.h"

/* ---- where the elements of a view lie in its base ---- */

/* Of a base whose elements do not lie in C order: how far apart it has them in memory, axis by axis
 * from the outermost in memory on, and in C order; and the sizes. */
typedef struct base_axes {
    int count;
    int64_t memory[MXL_MAX_NDIM], order[MXL_MAX_NDIM], size[MXL_MAX_NDIM];
} base_axes;

/* False: two of its elements may lie at one place. */
static bool base_axes_of(const mxl_array *base, base_axes *axes)
{
    int64_t order = 1;

    axes->count = 0;
    for (int axis = base->ndim - 1; axis >= 0; axis--) {
        int at = axes->count;

        if (base->shape[axis] == 1)
            continue;
        for (; at > 0 && axes->memory[at - 1] < base->strides[axis]; at--) {
            axes->memory[at] = axes->memory[at - 1];
            axes->order[at] = axes->order[at - 1];
            axes->size[at] = axes->size[at - 1];
        }
        axes->memory[at] = base->strides[axis];
        axes->order[at] = order;
        axes->size[at] = base->shape[axis];
        axes->count++;
        order *= base->shape[axis];
    }
    for (int i = 0; i < axes->count; i++) {
        int64_t inner = i + 1 < axes->count ? axes->memory[i + 1] * axes->size[i + 1] : 1;

        if (axes->memory[i] < inner || axes->memory[i] < 1)
            return false;
    }
    return true;
}

/* A distance in memory as one in C order, for `times` steps of it; `room` has the positions that
 * are left along each axis. -1: a step would go on along another axis. */
static int64_t in_order(int64_t distance, int64_t times, const base_axes *axes, int64_t *room)
{
    int64_t found = 0;

    for (int i = 0; i < axes->count; i++) {
        int64_t digit = distance / axes->memory[i];

        distance %= axes->memory[i];
        room[i] -= digit * times;
        if (room[i] < 0)
            return -1;
        found += digit * axes->order[i];
    }
    return distance == 0 ? found : -1;
}

/* Translates the strides of a view of such a base, into `strides`. */
static int translate(const mxl_array *view, mxl_strided_params *p, int64_t *strides)
{
    base_axes axes;
    int64_t room[MXL_MAX_NDIM];
    bool fits;

    fits = base_axes_of(view->base, &axes);
    for (int i = 0; i < axes.count; i++)
        room[i] = axes.size[i] - 1;
    if (fits)
        p->skip = in_order(p->skip, 1, &axes, room);
    fits = fits && p->skip >= 0;
    for (int i = 0; i < view->ndim && fits; i++) {
        bool moves = view->shape[i] > 1;

        strides[i] = moves ? in_order(view->strides[i], view->shape[i] - 1, &axes, room) : 0;
        fits = strides[i] >= 0;
    }
    if (!fits)
        return mxl_error("a view of an array whose elements do not lie in C order cannot be "
                         "followed after an edit in place; copy the array first");
    p->strides.v = strides;
    return 0;
}

/* `strides` has room for those of a view whose base's elements do not lie in C order. -1 with the
 * error set where the view cannot be told from such a base. */
static int view_params(const mxl_array *view, mxl_strided_params *p, int64_t *strides)
{
    const mxl_array *base = view->base;

    p->shape = (mxl_tuple){view->ndim, view->shape};
    p->strides = (mxl_tuple){view->ndim, view->strides};
    p->skip = (view->offset - base->offset) / (int64_t)mxl_dtype_size(view->dtype);
    p->self_first = 0;
    return base->contiguous || view->size == 0 ? 0 : translate(view, p, strides);
}

int mxl_rebase_view(mxl_array *view, const mxl_dialect *dialect)
{
    mxl_array *base = view->base;
    const mxl_builtin_ops *builtin;
    mxl_strided_params params;
    int64_t strides[MXL_MAX_NDIM];
    mxl_edge nowhere = {NULL, 0};

    if (base == NULL || mxl_array_edge_version(view) == mxl_storage_version(view->storage))
        return 0;
    if (mxl_array_leaf(view) != NULL && mxl_leaf_wants(mxl_array_leaf(view)))
        return 0;
    if (view->view_kind == MXL_VIEW_OF_FUNCTION &&
        (mxl_tape_recorded(view, dialect) || mxl_tape_recorded(base, dialect)))
        return mxl_error("a view that a custom function returned is used after its memory was "
                         "edited in place; the function's gradient would be lost: return a copy "
                         "from the function, or edit a copy");
    if (!mxl_tape_recorded(base, dialect)) {
        mxl_array_set_edge(view, nowhere);
        return 0;
    }
    builtin = mxl_builtin_ops_get();
    if (builtin == NULL || view_params(view, &params, strides) != 0)
        return -1;
    return mxl_tape_view(builtin->as_strided, &params, base, view, false, dialect->plain);
}

void mxl_rebase_note_output(mxl_array *output)
{
    if (output->base == NULL)
        return;
    if (mxl_ref_is_unique(&output->base->ref))
        mxl_array_release_base(output);
    else
        output->view_kind = MXL_VIEW_OF_FUNCTION;
}

int mxl_rebase_refresh(mxl_array *array)
{
    const mxl_dialect *dialect = NULL;
    mxl_array *from[2] = {array->base, array};

    if (array->base == NULL)
        return 0;
    for (int i = 0; i < 2 && dialect == NULL; i++) {
        mxl_edge edge = mxl_array_edge(from[i]);
        const mxl_node *node = mxl_edge_node(edge);

        if (node != NULL)
            dialect = node->dialect->plain;
        mxl_ref_release(edge.target);
    }
    return dialect == NULL || !dialect->rebase ? 0 : mxl_rebase_view(array, dialect);
}

/* ---- checks ---- */

static bool wants(mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    return leaf != NULL && mxl_leaf_wants(leaf);
}

bool mxl_rebase_tracked(mxl_array *out, const mxl_dialect *dialect)
{
    return mxl_tape_recorded(out, dialect) ||
           (out->base != NULL && mxl_tape_recorded(out->base, dialect));
}

/* Whether a view shows a leaf: the base itself, or a part of it that became one. A leaf's value
 * comes from no node, so an edit of it would be lost. */
static bool shows_leaf(mxl_array *view, const mxl_dialect *dialect)
{
    return wants(view->base) ||
           (mxl_tape_recorded(view, dialect) && !mxl_tape_recorded(view->base, dialect));
}

int mxl_rebase_check(const char *name, mxl_array *out, const mxl_dialect *dialect)
{
    if (wants(out))
        return mxl_error("%s: a variable whose gradient is wanted cannot be edited in place; "
                         "write to a copy, or edit it where nothing is recorded",
                         name);
    if (out->base == NULL)
        return 0;
    if (shows_leaf(out, dialect))
        return mxl_error("%s: a view of a variable whose gradient is wanted cannot be edited in "
                         "place; write to a copy, or edit it where nothing is recorded",
                         name);
    if (out->view_kind == MXL_VIEW_OF_FUNCTION)
        return mxl_error("%s: a view that a custom function returned is edited in place; the "
                         "function's gradient would be lost: return a copy from the function, or "
                         "edit a copy",
                         name);
    if (out->view_kind == MXL_VIEW_UNRECORDED)
        return mxl_error("%s: a view that was created while nothing was recorded is being modified "
                         "in place while recording; make the view where the edit is",
                         name);
    if (out->view_kind == MXL_VIEW_ONE_OF_MANY)
        return mxl_error("%s: a view that is one output of an operator with several is being "
                         "modified in place; its gradient cannot be followed, copy it first",
                         name);
    return 0;
}

/* ---- CopySlices ---- */

int mxl_rebase_edge(const mxl_grad *g, mxl_array *view)
{
    const mxl_meta *meta = &g->node->out_meta[0];
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_array *base = builtin == NULL ? NULL : mxl_array_new(meta->dtype, meta->ndim, meta->shape);
    mxl_edge edge = {&g->node->ref, 0};
    int status;

    if (base == NULL)
        return -1;
    mxl_array_set_edge(base, edge);
    status =
        mxl_tape_view(builtin->as_strided, g->params, base, view, false, g->node->dialect->plain);
    mxl_array_release(base);
    return status;
}

/* The call of the inner node's vjp: its grad_outputs and grad_inputs. */
typedef struct inner_call {
    mxl_node *node;
    int shift; /* inner input k is input k + shift of CopySlices */
    mxl_array **set, **heads;
    bool *wants;
} inner_call;

/* dx of the inner rule for the elements of dy that the view covers. Outputs that callers do not see
 * have no gradient. */
static int run_inner(mxl_grad *g, inner_call *c, mxl_array *head)
{
    int status;

    for (int k = 0; k < c->node->num_inputs; k++) {
        c->wants[k] = g->wants[k + c->shift];
        c->set[k] = NULL;
    }
    mxl_array_retain(head);
    for (int i = 0; i < c->node->num_outputs; i++)
        c->heads[i] = i == 0 ? head : NULL;
    status = mxl_grad_run_node(g, c->node, c->heads, c->wants, c->set);
    for (int i = 0; i < c->node->num_outputs; i++)
        mxl_array_release(c->heads[i]);
    return status;
}

/* db = dy with f's gradient of v in v's elements (zeros where f reads no v); others: f's */
static int set_results(mxl_grad *g, const inner_call *c, const mxl_builtin_ops *builtin)
{
    const mxl_strided_params *p = g->params;
    mxl_array *pair[2] = {g->grad_output[0], NULL};
    int status = 0;

    if (g->wants[0]) {
        if (c->node != NULL && p->self_first)
            pair[1] = c->set[0];
        if (pair[1] == NULL) {
            mxl_array *part = mxl_scope_call(g->s, builtin->as_strided, p, 1, pair);

            pair[1] = mxl_scope_call(g->s, builtin->zeros_like, NULL, 1, &part);
        }
        status = mxl_grad_set(g, 0, mxl_scope_call(g->s, builtin->strided_put, p, 2, pair));
    }
    for (int i = 1; i < g->num_inputs && status == 0; i++) {
        if (c->set[i - c->shift] != NULL)
            status = mxl_grad_set(g, i, c->set[i - c->shift]);
    }
    return status;
}

static int copy_slices_grad(mxl_grad *g)
{
    const mxl_strided_params *p = g->params;
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    inner_call c = {.node = mxl_node_inner(g->node), .shift = p->self_first ? 0 : 1};
    size_t count = c.node == NULL ? 0 : (size_t)c.node->num_inputs;
    size_t heads = c.node == NULL ? 0 : (size_t)c.node->num_outputs;
    size_t bytes = (count + heads) * sizeof(mxl_array *) + count * sizeof(bool);
    int status = 0;

    if (builtin == NULL)
        return -1;
    if (c.node != NULL) {
        mxl_array *part = mxl_scope_call(g->s, builtin->as_strided, p, 1, &g->grad_output[0]);

        c.set = part == NULL ? NULL : mxl_alloc(bytes);
        if (c.set == NULL)
            return -1;
        c.heads = c.set + count;
        c.wants = (bool *)(c.heads + heads);
        status = run_inner(g, &c, part);
    }
    if (status == 0)
        status = set_results(g, &c, builtin);
    for (size_t k = 0; k < count; k++)
        mxl_array_release(c.set[k]);
    if (c.node != NULL)
        mxl_free(c.set, bytes);
    return status;
}

static const mxl_param copy_slices_table[] = {MXL_STRIDED_TABLE, {0}};

/* Outside the registry: it is never called by name. */
static const mxl_op op_copy_slices = {
    .name = "CopySlices",
    .params = copy_slices_table,
    .params_size = sizeof(mxl_strided_params),
    .grad = copy_slices_grad,
    .wraps_node = true,
};

mxl_node *mxl_rebase_slices(mxl_array *view, mxl_node *node, int num_inputs,
                            mxl_array *const *inputs, const mxl_dialect *dialect)
{
    bool self_first = node != NULL && num_inputs > 0 && inputs[0] == view;
    int first = self_first ? 1 : 0, others = node == NULL ? 0 : num_inputs - first;
    size_t bytes = ((size_t)others + 1) * sizeof(mxl_array *);
    mxl_call call = {
        .op = &op_copy_slices, .num_inputs = others + 1, .num_outputs = 1, .out = &view->base};
    mxl_strided_params params;
    int64_t strides[MXL_MAX_NDIM];
    mxl_node *slices;

    if (view_params(view, &params, strides) != 0)
        return NULL;
    params.self_first = self_first;
    call.params = &params;
    call.in = mxl_alloc(bytes);
    if (call.in == NULL)
        return NULL;
    call.in[0] = view->base;
    for (int i = 0; i < others; i++)
        call.in[i + 1] = inputs[i + first];
    slices = mxl_node_new(&call, dialect);
    mxl_free(call.in, bytes);
    if (slices != NULL && node != NULL) {
        mxl_ref_retain(&node->ref);
        slices->payload = &node->ref;
    }
    return slices;
}

/* Attaches the view to its base now, not when it is read next: hooks that kept its gradient at
 * `output` of a node keep that of its new value. */
static int attach_anew(mxl_array *view, mxl_hook_store *store, int output,
                       const mxl_dialect *dialect)
{
    mxl_edge edge;
    int status = mxl_rebase_view(view, dialect->plain);

    if (status != 0)
        return -1;
    edge = mxl_array_edge(view);
    if (mxl_edge_node(edge) != NULL)
        status = mxl_hook_store_follow(store, output, &mxl_edge_node(edge)->store, edge.output);
    mxl_ref_release(edge.target);
    return status;
}

int mxl_rebase_finish(mxl_array *view, mxl_node *slices)
{
    mxl_edge before = mxl_array_edge(view);
    mxl_hook_store *store = NULL;
    int status = mxl_node_attach_output(slices, 0, view->base);

    mxl_array_expire_edge(view);
    if (mxl_edge_node(before) != NULL)
        store = mxl_hook_store_get(&mxl_edge_node(before)->store);
    if (status == 0 && mxl_hook_store_has(store, MXL_HOOK_ARRAY))
        status = attach_anew(view, store, before.output, slices->dialect);
    mxl_ref_release(before.target);
    return status;
}
