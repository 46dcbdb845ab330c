/* MXCustomOpRegister: operators of callers, by MXNet's protocol of callbacks. `Custom` runs them
 * (ops/custom.c). */
#include "api/custom/caller.h"

#include <string.h>

#include "base/memory/mem.h"

/* ---- callbacks ---- */

/* A callback runs unrecorded; only a backward under create_graph does not. */
void api_caller_enter(mxl_callback *before)
{
    mxl_callback_enter(before, false, mxl_state_get()->training);
}

int api_caller_leave(const mxl_callback *before, int succeeded, const api_caller_op *o,
                     const char *what)
{
    return mxl_callback_leave(before, !succeeded, "Custom: %s of operator \"%.100s\"", what,
                              o->name);
}

/* Copies the entries of a list that a caller has filled; those that are missing stay NULL. */
void api_caller_take(api_callback *entries, int most, const struct MXCallbackList *list)
{
    if (list->callbacks == NULL || list->contexts == NULL)
        return;
    for (int i = 0; i < most && i < list->num_callbacks; i++)
        entries[i] = (api_callback){(void (*)(void))list->callbacks[i], list->contexts[i]};
}

static void delete_one(const api_callback *entry)
{
    if (entry->run != NULL)
        (void)((CustomOpDelFunc)entry->run)(entry->context);
}

/* The error stays: an operator may go because its call has failed. */
static void caller_release(mxl_ref *ref)
{
    api_caller_op *o = (api_caller_op *)ref;
    char text[MXL_ERROR_TEXT];
    mxl_callback before;

    memcpy(text, mxl_state_get()->error, sizeof(text));
    api_caller_enter(&before);
    delete_one(&o->op[kCustomOpDelete]);
    delete_one(&o->prop[kCustomOpPropDelete]);
    (void)mxl_callback_leave(&before, false, "delete");
    memcpy(mxl_state_get()->error, text, sizeof(text));
    mxl_custom_clear(&o->custom);
    mxl_free(o, o->bytes);
}

/* ---- the description: names, and what backward reads ---- */

