/* Arrays: dtype, shape, strides and offset over a storage; and where the array stands in the graph.
 * Everything above this layer deals in mxl_array pointers, everything below in raw memory. */
#ifndef MXL_ARRAY_ARRAY_H
#define MXL_ARRAY_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "array/storage.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"

enum { MXL_INLINE_NDIM = 4 };

typedef struct mxl_array mxl_array;

/* What a gradient flows to: output `output` of a node, or a variable (then `target` is the array
 * itself and `output` is MXL_PLACE_LEAF). target NULL: nowhere, a constant. */
typedef struct mxl_place {
    mxl_ref *target;
    int output;
} mxl_place;

enum { MXL_PLACE_LEAF = -1 };

/* How gradients reach a variable; numbers as in MXNet's OpReqType. */
typedef enum mxl_grad_req { MXL_GRAD_NULL = 0, MXL_GRAD_WRITE = 1, MXL_GRAD_ADD = 3 } mxl_grad_req;

/* What makes an array a variable. Belongs to its array; `lock` guards grad and fresh. */
typedef struct mxl_leaf {
    atomic_flag lock;
    mxl_grad_req req;
    bool fresh;      /* a backward has written the gradient since the caller last cleared this */
    mxl_array *grad; /* kept; NULL: wants a gradient and has no buffer for it yet */
} mxl_leaf;

struct mxl_array {
    mxl_ref ref;
    mxl_storage *storage; /* kept; NULL: an array that has no shape yet ("none") */
    int dtype;
    int ndim;
    bool contiguous; /* rows follow each other without gaps */
    int64_t size;    /* elements */
    int64_t offset;  /* bytes from the storage's data */
    int64_t *shape;  /* [ndim], then strides in elements, in one piece: dims or a block */
    int64_t *strides;
    mxl_array *base;        /* kept; of a view: the array it is a view of (never a view itself) */
    mxl_place place;        /* target kept; the recorded operator that made the value */
    uint64_t place_version; /* the storage's version when the place, or the view, was made */
    mxl_leaf *leaf;         /* owned; of a variable */
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

/* Gives a none array its dtype and shape, and fresh storage; -1 with the array unchanged. */
int mxl_array_define(mxl_array *array, int dtype, int ndim, const int64_t *shape);

/* A none array takes over dtype, shape and storage of `from`, whose only reference the caller gives
 * up. */
void mxl_array_become(mxl_array *none, mxl_array *from);

static inline void mxl_array_keep(mxl_array *array)
{
    mxl_ref_keep(&array->ref);
}

/* Drops a reference; NULL is legal. */
static inline void mxl_array_drop(mxl_array *array)
{
    if (array != NULL)
        mxl_ref_drop(&array->ref);
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

/* Whether nobody else can see the bytes: one holder of the array, one of the storage, and they are
 * nobody else's. */
static inline bool mxl_array_alone(const mxl_array *array)
{
    return mxl_ref_alone(&array->ref) && mxl_ref_alone(&array->storage->ref) &&
           array->storage->foreign == NULL;
}

static inline bool mxl_array_same_shape(const mxl_array *a, const mxl_array *b)
{
    return mxl_shape_same(a->ndim, a->shape, b->ndim, b->shape);
}

/* What mxl_array_set_leaf will need: a new leaf in *spare, or NULL where the array has one. -1 with
 * the error set. */
int mxl_array_reserve_leaf(mxl_array *array, mxl_leaf **spare);

/* Makes the array a variable (or changes it): request and gradient buffer (kept, may be NULL),
 * which no backward has written. Its place, if it had one, is dropped. Takes over `spare`. */
void mxl_array_set_leaf(mxl_array *array, mxl_grad_req req, mxl_array *grad, mxl_leaf *spare);

/* Replaces the place (the target is kept; NULL target clears). */
void mxl_array_set_place(mxl_array *array, mxl_place place);

/* Where a gradient of this array goes: itself when it is a variable that wants one, else its place.
 * Borrowed. */
static inline mxl_place mxl_array_place(mxl_array *array)
{
    if (array->leaf != NULL) {
        mxl_place leaf = {array->leaf->req == MXL_GRAD_NULL ? NULL : &array->ref, MXL_PLACE_LEAF};
        return leaf;
    }
    return array->place;
}

void mxl_leaf_lock(mxl_leaf *leaf);
void mxl_leaf_unlock(mxl_leaf *leaf);

#endif
