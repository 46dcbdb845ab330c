/* Elements of an array as Python's numbers, and what a property of an array asks. After owner.c. */

/* Numbers beyond these are left to NumPy, whose loops are faster than calls of the library's. */
enum { MAX_NUMBERS = 4096, MAX_ITEM = 8 };

/* The size of an element by MXNet's number of its dtype; 0 of a dtype that NumPy lacks (bfloat16).
 */
static size_t item_size(int dtype)
{
    static const unsigned char sizes[] = {4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8};

    return dtype >= 0 && dtype < (int)sizeof sizes ? sizes[dtype] : 0;
}

/* Whether elements of a dtype are C's numbers, which Python has: float16 is none. */
static int has_numbers(int dtype)
{
    return item_size(dtype) != 0 && dtype != 2;
}

/* The element at an address as a Python number. */
static PyObject *element_of(int dtype, const char *at)
{
    union {
        float f32;
        double f64;
        uint8_t u8;
        int32_t i32;
        int8_t i8;
        int64_t i64;
        int16_t i16;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } element;

    memcpy(&element, at, item_size(dtype));
    switch (dtype) {
    case 0:
        return PyFloat_FromDouble((double)element.f32);
    case 1:
        return PyFloat_FromDouble(element.f64);
    case 3:
        return PyLong_FromLong(element.u8);
    case 4:
        return PyLong_FromLong(element.i32);
    case 5:
        return PyLong_FromLong(element.i8);
    case 6:
        return PyLong_FromLongLong(element.i64);
    case 8:
        return PyLong_FromLong(element.i16);
    case 9:
        return PyLong_FromLong(element.u16);
    case 10:
        return PyLong_FromLongLong(element.u32);
    case 11:
        return PyLong_FromUnsignedLongLong(element.u64);
    default:
        return PyBool_FromLong(element.u8);
    }
}

/* Copies the n elements of an array. -1 if the library returns an error. */
static int copy_elements(uint64_t array, void *out, size_t n)
{
    PyThreadState *thread = PyEval_SaveThread();
    int status = p_MXNDArraySyncCopyToCPU(HANDLE(array), out, n);

    PyEval_RestoreThread(thread);
    return status;
}

/* The only element of an array as a Python number; None if there is not exactly one, the dtype has
 * no such number, or the library returns an error. */
static PyObject *number_of(uint64_t array)
{
    int64_t extents[MAX_NDIM];
    char element[MAX_ITEM];
    int dtype = -1, ndim;

    ndim = p_MXLNDArrayGetInfo(HANDLE(array), MAX_NDIM, extents, &dtype);
    for (int i = 0; i < ndim; i++) {
        if (extents[i] != 1)
            Py_RETURN_NONE;
    }
    if (ndim < 0 || !has_numbers(dtype) || copy_elements(array, element, 1) != 0)
        Py_RETURN_NONE;
    return element_of(dtype, element);
}

/* number_in(array): the same, by the handle as an integer. */
static PyObject *number_in(PyObject *self, PyObject *object)
{
    uint64_t array = PyLong_AsUnsignedLongLong(object);

    (void)self;
    return PyErr_Occurred() ? NULL : number_of(array);
}

/* The elements from *at on as lists of lists, and *at behind them. */
static PyObject *nested_list(int dtype, int ndim, const int64_t *extents, const char **at)
{
    PyObject *list;

    if (ndim == 0) {
        PyObject *number = element_of(dtype, *at);

        *at += item_size(dtype);
        return number;
    }
    list = PyList_New((Py_ssize_t)extents[0]);
    for (int64_t i = 0; list != NULL && i < extents[0]; i++) {
        PyObject *part = nested_list(dtype, ndim - 1, extents + 1, at);

        if (part == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, part);
    }
    return list;
}

/* numbers_in(array): the elements of an array of few as lists of lists of Python's numbers; None as
 * of number_in, and for many elements. */
