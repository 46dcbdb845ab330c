/* The descriptors of a library's operators: parameters, shapes, dtypes and backward. */
#include "api/library/library.h"

#include <limits.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "symbol/infer.h"
#include "ops/build.h"

/* ---- one call ---- */

static void call_release(mxl_ref *ref)
{
    api_library_call *c = (api_library_call *)ref;
    api_library_state *last = atomic_load(&c->last);

    if (c->state != NULL)
        mxl_ref_release(&c->state->ref);
    if (last != NULL)
        mxl_ref_release(&last->ref);
    for (int i = 0; i < c->custom.num_arguments && c->kept != NULL; i++)
        mxl_array_release(c->kept[i]);
    mxl_free(c->kept, c->list_bytes);
    mxl_custom_clear(&c->custom);
    mxl_free(c, c->bytes);
}

/* With a copy of the attributes; NULL with the error set. */
static api_library_call *call_new(const api_library_op *o, int count, const char *const *keys,
                                  const char *const *values)
{
    size_t bytes = sizeof(api_library_call) + 2 * ((size_t)count + 1) * sizeof(char *);
    api_library_call *c;
    char *text;

    for (int i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL)
            return mxl_error_null("%s: parameter %d has a NULL name or value", o->op.name, i);
        bytes += strlen(keys[i]) + strlen(values[i]) + 2;
    }
    c = mxl_alloc_zero(bytes);
    if (c == NULL)
        return NULL;
    mxl_ref_init(&c->custom.ref, call_release);
    c->custom.infer = api_library_infer;
    c->custom.shapes = api_library_shapes;
    c->custom.dtypes = api_library_dtypes;
    c->custom.forward = api_library_forward;
    c->of = o;
    c->bytes = bytes;
    c->count = count;
    c->keys = (const char **)(c + 1);
    c->values = c->keys + count + 1;
    text = (char *)(c->values + count + 1);
    for (int i = 0; i < count; i++) {
        c->keys[i] = strcpy(text, keys[i]);
        text += strlen(text) + 1;
        c->values[i] = strcpy(text, values[i]);
        text += strlen(text) + 1;
    }
    return c;
}

/* The numbers of inputs and outputs. */
static int ask_numbers(api_library_call *c)
{
    const api_library_op *o = c->of;
    int done, in = 0, out = 0;

    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallParseAttrs(o->parse, c->keys, c->values, c->count, &in, &out));
    if (!done)
        return api_library_failed(&here, o->op.name, "parse_attrs");
    if (in < 0 || out < 1)
        return mxl_error("%s: parse_attrs of the library gave %d inputs and %d outputs", o->op.name,
                         in, out);
    c->list_bytes = (size_t)in * sizeof(*c->kept) + (size_t)in + 1;
    c->kept = mxl_alloc_zero(c->list_bytes);
    if (c->kept == NULL)
        return -1;
    c->custom.mutated = (bool *)(c->kept + in);
    c->custom.num_arguments = in;
    c->custom.num_outputs = out;
    return 0;
}

static int ask_mutated(api_library_call *c)
{
    const api_library_op *o = c->of;
    int done, *indices = NULL, count = 0, status;

    if (o->mutates == NULL)
        return 0;
    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallMutateInputs(o->mutates, c->keys, c->values, c->count, &indices,
                                                 &count));
    if (!done)
        return api_library_failed(&here, o->op.name, "mutate_inputs");
    status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        if (indices[i] < 0 || indices[i] >= c->custom.num_arguments)
            status = mxl_error("%s: mutate_inputs of the library names input %d of %d", o->op.name,
                               indices[i], c->custom.num_arguments);
        else
            c->custom.mutated[indices[i]] = true;
    }
    o->library->call.opCallFree(indices);
    return status;
}

static int parse(const mxl_op *op, int count, const char *const *keys, const char *const *values,
                 void *params, mxl_arena *arena)
{
    api_library_call *c = call_new(api_library_op_of(op), count, keys, values);
    mxl_custom_params *p = params;

    if (c == NULL)
        return -1;
    if (ask_numbers(c) != 0 || ask_mutated(c) != 0) {
        mxl_ref_release(&c->custom.ref);
        return -1;
    }
    p->op_type = op->name;
    p->custom = &c->custom;
    arena->kept = &c->custom.ref;
    return 0;
}

