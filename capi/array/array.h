/* Arrays: dtype, shape, strides and offset over a storage, and the gradient edge. Everything above
 * this layer uses mxl_array pointers, everything below it raw memory. */
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

/* A gradient edge: output `output` of a node, or a variable (then `target` is the array itself and
 * `output` is MXL_PLACE_LEAF). A NULL target is a constant's: gradients flow nowhere. */
typedef struct mxl_edge {
    mxl_ref *target;
    int output;
} mxl_edge;

enum { MXL_PLACE_LEAF = -1 };

/* Why a view's memory may not be edited in place while recording. */
typedef enum mxl_view_kind {
    MXL_VIEW_PLAIN,
    MXL_VIEW_UNRECORDED,  /* the view was made without recording */
    MXL_VIEW_ONE_OF_MANY, /* the view is one of several results of an operator */
    MXL_VIEW_OF_FUNCTION  /* a caller's function returned the view, or what it is a view of: its
                             gradient is the function's alone, not that of the base's elements */
} mxl_view_kind;

/* How an array is stored; numbers as in MXNet's NDArrayStorageType. Only dense arrays have bytes
 * of their own: array/sparse/sparse.h. */
typedef enum mxl_stype {
    MXL_STYPE_NONE = -1, /* an array without a shape yet ("none") */
    MXL_DENSE = 0,
    MXL_ROW_SPARSE = 1,
    MXL_CSR = 2,
    MXL_BATCHED = 3, /* array/batch/batched.h; of no file, and no storage type to callers */
    MXL_META = 4     /* without memory: mxl_array_on_meta; of no file either */
} mxl_stype;

/* How a variable takes its gradient; numbers as in MXNet's OpReqType. */
typedef enum mxl_grad_req { MXL_GRAD_NULL = 0, MXL_GRAD_WRITE = 1, MXL_GRAD_ADD = 3 } mxl_grad_req;

/* The part of an array that makes it a variable. Owned by its array and freed with it. `lock`
 * guards grad and fresh. */
typedef struct mxl_leaf {
    atomic_flag lock;
    _Atomic(mxl_grad_req) req;
    bool fresh;      /* a backward has written the gradient since the caller last cleared this */
    mxl_array *grad; /* kept; NULL: no buffer yet */
    _Atomic(mxl_ref *) store; /* kept; the variable's hooks: engine/tape/hook_store.h. NULL: none */
} mxl_leaf;

struct mxl_array {
    mxl_ref ref;
    mxl_storage *storage; /* kept; NULL: an array without a shape yet ("none") */
    int dtype;
    int ndim;
    bool contiguous;         /* in row-major order without gaps */
    int8_t stype;            /* an mxl_stype */
    uint8_t view_kind;       /* of a view: an mxl_view_kind */
    atomic_bool edge_locked; /* another thread may mark the array while this one records it */
    atomic_bool frozen;      /* see mxl_array_frozen */
    mxl_device device;       /* the array's label and that of its views */
    int64_t size;            /* elements */
    int64_t offset;          /* bytes from the storage's data */
    int64_t
        *shape; /* ndim sizes, then ndim strides in elements, in one block: dims or an allocation */
    int64_t *strides;
    mxl_array *base; /* kept; of a view: the array it is a view of, which is never a view itself */
    /* The graph's part. Changed only by mxl_array_set_edge and mxl_array_set_leaf, read by the
     * functions below: the edge of the recorded operator that made the value, the storage's version
     * when the edge or the view was made, and the leaf of a variable (owned). */
    _Atomic(mxl_ref *) target; /* kept */
    int output;
    atomic_uint_fast64_t edge_version;
    _Atomic(mxl_leaf *) leaf;
    int64_t dims[2 * MXL_INLINE_NDIM];
};

/* For a kind of array with members of its own: its beginning, without sizes; room for those of ndim
 * dimensions, -1 with the error set; and the release of all that it holds, but for its own memory.
 */
void mxl_array_init(mxl_array *array, void (*release)(mxl_ref *));
int mxl_array_reserve(mxl_array *array, int ndim);
void mxl_array_clear(mxl_array *array);

/* New arrays; NULL with the error set. */
mxl_array *mxl_array_new(int dtype, int ndim, const int64_t *shape); /* of any values */
mxl_array *mxl_array_new_later(int dtype, int ndim,
                               const int64_t *shape); /* mxl_storage_new_later */
mxl_array *mxl_array_zeros(int dtype, int ndim, const int64_t *shape);
mxl_array *mxl_array_zeros_like(const mxl_array *array);
mxl_array *mxl_array_new_none(void);

