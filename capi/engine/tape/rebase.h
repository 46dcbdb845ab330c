/* Edits in place that the tape follows: a view's place after its memory was edited, and what an
 * edit of a view does to the array it shows. Called by invoke where the dialect rebases. */
#ifndef MXL_ENGINE_TAPE_REBASE_H
#define MXL_ENGINE_TAPE_REBASE_H

#include "engine/tape/tape.h"

/* Gives a view whose memory was edited since it got its place the one it has now: those elements of
 * its base's value (AsStrided). Nothing happens to other arrays. -1 with the error set. */
int mxl_rebase_view(mxl_array *view, const mxl_dialect *dialect);

/* The same by the dialect of what the view, or its base, was made by; for whoever asks where an
 * array stands outside of any call. */
int mxl_rebase_refresh(mxl_array *array);

/* Whether an edit of `out` changes a recorded value. */
bool mxl_rebase_tracked(mxl_array *out, const mxl_dialect *dialect);

/* Whether a recorded edit of `out` is allowed; -1 with the error set: it is a variable or shows
 * one, or a view that cannot be followed. */
int mxl_rebase_check(const char *name, mxl_array *out);

/* A new node for the base of `view`, whose elements the result of `node` is about to overwrite; its
 * inputs are those of the call, of which the first may be the view itself. `node` NULL: what is
 * written are constants. */
mxl_node *mxl_rebase_slices(mxl_array *view, mxl_node *node, int num_inputs,
                            mxl_array *const *inputs, const mxl_dialect *dialect);

/* After the write: the base's value is `slices`' output, and the view's place is made anew when it
 * is read. -1 with the error set: no memory for what keeps the base's gradient. */
int mxl_rebase_finish(mxl_array *view, mxl_node *slices);

/* Within the rule of a CopySlices: gives what the edited view became the place that it has in the
 * graph, a part of the base. -1 with the error set. */
int mxl_rebase_edge(const struct mxl_grad *slices, mxl_array *view);

#endif
