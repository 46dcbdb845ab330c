/* Edits in place: checks which arrays a call may write to, and makes the tape follow the write. */
#include "engine/run/run.h"

#include "base/error.h"
#include "engine/tape/rebase.h"
#include "engine/tape/saved.h"
#include "engine/tape/record_hooks.h"

bool mxl_run_mutates(const mxl_call *call, int i)
{
    const mxl_input *inputs = mxl_op_inputs(call->op);

    if (call->op->mutates != NULL)
        return call->op->mutates(call, i);
    if (call->op->arity == NULL)
        return inputs[i].mutated; /* each input has an entry */
    for (int k = 0; k <= i; k++) {
        if (inputs[k].name == NULL)
            return false;
    }
    return inputs[i].mutated;
}

static bool is_input(const mxl_run *r, const mxl_array *array)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (r->given_in[i] == array)
            return true;
    }
    return false;
}

int mxl_run_refresh(int count, mxl_array *const *arrays, mxl_mode mode)
{
    if (!mode.record || !mode.dialect->rebase)
        return 0;
    for (int i = 0; i < count; i++) {
        if (arrays[i] != NULL && arrays[i]->base != NULL &&
            mxl_rebase_view(arrays[i], mode.dialect) != 0)
            return -1;
    }
    return 0;
}

/* Checks a write in dialects whose tape follows edits. Notes the view whose base is rebased. */
static int check_followed(mxl_run *r, bool records)
{
    const char *name = r->call.op->name;

    for (int i = 0; i < r->call.num_inputs; i++) {
        if (mxl_run_mutates(&r->call, i) && mxl_rebase_tracked(r->given_in[i], r->mode.dialect))
            return mxl_error("%s: updates input %d in place, which is recorded or requires grad; "
                             "call it where nothing is recorded",
                             name, i);
    }
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array *out = r->given_out[i];

        if (out == NULL || !(records || mxl_rebase_tracked(out, r->mode.dialect)))
            continue;
        if (mxl_rebase_check(name, out, r->mode.dialect) != 0)
            return -1;
        if (out->base != NULL && r->arity.visible > 1)
            return mxl_error("%s: a view is edited by an operator with %d outputs, which cannot be "
                             "followed; copy it first",
                             name, r->arity.visible);
        if (out->base != NULL)
            r->edited_view = out;
    }
    return 0;
}

#define IN_PLACE "%s: edits in place (+=, x[:] = y, out=) are not recorded: "

/* MXNet's check of out= while recording: refuses an array that is attached to the graph, an input
 * of the call that is recorded, and a view whose base is not recorded with it. */
static int check_in_place(mxl_run *r, bool records)
{
    const char *name = r->call.op->name;

    if (!r->mode.record)
        return 0;
    if (r->mode.dialect->rebase)
        return check_followed(r, records);
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (mxl_run_mutates(&r->call, i) && mxl_tape_recorded(r->given_in[i], r->mode.dialect))
            return mxl_error(IN_PLACE "updates input %d, which is recorded or has a gradient "
                                      "attached; call it outside autograd.record()",
                             name, i);
    }
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_array *out = r->given_out[i];

        if (out == NULL)
            continue;
        if (mxl_tape_recorded(out, r->mode.dialect))
            return mxl_error(IN_PLACE "the array to write to is recorded or has a gradient "
                                      "attached; write to a new array",
                             name);
        if (records && is_input(r, out))
            return mxl_error(IN_PLACE "a recorded value is written into one of its inputs; "
                                      "build the array with concat or from new arrays",
                             name);
        if (records && mxl_array_leaf(out) != NULL)
            return mxl_error(IN_PLACE "a recorded value cannot be written into an array whose "
                                      "gradient request is null: it is a constant",
                             name);
        if (records && out->base != NULL)
            return mxl_error(IN_PLACE "a recorded value cannot be written into a part of "
                                      "another array; build the array with concat or where",
                             name);
    }
    return 0;
}

int mxl_run_check_writable(const mxl_run *r)
{
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (mxl_run_mutates(&r->call, i) && mxl_array_check_writable(r->given_in[i]) != 0)
            return mxl_error_prefix(r->call.op->name);
    }
    for (int i = 0; i < r->arity.visible; i++) {
        if (r->given_out[i] != NULL && mxl_array_check_writable(r->given_out[i]) != 0)
            return mxl_error_prefix(r->call.op->name);
    }
    return 0;
}

/* PyTorch refuses an output that overlaps an input in part; MXNet's dialect makes a copy. */
static int check_overlaps(const mxl_run *r)
{
    for (int i = 0; i < r->arity.visible && r->mode.dialect->views && !r->call.op->writes_last;
         i++) {
        const mxl_array *out = r->given_out[i];

        for (int k = 0; k < r->call.num_inputs && out != NULL; k++) {
            const mxl_array *in = r->given_in[k];

            if (in != out && mxl_array_overlaps_partly(in, out))
                return mxl_error(
                    "%s: the array that is written shares a part of its memory with an "
                    "input; copy the input first",
                    r->call.op->name);
        }
    }
    return 0;
}

int mxl_run_check_edits(mxl_run *r, bool records)
{
    if (check_in_place(r, records) != 0 || check_overlaps(r) != 0)
        return -1;
    return mxl_run_check_writable(r);
}

/* ---- before the write ---- */

/* Records the caller's arrays, not the contiguous copies made for this run. */
int mxl_run_record(mxl_run *r, bool records)
{
    mxl_call recorded = r->call;

    recorded.in = (mxl_array **)r->given_in;
    if (records) {
        r->node = mxl_node_new(&recorded, r->mode.dialect);
        if (r->node == NULL)
            return -1;
        if (r->call.num_inputs > 0 && r->call.num_outputs > 0 &&
            r->given_in[0] == r->given_out[0] && mxl_node_copy_saved_input(r->node, 0) != 0)
            return -1;
        if (mxl_state_get()->watch != 0 && mxl_record_hook_before_write(r->node) != 0)
            return -1;
    }
    if (r->edited_view != NULL) {
        r->slices = mxl_rebase_slices(r->edited_view, r->node, r->call.num_inputs, r->given_in,
                                      r->mode.dialect);
        if (r->slices == NULL)
            return -1;
    }
    return 0;
}

/* ---- after the write ---- */

/* Notes in the outputs' storages which operator wrote and, in dialects that count edits, one more
 * version. */
void mxl_run_note_edits(mxl_run *r)
{
    for (int i = 0; i < r->arity.visible; i++) {
        mxl_storage *storage = r->given_out[i] != NULL ? r->given_out[i]->storage : NULL;

        if (storage == NULL)
            continue;
        /* A shared storage may be a saved tensor's, whose error names the writer. */
        if (!mxl_ref_is_unique(&storage->ref))
            mxl_storage_set_writer(storage, (unsigned)mxl_op_number(r->call.op) + 1);
        if (i == 0 && r->mode.dialect->views)
            mxl_storage_set_version(storage, r->version + 1);
    }
}

/* After the outputs are attached: rebases the base of the edited view, and detaches outputs that
 * became constants. */
int mxl_run_follow(mxl_run *r)
{
    mxl_edge nowhere = {NULL, 0};

    if (r->slices != NULL && mxl_rebase_finish(r->edited_view, r->slices) != 0)
        return -1;
    for (int i = 0; i < r->arity.visible && r->node == NULL && r->mode.dialect->rebase; i++) {
        if (r->given_out[i] != r->edited_view)
            mxl_array_set_edge(r->given_out[i], nowhere);
    }
    return 0;
}
