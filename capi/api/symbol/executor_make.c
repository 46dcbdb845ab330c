/* Arrays of executors by shapes and dtypes that are asked for. */
#include <string.h>

#include "api/symbol/bind.h"
#include "array/copy.h"
#include "array/sparse/sparse.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "symbol/infer.h"
#include "symbol/stypes.h"

int64_t api_size_u32(const void *sizes, uint32_t i)
{
    return ((const uint32_t *)sizes)[i];
}

int64_t api_size_i32(const void *sizes, uint32_t i)
{
    return ((const int32_t *)sizes)[i];
}

int64_t api_size_i64(const void *sizes, uint32_t i)
{
    return ((const int64_t *)sizes)[i];
}

static int find_name(uint32_t count, const char *const *names, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (names[i] != NULL && strcmp(names[i], name) == 0)
            return (int)i;
    }
    return -1;
}

/* ---- what is known ---- */

/* The shape that the caller asks for; false: none. -1 as ndim: too many axes, with the error set.
 */
static bool asked_shape(const api_wish *w, const char *name, mxl_shape *shape)
{
    int at = find_name(w->shapes, w->shape_names, name);
    uint32_t begin;

    if (at < 0)
        return false;
    begin = w->shape_index[at];
    shape->ndim = (int)(w->shape_index[at + 1] - begin);
    if (shape->ndim < 0 || shape->ndim > MXL_MAX_NDIM) {
        shape->ndim = -1;
        return true;
    }
    for (int k = 0; k < shape->ndim; k++)
        shape->dim[k] = w->size_at(w->shape_data, begin + (uint32_t)k);
    return true;
}

/* Names that nothing in the graph has are an error. */
static int check_names(const mxl_executor *e, const api_wish *w)
{
    for (uint32_t i = 0; i < w->shapes; i++) {
        const mxl_node_walk *walk = &e->program.graph.walk;
        bool found = false;

        for (int n = 0; n < walk->count && !found; n++)
            found = walk->node[n]->op == NULL && w->shape_names[i] != NULL &&
                    strcmp(walk->node[n]->name, w->shape_names[i]) == 0;
        if (!found && w->reshapes)
            return mxl_error("a shape is given for %.100s, which the symbol does not have",
                             w->shape_names[i] != NULL ? w->shape_names[i] : "(NULL)");
    }
    return 0;
}

static int say_all(mxl_facts *facts, const api_wish *w)
{
    const mxl_indexed *graph = facts->graph;

    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        mxl_shape shape;
        int at;

        if (node->op != NULL)
            continue;
        if (asked_shape(w, node->name, &shape)) {
            if (shape.ndim < 0)
                return mxl_error("%s: at most %d axes are supported", node->name, MXL_MAX_NDIM);
            mxl_shape_from_caller(&shape, facts->legacy_shape);
            if (mxl_facts_say_shape(facts, graph->first[n], &shape) != 0)
                return mxl_error_prefix(node->name);
        }
        at = find_name(w->dtypes, w->dtype_names, node->name);
        if (at >= 0 && w->dtype_data[at] != MXL_DTYPE_UNKNOWN) {
            if (!mxl_dtype_valid(w->dtype_data[at]))
                return mxl_error("%s: there is no dtype %d", node->name, w->dtype_data[at]);
            if (mxl_facts_say_dtype(facts, graph->first[n], w->dtype_data[at]) != 0)
                return mxl_error_prefix(node->name);
        }
    }
    return 0;
}

/* ---- arrays ---- */

/* The place of a variable of that name in another executor; -1: none. */
static int place_in(const mxl_executor *from, const char *name, bool is_state)
{
    int count = is_state ? from->aux : from->args;

    for (int i = 0; i < count; i++) {
        if (strcmp(mxl_executor_variable(from, i, is_state)->name, name) == 0)
            return i;
    }
    return -1;
}

static bool fits(const mxl_array *array, int stype, int dtype, const mxl_shape *shape)
{
    return array != NULL && array->stype == stype && array->dtype == dtype &&
           mxl_shape_same(array->ndim, array->shape, shape->ndim, shape->dim);
}

/* Sets *out to the array where it has this storage type, dtype and shape; in a reshape that needs
 * no more elements, to the first of them; otherwise to NULL. A new reference. -1 with the error
 * set. */
static int take(const api_wish *w, mxl_array *old, int stype, int dtype, const mxl_shape *shape,
                mxl_array **out)
{
    *out = NULL;
    if (fits(old, stype, dtype, shape)) {
        mxl_array_retain(old);
        *out = old;
        return 0;
    }
    if (!w->views || old == NULL || stype != MXL_DENSE)
        return 0;
    return mxl_executor_first_of(old, dtype, shape, out);
}

/* A reshape may only change what was asked for, and may only shrink, unless it is told otherwise.
 */
