/* Edits in place that the tape follows: a view's edge after its memory was edited, and the node of
 * a base after an edit of a view. Called by invoke where the front end rebases. */
#ifndef MXL_ENGINE_TAPE_REBASE_H
#define MXL_ENGINE_TAPE_REBASE_H

#include "engine/tape/tape.h"

/* Attaches a view whose memory was edited since it was attached to those elements of its base's
 * value (AsStrided). Does nothing to other arrays. -1 with the error set: also for a function's
 * view, whose gradient would be lost. */
int mxl_rebase_view(mxl_array *view, const mxl_dialect *dialect);

/* The same with the front end of the node that made the view, or its base; for reading an edge
 * outside of any call. */
int mxl_rebase_refresh(mxl_array *array);

/* Notes whether the memory of a new view of `of`, one of so many results of an operator, may be
 * edited while recording. A view of a function's view stays one. */
static inline void mxl_rebase_note_view(mxl_array *view, const mxl_array *of, int num_outputs,
                                        bool recorded)
{
    if (view->view_kind == MXL_VIEW_OF_FUNCTION)
        return;
    view->view_kind = !recorded         ? MXL_VIEW_UNRECORDED
                      : num_outputs > 1 ? MXL_VIEW_ONE_OF_MANY
                                        : of->view_kind;
}

/* Notes that a caller's function returned `output`: a view that only it refers to becomes an array
 * without base; any other view has the function's gradient, so that neither its memory nor that of
 * its base may be edited while it is used. */
void mxl_rebase_note_output(mxl_array *output);

/* Whether an edit of `out` changes a recorded value. */
bool mxl_rebase_tracked(mxl_array *out, const mxl_dialect *dialect);

/* Whether a recorded edit of `out` is allowed; -1 with the error set: it is a variable or shows
 * one, or a view that cannot be followed. */
int mxl_rebase_check(const char *name, mxl_array *out, const mxl_dialect *dialect);

/* A new node for the base of `view`, whose elements the result of `node` is about to overwrite. Its
 * inputs are those of the call, of which the first may be the view itself. `node` NULL: constants
 * are written. */
mxl_node *mxl_rebase_slices(mxl_array *view, mxl_node *node, int num_inputs,
                            mxl_array *const *inputs, const mxl_dialect *dialect);

/* After the write: attaches the base to `slices`; the view's edge is made anew when it is read. -1
 * with the error set: no memory for hooks that keep the base's gradient. */
int mxl_rebase_finish(mxl_array *view, mxl_node *slices);

/* Within the vjp of a CopySlices: attaches the result of the edited view as a part of the base. -1
 * with the error set. */
int mxl_rebase_edge(const struct mxl_grad *slices, mxl_array *view);

#endif