/* The same without memory, for a meta run (mxl_mode): nothing reads or writes the elements. Sizes
 * below 0 are unknown, and then the number of elements is. */
mxl_array *mxl_array_new_meta(int dtype, int ndim, const int64_t *shape);

static inline bool mxl_array_is_dense(const mxl_array *array)
{
    return array->stype == MXL_DENSE;
}

static inline bool mxl_array_is_sparse(const mxl_array *array)
{
    return array->stype > MXL_DENSE && array->stype != MXL_META;
}

/* A new array on the device meta: dtype, shape and strides over a storage of its own that has no
 * memory. Views share the storage; what is computed of it is such an array (engine/run/invoke.c).
 */
mxl_array *mxl_array_on_meta(int dtype, int ndim, const int64_t *shape);

static inline bool mxl_array_is_meta(const mxl_array *array)
{
    return array->stype == MXL_META;
}

/* -1 with the error set, which begins with `what`, for an array whose values nobody can read: a
 * meta array has none, a batched one those of each example. */
int mxl_array_refuse_read(const char *what, const mxl_array *array);

/* A new contiguous array over a storage. Takes over the caller's reference to the storage, also on
 * failure. The storage must be large enough. */
mxl_array *mxl_array_over(mxl_storage *storage, int dtype, int ndim, const int64_t *shape);

/* A new array over the same bytes, without edge, leaf or base. */
mxl_array *mxl_array_alias(const mxl_array *array);

/* A new contiguous view with `shape`, `skip` elements after the start of `array`. The array must be
 * contiguous and contain the view. The view's base is the array's base, or the array if it has
 * none. */
mxl_array *mxl_array_view(mxl_array *array, int64_t skip, int ndim, const int64_t *shape);

/* The same of the `count` rows of the first axis from `begin` on, which the array has. */
mxl_array *mxl_array_rows(mxl_array *array, int64_t begin, int64_t count);

/* The same of one row, without the first axis. Steps along axes of one element stay as they are. */
mxl_array *mxl_array_row(mxl_array *array, int64_t index);

/* True if two dense arrays of one storage share a part of their bytes, and are not the same
 * elements in the same order. */
bool mxl_array_overlaps_partly(const mxl_array *a, const mxl_array *b);

/* Turns a view into an array without base that shares the memory. */
void mxl_array_release_base(mxl_array *view);

/* A new view with any strides, in elements; it must lie within the array. The base is that of
 * mxl_array_view. */
mxl_array *mxl_array_strided(mxl_array *array, int64_t skip, int ndim, const int64_t *shape,
                             const int64_t *strides);

/* Changes the strides of a new contiguous array: its axes lie in memory in the order of `order`,
 * the innermost first. */
void mxl_array_lay(mxl_array *array, const int *order);

/* Gives a none array its dtype and shape, and new storage; -1 with the array unchanged. */
int mxl_array_define(mxl_array *array, int dtype, int ndim, const int64_t *shape);

/* Moves dtype, shape and storage of `from` into a none array. The caller holds the only reference
 * to `from` and gives it up. */
void mxl_array_become(mxl_array *none, mxl_array *from);

/* Gives the array the shape, strides and offset of `view`, which has the same storage. -1 with the
 * array unchanged. */
int mxl_array_show_as(mxl_array *array, const mxl_array *view);

static inline void mxl_array_retain(mxl_array *array)
{
    mxl_ref_retain(&array->ref);
}

/* Releases one reference; NULL is legal. */
static inline void mxl_array_release(mxl_array *array)
{
    if (array != NULL)
        mxl_ref_release(&array->ref);
}

/* The address of the first element, for reading. */
__attribute__((always_inline)) static inline const void *mxl_array_read(const mxl_array *array)
{
    if (mxl_storage_waits(array->storage))
        mxl_storage_settle(array->storage, false);
    return (const char *)array->storage->data + array->offset;
}

/* The address of the first element, for writing: increments the storage's version. (Both are
 * inlined always: as a call this one cost a small operator 15 of its 1,050 instructions.) */
__attribute__((always_inline)) static inline void *mxl_array_write(mxl_array *array)
{
    if (mxl_storage_waits(array->storage))
        mxl_storage_settle(array->storage, true);
    mxl_storage_bump(array->storage);
    return (char *)array->storage->data + array->offset;
}

/* The address of the first element for a caller outside the library, who may read and write it at
 * any time. */
static inline void *mxl_array_address(mxl_array *array)
{
    mxl_storage_expose(array->storage);
    return (char *)array->storage->data + array->offset;
}