static int check_reshape(const api_wish *w, const char *name, const mxl_array *old,
                         const mxl_shape *shape)
{
    mxl_shape asked;

    if (!w->reshapes || old == NULL)
        return 0;
    if (!w->partial && !asked_shape(w, name, &asked))
        return mxl_error("the shape of %s changes from %s to %s, which was not asked for: set "
                         "partial_shaping if that is meant",
                         name, MXL_SHAPE_OF(old), MXL_SHAPE_TEXT(shape->ndim, shape->dim));
    if (!w->larger && mxl_shape_size(shape->ndim, shape->dim) > old->size)
        return mxl_error("%s becomes larger, from %s to %s: set allow_up_sizing if that is meant",
                         name, MXL_SHAPE_OF(old), MXL_SHAPE_TEXT(shape->ndim, shape->dim));
    return 0;
}

/* The request for argument i. */
static int wanted_req(const mxl_executor *e, const api_wish *w, int i, mxl_grad_req *req)
{
    static const char *const names[] = {"null", "write", "inplace", "add", NULL};
    static const mxl_grad_req reqs[] = {MXL_GRAD_NULL, MXL_GRAD_WRITE, MXL_GRAD_WRITE,
                                        MXL_GRAD_ADD};
    const char *name = mxl_executor_variable(e, i, false)->name, *type = "null";
    mxl_near near;
    int at;

    if (w->reshapes) {
        at = place_in(w->from, name, false);
        *req = at >= 0 ? w->from->req[at] : MXL_GRAD_NULL;
        return 0;
    }
    if (w->req_names != NULL) {
        at = find_name(w->reqs, w->req_names, name);
        type = at >= 0 ? w->req_types[at] : "null";
    } else if (w->req_types != NULL) {
        type = w->req_types[w->reqs == 0 ? 0 : i];
    }
    for (int k = 0; k < 4; k++) {
        if (strcmp(type, names[k]) == 0) {
            *req = reqs[k];
            return 0;
        }
    }
    return mxl_error("%s: there is no gradient request %.40s%s", name, type,
                     mxl_near_of(&near, type, names));
}

/* Requests by position must be one for each argument. */
static int check_reqs(const api_wish *w, int args)
{
    if (w->req_names != NULL || w->reqs == 0 || w->reqs == (uint32_t)args)
        return 0;
    return mxl_error("%u gradient requests for %d arguments", w->reqs, args);
}

/* What an array is made for, or taken from elsewhere. */
typedef struct need {
    const char *name;
    bool is_state;
    int dtype, stype, grad_stype;
    const mxl_shape *shape;
    mxl_device device; /* of a new array */
    int at;            /* its place in the executor whose array or memory it gets; -1: none */
} need;

/* Sets the place; -1 with the error set where what is shared is not there. Arrays are shared by
 * executors that have a shared buffer: all states, and the arguments that are named. */
static int find_source(const api_wish *w, need *n)
{
    const mxl_array *old;

    n->at = -1;
    if (w->from == NULL || (!w->reshapes && w->buffer == NULL) ||
        (!w->reshapes && !n->is_state && find_name(w->shared, w->shared_names, n->name) < 0))
        return 0;
    n->at = place_in(w->from, n->name, n->is_state);
    if (w->reshapes)
        return 0;
    if (n->at < 0)
        return mxl_error("%s is shared, and the shared executor does not have it", n->name);
    old = n->is_state ? w->from->state[n->at] : w->from->arg[n->at];
    if (!fits(old, n->stype, n->dtype, n->shape))
        return mxl_error("%s is shared: in the shared executor it has shape %s and dtype %s, here "
                         "%s and %s",
                         n->name, MXL_SHAPE_OF(old), mxl_dtype_name(old->dtype),
                         MXL_SHAPE_TEXT(n->shape->ndim, n->shape->dim), mxl_dtype_name(n->dtype));
    return 0;
}

/* A new array, or one of the shared buffer, which has all that is not shared by name; a new
 * reference. */
static mxl_array *own_array(const api_wish *w, const need *n, const char *name, int stype)
{
    bool buffered = stype == MXL_DENSE && w->buffer != NULL && !n->is_state &&
                    find_name(w->shared, w->shared_names, n->name) < 0;
    mxl_array *made;

    if (buffered)
        return api_shared_array_for(w->buffer, name, n->dtype, n->shape, n->device);
    made = stype == MXL_DENSE
               ? mxl_array_zeros(n->dtype, n->shape->ndim, n->shape->dim)
               : mxl_array_sparse_zeros(stype, n->dtype, n->shape->ndim, n->shape->dim);
    if (made != NULL)
        made->device = n->device;
    return made;
}

/* The array for a variable, shared or new; a new reference. */
static mxl_array *array_for(const api_wish *w, const need *n)
{
    mxl_array *old = NULL, *found;

    if (n->at >= 0)
        old = n->is_state ? w->from->state[n->at] : w->from->arg[n->at];
    if (!fits(old, n->stype, n->dtype, n->shape) && check_reshape(w, n->name, old, n->shape) != 0)
        return NULL;
    if (take(w, old, n->stype, n->dtype, n->shape, &found) != 0)
        return NULL;
    return found != NULL ? found : own_array(w, n, n->name, n->stype);
}

