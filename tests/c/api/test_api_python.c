/* Ends of Python's objects: what the library calls of Python, in which order, with a Python of
 * notes.
 */
#include "harness.h"

#include <string.h>

#include "api/dlpack.h"
#include "mxlite/mxlite.h"

/* What the library called of "Python", a letter for each; and whether that runs. */
static char called[32];
static int runs, object;

static void call_noted(char letter)
{
    size_t length = strlen(called);

    if (length + 1 < sizeof(called))
        called[length] = letter;
}

static int is_initialized(void)
{
    return runs;
}

static int ensure(void)
{
    call_noted('E');
    return 7;
}

static void leave(int state)
{
    call_noted(state == 7 ? 'L' : '?');
}

static void fetch(void **type, void **value, void **trace)
{
    call_noted('F');
    *type = *value = called;
    *trace = NULL;
}

static void restore(void *type, void *value, void *trace)
{
    call_noted(type == called && value == called && trace == NULL ? 'R' : '?');
}

static void drop_object(void *dropped)
{
    call_noted(dropped == &object ? 'D' : '?');
}

/* A capsule, whose tensor notes when it is deleted. */
typedef struct capsule {
    const char *name;
    void *tensor;
} capsule;

static const char *name_of(void *of)
{
    return ((const capsule *)of)->name;
}

static void *pointer_of(void *of, const char *name)
{
    return name == name_of(of) ? ((capsule *)of)->tensor : NULL;
}

static void note_delete(dl_managed *self)
{
    call_noted(self->context == called ? 'D' : '?');
}

static void note_delete_versioned(dl_versioned *self)
{
    call_noted(self->context == called ? 'V' : '?');
}

static const char *calls_at_end_of(const char *name, void *tensor)
{
    capsule c = {name, tensor};

    memset(called, 0, sizeof(called));
    MXLPythonEndCapsule(&c);
    return called;
}

TEST(an_exception_of_python_is_kept_at_the_end_of_an_object)
{
    static const MXLPythonFunctions python = {is_initialized, ensure,      leave,   fetch,
                                              restore,        drop_object, name_of, pointer_of};
    dl_managed m = {.context = called, .deleter = note_delete};
    dl_versioned v = {.context = called, .deleter = note_delete_versioned};

    MXLPythonRelease(&object); /* nothing happens before it is known */
    CHECK_STR(calls_at_end_of("dltensor", &m), "");
    CHECK_INT(MXLSetPython(&python), 0);
    runs = 1;
    memset(called, 0, sizeof(called));
    MXLPythonRelease(&object);
    CHECK_STR(called, "EFDRL");
    MXLPythonRelease(NULL);
    runs = 0; /* Python has ended */
    MXLPythonRelease(&object);
    CHECK_STR(called, "EFDRL");
    CHECK_STR(calls_at_end_of("dltensor", &m), "FDR");
    CHECK_STR(calls_at_end_of("dltensor_versioned", &v), "FVR");
    CHECK_STR(calls_at_end_of("used_dltensor", &m), "FR");
    CHECK_STR(calls_at_end_of("used_dltensor_versioned", &v), "FR");
    CHECK_STR(calls_at_end_of(NULL, &m), "FR");
    m.deleter = NULL;
    v.deleter = NULL;
    CHECK_STR(calls_at_end_of("dltensor", &m), "FR");
    CHECK_STR(calls_at_end_of("dltensor_versioned", &v), "FR");
}

HARNESS_MAIN(ENTRY(an_exception_of_python_is_kept_at_the_end_of_an_object))
