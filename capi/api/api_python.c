/* Ends of Python's objects that the library holds or takes part in. Called by Python and by owners
 * of arrays, for bindings whose own functions Python would run with an exception at hand. */
#include "api/common.h"

#include <string.h>

#include "api/dlpack.h"

/* Python's functions, which the binding gave; NULL: no Python. */
static _Atomic(const MXLPythonFunctions *) functions;

int MXLSetPython(const MXLPythonFunctions *python)
{
    API_NEED(python);
    atomic_store_explicit(&functions, python, memory_order_release);
    return 0;
}

void MXLPythonRelease(void *object)
{
    const MXLPythonFunctions *python = atomic_load_explicit(&functions, memory_order_acquire);
    void *type, *value, *trace;
    int gil;

    if (python == NULL || object == NULL || !python->is_initialized())
        return;
    gil = python->gil_ensure();
    python->error_fetch(&type, &value, &trace);
    python->release(object);
    python->error_restore(type, value, trace);
    python->gil_release(gil);
}

/* Gives the tensor back to its owner: of a capsule that was taken the name is another one. */
static void give_back(const char *name, void *tensor)
{
    dl_versioned *versioned = tensor;

    if (strcmp(name, "dltensor") == 0)
        (void)MXNDArrayCallDLPackDeleter(tensor);
    else if (strcmp(name, "dltensor_versioned") == 0 && versioned->deleter != NULL)
        versioned->deleter(versioned);
}

void MXLPythonEndCapsule(void *capsule)
{
    const MXLPythonFunctions *python = atomic_load_explicit(&functions, memory_order_acquire);
    void *type, *value, *trace, *tensor;
    const char *name;

    if (python == NULL || capsule == NULL)
        return;
    python->error_fetch(&type, &value, &trace);
    name = python->capsule_name(capsule);
    tensor = name == NULL ? NULL : python->capsule_pointer(capsule, name);
    if (tensor != NULL)
        give_back(name, tensor);
    python->error_restore(type, value, trace);
}
