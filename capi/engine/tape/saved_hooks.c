/* Packing of saved values by functions of the caller's. */
#include "engine/tape/saved_hooks.h"

#include "base/error.h"
#include "base/handle.h"
#include "base/memory/mem.h"
#include "engine/backward/callback.h"
#include "engine/tape/record_hooks.h"

/* A packed tensor; kept by its node, and while it is being unpacked. */
typedef struct packed {
    mxl_ref ref;
    mxl_packer *packer; /* kept */
    void *value;
} packed;

/* ---- the stack ---- */

static void packer_free(mxl_ref *ref)
{
    mxl_packer *packer = (mxl_packer *)ref;

    if (packer->release != NULL)
        packer->release(packer->payload);
    if (packer->below != NULL)
        mxl_ref_release(&packer->below->ref);
    mxl_free(packer, sizeof(*packer));
}

static void stack_free(void *top)
{
    mxl_ref_release(&((mxl_packer *)top)->ref);
}

int mxl_packer_push(const mxl_packer *given)
{
    mxl_state *state = mxl_state_get();
    mxl_packer *packer;

    if (state != mxl_state_here)
        return mxl_error_memory(sizeof(*state));
    packer = mxl_alloc(sizeof(*packer));
    if (packer == NULL)
        return -1;
    *packer = *given;
    mxl_ref_init(&packer->ref, packer_free);
    packer->below = state->slots[MXL_SLOT_SAVED_HOOKS];
    state->slots[MXL_SLOT_SAVED_HOOKS] = packer;
    state->slot_free[MXL_SLOT_SAVED_HOOKS] = stack_free;
    mxl_record_hook_update(state);
    return 0;
}

int mxl_packer_pop(void)
{
    mxl_state *state = mxl_state_get();
    mxl_packer *top = state->slots[MXL_SLOT_SAVED_HOOKS];

    if (top == NULL)
        return mxl_error("there are no functions for saved values to take away");
    state->slots[MXL_SLOT_SAVED_HOOKS] = top->below;
    if (top->below != NULL)
        mxl_ref_retain(&top->below->ref); /* the stack's, which was the top's */
    mxl_record_hook_update(state);
    mxl_ref_release(&top->ref);
    return 0;
}

/* ---- one value ---- */

static void packed_free(mxl_ref *ref)
{
    packed *p = (packed *)ref;

    if (p->packer->drop != NULL)
        p->packer->drop(p->packer->payload, p->value);
    mxl_ref_release(&p->packer->ref);
    mxl_free(p, sizeof(*p));
}

/* Calls pack with a handle of an array without an edge, with recording off. */
static int call_pack(packed *p, const mxl_node *node, const mxl_array *array)
{
    mxl_array *alias = mxl_array_alias(array);
    uint64_t handle = alias == NULL ? 0 : mxl_handle_new(MXL_KIND_ARRAY, &alias->ref);
    mxl_callback before;
    int status;

    if (handle == 0) {
        mxl_array_release(alias);
        return -1;
    }
    mxl_callback_enter(&before, false, node->training);
    status = p->packer->pack(p->packer->payload, (void *)(uintptr_t)handle, &p->value);
    return mxl_callback_leave(&before, status != 0, "%s: packing of a value that it saves",
                              node->op->name);
}

static packed *pack(mxl_packer *packer, const mxl_node *node, const mxl_array *array)
{
    packed *p = mxl_alloc(sizeof(*p));

    if (p == NULL)
        return NULL;
    p->packer = packer;
    p->value = NULL;
    if (call_pack(p, node, array) != 0) {
        mxl_free(p, sizeof(*p));
        return NULL;
    }
    mxl_ref_init(&p->ref, packed_free);
    mxl_ref_retain(&packer->ref);
    return p;
}

static mxl_saved *saved_at(mxl_node *node, int at)
{
    return at < node->num_inputs ? &node->in_saved[at] : &node->out_saved[at - node->num_inputs];
}

/* Packs the saved tensors (inputs, then outputs) from `first` to before `end` that are not packed.
 */
static int pack_range(mxl_node *node, mxl_packer *packer, int first, int end)
{
    mxl_hook_store *store = mxl_hook_store_make(&node->store);

    if (store == NULL ||
        mxl_hook_store_reserve_packed(store, node->num_inputs + node->num_outputs) != 0)
        return -1;
    for (int at = first; at < end; at++) {
        mxl_saved *saved = saved_at(node, at);
        packed *p;

        if (saved->array == NULL)
            continue;
        p = pack(packer, node, saved->array);
        if (p == NULL)
            return -1;
        mxl_hook_store_set_packed(store, at, &p->ref);
        mxl_array_release(saved->array);
        saved->array = NULL;
    }
    return 0;
}

static int node_pack(mxl_node *node, int first, int end)
{
    mxl_packer *packer = mxl_state_get()->slots[MXL_SLOT_SAVED_HOOKS];
    int status;

    if (packer == NULL || !node->saves_any)
        return 0;
    mxl_ref_retain(&packer->ref); /* a function of its own may pop it */
    status = pack_range(node, packer, first, end);
    mxl_ref_release(&packer->ref);
    return status;
}

int mxl_node_pack(mxl_node *node)
{
    return node_pack(node, 0, node->num_inputs + node->num_outputs);
}

int mxl_node_pack_inputs(mxl_node *node)
{
    return node_pack(node, 0, node->num_inputs);
}

int mxl_node_pack_one(mxl_node *node, int at)
{
    if (saved_at(node, at)->array == NULL)
        return mxl_error("%s: the saved value is packed already", node->op->name);
    return node_pack(node, at, at + 1);
}

bool mxl_node_unpack(mxl_node *node, int at, bool record, mxl_array **out)
{
    mxl_hook_store *store = mxl_hook_store_get(&node->store);
    packed *p = store == NULL ? NULL : (packed *)mxl_hook_store_get_packed(store, at);
    const mxl_meta *meta =
        at < node->num_inputs ? &node->in_meta[at] : &node->out_meta[at - node->num_inputs];
    mxl_callback before;
    void *handle = NULL;
    int status;

    if (p == NULL)
        return false;
    *out = NULL;
    mxl_callback_enter(&before, record, node->training);
    status = p->packer->unpack(p->packer->payload, p->value, &handle);
    status = mxl_callback_leave(&before, status != 0, "%s: unpacking of a value that it saved",
                                node->op->name);
    if (status == 0)
        *out = mxl_callback_take(handle, meta, node->op->name, "a saved value was unpacked");
    else
        mxl_callback_free(handle);
    mxl_ref_release(&p->ref);
    return true;
}
