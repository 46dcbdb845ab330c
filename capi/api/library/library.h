/* Libraries of operators that were built for MXNet 1.9.1's extension interface (its lib_api.h),
 * shared by the files of this folder: the functions that such a library exports, and its operators.
 */
#ifndef MXL_API_LIBRARY_LIBRARY_H
#define MXL_API_LIBRARY_LIBRARY_H

#include <setjmp.h>
#include <stdatomic.h>

#include "api/common.h"
#include "ops/custom.h"

/* A function of the library that we hand back to it, but never call. */
typedef void (*api_body)(void);

typedef const char *const *api_words;
typedef void *(*api_malloc)(void *owner, int bytes);
typedef void (*api_sparse_malloc)(void *owner, int, int, int, void **, int64_t **, int64_t **);

/* Arrays as the library takes them: shapes, ranks, data, dtypes, versions, devices, their number.
 */
#define API_ARRAYS const int64_t **, int *, void **, int *, size_t *, const char **, int *, int
/* Further arguments of a computation: memory on request, and what sparse arrays would need. */
#define API_RESOURCES                                                                              \
    api_malloc, void *, api_malloc, void *, void *, api_sparse_malloc, void *, int *, int *,       \
        void **, void **, void **, void **, int64_t *, int64_t *, int64_t *, int64_t *, void *,    \
        void *

/* The functions that a library exports, by names that start with an underscore but for
 * `initialize`. Those that return a status give 0 for a failure. */
typedef struct api_library_table {
    int (*opVersion)(void);
    int (*msgSize)(void);
    void (*msgGet)(int i, const char **text);
    int (*opRegSize)(void);
    void (*opRegGet)(int i, const char **name, int *is_subgraph, const char ***forward_devices,
                     api_body **forward, int *num_forward, const char ***backward_devices,
                     api_body **backward, int *num_backward, const char ***state_devices,
                     api_body **state, int *num_state, api_body *parse, api_body *types,
                     api_body *stypes, api_body *shapes, api_body *mutates);
    void (*opCallFree)(void *block);
    int (*opCallParseAttrs)(api_body, api_words keys, api_words values, int count, int *num_in,
                            int *num_out);
    int (*opCallInferShape)(api_body, api_words keys, api_words values, int count,
                            unsigned **in_shapes, int *in_ndims, int num_in,
                            unsigned ***new_in_shapes, int **new_in_ndims, unsigned ***out_shapes,
                            int **out_ndims, int num_out);
    int (*opCallInferType)(api_body, api_words keys, api_words values, int count, int *in,
                           int num_in, int *out, int num_out);
    int (*opCallInferSType)(api_body, api_words keys, api_words values, int count, int *in,
                            int num_in, int *out, int num_out);
    int (*opCallFCompute)(api_body, api_words keys, api_words values, int count, API_ARRAYS,
                          API_ARRAYS, API_RESOURCES);
    int (*opCallMutateInputs)(api_body, api_words keys, api_words values, int count, int **indices,
                              int *num_indices);
    int (*opCallCreateOpState)(api_body, api_words keys, api_words values, int count,
                               const char *device, int device_id, unsigned **shapes, int *ndims,
                               int num_in, const int *dtypes, void **state);
    void (*opCallDestroyOpState)(void *state);
    int (*opCallFStatefulCompute)(int is_forward, void *state, API_ARRAYS, API_ARRAYS,
                                  API_RESOURCES);
    int (*partRegSize)(void);
    int (*partRegGetCount)(int i, const char **name);
    int (*passRegSize)(void);
    void (*passRegGet)(int i, api_body *body, const char **name);
    int (*initialize)(int version);
} api_library_table;

/* Never freed, nor closed once its `initialize` was called. */
typedef struct api_library {
    struct api_library *next;
    void *opened; /* by dlopen */
    api_library_table call;
    int num_ops;
    struct api_library_op *ops;
    const mxl_op **listed; /* [num_ops] */
} api_library;

