/* Arrays: dtype, shape, strides and offset over a storage; and where the array stands in the graph.
 * Everything above this layer deals in mxl_array pointers, everything below in raw memory. */
#ifndef MXL_ARRAY_ARRAY_H
#define MXL_ARRAY_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "array/device.h"
#include "array/storage.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"

enum { MXL_INLINE_NDIM = 4 };

typedef struct mxl_array mxl_array;

/* What a gradient flows to: output `output` of a node, or a variable (then `target` is the array
 * itself and `output` is MXL_PLACE_LEAF). target NULL: nowhere, a constant. */
typedef struct mxl_edge {
    mxl_ref *target;
    int output;
} mxl_edge;

enum { MXL_PLACE_LEAF = -1 };

/* Why a view's memory may not be edited in place while that is recorded. */
typedef enum mxl_view_kind {
    MXL_VIEW_PLAIN,
    MXL_VIEW_UNRECORDED, /* it was made while nothing was recorded */
    MXL_VIEW_ONE_OF_MANY /* it is one result of an operator with several */
} mxl_view_kind;

/* How gradients reach a variable; numbers as in MXNet's OpReqType. */
typedef enum mxl_grad_req { MXL_GRAD_NULL = 0, MXL_GRAD_WRITE = 1, MXL_GRAD_ADD = 3 } mxl_grad_req;

/* What makes an array a variable. Belongs to its array, for as long as that lives; `lock` guards
 * grad and fresh. */
typedef struct mxl_leaf {
    atomic_flag lock;
    _Atomic(mxl_grad_req) req;
    bool fresh;      /* a backward has written the gradient since the caller last cleared this */
    mxl_array *grad; /* kept; NULL: wants a gradient and has no buffer for it yet */
    _Atomic(mxl_ref *)
        store; /* kept; hooks of the variable: engine/tape/hook_store.h. NULL: none */
} mxl_leaf;

struct mxl_array {
    mxl_ref ref;
    mxl_storage *storage; /* kept; NULL: an array that has no shape yet ("none") */
    int dtype;
    int ndim;
    bool contiguous;         /* rows follow each other without gaps */
    uint8_t view_kind;       /* an mxl_view_kind, of a view */
    atomic_bool edge_locked; /* another thread may mark the array while this one records it */
    atomic_bool frozen;      /* see mxl_array_frozen */
    mxl_device device;       /* what the array is called; also that of its views */
    int64_t size;            /* elements */
    int64_t offset;          /* bytes from the storage's data */
    int64_t *shape;          /* [ndim], then strides in elements, in one piece: dims or a block */
    int64_t *strides;
    mxl_array *base; /* kept; of a view: the array it is a view of (never a view itself) */
    /* Changed by mxl_array_set_edge and mxl_array_set_leaf alone: the recorded operator that made
     * the value and which of its outputs, the storage's version when the place, or the view, was
     * made, and what makes the array a variable (owned). Read by the functions below. */
    _Atomic(mxl_ref *) target; /* kept */
    int output;
    atomic_uint_fast64_t edge_version;
    _Atomic(mxl_leaf *) leaf;
    int64_t dims[2 * MXL_INLINE_NDIM];
};

/* New arrays; NULL with the error set. */
mxl_array *mxl_array_new(int dtype, int ndim, const int64_t *shape);
mxl_array *mxl_array_new_none(void);

/* A new contiguous array over a storage, whose reference it takes over, also on failure. The
 * storage must have the bytes. */
mxl_array *mxl_array_over(mxl_storage *storage, int dtype, int ndim, const int64_t *shape);

/* A new array over the same bytes without place, leaf or base. */
mxl_array *mxl_array_alias(const mxl_array *array);

/* A new contiguous view: `shape` over the storage of `array`, `skip` elements further on. The array
 * must be contiguous and the view must lie within it. The view's base is the array's, or it. */
mxl_array *mxl_array_view(mxl_array *array, int64_t skip, int ndim, const int64_t *shape);

/* Makes a view an array by itself, which shares its memory. */
void mxl_array_release_base(mxl_array *view);

/* A new view of any strides, in elements, that lies within the array; with the same base. */
mxl_array *mxl_array_strided(mxl_array *array, int64_t skip, int ndim, const int64_t *shape,
                             const int64_t *strides);

/* Gives a none array its dtype and shape, and fresh storage; -1 with the array unchanged. */
int mxl_array_define(mxl_array *array, int dtype, int ndim, const int64_t *shape);

/* A none array takes over dtype, shape and storage of `from`, whose only reference the caller gives
 * up. */
void mxl_array_become(mxl_array *none, mxl_array *from);

/* Shows its own bytes as `view`, which has the same storage, does. -1 with the array unchanged. */
int mxl_array_show_as(mxl_array *array, const mxl_array *view);

static inline void mxl_array_retain(mxl_array *array)
{
    mxl_ref_retain(&array->ref);
}

