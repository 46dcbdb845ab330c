/* Runs forward and backward of a library's operator on the memory of arrays. */
#include "api/library/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "engine/run/generator.h"

/* ---- memory and random numbers ---- */

/* A block that the library asked for; freed after the call. */
typedef struct block {
    struct block *next;
    size_t bytes;
    _Alignas(64) char room[];
} block;

/* The first argument is ours; the library gets NULL if there is no memory. */
static void *take_memory(void *owner, int bytes)
{
    block **blocks = owner;
    block *b = bytes < 0 ? NULL : mxl_alloc(sizeof(*b) + (size_t)bytes);

    if (b == NULL)
        return NULL;
    b->bytes = sizeof(*b) + (size_t)bytes;
    b->next = *blocks;
    *blocks = b;
    return b->room;
}

static void free_blocks(block *b)
{
    while (b != NULL) {
        block *next = b->next;

        mxl_free(b, b->bytes);
        b = next;
    }
}

static void *no_gpu_memory(void *owner, int bytes)
{
    (void)owner;
    (void)bytes;
    return NULL;
}

/* Only outputs that are sparse could ask for it, and there are none. */
static void no_sparse_memory(void *owner, int index, int indices, int indptr, void **data,
                             int64_t **indices_at, int64_t **indptr_at)
{
    (void)owner;
    (void)index;
    (void)indices;
    (void)indptr;
    *data = NULL;
    *indices_at = *indptr_at = NULL;
}

/* A generator as std::mt19937 of libstdc++ lies in memory, with which libraries are built. */
enum { WORDS = 624, GENERATORS = 1024 };
typedef struct twister {
    unsigned long word[WORDS];
    size_t used;
} twister;

/* Seeded as 1.9.1 does it: generator i by the seed times 127, plus i. */
static void seed_twisters(twister *t, uint64_t seed)
{
    for (uint32_t i = 0; i < GENERATORS; i++) {
        uint32_t word = (uint32_t)seed * 127 + i;

        t[i].word[0] = word;
        for (uint32_t k = 1; k < WORDS; k++) {
            word = UINT32_C(1812433253) * (word ^ word >> 30) + k;
            t[i].word[k] = word;
        }
        t[i].used = WORDS;
    }
}

/* The generators of the process, 5 MB, which begin again when the seed is set. Two operators that
 * draw at the same time race on them, as in 1.9.1. NULL with the error set. */
static twister *generators(void)
{
    static _Atomic(twister *) made;
    static _Atomic(uint64_t) seeded;
    twister *t = atomic_load(&made), *none = NULL;
    uint64_t state[2];

    mxl_random_get(state);
    if (t == NULL) {
        t = mxl_state_system_memory(GENERATORS * sizeof(*t));
        if (t == NULL) {
            mxl_error_memory(GENERATORS * sizeof(*t));
            return NULL;
        }
        seed_twisters(t, state[0]);
        if (atomic_compare_exchange_strong(&made, &none, t)) {
            atomic_store(&seeded, mxl_random_seedings());
            return t;
        }
        free(t);
        t = none;
    }
    if (atomic_exchange(&seeded, mxl_random_seedings()) != mxl_random_seedings())
        seed_twisters(t, state[0]);
    return t;
}

/* ---- arrays ---- */

/* Arrays as the library takes them, in one block. */
typedef struct views {
    int count;
    const int64_t **shapes;
    int *ndims, *dtypes, *ids, *stypes;
    void **data, **no_data;
    size_t *versions;
    const char **devices;
    int64_t *no_sizes;
    size_t bytes;
} views;

/* `written`: which arrays the library writes to; NULL: all of them. */
static int views_begin(views *v, int count, mxl_array *const *arrays, const bool *written)
{
    size_t n = (size_t)count + 1;

    for (int i = 0; i < count; i++) {
        if (mxl_array_is_meta(arrays[i]))
            return mxl_array_refuse_read("a library's operator", arrays[i]);
    }
    v->count = count;
    v->bytes = n * (5 * sizeof(void *) + sizeof(int64_t) + 4 * sizeof(int));
    v->shapes = mxl_alloc_zero(v->bytes);
    if (v->shapes == NULL)
        return -1;
    v->data = (void **)(v->shapes + n);
    v->no_data = v->data + n;
    v->devices = (const char **)(v->no_data + n);
    v->versions = (size_t *)(v->devices + n);
    v->no_sizes = (int64_t *)(v->versions + n);
    v->ndims = (int *)(v->no_sizes + n);
    v->dtypes = v->ndims + n;
    v->ids = v->dtypes + n;
    v->stypes = v->ids + n;
    for (int i = 0; i < count; i++) {
        v->shapes[i] = arrays[i]->shape;
        v->ndims[i] = arrays[i]->ndim;
        v->dtypes[i] = arrays[i]->dtype;
        v->data[i] = written == NULL || written[i] ? mxl_array_write(arrays[i])
                                                   : (void *)(uintptr_t)mxl_array_read(arrays[i]);
        v->devices[i] = "cpu";
        v->ids[i] = mxl_device_id(arrays[i]->device);
        v->versions[i] = (size_t)mxl_storage_version(arrays[i]->storage);
    }
    return 0;
}

