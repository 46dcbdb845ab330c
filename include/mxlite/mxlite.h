/* mxlite's own functions beside MXNet's C API: prepared calls, views, custom functions, memory, and
 * the graph (mxlite/graph.h). Compiles alone as C99 and as C++.
 *
 * Functions that return `int` return 0, or -1 with the message of MXGetLastError. Functions that
 * return an NDArrayHandle return a new handle (free it with MXNDArrayFree), or NULL with the same
 * message. A handle is an opaque integer in a pointer type: odd, below 2^53, never an address. */
#ifndef MXLITE_MXLITE_H_
#define MXLITE_MXLITE_H_

#include "c_api.h"
#include "graph.h"

#include <stddef.h>
#include <stdint.h>

#define MXL_VERSION_MAJOR 0
#define MXL_VERSION_MINOR 1
#define MXL_VERSION_PATCH 0
/* As MXLGetVersion returns it: 10000 * major + 100 * minor + patch. */
#define MXL_VERSION (10000 * MXL_VERSION_MAJOR + 100 * MXL_VERSION_MINOR + MXL_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the loaded library, e.g. 100 for 0.1.0. (MXGetVersion returns the version of
 * MXNet's API: 10901.) */
MXL_API int MXLGetVersion(int *out);

/* ---- Prepared calls ----
 *
 * An operator with its constant parameters, parsed once. Parameters that vary from call to call
 * (scalars, axes, bounds, shapes) are passed as typed arguments, in the order in which they were
 * named. */

/* A prepared call. It is valid as long as the process runs, on any thread. */
typedef void *MXLCallHandle;

/* One typed argument. The type of the parameter decides which member is read: `i` for integers,
 * booleans, dtypes (MXNet's type flags) and enumerations (the position in the list of names); `f`
 * for floats; `list` for shapes, axes and bounds (n = -1 is None; an entry INT64_MIN is None). A
 * list may have any length; an array has at most 32 dimensions. The numbers of a list are read
 * during the call only. */
typedef struct MXLList {
    int64_t n;
    const int64_t *values;
} MXLList;

typedef union MXLValue {
    int64_t i;
    double f;
    MXLList list;
} MXLValue;

/* Prepares operator `name` with `num_constant` parameters as text (`keys` and `values`; NULL is
 * allowed if the number is 0) and `num_arguments` parameters, named in `arguments`, whose values
 * come with each call. Equal requests return the same handle; a process can hold 65,536 different
 * ones. Errors: an unknown operator or parameter; a malformed value; a required parameter that is
 * neither constant nor argument; a parameter named twice; an argument that is text or a list of
 * fractions. */
MXL_API int MXLPrepare(const char *name, int num_constant, const char **keys, const char **values,
                       int num_arguments, const char **arguments, MXLCallHandle *out);

/* Front ends: which flag decides about recording, and how edits in place are treated. */
enum { MXL_DIALECT_MXNET = 0, MXL_DIALECT_TORCH = 1 };

/* As MXLPrepare, for nodes with a label, and for calls of PyTorch's front end (MXL_DIALECT_TORCH).
 *
 * With MXL_DIALECT_MXNET, the thread's recording flag decides whether a call is recorded, and the
 * tape follows edits in place whatever MXLSetInplace says. With MXL_DIALECT_TORCH, the thread's
 * grad mode decides whether a call is recorded; a reduction to one element has shape (); movements
 * return views that share memory with their input; arrays may be edited in place, and the tape
 * follows.
 *
 * `label` names the nodes, e.g. "AddBackward0"; NULL makes the name from the operator's. `slots`
 * says which inputs a node shows: a digit for one of the first ten inputs, '-' for an empty slot,
 * e.g. "0-" for x + 5; NULL shows the inputs in order, or as the operator's entry in the table of
 * names says. */
MXL_API int MXLPrepareAs(int dialect, const char *label, const char *slots, const char *name,
                         int num_constant, const char **keys, const char **values,
                         int num_arguments, const char **arguments, MXLCallHandle *out);

