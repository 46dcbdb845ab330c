/* Making, aliasing and releasing arrays. */
#include "array/array.h"

#include <string.h>

#include "array/batch/batched.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/threads.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

ALWAYS_INLINE void clear(mxl_array *array)
{
    mxl_leaf *leaf;

    if (array->storage != NULL)
        mxl_storage_release(array->storage);
    mxl_array_release(array->base);
    mxl_ref_release(atomic_load_explicit(&array->target, memory_order_relaxed));
    leaf = mxl_array_leaf(array);
    if (leaf != NULL) {
        mxl_array_release(leaf->grad);
        mxl_ref_release(atomic_load_explicit(&leaf->store, memory_order_acquire));
        mxl_free(leaf, sizeof(*leaf));
    }
    if (array->shape != array->dims)
        mxl_free(array->shape, 2 * sizeof(int64_t) * (size_t)array->ndim);
}

void mxl_array_clear(mxl_array *array)
{
    clear(array);
}

static void array_release(mxl_ref *ref)
{
    clear((mxl_array *)ref);
    mxl_free(ref, sizeof(mxl_array));
}

/* Field by field without the sizes, which the caller writes next: this is the hottest path. */
ALWAYS_INLINE void init(mxl_array *array, void (*release)(mxl_ref *))
{
    mxl_ref_init(&array->ref, release);
    array->storage = NULL;
    array->dtype = MXL_DTYPE_UNKNOWN;
    array->ndim = 0;
    array->contiguous = false;
    array->stype = MXL_STYPE_NONE;
    array->device = 0;
    array->size = 0;
    array->offset = 0;
    array->shape = array->dims;
    array->strides = array->dims;
    array->base = NULL;
    array->view_kind = MXL_VIEW_PLAIN;
    atomic_init(&array->edge_locked, false);
    atomic_init(&array->frozen, false);
    atomic_init(&array->target, NULL);
    array->output = 0;
    atomic_init(&array->edge_version, 0);
    atomic_init(&array->leaf, NULL);
}

void mxl_array_init(mxl_array *array, void (*release)(mxl_ref *))
{
    init(array, release);
}

static inline mxl_array *array_blank(void)
{
    mxl_array *array = mxl_alloc(sizeof(*array));

    if (array != NULL)
        init(array, array_release);
    return array;
}

/* Makes room for ndim sizes and strides. */
static inline int array_reserve(mxl_array *array, int ndim)
{
    if (ndim > MXL_INLINE_NDIM) {
        int64_t *block = mxl_alloc(2 * sizeof(int64_t) * (size_t)ndim);
        if (block == NULL)
            return -1;
        array->shape = block;
    }
    array->ndim = ndim;
    array->strides = array->shape + ndim;
    return 0;
}

/* Sets shape and row-major strides of a contiguous array with enough room. False if the number of
 * elements may overflow or a size may be negative; then mxl_shape_count decides. */
static inline bool array_fill_shape(mxl_array *array, int ndim, const int64_t *shape)
{
    int64_t *to = array->shape, stride = 1, bits = 0;

    for (int i = ndim - 1; i >= 0; i--) {
        int64_t extent = shape[i];

        to[i] = extent;
        to[ndim + i] = stride;
        stride = (int64_t)((uint64_t)stride * (uint64_t)extent);
        bits |= extent;
    }
    array->size = stride;
    array->contiguous = true;
    /* Up to four sizes below 2^14: their product is below 2^56; or 2^24, of a size_t of 32 bits. */
    return ndim <= MXL_INLINE_NDIM && (uint64_t)bits < UINT64_C(1) << (sizeof(size_t) < 8 ? 6 : 14);
}

/* Copies shape and strides to an array with room for them. */
static inline void copy_shape(mxl_array *to, const mxl_array *from)
{
    if (from->shape == from->dims)
        memcpy(to->dims, from->dims, sizeof(to->dims)); /* a fixed size needs no call */
    else
        memcpy(to->shape, from->shape, 2 * sizeof(int64_t) * (size_t)from->ndim);
}

