/* The graph in the open: nodes and their edges, hooks, backward from edges, what is done with
 * values that are saved for backward. Included by mxlite.h; compiles alone as C99 and as C++.
 *
 * Functions return 0, or -1 with the message of MXGetLastError. Handles of nodes and of hooks are
 * like those of arrays: opaque, checked wherever they are given, freed by who got them; a freed or
 * foreign one is an error. Handles of one node share an id (MXLNodeGetId), as those of one array
 * do.
 *
 * A function that the library calls back runs on the thread that called the library (or on one that
 * goes on for it, see MXLThreadGetOrigin), holds none of the library's locks, and may call whatever
 * it likes. It returns 0, or anything else to make what called it fail; the error is then the text
 * that it gave to NNAPISetLastError, behind what it was. */
#ifndef MXLITE_GRAPH_H_
#define MXLITE_GRAPH_H_

#include "mxlite/c_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A node of the graph: a recorded call of an operator, or the accumulating node of a variable,
 * which adds what arrives to its gradient. A handle keeps the node alive, and so what the node
 * leads to; it does not keep the arrays that the call made. */
typedef void *MXLNodeHandle;
/* A hook that was registered. It keeps nothing alive. */
typedef void *MXLHookHandle;

/* Called once, when nothing in the library needs a payload any more. */
typedef void (*MXLReleaseFunction)(void *payload);

/* ---- Arrays and the graph ----------------------------------------------------------------------
 */

/* Where a gradient of the array goes: *node a new handle (NULL: nowhere, it is a constant), and
 * which of its outputs the array is. A variable's is an accumulating node, output 0. */
MXL_API int MXLNDArrayGetEdge(NDArrayHandle array, MXLNodeHandle *node, int *output);

/* A number that all handles of one array share, and that no other living array has. */
MXL_API int MXLNDArrayGetId(NDArrayHandle array, uint64_t *out);

/* A new handle of another array over the same memory, which stands where this one stands now and
 * stays there, whatever is written to it: what a function saves of an input. A variable gives
 * itself. */
MXL_API int MXLNDArrayPin(NDArrayHandle array, NDArrayHandle *out);

/* A new handle of another array over this one's memory, which stands at that output of a node (an
 * edge, as MXLNDArrayGetEdge gives it): what a function makes of a value it saved in a form of its
 * own, so that under create_graph gradients flow to where the value came from. Its shape and dtype
 * must be the output's. */
MXL_API int MXLNDArrayPlace(NDArrayHandle array, MXLNodeHandle node, int output,
                            NDArrayHandle *out);

/* `flag` 1: makes the array a variable whose gradients are added up, and which has none yet; a
 * variable stays as it is. 0: it is no variable any more; its gradient stays. An error for an array
 * that a recorded operator made, one without shape, and (1) dtypes without fractions. */
MXL_API int MXLNDArraySetRequiresGrad(NDArrayHandle array, int flag);

/* Replaces a variable's gradient (NULL: none). Its shape and dtype must be the array's. */
MXL_API int MXLNDArraySetGrad(NDArrayHandle array, NDArrayHandle grad);

/* ---- Nodes --------------------------------------------------------------------------------------
 */

MXL_API int MXLNodeFree(MXLNodeHandle node);

/* A number that all handles of one node share, and that no other living node has. */
MXL_API int MXLNodeGetId(MXLNodeHandle node, uint64_t *out);

/* What the node is called: the label of MXLPrepareAs, else made from the operator's name
 * ("AddBackward0" of broadcast_add), "AccumulateGrad" for an accumulating one. Borrowed, valid
 * until this thread's next call of this function. */
MXL_API int MXLNodeGetName(MXLNodeHandle node, const char **out);

/* The operator's name, e.g. "broadcast_add"; NULL for an accumulating node. Lives as long as the
 * process. */
MXL_API int MXLNodeGetOperator(MXLNodeHandle node, const char **out);

/* Nodes that are recorded later have higher numbers; UINT64_MAX for an accumulating node. */
MXL_API int MXLNodeGetSequence(MXLNodeHandle node, uint64_t *out);

/* Whether a backward without keep_graph has let the node's saved values go. */
MXL_API int MXLNodeIsReleased(MXLNodeHandle node, int *out);

/* The inputs as they are shown: slots, in which one may stand or nothing (MXLPrepareAs). An
 * accumulating node has none. */
MXL_API int MXLNodeGetNumInputs(MXLNodeHandle node, int *out);

/* Where the gradient of what stands in a slot goes: *input a new handle, or NULL (and 0) for
 * nothing or a constant. */
MXL_API int MXLNodeGetInput(MXLNodeHandle node, int index, MXLNodeHandle *input, int *output);

/* Which of the operator's inputs stands in each slot, at most `room` into `slots`; -1: nothing.
 * Returns how many inputs the operator got, -1 on error. */
MXL_API int MXLNodeGetSlots(MXLNodeHandle node, int room, int *slots);

/* The parameters of the call as text that the operator takes, but for those that have their
 * default. Borrowed, valid until this thread's next call of this function. */