static void views_end(views *v)
{
    mxl_free(v->shapes, v->bytes);
}

#define VIEWS(v)                                                                                   \
    (v)->shapes, (v)->ndims, (v)->data, (v)->dtypes, (v)->versions, (v)->devices, (v)->ids,        \
        (v)->count

/* `blocks`: memory that the library asks for. */
static int call_body(const api_library_call *c, bool is_forward, views *in, views *out,
                     block **blocks, twister *states)
{
    const api_library_op *o = c->of;
    const api_library_table *lib = &o->library->call;
    int done;

    API_CATCH(here, o->library);
#define RESOURCES                                                                                  \
    take_memory, blocks, no_gpu_memory, NULL, NULL, no_sparse_memory, NULL, in->stypes,            \
        out->stypes, in->no_data, out->no_data, in->no_data, out->no_data, in->no_sizes,           \
        out->no_sizes, in->no_sizes, out->no_sizes, states, NULL
    if (o->state != NULL)
        API_CALL(done, here,
                 lib->opCallFStatefulCompute(is_forward, c->state->made, VIEWS(in), VIEWS(out),
                                             RESOURCES));
    else
        API_CALL(done, here,
                 lib->opCallFCompute(is_forward ? o->forward : o->backward, c->keys, c->values,
                                     c->count, VIEWS(in), VIEWS(out), RESOURCES));
#undef RESOURCES
    return done ? 0 : api_library_failed(&here, o->op.name, is_forward ? "forward" : "backward");
}

static int compute(const api_library_call *c, bool is_forward, views *in, views *out)
{
    twister *states = generators();
    block *blocks = NULL;
    int status;

    if (states == NULL)
        return -1;
    status = call_body(c, is_forward, in, out, &blocks, states);
    free_blocks(blocks);
    return status;
}

static int run(const api_library_call *c, bool is_forward, const mxl_call *call,
               const bool *written)
{
    views from, to;
    int status = -1;

    if (views_begin(&from, call->num_inputs, call->in, written) != 0)
        return -1;
    if (views_begin(&to, call->num_outputs, call->out, NULL) == 0) {
        status = compute(c, is_forward, &from, &to);
        views_end(&to);
    }
    views_end(&from);
    return status;
}

/* ---- forward ---- */

static uint64_t form_of(int count, mxl_array *const *in)
{
    uint64_t form = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < count; i++) {
        form = (form ^ (uint64_t)in[i]->dtype) * UINT64_C(0x100000001b3);
        for (int k = 0; k < in[i]->ndim; k++)
            form = (form ^ ((uint64_t)in[i]->shape[k] + 16)) * UINT64_C(0x100000001b3);
    }
    return form;
}

static void state_release(mxl_ref *ref)
{
    api_library_state *state = (api_library_state *)ref;

    if (state->made != NULL)
        state->library->call.opCallDestroyOpState(state->made);
    mxl_free(state, sizeof(*state));
}

/* What the library is told of the inputs: `shapes` with the sizes behind it. */
typedef struct forms {
    unsigned **shapes;
    int *ndims, *dtypes, device;
} forms;

static int fill_forms(forms *f, const api_library_op *o, int count, mxl_array *const *in)
{
    unsigned *size;

    f->ndims = (int *)(f->shapes + count + 1);
    f->dtypes = f->ndims + count + 1;
    f->device = count > 0 ? mxl_device_id(in[0]->device) : 0;
    size = (unsigned *)(f->dtypes + count + 1);
    for (int i = 0; i < count; i++) {
        f->dtypes[i] = in[i]->dtype;
        if (api_library_put_shape(o, i, in[i]->ndim, in[i]->shape, f->shapes, f->ndims, &size) != 0)
            return -1;
    }
    return 0;
}

static int ask_state(const api_library_call *c, const forms *f, void **made)
{
    const api_library_op *o = c->of;
    int done;

    API_CATCH(here, o->library);
    API_CALL(done, here,
             o->library->call.opCallCreateOpState(o->state, c->keys, c->values, c->count, "cpu",
                                                  f->device, f->shapes, f->ndims,
                                                  c->custom.num_arguments, f->dtypes, made));
    if (!done) {
        *made = NULL;
        return api_library_failed(&here, o->op.name, "create_op_state");
    }
    if (*made == NULL)
        return mxl_error("%s: the library made no state of the operator", o->op.name);
    return 0;
}