mxl_array *mxl_array_new_none(void)
{
    return array_blank();
}

int mxl_array_define(mxl_array *array, int dtype, int ndim, const int64_t *shape)
{
    mxl_array *made = mxl_array_new(dtype, ndim, shape);

    if (made == NULL)
        return -1;
    mxl_array_become(array, made);
    return 0;
}

mxl_array *mxl_array_over(mxl_storage *storage, int dtype, int ndim, const int64_t *shape)
{
    mxl_array *array = array_blank();

    if (array == NULL) {
        mxl_storage_release(storage);
        return NULL;
    }
    array->storage = storage;
    array->stype = MXL_DENSE;
    array->dtype = dtype;
    if (array_reserve(array, ndim) != 0) {
        mxl_array_release(array);
        return NULL;
    }
    (void)array_fill_shape(array, ndim, shape);
    return array;
}

/* An array and its storage, which comes from `storage_new`. */
static inline mxl_array *array_with(mxl_storage *(*storage_new)(size_t), int dtype, int ndim,
                                    const int64_t *shape)
{
    mxl_array *array = array_blank();

    if (array == NULL)
        return NULL;
    array->dtype = dtype;
    array->stype = MXL_DENSE;
    if (array_reserve(array, ndim) != 0)
        goto failed;
    if (!array_fill_shape(array, ndim, shape)) {
        array->size = mxl_shape_count(ndim, shape);
        if (array->size < 0)
            goto failed;
    }
    array->storage = storage_new((size_t)array->size * mxl_dtype_size(dtype));
    if (array->storage != NULL)
        return array;
failed:
    mxl_array_release(array);
    return NULL;
}

mxl_array *mxl_array_new(int dtype, int ndim, const int64_t *shape)
{
    return array_with(mxl_storage_new, dtype, ndim, shape);
}

mxl_array *mxl_array_new_later(int dtype, int ndim, const int64_t *shape)
{
    return array_with(mxl_storage_new_later, dtype, ndim, shape);
}

mxl_array *mxl_array_new_meta(int dtype, int ndim, const int64_t *shape)
{
    int64_t sizes[MXL_MAX_NDIM] = {0};
    mxl_array *array;

    for (int i = 0; i < ndim; i++)
        sizes[i] = shape[i] < 0 ? 1 : shape[i];
    array = array_with(mxl_storage_new_meta, dtype, ndim, sizes);
    for (int i = 0; i < ndim && array != NULL; i++) {
        if (shape[i] < 0)
            array->size = array->shape[i] = MXL_UNKNOWN_SIZE;
    }
    return array;
}

mxl_array *mxl_array_zeros(int dtype, int ndim, const int64_t *shape)
{
    mxl_array *array = mxl_array_new(dtype, ndim, shape);

    if (array != NULL)
        mxl_storage_clear(array->storage);
    return array;
}

mxl_array *mxl_array_zeros_like(const mxl_array *array)
{
    return mxl_array_zeros(array->dtype, array->ndim, array->shape);
}

void mxl_array_become(mxl_array *none, mxl_array *from)
{
    bool inside = from->shape == from->dims;

    if (none->shape != none->dims)
        mxl_free(none->shape, 2 * sizeof(int64_t) * (size_t)none->ndim);
    if (inside)
        memcpy(none->dims, from->dims, sizeof(none->dims));
    none->shape = inside ? none->dims : from->shape;
    none->strides = none->shape + from->ndim;
    none->ndim = from->ndim;
    none->dtype = from->dtype;
    none->size = from->size;
    none->offset = from->offset;
    none->contiguous = from->contiguous;
    none->stype = from->stype;
    none->device = from->device;
    none->storage = from->storage;
    from->shape = from->dims;
    from->storage = NULL;
    mxl_array_release(from);
}

