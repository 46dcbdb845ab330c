/* Exceptions of C++ that leave a library's code: MXNet 1.9.1 makes errors of them, and so do we.
 *
 * The unwinder asks the personality routine of each frame whether it catches. The files of this
 * folder are compiled with -fexceptions, so that functions that have a variable with a cleanup name
 * one; it is ours, in place of libgcc's for C, and it catches. The library's own frames have been
 * unwound when it gets control back, and it jumps to where the library was called. */
#include "api/library/library.h"

#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "backend/probe.h"
#include "base/system/dynamic.h"

static _Thread_local api_catch *innermost;

void api_catch_begin(api_catch *here, const api_library *library)
{
    here->outer = innermost;
    here->library = library;
    here->first = library->call.msgSize();
    here->thrown[0] = '\0';
    innermost = here;
}

void api_catch_end(api_catch *here)
{
    innermost = here->outer;
}

/* ---- what the exception says ---- */

/* Of libstdc++: an object begins with the table of its virtual functions. */
typedef struct object {
    void (*const *functions)(void);
} object;

typedef struct runtime {
    void *(*begin)(void *exception);
    void (*end)(void);
    const object *(*type)(void);
    const object *base; /* the type of std::exception */
} runtime;

static const mxl_probe_symbol functions[] = {
    {"__cxa_begin_catch", offsetof(runtime, begin)},
    {"__cxa_end_catch", offsetof(runtime, end)},
    {"__cxa_current_exception_type", offsetof(runtime, type)},
    {"_ZTISt9exception", offsetof(runtime, base)},
    {0}};

/* Their places in the tables. */
enum { TYPE_DO_CATCH = 4, EXCEPTION_WHAT = 2 };
typedef bool do_catch(const object *base, const object *type, void **thrown, unsigned outer);
typedef const char *what(const void *exception);

/* "GNUCC++" and 0: the object that was thrown follows. (std::rethrow_exception has another class.)
 */
#define GNU_WITH_OBJECT UINT64_C(0x474e5543432b2b00)

/* Notes what the exception says, and frees it. (Not by _Unwind_DeleteException, for which alone the
 * library would need libgcc_s.) */
static void note(api_catch *here, struct _Unwind_Exception *exception)
{
    const char *text = "an exception without a text";
    void *thrown = exception + 1;
    runtime run;

    (void)snprintf(here->thrown, sizeof(here->thrown), "%s", text);
    if (exception->exception_class != GNU_WITH_OBJECT ||
        !mxl_probe_fill(here->library->opened, "", functions, &run)) {
        if (exception->exception_cleanup != NULL)
            exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
        return;
    }
    (void)run.begin(exception);
    if (((do_catch *)run.base->functions[TYPE_DO_CATCH])(run.base, run.type(), &thrown, 1)) {
        text = ((what *)((const object *)thrown)->functions[EXCEPTION_WHAT])(thrown);
        (void)snprintf(here->thrown, sizeof(here->thrown), "%s", text);
    }
    run.end();
}

/* ---- catching ---- */

void api_catch_prepare(void)
{
    mxl_library_stay(functions);
}

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
                                         _Unwind_Exception_Class kind,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context);

/* A thread that is cancelled goes on unwinding. */
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code
__gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                     struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    api_catch *here = innermost;

    (void)version;
    (void)kind;
    (void)context;
    if (here == NULL || (actions & _UA_FORCE_UNWIND) != 0)
        return _URC_CONTINUE_UNWIND;
    if ((actions & _UA_SEARCH_PHASE) != 0)
        return _URC_HANDLER_FOUND;
    note(here, exception);
    longjmp(here->back, 1);
}
