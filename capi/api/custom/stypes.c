/* Storage types of a caller's operator, by its callbacks. */
#include "api/custom/caller.h"

#include "array/sparse/sparse.h"
#include "base/memory/mem.h"

/* The arrays of a call: their storage types as callbacks have them, and their tags. */
typedef struct listed {
    int count, most;
    int *stypes, *tags;
    size_t bytes;
} listed;

static int listed_begin(listed *l, const mxl_custom *c)
{
    l->count = 0;
    l->most = 2 * (c->num_arguments + c->num_outputs) + c->num_aux;
    l->bytes = 2 * (size_t)l->most * sizeof(int);
    l->stypes = mxl_alloc(l->bytes);
    if (l->stypes == NULL)
        return -1;
    l->tags = l->stypes + l->most;
    return 0;
}

/* Appends arrays; NULL: unknown ones. Returns the place of the first. */
static int list(listed *l, int tag, int count, const int8_t *stypes)
{
    int first = l->count;

    for (int i = 0; i < count; i++) {
        l->stypes[l->count] = stypes != NULL ? stypes[i] : MXL_STYPE_NONE;
        l->tags[l->count++] = tag;
    }
    return first;
}

/* Checks what a callback made of arrays whose storage types were known. */
static int check_known(const listed *l, const api_caller_op *o, const char *what, int first,
                       int count, const int8_t *stypes)
{
    for (int i = 0; i < count; i++) {
        int found = l->stypes[first + i];

        if (found != stypes[i])
            return mxl_error("Custom: %s of operator \"%.100s\" wants %s as array %d, given %s",
                             what, o->name, mxl_stype_name(found), i, mxl_stype_name(stypes[i]));
    }
    return 0;
}

/* Takes what it found of unknown arrays. */
static int take(const listed *l, const api_caller_op *o, const char *what, int first, int count,
                int8_t *stypes)
{
    for (int i = 0; i < count; i++) {
        int found = l->stypes[first + i];

        if (found < MXL_DENSE || found > MXL_CSR)
            return mxl_error("Custom: %s of operator \"%.100s\" gave no storage type for array %d",
                             what, o->name, i);
        stypes[i] = (int8_t)found;
    }
    return 0;
}

/* Calls infer_storage_type, or the one of a backward, which gets tags too. */
static int ask(const api_caller_op *o, const listed *l, const char *what, bool backward)
{
    mxl_callback before;
    int done;

    api_caller_enter(&before);
    if (backward)
        done = API_CALL_BACK(o->prop[kCustomOpPropBackwardInferStorageType],
                             CustomOpBackwardInferStorageTypeFunc, l->count, l->stypes, l->tags);
    else
        done = API_CALL_BACK(o->prop[kCustomOpPropInferStorageType], CustomOpInferStorageTypeFunc,
                             l->count, l->stypes);
    return api_caller_leave(&before, done, o, what);
}

int api_caller_stypes(mxl_custom *c, const int8_t *in, int8_t *out)
{
    static const char what[] = "infer_storage_type";
    const api_caller_op *o = api_caller_of(c);
    int status, made;
    listed l;

    if (listed_begin(&l, c) != 0)
        return -1;
    (void)list(&l, API_TAG_IN, c->num_arguments, in);
    made = list(&l, API_TAG_OUT, c->num_outputs, NULL);
    (void)list(&l, API_TAG_AUX, c->num_aux, in + c->num_arguments);
    status = ask(o, &l, what, false);
    if (status == 0)
        status = check_known(&l, o, what, 0, c->num_arguments, in);
    if (status == 0)
        status = take(&l, o, what, made, c->num_outputs, out);
    mxl_free(l.stypes, l.bytes);
    return status;
}

int api_caller_grad_stypes(mxl_custom *c, const int8_t *out_grad, const int8_t *in,
                           const int8_t *out, int8_t *in_grad)
{
    static const char what[] = "infer_storage_type_backward";
    const api_caller_op *o = api_caller_of(c);
    int status, made;
    listed l;

    if (listed_begin(&l, c) != 0)
        return -1;
    (void)list(&l, API_TAG_OUT_GRAD, c->num_outputs, out_grad);
    (void)list(&l, API_TAG_IN, c->num_arguments, in);
    (void)list(&l, API_TAG_OUT, c->num_outputs, out);
    made = list(&l, API_TAG_IN_GRAD, c->num_arguments, NULL);
    (void)list(&l, API_TAG_AUX, c->num_aux, in + c->num_arguments);
    status = ask(o, &l, what, true);
    for (int i = made; i < made + c->num_arguments && status == 0; i++) {
        if (l.stypes[i] == MXL_STYPE_NONE) /* left as it was: dense, and converted where it goes */
            l.stypes[i] = MXL_DENSE;
    }
    if (status == 0)
        status = take(&l, o, what, made, c->num_arguments, in_grad);
    mxl_free(l.stypes, l.bytes);
    return status;
}
