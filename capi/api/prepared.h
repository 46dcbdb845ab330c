/* Prepared calls, between the file that makes them (api_prepare.c) and the one that runs them
 * (api_call.c). */
#ifndef MXL_API_PREPARED_H
#define MXL_API_PREPARED_H

#include "api/common.h"

enum { API_PARAMS_ROOM = 512 }; /* the largest parameter struct */

/* An operator with its constant parameters; lives as long as the process. */
typedef struct api_prepared {
    const mxl_op *op;
    enum {
        API_PLAIN,
        API_MXNET,
        API_TORCH
    } kind;              /* API_PLAIN: made by MXLPrepare, has no dialect */
    mxl_dialect dialect; /* label and slots are the call's own text */
    void *params; /* with all constants and defaults filled in; arguments are put into a copy */
    size_t params_bytes;
    bool constant; /* nothing varies from call to call: `params` are used as they are */
    int num_arguments;
    int count_offset; /* where the number of inputs goes, or -1 */
    const mxl_param *arguments[];
} api_prepared;

/* The call of a handle from MXLPrepare; NULL with the error set. */
const api_prepared *api_prepared_get(const void *handle);

/* How a call runs on this thread. */
static inline mxl_mode api_prepared_mode(const api_prepared *call)
{
    mxl_mode mode;

    if (call->kind == API_PLAIN)
        return api_mode();
    if (call->kind == API_MXNET) {
        mode = api_mode();
        mode.dialect = &call->dialect;
        return mode;
    }
    mode.record = !mxl_state_get()->grad_off;
    mode.training = true;
    mode.legacy_shape = false;
    mode.dialect = &call->dialect;
    return mode;
}

#endif
