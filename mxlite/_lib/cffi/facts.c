/* Calls that ask an array for what is known of it without an operator: x.numel(), x.stride(),
 * x.grad, x.item(), x.detach(). After join.c. */
/* Numbers of FACTS in mxlite/torch/_tensor.py. */
enum {
    FACT_NUMEL = 1,
    FACT_DIM,
    FACT_STRIDE,
    FACT_IS_CONTIGUOUS,
    FACT_CONTIGUOUS,
    FACT_GRAD,
    FACT_ITEM,
    FACT_TRUTH,
    FACT_FLOAT,
    FACT_DETACH,
    FACT_REQUIRE,
    FACT_SHAPE,
    FACT_STRUCT,
    FACT_NUMPY,
    FACT_DENSE /* `result`, where it has values: not on the device meta */
};

static size_t item_size(int dtype); /* in elements.c */
static PyObject *struct_of(uint64_t array);

static PyObject *tuple_of(int count, const int64_t *numbers)
{
    PyObject *tuple = PyTuple_New(count);

    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);

        if (number == NULL || PyTuple_SetItem(tuple, i, number) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* The object for a new gradient, which the array keeps from now on. */
static PyObject *new_grad(const call *self, owner *array, uint64_t handle, uint64_t number)
{
    PyObject *grad = new_array(self->cls, handle, array->dtype), *pair, *before = array->grad;

    if (grad == NULL)
        return NULL;
    ((owner *)grad)->release = self->release;
    pair = Py_BuildValue("(KO)", (unsigned long long)number, grad);
    if (pair == NULL) {
        Py_DECREF(grad);
        return NULL;
    }
    array->grad = pair;
    Py_XDECREF(before);
    return grad;
}

/* The gradient of an array, the same object each time: `_grad_cache` has it with the number of its
 * array; 0 for one that only Python keeps. NULL, without an exception where Python shall say. */
static PyObject *grad_of(const call *self, owner *array)
{
    uint64_t known = UINT64_MAX, number = 0;
    PyObject *grad = NULL;
    NDArrayHandle handle;

    if (array->grad != NULL) {
        known = PyLong_AsUnsignedLongLong(PyTuple_GetItem(array->grad, 0));
        grad = PyTuple_GetItem(array->grad, 1);
    }
    if (known != 0) {
        if (p_MXNDArrayGetGrad(HANDLE(array->handle), &handle) != 0)
            return NULL;
        if (handle == NULL) {
            if (grad == NULL && p_MXLNDArrayGetEdgeKind(HANDLE(array->handle)) == MXL_EDGE_RECORDED)
                return NULL;
            grad = Py_None;
        } else if (p_MXLNDArrayGetId(handle, &number) != 0 || number != known) {
            return number == 0 ? NULL : new_grad(self, array, NUMBER(handle), number);
        } else {
            p_MXNDArrayFree(handle);
        }
    }
    Py_INCREF(grad);
    return grad;
}

/* The only element: as it is, as a truth value, or as a float, for which no gradient may flow to
 * the array. NULL, without an exception where Python shall say. */
static PyObject *item_of(const call *self, const owner *array)
{
    PyObject *number, *made;
    int truth;

    if (self->fact == FACT_FLOAT &&
        p_MXLNDArrayGetEdgeKind(HANDLE(array->handle)) != MXL_EDGE_CONSTANT)
        return NULL;
    number = number_of(array->handle);
    if (number == Py_None)
        Py_CLEAR(number);
    if (number == NULL || self->fact == FACT_ITEM)
        return number;
    truth = PyObject_IsTrue(number);
    made = self->fact == FACT_FLOAT ? PyNumber_Float(number) : PyBool_FromLong(truth);
    Py_DECREF(number);
    return made;
}

/* The same memory without a place in the graph. NULL where Python shall say: of an array of vmap,
 * and after an error. */
static PyObject *detached_of(const call *self, const owner *array)
{
    NDArrayHandle x = HANDLE(array->handle), made;
    int has_axis;

    if (p_MXLNDArrayBatchOf(x, NULL, &has_axis) != 0 || p_MXNDArrayDetach(x, &made) != 0)
        return NULL;
    return adopt(self, NUMBER(made), array->dtype);
}

/* The array itself, which wants a gradient from now on. NULL where Python shall say: of a computed
 * array or another dtype, and after an error. */
static PyObject *requiring(const call *self, owner *array)
{
    NDArrayHandle x = HANDLE(array->handle);
    int position = find_dtype(self, array->dtype);

    if (position < 0 || position >= self->num_floating ||
        p_MXLNDArrayGetEdgeKind(x) == MXL_EDGE_RECORDED || p_MXLNDArraySetRequiresGrad(x, 1) != 0 ||
        note_variable(array) != 0)
        return NULL;
    Py_INCREF(array);
    return (PyObject *)array;
}

/* The shape, which the array keeps from now on; `result` makes it of a tuple. NULL as of grad_of.
 */
static PyObject *shape_object(const call *self, owner *array)
{
    int64_t extents[MAX_NDIM];
    PyObject *tuple;
    int ndim;

    if (array->shape == NULL) {
        ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), MAX_NDIM, extents, NULL);
        tuple = ndim < 0 ? NULL : tuple_of(ndim, extents);
        array->shape =
            tuple == NULL ? NULL : PyObject_CallFunctionObjArgs(self->result, tuple, NULL);
        Py_XDECREF(tuple);
    }
    Py_XINCREF(array->shape);
    return array->shape;
}