/* ---- shapes and dtypes ---- */

typedef struct asked_shapes {
    unsigned **in; /* with the sizes behind it */
    int *ndims;
    size_t bytes;
    unsigned **new_in, **out;
    int *new_ndims, *out_ndims;
} asked_shapes;

int api_library_put_shape(const api_library_op *o, int i, int ndim, const int64_t *dim,
                          unsigned **shapes, int *ndims, unsigned **room)
{
    ndims[i] = ndim;
    shapes[i] = *room;
    for (int k = 0; k < ndim; k++) {
        if (dim[k] > UINT_MAX)
            return mxl_error("%s: size %lld of input %d does not fit the unsigned int that the "
                             "library is given",
                             o->op.name, (long long)dim[k], i);
        *(*room)++ = (unsigned)dim[k];
    }
    return 0;
}

static int ask_begin(asked_shapes *a, const api_library_call *c, const mxl_shape *shapes)
{
    size_t count = (size_t)c->custom.num_arguments, sizes = 1;
    unsigned *size;

    memset(a, 0, sizeof(*a));
    for (size_t i = 0; i < count; i++)
        sizes += (size_t)shapes[i].ndim;
    a->bytes = (count + 1) * (sizeof(*a->in) + sizeof(int)) + sizes * sizeof(*size);
    a->in = mxl_alloc(a->bytes);
    if (a->in == NULL)
        return -1;
    a->ndims = (int *)(a->in + count + 1);
    size = (unsigned *)(a->ndims + count + 1);
    for (int i = 0; i < (int)count; i++) {
        if (api_library_put_shape(c->of, i, shapes[i].ndim, shapes[i].dim, a->in, a->ndims,
                                  &size) != 0) {
            mxl_free(a->in, a->bytes);
            return -1;
        }
    }
    return 0;
}

static int take_shapes(const api_library_call *c, int count, unsigned **sizes, const int *ndims,
                       mxl_shape *shapes)
{
    for (int i = 0; i < count; i++) {
        if (ndims[i] < 0 || ndims[i] > MXL_MAX_NDIM)
            return mxl_error("%s: infer_shape of the library gave %d axes", c->of->op.name,
                             ndims[i]);
        shapes[i].ndim = ndims[i];
        for (int k = 0; k < ndims[i]; k++)
            shapes[i].dim[k] = sizes[i][k];
    }
    return 0;
}

static void ask_end(asked_shapes *a, const api_library_call *c)
{
    void (*give_back)(void *) = c->of->library->call.opCallFree;

    for (int i = 0; i < c->custom.num_arguments && a->new_in != NULL; i++)
        give_back(a->new_in[i]);
    for (int i = 0; i < c->custom.num_outputs && a->out != NULL; i++)
        give_back(a->out[i]);
    give_back(a->new_in);
    give_back(a->new_ndims);
    give_back(a->out);
    give_back(a->out_ndims);
    mxl_free(a->in, a->bytes);
}

/* Says nothing before all inputs are known, since libraries read the sizes. */
int api_library_shapes(mxl_custom *custom, mxl_shape *shapes, bool legacy_shape)
{
    const api_library_call *c = api_library_call_of(custom);
    const api_library_op *o = c->of;
    int done, status;
    asked_shapes a;

    (void)legacy_shape;
    for (int i = 0; i < custom->num_arguments; i++) {
        if (!mxl_shape_known(&shapes[i]))
            return 0;
    }
    if (ask_begin(&a, c, shapes) != 0)
        return -1;
    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallInferShape(
                 o->shapes, c->keys, c->values, c->count, a.in, a.ndims, custom->num_arguments,
                 &a.new_in, &a.new_ndims, &a.out, &a.out_ndims, custom->num_outputs));
    if (!done) {
        mxl_free(a.in, a.bytes); /* the library has allocated nothing */
        return api_library_failed(&here, o->op.name, "infer_shape");
    }
    status = take_shapes(c, custom->num_arguments, a.new_in, a.new_ndims, shapes);
    if (status == 0)
        status =
            take_shapes(c, custom->num_outputs, a.out, a.out_ndims, shapes + custom->num_arguments);
    ask_end(&a, c);
    return status;
}

