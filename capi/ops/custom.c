/* Custom: runs an operator that a caller has registered (MXCustomOpRegister), and its backward. */
#include "ops/custom.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/text/near.h"
#include "base/profile/profile.h"
#include "op/rule.h"
#include "op/sparse_forms.h"
#include "ops/build.h"

/* ---- names ---- */

/* Never freed, and pushed at the front of a list that is read without a lock. */
typedef struct registered {
    struct registered *next;
    mxl_custom_maker make;
    _Atomic(void (*)(void)) creator;
    char name[];
} registered;

static _Atomic(registered *) names;

static registered *find(const char *op_type)
{
    registered *r = atomic_load_explicit(&names, memory_order_acquire);

    while (r != NULL && strcmp(r->name, op_type) != 0)
        r = r->next;
    return r;
}

static int not_registered(const char *op_type)
{
    mxl_near near;

    mxl_near_begin(&near, op_type);
    for (registered *r = atomic_load_explicit(&names, memory_order_acquire); r != NULL; r = r->next)
        mxl_near_offer(&near, r->name);
    return mxl_error("Custom: no operator \"%.100s\" is registered%s", op_type,
                     mxl_near_text(&near));
}

int mxl_custom_register(const char *op_type, mxl_custom_maker make, void (*creator)(void))
{
    registered *r = find(op_type);
    size_t length = strlen(op_type);

    if (r != NULL && r->make == make) {
        atomic_store_explicit(&r->creator, creator, memory_order_release);
        return 0;
    }
    r = mxl_alloc(sizeof(*r) + length + 1);
    if (r == NULL)
        return -1;
    r->make = make;
    atomic_init(&r->creator, creator);
    memcpy(r->name, op_type, length + 1);
    r->next = atomic_load_explicit(&names, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&names, &r->next, r, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return 0;
}

/* ---- one call ---- */

int mxl_custom_lists(mxl_custom *c)
{
    size_t arrays = (size_t)c->num_aux * sizeof(*c->aux);
    size_t flags = 2 * (size_t)c->num_outputs + (size_t)c->num_arguments;

    c->bytes = arrays + flags * sizeof(*c->reads);
    c->aux = mxl_alloc_zero(c->bytes);
    if (c->aux == NULL)
        return -1;
    c->reads = (bool *)(c->aux + c->num_aux);
    for (size_t i = 0; i < flags; i++)
        c->reads[i] = true;
    return 0;
}

const char *mxl_custom_name(const mxl_custom *c, int i)
{
    const char *name = c->names;

    while (i-- > 0)
        name += strlen(name) + 1;
    return name;
}

void mxl_custom_clear(mxl_custom *c)
{
    mxl_free(c->names, c->names_bytes);
    if (c->aux == NULL)
        return;
    for (int i = 0; i < c->num_aux; i++)
        mxl_array_release(c->aux[i]);
    mxl_free(c->aux, c->bytes);
}

static mxl_custom *custom_of(const void *params)
{
    return ((const mxl_custom_params *)params)->custom;
}

static mxl_ref *held(const void *params)
{
    return &custom_of(params)->ref;
}

/* All parameters but op_type are the operator's own, which gets them as text. */
static int parse(const mxl_op *op, int count, const char *const *keys, const char *const *values,
                 void *params, mxl_arena *arena)
{
    mxl_custom_params *p = params;
    const char **own = mxl_arena_alloc(arena, 2 * ((size_t)count + 1) * sizeof(*own));
    const registered *r;
    int kept = 0;

    (void)op;
    if (own == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL)
            return mxl_error("Custom: parameter %d has a NULL name or value", i);
        if (strcmp(keys[i], "op_type") != 0) {
            own[kept] = keys[i];
            own[count + kept++] = values[i];
        } else if (p->op_type != NULL) {
            return mxl_error("Custom: parameter \"op_type\" is given twice");
        } else {
            p->op_type = values[i];
        }
    }
    if (p->op_type == NULL)
        return mxl_error("Custom: required parameter \"op_type\" is missing");
    r = find(p->op_type);
    if (r == NULL)
        return not_registered(p->op_type);
    p->op_type = r->name; /* lives as long as the process */
    p->custom = r->make(atomic_load_explicit(&r->creator, memory_order_acquire), p->op_type, kept,
                        own, own + count);
    if (p->custom == NULL)
        return -1;
    arena->kept = &p->custom->ref;
    return 0;
}