/* Whether NumPy may have the memory: no gradient flows to the array, and it has elements and a
 * dtype of NumPy's. */
static int is_for_numpy(const owner *array)
{
    NDArrayHandle x = HANDLE(array->handle);
    int64_t extents[MAX_NDIM];
    int dtype = -1, has_axis, ndim = p_MXLNDArrayGetInfo(x, MAX_NDIM, extents, &dtype);

    for (int i = 0; i < ndim; i++) {
        if (extents[i] == 0)
            return 0;
    }
    return ndim >= 0 && item_size(dtype) != 0 && p_MXLNDArrayGetEdgeKind(x) == MXL_EDGE_CONSTANT &&
           p_MXLNDArrayBatchOf(x, NULL, &has_axis) == 0;
}

/* `__array_struct__`, and NumPy's array over the memory, which `result` makes by it. NULL as of
 * grad_of. */
static PyObject *struct_or_numpy(const call *self, owner *array)
{
    PyObject *made;

    if (!is_for_numpy(array))
        return NULL;
    if (self->fact == FACT_NUMPY)
        return PyObject_CallFunctionObjArgs(self->result, (PyObject *)array, NULL);
    made = struct_of(array->handle);
    if (made == Py_None)
        Py_CLEAR(made);
    return made;
}

/* A fact of an array. NULL, without an exception where Python shall say. */
static PyObject *fact_of(const call *self, owner *array)
{
    int64_t numbers[MAX_NDIM], elements = 1;
    NDArrayHandle x = HANDLE(array->handle);
    int ndim, found;

    if (self->fact == FACT_GRAD)
        return grad_of(self, array);
    if (self->fact >= FACT_ITEM && self->fact <= FACT_FLOAT)
        return item_of(self, array);
    if (self->fact == FACT_DETACH)
        return detached_of(self, array);
    if (self->fact == FACT_REQUIRE)
        return requiring(self, array);
    if (self->fact == FACT_SHAPE)
        return shape_object(self, array);
    if (self->fact == FACT_DENSE) {
        if (p_MXNDArrayGetStorageType(x, &found) != 0 || found != 0)
            return NULL;
        Py_INCREF(self->result);
        return self->result;
    }
    if (self->fact >= FACT_STRUCT)
        return struct_or_numpy(self, array);
    if (self->fact == FACT_IS_CONTIGUOUS || self->fact == FACT_CONTIGUOUS) {
        found = p_MXLNDArrayIsContiguous(x);
        if (found < 0 || self->fact == FACT_IS_CONTIGUOUS)
            return found < 0 ? NULL : PyBool_FromLong(found);
        Py_XINCREF(found ? array : NULL);
        return found ? (PyObject *)array : NULL;
    }
    ndim = p_MXLNDArrayGetInfo(x, MAX_NDIM, numbers, NULL);
    if (ndim < 0 ||
        (self->fact == FACT_STRIDE && p_MXLNDArrayGetStrides(x, MAX_NDIM, numbers, NULL) < 0))
        return NULL;
    if (self->fact == FACT_STRIDE)
        return tuple_of(ndim, numbers);
    for (int i = 0; i < ndim; i++)
        elements *= numbers[i];
    return PyLong_FromLongLong(self->fact == FACT_DIM ? ndim : elements);
}

/* f(x) */
static PyObject *call_fact(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    PyObject *found = NULL;

    if (names == NULL && nargs == 1 && is_of(self->cls, args[0]) &&
        ((const owner *)args[0])->handle != 0)
        found = fact_of(self, (owner *)args[0]);
    if (found != NULL || PyErr_Occurred())
        return found;
    return call_python(self->function, args, nargs, names);
}