/* The same for the gradient of an argument. */
static mxl_array *gradient_for(const api_wish *w, const need *n)
{
    mxl_str name = {0};
    mxl_array *found;

    if (take(w, n->at < 0 ? NULL : w->from->grad[n->at], n->grad_stype, n->dtype, n->shape,
             &found) != 0)
        return NULL;
    if (found != NULL)
        return found;
    mxl_str_addf(&name, "grad of %s", n->name);
    if (!name.failed)
        found = own_array(w, n, name.text, n->grad_stype);
    mxl_str_clear(&name);
    return found;
}

static int make_arg(mxl_executor *e, const api_wish *w, int i, const need *n)
{
    mxl_array *arg, *grad = NULL;
    mxl_grad_req req;
    int status = -1;

    if (wanted_req(e, w, i, &req) != 0)
        return -1;
    arg = array_for(w, n);
    if (arg == NULL)
        return -1;
    if (req != MXL_GRAD_NULL)
        grad = gradient_for(w, n);
    if (req == MXL_GRAD_NULL || grad != NULL)
        status = mxl_executor_set_arg(e, i, arg, grad, req);
    mxl_array_release(grad);
    mxl_array_release(arg);
    return status;
}

static int make_state(mxl_executor *e, const api_wish *w, int i, const need *n)
{
    mxl_array *state = array_for(w, n);

    if (state == NULL)
        return -1;
    (void)mxl_executor_set_state(e, i, state);
    mxl_array_release(state);
    return 0;
}

/* The storage types that variables are to have: asked for by name, or by their attribute. */
static int say_stypes(const mxl_indexed *graph, const api_wish *w, int8_t *stypes)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        int at, stype;

        if (node->op != NULL)
            continue;
        at = find_name(w->stypes, w->stype_names, node->name);
        stype = at >= 0 && w->stype_data[at] >= 0 ? w->stype_data[at]
                                                  : mxl_stype_of_variable(node, MXL_DENSE);
        if (stype > MXL_CSR)
            return mxl_error("%s: there is no storage type %d", node->name, stype);
        stypes[graph->first[n]] = (int8_t)stype;
    }
    return mxl_stypes_infer(graph, stypes);
}

static int make_arrays(mxl_executor *e, const api_wish *w, const mxl_facts *facts,
                       const int8_t *stypes, const int8_t *grads)
{
    const mxl_indexed *graph = &e->program.graph;
    int variable = 0, arg = 0, state = 0, status = 0;

    for (int i = 0; i < graph->walk.count && status == 0; i++) {
        const mxl_graph_node *node = graph->walk.node[i];
        need n = {.name = node->name,
                  .dtype = facts->dtype[graph->first[i]],
                  .stype = stypes[graph->first[i]],
                  .grad_stype = grads[graph->first[i]],
                  .shape = &facts->shape[graph->first[i]],
                  .device = w->places.own};

        if (node->op != NULL)
            continue;
        n.is_state = e->is_state[variable++];
        n.grad_stype = n.grad_stype == MXL_STYPE_NONE ? n.stype : n.grad_stype;
        if (!mxl_shape_known(n.shape))
            return mxl_error("the shape of %s does not follow from those that are given", n.name);
        n.dtype = n.dtype == MXL_DTYPE_UNKNOWN ? MXL_F32 : n.dtype;
        if (mxl_place_of_group(&w->places, node, &n.device) != 0 || find_source(w, &n) != 0)
            return -1;
        status = n.is_state ? make_state(e, w, state++, &n) : make_arg(e, w, arg++, &n);
    }
    return status;
}

static int make_all(mxl_executor *e, const api_wish *w, const mxl_facts *facts)
{
    const mxl_indexed *graph = &e->program.graph;
    size_t entries = (size_t)graph->entries + 1;
    int8_t *stypes = mxl_alloc_zero(2 * entries);
    int status = -1;

    if (stypes == NULL)
        return -1;
    if (say_stypes(graph, w, stypes) == 0 &&
        mxl_stypes_infer_grads(graph, stypes, stypes + entries) == 0)
        status = make_arrays(e, w, facts, stypes, stypes + entries);
    mxl_free(stypes, 2 * entries);
    return status;
}

mxl_executor *api_executor_make(const api_wish *wish, const mxl_symbol *symbol)
{
    bool legacy = api_mode().legacy_shape;
    mxl_executor *e = mxl_executor_new(symbol);
    mxl_facts facts;
    int status;

    if (e == NULL)
        return NULL;
    status = check_names(e, wish);
    if (status == 0)
        status = check_reqs(wish, e->args);
    if (status == 0)
        status = mxl_facts_begin(&facts, &e->program.graph, legacy);
    if (status == 0) {
        if (say_all(&facts, wish) != 0 || mxl_infer_dtypes(&facts) != 0 ||
            mxl_infer_shapes(&facts) != 0 || make_all(e, wish, &facts) != 0)
            status = -1;
        mxl_facts_end(&facts);
    }
    if (status == 0)
        status = mxl_executor_finish(e, &wish->places, legacy);
    if (status == 0 && wish->views)
        status = mxl_executor_share_outputs(e, wish->from);
    if (status != 0) {
        mxl_ref_release(&e->ref);
        return NULL;
    }
    return e;
}