int mxl_array_show_as(mxl_array *array, const mxl_array *view)
{
    mxl_array *alias = mxl_array_alias(view);
    mxl_storage *storage = array->storage;

    if (alias == NULL)
        return -1;
    mxl_array_become(array, alias);
    mxl_storage_release(storage);
    return 0;
}

mxl_array *mxl_array_alias(const mxl_array *array)
{
    const mxl_batched *batched = mxl_batched_of(array, 0);
    mxl_array *alias;

    if (batched != NULL)
        return mxl_batched_like(batched, batched->whole, batched->has_axis);
    alias = array_blank();
    if (alias == NULL)
        return NULL;
    if (array_reserve(alias, array->ndim) != 0) {
        mxl_array_release(alias);
        return NULL;
    }
    copy_shape(alias, array);
    alias->dtype = array->dtype;
    alias->contiguous = array->contiguous;
    alias->stype = array->stype;
    alias->device = array->device;
    alias->size = array->size;
    alias->offset = array->offset;
    alias->storage = array->storage;
    if (alias->storage != NULL)
        mxl_ref_retain(&alias->storage->ref);
    return alias;
}

/* A new array over the same storage, `skip` elements further on, with room for ndim dimensions. */
static inline mxl_array *view_blank(mxl_array *array, int64_t skip, int ndim)
{
    mxl_array *view;

    if (mxl_batched_refuse("a view", array) != 0)
        return NULL;
    view = array_blank();
    if (view == NULL)
        return NULL;
    if (array_reserve(view, ndim) != 0) {
        mxl_array_release(view);
        return NULL;
    }
    view->dtype = array->dtype;
    view->stype = array->stype;
    view->device = array->device;
    view->offset = array->offset + skip * (int64_t)mxl_dtype_size(array->dtype);
    view->storage = array->storage;
    mxl_ref_retain(&view->storage->ref);
    atomic_init(&view->edge_version, mxl_storage_version(view->storage));
    view->base = array->base != NULL ? array->base : array;
    if (array->view_kind == MXL_VIEW_OF_FUNCTION)
        view->view_kind = MXL_VIEW_OF_FUNCTION;
    mxl_array_retain(view->base);
    return view;
}

void mxl_array_release_base(mxl_array *view)
{
    mxl_array_release(view->base);
    view->base = NULL;
    view->view_kind = MXL_VIEW_PLAIN;
}

mxl_array *mxl_array_view(mxl_array *array, int64_t skip, int ndim, const int64_t *shape)
{
    mxl_array *view = view_blank(array, skip, ndim);

    if (view != NULL)
        array_fill_shape(view, ndim, shape);
    return view;
}

/* Elements of a row of a contiguous array; 0 if the array has none. The stride of one row may be
 * anything. */
static inline int64_t row_size(const mxl_array *array)
{
    return array->size == 0 || array->shape[0] == 1 ? array->size : array->strides[0];
}

mxl_array *mxl_array_rows(mxl_array *array, int64_t begin, int64_t count)
{
    int64_t row = row_size(array);
    mxl_array *view = view_blank(array, begin * row, array->ndim);

    if (view == NULL)
        return NULL;
    copy_shape(view, array);
    view->shape[0] = count;
    view->size = count * row;
    view->contiguous = true;
    return view;
}

mxl_array *mxl_array_row(mxl_array *array, int64_t index)
{
    int ndim = array->ndim - 1;
    int64_t row = row_size(array);
    mxl_array *view = view_blank(array, index * row, ndim);

    if (view == NULL)
        return NULL;
    for (int i = 0; i < ndim; i++) {
        view->shape[i] = array->shape[i + 1];
        view->strides[i] = array->strides[i + 1];
    }
    view->size = row;
    view->contiguous = true;
    return view;
}