/* This thread's grad mode, initially 1: whether calls of PyTorch's front end are recorded. `before`
 * (may be NULL): the mode until now. */
MXL_API int MXLSetGradMode(int enabled, int *before);
MXL_API int MXLGetGradMode(int *out);

/* Inference mode of PyTorch's front end, on this thread; off at the start. While it is on, the
 * memory of new arrays is an inference array's: no rule saves it (recording of such a call is an
 * error), and it is edited, made a leaf that needs a gradient, or asked for its version only in
 * this mode. `before` (may be NULL): the mode until now. The mode does not switch recording off. */
MXL_API int MXLSetInferenceMode(int enabled, int *before);

/* Returns 1 where the array's memory was made in inference mode, else 0; -1 on error. */
MXL_API int MXLNDArrayIsInference(NDArrayHandle array);

/* The floating dtype (0 float32, 1 float64, 2 float16; initially float32) that integers become in
 * PyTorch's front end where an operator computes floats, and that a floating number has beside
 * them. Of the whole process. `before` (may be NULL): the dtype until now. */
MXL_API int MXLSetDefaultDtype(int dtype, int *before);

/* Mixed precision: from then on prepared calls of MXNet's front end cast dense inputs of 16 and 32
 * bits: operators of the list `low` to dtype (2 float16, 12 bfloat16; statistics of a normalisation
 * stay), of `single` to float32, of `widest` to float32 if one of them has it. Those of
 * `conditional` are cast to float32 where the parameter, a choice among words, has the value. Names
 * of operators that are unknown are ignored; of aliases the operator's own name counts. dtype -1:
 * no more. Of the whole process, while no other thread runs operators; an error ends it too. */
MXL_API int MXLSetMixedPrecision(int dtype, uint32_t num_low, const char **low, uint32_t num_single,
                                 const char **single, uint32_t num_widest, const char **widest,
                                 uint32_t num_conditional, const char **conditional,
                                 const char **params, const char **values);

/* How calls of MXNet's front end on this thread treat edits in place while recording. 0 (the
 * initial value): MXNet's strict rule, most edits are errors. 1: the tape follows, as in PyTorch's
 * front end. `before` (may be NULL): the setting until now. */
MXL_API int MXLSetInplace(int follow, int *before);

/* Runs a prepared call whose operator has one visible output. `arguments` holds one value for each
 * named argument (NULL if there are none). The call is recorded if the thread is recording. */
MXL_API NDArrayHandle MXLCall(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                              const MXLValue *arguments);

/* The same without an array of arguments: no argument, one float, one integer, one list. Operators
 * of two arrays of PyTorch's front end that promote (add) take a number as their second operand so,
 * or as their first if the slots begin with '-'; those of an array and a number (_plus_scalar) take
 * a float or an integer. */
MXL_API NDArrayHandle MXLCall1(MXLCallHandle call, NDArrayHandle a);
MXL_API NDArrayHandle MXLCall2(MXLCallHandle call, NDArrayHandle a, NDArrayHandle b);
MXL_API NDArrayHandle MXLCall1Float(MXLCallHandle call, NDArrayHandle a, double value);
MXL_API NDArrayHandle MXLCall1Int(MXLCallHandle call, NDArrayHandle a, int64_t value);
MXL_API NDArrayHandle MXLCall1List(MXLCallHandle call, NDArrayHandle a, int64_t n,
                                   const int64_t *values);

/* The same with any number of outputs. outputs[i] NULL is set to a new handle; any other is an
 * array that is written to. *num_outputs: in, the length of `outputs`; out, the number of outputs
 * of the operator. On failure entries that were NULL are still NULL. */
MXL_API int MXLCallInto(MXLCallHandle call, int num_inputs, const NDArrayHandle *inputs,
                        const MXLValue *arguments, int *num_outputs, NDArrayHandle *outputs);