/* Callers check an array of a user before they write to it. -1 with the error set if the bytes are
 * read-only (another library's memory, whose owner does not expect changes or whose pages cannot be
 * written), or if a stride of 0 maps several elements to one address. */
int mxl_array_check_writable(const mxl_array *array);

/* True when no one else can see the bytes: the array and its storage have one reference each, and
 * the bytes are not foreign. */
static inline bool mxl_array_is_unique(const mxl_array *array)
{
    return mxl_ref_is_unique(&array->ref) && mxl_ref_is_unique(&array->storage->ref) &&
           array->storage->foreign == NULL;
}

static inline bool mxl_array_same_shape(const mxl_array *a, const mxl_array *b)
{
    return mxl_shape_same(a->ndim, a->shape, b->ndim, b->shape);
}

/* ---- the array in the graph; other threads may change it at any time ---- */

/* Allocates for mxl_array_set_leaf: a new leaf in *spare, or NULL if the array has one. -1 with the
 * error set. */
int mxl_array_reserve_leaf(mxl_array *array, mxl_leaf **spare);

/* Makes the array a variable, or changes its request and gradient buffer (kept, may be NULL), which
 * counts as not yet written. Removes the edge that the array had. Takes over `spare`. */
void mxl_array_set_leaf(mxl_array *array, mxl_grad_req req, mxl_array *grad, mxl_leaf *spare);

/* Changes a variable's request to add (`wanted`) or none. The gradient stays. */
void mxl_array_request(mxl_array *array, bool wanted);

/* Replaces a variable's gradient buffer (kept; NULL: none). */
void mxl_leaf_set_grad(mxl_leaf *leaf, mxl_array *grad);

/* Replaces the edge (its target is kept; a NULL target clears the edge). */
void mxl_array_set_edge(mxl_array *array, mxl_edge edge);

/* The same. Returns the reference to the old target; a caller that holds locks releases it later.
 */
mxl_ref *mxl_array_swap_edge(mxl_array *array, mxl_edge edge);

/* Clears the edge of a view whose base was edited; the next read makes a new one. */
void mxl_array_expire_edge(mxl_array *array);

/* A variable's leaf, or NULL. */
static inline mxl_leaf *mxl_array_leaf(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->leaf, memory_order_acquire);
}

static inline bool mxl_leaf_wants(mxl_leaf *leaf)
{
    return atomic_load_explicit(&leaf->req, memory_order_relaxed) != MXL_GRAD_NULL;
}

/* True when a recorded operator made the value; another thread may have changed it since. */
static inline bool mxl_array_has_target(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->target, memory_order_relaxed) !=
           NULL;
}

static inline uint64_t mxl_array_edge_version(const mxl_array *array)
{
    return atomic_load_explicit(&((mxl_array *)(size_t)array)->edge_version, memory_order_relaxed);
}

/* True for a variable that wants no gradient, and for an array recorded only from such variables
 * and constants. No gradient flows there, but unlike a constant's that was requested. */
static inline bool mxl_array_frozen(const mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    return leaf != NULL
               ? !mxl_leaf_wants(leaf)
               : atomic_load_explicit(&((mxl_array *)(size_t)array)->frozen, memory_order_relaxed);
}

/* Between lock and unlock the edge and its target stay the same. Release nothing in between. */
void mxl_array_wait_edge(mxl_array *array);

static inline void mxl_array_lock_edge(mxl_array *array)
{
    if (!mxl_single_thread()) /* with one thread, no locked instruction is needed */
        mxl_array_wait_edge(array);
}

/* The same without waiting: whether it is locked now. */
bool mxl_array_try_lock_edge(mxl_array *array);

static inline void mxl_array_unlock_edge(mxl_array *array)
{
    atomic_store_explicit(&array->edge_locked, false, memory_order_release);
}

/* The edge that a recorded operator, or unpacking, gave the array; borrowed. Call it between lock
 * and unlock. */
static inline mxl_edge mxl_array_given_edge(mxl_array *array)
{
    mxl_edge edge = {atomic_load_explicit(&array->target, memory_order_relaxed), array->output};

    return edge;
}

/* The edge of the array: itself when it is a variable that wants a gradient, else the edge of its
 * node, or none. The target is retained; the caller releases it. */
mxl_edge mxl_array_edge(mxl_array *array);

/* True when gradients of this array flow to `edge`. */
bool mxl_array_is_attached_to(mxl_array *array, mxl_edge edge);

void mxl_leaf_lock(mxl_leaf *leaf);
void mxl_leaf_unlock(mxl_leaf *leaf);

#endif
