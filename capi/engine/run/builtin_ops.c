/* Finds the operators that the engine calls. */
#include "engine/run/builtin_ops.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/state.h"

/* Built aside and published once, so that no lock is held over a fork; lives as long as the
 * process. */
static _Atomic(mxl_builtin_ops *) builtin;

static bool find_all(mxl_builtin_ops *k)
{
    return (k->add = mxl_op_find("elemwise_add")) != NULL &&
           (k->either = mxl_op_find("_npi_bitwise_or")) != NULL &&
           (k->copy = mxl_op_find("_copy")) != NULL &&
           (k->copyto = mxl_op_find("_copyto")) != NULL &&
           (k->ones_like = mxl_op_find("ones_like")) != NULL &&
           (k->zeros_like = mxl_op_find("zeros_like")) != NULL &&
           (k->cast = mxl_op_find("Cast")) != NULL &&
           (k->sum_to = mxl_op_find("_mxl_sum_to")) != NULL &&
           (k->reshape_to = mxl_op_find("_mxl_reshape_to")) != NULL &&
           (k->cast_storage = mxl_op_find("cast_storage")) != NULL &&
           (k->as_strided = mxl_op_find("_mxl_as_strided")) != NULL &&
           (k->strided_put = mxl_op_find("_mxl_strided_put")) != NULL &&
           (k->zeros_put = mxl_op_find("_mxl_zeros_put")) != NULL &&
           (k->broadcast_to = mxl_op_find("_mxl_broadcast_to")) != NULL &&
           (k->broadcast_add = mxl_op_find("broadcast_add")) != NULL &&
           (k->stack = mxl_op_find("stack")) != NULL;
}

const mxl_builtin_ops *mxl_builtin_ops_get(void)
{
    mxl_builtin_ops *k = atomic_load_explicit(&builtin, memory_order_acquire), *other = NULL;

    if (k != NULL)
        return k;
    k = mxl_state_system_memory(sizeof(*k));
    if (k == NULL) {
        mxl_error_memory(sizeof(*k));
        return NULL;
    }
    if (!find_all(k)) {
        free(k);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&builtin, &other, k))
        return k;
    free(k);
    return other;
}
