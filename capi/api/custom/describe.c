/* Shapes and dtypes of a caller's operator in symbols, of which some are unknown. */
#include "api/custom/caller.h"

#include <limits.h>

#include "base/dtype.h"
#include "base/memory/mem.h"

static int count_of(const mxl_custom *c)
{
    return c->num_arguments + c->num_outputs + c->num_aux;
}

/* The lists that infer_shape fills: of each array the number of axes and the sizes. */
typedef struct lists {
    int **shapes, *ndims;
    int (*sizes)[MXL_MAX_NDIM];
    size_t bytes;
} lists;

static int lists_begin(lists *l, size_t count)
{
    l->bytes = (count + 1) * (sizeof(int *) + sizeof(int) + sizeof(*l->sizes));
    l->shapes = mxl_alloc_zero(l->bytes);
    if (l->shapes == NULL)
        return -1;
    l->ndims = (int *)(l->shapes + count + 1);
    l->sizes = (int (*)[MXL_MAX_NDIM])(l->ndims + count + 1);
    return 0;
}

/* Unknown shapes have no axes, and unknown sizes are 0, in MXNet's legacy mode; else both are -1.
 */
static int tell_shapes(const lists *l, const api_caller_op *o, const mxl_shape *shapes, bool legacy)
{
    for (int i = 0; i < o->custom.num_arguments; i++) {
        l->ndims[i] = shapes[i].ndim < 0 && legacy ? 0 : shapes[i].ndim;
        l->shapes[i] = l->sizes[i];
        for (int k = 0; k < shapes[i].ndim; k++) {
            if (shapes[i].dim[k] > INT_MAX)
                return mxl_error("Custom: size %lld of input %d does not fit the int that operator "
                                 "\"%.100s\" is given",
                                 (long long)shapes[i].dim[k], i, o->name);
            l->sizes[i][k] = shapes[i].dim[k] < 0 ? (legacy ? 0 : -1) : (int)shapes[i].dim[k];
        }
    }
    return 0;
}

static int take_shapes(const lists *l, const api_caller_op *o, mxl_shape *shapes, bool legacy)
{
    for (int i = 0; i < count_of(&o->custom); i++) {
        int ndim = l->ndims[i];

        if (ndim > MXL_MAX_NDIM || (ndim > 0 && l->shapes[i] == NULL))
            return mxl_error("Custom: infer_shape of operator \"%.100s\" gave %d axes for array %d",
                             o->name, ndim, i);
        shapes[i].ndim = ndim < 0 || (legacy && ndim == 0) ? -1 : ndim;
        for (int k = 0; k < ndim; k++) {
            int size = l->shapes[i][k];

            shapes[i].dim[k] = size < 0 || (legacy && size == 0) ? -1 : size;
        }
    }
    return 0;
}

int api_caller_shapes(mxl_custom *custom, mxl_shape *shapes, bool legacy_shape)
{
    const api_caller_op *o = api_caller_of(custom);
    mxl_callback before;
    int status, done;
    lists l;

    if (lists_begin(&l, (size_t)count_of(custom)) != 0)
        return -1;
    status = tell_shapes(&l, o, shapes, legacy_shape);
    if (status == 0) {
        api_caller_enter(&before);
        done = API_CALL_BACK(o->prop[kCustomOpPropInferShape], CustomOpInferShapeFunc,
                             count_of(custom), l.ndims, l.shapes);
        status = api_caller_leave(&before, done, o, "infer_shape");
    }
    if (status == 0)
        status = take_shapes(&l, o, shapes, legacy_shape);
    mxl_free(l.shapes, l.bytes);
    return status;
}

int api_caller_dtypes(mxl_custom *custom, int *dtypes)
{
    const api_caller_op *o = api_caller_of(custom);
    const api_callback *types = &o->prop[kCustomOpPropInferType];
    int count = count_of(custom), done;
    mxl_callback before;

    if (types->run == NULL) { /* one dtype for all */
        for (int i = 1; i < count; i++)
            dtypes[i] = dtypes[0];
        return 0;
    }
    api_caller_enter(&before);
    done = API_CALL_BACK(*types, CustomOpInferTypeFunc, count, dtypes);
    if (api_caller_leave(&before, done, o, "infer_type") != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        if (dtypes[i] < 0)
            dtypes[i] = MXL_DTYPE_UNKNOWN;
        else if (!mxl_dtype_valid(dtypes[i]))
            return mxl_error("Custom: infer_type of operator \"%.100s\" gave no dtype for array %d",
                             o->name, i);
    }
    return 0;
}
