/* Calls of a list of arrays: concatenate([x, y]), stack([x, y], 1). After make.c. */
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

        if (Py_TYPE(entry) != self->cls || ((const owner *)entry)->handle == 0 ||
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
