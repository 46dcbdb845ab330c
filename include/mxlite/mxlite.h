/* What mxlite adds to MXNet's C API: prepared calls, views that return their handle, counts of live
 * objects, an allocator of the embedder's choice. Compiles alone as C99 and as C++.
 *
 * Functions that return `int` return 0, or -1 with the message of MXGetLastError. Functions that
 * return an NDArrayHandle return a new handle (free it with MXNDArrayFree), or NULL with the same
 * message. Handles are opaque integers in pointer clothes: odd, below 2^53, never an address.
 */
#ifndef MXLITE_MXLITE_H_
#define MXLITE_MXLITE_H_

#include "mxlite/c_api.h"
#include "mxlite/graph.h"

#include <stddef.h>
#include <stdint.h>

#define MXL_VERSION_MAJOR 0
#define MXL_VERSION_MINOR 1
#define MXL_VERSION_PATCH 0
/* One number, as MXLGetVersion gives it: 10000 * major + 100 * minor + patch. */
#define MXL_VERSION (10000 * MXL_VERSION_MAJOR + 100 * MXL_VERSION_MINOR + MXL_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was loaded, e.g. 100 for 0.1.0. (MXGetVersion answers the version
 * of MXNet whose API this is: 10901.) */
MXL_API int MXLGetVersion(int *out);

/* ---- Prepared calls --------------------------------------------------------------------------
 * An operator with its constant parameters parsed once. What varies from call to call (scalars,
 * axes, bounds, shapes) is passed as typed arguments, in the order named here. */

/* A prepared call: lives as long as the process, may be used by any thread. */
typedef void *MXLCallHandle;

/* One typed argument. The parameter decides which member is read: `i` for integers, booleans,
 * dtypes (MXNet's type flags) and enumerations (position in the list of names); `f` for floats;
 * `list` for shapes, axes and bounds (n = -1 is None; an entry INT64_MIN is None), of any length;
 * an array has at most 32 axes. The numbers of a list are only read during the call. */
typedef struct MXLList {
    int64_t n;
    const int64_t *values;
} MXLList;

typedef union MXLValue {
    int64_t i;
    double f;
    MXLList list;
} MXLValue;

/* Prepares operator `name` with `num_constant` parameters as text (keys, values; not NULL unless
 * the number is 0) and `num_arguments` parameters named in `arguments`, given anew with every call.
 * The same request gives the same handle; a process has room for 65,536 different ones. Errors:
 * unknown operator or parameter, malformed value, a required parameter that is neither constant nor
 * argument, a parameter named twice, text as an argument. */
MXL_API int MXLPrepare(const char *name, int num_constant, const char **keys, const char **values,
                       int num_arguments, const char **arguments, MXLCallHandle *out);

/* Dialects: what is recorded when, and what edits in place mean. */
enum { MXL_DIALECT_MXNET = 0, MXL_DIALECT_TORCH = 1 };

/* As MXLPrepare, for calls whose nodes have a label, and (MXL_DIALECT_TORCH) for those in PyTorch's
 * dialect. Of MXNet's the flags decide what is recorded, and edits in place are followed, whatever
 * MXLSetInplace says. A call of PyTorch's is recorded when the thread's grad mode is on, whatever
 * MXNet's flags say; reductions to one element have shape (); results of operators that select or
 * reorder share memory with their input; arrays may be edited in place, and the tape follows.
 * `label` (may be NULL: made from the operator's name) names the nodes, e.g. "AddBackward0";
 * `slots` (may be NULL: the inputs in order, or what the operator's name says) says what such a
 * node's inputs are when it is looked at: a digit for one of the first ten inputs, '-' for a slot
 * with nothing, e.g. "0-" for x + 5. */
MXL_API int MXLPrepareAs(int dialect, const char *label, const char *slots, const char *name,
                         int num_constant, const char **keys, const char **values,
                         int num_arguments, const char **arguments, MXLCallHandle *out);

/* This thread's grad mode, 1 at the start: whether calls of PyTorch's dialect are recorded.
 * `before` may be NULL. */
MXL_API int MXLSetGradMode(int enabled, int *before);
MXL_API int MXLGetGradMode(int *out);

/* What calls of MXNet's dialect on this thread do with edits in place while recording: 0, as at the
 * start, MXNet's strict rule, which refuses most; 1: the tape follows, as in PyTorch's dialect.
 * `before` may be NULL. */
MXL_API int MXLSetInplace(int follow, int *before);

/* Runs a prepared call whose operator has one visible output. `arguments` holds as many values as
 * were named (NULL when none). Recorded when the thread is recording. */
MXL_API NDArrayHandle MXLCall(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                              const MXLValue *arguments);