static int arity(const void *params, mxl_arity *arity)
{
    const mxl_custom *c = custom_of(params);

    if (c == NULL)
        return mxl_error("Custom: required parameter \"op_type\" is missing");
    arity->inputs = c->num_arguments + c->num_aux;
    arity->outputs = arity->visible = c->num_outputs;
    return 0;
}

static int infer(mxl_infer *infer)
{
    mxl_custom *c = custom_of(infer->params);

    return c->refused ? -1 : c->infer(c, infer);
}

/* ---- storage types ---- */

static bool has_stypes(const void *params)
{
    return custom_of(params)->stypes != NULL;
}

/* An operator that fails has dense outputs here; its shapes are not inferred then. */
static bool sparse_stypes(mxl_stypes *call)
{
    mxl_custom *c = custom_of(call->params);

    if (c->stypes == NULL)
        return false;
    c->refused = c->stypes(c, call->in, call->out) != 0;
    return true;
}

/* The storage types of the gradients of the arguments; -1 with the error set. */
static int ask_grads(mxl_custom *c, const int8_t *out_grad, const int8_t *in, const int8_t *out,
                     int8_t *in_grad)
{
    memset(in_grad, MXL_STYPE_NONE, (size_t)c->num_arguments);
    return c->grad_stypes(c, out_grad, in, out, in_grad);
}

static void sparse_grad_stypes(const mxl_stypes *call, const int8_t *out_grad, int8_t *in_grad)
{
    mxl_custom *c = custom_of(call->params);

    if (c->grad_stypes == NULL || ask_grads(c, out_grad, call->in, call->out, in_grad) != 0)
        memset(in_grad, MXL_DENSE, (size_t)call->num_inputs);
}

/* ---- symbols ---- */

/* The entry of array i of the operator: of an argument, an output or a state. */
static int entry_of(const mxl_rule *rule, const mxl_custom *c, int i)
{
    if (i < c->num_arguments)
        return rule->in[i];
    return i < c->num_arguments + c->num_outputs ? rule->out + i - c->num_arguments
                                                 : rule->in[i - c->num_outputs];
}