/* The number of visible outputs of a call. If it depends on the arguments (the number of parts of a
 * split) and `arguments` is NULL, *out is -1. */
MXL_API int MXLCallGetNumOutputs(MXLCallHandle call, const MXLValue *arguments, int *out);

/* ---- Arrays ---- */

/* New handles of views, which share memory with `array`: positions [begin, end) of the first
 * dimension; position `index` of the first dimension, without that dimension; the same elements in
 * another shape (codes 0, -1, -2, -3, -4 as in operator Reshape, read from the right if `reverse`
 * is set). Recorded if the thread is recording. */
MXL_API NDArrayHandle MXLNDArraySlice(NDArrayHandle array, int64_t begin, int64_t end);
MXL_API NDArrayHandle MXLNDArrayAt(NDArrayHandle array, int64_t index);
MXL_API NDArrayHandle MXLNDArrayReshape(NDArrayHandle array, int ndim, const int64_t *shape,
                                        int reverse);

/* A new handle of an array over memory of the caller: `shape` in C order at `data`, which is
 * aligned to the element size. `release` (may be NULL; graph.h declares its type) is called with
 * `payload` when the library no longer needs the memory, on any thread; it is never called if this
 * function fails. */
MXL_API NDArrayHandle MXLNDArrayFromMemory(void *data, int ndim, const int64_t *shape, int dtype,
                                           MXLReleaseFunction release, void *payload);

/* A new handle of a new array with a copy of the elements at `data`, in C order. Its version is 0.
 */
MXL_API NDArrayHandle MXLNDArrayFromData(const void *data, int ndim, const int64_t *shape,
                                         int dtype);

/* Makes the array's memory read-only, for good. The memory must be foreign (MXLNDArrayFromMemory,
 * DLPack). After that, writing to it through any array is an error: as an output, in place, by a
 * copy, or as a gradient buffer. */
MXL_API int MXLNDArrayProtect(NDArrayHandle array);

/* A new file descriptor, which the caller closes, of memory that processes share: the array's own
 * if it is such memory (cpu_shared) and begins with the array's elements, else of a copy, which
 * lives as long as the descriptor or a mapping of it. MXNDArrayCreateFromSharedMem takes it. */
MXL_API int MXLNDArrayShare(NDArrayHandle array, int *descriptor);

/* As MXNDArrayToDLPack and MXNDArrayFromDLPack, with DLPack's versioned struct (1.0). A tensor with
 * the read-only flag becomes a read-only array, and a read-only array becomes such a tensor. */
MXL_API int MXLNDArrayToDLPackVersioned(NDArrayHandle array, void **out_dlpack);
MXL_API NDArrayHandle MXLNDArrayFromDLPackVersioned(void *dlpack);

/* ---- Python's objects ----
 *
 * For a binding to Python that is not written in C. Python may end an object while an exception is
 * on its way, and runs no Python code well then. The functions below keep that exception. */

/* Functions of Python's C API; the comments are their names there. */
typedef struct MXLPythonFunctions {
    int (*is_initialized)(void);                                  /* Py_IsInitialized */
    int (*gil_ensure)(void);                                      /* PyGILState_Ensure */
    void (*gil_release)(int state);                               /* PyGILState_Release */
    void (*error_fetch)(void **type, void **value, void **trace); /* PyErr_Fetch */
    void (*error_restore)(void *type, void *value, void *trace);  /* PyErr_Restore */
    void (*release)(void *object);                                /* Py_DecRef */
    const char *(*capsule_name)(void *capsule);                   /* PyCapsule_GetName */
    void *(*capsule_pointer)(void *capsule, const char *name);    /* PyCapsule_GetPointer */
} MXLPythonFunctions;

/* Gives the library those functions, with which it is not linked. `python` must stay as it is until
 * the process ends. Without it the two functions below do nothing. */
MXL_API int MXLSetPython(const MXLPythonFunctions *python);

/* An MXLReleaseFunction: drops a reference to a Python object, on any thread. Does nothing after
 * Python has ended. */