static int make_state(const api_library_call *c, mxl_array *const *in, void **made)
{
    int count = c->custom.num_arguments, status;
    size_t sizes = 1, bytes;
    forms f;

    for (int i = 0; i < count; i++)
        sizes += (size_t)in[i]->ndim;
    bytes =
        ((size_t)count + 1) * (sizeof(*f.shapes) + 2 * sizeof(int)) + sizes * sizeof(**f.shapes);
    f.shapes = mxl_alloc(bytes);
    if (f.shapes == NULL)
        return -1;
    status = fill_forms(&f, c->of, count, in) != 0 ? -1 : ask_state(c, &f, made);
    mxl_free(f.shapes, bytes);
    return status;
}

static api_library_state *state_new(const api_library_call *c, mxl_array *const *in, uint64_t form)
{
    api_library_state *state = mxl_alloc_zero(sizeof(*state));

    if (state == NULL)
        return NULL;
    mxl_ref_init(&state->ref, state_release);
    state->library = c->of->library;
    state->form = form;
    if (make_state(c, in, &state->made) == 0)
        return state;
    mxl_ref_release(&state->ref);
    return NULL;
}

/* The place of the state that lasts from one run of the node to the next; NULL: none does. */
static _Atomic(api_library_state *) *lasting_of(const api_library_call *c)
{
    return c->custom.lasting != NULL ? &api_library_call_of(c->custom.lasting)->last : NULL;
}

/* The state of an operator that has one. That of the node's last run is taken away meanwhile, so
 * that no other thread computes with it; it is of no use where inputs have another form. */
static int find_state(api_library_call *c, mxl_array *const *in)
{
    _Atomic(api_library_state *) *last = lasting_of(c);
    uint64_t form = form_of(c->custom.num_arguments, in);
    api_library_state *state = last != NULL ? atomic_exchange(last, NULL) : NULL;

    if (state != NULL && state->form != form) {
        mxl_ref_release(&state->ref);
        state = NULL;
    }
    c->state = state != NULL ? state : state_new(c, in, form);
    return c->state != NULL ? 0 : -1;
}

/* Backward has the state as long as this call lives, whatever the next run does. */
static void leave_state(api_library_call *c)
{
    _Atomic(api_library_state *) *last = lasting_of(c);
    api_library_state *old;

    if (last == NULL || c->state == NULL)
        return;
    mxl_ref_retain(&c->state->ref);
    old = atomic_exchange(last, c->state);
    if (old != NULL)
        mxl_ref_release(&old->ref);
}

/* Backward gets the inputs that forward writes to as they are then; aliases, as their versions are
 * no matter of saved tensors. */
static int keep_mutated(api_library_call *c, mxl_array *const *in)
{
    for (int i = 0; i < c->custom.num_arguments; i++) {
        mxl_array *alias;

        if (!c->custom.mutated[i])
            continue;
        alias = mxl_array_alias(in[i]);
        if (alias == NULL)
            return -1;
        c->kept[i] = alias;
    }
    return 0;
}

int api_library_forward(mxl_custom *custom, const mxl_custom_arrays *arrays)
{
    api_library_call *c = api_library_call_of(custom);
    const api_library_op *o = c->of;
    const mxl_call call = {.num_inputs = custom->num_arguments,
                           .num_outputs = custom->num_outputs,
                           .in = arrays->in,
                           .out = arrays->out};
    int status;

    if (o->forward == NULL && o->state == NULL)
        return mxl_error("%s: the library has this operator for GPUs alone", o->op.name);
    if (o->state != NULL && find_state(c, arrays->in) != 0)
        return -1;
    status = keep_mutated(c, arrays->in);
    if (status == 0)
        status = run(c, true, &call, custom->mutated);
    leave_state(c);
    return status;
}

int api_library_backward(const mxl_call *call)
{
    const mxl_custom_params *p = call->params;
    const api_library_call *c = api_library_call_of(p->custom);
    bool *written;
    int status;

    if (c->of->state != NULL && c->state == NULL)
        return mxl_error("%s: no forward has made the state that backward needs", c->of->op.name);
    written = mxl_alloc_zero((size_t)call->num_inputs + 1);
    if (written == NULL)
        return -1;
    status = run(c, false, call, written);
    mxl_free(written, (size_t)call->num_inputs + 1);
    return status;
}
