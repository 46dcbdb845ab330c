/* Deferred calls: made, run, dropped; see expression.h.
 *
 * One lock guards what waits. It is free while loops run: their expressions are marked as running,
 * and another thread that needs one of them sleeps until it has ended. */
#include "array/expression.h"

#include <stdlib.h>
#include <string.h>

#include "array/pass.h"
#include "array/remake.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/memory/mem.h"
#include "base/state.h"
#include "base/system/threads.h"

/* Bytes of results that may wait in all, so that results that nobody reads do not keep their inputs
 * without end. */
static const int64_t most_bytes = INT64_C(1) << 30;

/* Reductions, and other takers, that may wait in all. What they read dies within a few calls or not
 * at all, while the inputs of what makes it are kept: a list of losses that nobody reads would keep
 * all batches. */
enum { MOST_TAKERS = 4 };

static mxl_mutex lock = MXL_MUTEX_INIT;
static mxl_cond ended = MXL_COND_INIT;

/* Under the lock. */
static mxl_expression *waiting;
static int64_t waiting_bytes;
static int passes; /* that run now */
static uint64_t numbers;
static mxl_expression *takers[MOST_TAKERS]; /* that wait, the oldest first */
static int num_takers;

static _Thread_local bool is_running MXL_TLS_FAST; /* this thread runs a pass */

/* ---- making ---- */

enum { DEFER_LEAST = 20000 };

int64_t mxl_defer_least = DEFER_LEAST;

static bool run_before_failure(void);
static void fork_prepare(void);
static void fork_done(void);
static void fork_child(void);

/* When the library is loaded, before there can be a second thread. */
__attribute__((constructor)) static void start(void)
{
    const char *type = getenv("MXNET_ENGINE_TYPE");

    mxl_defer_least = mxl_env_number("MXLITE_DEFER", DEFER_LEAST);
    if (mxl_defer_least == 0 || (type != NULL && strcmp(type, "NaiveEngine") == 0))
        mxl_defer_least = INT64_MAX;
    mxl_mem_set_last_resort(run_before_failure);
    mxl_fork_guard(MXL_FORK_EXPRESSIONS, fork_prepare, fork_done, fork_child);
}

bool mxl_defers_here(void)
{
    const mxl_state *state = mxl_state_get();

    return state->bulk_size > 1 && state->anomaly == 0;
}

static void held_note(mxl_extra *extra)
{
    atomic_store_explicit(&extra->waits,
                          extra->maker != NULL || extra->readers != NULL ||
                              atomic_load_explicit(&extra->again, memory_order_acquire) != NULL,
                          memory_order_release);
}

void mxl_storage_note(mxl_storage *storage)
{
    mxl_mutex_lock(&lock);
    held_note(mxl_extra_of(storage));
    mxl_mutex_unlock(&lock);
}

/* Whether later changes of the bytes would all be seen. */
static bool is_private(mxl_storage *storage)
{
    mxl_extra *extra = mxl_extra_of(storage);

    return storage->foreign == NULL &&
           (extra == NULL || !atomic_load_explicit(&extra->exposed, memory_order_relaxed));
}

/* Describes an operand: a number, contiguous, or one with strides. False: it is none of these. */
static bool operand_lies(mxl_operand *o, const mxl_array *in, const mxl_array *out)
{
    int64_t strides[MXL_MAX_NDIM];
    int lead = out->ndim - in->ndim;

    o->storage = in->storage;
    o->offset = in->offset;
    o->is_strided = !(in->contiguous && in->size == out->size);
    if (!o->is_strided)
        return true;
    if (in->size == 1) {
        memcpy(o->number, mxl_array_read(in), mxl_dtype_size(in->dtype));
        o->storage = NULL;
        return true;
    }
    for (int axis = 0; axis < out->ndim; axis++) {
        int from = axis - lead;

        strides[axis] = from < 0 || in->shape[from] == 1 ? 0 : in->strides[from];
        if (strides[axis] != 0 && in->shape[from] != out->shape[axis])
            return false;
    }
    return lead >= 0 && mxl_strided_init(&o->strided, out->ndim, out->shape, strides) &&
           mxl_dtype_size(in->dtype) == mxl_dtype_size(out->dtype);
}

/* Whether the array is the storage's only use of its bytes, and no caller has their address. */
static bool is_whole(const mxl_array *array)
{
    return array->contiguous && array->offset == 0 &&
           array->storage->bytes == (size_t)array->size * mxl_dtype_size(array->dtype) &&
           is_private(array->storage);
}