MXL_API void MXLPythonRelease(void *object);

/* A destructor for PyCapsule_New, of capsules "dltensor" and "dltensor_versioned": calls the
 * deleter of a tensor that nobody took. */
MXL_API void MXLPythonEndCapsule(void *capsule);

/* Returns the number of dimensions of the array, -1 if it has no shape yet, -2 on error. Writes its
 * shape, at most `room` sizes, into `shape` and its dtype (MXNet's type flag) into `dtype`; both
 * may be NULL. */
MXL_API int MXLNDArrayGetInfo(NDArrayHandle array, int room, int64_t *shape, int *dtype);

/* Returns the number of dimensions of the array, -1 on error. Writes its strides in elements, at
 * most `room` of them, into `strides`, and the number of elements of its memory before its first
 * one into `offset`; both may be NULL. */
MXL_API int MXLNDArrayGetStrides(NDArrayHandle array, int room, int64_t *strides, int64_t *offset);

/* Returns 1 where the elements of the array follow each other in memory in C order, else 0; -1 on
 * error. */
MXL_API int MXLNDArrayIsContiguous(NDArrayHandle array);

/* The address of the array's first element, for any strides; NULL for an array without elements.
 * (MXNDArrayGetData fails for elements that are not in C order.) */
MXL_API int MXLNDArrayGetAddress(NDArrayHandle array, void **address);

/* The array that the array is a view of: a new handle, or NULL where it is no view. */
MXL_API int MXLNDArrayGetBase(NDArrayHandle array, NDArrayHandle *out);

/* A new handle of an array with one dimension over all of the array's memory, which shares it and
 * has no place in the graph; NULL on error. *number is the same for all arrays over one memory, and
 * for no others while they live. */
MXL_API NDArrayHandle MXLNDArrayGetMemory(NDArrayHandle array, uint64_t *number);

/* Returns -1 with the error set if PyTorch's front end would refuse a recorded edit of the array in
 * place: a leaf that needs a gradient, a view of one, or a view whose edits cannot be followed.
 * Returns 0 while recording is off. Callers of MXLFunctionRecord ask before they write. */
MXL_API int MXLNDArrayCheckEdit(NDArrayHandle array);

/* Says that a function of the caller's, which ran unrecorded, returns the array. If it is a view of
 * memory that other arrays see, its gradient is the function's business: recorded edits of it are
 * refused where edits are followed, and so is its use after its memory was edited.
 * (MXLFunctionRecord and MXCustomFunctionRecord do this for the outputs that they are given.) */
MXL_API int MXLNDArrayNoteReturned(NDArrayHandle array);

/* A batched array: what a function that is mapped over a batch gets, without the batch's axis,
 * which is the first of `whole` if `has_axis`; else all examples have the values of `whole`. Calls
 * with it run on all examples at once, and their results are batched arrays of that level. `level`
 * is 1, and higher by one for each map within another. Its values cannot be read. */
MXL_API int MXLNDArrayBatch(NDArrayHandle whole, int level, int has_axis, NDArrayHandle *out);

/* The maps that this thread runs functions in, of which the last one is the innermost: the sizes of
 * their batches; and what random operators do, 1: other numbers for each example, 2: the same (and
 * 0, for callers who refuse them). At most 16. */
MXL_API int MXLBatchLevels(int count, const int64_t *sizes, const int *randomness);

/* Returns the level of a batched array, and 0 of others; -1 on error. *has_axis as above; *whole
 * (`whole` may be NULL): a new handle of the whole array, NULL of others. */
MXL_API int MXLNDArrayBatchOf(NDArrayHandle array, NDArrayHandle *whole, int *has_axis);

/* The last operator that had no rule for batches and ran example by example since this was asked;
 * NULL: there was none. */
MXL_API int MXLBatchLooped(const char **name);