MXL_API int MXLNodeGetParams(MXLNodeHandle node, int *count, const char ***keys,
                             const char ***values);

/* Outputs of the operator, those that callers do not see included; 1 for an accumulating node. */
MXL_API int MXLNodeGetNumOutputs(MXLNodeHandle node, int *out);

/* Extents (at most `room` into `shape`) and dtype of an output (`which` 1), or of an input of the
 * operator (0; not of a slot), as they were when it was recorded; both may be NULL. Returns the
 * number of axes, -1 on error. */
MXL_API int MXLNodeGetInfo(MXLNodeHandle node, int which, int index, int room, int64_t *shape,
                           int *dtype);

/* The variable of an accumulating node: a new handle of the array itself (it has the same id). An
 * error for other nodes. */
MXL_API int MXLNodeGetVariable(MXLNodeHandle node, NDArrayHandle *out);

/* How many values the node keeps for its backward at present. */
MXL_API int MXLNodeGetNumSaved(MXLNodeHandle node, int *out);

/* One of them: whether it is an output or an input of the operator, which one, and its bytes; all
 * three may be NULL. `array` (may be NULL too): a new handle of the value, which leads nowhere; an
 * error where it was edited since it was saved. */
MXL_API int MXLNodeGetSaved(MXLNodeHandle node, int index, NDArrayHandle *array, int *is_output,
                            int *position, int64_t *bytes);

/* One pointer of the caller's for each node. `release` (may be NULL) is called with it when the
 * node ends or the pointer is replaced. NULL: none, which is what a node has at first. */
MXL_API int MXLNodeSetPayload(MXLNodeHandle node, void *payload, MXLReleaseFunction release);
MXL_API int MXLNodeGetPayload(MXLNodeHandle node, void **out);

/* ---- Hooks --------------------------------------------------------------------------------------
 * Functions that a backward calls. Handles in `grads` are the hook's, which frees them; NULL: no
 * gradient arrived. results[i], NULL on entry, may be set to a new handle of an array of the same
 * shape and dtype, which takes that gradient's place; the library frees it. Hooks at nodes may also
 * set it to MXL_NO_GRADIENT: then none has arrived there.
 *
 * When all gradients of a node have arrived, in this order: the hooks on the arrays that it made,
 * in order of registration, but those registered as `last` after all others; what is asked for of
 * its gradients (MXLBackward's inputs, MXAutogradBackwardEx's variables) is what they leave; the
 * hooks before the node; its rule; the hooks after it. The latter three only where something that
 * is wanted lies further on. Of a variable the same as soon as all its gradients have arrived:
 * hooks on the array; then, where gradients are accumulated, hooks before its node, accumulation,
 * hooks after accumulation, hooks after its node. A variable without hooks of the latter three
 * kinds is accumulated at the end of the backward, and not where that fails.
 *
 * The flags of the thread are those of the backward: a hook's calls are recorded under
 * create_graph. A hook's payload is released (by the function given beside it, which may be NULL)
 * when the hook is removed, when its node ends, or when a backward without keep_graph releases the
 * node, so that a hook that holds the array it hangs on does not keep it for ever; hooks of
 * variables stay. */
#define MXL_NO_GRADIENT ((NDArrayHandle)(intptr_t)-1)
typedef int (*MXLGradHook)(void *payload, int count, const NDArrayHandle *grads,
                           NDArrayHandle *results);
typedef int (*MXLNodeHook)(void *payload, int num_inputs, const NDArrayHandle *input_grads,
                           int num_outputs, const NDArrayHandle *output_grads,
                           NDArrayHandle *results);
/* `variable` is the hook's handle of the variable itself. */
typedef int (*MXLVariableHook)(void *payload, NDArrayHandle variable);

/* On the gradient of an array (`count` is 1) that is a variable, or was made by a recorded
 * operator. `out` (a new handle; may be NULL in all four). */
MXL_API int MXLNDArrayAddHook(NDArrayHandle array, MXLGradHook hook, int last, void *payload,
                              MXLReleaseFunction release, MXLHookHandle *out);
/* After the gradient of a variable was accumulated. */
MXL_API int MXLNDArrayAddAccumulatedHook(NDArrayHandle variable, MXLVariableHook hook,
                                         void *payload, MXLReleaseFunction release,
                                         MXLHookHandle *out);
/* Before a node's rule, on the gradients of all its outputs. */
MXL_API int MXLNodeAddPreHook(MXLNodeHandle node, MXLGradHook hook, void *payload,
                              MXLReleaseFunction release, MXLHookHandle *out);
/* After it: gradients of its inputs (by slot; none of an accumulating node), whose places results
 * may take, and those of its outputs, as the hooks before it left them. */
MXL_API int MXLNodeAddHook(MXLNodeHandle node, MXLNodeHook hook, void *payload,
                           MXLReleaseFunction release, MXLHookHandle *out);

/* Takes a hook away, if it is still there, and frees the handle. */
MXL_API int MXLHookRemove(MXLHookHandle hook);
/* Frees the handle; the hook stays. */
MXL_API int MXLHookFree(MXLHookHandle hook);

/* ---- Backward -----------------------------------------------------------------------------------
 */

