/* The autograd graph: nodes and edges, hooks, backward from edges, saved-tensor hooks. Included by
 * mxlite.h; compiles alone as C99 and as C++. `mxlite help glossary` defines the terms.
 *
 * Functions return 0, or -1 with the message of MXGetLastError. Handles of nodes and hooks are like
 * handles of arrays: opaque and checked at every use. The caller who got one frees it; using a
 * freed or foreign handle is an error. All handles of one node share an id (MXLNodeGetId), as all
 * handles of one array do.
 *
 * A callback runs on the thread that called the library, or on a thread that continues its
 * reentrant backward (MXLThreadGetOrigin). The library holds no lock during a callback, so it may
 * call any function of the library. It returns 0 for success. Any other value makes the calling
 * operation fail; the text that the callback passed to NNAPISetLastError is then appended to the
 * error. */
#ifndef MXLITE_GRAPH_H_
#define MXLITE_GRAPH_H_

#include "c_api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A node of the graph: a recorded call of an operator, or the accumulating node of a leaf, which
 * adds the gradients that arrive to the leaf's gradient. A handle keeps the node and the nodes of
 * its edges alive. It does not keep the output arrays of the call. */
typedef void *MXLNodeHandle;
/* A registered hook. The handle keeps nothing alive. */
typedef void *MXLHookHandle;

/* Releases a payload. Called once, when the library no longer needs the payload. */
typedef void (*MXLReleaseFunction)(void *payload);

/* ---- Arrays and the graph ---- */

/* The gradient edge of an array: *node is a new handle of the node that made it (NULL for a
 * constant), *output the number of the node's output. The edge of a leaf is output 0 of its
 * accumulating node. */
MXL_API int MXLNDArrayGetEdge(NDArrayHandle array, MXLNodeHandle *node, int *output);

/* Returns what an array is in the graph, -1 on error. */
enum { MXL_EDGE_CONSTANT, MXL_EDGE_LEAF, MXL_EDGE_RECORDED };
MXL_API int MXLNDArrayGetEdgeKind(NDArrayHandle array);

/* The id of an array: all its handles share it, and no other living array has it. */
MXL_API int MXLNDArrayGetId(NDArrayHandle array, uint64_t *out);

/* A new handle of a second array over the same memory. It keeps the edge that `array` has now, also
 * if `array` is edited in place later. A custom function uses it to save an input. For a leaf the
 * handle is of the leaf itself. */
MXL_API int MXLNDArrayPin(NDArrayHandle array, NDArrayHandle *out);

/* A new handle of a second array over the same memory, attached to an output of a node: (node,
 * output) is an edge as MXLNDArrayGetEdge gives it. A custom function uses it after it unpacked a
 * value that it had saved in another form, so that under create_graph gradients flow to the edge of
 * the original value. Shape and dtype must be those of the output. */
MXL_API int MXLNDArrayPlace(NDArrayHandle array, MXLNodeHandle node, int output,
                            NDArrayHandle *out);

/* `flag` 1: makes the array a leaf whose gradient is accumulated, without a gradient yet; nothing
 * changes if it is a leaf already. `flag` 0: the array is no leaf any more, and its gradient stays.
 * Errors: an array that a recorded operator made; an array without shape; for flag 1, a dtype that
 * is not floating. */
MXL_API int MXLNDArraySetRequiresGrad(NDArrayHandle array, int flag);

/* Replaces the gradient of a leaf (NULL removes it). Shape and dtype must be the leaf's. */
MXL_API int MXLNDArraySetGrad(NDArrayHandle array, NDArrayHandle grad);

/* ---- Nodes ---- */

MXL_API int MXLNodeFree(MXLNodeHandle node);

/* The id of a node: all its handles share it, and no other living node has it. */
MXL_API int MXLNodeGetId(MXLNodeHandle node, uint64_t *out);

/* The node's name: the label of MXLPrepareAs if there is one, else a name made from the operator's
 * ("AddBackward0" for broadcast_add), and "AccumulateGrad" for an accumulating node. Borrowed,
 * valid until this thread's next call of this function. */
MXL_API int MXLNodeGetName(MXLNodeHandle node, const char **out);

/* The operator's name, e.g. "broadcast_add"; NULL for an accumulating node. Valid as long as the
 * process runs. */
MXL_API int MXLNodeGetOperator(MXLNodeHandle node, const char **out);

/* The sequence number: nodes that are recorded later have higher numbers. UINT64_MAX for an
 * accumulating node. */
