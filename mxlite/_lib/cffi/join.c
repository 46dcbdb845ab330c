/* Calls of a list of arrays, concatenate([x, y]), stack([x, y], 1), and of arrays around a
 * dimension, gather(x, 1, index). After make.c. */
enum { MAX_JOINED = 64 };

/* "axis", interned. */
static PyObject *axis_name;

/* Whether another array may be joined to the first: where arrays have a `_dtype`, it is the same,
 * and so is the number of their dimensions. */
static int joins(const call *self, const owner *first, const owner *other)
{
    return self->num_dtypes == 0 || (other->dtype == first->dtype &&
                                     p_MXLNDArrayGetInfo(HANDLE(other->handle), 0, NULL, NULL) ==
                                         p_MXLNDArrayGetInfo(HANDLE(first->handle), 0, NULL, NULL));
}

/* Reads a list or tuple of arrays of the class; sets whether all are small. Returns how many there
 * are, or 0 for other objects. */
static int arrays_of(const call *self, PyObject *list, NDArrayHandle *in, int *are_small)
{
    int is_tuple = PyTuple_CheckExact(list);
    Py_ssize_t count;

    if (!is_tuple && !PyList_CheckExact(list))
        return 0;
    count = length_of(list);
    if (count > MAX_JOINED)
        return 0;
    *are_small = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *entry = entry_of(list, i);

        if (!is_of(self->cls, entry) || ((const owner *)entry)->handle == 0 ||
            !joins(self, (const owner *)entry_of(list, 0), (const owner *)entry))
            return 0;
        in[i] = HANDLE(((const owner *)entry)->handle);
        *are_small = *are_small && is_small((const owner *)entry);
    }
    return (int)count;
}

/* Counts the axis from 0 where arrays have a `_dtype`. Returns 0 for one that they do not have. */
static int find_joined_axis(const call *self, const owner *first, int64_t *axis)
{
    int64_t ndim = p_MXLNDArrayGetInfo(HANDLE(first->handle), 0, NULL, NULL) + self->new_axis;

    if (self->num_dtypes == 0)
        return 1;
    *axis += *axis < 0 ? ndim : 0;
    return *axis >= 0 && *axis < ndim && find_dtype(self, first->dtype) >= 0;
}

/* f(arrays); of a call with an axis also f(arrays, axis), f(arrays, axis=axis), or `dim` where
 * arrays have a `_dtype`. */
static PyObject *call_join(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    int has_axis = self->read == read_axis, are_small, count = 0;
    PyObject *name = self->num_dtypes == 0 ? axis_name : dim_name;
    NDArrayHandle in[MAX_JOINED];
    PyObject *dtype = NULL;
    PyThreadState *thread;
    uint64_t made;
    MXLValue axis;

    axis.i = 0;
    if (nargs >= 1 && nargs + named <= 1 + has_axis &&
        (named == 0 || PyTuple_GetItem(names, 0) == name) &&
        (nargs + named == 1 || (read_value('i', args[1], &axis) && axis.i != INT64_MIN)))
        count = arrays_of(self, args[0], in, &are_small);
    if (count != 0) {
        const owner *first = (const owner *)entry_of(args[0], 0);

        dtype = first->dtype;
        count = !has_axis || find_joined_axis(self, first, &axis.i) ? count : 0;
    }
    if (count == 0)
        return call_python(self->function, args, nargs, names);
    thread = are_small ? NULL : PyEval_SaveThread();
    made = NUMBER(p_MXLCall(HANDLE(has_axis ? self->axis : self->many), count, in, &axis));
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    return made != 0 ? adopt(self, made, dtype) : call_python(self->failed, args, nargs, names);
}

/* The arrays of f(x, dim, index) or f(x, dim, index, source), by `many`: all have the first one's
 * dtype but the index. Where a number may be the source, it is left out. Returns how many there
 * are, 0 where the call is unusual. */
static int arrays_along(const call *self, PyObject *const *args, Py_ssize_t nargs,
                        NDArrayHandle *in, int *are_small)
{
    int count = 0;

    *are_small = 1;
    for (Py_ssize_t i = 0; i < nargs; i += i == 0 ? 2 : 1) {
        if (i == 3 && self->number != 0 &&
            (PyFloat_CheckExact(args[i]) || PyLong_CheckExact(args[i])))
            break;
        const owner *array = (const owner *)args[i];

        if (!is_of(self->cls, args[i]) || array->handle == 0 ||
            array->dtype != (i == 2 ? self->index : ((const owner *)args[0])->dtype))
            return 0;
        in[count++] = HANDLE(array->handle);
        *are_small = *are_small && is_small(array);
    }
    return count;
}

/* Whether the call is usual besides that; sets the axis. */
static int find_axis_along(const call *self, const owner *first, PyObject *dim, NDArrayHandle *in,
                           int64_t *axis)
{
    *axis = position_of(dim, p_MXLNDArrayGetInfo(in[0], 0, NULL, NULL), 0);
    return *axis >= 0 && find_dtype(self, first->dtype) >= 0 &&
           !(self->into && first->read_only != NULL) &&
           (self->most == 0 || p_MXLNDArrayGetInfo(in[1], 0, NULL, NULL) == self->most);
}

/* A number as an array of the index's shape, of the first array's dtype, which holds it; 0 where it
 * is unusual or an error occurs. */
static uint64_t source_of(const call *self, const owner *first, NDArrayHandle index,
                          PyObject *object)
{
    int is_floating = find_dtype(self, first->dtype) < self->num_floating;
    uint64_t prepared = call_for(self, first->dtype);
    int64_t shape[MAX_NDIM];
    int ndim = p_MXLNDArrayGetInfo(index, MAX_NDIM, shape, NULL);
    MXLValue values[2];

    if (prepared == 0 || ndim < 0 || !read_value('f', object, &values[1]) ||
        (!is_floating && (PyFloat_CheckExact(object) || values[1].f < 0 || values[1].f > INT8_MAX)))
        return 0;
    values[0].list.n = ndim;
    values[0].list.values = shape;
    return NUMBER(p_MXLCall(HANDLE(prepared), 0, NULL, values));
}

/* f(x, dim, index) and f(x, dim, index, source), whose source may be a number with `number`;
 * written to x with `into`. */
static PyObject *call_along(PyObject *callable, PyObject *const *args, size_t flags,
                            PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    NDArrayHandle in[MAX_INPUTS], out[1] = {NULL};
    int are_small, count = 0, one = 1, status;
    PyThreadState *thread;
    uint64_t source = 0, prepared = self->many;
    MXLValue axis;

    if (names == NULL && nargs == self->num_inputs + 1)
        count = arrays_along(self, args, nargs, in, &are_small);
    if (count == 0 || !find_axis_along(self, (const owner *)args[0], args[1], in, &axis.i))
        return call_python(self->function, args, nargs, names);
    if (count < self->num_inputs) {
        source = source_of(self, (const owner *)args[0], in[1], args[3]);
        if (source == 0)
            return call_python(self->function, args, nargs, names);
        in[count++] = HANDLE(source);
        prepared = self->number;
    }
    if (self->into)
        out[0] = in[0];
    thread = are_small ? NULL : PyEval_SaveThread();
    status = p_MXLCallInto(HANDLE(prepared), count, in, &axis, &one, out);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    if (source != 0)
        p_MXNDArrayFree(HANDLE(source));
    if (status != 0)
        return call_python(self->failed, args, nargs, names);
    if (!self->into)
        return adopt(self, NUMBER(out[0]), ((const owner *)args[0])->dtype);
    Py_INCREF(args[0]);
    return args[0];
}