static PyObject *numbers_in(PyObject *self, PyObject *object)
{
    int64_t extents[MAX_NDIM], n = 1;
    char *elements;
    const char *at;
    uint64_t array = PyLong_AsUnsignedLongLong(object);
    PyObject *made = NULL;
    int dtype = -1, ndim;

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    ndim = p_MXLNDArrayGetInfo(HANDLE(array), MAX_NDIM, extents, &dtype);
    for (int i = 0; i < ndim && n <= MAX_NUMBERS; i++)
        n *= extents[i] < MAX_NUMBERS ? extents[i] : MAX_NUMBERS + 1;
    if (ndim < 0 || n > MAX_NUMBERS || n == 0 || !has_numbers(dtype))
        Py_RETURN_NONE;
    elements = PyMem_Malloc((size_t)n * item_size(dtype));
    if (elements == NULL)
        return PyErr_NoMemory();
    if (copy_elements(array, elements, (size_t)n) == 0) {
        at = elements;
        made = nested_list(dtype, ndim, extents, &at);
    } else {
        made = Py_None;
        Py_INCREF(made);
    }
    PyMem_Free(elements);
    return made;
}

/* Raises the library's last error, as Python code does. NULL. */
static PyObject *raise_last_error(void)
{
    PyObject *module = PyImport_ImportModule("mxlite._lib");

    if (module != NULL)
        Py_XDECREF(PyObject_CallMethod(module, "raise_last_error", NULL));
    Py_XDECREF(module);
    return NULL;
}

/* requires_gradient(x): whether a gradient flows to the array of an Owner. */
static PyObject *requires_gradient(PyObject *self, PyObject *object)
{
    int kind;

    (void)self;
    if (!PyObject_TypeCheck(object, owner_type))
        return PyErr_Format(PyExc_TypeError, "requires_grad: takes an array");
    kind = p_MXLNDArrayGetEdgeKind(HANDLE(((const owner *)object)->handle));
    return kind < 0 ? raise_last_error() : PyBool_FromLong(kind != MXL_EDGE_CONSTANT);
}

/* ---- NumPy's array interface ---- */

/* The C struct of NumPy's array interface, version 3. */
typedef struct interface {
    int two; /* 2 */
    int ndim;
    char kind; /* 'f', 'i', 'u' or 'b' */
    int item_size;
    int flags;
    Py_ssize_t *shape, *strides; /* strides in bytes */
    void *data;
    PyObject *description; /* NULL */
    Py_ssize_t sizes[2 * MAX_NDIM];
} interface;

static void interface_free(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
}

/* `__array_struct__` of the memory of an array, which its user keeps alive; None if the array has
 * no address, or NumPy lacks its dtype. */
static PyObject *struct_of(uint64_t array)
{
    enum { ALIGNED = 0x100, NATIVE = 0x200, WRITEABLE = 0x400 };
    static const char kinds[] = "fffuiiibiuuu"; /* by MXNet's numbers of dtypes */
    int64_t extents[MAX_NDIM], strides[MAX_NDIM];
    PyThreadState *thread;
    PyObject *capsule;
    interface *made;
    void *data = NULL;
    int dtype = -1, ndim, status;

    ndim = p_MXLNDArrayGetInfo(HANDLE(array), MAX_NDIM, extents, &dtype);
    if (ndim < 0 || item_size(dtype) == 0 ||
        p_MXLNDArrayGetStrides(HANDLE(array), MAX_NDIM, strides, NULL) < 0)
        Py_RETURN_NONE;
    thread = PyEval_SaveThread(); /* what the array waits for is computed */
    status = p_MXLNDArrayGetAddress(HANDLE(array), &data);
    PyEval_RestoreThread(thread);
    if (status != 0 || data == NULL)
        Py_RETURN_NONE;
    made = PyMem_Malloc(sizeof *made);
    if (made == NULL)
        return PyErr_NoMemory();
    made->two = 2, made->ndim = ndim, made->kind = kinds[dtype];
    made->item_size = (int)item_size(dtype);
    made->flags = ALIGNED | NATIVE | WRITEABLE;
    made->shape = made->sizes, made->strides = made->sizes + MAX_NDIM;
    made->data = data, made->description = NULL;
    for (int i = 0; i < ndim; i++) {
        made->shape[i] = (Py_ssize_t)extents[i];
        made->strides[i] = (Py_ssize_t)strides[i] * made->item_size;
    }
    capsule = PyCapsule_New(made, NULL, interface_free);
    if (capsule == NULL)
        PyMem_Free(made);
    return capsule;
}

/* array_struct(array): the same, by the handle as an integer. */
static PyObject *array_struct(PyObject *self, PyObject *object)
{
    uint64_t array = PyLong_AsUnsignedLongLong(object);

    (void)self;
    return PyErr_Occurred() ? NULL : struct_of(array);
}
