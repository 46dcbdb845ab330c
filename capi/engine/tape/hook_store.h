/* The hooks, the caller's payload and the packed saved tensors of a node or a variable. It is made
 * on first use; nearly all nodes and variables have none: one pointer that is NULL. */
#ifndef MXL_ENGINE_TAPE_HOOK_STORE_H
#define MXL_ENGINE_TAPE_HOOK_STORE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ref.h"

/* The functions behind MXLGradHook, MXLNodeHook, MXLVariableHook; arrays as handles. */
typedef int (*mxl_grad_hook)(void *payload, int count, void *const *grads, void **results);
typedef int (*mxl_node_hook)(void *payload, int num_inputs, void *const *input_grads,
                             int num_outputs, void *const *output_grads, void **results);
typedef int (*mxl_variable_hook)(void *payload, void *variable);

typedef enum mxl_hook_kind {
    MXL_HOOK_ARRAY,       /* call.grad, on the gradient of one output, or of a variable */
    MXL_HOOK_BEFORE,      /* call.grad, before a node's vjp */
    MXL_HOOK_AFTER,       /* call.node */
    MXL_HOOK_ACCUMULATED, /* call.variable */
    MXL_HOOK_KINDS
} mxl_hook_kind;

/* One hook. Its payload is released by its last user: the list that holds it, until the hook is
 * removed, or a thread that calls it. */
typedef struct mxl_hook {
    mxl_ref ref;
    mxl_hook_kind kind;
    int output; /* of MXL_HOOK_ARRAY */
    bool last;  /* after those that are not; follows its array when that is edited in place */
    atomic_bool removed;
    atomic_int users;
    union {
        mxl_grad_hook grad;
        mxl_node_hook node;
        mxl_variable_hook variable;
    } call;
    void *payload;
    void (*release)(void *payload); /* may be NULL */
    struct mxl_hook *next;          /* used only while it follows its array */
} mxl_hook;

typedef struct mxl_hook_store {
    mxl_ref ref;
    atomic_flag lock; /* guards the rest; held for moments, and never while anything is called */
    size_t num_hooks, room_hooks;
    mxl_hook **hooks; /* kept, in order of registration; removed ones until the list is looked at */
    void *payload;    /* the caller's, and how it is released; NULL, NULL: none */
    void (*release)(void *payload);
    int num_packed;
    mxl_ref **packed; /* [num_packed], kept: the packed forms of saved tensors (saved_hooks.h) */
} mxl_hook_store;

/* The pointer of a node or a variable to its hook store: set once, released with its owner. */
typedef _Atomic(mxl_ref *) mxl_hook_slot;

static inline mxl_hook_store *mxl_hook_store_get(mxl_hook_slot *slot)
{
    return (mxl_hook_store *)atomic_load_explicit(slot, memory_order_acquire);
}

/* Makes the store where there is none; NULL with the error set. */
mxl_hook_store *mxl_hook_store_make(mxl_hook_slot *slot);

/* Held for moments, to look at a store; nothing else of the library is called in between. */
void mxl_hook_store_lock(mxl_hook_store *store);
void mxl_hook_store_unlock(mxl_hook_store *store);

/* A new hook without functions; NULL with the error set. Until mxl_hook_store_add it has no
 * payload. */
mxl_hook *mxl_hook_new(mxl_hook_kind kind);

/* Appends the hook to the list, which keeps it. -1 with the error set, the payload not released. */
int mxl_hook_store_add(mxl_hook_store *store, mxl_hook *hook);

/* Moves the `last` hooks of output `from_output` to output `to_output` of another node, after an
 * edit in place. -1 with the error set; a hook for which there was no memory is removed. */
int mxl_hook_store_follow(mxl_hook_store *from, int from_output, mxl_hook_slot *to, int to_output);

/* Ends the hook's calls; its payload is released now, or when a running call of it ends. */
void mxl_hook_remove(mxl_hook *hook);

/* Replaces the caller's payload and releases the former one. */
void mxl_hook_store_set_payload(mxl_hook_store *store, void *payload, void (*release)(void *));
void *mxl_hook_store_payload(mxl_hook_store *store);

/* Removes all hooks. */
void mxl_hook_store_remove_hooks(mxl_hook_store *store);

/* Makes room for packed values, of a node that is being recorded; -1 with the error set. */
int mxl_hook_store_reserve_packed(mxl_hook_store *store, int count);
/* Takes over the reference; a node that was released meanwhile keeps nothing. */
void mxl_hook_store_set_packed(mxl_hook_store *store, int at, mxl_ref *packed);
/* A new reference, or NULL. */
mxl_ref *mxl_hook_store_get_packed(mxl_hook_store *store, int at);
void mxl_hook_store_release_packed(mxl_hook_store *store);

/* A snapshot of the hooks of one kind, the `last` ones at the end. Each may be called until
 * mxl_hooks_end. */
typedef struct mxl_hooks {
    size_t count, room;
    mxl_hook **items;
} mxl_hooks;

/* -1 with the error set. `store` may be NULL: no hooks. */
int mxl_hooks_begin(mxl_hooks *hooks, mxl_hook_store *store, mxl_hook_kind kind);
void mxl_hooks_end(mxl_hooks *hooks);

/* Whether the store has a hook of that kind; false for NULL. */
bool mxl_hook_store_has(mxl_hook_store *store, mxl_hook_kind kind);

#endif
