/* Builtin functions that call the library with lists of handles and of typed arguments. They read
 * Python's lists and tuples themselves, because cffi takes longer to convert a list than the
 * library takes for a small operator. mxlite/_lib/hot_ctypes.py has the same functions in Python,
 * with their documentation. After views.c. */
#ifndef METH_FASTCALL
#define METH_FASTCALL                                                                              \
    0x0080 /* the headers of the limited API of 3.9 lack it; every interpreter has it */
#endif

enum { ROOM = 64 };

/* The numbers that were read from a list: up to ROOM of them on the stack, more on the heap.
 * free_numbers releases them. */
typedef struct numbers {
    int64_t room[ROOM], *at;
    Py_ssize_t count;
} numbers;

/* Makes room for `count` numbers. Returns NULL with MemoryError set on failure. */
static int64_t *take_numbers(numbers *taken, Py_ssize_t count)
{
    taken->count = count;
    taken->at = count <= ROOM ? taken->room : PyMem_Malloc((size_t)count * sizeof *taken->at);
    if (taken->at == NULL)
        (void)PyErr_NoMemory();
    return taken->at;
}

static void free_numbers(numbers *taken)
{
    if (taken->at != taken->room)
        PyMem_Free(taken->at);
}

/* Converts a Python integer, or an object with `__index__`, to int64_t. Returns -1 with a Python
 * exception set on failure. */
static int64_t integer_of(PyObject *object)
{
    PyObject *index;
    int64_t number;

    if (PyLong_Check(object))
        return PyLong_AsLongLong(object);
    index = PyNumber_Index(object);
    if (index == NULL)
        return -1;
    number = PyLong_AsLongLong(index);
    Py_DECREF(index);
    return number;
}

/* Reads a handle from a Python integer or from an array's `_h`. Returns UINT64_MAX with a Python
 * exception set on failure. */
static uint64_t handle_of(PyObject *object)
{
    PyObject *number;
    uint64_t handle;

    if (PyLong_Check(object))
        return PyLong_AsUnsignedLongLong(object);
    if (PyObject_TypeCheck(object, owner_type) && ((owner *)object)->has_handle)
        return ((owner *)object)->handle;
    number = PyObject_GetAttrString(object, "_h");
    if (number == NULL)
        return UINT64_MAX;
    handle = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return handle;
}

/* Reads a list of handles or arrays. Returns NULL with a Python exception set on failure. */
static NDArrayHandle *read_handles(PyObject *list, numbers *taken)
{
    Py_ssize_t count = length_of(list);

    if (count < 0 || take_numbers(taken, count) == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint64_t handle = handle_of(entry_of(list, i));

        if (handle == UINT64_MAX && PyErr_Occurred())
            return NULL;
        taken->at[i] = (int64_t)handle;
    }
    return (NDArrayHandle *)taken->at;
}

/* Appends the integers of a tuple to `taken` from *used on, and points the argument to them.
 * Returns -1 with a Python exception set on failure. */
