/* The registry: names and aliases of all families -> operators. Built by the first lookup, kept for
 * the process, read without a lock. Adding operators puts a larger table in its place; the old one
 * stays, since lists of its names may be with callers. */
#include "op/op.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/probe.h"
#include "base/env.h"
#include "base/text/near.h"
#include "base/state.h"
#include "kernel/target.h"

typedef struct entry {
    const char *name; /* NULL: free */
    int number;
} entry;

/* One allocation. */
typedef struct table {
    const struct table *older; /* the one whose place it took */
    size_t mask;               /* slots - 1 */
    int ops;
    int names;
    entry *slot;
    const mxl_op **op; /* by number */
    const char **name; /* public names, sorted */
} table;

static const mxl_op *const *const no_families[] = {NULL};
static const mxl_op *const *const *families = no_families;
static _Atomic(table *) registry;

void mxl_registry_begin(const mxl_op *const *const *list)
{
    families = list;
}

static const char *const no_aliases[] = {NULL};

static const char *const *aliases(const mxl_op *op)
{
    return op->aliases != NULL ? op->aliases : no_aliases;
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The slot of the name, or the free slot where it would be inserted. */
static entry *find_slot(const table *t, const char *name)
{
    size_t at = (size_t)hash_name(name) & t->mask;

    while (t->slot[at].name != NULL && strcmp(t->slot[at].name, name) != 0)
        at = (at + 1) & t->mask;
    return &t->slot[at];
}

static int add_name(table *t, const char *name, int number)
{
    entry *slot = find_slot(t, name);

    if (slot->name != NULL)
        return mxl_error("operator registry: the name %s is listed twice", name);
    slot->name = name;
    slot->number = number;
    if (strncmp(name, "_mxl_", 5) != 0)
        t->name[t->names++] = name;
    return 0;
}

static int add_op(table *t, const mxl_op *op)
{
    int number = t->ops++;

    t->op[number] = op;
    if (add_name(t, op->name, number) != 0)
        return -1;
    for (const char *const *alias = aliases(op); *alias != NULL; alias++)
        if (add_name(t, *alias, number) != 0)
            return -1;
    return op->numpy_name != NULL ? add_name(t, op->numpy_name, number) : 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static table *new_table(size_t ops, size_t names)
{
    size_t slots = 64, bytes;
    table *t;

    while (slots < names * 2)
        slots *= 2;
    bytes = sizeof *t + slots * sizeof *t->slot + ops * sizeof *t->op + names * sizeof *t->name;
    /* Not from base/mem: the table would count as live memory for the whole process. */
    t = mxl_state_system_memory(bytes);
    if (t == NULL) {
        mxl_error_memory(bytes);
        return NULL;
    }
    t->mask = slots - 1;
    t->slot = (entry *)(t + 1);
    t->op = (const mxl_op **)(t->slot + slots);
    t->name = (const char **)(t->op + ops);
    return t;
}

static table *new_table_of_families(void)
{
    size_t ops = 0, names = 0;

    for (const mxl_op *const *const *family = families; *family != NULL; family++)
        for (const mxl_op *const *op = *family; *op != NULL; op++) {
            ops++;
            names += (*op)->numpy_name != NULL ? 2 : 1;
            for (const char *const *alias = aliases(*op); *alias != NULL; alias++)
                names++;
        }
    return new_table(ops, names);
}

static table *build(void)
{
    table *t = new_table_of_families();

    if (t == NULL)
        return NULL;
    for (const mxl_op *const *const *family = families; *family != NULL; family++)
        for (const mxl_op *const *op = *family; *op != NULL; op++)
            if (add_op(t, *op) != 0) {
                free(t);
                return NULL;
            }
    if (t->names > 0)
        qsort(t->name, (size_t)t->names, sizeof *t->name, compare_names);
    return t;
}

/* Fails if an environment variable asks for something unavailable: then no operator runs. */
static int check_environment(void)
{
    static const char threads[] = "a number of threads";
    bool allowed;

    if (mxl_level_check() != 0 || mxl_probe_allowed("openblas", &allowed) != 0 ||
        mxl_env_check("MXLITE_NUM_THREADS", threads) != 0 ||
        mxl_env_check("OMP_NUM_THREADS", threads) != 0 ||
        mxl_env_check("MXLITE_POOL_MB", "a number of megabytes") != 0 ||
        mxl_env_check("MXLITE_DEFER", "a number of elements") != 0 ||
        mxl_env_check("MXLITE_WINOGRAD", "0 or 1") != 0 ||
        mxl_env_check("MXNET_BACKWARD_DO_MIRROR", "0 or 1") != 0 ||
        mxl_env_check_flag("MXNET_STORAGE_FALLBACK_LOG_VERBOSE") != 0)
        return -1;
    return 0;
}

/* The table, built if there is none yet. NULL with the error set; then the next call tries again.
 */
static const table *get(void)
{
    table *t = atomic_load_explicit(&registry, memory_order_acquire), *none = NULL;

    if (t != NULL)
        return t;
    t = check_environment() == 0 ? build() : NULL;
    if (t == NULL)
        return NULL;
    /* Without a lock, which a fork could leave locked: if two threads build at the same time, one
     * discards its table. */
    if (!atomic_compare_exchange_strong(&registry, &none, t)) {
        free(t);
        t = none;
    }
    return t;
}

/* What the error of an unknown operator says of a build that lacks parts (mk/parts.mk). */
#ifdef MXL_ABSENT
static const char lacks_parts[] =
    "; this build is without " MXL_ABSENT "; " MXL_HELP("from-c") " says more";
#else
static const char lacks_parts[] = "";
#endif

/* NULL with the error set. Names that begin with _ are offered for such names alone. */
static const mxl_op *not_found(const table *t, const char *name)
{
    mxl_near near;

    mxl_near_begin(&near, name);
    for (int i = 0; i < t->names; i++)
        if ((t->name[i][0] != '_' || name[0] == '_') &&
            t->op[find_slot(t, t->name[i])->number]->refused == NULL)
            mxl_near_offer(&near, t->name[i]);
    return mxl_error_null("operator %.100s is not registered%s%s", name, mxl_near_text(&near),
                          lacks_parts);
}

const mxl_op *mxl_op_find(const char *name)
{
    const table *t = get();
    const entry *slot;

    if (t == NULL)
        return NULL;
    if (name == NULL)
        return mxl_error_null("operator name: NULL where a name was expected");
    slot = find_slot(t, name);
    if (slot->name == NULL)
        return not_found(t, name);
    return t->op[slot->number];
}

bool mxl_op_is_numpys(const mxl_op *op, const char *name)
{
    return op->numpy_name != NULL && strncmp(name, "_np", 3) == 0;
}

const mxl_op *mxl_op_at(int number)
{
    const table *t = get();

    return t != NULL && number >= 0 && number < t->ops ? t->op[number] : NULL;
}

int mxl_op_number(const mxl_op *op)
{
    const table *t = get();
    const entry *slot;

    if (t == NULL)
        return -1;
    slot = find_slot(t, op->name);
    return slot->name != NULL && t->op[slot->number] == op ? slot->number : -1;
}

int mxl_op_count(void)
{
    const table *t = get();

    return t != NULL ? t->ops : 0;
}

int mxl_op_names(const char *const **names)
{
    const table *t = get();

    if (t == NULL)
        return -1;
    *names = t->name;
    return t->names;
}

/* A larger table with the entries of `old`, and room for further operators. */
static table *grown(const table *old, int count)
{
    size_t names = 0;
    table *t;

    for (size_t i = 0; i <= old->mask; i++)
        names += old->slot[i].name != NULL;
    t = new_table((size_t)old->ops + (size_t)count, names + (size_t)count);
    if (t == NULL)
        return NULL;
    for (size_t i = 0; i <= old->mask; i++)
        if (old->slot[i].name != NULL)
            *find_slot(t, old->slot[i].name) = old->slot[i];
    memcpy(t->op, old->op, (size_t)old->ops * sizeof *t->op);
    memcpy(t->name, old->name, (size_t)old->names * sizeof *t->name);
    t->older = old;
    t->ops = old->ops;
    t->names = old->names;
    return t;
}

int mxl_op_add(int count, const mxl_op *const *ops)
{
    const table *old;
    table *t, *there;

    do {
        old = get();
        if (old == NULL)
            return -1;
        if (count > MXL_OPS_MOST - old->ops)
            return mxl_error("operator registry: %d operators are too many, there may be %d", count,
                             MXL_OPS_MOST);
        t = grown(old, count);
        if (t == NULL)
            return -1;
        for (int i = 0; i < count; i++) {
            if (find_slot(t, ops[i]->name)->name != NULL) {
                free(t);
                return mxl_error("%s: there is an operator of that name already", ops[i]->name);
            }
            if (add_op(t, ops[i]) != 0) {
                free(t);
                return -1;
            }
        }
        qsort(t->name, (size_t)t->names, sizeof *t->name, compare_names);
        there = (table *)(uintptr_t)old;
        if (atomic_compare_exchange_strong(&registry, &there, t))
            return 0;
        free(t);
    } while (true);
}
