/* Calls of a caller's function within the engine: the thread's flags that it sees, and its error.
 * */
#ifndef MXL_ENGINE_BACKWARD_CALLBACK_H
#define MXL_ENGINE_BACKWARD_CALLBACK_H

#include <stdbool.h>

#include "base/error.h"
#include "engine/tape/tape.h"

typedef struct mxl_callback {
    bool recording, training, grad_off, inside;
    char text; /* first character of the error before */
} mxl_callback;

/* From here on the thread has these flags, in every dialect, and no error. */
void mxl_callback_enter(mxl_callback *before, bool record, bool training);

/* Puts the flags back. 0, or where it failed -1 with the error "<fmt> failed", and behind it what
 * was set meanwhile (NNAPISetLastError, a call that failed). */
int mxl_callback_leave(const mxl_callback *before, bool failed, const char *fmt, ...)
    MXL_PRINTF(3, 4);

/* The array that a caller's function returned as a handle, which is freed; new reference. NULL with
 * the error set where it is none, or not of that shape and dtype: "who: what with shape (2,) ...".
 */
mxl_array *mxl_callback_take(void *handle, const mxl_meta *meta, const char *who, const char *what);

/* Frees what a caller's function returned, if it is an array's handle; the error stays. */
void mxl_callback_free(void *handle);

#endif
