/* Calls that make arrays of no array: zeros((2, 3)), array([[1, 2], [3, 4]]). Usual where the
 * thread has said no context. After views.c. */
#include <float.h>
#include <math.h>

enum { MAX_LISTED = 256, MAX_DEPTH = 8 };

/* The length of a list or a tuple; -1 with a Python exception set for any other object. */
static Py_ssize_t length_of(PyObject *list)
{
    return PyTuple_Check(list) ? PyTuple_Size(list) : PyList_Size(list);
}

/* Borrows entry i of a list or a tuple. */
static PyObject *entry_of(PyObject *list, Py_ssize_t i)
{
    return PyTuple_Check(list) ? PyTuple_GetItem(list, i) : PyList_GetItem(list, i);
}

/* "dtype", interned. */
static PyObject *dtype_name;

/* The prepared call for a dtype; 0: it is not known yet. */
static uint64_t call_for(const call *self, PyObject *dtype)
{
    PyObject *known = PyDict_GetItemWithError(self->makes, dtype);
    uint64_t prepared = known == NULL ? 0 : PyLong_AsUnsignedLongLong(known);

    if (PyErr_Occurred()) {
        PyErr_Clear(); /* it has no hash */
        prepared = 0;
    }
    return prepared;
}

/* Reads a shape: exact integers, as one argument or more, or a tuple of them. Returns -1 for other
 * objects. */
static int shape_of(PyObject *const *args, Py_ssize_t nargs, int64_t *shape)
{
    PyObject *tuple = nargs == 1 && PyTuple_CheckExact(args[0]) ? args[0] : NULL;
    Py_ssize_t count = tuple != NULL ? PyTuple_Size(tuple) : nargs;

    if (count > MAX_NDIM)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *entry = tuple != NULL ? PyTuple_GetItem(tuple, i) : args[i];

        if (!PyLong_CheckExact(entry))
            return -1;
        shape[i] = PyLong_AsLongLong(entry);
        if (shape[i] < 0) {
            PyErr_Clear();
            return -1;
        }
    }
    return (int)count;
}

/* A new array of a shape; 0 for an error. */
static uint64_t made_in_shape(uint64_t prepared, int ndim, const int64_t *shape)
{
    PyThreadState *thread = is_few(ndim, shape) ? NULL : PyEval_SaveThread();
    uint64_t made;
    MXLValue value;

    value.list.n = ndim;
    value.list.values = shape;
    made = NUMBER(p_MXLCall(HANDLE(prepared), 0, NULL, &value));
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    return made;
}

/* The dtype of the array before a shape; NULL where it is unusual: as a batched one is, beside
 * which a new array is one for each example, or one without values, on the device meta. */
static PyObject *dtype_beside(const call *self, PyObject *object)
{
    const owner *array = (const owner *)object;
    int has_axis, stored;

    if (!is_of(self->cls, object) || array->handle == 0 ||
        p_MXLNDArrayBatchOf(HANDLE(array->handle), NULL, &has_axis) != 0 ||
        p_MXNDArrayGetStorageType(HANDLE(array->handle), &stored) != 0 || stored != 0)
        return NULL;
    return array->dtype;
}

/* f(shape), f(shape, dtype=dtype); and f(shape, dtype), or, of arrays that have a `_dtype` (the
 * dtype that is given, or the first usual one), f(2, 3); and, like an array, f(x, 2, 3). What is
 * refused the Python function says again. */
static PyObject *call_make(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT), has_dtypes = self->num_dtypes != 0;
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    int has_dtype = named == 1 && PyTuple_GetItem(names, 0) == dtype_name;
    int64_t shape[MAX_NDIM];

    if (named == has_dtype && nargs > self->like && (has_dtypes || nargs + named <= 2)) {
        PyObject *beside = self->like ? dtype_beside(self, args[0]) : Py_None;
        PyObject *dtype = has_dtype ? args[nargs] : !has_dtypes && nargs == 2 ? args[1] : beside;
        uint64_t prepared = beside == NULL ? 0 : call_for(self, dtype), made = 0;
        int ndim = prepared == 0 || (!self->like && !is_at_home(self->home))
                       ? -1
                       : shape_of(args + self->like, has_dtypes ? nargs - self->like : 1, shape);

        if (ndim >= 0)
            made = made_in_shape(prepared, ndim, shape);
        if (made != 0)
            return adopt(self, made, dtype != Py_None || !has_dtypes ? dtype : self->dtypes[0]);
    }
    return call_python(self->function, args, nargs, names);
}

/* The numbers of nested lists, as they are read. */
typedef struct listed {
    int64_t shape[MAX_DEPTH];
    int ndim; /* -1: not known yet */
    int count;
    float values[MAX_LISTED];
} listed;

/* Reads a number that float32 rounds once, as NumPy does. Returns 0 for others. */
static int read_listed_number(PyObject *object, listed *l)
{
    enum { DIGITS = 53 };
    double value;

    if (l->count == MAX_LISTED)
        return 0;
    if (PyFloat_CheckExact(object)) {
        value = PyFloat_AsDouble(object);
        if (fabs(value) > FLT_MAX && fabs(value) <= DBL_MAX)
            return 0; /* NumPy warns */
    } else if (PyLong_CheckExact(object)) {
        value = PyLong_AsDouble(object);
        if (!(fabs(value) <= (double)(1LL << DIGITS)) || PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    } else {
        return 0;
    }
    l->values[l->count++] = (float)value;
    return 1;
}

/* Reads a number, or a list or tuple of what has the same shape. Returns 0 for all else. */
static int read_listed(PyObject *object, int depth, listed *l)
{
    Py_ssize_t size;

    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) {
        if (l->ndim < 0)
            l->ndim = depth;
        return l->ndim == depth && read_listed_number(object, l);
    }
    size = length_of(object);
    if (depth == MAX_DEPTH || depth == l->ndim || size < 1 || size > MAX_LISTED ||
        (l->ndim >= 0 && l->shape[depth] != size))
        return 0;
    if (l->ndim < 0)
        l->shape[depth] = size;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (!read_listed(entry_of(object, i), depth + 1, l))
            return 0;
    }
    return 1;
}

/* f(numbers): an array of float32. */
static PyObject *call_listed(PyObject *callable, PyObject *const *args, size_t flags,
                             PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    listed l;

    l.ndim = -1, l.count = 0;
    if (names == NULL && nargs == 1 && is_at_home(self->home) && read_listed(args[0], 0, &l)) {
        uint64_t made = NUMBER(p_MXLNDArrayFromData(l.values, l.ndim, l.shape, 0));

        if (made != 0)
            return adopt(self, made, NULL);
    }
    return call_python(self->function, args, nargs, names);
}