/* The numbers of dtypes are ours, but that libraries know no bool. */
int api_library_dtypes(mxl_custom *custom, int *dtypes)
{
    const api_library_call *c = api_library_call_of(custom);
    const api_library_op *o = c->of;
    const int in = custom->num_arguments, total = in + custom->num_outputs;
    int done;

    for (int i = 0; i < in; i++) {
        if (dtypes[i] > MXL_I64)
            return mxl_error("%s: a library's operators take no arrays of dtype %s", o->op.name,
                             mxl_dtype_name(dtypes[i]));
    }
    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallInferType(o->types, c->keys, c->values, c->count, dtypes, in,
                                              dtypes + in, custom->num_outputs));
    if (!done)
        return api_library_failed(&here, o->op.name, "infer_type");
    for (int i = 0; i < total; i++) {
        if (dtypes[i] < 0 || dtypes[i] > MXL_I64)
            dtypes[i] = MXL_DTYPE_UNKNOWN;
    }
    return 0;
}

/* Whether the library takes dense arrays and gives such. It may read the indices of others without
 * asking what it was given. `stypes` has room for all arrays. */
static int check_dense(const api_library_call *c, int *stypes)
{
    const api_library_op *o = c->of;
    int done, in = c->custom.num_arguments;
    int total = in + c->custom.num_outputs;

    if (o->stypes == NULL)
        return 0;
    memset(stypes, 0, (size_t)total * sizeof(*stypes)); /* 0: dense */
    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallInferSType(o->stypes, c->keys, c->values, c->count, stypes, in,
                                               stypes + in, c->custom.num_outputs));
    if (!done)
        return api_library_failed(&here, o->op.name, "infer_storage_type");
    for (int i = 0; i < total; i++) {
        if (stypes[i] > 0)
            return mxl_error("%s: infer_storage_type of the library wants a sparse array as %s %d, "
                             "and operators of libraries get dense ones",
                             o->op.name, i < in ? "input" : "output", i < in ? i : i - in);
    }
    return 0;
}

/* `shapes` and `dtypes` have room for all arrays. */
static int infer_into(mxl_custom *custom, mxl_infer *infer, mxl_shape *shapes, int *dtypes)
{
    const char *name = infer->op->name;

    for (int i = 0; i < infer->num_inputs; i++) {
        mxl_shape_set(&shapes[i], infer->in[i]->ndim, infer->in[i]->shape);
        dtypes[i] = infer->in[i]->dtype;
    }
    for (int i = 0; i < infer->num_outputs; i++) {
        shapes[infer->num_inputs + i].ndim = -1;
        dtypes[infer->num_inputs + i] = MXL_DTYPE_UNKNOWN;
    }
    if (api_library_shapes(custom, shapes, false) != 0 || api_library_dtypes(custom, dtypes) != 0)
        return -1;
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *in = infer->in[i];

        if (!mxl_shape_same(in->ndim, in->shape, shapes[i].ndim, shapes[i].dim))
            return mxl_error("%s: infer_shape of the library expects shape %s of input %d, given "
                             "%s",
                             name, MXL_SHAPE_TEXT(shapes[i].ndim, shapes[i].dim), i,
                             MXL_SHAPE_OF(in));
        if (dtypes[i] != in->dtype)
            return mxl_error("%s: infer_type of the library expects %s of input %d, given %s", name,
                             mxl_dtype_name(dtypes[i]), i, mxl_dtype_name(in->dtype));
    }
    for (int i = 0; i < infer->num_outputs; i++) {
        infer->out_shape[i] = shapes[infer->num_inputs + i];
        infer->out_dtype[i] = dtypes[infer->num_inputs + i];
        if (infer->out_dtype[i] == MXL_DTYPE_UNKNOWN)
            return mxl_error("%s: infer_type of the library gave no dtype for output %d", name, i);
        if (mxl_shape_count(infer->out_shape[i].ndim, infer->out_shape[i].dim) < 0)
            return mxl_error_prefix(name);
    }
    return check_dense(api_library_call_of(custom), dtypes);
}