/* Describes the operands. False: one cannot be read later. */
static bool operands_lie(mxl_expression *e, const mxl_deferral *call)
{
    int strided = 0, own = 0;

    for (int i = 0; i < call->num_in; i++) {
        mxl_operand *o = &e->in[i];

        o->reader = e;
        if (!is_private(call->in[i]->storage))
            return false;
        mxl_remake_settle(call->in[i]->storage);
        if (call->reduces)
            *o = (mxl_operand){.reader = e, .storage = call->in[i]->storage};
        else if (!operand_lies(o, call->in[i], call->out))
            return false;
        if (o->storage == NULL)
            continue;
        if (o->storage == e->target && (o->is_strided || o->offset != 0))
            return false;
        strided += o->is_strided;
        own += o->storage == e->target;
        if (o->is_strided)
            (void)mxl_array_read(call->in[i]);
    }
    return strided == 0 || (strided == 1 && own == 0);
}

/* Whether a reduction may take the tiles of what makes its input, and gains. What a single loop
 * makes of few elements stays in the second-level cache, where it may as well be stored: the mean
 * of each row of (a * b) took 1.15 times as long with 100,000 elements, and half as long with
 * 1,000,000. */
static bool takes_from(const mxl_expression *e, const mxl_expression *maker)
{
    return !maker->edits && (maker->length > 1 || e->n / 4 >= mxl_defer_least);
}

/* Makes the extras of what the expression reads and makes: nothing is allocated under the lock.
 * False: there is no memory. */
static bool reserve_extras(const mxl_expression *e)
{
    bool done = mxl_storage_extra(e->target) != NULL;

    for (int i = 0; i < e->num_in && done; i++)
        done = e->in[i].storage == NULL || mxl_storage_extra(e->in[i].storage) != NULL;
    return done;
}

/* Whether the operand's bytes are there, or come from an expression that can run in one pass with
 * this one. */
static bool held_reads(mxl_expression *e, const mxl_operand *o)
{
    const mxl_expression *maker = mxl_extra_of(o->storage)->maker;

    if (maker == NULL)
        return e->taker == NULL;
    if (maker->n != e->n || o->offset != 0 || maker->out_size != e->in_size || o->is_strided ||
        maker->running || maker->taker != NULL || (e->taker != NULL && !takes_from(e, maker)))
        return false;
    e->edits = e->edits || maker->edits;
    e->length += maker->length;
    return e->length <= mxl_state_get()->bulk_size;
}

static void held_forget_taker(const mxl_expression *e)
{
    int kept = 0;

    for (int i = 0; i < num_takers; i++) {
        if (takers[i] != e)
            takers[kept++] = takers[i];
    }
    num_takers = kept;
}

static void held_attach(mxl_expression *e)
{
    mxl_extra *extra = mxl_extra_of(e->target);

    extra->maker = e;
    mxl_left_held_weigh(e->target);
    held_note(extra);
    for (int i = 0; i < e->num_in; i++) {
        mxl_operand *o = &e->in[i];

        if (o->storage == NULL || o->storage == e->target)
            continue;
        mxl_ref_retain(&o->storage->ref);
        extra = mxl_extra_of(o->storage);
        o->next = extra->readers;
        o->link = &extra->readers;
        if (o->next != NULL)
            o->next->link = &o->next;
        extra->readers = o;
        extra->num_readers++;
        held_note(extra);
    }
    e->next = waiting;
    e->link = &waiting;
    if (waiting != NULL)
        waiting->link = &e->next;
    waiting = e;
    if (e->taker != NULL) {
        takers[num_takers++] = e;
        mxl_left_held_add((int64_t)e->bytes);
    }
    waiting_bytes += e->made;
}

/* Takes the expression out of all lists; its operands' storages are still kept. Another thread may
 * free the target as soon as it does not wait. */
static void held_detach(mxl_expression *e)
{
    mxl_extra *extra = mxl_extra_of(e->target);

    extra->maker = NULL;
    mxl_left_held_weigh(e->target);
    held_note(extra);
    for (int i = 0; i < e->num_in; i++) {
        mxl_operand *o = &e->in[i];

        if (o->storage == NULL || o->storage == e->target)
            continue;
        *o->link = o->next;
        if (o->next != NULL)
            o->next->link = o->link;
        mxl_extra_of(o->storage)->num_readers--;
        mxl_left_held_weigh(o->storage);
        held_note(mxl_extra_of(o->storage));
    }
    *e->link = e->next;
    if (e->next != NULL)
        e->next->link = e->link;
    if (e->taker != NULL) {
        held_forget_taker(e);
        mxl_left_held_add(-(int64_t)e->bytes);
    }
    waiting_bytes -= e->made;
}

static void expression_free(mxl_expression *e)
{
    for (int i = 0; i < e->num_in; i++) {
        if (e->in[i].storage != NULL && e->in[i].storage != e->target)
            mxl_ref_release(&e->in[i].storage->ref);
    }
    mxl_free(e, e->bytes);
}

