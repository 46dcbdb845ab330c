/* Key-value stores of one process: arrays by key. What is pushed to a key is summed; the sum
 * replaces the array, or goes to the caller's updater with it. Called by api/kvstore. */
#ifndef MXL_KVSTORE_STORE_H
#define MXL_KVSTORE_STORE_H

#include "array/array.h"
#include "base/ref.h"
#include "base/system/threads.h"

/* Keys of a call: numbers, or names (then `number` is NULL). */
typedef struct mxl_store_keys {
    uint32_t count;
    const int *number;
    const char *const *name;
} mxl_store_keys;

/* An array of a store. `number` is its key, or for a name how many names came before it. */
typedef struct mxl_store_item {
    mxl_ref ref;
    int number;
    mxl_array *value; /* kept; guarded by the store's lock */
    size_t bytes;
    char name[]; /* empty if the keys are numbers */
} mxl_store_item;

/* The caller's functions that change a stored array by what is pushed, of the types that the public
 * header names; NULL: none. */
typedef struct mxl_store_updater {
    void (*of_number)(void);
    void (*of_name)(void);
    void *payload;
} mxl_store_updater;

typedef struct mxl_store {
    mxl_ref ref;
    mxl_mutex lock;        /* never held during a call of the caller's function */
    mxl_store_item **item; /* kept, in the order of keys */
    uint32_t count, room;
    int numbers; /* how many names have been numbered */
    bool named;  /* the keys are names; once there is an item */
    mxl_store_updater updater;
    char type[64];
} mxl_store;

/* What a push brings to one key. */
typedef struct mxl_store_sum {
    mxl_store_item *item; /* kept */
    mxl_array *sum;       /* kept: an alias of the pushed array if there is one, else a new array */
} mxl_store_sum;

typedef struct mxl_store_sums {
    uint32_t count, room;
    mxl_store_sum *list; /* in the order of the items' numbers */
} mxl_store_sums;

/* A store of a type as 1.9.1 names them, which is put in lower case: every name makes a store of
 * this process, but those of stores of several machines, GPUs or other libraries. NULL with the
 * error set. */
mxl_store *mxl_store_new(const char *type);

/* Stores copies of arrays under new keys: all of them, or none with -1 and the error set. */
int mxl_store_init(mxl_store *store, mxl_store_keys keys, mxl_array *const *values);

/* Removes keys that mxl_store_init has just added. */
void mxl_store_remove(mxl_store *store, mxl_store_keys keys);

/* The sums of arrays by key; mxl_store_sums_clear frees them. -1 with the error set, and nothing to
 * free. */
int mxl_store_add_up(mxl_store *store, mxl_store_keys keys, mxl_array *const *values,
                     mxl_store_sums *sums);
void mxl_store_sums_clear(mxl_store_sums *sums);

/* The sums take the place of the stored arrays, whose shapes they must have: all, or none with -1
 * and the error set. */
int mxl_store_replace(mxl_store *store, mxl_store_sums *sums);

/* An alias of an item's array; new, NULL with the error set. */
mxl_array *mxl_store_value(mxl_store *store, const mxl_store_item *item);

/* Copies stored arrays into others, in their dtypes. -1 with the error set; what can be wrong is
 * checked before anything is written. */
int mxl_store_pull(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs);

/* The same of some rows of row_sparse arrays, into such ones: those whose numbers are in row_ids,
 * arrays of any shape. */
int mxl_store_pull_rows(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs,
                        mxl_array *const *row_ids);

/* The updater that is set, and setting it. */
mxl_store_updater mxl_store_get_updater(mxl_store *store);
void mxl_store_set_updater(mxl_store *store, mxl_store_updater updater);

/* Does the checks of mxl_store_pull alone. */
int mxl_store_check_pull(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs);

#endif
