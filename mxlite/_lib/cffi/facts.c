/* Calls that ask an array for what is known of it without an operator: x.numel(), x.stride(),
 * x.grad. After join.c. */
/* Numbers of FACTS in mxlite/torch/_tensor.py. */
enum { FACT_NUMEL = 1, FACT_DIM, FACT_STRIDE, FACT_IS_CONTIGUOUS, FACT_CONTIGUOUS, FACT_GRAD };

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

/* A fact of an array. NULL, without an exception where Python shall say. */
static PyObject *fact_of(const call *self, owner *array)
{
    int64_t numbers[MAX_NDIM], elements = 1;
    NDArrayHandle x = HANDLE(array->handle);
    int ndim, found;

    if (self->fact == FACT_GRAD)
        return grad_of(self, array);
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