static mxl_expression *expression_new(const mxl_deferral *call)
{
    size_t head = sizeof(mxl_expression) + (size_t)call->num_in * sizeof(mxl_operand);
    size_t room = (head + 15) & ~(size_t)15;
    mxl_expression *e = mxl_alloc(room + call->params_bytes);

    if (e == NULL)
        return NULL;
    e->target = call->out->storage;
    e->row = call->row;
    e->opcode = call->opcode;
    e->name = call->name;
    e->weight = call->weight < 1 ? 1 : call->weight;
    e->length = 1;
    e->edits = false;
    e->num_in = call->num_in;
    e->one_dtype = call->in[0]->dtype == call->out->dtype;
    e->in_size = mxl_dtype_size(call->in[0]->dtype);
    e->out_size = mxl_dtype_size(call->out->dtype);
    e->n = call->reduces ? call->in[0]->size : call->out->size;
    e->made = (int64_t)e->target->bytes;
    e->bytes = room + call->params_bytes;
    e->running = false;
    e->rank = -1;
    e->params = (char *)e + room;
    e->taker = call->reduces ? e->params : NULL;
    if (call->params_bytes > 0)
        call->copy_params(call->op, e->params, call->params);
    return e;
}

static void held_run_with(mxl_expression *e);

/* Runs what frees the memory that was left to expressions first, until little is. */
static void held_make_room(void)
{
    mxl_expression *holder;

    while (mxl_left_held_too_much()) {
        holder = mxl_left_held_holder();
        if (holder == NULL && num_takers > 0)
            holder = takers[0];
        if (holder == NULL)
            return;
        held_run_with(holder);
    }
}

/* Runs what takes tiles and makes bytes that a new expression reads or replaces. */
static void held_run_takers(const mxl_expression *e)
{
    for (int i = -1; i < e->num_in; i++) {
        mxl_storage *storage = i < 0 ? e->target : e->in[i].storage;
        const mxl_extra *extra = storage == NULL ? NULL : mxl_extra_of(storage);

        while (extra != NULL && extra->maker != NULL && extra->maker->taker != NULL)
            held_run_with(extra->maker);
    }
}

/* Whether the target's bytes may be overwritten in one pass with what still reads them. */
static bool held_replaces(mxl_expression *e)
{
    const mxl_extra *extra = mxl_extra_of(e->target);

    if (extra->maker != NULL)
        return false;
    for (const mxl_operand *o = extra->readers; o != NULL; o = o->next) {
        if (o->is_strided || o->reader->n != e->n || o->reader->in_size != e->out_size ||
            o->reader->running || o->reader->taker != NULL || e->taker != NULL)
            return false;
        e->length += o->reader->length;
        e->edits = true;
    }
    for (int i = 0; i < e->num_in; i++)
        e->edits = e->edits || e->in[i].storage == e->target;
    return e->length <= mxl_state_get()->bulk_size;
}

/* Whether others read the bytes that a new expression replaces. It runs at once then, with them:
 * the target could otherwise keep itself alive through what they make. */
static bool held_has_old_readers(const mxl_expression *e)
{
    for (const mxl_operand *o = mxl_extra_of(e->target)->readers; o != NULL; o = o->next) {
        if (o->reader->number < e->number)
            return true;
    }
    return false;
}

/* Whether nothing reads the target's old bytes. */
static bool held_makes_all(const mxl_expression *e)
{
    bool reads = mxl_extra_of(e->target)->readers != NULL;

    for (int i = 0; i < e->num_in; i++)
        reads = reads || e->in[i].storage == e->target;
    return !reads;
}

static bool held_defer(mxl_expression *e, const mxl_deferral *call)
{
    if (waiting_bytes + e->made > most_bytes || !held_replaces(e))
        return false;
    for (int i = 0; i < call->num_in; i++) {
        if (e->in[i].storage != NULL && !held_reads(e, &e->in[i]))
            return false;
    }
    e->number = ++numbers;
    if (call->is_new && e->target->bytes >= MXL_LATER_BYTES && held_makes_all(e))
        mxl_storage_reserve(e->target);
    held_attach(e);
    return true;
}

bool mxl_defer(const mxl_deferral *call)
{
    bool done, edits = false;
    mxl_expression *e;

    if (!is_whole(call->out))
        return false;
    mxl_remake_settle(call->out->storage);
    e = expression_new(call);
    if (e == NULL)
        return false;
    done = operands_lie(e, call) && reserve_extras(e);
    if (done) {
        mxl_mutex_lock(&lock);
        while (e->taker != NULL && num_takers == MOST_TAKERS)
            held_run_with(takers[0]);
        held_run_takers(e);
        done = held_defer(e, call);
        edits = done && held_has_old_readers(e);
        if (done && !edits && !mxl_extra_of(e->target)->reserved)
            held_make_room(); /* may run the expression itself */
        mxl_mutex_unlock(&lock);
    }
    if (!done) {
        mxl_free(e, e->bytes);
        return false;
    }
    if (edits)
        mxl_storage_settle(call->out->storage, false);
    mxl_storage_bump(call->out->storage);
    return true;
}

