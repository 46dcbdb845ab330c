"""The cffi module of the hot calls, `mxlite._mxlite_cffi`; setup.py builds it, mxlite._hot_cffi wraps it.

It is not linked with the library: `bind` fills its function pointers with addresses in the library that mxlite._lib
opened, so that there is one library in the process. Handles are integers; a new handle is the result, 0 an error.
"""

import os
import runpy

import cffi

_DECLARATIONS = """
static char *const names;
int bind(int number, uint64_t address);
uint64_t call1_list(uint64_t call, uint64_t a, int64_t n, const int64_t *values);
uint64_t call_words(uint64_t call, int num_inputs, const uint64_t *inputs, int num_words, const int64_t *words,
                    const double *floats);
int into1(uint64_t call, uint64_t a, uint64_t out);
int into2(uint64_t call, uint64_t a, uint64_t b, uint64_t out);
int into1_float(uint64_t call, uint64_t a, double value, uint64_t out);
int into_words(uint64_t call, int num_inputs, const uint64_t *inputs, int num_words, const int64_t *words,
               const double *floats, int num_outputs, uint64_t *outputs);
int count_words(uint64_t call, int num_words, const int64_t *words, const double *floats);
uint64_t slice_rows(uint64_t a, int64_t begin, int64_t end);
uint64_t at(uint64_t a, int64_t index);
uint64_t reshape(uint64_t a, int ndim, const int64_t *shape);
int get_info(uint64_t a, int room, int64_t *shape_dtype);
int set_recording(int flag);
int set_training(int flag);
uint64_t owner_type(void);
"""

_SOURCE = r"""
#include <stddef.h>
#include <structmember.h>

#include "mxlite/mxlite.h"

#define FUNCTIONS(X)                                                                               \
    X(MXLCall) X(MXLCall1) X(MXLCall2) X(MXLCall1Float) X(MXLCall1Int) X(MXLCall1List)             \
    X(MXLCallInto) X(MXLCallGetNumOutputs) X(MXLNDArraySlice) X(MXLNDArrayAt)                      \
    X(MXLNDArrayReshape) X(MXLNDArrayGetInfo) X(MXNDArraySyncCopyToCPU)                            \
    X(MXNDArraySyncCopyFromCPU) X(MXNDArrayFree)                                                   \
    X(MXAutogradSetIsRecording) X(MXAutogradSetIsTraining)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

#define NAME(name) #name " "
static char *const names = FUNCTIONS(NAME);

#define HANDLE(number) ((void *)(uintptr_t)(number))
#define NUMBER(handle) ((uint64_t)(uintptr_t)(handle))

/* The functions in the order of FUNCTIONS; -1 for a number beyond them. */
static int bind(int number, uint64_t address)
{
    int i = 0;

#define BIND(name)                                                                                 \
    if (i++ == number) {                                                                           \
        p_##name = (__typeof__(&name))(uintptr_t)address;                                          \
        return 0;                                                                                  \
    }
    FUNCTIONS(BIND)
    return -1;
}

static uint64_t call1_list(uint64_t call, uint64_t a, int64_t n, const int64_t *values)
{
    return NUMBER(p_MXLCall1List(HANDLE(call), HANDLE(a), n, values));
}

/* Typed arguments come as words: (0, integer), (1, position in floats), (2, n, n entries; n = -1 is
 * None). The Python side makes them and keeps to the room. */
enum { MAX_ARGUMENTS = 32 };

static void decode(int num_words, const int64_t *words, const double *floats, MXLValue *values)
{
    int count = 0;

    for (int i = 0; i + 1 < num_words && count < MAX_ARGUMENTS; count++) {
        int64_t kind = words[i], value = words[i + 1];

        i += 2;
        if (kind == 0) {
            values[count].i = value;
        } else if (kind == 1) {
            values[count].f = floats[value];
        } else {
            values[count].list.n = value;
            values[count].list.values = words + i;
            i += value > 0 ? (int)value : 0;
        }
    }
}

static uint64_t call_words(uint64_t call, int num_inputs, const uint64_t *inputs, int num_words,
                           const int64_t *words, const double *floats)
{
    MXLValue values[MAX_ARGUMENTS];

    decode(num_words, words, floats, values);
    return NUMBER(p_MXLCall(HANDLE(call), num_inputs, (const NDArrayHandle *)inputs, values));
}

static int into1(uint64_t call, uint64_t a, uint64_t out)
{
    NDArrayHandle inputs[1] = {HANDLE(a)}, outputs[1] = {HANDLE(out)};
    int count = 1;

    return p_MXLCallInto(HANDLE(call), 1, inputs, NULL, &count, outputs);
}

static int into2(uint64_t call, uint64_t a, uint64_t b, uint64_t out)
{
    NDArrayHandle inputs[2] = {HANDLE(a), HANDLE(b)}, outputs[1] = {HANDLE(out)};
    int count = 1;

    return p_MXLCallInto(HANDLE(call), 2, inputs, NULL, &count, outputs);
}

static int into1_float(uint64_t call, uint64_t a, double value, uint64_t out)
{
    NDArrayHandle inputs[1] = {HANDLE(a)}, outputs[1] = {HANDLE(out)};
    MXLValue values[1];
    int count = 1;

    values[0].f = value;
    return p_MXLCallInto(HANDLE(call), 1, inputs, values, &count, outputs);
}

/* How many outputs the operator has, or -1. */
static int into_words(uint64_t call, int num_inputs, const uint64_t *inputs, int num_words,
                      const int64_t *words, const double *floats, int num_outputs, uint64_t *outputs)
{
    MXLValue values[MAX_ARGUMENTS];

    decode(num_words, words, floats, values);
    if (p_MXLCallInto(HANDLE(call), num_inputs, (const NDArrayHandle *)inputs, values, &num_outputs,
                      (NDArrayHandle *)outputs) != 0)
        return -1;
    return num_outputs;
}

/* How many outputs the call has with these arguments, or -1. */
static int count_words(uint64_t call, int num_words, const int64_t *words, const double *floats)
{
    MXLValue values[MAX_ARGUMENTS];
    int count;

    decode(num_words, words, floats, values);
    return p_MXLCallGetNumOutputs(HANDLE(call), values, &count) == 0 ? count : -1;
}

/* Rows as Python's x[begin:end] counts them: negative from the end, cut to what there is. */
static uint64_t slice_rows(uint64_t a, int64_t begin, int64_t end)
{
    int64_t n;

    if (p_MXLNDArrayGetInfo(HANDLE(a), 1, &n, NULL) < 1)
        n = 0;
    if (begin < 0)
        begin = begin + n < 0 ? 0 : begin + n;
    else if (begin > n)
        begin = n;
    if (end < 0)
        end = end + n < 0 ? 0 : end + n;
    else if (end > n)
        end = n;
    return NUMBER(p_MXLNDArraySlice(HANDLE(a), begin, end));
}

static uint64_t at(uint64_t a, int64_t index)
{
    int64_t n = 0;

    if (index < 0 && p_MXLNDArrayGetInfo(HANDLE(a), 1, &n, NULL) > 0)
        index += n;
    return NUMBER(p_MXLNDArrayAt(HANDLE(a), index));
}

static uint64_t reshape(uint64_t a, int ndim, const int64_t *shape)
{
    return NUMBER(p_MXLNDArrayReshape(HANDLE(a), ndim, shape, 0));
}

/* The extents, at most `room`, and after those the dtype; returns the number of axes. */
static int get_info(uint64_t a, int room, int64_t *shape_dtype)
{
    int dtype = -1, ndim = p_MXLNDArrayGetInfo(HANDLE(a), room, shape_dtype, &dtype);

    shape_dtype[ndim < 0 ? 0 : ndim < room ? ndim : room] = dtype;
    return ndim;
}

/* ---- the base class of NDArray: frees its handle when the object goes, without a Python call ---- */

typedef struct owner {
    PyObject_HEAD
    PyObject *handle; /* an integer, or NULL before it is set */
} owner;

/* Releasing may call back into Python (a custom function's end): the error at hand is kept. */
static void owner_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject *handle = ((owner *)self)->handle;

    if (handle != NULL) {
        PyObject *error, *value, *trace;

        PyErr_Fetch(&error, &value, &trace);
        p_MXNDArrayFree(HANDLE(PyLong_AsUnsignedLongLong(handle)));
        PyErr_Restore(error, value, trace);
        Py_DECREF(handle);
    }
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMemberDef owner_members[] = {
    {"_h", T_OBJECT_EX, offsetof(owner, handle), 0, "The handle, an integer."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_tp_dealloc, owner_dealloc},
    {Py_tp_members, owner_members},
    {0, NULL},
};

static PyType_Spec owner_spec = {
    "mxlite._mxlite_cffi.Owner", sizeof(owner), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, owner_slots,
};

/* The address of the class (a new reference), 0 for an error. */
static uint64_t owner_type(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type = PyType_FromSpec(&owner_spec);

    if (type == NULL)
        PyErr_Clear();
    PyGILState_Release(gil);
    return NUMBER(type);
}

/* A function that sets a flag: the flag before, or -1. */
#define SETTER(name, function)                                                                     \
    static int name(int flag)                                                                      \
    {                                                                                              \
        int before = -1;                                                                           \
                                                                                                   \
        return p_##function(flag, &before) == 0 ? before : -1;                                     \
    }
SETTER(set_recording, MXAutogradSetIsRecording)
SETTER(set_training, MXAutogradSetIsTraining)
"""