mxl_array *mxl_array_strided(mxl_array *array, int64_t skip, int ndim, const int64_t *shape,
                             const int64_t *strides)
{
    mxl_array *view = view_blank(array, skip, ndim);

    if (view == NULL)
        return NULL;
    array_fill_shape(view, ndim, shape);
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] > 1 && strides[i] != view->strides[i] && view->size > 0)
            view->contiguous = false;
        view->strides[i] = strides[i];
    }
    return view;
}

void mxl_array_lay(mxl_array *array, const int *order)
{
    int64_t stride = 1;

    for (int i = 0; i < array->ndim; i++) {
        int axis = order[i];

        if (array->shape[axis] > 1 && array->strides[axis] != stride)
            array->contiguous = false;
        array->strides[axis] = stride;
        stride *= array->shape[axis];
    }
}

int mxl_array_check_writable(const mxl_array *array)
{
    if (array->storage == NULL)
        return 0;
    if (mxl_storage_read_only(array->storage))
        return mxl_error("the array's memory may only be read; copy it first");
    if (mxl_storage_is_frozen(array->storage))
        return mxl_error("an inference array may only be edited in inference mode; edit a copy");
    for (int i = 0; i < array->ndim && !array->contiguous; i++) {
        if (array->strides[i] == 0 && array->shape[i] > 1 && array->size > 0)
            return mxl_error("elements of the array that would be written share memory; copy it "
                             "first");
    }
    return 0;
}

int mxl_array_reserve(mxl_array *array, int ndim)
{
    return array_reserve(array, ndim);
}

int mxl_array_reserve_leaf(mxl_array *array, mxl_leaf **spare)
{
    *spare = NULL;
    if (mxl_array_leaf(array) != NULL)
        return 0;
    *spare = mxl_alloc(sizeof(**spare));
    if (*spare == NULL)
        return -1;
    memset(*spare, 0, sizeof(**spare));
    atomic_flag_clear(&(*spare)->lock);
    return 0;
}

void mxl_array_set_leaf(mxl_array *array, mxl_grad_req req, mxl_array *grad, mxl_leaf *spare)
{
    mxl_edge nowhere = {NULL, 0};
    mxl_leaf *leaf = NULL;
    mxl_array *old;

    /* A leaf is complete before other threads can see it. If two threads mark at once, only one
     * brings a leaf. */
    if (spare != NULL) {
        atomic_store_explicit(&spare->req, req, memory_order_relaxed);
        if (atomic_compare_exchange_strong(&array->leaf, &leaf, spare))
            leaf = spare;
        else
            mxl_free(spare, sizeof(*spare));
    } else {
        leaf = mxl_array_leaf(array);
    }
    if (grad != NULL)
        mxl_array_retain(grad);
    mxl_leaf_lock(leaf);
    old = leaf->grad;
    leaf->grad = grad;
    atomic_store_explicit(&leaf->req, req, memory_order_relaxed);
    leaf->fresh = false;
    mxl_leaf_unlock(leaf);
    mxl_array_release(old);
    mxl_array_set_edge(array, nowhere);
}

void mxl_array_request(mxl_array *array, bool wanted)
{
    mxl_leaf *leaf = mxl_array_leaf(array);

    mxl_leaf_lock(leaf);
    if (wanted != mxl_leaf_wants(leaf))
        atomic_store_explicit(&leaf->req, wanted ? MXL_GRAD_ADD : MXL_GRAD_NULL,
                              memory_order_relaxed);
    mxl_leaf_unlock(leaf);
}

void mxl_leaf_set_grad(mxl_leaf *leaf, mxl_array *grad)
{
    mxl_array *old;

    if (grad != NULL)
        mxl_array_retain(grad);
    mxl_leaf_lock(leaf);
    old = leaf->grad;
    leaf->grad = grad;
    leaf->fresh = false;
    mxl_leaf_unlock(leaf);
    mxl_array_release(old);
}

void mxl_array_wait_edge(mxl_array *array)
{
    while (atomic_exchange_explicit(&array->edge_locked, true, memory_order_acquire))
        mxl_thread_yield();
}

