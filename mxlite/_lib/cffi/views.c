/* The keys of Call: x[i] and x[i:j], by integers and slices without a step, and what keys.c reads.
 * After keys.c. */
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

/* Infers the extent at `unknown` from the array's number of elements. Returns 0 if none fits. */
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

/* Reads the integers of a call f(x, 2, 3) or f(x, (2, 3)). Returns how many there are, or -1 if the
 * call is unusual: other objects than exact integers, more than MAX_NDIM of them, negative ones. A
 * shape (`contiguous`) may have one -1, which is replaced by the extent that remains; the codes of
 * `reshape` may be any integers. */
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
        for (int k = 0; self->different && k < i; k++) {
            if (values[k] == values[i])
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

/* x.view(2, 3), x.view((2, 3)), x.permute(1, 0): a view by a shape, or by axes. */
static PyObject *call_integers(PyObject *callable, PyObject *const *args, size_t flags,
                               PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    int64_t values[MAX_NDIM];

    if (names == NULL && nargs > 1 && is_of(self->cls, args[0])) {
        owner *array = (owner *)args[0];
        NDArrayHandle x = HANDLE(array->handle);
        int is_usual = x != NULL && (self->num_dtypes == 0 || find_dtype(self, array->dtype) >= 0);
        int count = is_usual ? integers_of(self, args, nargs, values) : -1;

        if (count > 0 && are_usual(self, args, 1)) {
            uint64_t made =
                NUMBER(self->list == 0 ? p_MXLNDArrayReshape(x, count, values, 0)
                                       : p_MXLCall1List(HANDLE(self->list), x, count, values));

            return made != 0 ? adopt(self, made, array->dtype)
                             : call_python(self->failed, args, nargs, names);
        }
    }
    return call_python(self->function, args, nargs, names);
}

/* x[key]. If the library returns an error, the Python function is called for it: a view that was
 * not made has had no effect. */
static PyObject *subscript(const call *self, PyObject *object, PyObject *key)
{
    PyObject *args[2] = {object, key};

    if (is_of(self->cls, object)) {
        owner *array = (owner *)object;
        uint64_t made = 0;

        if (array->handle != 0 && (self->num_dtypes == 0 || find_dtype(self, array->dtype) >= 0)) {
            made = view_of(self, array, key);
            if (made == 0 && self->many != 0 && !is_plain(key))
                made = select_by(self, array, key);
        }
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

/* The Calls that are `__getitem__`, one for each class of arrays, linked by `next`; never freed. */
static call *subscripts;

static void add_subscript(call *made)
{
    Py_INCREF(made);
    made->next = subscripts;
    subscripts = made;
}

/* mp_subscript of Owner: runs the Call of the object's class, or of its nearest base class. A class
 * whose `__getitem__` is Owner's has this function in its own slot, so the interpreter looks
 * nothing up. */
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
    return PyErr_Format(PyExc_TypeError, "an Owner has no elements; its subclasses have");
}
