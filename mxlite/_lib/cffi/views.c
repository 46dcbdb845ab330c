/* The keys of Call: x[i] and x[i:j], by integers and slices without a step. After call.c. */
/* A slice's fields, for which the limited API has no names. CPython has laid them out so since 3.9;
 * find_slice_fields looks whether this one does. */
typedef struct slice_fields {
    PyObject ob_base;
    PyObject *start, *stop, *step;
} slice_fields;

static int has_slice_fields;

static void find_slice_fields(void)
{
    PyObject *slice = PySlice_New(Py_True, Py_False, Py_Ellipsis);
    const slice_fields *fields = (const slice_fields *)slice;

    has_slice_fields = slice != NULL && fields->start == Py_True && fields->stop == Py_False &&
                       fields->step == Py_Ellipsis;
    Py_XDECREF(slice);
}

/* The size of the first axis; below 1 if there is none. What changes that of a tensor sets its
 * handle anew. */
static int64_t rows_of(owner *array)
{
    if (array->rows <= 0 && p_MXLNDArrayGetInfo(HANDLE(array->handle), 1, &array->rows, NULL) < 1)
        array->rows = 0;
    return array->rows;
}

/* A view of an array, by an integer or a slice without a step that selects something: by `one` (the
 * argument is the index) and `two` (axis, begin, end), or MXNet's own functions. 0 for all else. */
static uint64_t view_of(const call *self, owner *array, PyObject *key)
{
    NDArrayHandle x = HANDLE(array->handle);
    int64_t rows, begin, end;
    MXLValue values[3];

    if (Py_TYPE(key) == &PySlice_Type && has_slice_fields) {
        const slice_fields *fields = (const slice_fields *)key;

        rows = rows_of(array);
        begin = fields->start == Py_None ? 0 : position_of(fields->start, rows, 1);
        end = fields->stop == Py_None ? rows : position_of(fields->stop, rows, 1);
        if (fields->step != Py_None || begin < 0 || begin >= end)
            return 0;
        if (self->two == 0)
            return NUMBER(p_MXLNDArraySlice(x, begin, end));
        values[0].i = 0, values[1].i = begin, values[2].i = end;
        return NUMBER(p_MXLCall(HANDLE(self->two), 1, &x, values));
    }
    begin = PyLong_CheckExact(key) ? position_of(key, rows_of(array), 0) : -1;
    if (begin < 0)
        return 0;
    return NUMBER(self->one ? p_MXLCall1Int(HANDLE(self->one), x, begin)
                            : p_MXLNDArrayAt(x, begin));
}

/* Replaces the -1 at `unknown` by what remains of the array's elements; 0 if nothing fits. */
static int find_extent(const owner *array, int count, int64_t *values, int unknown)
{
    int64_t extents[MAX_NDIM], elements = 1, known = 1;
    int ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), MAX_NDIM, extents, NULL);

    for (int i = 0; i < ndim; i++)
        elements *= extents[i];
    for (int i = 0; i < count; i++) {
        if (i != unknown && __builtin_mul_overflow(known, values[i], &known))
            return 0;
    }
    if (known <= 0 || elements % known != 0)
        return 0;
    values[unknown] = elements / known;
    return 1;
}

/* The integers that a call gives behind the array, or in a tuple alone there: how many. Codes may
 * be any; of a shape one may be -1, which is replaced. -1 if it is unusual: no integers, others
 * below 0, too many. */
static int integers_of(const call *self, PyObject *const *args, Py_ssize_t count, int64_t *values)
{
    const owner *array = (const owner *)args[0];
    PyObject *tuple = count == 2 && PyTuple_Check(args[1]) ? args[1] : NULL;
    int unknown = -1;

    count = tuple != NULL ? PyTuple_Size(tuple) : count - 1;
    if (count > MAX_NDIM)
        return -1;
    for (int i = 0; i < (int)count; i++) {
        PyObject *object = tuple != NULL ? PyTuple_GetItem(tuple, i) : args[1 + i];

        if (!PyLong_CheckExact(object))
            return -1;
        values[i] = PyLong_AsLongLong(object);
        if (values[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return -1;
        }
        if (values[i] < 0 && !self->reshape) {
            if (values[i] != -1 || unknown >= 0 || !self->contiguous)
                return -1;
            unknown = i;
        }
    }
    return unknown < 0 || find_extent(array, (int)count, values, unknown) ? (int)count : -1;
}

/* A view of an array by integers: a shape, or axes. */
static PyObject *call_integers(PyObject *callable, PyObject *const *args, size_t flags,
                               PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    int64_t values[MAX_NDIM];

    if (names == NULL && nargs > 1 && Py_TYPE(args[0]) == self->cls) {
        owner *array = (owner *)args[0];
        NDArrayHandle x = HANDLE(array->handle);
        int is_usual = x != NULL && (self->num_dtypes == 0 || find_dtype(self, array->dtype) >= 0);
        int count = is_usual ? integers_of(self, args, nargs, values) : -1;

        if (count > 0 && are_usual(self, args, 1)) {
            uint64_t made =
                NUMBER(self->reshape ? p_MXLNDArrayReshape(x, count, values, 0)
                                     : p_MXLCall1List(HANDLE(self->list), x, count, values));

            return made != 0 ? adopt(self, made, array->dtype)
                             : call_python(self->failed, args, nargs, names);
        }
    }
    return call_python(self->function, args, nargs, names);
}

/* A key of an array. What the library refuses the Python function asks again: a view that is not
 * made has no effect. */
static PyObject *subscript(const call *self, PyObject *object, PyObject *key)
{
    PyObject *args[2] = {object, key};

    if (Py_TYPE(object) == self->cls) {
        owner *array = (owner *)object;
        uint64_t made = 0;

        if (array->handle != 0 && (self->num_dtypes == 0 || find_dtype(self, array->dtype) >= 0))
            made = view_of(self, array, key);
        if (made != 0)
            return adopt(self, made, array->dtype);
    }
    return call_python(self->function, args, 2, NULL);
}

static PyObject *call_subscript(PyObject *callable, PyObject *const *args, size_t nargs,
                                PyObject *names)
{
    const call *self = (const call *)callable;

    nargs &= ~LENT;
    if (names == NULL && nargs == 2)
        return subscript(self, args[0], args[1]);
    return call_python(self->function, args, (Py_ssize_t)nargs, names);
}

/* The Calls of keys, one for each class of arrays, linked by `next`; they stay. */
static call *subscripts;

static void add_subscript(call *made)
{
    Py_INCREF(made);
    made->next = subscripts;
    subscripts = made;
}

/* x[key] of Owner: by the Call of the class, or of a class that it comes from. The interpreter
 * calls this without looking for `__getitem__`, where that is Owner's. */
static PyObject *owner_subscript(PyObject *self, PyObject *key)
{
    for (const call *each = subscripts; each != NULL; each = each->next) {
        if (each->cls == Py_TYPE(self))
            return subscript(each, self, key);
    }
    for (const call *each = subscripts; each != NULL; each = each->next) {
        if (PyType_IsSubtype(Py_TYPE(self), each->cls))
            return subscript(each, self, key);
    }
    return PyErr_Format(PyExc_TypeError, "an Owner has no elements");
}