bool mxl_array_try_lock_edge(mxl_array *array)
{
    return mxl_single_thread() ||
           !atomic_exchange_explicit(&array->edge_locked, true, memory_order_acquire);
}

mxl_ref *mxl_array_swap_edge(mxl_array *array, mxl_edge edge)
{
    uint64_t version = array->storage != NULL ? mxl_storage_version(array->storage) : 0;
    mxl_ref *old;

    if (edge.target != NULL)
        mxl_ref_retain(edge.target);
    mxl_array_lock_edge(array);
    old = atomic_load_explicit(&array->target, memory_order_relaxed);
    atomic_store_explicit(&array->target, edge.target, memory_order_relaxed);
    array->output = edge.output;
    atomic_store_explicit(&array->edge_version, version, memory_order_relaxed);
    mxl_array_unlock_edge(array);
    return old;
}

void mxl_array_expire_edge(mxl_array *array)
{
    mxl_edge nowhere = {NULL, 0};

    mxl_array_set_edge(array, nowhere);
    atomic_store_explicit(&array->edge_version, UINT64_MAX, memory_order_relaxed);
}

void mxl_array_set_edge(mxl_array *array, mxl_edge edge)
{
    mxl_ref_release(mxl_array_swap_edge(array, edge));
}

/* As mxl_array_edge under the lock, but the target is borrowed. */
static mxl_edge edge_now(mxl_array *array)
{
    mxl_leaf *leaf = mxl_array_leaf(array);
    mxl_edge leaf_edge = {NULL, MXL_PLACE_LEAF};

    if (leaf == NULL || !mxl_leaf_wants(leaf))
        return mxl_array_given_edge(
            array); /* a variable that wants no gradient has none, except for edits in place */
    leaf_edge.target = &array->ref;
    return leaf_edge;
}

mxl_edge mxl_array_edge(mxl_array *array)
{
    mxl_edge edge;

    mxl_array_lock_edge(array);
    edge = edge_now(array);
    if (edge.target != NULL)
        mxl_ref_retain(edge.target);
    mxl_array_unlock_edge(array);
    return edge;
}

bool mxl_array_is_attached_to(mxl_array *array, mxl_edge edge)
{
    mxl_edge now;

    mxl_array_lock_edge(array);
    now = edge_now(array);
    mxl_array_unlock_edge(array);
    return now.target == edge.target && now.output == edge.output;
}

void mxl_leaf_lock(mxl_leaf *leaf)
{
    while (atomic_flag_test_and_set_explicit(&leaf->lock, memory_order_acquire))
        mxl_thread_yield();
}

void mxl_leaf_unlock(mxl_leaf *leaf)
{
    atomic_flag_clear_explicit(&leaf->lock, memory_order_release);
}

/* ---- memory ---- */

/* The number of bytes of a dense array; 0 where its elements leave gaps or repeat. */
static int64_t dense_bytes(const mxl_array *array)
{
    int64_t span = array->size > 0;

    for (int i = 0; i < array->ndim && span > 0; i++) {
        if (array->strides[i] < 0)
            return 0;
        span += (array->shape[i] - 1) * array->strides[i];
    }
    return span == array->size ? span * (int64_t)mxl_dtype_size(array->dtype) : 0;
}

bool mxl_array_overlaps_partly(const mxl_array *a, const mxl_array *b)
{
    int64_t of_a = dense_bytes(a), of_b = dense_bytes(b);

    if (a->storage == NULL || a->storage != b->storage || of_a <= 0 || of_b <= 0)
        return false;
    if (a->offset == b->offset && of_a == of_b) {
        for (int i = 0; i < a->ndim; i++) {
            if (a->ndim != b->ndim || (a->shape[i] > 1 && a->strides[i] != b->strides[i]))
                return true;
        }
        return false;
    }
    return a->offset < b->offset + of_b && b->offset < a->offset + of_a;
}