/* ---- running ---- */

/* Runs one pass. The lock is free meanwhile, and when what was read is released. A pass that runs
 * because an allocation failed is not measured: the profiler may have asked for the memory. */
static void held_run(mxl_pass *p)
{
    bool nested = is_running;

    mxl_pass_held_plan(p);
    passes++;
    is_running = true;
    mxl_mutex_unlock(&lock);
    while (!mxl_pass_run(p, !nested)) {
        mxl_mutex_lock(&lock);
        mxl_pass_held_plan(p);
        mxl_mutex_unlock(&lock);
    }
    mxl_mutex_lock(&lock);
    is_running = nested;
    passes--;
    passes--;
    for (int i = 0; i < p->count; i++)
        held_detach(p->list[i]);
    mxl_cond_broadcast(&ended);
    mxl_mutex_unlock(&lock);
    for (int i = 0; i < p->count; i++)
        expression_free(p->list[i]);
    mxl_mutex_lock(&lock);
}

/* Runs a pass with the expression, or waits until another thread has run a part of it. */
static void held_run_with(mxl_expression *e)
{
    mxl_pass p;

    if (mxl_pass_held_collect(&p, e))
        held_run(&p);
    else
        mxl_cond_wait(&ended, &lock);
}

/* What must run before the bytes are read, or written. */
static mxl_expression *held_due(const mxl_extra *extra, bool write)
{
    if (extra->maker != NULL)
        return extra->maker;
    return write && extra->readers != NULL ? extra->readers->reader : NULL;
}

void mxl_storage_settle(const mxl_storage *storage, bool write)
{
    const mxl_extra *extra = mxl_extra_of((mxl_storage *)(size_t)storage);
    mxl_expression *due;

    mxl_remake_settle((mxl_storage *)(size_t)storage);
    mxl_mutex_lock(&lock);
    while ((due = held_due(extra, write)) != NULL)
        held_run_with(due);
    mxl_mutex_unlock(&lock);
}

void mxl_storage_forsake(mxl_storage *storage)
{
    const mxl_extra *extra = mxl_extra_of(storage);
    mxl_expression *e;

    mxl_mutex_lock(&lock);
    while ((e = extra->maker) != NULL && e->running)
        mxl_cond_wait(&ended, &lock);
    if (e != NULL)
        held_detach(e);
    mxl_mutex_unlock(&lock);
    if (e != NULL)
        expression_free(e);
}

void mxl_expressions_run(void)
{
    mxl_mutex_lock(&lock);
    while (waiting != NULL)
        held_run_with(waiting);
    mxl_mutex_unlock(&lock);
}

void mxl_storage_make_room(void)
{
    mxl_mutex_lock(&lock);
    held_make_room();
    mxl_mutex_unlock(&lock);
}

void mxl_storage_leave(mxl_storage *storage)
{
    mxl_extra *extra = mxl_extra_of(storage);
    bool kept = false;

    if (!mxl_ref_is_unique(&storage->ref)) {
        mxl_mutex_lock(&lock);
        kept = extra->readers != NULL; /* which keep the storage while the lock is held */
        if (kept) {
            int count = atomic_fetch_sub_explicit(&storage->ref.count, 1, memory_order_acq_rel);

            extra->left = count - 1 == extra->num_readers;
            mxl_left_held_weigh(storage);
        }
        mxl_mutex_unlock(&lock);
    }
    if (!kept)
        mxl_ref_release(&storage->ref);
}

/* Runs what waits, so that an allocation may be tried again: false where nothing could be run. The
 * caller may hold any lock but that of expressions, under which nothing is allocated. So nothing is
 * waited for, and a thread that runs a pass already does not begin another. */
static bool run_before_failure(void)
{
    mxl_expression *e;
    bool any = false;
    mxl_pass p;

    if (is_running)
        return false;
    is_running = true;
    mxl_mutex_lock(&lock);
    for (e = waiting; e != NULL;) {
        bool runs = !e->running && mxl_pass_held_collect(&p, e);

        if (runs)
            held_run(&p);
        any = any || runs;
        e = runs ? waiting : e->next;
    }
    mxl_mutex_unlock(&lock);
    is_running = false;
    return any;
}

/* A child is forked while no pass runs: the thread that runs it would not exist there. */
static void fork_prepare(void)
{
    mxl_mutex_lock(&lock);
    while (passes > 0)
        mxl_cond_wait(&ended, &lock);
}

static void fork_done(void)
{
    mxl_mutex_unlock(&lock);
}

static void fork_child(void)
{
    ended = (mxl_cond)MXL_COND_INIT;
    fork_done();
}