/* The same for the commonest forms: no argument, one float, one integer, one list. */
MXL_API NDArrayHandle MXLCall1(MXLCallHandle call, NDArrayHandle a);
MXL_API NDArrayHandle MXLCall2(MXLCallHandle call, NDArrayHandle a, NDArrayHandle b);
MXL_API NDArrayHandle MXLCall1Float(MXLCallHandle call, NDArrayHandle a, double value);
MXL_API NDArrayHandle MXLCall1Int(MXLCallHandle call, NDArrayHandle a, int64_t value);
MXL_API NDArrayHandle MXLCall1List(MXLCallHandle call, NDArrayHandle a, int64_t n,
                                   const int64_t *values);

/* Any number of outputs. outputs[i] NULL: set to a new handle; otherwise that array is written to.
 * num_outputs: in, the length of `outputs`; out, how many the operator has. On failure NULL entries
 * are NULL still. */
MXL_API int MXLCallInto(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                        const MXLValue *arguments, int *num_outputs, NDArrayHandle *outputs);

/* How many outputs a call has that a caller sees. It may depend on the arguments (the parts that an
 * array is split into): with `arguments` NULL *out is then -1. */
MXL_API int MXLCallGetNumOutputs(MXLCallHandle call, const MXLValue *arguments, int *out);

/* ---- Arrays -----------------------------------------------------------------------------------
 */

/* New handles of views that share memory with `array`: rows [begin, end) of the first axis; row
 * `index` without its axis; the same elements in another shape (codes 0, -1, -2, -3, -4 as in the
 * Reshape operator; read from the right when `reverse`). Recorded when the thread is recording. */
MXL_API NDArrayHandle MXLNDArraySlice(NDArrayHandle array, int64_t begin, int64_t end);
MXL_API NDArrayHandle MXLNDArrayAt(NDArrayHandle array, int64_t index);
MXL_API NDArrayHandle MXLNDArrayReshape(NDArrayHandle array, int ndim, const int64_t *shape,
                                        int reverse);

/* New handle of an array over memory that is someone else's: `shape` in C order at `data`, aligned
 * to its elements. `release` (may be NULL; graph.h has its type) is called with `payload` when
 * nothing in the library needs the memory any more, from whatever thread that is; never if this
 * fails. */
MXL_API NDArrayHandle MXLNDArrayFromMemory(void *data, int ndim, const int64_t *shape, int dtype,
                                           MXLReleaseFunction release, void *payload);

/* From here on nothing in the library writes to the array's memory, which must be someone else's
 * (MXLNDArrayFromMemory, DLPack): as output, in place, by a copy or as a gradient's buffer it is an
 * error, through whichever array. There is no way back. */
MXL_API int MXLNDArrayProtect(NDArrayHandle array);

/* As MXNDArrayToDLPack and MXNDArrayFromDLPack, with DLPack's versioned struct (1.0). A tensor that
 * is marked as read-only becomes an array that is protected, and the other way round. */
MXL_API int MXLNDArrayToDLPackVersioned(NDArrayHandle array, void **out_dlpack);
MXL_API NDArrayHandle MXLNDArrayFromDLPackVersioned(void *dlpack);

/* Number of axes of the array (-1: it has no shape yet; -2: error), its extents into `shape` (at
 * most `room` of them) and its dtype (MXNet's type flag) into `dtype`; both may be NULL. */
MXL_API int MXLNDArrayGetInfo(NDArrayHandle array, int room, int64_t *shape, int *dtype);

/* Number of axes of the array (-1: error), its strides in elements into `strides` (at most `room`
 * of them), and how many elements of its memory lie before its first; both may be NULL. */
MXL_API int MXLNDArrayGetStrides(NDArrayHandle array, int room, int64_t *strides, int64_t *offset);

/* The address of the array's first element, whatever its strides (MXNDArrayGetData refuses elements
 * that do not lie in C order); NULL where it has none. */
MXL_API int MXLNDArrayGetAddress(NDArrayHandle array, void **address);

/* -1 with the error set where a recorded edit of the array in place would be refused in PyTorch's
 * dialect: it is a variable that wants a gradient, or a view whose edits cannot be followed.
 * Nothing is refused while recording is off. For callers of MXLFunctionRecord, before they write.
 */
MXL_API int MXLNDArrayCheckEdit(NDArrayHandle array);

/* An edit in place that changes an array's shape: `view` shows the array's memory in the new one.
 * The memory counts as edited, while `view` is up to date. A variable that wants a gradient takes
 * over shape and strides and stays the variable that it is (*kept 1): a gradient that arrives in
 * its old shape is an error. An array that is no view takes over shape, strides and the view's
 * place in the graph (*kept 1) where the elements of both lie in C order and, if the array is
 * recorded, the view is too. For any other array (*kept 0, which is unchanged) the caller goes on
 * with `view`. No other thread may use the array meanwhile. */
MXL_API int MXLNDArrayTurn(NDArrayHandle array, NDArrayHandle view, int *kept);