#: The letters of _prototypes.py as C; handles and addresses are integers here.
_TYPES = {"P": "uint64_t", "z": "uint64_t", "q": "int64_t", "d": "double", "i": "int"}


def _direct(tables: dict) -> "tuple[str, str]":
    """The declarations and the sources of the functions that are called as they are."""
    prototypes = dict(entry.split(":") for entry in tables["TABLE"].split())
    declarations = sources = ""
    for name, symbol in tables["HOT"].items():
        letters, _, result = prototypes[symbol].partition(">")
        arguments = [(letter, f"a{number}") for number, letter in enumerate(letters)]
        values = ", ".join(f"HANDLE({each})" if letter == "P" else each for letter, each in arguments)
        head = f"{_TYPES[result or 'i']} {name}({', '.join(f'{_TYPES[letter]} {each}' for letter, each in arguments)})"
        call = f"p_{symbol}({values})"
        declarations += f"{head};\n"
        sources += f"static {head}\n{{\n    return {f'NUMBER({call})' if result else call};\n}}\n"
    return declarations, sources


# By path: `import mxlite` opens the library, which may not be built yet.
_declared, _defined = _direct(runpy.run_path(os.path.join(os.path.dirname(__file__), "_prototypes.py")))
ffibuilder = cffi.FFI()
ffibuilder.cdef(_DECLARATIONS + _declared)
ffibuilder.set_source(
    "mxlite._mxlite_cffi",
    _SOURCE + _defined,
    include_dirs=["include"],
    define_macros=[("Py_LIMITED_API", "0x03090000")],
    extra_compile_args=["-O2"],
    py_limited_api=True,
)
