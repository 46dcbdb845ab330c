/* Releasing counted objects without recursion. */
#include "base/ref.h"

#include "base/state.h"

/* Not in mxl_state: each thread needs its own list even if its state could not be allocated. */
static _Thread_local mxl_ref *waiting MXL_TLS_FAST;
static _Thread_local bool releasing MXL_TLS_FAST;

void mxl_ref_last_released(mxl_ref *ref)
{
    if (releasing) {
        ref->next = waiting;
        waiting = ref;
        return;
    }
    releasing = true;
    do {
        ref->release(ref);
        ref = waiting;
        if (ref != NULL)
            waiting = ref->next;
    } while (ref != NULL);
    releasing = false;
}