/* Drops a reference; NULL is legal. */
static inline void mxl_array_release(mxl_array *array)
{
    if (array != NULL)
        mxl_ref_release(&array->ref);
}

/* The bytes, for reading; of the first element. */
static inline const void *mxl_array_read(const mxl_array *array)
{
    return (const char *)array->storage->data + array->offset;
}

/* The bytes, for writing: tells the storage that they change. */
static inline void *mxl_array_write(mxl_array *array)
{
    mxl_storage_bump(array->storage);
    return (char *)array->storage->data + array->offset;
}

/* -1 with the error set where the bytes may only be read (the memory is someone else's, and writing
 * would change what never changes, or end the process), or where an axis of stride 0 makes several
 * elements one. Whoever writes to an array that a caller gave asks first. */
int mxl_array_check_writable(const mxl_array *array);

/* Whether nobody else can see the bytes: one holder of the array, one of the storage, and they are
 * nobody else's. */
static inline bool mxl_array_is_unique(const mxl_array *array)
{
    return mxl_ref_is_unique(&array->ref) && mxl_ref_is_unique(&array->storage->ref) &&
           array->storage->foreign == NULL;
}

static inline bool mxl_array_same_shape(const mxl_array *a, const mxl_array *b)
{
    return mxl_shape_same(a->ndim, a->shape, b->ndim, b->shape);
}

/* ---- where it stands in the graph; other threads may change it at any moment ---- */

/* What mxl_array_set_leaf will need: a new leaf in *spare, or NULL where the array has one. -1 with
 * the error set. */
int mxl_array_reserve_leaf(mxl_array *array, mxl_leaf **spare);

/* Makes the array a variable (or changes it): request and gradient buffer (kept, may be NULL),
 * which no backward has written. Its place, if it had one, is dropped. Takes over `spare`. */
void mxl_array_set_leaf(mxl_array *array, mxl_grad_req req, mxl_array *grad, mxl_leaf *spare);

/* A variable's request: gradients are added up, or none is wanted. The gradient stays. */
void mxl_array_request(mxl_array *array, bool wanted);

/* Replaces a variable's gradient buffer (kept; NULL: none). */
void mxl_leaf_set_grad(mxl_leaf *leaf, mxl_array *grad);

/* Replaces the place (the target is kept; NULL target clears). */
void mxl_array_set_edge(mxl_array *array, mxl_edge edge);

/* The same; the old target's reference goes to the caller, who holds locks and drops it later. */
mxl_ref *mxl_array_swap_edge(mxl_array *array, mxl_edge edge);

/* Clears the place of a view whose base was edited: it is made anew when it is read. */
void mxl_array_expire_edge(mxl_array *array);

/* What makes it a variable, or NULL. */
static inline mxl_leaf *mxl_array_leaf(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->leaf, memory_order_acquire);
}

static inline bool mxl_leaf_wants(mxl_leaf *leaf)
{
    return atomic_load_explicit(&leaf->req, memory_order_relaxed) != MXL_GRAD_NULL;
}

/* Whether a recorded operator made the value; another thread may have changed it since. */
static inline bool mxl_array_has_target(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->target, memory_order_relaxed) !=
           NULL;
}

static inline uint64_t mxl_array_edge_version(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->edge_version, memory_order_relaxed);
}

/* Whether it is a variable that wants no gradient, or was recorded from such and from constants: no
 * gradient goes there, but unlike a constant's that is what was asked for. */
static inline bool mxl_array_frozen(const mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    return leaf != NULL
               ? !mxl_leaf_wants(leaf)
               : atomic_load_explicit(&((mxl_array *)(size_t)array)->frozen, memory_order_relaxed);
}

/* Between these the place stays, and so does what it leads to. Nothing is dropped there. */
void mxl_array_wait_edge(mxl_array *array);

static inline void mxl_array_lock_edge(mxl_array *array)
{
    if (!mxl_single_thread()) /* alone, a thread need not pay for a locked instruction */
        mxl_array_wait_edge(array);
}

static inline void mxl_array_unlock_edge(mxl_array *array)
{
    atomic_store_explicit(&array->edge_locked, false, memory_order_release);
}

/* Between these: what a recorded operator, or unpacking, gave the array; borrowed. */
static inline mxl_edge mxl_array_given_edge(mxl_array *array)
{
    mxl_edge edge = {atomic_load_explicit(&array->target, memory_order_relaxed), array->output};

    return edge;
}

/* Where a gradient of this array goes: itself when it is a variable that wants one, else its place,
 * or nowhere. The target is kept, the caller drops it. */
mxl_edge mxl_array_edge(mxl_array *array);

/* Whether a gradient of this array goes there. */
bool mxl_array_is_attached_to(mxl_array *array, mxl_edge edge);

void mxl_leaf_lock(mxl_leaf *leaf);
void mxl_leaf_unlock(mxl_leaf *leaf);

#endif