static int read_list(PyObject *tuple, MXLValue *value, numbers *taken, Py_ssize_t *used)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    int64_t *to = taken->at + *used;

    *used += count;
    value->list.n = count;
    value->list.values = to;
    for (Py_ssize_t i = 0; i < count; i++) {
        to[i] = integer_of(PyTuple_GetItem(tuple, i));
        if (to[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Reads typed arguments: integers, floats, tuples of integers, and None for a list that is not
 * given. `taken` holds the integers of the tuples. Returns -1 with a Python exception set on
 * failure. */
static int read_arguments(PyObject *list, MXLValue *values, numbers *taken)
{
    Py_ssize_t count = length_of(list), entries = 0, used = 0;

    if (count < 0)
        return -1;
    if (count > MAX_ARGUMENTS) {
        PyErr_Format(PyExc_ValueError, "more than %d typed arguments", MAX_ARGUMENTS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *object = entry_of(list, i);

        entries += PyTuple_Check(object) ? PyTuple_Size(object) : 0;
    }
    if (take_numbers(taken, entries) == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *object = entry_of(list, i);

        if (object == Py_None) {
            values[i].list.n = -1;
            values[i].list.values = NULL;
        } else if (PyFloat_Check(object)) {
            values[i].f = PyFloat_AsDouble(object);
        } else if (PyTuple_Check(object)) {
            if (read_list(object, &values[i], taken, &used) != 0)
                return -1;
        } else {
            values[i].i = integer_of(object);
            if (values[i].i == -1 && PyErr_Occurred())
                return -1;
        }
    }
    return 0;
}

/* Whether a function was called with the right number of arguments; else sets TypeError. */
static int has_arguments(const char *name, Py_ssize_t nargs, Py_ssize_t expected)
{
    if (nargs == expected)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", name, expected, nargs);
    return 0;
}

/* Calls an operator with one output: of a list of inputs and a list of typed arguments. Stores the
 * new array's handle, 0 if the library returns an error. Returns -1 with a Python exception set if
 * the lists cannot be read. */
static int call_lists(PyObject *call, PyObject *inputs, PyObject *arguments, uint64_t *made)
{
    MXLValue values[MAX_ARGUMENTS];
    numbers handles = {.at = handles.room}, entries = {.at = entries.room};
    uint64_t prepared = PyLong_AsUnsignedLongLong(call);
    NDArrayHandle *in = PyErr_Occurred() ? NULL : read_handles(inputs, &handles);
    int status = in == NULL ? -1 : read_arguments(arguments, values, &entries);

    if (status == 0) {
        PyThreadState *thread = PyEval_SaveThread();

        *made = NUMBER(p_MXLCall(HANDLE(prepared), (int)handles.count, in, values));
        PyEval_RestoreThread(thread);
    }
    free_numbers(&handles);
    free_numbers(&entries);
    return status;
}

/* call_n(call, inputs, arguments) */
static PyObject *list_call_n(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    uint64_t made;

    (void)self;
    if (!has_arguments("call_n", nargs, 3) || call_lists(args[0], args[1], args[2], &made) != 0)
        return NULL;
    return PyLong_FromUnsignedLongLong(made);
}

/* run(cls, call, inputs, arguments, dtype) */
static PyObject *list_run(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    uint64_t made;

    (void)self;
    if (!has_arguments("run", nargs, 5))
        return NULL;
    if (!PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], owner_type))
        return PyErr_Format(PyExc_TypeError, "run: the class is not a subclass of Owner");
    if (call_lists(args[1], args[2], args[3], &made) != 0)
        return NULL;
    if (made == 0)
        Py_RETURN_NONE;
    return new_array((PyTypeObject *)args[0], made, args[4] == Py_None ? NULL : args[4]);
}

/* Makes a Python list of handles. */
static PyObject *list_of(const NDArrayHandle *handles, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);

    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(NUMBER(handles[i]));

        if (number == NULL || PyList_SetItem(list, i, number) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* call_into(call, inputs, arguments, outputs) */
static PyObject *list_call_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *result = NULL;
    MXLValue values[MAX_ARGUMENTS];
    numbers inputs = {.at = inputs.room}, outputs = {.at = outputs.room};
    numbers entries = {.at = entries.room};
    NDArrayHandle *in = NULL, *out = NULL;
    uint64_t call;

    (void)self;
    if (!has_arguments("call_into", nargs, 4))
        return NULL;
    call = PyLong_AsUnsignedLongLong(args[0]);
    if (!PyErr_Occurred() && (in = read_handles(args[1], &inputs)) != NULL)
        out = read_handles(args[3], &outputs);
    if (out != NULL && read_arguments(args[2], values, &entries) == 0) {
        int count = (int)outputs.count, status;
        PyThreadState *thread = PyEval_SaveThread();

        status = p_MXLCallInto(HANDLE(call), (int)inputs.count, in, values, &count, out);
        PyEval_RestoreThread(thread);
        if (status == 0) {
            result = list_of(out, outputs.count);
        } else {
            Py_INCREF(Py_None);
            result = Py_None;
        }
    }
    free_numbers(&inputs);
    free_numbers(&outputs);
    free_numbers(&entries);
    return result;
}

/* Makes a Python list of new arrays, which own the handles, with their dtypes. */
static PyObject *adopted(PyTypeObject *cls, const numbers *handles, PyObject *dtypes)
{
    PyObject *list = PyList_New(handles->count);

    for (Py_ssize_t i = 0; i < handles->count; i++) {
        PyObject *made = list == NULL
                             ? NULL
                             : new_array(cls, (uint64_t)handles->at[i], PyList_GetItem(dtypes, i));

        if (list == NULL)
            p_MXNDArrayFree(HANDLE(handles->at[i]));
        else if (made == NULL || PyList_SetItem(list, i, made) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* run_many(cls, call, inputs, arguments, dtypes) */
static PyObject *list_run_many(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *result = NULL;
    MXLValue values[MAX_ARGUMENTS];
    numbers inputs = {.at = inputs.room}, outputs = {.at = outputs.room};
    numbers entries = {.at = entries.room};
    NDArrayHandle *in = NULL;
    uint64_t call;

    (void)self;
    if (!has_arguments("run_many", nargs, 5))
        return NULL;
    if (!PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], owner_type) ||
        !PyList_Check(args[4]))
        return PyErr_Format(PyExc_TypeError, "run_many: takes a subclass of Owner, and a list");
    call = PyLong_AsUnsignedLongLong(args[1]);
    if (!PyErr_Occurred() && take_numbers(&outputs, PyList_Size(args[4])) != NULL)
        in = read_handles(args[2], &inputs);
    if (in != NULL && read_arguments(args[3], values, &entries) == 0) {
        int count = (int)outputs.count, status;
        PyThreadState *thread = PyEval_SaveThread();

        memset(outputs.at, 0, (size_t)outputs.count * sizeof *outputs.at);
        status = p_MXLCallInto(HANDLE(call), (int)inputs.count, in, values, &count,
                               (NDArrayHandle *)outputs.at);
        PyEval_RestoreThread(thread);
        if (status == 0) {
            result = adopted((PyTypeObject *)args[0], &outputs, args[4]);
        } else {
            Py_INCREF(Py_None);
            result = Py_None;
        }
    }
    free_numbers(&inputs);
    free_numbers(&outputs);
    free_numbers(&entries);
    return result;
}

/* num_outputs(call, arguments) */
static PyObject *list_num_outputs(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    MXLValue values[MAX_ARGUMENTS];
    numbers entries = {.at = entries.room};
    PyObject *result = NULL;
    uint64_t call;
    int count = -1;

    (void)self;
    if (!has_arguments("num_outputs", nargs, 2))
        return NULL;
    call = PyLong_AsUnsignedLongLong(args[0]);
    if (!PyErr_Occurred() && read_arguments(args[1], values, &entries) == 0) {
        if (p_MXLCallGetNumOutputs(HANDLE(call), values, &count) != 0)
            count = -1;
        result = PyLong_FromLong(count);
    }
    free_numbers(&entries);
    return result;
}

/* info(array) */
static PyObject *list_info(PyObject *self, PyObject *object)
{
    int64_t extents[MAX_NDIM];
    int dtype = -1, ndim;
    uint64_t array = PyLong_AsUnsignedLongLong(object);
    PyObject *shape;

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    ndim = p_MXLNDArrayGetInfo(HANDLE(array), MAX_NDIM, extents, &dtype);
    if (ndim < 0)
        return Py_BuildValue("(Oi)", Py_None, ndim < -1 ? -2 : dtype);
    shape = PyTuple_New(ndim);
    for (int i = 0; shape != NULL && i < ndim; i++) {
        PyObject *extent = PyLong_FromLongLong(extents[i]);

        if (extent == NULL || PyTuple_SetItem(shape, i, extent) != 0)
            Py_CLEAR(shape);
    }
    return shape == NULL ? NULL : Py_BuildValue("(Ni)", shape, dtype);
}

/* Reads a tuple of integers. Returns NULL with a Python exception set on failure. */
static int64_t *read_integers(PyObject *tuple, numbers *taken)
{
    Py_ssize_t used = 0, count = PyTuple_Size(tuple);
    MXLValue value;

    if (count < 0 || take_numbers(taken, count) == NULL ||
        read_list(tuple, &value, taken, &used) != 0)
        return NULL;
    return taken->at;
}

/* array_of(address, shape, dtype) */
static PyObject *list_array_of(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    numbers shape = {.at = shape.room};
    PyObject *result = NULL;
    uint64_t address;
    int dtype;

    (void)self;
    if (!has_arguments("array_of", nargs, 3))
        return NULL;
    address = PyLong_AsUnsignedLongLong(args[0]);
    dtype = (int)PyLong_AsLong(args[2]);
    if (!PyErr_Occurred() && read_integers(args[1], &shape) != NULL) {
        uint64_t made;
        PyThreadState *thread = PyEval_SaveThread();

        made = NUMBER(p_MXLNDArrayFromData(HANDLE(address), (int)shape.count, shape.at, dtype));
        PyEval_RestoreThread(thread);
        result = PyLong_FromUnsignedLongLong(made);
    }
    free_numbers(&shape);
    return result;
}

/* call1_list(call, array, integers) */
static PyObject *list_call1_list(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    numbers integers = {.at = integers.room};
    PyObject *result = NULL;
    uint64_t call, array;

    (void)self;
    if (!has_arguments("call1_list", nargs, 3))
        return NULL;
    call = PyLong_AsUnsignedLongLong(args[0]);
    array = handle_of(args[1]);
    if (!PyErr_Occurred() && read_integers(args[2], &integers) != NULL) {
        uint64_t made;
        PyThreadState *thread = PyEval_SaveThread();

        made = NUMBER(p_MXLCall1List(HANDLE(call), HANDLE(array), integers.count, integers.at));
        PyEval_RestoreThread(thread);
        result = PyLong_FromUnsignedLongLong(made);
    }
    free_numbers(&integers);
    return result;
}

static PyMethodDef functions[] = {
    {"call_n", (PyCFunction)(void (*)(void))list_call_n, METH_FASTCALL, NULL},
    {"call_into", (PyCFunction)(void (*)(void))list_call_into, METH_FASTCALL, NULL},
    {"num_outputs", (PyCFunction)(void (*)(void))list_num_outputs, METH_FASTCALL, NULL},
    {"info", list_info, METH_O, NULL},
    {"number_in", number_in, METH_O, NULL},
    {"run", (PyCFunction)(void (*)(void))list_run, METH_FASTCALL, NULL},
    {"array_of", (PyCFunction)(void (*)(void))list_array_of, METH_FASTCALL, NULL},
    {"call1_list", (PyCFunction)(void (*)(void))list_call1_list, METH_FASTCALL, NULL},
    {"keep", payload_keep, METH_O, NULL},
    {"kept", payload_kept, METH_O, NULL},
    {"drop", payload_drop, METH_O, NULL},
    {"on_collection", payload_collect, METH_VARARGS, NULL},
    {"numbers_in", numbers_in, METH_O, NULL},
    {"requires_gradient", requires_gradient, METH_O, NULL},
    {"array_struct", array_struct, METH_O, NULL},
    {"set_stored", set_stored, METH_VARARGS, NULL},
    {"set_plain", set_plain, METH_VARARGS, NULL},
    {"run_many", (PyCFunction)(void (*)(void))list_run_many, METH_FASTCALL, NULL},
    {"register_variable", register_variable, METH_O, NULL},
    {"registered", registered, METH_O, NULL},
};

/* Returns the address of one of the functions, as a new reference; 0 on failure. */
static uint64_t make_function(int number)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *made = PyCFunction_NewEx(&functions[number], NULL, NULL);

    if (made == NULL)
        PyErr_Clear();
    PyGILState_Release(gil);
    return NUMBER(made);
}
