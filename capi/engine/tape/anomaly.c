/* Scans for NaN and infinities, and the node where a backward failed. */
#include "engine/tape/anomaly.h"

#include <math.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/state.h"

/* Exponent full: NaN, or infinite where the rest but the sign is zero. */
static bool is_bad_half(uint16_t bits, int check)
{
    return (bits & 0x7c00) == 0x7c00 && (check > 1 || (bits & 0x03ff) != 0);
}

static int64_t find(const mxl_array *array, int check)
{
    const void *data = mxl_array_read(array);

    for (int64_t i = 0; i < array->size; i++) {
        bool bad;

        if (array->dtype == MXL_F16)
            bad = is_bad_half(((const uint16_t *)data)[i], check);
        else if (array->dtype == MXL_F32)
            bad = check > 1 ? !isfinite(((const float *)data)[i]) : isnan(((const float *)data)[i]);
        else
            bad =
                check > 1 ? !isfinite(((const double *)data)[i]) : isnan(((const double *)data)[i]);
        if (bad)
            return i;
    }
    return -1;
}

int64_t mxl_anomaly_find(mxl_array *array, int check)
{
    mxl_array *whole;
    int64_t found;

    if (!mxl_array_is_dense(array) || !mxl_dtype_is_float(array->dtype) || check <= 0)
        return -1;
    whole =
        array->dtype == MXL_BF16 ? mxl_array_copy_as(array, MXL_F32) : mxl_array_contiguous(array);
    if (whole == NULL)
        return -2;
    found = find(whole, check);
    mxl_array_release(whole);
    return found;
}

/* "(1, 2)" of element `index` in C order. */
static const char *position_text(char *text, size_t size, const mxl_array *array, int64_t index)
{
    int64_t at[MXL_MAX_NDIM];

    for (int i = array->ndim - 1; i >= 0; i--) {
        at[i] = index % array->shape[i];
        index /= array->shape[i];
    }
    return mxl_shape_text(text, size, array->ndim, at);
}

int mxl_anomaly_check(const mxl_node *node, mxl_array *const *set, int check)
{
    const char *name = node->dialect->label != NULL ? node->dialect->label : node->op->name;
    char where[128];

    for (int i = 0; i < node->num_inputs; i++) {
        int64_t found = set[i] == NULL ? -1 : mxl_anomaly_find(set[i], check);

        if (found == -2)
            return -1;
        if (found >= 0)
            return mxl_error("%s: its backward returned %s for input %d, at %s", name,
                             check > 1 ? "a NaN or an infinity" : "NaN", i,
                             position_text(where, sizeof(where), set[i], found));
    }
    return 0;
}

static void anomaly_release(void *slot)
{
    mxl_ref_release(slot);
}

void mxl_anomaly_keep(mxl_node *node)
{
    mxl_state *state = mxl_state_get();
    mxl_node *old = mxl_anomaly_take();

    if (state == mxl_state_here) {
        mxl_ref_retain(&node->ref);
        state->slots[MXL_SLOT_ANOMALY] = &node->ref;
        state->slot_free[MXL_SLOT_ANOMALY] = anomaly_release;
    }
    if (old != NULL)
        mxl_ref_release(&old->ref);
}

mxl_node *mxl_anomaly_take(void)
{
    mxl_state *state = mxl_state_get();
    mxl_node *node = state->slots[MXL_SLOT_ANOMALY];

    state->slots[MXL_SLOT_ANOMALY] = NULL;
    return node;
}