/* An operator of a library. Its backward is an operator too, which has no backward. */
typedef struct api_library_op {
    mxl_op op, back; /* op is the first member */
    const api_library *library;
    api_body parse, types, shapes, mutates, stypes; /* the last two may be NULL */
    api_body forward, backward, state;              /* for the CPU; NULL: none */
} api_library_op;

static inline const api_library_op *api_library_op_of(const mxl_op *op)
{
    return (const api_library_op *)op;
}

/* What an operator has from one forward to its backward, or to the next forward. */
typedef struct api_library_state {
    mxl_ref ref;
    const api_library *library;
    void *made;    /* by the library */
    uint64_t form; /* tells the shapes and dtypes that it was made for */
} api_library_state;

/* One call: the attributes as text, what follows from them, and the state. Its forward runs once.
 */
typedef struct api_library_call {
    mxl_custom custom; /* its first member; inputs are arguments, also those that are written to */
    const api_library_op *of;
    api_library_state *state;          /* NULL until the forward, or the operator has none */
    _Atomic(api_library_state *) last; /* of a graph's node: the state of its last run, or NULL */
    mxl_array **kept; /* [num_arguments]: inputs that forward wrote to, for backward */
    int count;        /* of attributes */
    const char **keys, **values;
    size_t bytes, list_bytes;
} api_library_call;

static inline api_library_call *api_library_call_of(mxl_custom *custom)
{
    return (api_library_call *)custom;
}

/* The fields of an operator's descriptors that do not depend on the library. */
void api_library_describe(api_library_op *o, const char *name, const char *back_name);

/* ---- calls of the library ----
 *
 *     API_CATCH(here, library);
 *     API_CALL(done, here, library->call.opCallSomething(...));
 *     if (!done)
 *         return api_library_failed(&here, name, "something");
 *
 * An exception of C++ that leaves the library's code makes `done` 0. */
typedef struct api_catch {
    struct api_catch *outer; /* of this thread */
    const api_library *library;
    int first;        /* the library keeps all messages of errors: the number of the next one */
    char thrown[256]; /* what an exception said, or empty */
    jmp_buf back;
} api_catch;

/* Before all others. The unwinder of glibc 2.35 and later knows no library that the loader took
 * behind another one's name (libmxlite.so behind libmxnet.so, see the Makefile) until it is opened
 * under its own. */
void api_catch_prepare(void);
void api_catch_begin(api_catch *here, const api_library *library);
void api_catch_end(api_catch *here);

#define API_CATCH(here, from)                                                                      \
    api_catch here __attribute__((cleanup(api_catch_end)));                                        \
    api_catch_begin(&(here), from)
#define API_CALL(done, here, made)                                                                 \
    do {                                                                                           \
        if (setjmp((here).back) == 0)                                                              \
            (done) = (made);                                                                       \
        else                                                                                       \
            (done) = 0;                                                                            \
    } while (0)

/* -1 with an error that names the operator (NULL: none) and the function of the library, and has
 * what the library has said since API_CATCH. */
int api_library_failed(const api_catch *here, const char *name, const char *what);

/* Shape i of those that the library is given: its sizes go to `*room`, which moves behind them. -1
 * with the error set where one is too large for the library's unsigned int. */
int api_library_put_shape(const api_library_op *o, int i, int ndim, const int64_t *dim,
                          unsigned **shapes, int *ndims, unsigned **room);

/* The functions of mxl_custom. */
int api_library_infer(mxl_custom *custom, mxl_infer *infer);
int api_library_shapes(mxl_custom *custom, mxl_shape *shapes, bool legacy_shape);
int api_library_dtypes(mxl_custom *custom, int *dtypes);
int api_library_forward(mxl_custom *custom, const mxl_custom_arrays *arrays);

/* Runs the library's backward: gradients of the outputs, inputs and outputs give the gradients of
 * the inputs. */
int api_library_backward(const mxl_call *call);

#endif