/* Changes an array's shape and strides in place: `view` is a view of the array's memory in the new
 * shape. The memory counts as edited, and `view` stays up to date.
 *
 * *kept 1: the array has taken over shape and strides. This happens for a leaf that needs a
 * gradient, which stays the same leaf (a gradient that arrives in the old shape is an error); and
 * for an array that is not a view, if the elements of both are in C order and, for a recorded
 * array, `view` is recorded too. The latter also takes over the edge of `view`.
 *
 * *kept 0: the array is unchanged, and the caller continues with `view`.
 *
 * No other thread may use the array during the call. */
MXL_API int MXLNDArrayTurn(NDArrayHandle array, NDArrayHandle view, int *kept);

/* Gives an array the memory, dtype, shape and strides of another one, which both show from then on.
 * Its place in the graph stays, and a leaf keeps its gradient: PyTorch's `p.data = value`. No other
 * thread may use the array during the call. */
MXL_API int MXLNDArrayAssume(NDArrayHandle array, NDArrayHandle value);

/* Tells the engine that the caller has written through MXNDArrayGetData, so that a saved tensor in
 * this memory is found to be edited. */
MXL_API int MXLNDArrayBumpVersion(NDArrayHandle array);

/* The version of the array's storage: how often it was written to. */
MXL_API int MXLNDArrayGetVersion(NDArrayHandle array, uint64_t *out);

/* ---- Custom functions ----
 *
 * For the backward callback of a function that MXCustomFunctionRecord recorded: a new handle over
 * `array`'s memory, attached to output `output` of that function, so that under create_graph
 * operators on it lead back to the function. A function that saves one of its outputs saves an
 * alias without an edge (MXNDArrayDetach) and calls this in its backward; saving the output itself
 * would be a cycle of references. */
MXL_API NDArrayHandle MXLCustomFunctionOutput(NDArrayHandle array, int output);

/* The backward rule of a function. output_grads: the gradients of its outputs (NULL where none
 * arrived), as handles that the rule frees. wants[i]: whether the gradient of input i is wanted; if
 * it is, results[i], NULL on entry, may be set to a new handle that the library takes over. Returns
 * 0; any other value stops the backward. */
typedef int (*MXLFunctionRule)(void *payload, int num_outputs, const NDArrayHandle *output_grads,
                               int num_inputs, const int *wants, NDArrayHandle *results);

/* Records a node with a backward rule of the caller. Its front end, label and slots are those of
 * `like`, a call of MXLPrepareAs. The outputs are attached to it: new arrays, or inputs that were
 * edited. *taken is 1 if there is a node, and 0 if the thread is not recording or no input needs a
 * gradient; the payload is then still the caller's.
 *
 * `release` is called with the payload when the node is freed. `forget` (may be NULL) is called
 * once before that, after a backward without keep_graph: the function then frees its saved tensors,
 * and its rule must fail from then on if it needs them. */
MXL_API int MXLFunctionRecord(MXLCallHandle like, int num_inputs, const NDArrayHandle *inputs,
                              int num_outputs, const NDArrayHandle *outputs, MXLFunctionRule rule,
                              void *payload, MXLReleaseFunction forget, MXLReleaseFunction release,
                              int *taken);

/* ---- Files ---- */

/* A file that is being replaced. The caller owns the memory; nobody else reads `inside`. */
typedef struct MXLReplacement {
    int descriptor;   /* to write to; -1: it has ended, or begin failed */
    int error_number; /* errno of a call that failed */
    uint64_t inside[1040];
} MXLReplacement;

/* Begins to replace the file `path`, which stays as it is until MXLReplaceEnd: what is written goes
 * into a file beside it. Links are followed, permissions kept; a pipe or a device is written
 * directly. With `stream` 1 so is a file that does not exist or is empty: what is written can be
 * read at once, and stays where the rest fails. */
MXL_API int MXLReplaceBegin(const char *path, int stream, MXLReplacement *replacement);

/* Closes the descriptor. A `whole` file is written out and gets its name; one that is not, or whose
 * writing fails, is removed, and the old file stays. A forked child that calls this closes the
 * file, and no more. */