/* Appends names to the operator's. */
static int add_names(api_caller_op *o, char *const *names, int count)
{
    mxl_custom *c = &o->custom;
    size_t bytes = c->names_bytes, at = bytes;
    char *grown;

    for (int i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    if (bytes == at)
        return 0;
    grown = mxl_alloc(bytes);
    if (grown == NULL)
        return -1;
    if (at > 0)
        memcpy(grown, c->names, at);
    for (int i = 0; i < count; i++) {
        memcpy(grown + at, names[i], strlen(names[i]) + 1);
        at += strlen(names[i]) + 1;
    }
    mxl_free(c->names, c->names_bytes);
    c->names = grown;
    c->names_bytes = bytes;
    return 0;
}

static int take_names(api_caller_op *o, int which, const char *what, int *count)
{
    char **names = NULL;
    mxl_callback before;
    int done;

    api_caller_enter(&before);
    done = API_CALL_BACK(o->prop[which], CustomOpListFunc, &names);
    if (api_caller_leave(&before, done, o, what) != 0)
        return -1;
    if (names == NULL)
        return mxl_error("Custom: %s of operator \"%.100s\" gave no list", what, o->name);
    for (*count = 0; names[*count] != NULL; ++*count) {
    }
    return add_names(o, names, *count);
}

/* Marks the tensors that the operator lists; they are numbered as in `reads`. */
static int mark_reads(api_caller_op *o, const int *listed, int count)
{
    int total = 2 * o->custom.num_outputs + o->custom.num_arguments;

    if (count < 0 || (count > 0 && listed == NULL))
        return mxl_error("Custom: declare_backward_dependency of operator \"%.100s\" gave no list",
                         o->name);
    for (int i = 0; i < total; i++)
        o->custom.reads[i] = false;
    for (int i = 0; i < count; i++) {
        if (listed[i] < 0 || listed[i] >= total)
            return mxl_error("Custom: declare_backward_dependency of operator \"%.100s\" lists %d, "
                             "which is none of the numbers that it was given",
                             o->name, listed[i]);
        o->custom.reads[listed[i]] = true;
    }
    return 0;
}

static int ask_reads(api_caller_op *o)
{
    const api_callback *entry = &o->prop[kCustomOpPropDeclareBackwardDependency];
    int out = o->custom.num_outputs, total = 2 * out + o->custom.num_arguments;
    int *numbers, *listed = NULL, count = 0, status;
    mxl_callback before;

    if (entry->run == NULL)
        return 0;
    numbers = mxl_alloc((size_t)total * sizeof(*numbers));
    if (numbers == NULL)
        return -1;
    for (int i = 0; i < total; i++)
        numbers[i] = i;
    api_caller_enter(&before);
    status = API_CALL_BACK(*entry, CustomOpBwdDepFunc, numbers, numbers + out,
                           numbers + out + o->custom.num_arguments, &count, &listed);
    status = api_caller_leave(&before, status, o, "declare_backward_dependency");
    if (status == 0)
        status = mark_reads(o, listed, count);
    mxl_free(numbers, (size_t)total * sizeof(*numbers));
    return status;
}

static int describe(api_caller_op *o)
{
    static const int needed[] = {kCustomOpPropListArguments, kCustomOpPropListOutputs,
                                 kCustomOpPropListAuxiliaryStates, kCustomOpPropInferShape,
                                 kCustomOpPropCreateOperator};

    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
        if (o->prop[needed[i]].run == NULL)
            return mxl_error("Custom: the creator of operator \"%.100s\" gave no callback %d",
                             o->name, needed[i]);
    }
    if (take_names(o, kCustomOpPropListArguments, "list_arguments", &o->custom.num_arguments) !=
            0 ||
        take_names(o, kCustomOpPropListOutputs, "list_outputs", &o->custom.num_outputs) != 0 ||
        take_names(o, kCustomOpPropListAuxiliaryStates, "list_auxiliary_states",
                   &o->custom.num_aux) != 0)
        return -1;
    if (o->custom.num_outputs == 0)
        return mxl_error("Custom: operator \"%.100s\" has no outputs", o->name);
    return mxl_custom_lists(&o->custom) != 0 ? -1 : ask_reads(o);
}

/* ---- making and registering ---- */

static mxl_custom *caller_make(void (*creator)(void), const char *op_type, int count,
                               const char *const *keys, const char *const *values)
{
    size_t length = strlen(op_type);
    api_caller_op *o = mxl_alloc_zero(sizeof(*o) + length + 1);
    struct MXCallbackList list = {0};
    mxl_callback before;
    int done;

    if (o == NULL)
        return NULL;
    mxl_ref_init(&o->custom.ref, caller_release);
    o->bytes = sizeof(*o) + length + 1;
    o->custom.infer = api_caller_infer;
    o->custom.shapes = api_caller_shapes;
    o->custom.dtypes = api_caller_dtypes;
    o->custom.forward = api_caller_forward;
    o->custom.backward = api_caller_backward;
    memcpy(o->name, op_type, length + 1);
    api_caller_enter(&before);
    done = ((CustomOpPropCreator)creator)(op_type, count, (const char **)(uintptr_t)keys,
                                          (const char **)(uintptr_t)values, &list);
    if (api_caller_leave(&before, done, o, "the creator") == 0) {
        api_caller_take(o->prop, API_PROP_CALLBACKS, &list);
        if (o->prop[kCustomOpPropInferStorageType].run != NULL)
            o->custom.stypes = api_caller_stypes;
        if (o->prop[kCustomOpPropBackwardInferStorageType].run != NULL)
            o->custom.grad_stypes = api_caller_grad_stypes;
        if (describe(o) == 0)
            return &o->custom;
    }
    mxl_ref_release(&o->custom.ref);
    return NULL;
}

int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator)
{
    API_NEED(op_type);
    API_NEED(creator);
    return mxl_custom_register(op_type, caller_make, (void (*)(void))creator);
}