/* Tells the engine that the bytes behind MXNDArrayGetData were written, so that a value saved for
 * backward is found to be stale. */
MXL_API int MXLNDArrayBumpVersion(NDArrayHandle array);

/* How often the array's storage was written to. */
MXL_API int MXLNDArrayGetVersion(NDArrayHandle array, uint64_t *out);

/* ---- Custom functions ---------------------------------------------------------------------------
 * Within the backward callback of a function recorded by MXCustomFunctionRecord: a new handle of
 * `array`'s memory as output `output` of that function, so that what is computed from it under
 * create_graph leads back to the function. A function that keeps an output for its backward keeps
 * an alias without place (MXNDArrayDetach) and calls this; keeping the output itself would keep the
 * function alive by itself. */
MXL_API NDArrayHandle MXLCustomFunctionOutput(NDArrayHandle array, int output);

/* The rule of a function: gradients of its outputs (NULL where none arrived) as handles that it
 * frees; wants[i]: whether that of input i is wanted, for which results[i], NULL on entry, may be
 * set to a new handle that the library takes over. 0, or something else to stop the backward. */
typedef int (*MXLFunctionRule)(void *payload, int num_outputs, const NDArrayHandle *output_grads,
                               int num_inputs, const int *wants, NDArrayHandle *results);

/* Makes a node with the dialect, label and slots of `like` (a call of MXLPrepareAs), whose rule is
 * `rule`, and gives the outputs their places on it: new arrays, or inputs that were edited. *taken:
 * whether there is one now; there is none where nothing is recorded, or no gradient flows to an
 * input. It calls `release` with the payload when it goes, and before that, once, `forget` (may be
 * NULL) where a backward without keep_graph is through with it: then the function drops what it
 * saved, and a rule that needs it fails from then on. */
MXL_API int MXLFunctionRecord(MXLCallHandle like, int num_inputs, const NDArrayHandle *inputs,
                              int num_outputs, const NDArrayHandle *outputs, MXLFunctionRule rule,
                              void *payload, MXLReleaseFunction forget, MXLReleaseFunction release,
                              int *taken);

/* ---- Process ----------------------------------------------------------------------------------
 */

/* Handles and bytes that are allocated and not yet freed, over all threads. */
MXL_API int MXLGetLiveHandles(int64_t *out);
MXL_API int MXLGetLiveBytes(int64_t *out);

/* Bytes of freed memory that are kept for reuse, in blocks of more than 1 KiB or in batches of
 * smaller ones; MXStorageEmptyCache gives them back to the system. */
MXL_API int MXLGetPoolBytes(int64_t *out);

/* The most that is kept so; the least recently freed goes first. Negative: back to what
 * MXLITE_POOL_MB says (in MiB), or else to an eighth of the machine's memory, at most 1 GiB. What
 * is above the new cap is given back at once. *before: the cap until now. */
MXL_API int MXLSetPoolCap(int64_t bytes, int64_t *before);

/* `alloc` returns memory aligned to `align` bytes, or NULL; `release` gets the same number of bytes
 * back. Both are called from any thread. */
typedef void *(*MXLAllocFunction)(void *payload, size_t bytes, size_t align);
typedef void (*MXLFreeFunction)(void *payload, void *block, size_t bytes);

/* Replaces the allocator of everything the library allocates; NULL, NULL puts the system's back.
 * `keep_blocks` 0: freed blocks are not kept for reuse, every allocation reaches `alloc`. An error
 * while blocks are live that another allocator gave. */
MXL_API int MXLSetAllocator(MXLAllocFunction alloc, MXLFreeFunction release, void *payload,
                            int keep_blocks);

/* One fact about this build and machine as text: "version", "compiler", "threads", "vector_level",
 * "backends" (by name, "portable" the last), "openblas" (file and version, or "none"), "dtypes".
 * Borrowed, valid until this thread's next call of this function. */
MXL_API int MXLGetInfo(const char *what, const char **out);

/* ---- Back ends ---------------------------------------------------------------------------------
 * Tuned libraries, found at run time and opened at first use. There is one, "openblas", for the
 * factorisations of linalg_*. It is the one that the environment variable MXLITE_OPENBLAS names,
 * else the one that was hinted at, else the system's libopenblas. Without it, or with
 * MXLITE_BACKENDS=none, routines of our own do the same; so they do in a process that is forked
 * from one that has loaded it. */

/* `path` NULL: not to be used from now on; "": looked for as at the start; else the library of that
 * name, opened now. An error (it cannot be opened, or lacks what is needed) changes nothing. */
MXL_API int MXLSetBackend(const char *name, const char *path);

/* Where the library may be; it need not be there. */
MXL_API int MXLHintBackend(const char *name, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* MXLITE_MXLITE_H_ */
