/* A caller's operator by MXNet's protocol of callbacks, shared by the files of this folder. */
#ifndef MXL_API_CUSTOM_CALLER_H
#define MXL_API_CUSTOM_CALLER_H

#include "api/common.h"
#include "engine/backward/callback.h"
#include "ops/custom.h"

/* Tags of the arrays that callbacks are given. */
enum { API_TAG_IN, API_TAG_OUT, API_TAG_IN_GRAD, API_TAG_OUT_GRAD, API_TAG_AUX };

enum {
    API_PROP_CALLBACKS = kCustomOpPropBackwardInferStorageType + 1,
    API_OP_CALLBACKS = kCustomOpBackward + 1
};

typedef struct api_callback {
    void (*run)(void); /* NULL: the caller gave none */
    void *context;
} api_callback;

/* One call: the caller's description of its operator (prop), and the instance (op) once there is
 * one. */
typedef struct api_caller_op {
    mxl_custom custom;
    api_callback prop[API_PROP_CALLBACKS], op[API_OP_CALLBACKS];
    size_t bytes;
    char name[];
} api_caller_op;

static inline api_caller_op *api_caller_of(mxl_custom *custom)
{
    return (api_caller_op *)custom; /* its first member */
}

/* Runs a callback, with its context as the last argument. */
#define API_CALL_BACK(entry, type, ...) ((type)(entry).run)(__VA_ARGS__, (entry).context)

/* Around a callback, which runs unrecorded. Leaving: 0, or -1 with an error that names `what`. */
void api_caller_enter(mxl_callback *before);
int api_caller_leave(const mxl_callback *before, int succeeded, const api_caller_op *o,
                     const char *what);

/* Copies the entries of a list that a caller has filled; those that are missing stay NULL. */
void api_caller_take(api_callback *entries, int most, const struct MXCallbackList *list);

/* The functions of mxl_custom. */
int api_caller_infer(mxl_custom *custom, mxl_infer *infer);
int api_caller_stypes(mxl_custom *custom, const int8_t *in, int8_t *out);
int api_caller_grad_stypes(mxl_custom *custom, const int8_t *out_grad, const int8_t *in,
                           const int8_t *out, int8_t *in_grad);
int api_caller_shapes(mxl_custom *custom, mxl_shape *shapes, bool legacy_shape);
int api_caller_dtypes(mxl_custom *custom, int *dtypes);
int api_caller_forward(mxl_custom *custom, const mxl_custom_arrays *arrays);
int api_caller_backward(mxl_custom *custom, const mxl_custom_arrays *arrays);

#endif
