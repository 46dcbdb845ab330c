/* Prepared calls: made by api_prepare.c, run by api_call.c. */
#ifndef MXL_API_PREPARED_H
#define MXL_API_PREPARED_H

#include "api/common.h"
#include "op/promotion.h"

enum { API_PARAMS_ROOM = 512 }; /* the largest parameter struct */

/* An operator with its constant parameters; never freed. */
typedef struct api_prepared {
    const mxl_op *op;
    enum {
        API_PLAIN,
        API_MXNET,
        API_TORCH
    } kind;              /* API_PLAIN: made by MXLPrepare, without front end */
    mxl_dialect dialect; /* its label and slots point to texts of the call */
    void *params;        /* with all constants and defaults; arguments are set in a copy */
    size_t params_bytes;
    bool constant;                  /* no arguments: `params` are used directly */
    const mxl_promotion *promotion; /* what the operator does with operands of other dtypes, in a
                                       front end that promotes; NULL: nothing */
    bool numbers;                   /* with it: of two operands, one may be a number */
    enum {
        API_ANY,
        API_ROWS, /* slice_axis of axis, begin, end */
        API_ROW,  /* _mxl_select of the first axis, by index */
        API_KEY   /* _mxl_index of MXNet's front end, by key */
    } view;       /* whether api_quick_view knows the call */
    int num_arguments;
    int count_offset; /* of the field with the number of inputs, or -1 */
    const mxl_param *arguments[];
} api_prepared;

/* The call of a handle from MXLPrepare; NULL with the error set. */
const api_prepared *api_prepared_get(const void *handle);

/* api_view.c: the view that a call of PyTorch's front end with `view` set gives. NULL, perhaps with
 * an error set, where mxl_invoke decides: the array is not in C order, has no such rows, or calls
 * are measured. */
NDArrayHandle api_quick_view(const api_prepared *call, NDArrayHandle handle,
                             const MXLValue *arguments);

/* The same of a call of MXNet's front end by a key without index arrays: a view where what it
 * selects lies in one run of memory. */
NDArrayHandle api_key_view(const api_prepared *call, NDArrayHandle handle,
                           const MXLValue *arguments);

/* The mode of a call on this thread. */
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
    mode.meta = false;
    mode.dialect = &call->dialect;
    return mode;
}

#endif