MXL_API int MXLReplaceEnd(MXLReplacement *replacement, int whole);

/* ---- Process ---- */

/* Handles, and bytes, that are allocated and not yet freed, on all threads. */
MXL_API int MXLGetLiveHandles(int64_t *out);
MXL_API int MXLGetLiveBytes(int64_t *out);

/* Bytes of freed memory that are kept for reuse: blocks of more than 1 KiB, and batches of smaller
 * blocks. MXStorageEmptyCache returns them to the system. */
MXL_API int MXLGetPoolBytes(int64_t *out);

/* Sets the most bytes that are kept for reuse; when there are more, the blocks freed first are
 * returned to the system. A negative value restores the default: MXLITE_POOL_MB (in MiB), or else
 * an eighth of the machine's memory, at most 1 GiB. *before: the cap until now. */
MXL_API int MXLSetPoolCap(int64_t bytes, int64_t *before);

/* An allocator of the caller. `alloc` returns memory aligned to `align` bytes, or NULL; `release`
 * gets the block and its size. Both may be called on any thread. */
typedef void *(*MXLAllocFunction)(void *payload, size_t bytes, size_t align);
typedef void (*MXLFreeFunction)(void *payload, void *block, size_t bytes);

/* Replaces the allocator of all memory of the library; NULL, NULL restores the system's. With
 * `keep_blocks` 0 no freed block is kept for reuse, so each allocation calls `alloc`. An error
 * while blocks of another allocator are live. */
MXL_API int MXLSetAllocator(MXLAllocFunction alloc, MXLFreeFunction release, void *payload,
                            int keep_blocks);

/* One property of this build and machine as text: "version", "compiler", "threads", "vector_level",
 * "backends" (names, the last is "portable"), "openblas" (file and version, or "none"), "dtypes".
 * Borrowed, valid until this thread's next call of this function. */
MXL_API int MXLGetInfo(const char *what, const char **out);

/* Sets the function that is called with a line of text where the library has something to tell that
 * is no error: that a call with sparse arrays runs on dense copies, once for an operator and its
 * storage types, unless MXNET_STORAGE_FALLBACK_LOG_VERBOSE is 0. Of the whole process; NULL, as it
 * is at the start: nothing is told. The line is borrowed; the call comes on any thread. */
typedef void (*MXLNotice)(const char *line);
MXL_API int MXLSetNotice(MXLNotice notice);

/* Why mxlite lacks an operator of 1.9.1 that it lists (see MXListAllOpNames): `*reason` is one
 * clause, and every use of the operator is an error with it; but symbols take _foreach, _while_loop
 * and _cond, which have graphs. NULL: the operator is there. -1: unknown name.
 */
MXL_API int MXLOpGetRefusal(const char *name, const char **reason);

/* What the libraries that MXLoadLib has loaded brought, in the order of loading: `kind` 0 the names
 * of operators, 1 of partitioners, 2 of graph passes. The list is valid for the life of the
 * process; libraries that are loaded later are not in it. */
MXL_API int MXLLibraryNames(int kind, uint32_t *size, const char ***names);

/* ---- Back ends ----
 *
 * Tuned libraries, found at run time and opened at the first use. There is one, "openblas", for the
 * factorisations of linalg_* and, without AVX2, for products. The library is the one that the
 * environment variable MXLITE_OPENBLAS names, else the hinted one (MXLHintBackend), else the
 * system's libopenblas. mxlite's own routines run if there is none, with MXLITE_BACKENDS=none, and
 * in a process that was forked after the library was loaded. */

/* Chooses the library. `path` NULL: none from now on; "": search again, as initially; else the
 * library at that path, opened now. On an error (the library cannot be opened, or lacks a function)
 * the choice is unchanged. */
MXL_API int MXLSetBackend(const char *name, const char *path);

/* Gives a path at which the library may be found; the file need not exist. */
MXL_API int MXLHintBackend(const char *name, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* MXLITE_MXLITE_H_ */