MXL_API int MXLNodeGetSequence(MXLNodeHandle node, uint64_t *out);

/* Whether a backward without keep_graph has released the node's saved tensors. */
MXL_API int MXLNodeIsReleased(MXLNodeHandle node, int *out);

/* The number of input slots. A slot shows one input of the operator, or is empty (MXLPrepareAs). An
 * accumulating node has no slots. */
MXL_API int MXLNodeGetNumInputs(MXLNodeHandle node, int *out);

/* The edge of the input in a slot: *input is a new handle of its node, *output the output number;
 * NULL and 0 for an empty slot or a constant. */
MXL_API int MXLNodeGetInput(MXLNodeHandle node, int index, MXLNodeHandle *input, int *output);

/* Writes the input number of each slot into `slots`, at most `room` of them; -1 is an empty slot.
 * Returns the number of inputs of the operator, or -1 on error. */
MXL_API int MXLNodeGetSlots(MXLNodeHandle node, int room, int *slots);

/* The parameters of the call that differ from their defaults, as text that the operator accepts.
 * Borrowed, valid until this thread's next call of this function. */
MXL_API int MXLNodeGetParams(MXLNodeHandle node, int *count, const char ***keys,
                             const char ***values);

/* The number of the operator's outputs, including those that callers do not see; 1 for an
 * accumulating node. */
MXL_API int MXLNodeGetNumOutputs(MXLNodeHandle node, int *out);

/* Shape (at most `room` sizes into `shape`) and dtype of output `index` (`which` 1), or of input
 * `index` of the operator, not slot `index` (`which` 0), at the time of recording. `shape` and
 * `dtype` may be NULL. Returns the number of dimensions, or -1 on error. */
MXL_API int MXLNodeGetInfo(MXLNodeHandle node, int which, int index, int room, int64_t *shape,
                           int *dtype);

/* The leaf of an accumulating node: a new handle of the array itself, with the same id. An error
 * for other nodes. */
MXL_API int MXLNodeGetVariable(MXLNodeHandle node, NDArrayHandle *out);

/* The number of saved tensors that the node holds at present. */
MXL_API int MXLNodeGetNumSaved(MXLNodeHandle node, int *out);

/* One saved tensor: whether it is an output (1) or an input (0) of the operator, its position among
 * these, and its size in bytes; each pointer may be NULL. `array`, which may be NULL too, is set to
 * a new handle of the tensor, without an edge; this is an error if the tensor was edited after it
 * was saved. */
MXL_API int MXLNodeGetSaved(MXLNodeHandle node, int index, NDArrayHandle *array, int *is_output,
                            int *position, int64_t *bytes);

/* Attaches one pointer of the caller to the node. `release` (may be NULL) is called with it when
 * the node is freed or the pointer is replaced. NULL, the initial state, means no payload. */
MXL_API int MXLNodeSetPayload(MXLNodeHandle node, void *payload, MXLReleaseFunction release);
MXL_API int MXLNodeGetPayload(MXLNodeHandle node, void **out);

/* For a language whose objects are payloads, and hold arrays: shows its collector of cycles who
 * keeps whom. Calls `reference` for the reference that the handle has to its array; for each object
 * for which that returned 1, it calls `payload` for the payloads of the object's hooks, node and
 * function (MXLFunctionRecord) that have this release function, and `reference` for its references
 * to others. Objects are arrays and nodes; their addresses are their own while they live. `from` is
 * NULL for the handle, `references` how many references the object has in all.
 *
 * A collector asks for all its arrays, and returns 1 when it has been told of all references to an
 * object: then its own objects alone keep it, and its payloads. Another thread may change what is
 * found, but nothing that no living array leads to: so a collector uses the first answer until it
 * collects again.
 *
 * Nothing that is called may call the library. */
typedef struct MXLPayloadVisitor {
    MXLReleaseFunction release;
    int (*reference)(void *data, const void *from, const void *to, int references);
    void (*payload)(void *data, const void *from, void *payload);
} MXLPayloadVisitor;

MXL_API int MXLNDArrayVisitPayloads(NDArrayHandle array, const MXLPayloadVisitor *visitor,
                                    void *data);