/* An operator that fails on unknown shapes is an error, as in 1.9.1. */
static int complete_shapes(mxl_rule *rule)
{
    mxl_custom *c = custom_of(rule->params);
    int count = rule->num_in + rule->num_out, status;
    size_t bytes = ((size_t)count + 1) * sizeof(mxl_shape);
    mxl_shape *shapes = mxl_alloc(bytes);

    if (shapes == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        shapes[i] = rule->shapes[entry_of(rule, c, i)];
    status = c->shapes(c, shapes, rule->legacy_shape);
    for (int i = 0; i < count && status == 0; i++)
        status = mxl_rule_merge(rule, &rule->shapes[entry_of(rule, c, i)], &shapes[i]);
    mxl_free(shapes, bytes);
    return status;
}

/* The first argument must be known, as in 1.9.1. */
static int complete_dtypes(mxl_rule *rule)
{
    mxl_custom *c = custom_of(rule->params);
    int count = rule->num_in + rule->num_out, status;
    size_t bytes = ((size_t)count + 1) * sizeof(int);
    int *dtypes;

    if (c->num_arguments > 0 && rule->dtypes[rule->in[0]] == MXL_DTYPE_UNKNOWN)
        return 0;
    dtypes = mxl_alloc(bytes);
    if (dtypes == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        dtypes[i] = rule->dtypes[entry_of(rule, c, i)];
    status = c->dtypes(c, dtypes);
    for (int i = 0; i < count && status == 0; i++)
        status = mxl_rule_say_dtype(rule, entry_of(rule, c, i), dtypes[i]);
    mxl_free(dtypes, bytes);
    return status;
}

static const char *input_name(const void *params, int i)
{
    const mxl_custom *c = custom_of(params);

    if (c->names == NULL || i >= c->num_arguments + c->num_aux)
        return NULL;
    return mxl_custom_name(c, i < c->num_arguments ? i : i + c->num_outputs);
}

static bool is_state(const void *params, int i)
{
    return i >= custom_of(params)->num_arguments;
}

static const char *output_name(const void *params, int i)
{
    const mxl_custom *c = custom_of(params);

    return c->names == NULL ? NULL : mxl_custom_name(c, c->num_arguments + i);
}

/* ---- forward ---- */

/* The states are kept, as backward gets them too; aliases, since an operator could attach a
 * gradient to what it is given. */
static int keep_aux(mxl_custom *c, mxl_array **in)
{
    for (int i = 0; i < c->num_aux; i++) {
        mxl_array *alias = mxl_array_alias(in[i]);

        if (alias == NULL)
            return -1;
        mxl_array_release(c->aux[i]);
        c->aux[i] = alias;
    }
    return 0;
}

/* Calls forward or, with the prefix "_backward_", backward, measured while the profiler runs. */
static int run_function(const mxl_custom_params *p, const char *prefix,
                        int (*function)(mxl_custom *, const mxl_custom_arrays *),
                        const mxl_custom_arrays *arrays)
{
    const char *outer;
    char type[128];
    mxl_span span;
    int status;

    if (!mxl_profile_runs())
        return function(p->custom, arrays);
    (void)snprintf(type, sizeof(type), "%s%s", prefix, p->op_type);
    span = mxl_span_begin_custom(type, &outer);
    status = function(p->custom, arrays);
    mxl_span_end_custom(&span, outer, status == 0);
    return status;
}

static int run(mxl_custom *c, const mxl_call *call, mxl_array **out)
{
    mxl_custom_arrays arrays = {.in = call->in, .out = out, .training = call->training};

    return run_function(call->params, "", c->forward, &arrays);
}

/* Into arrays of our own, so that a caller's arrays are unchanged after a failure. */
static int run_apart(mxl_custom *c, const mxl_call *call)
{
    size_t bytes = (size_t)call->num_outputs * sizeof(mxl_array *);
    mxl_array **out = mxl_alloc_zero(bytes);
    int status = out == NULL ? -1 : 0;

    for (int i = 0; i < call->num_outputs && status == 0; i++) {
        const mxl_array *like = call->out[i];

        out[i] = mxl_array_new(like->dtype, like->ndim, like->shape);
        if (out[i] == NULL)
            status = -1;
        else
            out[i]->device = like->device;
    }
    if (status == 0)
        status = run(c, call, out);
    for (int i = 0; i < call->num_outputs && status == 0; i++)
        status = mxl_array_copy_into(call->out[i], out[i]);
    for (int i = 0; i < call->num_outputs && out != NULL; i++)
        mxl_array_release(out[i]);
    mxl_free(out, bytes);
    return status;
}

static int compute(const mxl_call *call)
{
    mxl_custom *c = custom_of(call->params);

    if (keep_aux(c, call->in + c->num_arguments) != 0)
        return -1;
    return call->is_new ? run(c, call, call->out) : run_apart(c, call);
}

/* The outputs are new where storage types are asked for. */
static int sparse_compute(const mxl_call *call)
{
    mxl_custom *c = custom_of(call->params);

    return keep_aux(c, call->in + c->num_arguments) != 0 ? -1 : run(c, call, call->out);
}

static const mxl_sparse_forms forms = {.stypes = sparse_stypes,
                                       .compute = sparse_compute,
                                       .grad_stypes = sparse_grad_stypes,
                                       .makes = has_stypes};

/* ---- backward ---- */

static void saves(mxl_saves *saves)
{
    const mxl_custom *c = custom_of(saves->params);

    for (int i = 0; i < c->num_arguments; i++)
        saves->in[i] = c->reads[mxl_custom_reads_in(c, i)];
    for (int i = 0; i < c->num_outputs; i++)
        saves->out[i] = c->reads[mxl_custom_reads_out(c, i)];
}

/* Zeros, which the operator writes the gradient of an argument to; scoped. */
static mxl_array *room_of(mxl_grad *g, int i, int8_t stype)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, i);

    return mxl_scope_own(g->s,
                         stype > MXL_DENSE
                             ? mxl_array_sparse_zeros(stype, meta->dtype, meta->ndim, meta->shape)
                             : mxl_array_zeros(meta->dtype, meta->ndim, meta->shape));
}

static int make_rooms(mxl_grad *g, const mxl_custom *c, const mxl_custom_arrays *a,
                      const int8_t *stypes)
{
    for (int i = 0; i < c->num_arguments; i++) {
        if ((a->in_grad[i] = room_of(g, i, stypes[i])) == NULL)
            return -1;
    }
    return 0;
}