typedef struct MXLBackwardOptions {
    int keep_graph;        /* values saved for backward stay, for another one */
    int create_graph;      /* the backward is recorded itself */
    int allow_unreachable; /* wanted inputs that the roots do not lead to are no error */
    int accumulate_grad;   /* wanted inputs that are variables get their gradients added up */
    int training;          /* the training flag that functions called back see */
    int dialect;           /* MXL_DIALECT_*: of what is recorded under create_graph, and of how
                              gradients are accumulated: in PyTorch's a new array then */
} MXLBackwardOptions;

/* Backward from the edges (nodes[i], outputs[i]) with head_grads[i], which have the shape and dtype
 * of those outputs (the list, or an entry, NULL: ones). With num_inputs 0 gradients reach all
 * variables. Else only what leads to the edges (input_nodes[i], input_outputs[i]) runs: their
 * gradients are new handles in grads[i], NULL where nothing arrived, and may be handles of head
 * gradients themselves; under accumulate_grad they go to those that are variables, hooks on the
 * others are called, and `grads` is not used. Backwards inside each other go 10,000 levels deep,
 * then one more fails ("RecursionError: ..."). On failure no variable has changed, but for those
 * whose hooks see them accumulated. The same engine as MXAutogradBackwardEx. */
MXL_API int MXLBackward(int num_roots, const MXLNodeHandle *nodes, const int *outputs,
                        const NDArrayHandle *head_grads, const MXLBackwardOptions *options,
                        int num_inputs, const MXLNodeHandle *input_nodes, const int *input_outputs,
                        NDArrayHandle *grads);

/* From within a backward of this thread (hooks, gradients of custom functions): `callback` is
 * called once at its end, after gradients are where they belong, in the order of these calls; not
 * when it fails. The payload is released after that in every case. Of backwards inside each other
 * the innermost is meant. */
typedef int (*MXLCallback)(void *payload);
MXL_API int MXLBackwardQueue(MXLCallback callback, void *payload, MXLReleaseFunction release);

/* Whether a backward runs on this thread: 0 none, 1 one for all variables, 2 one for chosen inputs.
 */
MXL_API int MXLBackwardState(int *out);

/* A number of this thread, or, where this thread goes on for another one that waits (backwards deep
 * inside each other get new threads), of that one. What a binding keeps by thread while calls are
 * under way, it keeps by this. */
MXL_API int MXLThreadGetOrigin(uint64_t *out);

/* ---- What is recorded ---------------------------------------------------------------------------
 */

/* Saved values in a form of the caller's. `pack` gets a handle of a value (its own; the value leads
 * nowhere) and sets *packed to whatever stands for it; nothing that it calls is recorded. `unpack`
 * sets *array to a new handle of an array of the same shape and dtype, each time a rule reads the
 * value (or MXLNodeGetSaved asks for it); `drop` (may be NULL) ends it, when the node is released
 * or ends. */
typedef int (*MXLPackFunction)(void *payload, NDArrayHandle array, void **packed);
typedef int (*MXLUnpackFunction)(void *payload, void *packed, NDArrayHandle *array);
typedef void (*MXLDropFunction)(void *payload, void *packed);

/* From now on, and until they are popped, these do that with what is recorded on this thread; the
 * last pushed alone. Values that are packed are not found to be edited. `release` (may be NULL) is
 * called when they are popped and nothing is left that they packed; never if this fails. */
MXL_API int MXLPushSavedHooks(MXLPackFunction pack, MXLUnpackFunction unpack, MXLDropFunction drop,
                              void *payload, MXLReleaseFunction release);
MXL_API int MXLPopSavedHooks(void);

/* Called on this thread for every node that is recorded, after its values are computed; handles are
 * the callee's. Not 0: the operator fails. What it records itself, and sums of gradients that are
 * recorded when variables accumulate them, are not shown. NULL: none from now on. */
typedef int (*MXLRecordHook)(void *payload, MXLNodeHandle node, int num_outputs,
                             const NDArrayHandle *outputs);
MXL_API int MXLSetRecordHook(MXLRecordHook hook, void *payload);

/* What backward on this thread looks for in what rules return: 0 nothing, 1 NaN, 2 infinities too.
 * It fails where it finds one, with the node, the input and the position. `before` may be NULL. */
MXL_API int MXLSetAnomaly(int check, int *before);

/* The node at which the last backward of this thread that failed under MXLSetAnomaly did (of
 * backwards inside each other the outermost): *node a new handle; NULL: none since this was asked
 * last. */
MXL_API int MXLAnomalyTakeNode(MXLNodeHandle *node);

/* The first element, in C order, that is NaN (`check` 1), or NaN or infinite (2); *index -1: none.
 */
MXL_API int MXLNDArrayFindNonFinite(NDArrayHandle array, int check, int64_t *index);

/* Where the process's random numbers stand, to draw the same ones again. */
MXL_API int MXLRandomGetState(uint64_t state[2]);
MXL_API int MXLRandomSetState(const uint64_t state[2]);

#ifdef __cplusplus
}
#endif

#endif /* MXLITE_GRAPH_H_ */