/* ---- Hooks ----
 *
 * Functions that a backward calls with gradients. The handles in `grads` belong to the hook, which
 * frees them; NULL means that no gradient arrived. results[i] is NULL on entry. A hook may set it
 * to a new handle of an array with the same shape and dtype, which replaces that gradient; the
 * library frees the handle. Hooks of nodes may also set it to MXL_NO_GRADIENT: then no gradient
 * arrives.
 *
 * When all gradients of a node have arrived, its hooks run in this order:
 * 1. hooks on the output arrays, in order of registration, those registered as `last` at the end;
 *    a gradient that the caller asked for (MXLBackward's inputs, MXAutogradBackwardEx's variables)
 *    is the result of these hooks;
 * 2. hooks before the node, its backward rule, hooks after the node; these run only if the node
 *    leads to an input that is wanted.
 *
 * When all gradients of a leaf have arrived, the order is: hooks on the array; then, if gradients
 * are accumulated, hooks before its node, accumulation, hooks after accumulation, hooks after its
 * node. A leaf without hooks of the latter three kinds is accumulated at the end of the backward,
 * and not at all if the backward fails.
 *
 * Hooks run with the flags of the backward: under create_graph their calls are recorded. `release`
 * (may be NULL) is called with the payload when the hook is removed, when its node is freed, or
 * when a backward without keep_graph releases the node's saved tensors. So a hook whose payload
 * holds its own array does not keep it alive for ever. Hooks of leaves stay. */
#define MXL_NO_GRADIENT ((NDArrayHandle)(intptr_t)-1)
typedef int (*MXLGradHook)(void *payload, int count, const NDArrayHandle *grads,
                           NDArrayHandle *results);
typedef int (*MXLNodeHook)(void *payload, int num_inputs, const NDArrayHandle *input_grads,
                           int num_outputs, const NDArrayHandle *output_grads,
                           NDArrayHandle *results);
/* `variable` is a handle of the leaf, which the hook frees. */
typedef int (*MXLVariableHook)(void *payload, NDArrayHandle variable);

/* Adds a hook on the gradient of an array (`count` is 1), which must be a leaf or the output of a
 * recorded operator. `out`: a new handle of the hook; it may be NULL in these four functions. */
MXL_API int MXLNDArrayAddHook(NDArrayHandle array, MXLGradHook hook, int last, void *payload,
                              MXLReleaseFunction release, MXLHookHandle *out);
/* Adds a hook that runs after the gradient of a leaf was accumulated. */
MXL_API int MXLNDArrayAddAccumulatedHook(NDArrayHandle variable, MXLVariableHook hook,
                                         void *payload, MXLReleaseFunction release,
                                         MXLHookHandle *out);
/* Adds a hook that runs before a node's backward rule, with the gradients of all its outputs. */
MXL_API int MXLNodeAddPreHook(MXLNodeHandle node, MXLGradHook hook, void *payload,
                              MXLReleaseFunction release, MXLHookHandle *out);
/* Adds a hook that runs after the rule. It gets the gradients of the inputs (by slot; none for an
 * accumulating node), which its results may replace, and the gradients of the outputs as the hooks
 * before the node left them. */
MXL_API int MXLNodeAddHook(MXLNodeHandle node, MXLNodeHook hook, void *payload,
                           MXLReleaseFunction release, MXLHookHandle *out);

/* Removes the hook, if it has not been removed yet, and frees the handle. */
MXL_API int MXLHookRemove(MXLHookHandle hook);
/* Frees the handle; the hook stays. */
MXL_API int MXLHookFree(MXLHookHandle hook);

/* ---- Backward ---- */

typedef struct MXLBackwardOptions {
    int keep_graph;        /* saved tensors stay, for another backward */
    int create_graph;      /* the backward is recorded too */
    int allow_unreachable; /* an input that the roots do not lead to is no error */
    int accumulate_grad;   /* gradients of inputs that are leaves are accumulated */
    int training;          /* the training flag during callbacks */
    int dialect; /* MXL_DIALECT_*: the front end of nodes that are recorded under create_graph; with
                    MXL_DIALECT_TORCH accumulation makes a new array then */
} MXLBackwardOptions;

/* Runs backward from the edges (nodes[i], outputs[i]). head_grads[i] is the grad_output of that
 * edge, with its shape and dtype; NULL for the list or an entry means ones.
 *
 * num_inputs 0: the gradients of all leaves are accumulated. Else only nodes that lead to the edges
 * (input_nodes[i], input_outputs[i]) run, and grads[i] is set to a new handle of the gradient of
 * that edge, NULL if no gradient arrived; it may be a handle of a grad_output itself. With
 * accumulate_grad the gradients of inputs that are leaves are accumulated instead, hooks of the
 * other inputs are called, and `grads` is not used.
 *
 * Backwards may be nested 10,000 levels deep; one more fails ("RecursionError: ..."). On failure no
 * leaf has changed, except leaves with hooks that see the accumulation. MXAutogradBackwardEx uses
 * the same engine. */