/* The same of the storage types that the operator gives its gradients. */
static int make_typed_rooms(mxl_grad *g, mxl_custom *c, const mxl_custom_arrays *a)
{
    size_t args = (size_t)c->num_arguments, in = args + (size_t)c->num_aux;
    size_t outs = (size_t)c->num_outputs, bytes = in + args + 2 * outs;
    int8_t *types = mxl_alloc_zero(bytes), *out_grad = types + in, *out = out_grad + outs;
    int status;

    if (types == NULL)
        return -1;
    for (size_t i = 0; i < args; i++)
        types[i] = (int8_t)mxl_grad_in_meta(g, (int)i)->stype;
    for (size_t i = 0; i < outs; i++) {
        out_grad[i] = a->out_grad[i] != NULL ? a->out_grad[i]->stype : MXL_DENSE;
        out[i] = a->out[i] != NULL ? a->out[i]->stype : MXL_DENSE;
    }
    status = c->grad_stypes == NULL ? 0 : ask_grads(c, out_grad, types, out, out + outs);
    if (status == 0)
        status = make_rooms(g, c, a, out + outs);
    mxl_free(types, bytes);
    return status;
}

static int fill(mxl_grad *g, mxl_custom *c, const mxl_custom_arrays *a)
{
    for (int i = 0; i < c->num_outputs; i++) {
        if (c->reads[i] && (a->out_grad[i] = mxl_grad_output_grad(g, i)) == NULL)
            return -1;
        if (c->reads[mxl_custom_reads_out(c, i)] && (a->out[i] = mxl_grad_out(g, i)) == NULL)
            return -1;
    }
    for (int i = 0; i < c->num_arguments; i++) {
        if (c->reads[mxl_custom_reads_in(c, i)] && (a->in[i] = mxl_grad_in(g, i)) == NULL)
            return -1;
    }
    return make_typed_rooms(g, c, a);
}

/* The operator's backward. Under create_graph it runs recorded, so what it makes of operators can
 * be differentiated again. No gradient flows to an auxiliary state. */
static int grad(mxl_grad *g)
{
    mxl_custom *c = custom_of(g->params);
    size_t bytes = 2 * ((size_t)c->num_outputs + (size_t)c->num_arguments) * sizeof(mxl_array *);
    mxl_custom_arrays a = {
        .wants = g->wants, .training = g->s->mode.training, .record = g->s->mode.record};
    int status;

    a.in = mxl_alloc_zero(bytes);
    if (a.in == NULL)
        return -1;
    a.in_grad = a.in + c->num_arguments;
    a.out = a.in_grad + c->num_arguments;
    a.out_grad = a.out + c->num_outputs;
    status = fill(g, c, &a);
    if (status == 0)
        status = run_function(g->params, "_backward_", c->backward, &a);
    for (int i = 0; i < c->num_arguments && status == 0; i++)
        status = mxl_grad_set(g, i, a.in_grad[i]);
    mxl_free(a.in, bytes);
    return status;
}

const mxl_op mxl_op_custom = {
    .name = "Custom",
    .aliases = MXL_ALIASES("_npi_Custom"),
    .doc = "Runs an operator that the program has registered under a name, in Python with "
           "mx.operator.register. Further parameters are the operator's own and reach it as text.",
    MXL_INPUTS(MXL_INPUT(data, "The operator's arguments, then its auxiliary states.",
                         .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(mxl_custom_params,
                  MXL_PARAM(mxl_custom_params, op_type, MXL_P_STRING, MXL_REQUIRED,
                            "The name that the operator is registered under.",
                            .type_text = "string")),
    .parse = parse,
    .held = held,
    .arity = arity,
    .infer = infer,
    .complete_shapes = complete_shapes,
    .complete_dtypes = complete_dtypes,
    .completes_alone = true,
    .input_name = input_name,
    .is_state = is_state,
    .output_name = output_name,
    .compute = compute,
    .saves = saves,
    .grad = grad,
    .strided = true,
    .sparse = &forms,
    .makes_sparse = true,
};

mxl_custom *mxl_custom_of(const mxl_op *op, const void *params)
{
    return op != NULL && op->compute == compute && params != NULL ? custom_of(params) : NULL;
}

const mxl_op *const mxl_ops_custom[] = {&mxl_op_custom, NULL};
