/* One execution while it is under way, shared by invoke.c, begin.c, infer.c, given.c, layout.c,
 * compose.c and tape/edit.c. */
#ifndef MXL_ENGINE_RUN_RUN_H
#define MXL_ENGINE_RUN_RUN_H

#include "engine/run/invoke.h"
#include "engine/tape/tape.h"

/* Outputs and inputs up to these numbers need no memory of their own. */
enum { OUT_ROOM = 4, IN_ROOM = 16 };

typedef struct mxl_run {
    mxl_call call;
    mxl_mode mode;
    mxl_arity arity;
    mxl_array *const *given_in;
    mxl_array **given_out; /* the caller's entries */
    mxl_shape *out_shape;
    int *out_dtype;
    mxl_device device; /* of new outputs */
    mxl_node *node;
    mxl_node *slices; /* of the base of edited_view */
    mxl_array *edited_view;
    bool meta;        /* an array of the call is on the meta device: nothing to compute */
    int views;        /* outputs that share memory with the input: nothing to compute */
    uint64_t version; /* of the first output's storage before, where that is the caller's */
    mxl_array *in_room[IN_ROOM];
    mxl_array *out_room[OUT_ROOM];
    mxl_shape shape_room[OUT_ROOM];
    int dtype_room[OUT_ROOM];
} mxl_run;

/* Sets the numbers of inputs and outputs, and the rooms for them, of a call whose operator,
 * parameters, number of inputs and arrays are set; -1 with the error set where it gives other
 * numbers. After it, and only after success, mxl_run_end. */
int mxl_run_begin(mxl_run *r, int num_outputs);

/* Lets go of what the run holds: copies of inputs, outputs that the caller does not get, nodes and
 * rooms. */
void mxl_run_end(mxl_run *r);

/* The device of new results: that of results of the first input. */
static inline mxl_device mxl_run_device(const mxl_run *r)
{
    return r->call.num_inputs == 0 ? 0 : mxl_device_of_results(r->given_in[0]->device);
}

/* What infer gets, for so many outputs. */
__attribute__((always_inline)) static inline mxl_infer mxl_run_infer_of(const mxl_run *r,
                                                                        int num_outputs)
{
    return (mxl_infer){
        r->call.op,           r->call.params,         r->call.num_inputs, num_outputs,
        r->given_in,          r->out_shape,           r->out_dtype,       r->mode.training,
        r->mode.legacy_shape, r->mode.dialect->views, mxl_run_device(r)};
}

/* Whether the call reads or writes an array of the meta device. Then the results are such arrays;
 * -1 with the error set where their shape depends on values, a given one has memory, or several
 * elements are to be joined with those of an array that has. */
bool mxl_run_is_on_meta(const mxl_run *r);
int mxl_run_check_meta(const mxl_run *r);

/* Sets out_dtype, out_shape and device, of a call of any kind; -1 with the error set. */
int mxl_run_infer(mxl_run *r);

/* A meta run: hands new arrays without memory over where the caller gives none. -1 with the error
 * set. */
int mxl_run_meta(mxl_run *r);

/* Whether a new result is to lie in memory as an input does that is not contiguous. */
__attribute__((always_inline)) static inline bool mxl_run_lays(const mxl_run *r)
{
    const mxl_op *op = r->call.op;

    if (r->mode.in_order || !r->mode.dialect->views || (op->kernels == NULL && !op->keeps_layout))
        return false;
    for (int i = 0; i < r->call.num_inputs; i++) {
        if (!r->given_in[i]->contiguous)
            return true;
    }
    return false;
}

/* Lays the axes of such a result in memory in the order of those of the inputs. */
void mxl_run_lay(const mxl_run *r, mxl_array *out);

/* The array that the caller gives for output i, or NULL. */
static inline mxl_array *mxl_run_given(const mxl_run *r, int i)
{
    return i < r->arity.visible ? r->given_out[i] : NULL;
}

/* Whether the results fit the arrays that the caller gives; -1 with the error set. */
int mxl_run_check_given(const mxl_run *r);

/* Whether writing `out` while reading the inputs would spoil them. Element-wise loops may write
 * over an input that lies exactly under the output. */
bool mxl_run_overlaps(const mxl_run *r, const mxl_array *out);

/* Copies results to the caller's arrays that could not be written directly; -1 with the error set.
 */
int mxl_run_copy_to_given(const mxl_run *r);

/* Brings a mutated input's contiguous copy back to where it came from; -1 with the error set. */
int mxl_run_write_back(const mxl_run *r);

/* Whether the call updates its input i in place (an optimizer's state). */
bool mxl_run_mutates(const mxl_call *call, int i);

/* Attaches views whose memory was edited anew, where the front end follows edits. */
int mxl_run_refresh(int count, mxl_array *const *arrays, mxl_mode mode);

/* Checks that the call may write to the arrays it is given, by the front end's rule for edits while
 * recording and by memory. Notes the edited view. -1 with the error set. */
int mxl_run_check_edits(mxl_run *r, bool records);

/* The part of it that concerns memory: -1 with the error set where an array to be written to may
 * only be read, or has several elements at one location. */
int mxl_run_check_writable(const mxl_run *r);

/* Before the write: the nodes of a call that is recorded (where not: of the view that it edits).
 * -1 with the error set. */
int mxl_run_record(mxl_run *r, bool records);

/* After the write: versions and writers of the outputs' storages. */
void mxl_run_note_edits(mxl_run *r);

/* Once the outputs are attached: attaches the base of the edited view, and detaches arrays that
 * constants were written to. -1 with the error set. */
int mxl_run_follow(mxl_run *r);

/* Before anything is allocated: 1 where the call gets a node, 0 where not, -1 with the error set.
 */
int mxl_run_check(mxl_run *r);

/* Makes the node of such a call, or of an edit that is followed, if its results carry gradients; -1
 * with the error set. */
int mxl_run_node(mxl_run *r, int records);

/* Hands the results in call.out over, and attaches them; -1 with the error set. */
int mxl_run_finish(mxl_run *r);

/* Whether the call reads or writes a sparse array, or its operator makes some; and such a call as a
 * whole. -1 with the error set. */
bool mxl_run_is_sparse(const mxl_run *r);
int mxl_run_sparse(mxl_run *r);

/* A composite operator without a label: runs its parts, each recorded for itself, and copies
 * results to arrays that the caller gives. -1 with the error set. */
int mxl_run_composite(mxl_run *r);

/* With a label it is one node, like any other operator: sets call.out to what its parts make,
 * unrecorded. An array that shares memory with another one becomes a copy. */
int mxl_run_unrecorded(mxl_run *r);

/* The same of one without infer, for mxl_run_infer: sets out_dtype, out_shape and device too, by
 * what was made. */
int mxl_run_made(mxl_run *r);

#endif