MXL_API int MXLBackward(int num_roots, const MXLNodeHandle *nodes, const int *outputs,
                        const NDArrayHandle *head_grads, const MXLBackwardOptions *options,
                        int num_inputs, const MXLNodeHandle *input_nodes, const int *input_outputs,
                        NDArrayHandle *grads);

/* Queues a callback from within a backward of this thread (in a hook or the backward of a custom
 * function). It is called once at the end, after all gradients were written, in the order of these
 * calls, and not called if the backward fails. The payload is released afterwards in either case.
 * In nested backwards the innermost one calls it. */
typedef int (*MXLCallback)(void *payload);
MXL_API int MXLBackwardQueue(MXLCallback callback, void *payload, MXLReleaseFunction release);

/* The backward that runs on this thread: 0 none, 1 one for all leaves, 2 one for given inputs. */
MXL_API int MXLBackwardState(int *out);

/* The id of this thread or, if this thread continues the nested backward of a waiting thread, the
 * id of that thread. Bindings that keep state per thread during calls use this id as the key. */
MXL_API int MXLThreadGetOrigin(uint64_t *out);

/* ---- Recording ---- */

/* Saved-tensor hooks. `pack` gets a new handle of a tensor, without an edge, which it frees, and
 * sets *packed to any pointer that represents the tensor; operators that it calls are not recorded.
 * `unpack` sets *array to a new handle of an array with the same shape and dtype. It is called each
 * time a backward rule or MXLNodeGetSaved reads the tensor. `drop` (may be NULL) frees the packed
 * form when the node is released or freed. */
typedef int (*MXLPackFunction)(void *payload, NDArrayHandle array, void **packed);
typedef int (*MXLUnpackFunction)(void *payload, void *packed, NDArrayHandle *array);
typedef void (*MXLDropFunction)(void *payload, void *packed);

/* Push: until the matching pop, these functions pack and unpack all tensors that nodes recorded on
 * this thread save. Only the functions pushed last are used. A packed tensor has no version check.
 * `release` (may be NULL) is called with the payload after the pop, when no packed tensor is left;
 * it is never called if this function fails. */
MXL_API int MXLPushSavedHooks(MXLPackFunction pack, MXLUnpackFunction unpack, MXLDropFunction drop,
                              void *payload, MXLReleaseFunction release);
MXL_API int MXLPopSavedHooks(void);

/* Packs the index-th saved tensor of a node (as MXLNodeGetSaved counts) with the functions pushed
 * last. Nothing happens where there are none; an error where it is packed already. */
MXL_API int MXLNodePackSaved(MXLNodeHandle node, int index);

/* Sets this thread's record hook; NULL removes it. The hook is called for each new node after its
 * outputs are computed, and frees the handles it gets. If it does not return 0, the operator fails.
 * It is not called for nodes that it records itself, nor for sums that accumulation records. */
typedef int (*MXLRecordHook)(void *payload, MXLNodeHandle node, int num_outputs,
                             const NDArrayHandle *outputs);
MXL_API int MXLSetRecordHook(MXLRecordHook hook, void *payload);

/* Sets this thread's anomaly check of the results of backward rules: 0 none, 1 NaN, 2 NaN and
 * infinities. A backward that finds one fails with the node, the input and the position. `before`
 * (may be NULL): the setting until now. */
MXL_API int MXLSetAnomaly(int check, int *before);

/* The node at which this thread's last backward under MXLSetAnomaly failed; in nested backwards,
 * the outermost node. *node is a new handle, or NULL if no backward failed since the last call of
 * this function. */
MXL_API int MXLAnomalyTakeNode(MXLNodeHandle *node);

/* The position in C order of the first element that is NaN (`check` 1), or NaN or infinite (`check`
 * 2); *index is -1 if there is none. */
MXL_API int MXLNDArrayFindNonFinite(NDArrayHandle array, int check, int64_t *index);

/* Get and set the state of the process's random generator, to draw the same numbers again. */
MXL_API int MXLRandomGetState(uint64_t state[2]);
MXL_API int MXLRandomSetState(const uint64_t state[2]);

#ifdef __cplusplus
}
#endif

#endif /* MXLITE_GRAPH_H_ */
