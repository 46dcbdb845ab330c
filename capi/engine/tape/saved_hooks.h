/* Saved values that the caller keeps in a form of its own: packed when a node is recorded, unpacked
 * when its rule reads them. Which functions do that is a stack of the thread's. */
#ifndef MXL_ENGINE_TAPE_SAVED_HOOKS_H
#define MXL_ENGINE_TAPE_SAVED_HOOKS_H

#include "engine/tape/tape.h"

/* The functions behind MXLPackFunction and its like; arrays as handles. */
typedef struct mxl_packer {
    mxl_ref ref;
    int (*pack)(void *payload, void *array, void **packed);
    int (*unpack)(void *payload, void *packed, void **array);
    void (*drop)(void *payload, void *packed); /* may be NULL */
    void *payload;
    void (*release)(void *payload); /* may be NULL; when nothing that was packed is left */
    struct mxl_packer *below;       /* kept */
} mxl_packer;

/* Puts a packer (without ref and below; copied) on this thread's stack; -1 with the error set,
 * nothing released. Pop: -1 where the stack is empty. */
int mxl_packer_push(const mxl_packer *packer);
int mxl_packer_pop(void);

/* Packs the saved tensors of a new node that are not packed yet, or its saved inputs, with the
 * packer on top. -1 with the error set. */
int mxl_node_pack(mxl_node *node);
int mxl_node_pack_inputs(mxl_node *node);

/* Packs one saved tensor (inputs, then outputs) with the packer on top. -1 with the error set: it
 * is packed already. */
int mxl_node_pack_one(mxl_node *node, int at);

/* Whether a saved value (inputs, then outputs) is packed; *out is it then (new reference), or NULL
 * with the error set. */
bool mxl_node_unpack(mxl_node *node, int at, bool record, mxl_array **out);

#endif