int api_library_infer(mxl_custom *custom, mxl_infer *infer)
{
    size_t count = (size_t)infer->num_inputs + (size_t)infer->num_outputs;
    size_t bytes = count * (sizeof(mxl_shape) + sizeof(int));
    mxl_shape *shapes = mxl_alloc(bytes);
    int status;

    if (shapes == NULL)
        return -1;
    status = infer_into(custom, infer, shapes, (int *)(shapes + count));
    mxl_free(shapes, bytes);
    return status;
}

/* ---- backward ---- */

static bool mutates(const mxl_call *call, int i)
{
    const mxl_custom_params *p = call->params;

    return p->custom->mutated[i];
}

static void saves(mxl_saves *saves)
{
    const mxl_custom *c = ((const mxl_custom_params *)saves->params)->custom;

    for (int i = 0; i < c->num_arguments; i++)
        saves->in[i] = !c->mutated[i];
    for (int i = 0; i < c->num_outputs; i++)
        saves->out[i] = true;
}

/* dx = the library's backward of dy, x and y: an operator of its own, so that create_graph records
 * it. No gradient flows to an input that forward writes to. */
static int grad(mxl_grad *g)
{
    const mxl_custom_params *p = g->params;
    const api_library_call *c = api_library_call_of(p->custom);
    int num_in = g->num_inputs, num_out = g->num_outputs, status = 0;
    size_t bytes = 2 * ((size_t)num_in + (size_t)num_out) * sizeof(mxl_array *);
    mxl_array **given = mxl_alloc_zero(bytes), **made;

    if (given == NULL)
        return -1;
    made = given + num_in + 2 * num_out;
    for (int i = 0; i < num_out; i++) {
        given[i] = mxl_grad_output_grad(g, i);
        given[num_out + num_in + i] = mxl_grad_out(g, i);
    }
    for (int i = 0; i < num_in; i++)
        given[num_out + i] = c->custom.mutated[i] ? c->kept[i] : mxl_grad_in(g, i);
    for (int i = 0; i < num_in + 2 * num_out && status == 0; i++)
        status = given[i] == NULL ? -1 : 0;
    if (status == 0)
        status =
            mxl_scope_call_many(g->s, &c->of->back, p, num_in + 2 * num_out, given, num_in, made);
    for (int i = 0; i < num_in && status == 0; i++)
        status = c->custom.mutated[i] ? 0 : mxl_grad_set(g, i, made[i]);
    mxl_free(given, bytes);
    return status;
}

static int back_arity(const void *params, mxl_arity *arity)
{
    const mxl_custom *c = ((const mxl_custom_params *)params)->custom;

    arity->inputs = c->num_arguments + 2 * c->num_outputs;
    arity->outputs = arity->visible = c->num_arguments;
    return 0;
}

static int back_infer(mxl_infer *infer)
{
    const mxl_custom *c = ((const mxl_custom_params *)infer->params)->custom;

    for (int i = 0; i < infer->num_outputs; i++) {
        const mxl_array *in = infer->in[c->num_outputs + i];

        mxl_shape_set(&infer->out_shape[i], in->ndim, in->shape);
        infer->out_dtype[i] = in->dtype;
    }
    return 0;
}

void api_library_describe(api_library_op *o, const char *name, const char *back_name)
{
    static const mxl_input inputs[] = {
        MXL_INPUT(data, "The operator's inputs.", .type_text = "NDArray-or-Symbol[]"), {0}};

    o->op = mxl_op_custom;
    o->op.name = name;
    o->op.aliases = NULL;
    o->op.doc = "An operator of a library that the program has loaded. Its parameters reach the "
                "library as text.";
    o->op.inputs = inputs;
    o->op.params = NULL;
    o->op.parse = parse;
    o->op.mutates = mutates;
    o->op.strided = false;
    o->op.saves = saves;
    o->op.grad = o->backward != NULL || o->state != NULL ? grad : NULL;
    o->back = (mxl_op){.name = back_name,
                       .doc = o->op.doc,
                       .inputs = inputs,
                       .params_size = sizeof(mxl_custom_params),
                       .held = mxl_op_custom.held,
                       .arity = back_arity,
                       .infer = back_infer,
                       .compute = api_library_backward};
}
