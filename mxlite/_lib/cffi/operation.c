/* Runs a Call: looks at the operands, calls, and makes the result's object. After call.c. */
/* "context", interned. */
static PyObject *context_name;

/* Whether new arrays need no context. `home`: what keeps the thread's context, and what that is
 * then. */
static int is_at_home(PyObject *home)
{
    PyObject *now = PyObject_GetAttr(PyTuple_GetItem(home, 0), context_name);
    int is_home = now == PyTuple_GetItem(home, 1);

    if (now == NULL)
        PyErr_Clear();
    Py_XDECREF(now);
    return is_home;
}

/* Runs the operation on arrays. Returns the handle of the result, or of the target; 0 if the
 * library returns an error. */
static uint64_t compute_of(const call *self, const operation *o, NDArrayHandle *in)
{
    NDArrayHandle call = HANDLE(o->prepared), out[1];

    if (o->target != NULL) {
        MXLValue values[2];
        int count = 1;

        out[0] = HANDLE(o->target->handle);
        values[0].f = o->number;
        if (o->is_integer)
            values[0].i = o->integer;
        values[1].i = o->is_integer;
        if (p_MXLCallInto(call, o->arrays, in,
                          o->num_values > 0 ? o->values
                          : o->has_number   ? values
                                            : NULL,
                          &count, out) != 0)
            return 0;
        return o->target->handle;
    }
    if (o->num_axes > 0 && self->axis != 0)
        return NUMBER(p_MXLCall1Int(call, in[0], o->axis[0]));
    if (o->num_axes > 0)
        return NUMBER(p_MXLCall1List(call, in[0], o->num_axes, o->axis));
    if (o->is_integer)
        return NUMBER(p_MXLCall1Int(call, in[0], o->integer));
    if (o->has_number)
        return NUMBER(p_MXLCall1Float(call, in[0], o->number));
    if (o->num_values > 0)
        return NUMBER(p_MXLCall(call, o->arrays, in, o->values));
    if (o->arrays == 1)
        return NUMBER(p_MXLCall1(call, in[0]));
    if (o->arrays == 2)
        return NUMBER(p_MXLCall2(call, in[0], in[1]));
    return NUMBER(p_MXLCall(call, o->arrays, in, NULL));
}

/* The same, of the arguments, with the calls before and after it. */
static uint64_t compute(const call *self, const operation *o, PyObject *const *args)
{
    NDArrayHandle in[MAX_INPUTS], first = NULL, last;
    uint64_t made;

    for (int i = 0; i < o->arrays; i++)
        in[i] = HANDLE(((const owner *)args[i])->handle);
    if (self->first == 0)
        return compute_of(self, o, in);
    first = o->arrays == 0 ? p_MXLCall(HANDLE(self->first), 0, NULL, o->values)
                           : p_MXLCall1(HANDLE(self->first), in[0]);
    if (first == NULL)
        return 0;
    in[0] = first;
    made =
        o->arrays == 0 ? NUMBER(p_MXLCall1(HANDLE(o->prepared), first)) : compute_of(self, o, in);
    p_MXNDArrayFree(first);
    if (self->then == 0 || made == 0)
        return made;
    last = p_MXLCall1(HANDLE(self->then), HANDLE(made));
    p_MXNDArrayFree(HANDLE(made));
    return NUMBER(last);
}

/* Calls a Python function with the arguments of a vectorcall. */
static PyObject *call_python(PyObject *function, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *names)
{
    PyObject *tuple = PyTuple_New(nargs), *keywords = NULL, *done = NULL;
    Py_ssize_t num_names = names == NULL ? 0 : PyTuple_Size(names);

    if (tuple == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        Py_INCREF(args[i]);
        PyTuple_SetItem(tuple, i, args[i]);
    }
    if (num_names > 0 && (keywords = PyDict_New()) == NULL)
        goto done;
    for (Py_ssize_t i = 0; i < num_names; i++) {
        if (PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[nargs + i]) != 0)
            goto done;
    }
    done = PyObject_Call(function, tuple, keywords);
done:
    Py_DECREF(tuple);
    Py_XDECREF(keywords);
    return done;
}

/* How many of the first arguments are arrays that are usual, and of one dtype, but for that of an
 * index, unless the library promotes, when *mixed is set; 0 if the first is not usual, -1 if
 * another is of the class but not usual. */
static int count_arrays(const call *self, PyObject *const *args, Py_ssize_t nargs, int *mixed)
{
    int n = 0;

    while (n < nargs && is_of(self->cls, args[n])) {
        const owner *array = (const owner *)args[n];

        if (n == self->num_inputs || array->handle == 0)
            return -1;
        if (self->num_dtypes != 0 &&
            array->dtype !=
                (n == 1 && self->index != NULL ? self->index : ((const owner *)args[0])->dtype)) {
            if (self->by_flag == NULL)
                return -1;
            *mixed = 1;
        }
        n++;
    }
    return n;
}

/* Whether no gradient flows to an array. That flows to the whole batch of one of vmap, perhaps. */
static int is_constant(NDArrayHandle x)
{
    int has_axis;

    return p_MXLNDArrayGetEdgeKind(x) == MXL_EDGE_CONSTANT &&
           p_MXLNDArrayBatchOf(x, NULL, &has_axis) == 0;
}

/* Whether arrays fulfil what the call asks of them besides their dtypes. */
static int are_usual(const call *self, PyObject *const *args, int arrays)
{
    for (int i = 0; i < arrays; i++) {
        NDArrayHandle x = HANDLE(((const owner *)args[i])->handle);
        int has_axis;

        if ((self->unbatched && p_MXLNDArrayBatchOf(x, NULL, &has_axis) != 0) ||
            (self->constant && !is_constant(x)) ||
            (self->contiguous && p_MXLNDArrayIsContiguous(x) != 1) ||
            (self->ndims[0] != 0 && p_MXLNDArrayGetInfo(x, 0, NULL, NULL) != self->ndims[i]))
            return 0;
        if (self->least != 0) {
            int ndim = p_MXLNDArrayGetInfo(x, 0, NULL, NULL);

            if (ndim < self->least || (self->most != 0 && ndim > self->most))
                return 0;
        }
    }
    return 1;
}

/* Whether arrays are of one shape, but along the axis that the operation has. */
static int are_alike(const operation *o, PyObject *const *args)
{
    int64_t extents[2][MAX_NDIM];
    int ndim = 0;

    for (int i = 0; i < o->arrays; i++) {
        NDArrayHandle x = HANDLE(((const owner *)args[i])->handle);
        int found = p_MXLNDArrayGetInfo(x, MAX_NDIM, extents[i != 0], NULL);

        if (found < 0 || (i > 0 && found != ndim))
            return 0;
        ndim = found;
        for (int k = 0; i > 0 && k < ndim; k++) {
            if (extents[0][k] != extents[1][k] && k + 1 != o->along)
                return 0;
        }
    }
    return 1;
}

/* Fills in the operation for the arguments of a call. Returns 0 if the call is unusual. */
static int choose(const call *self, arguments *given, operation *o)
{
    const owner *a = (const owner *)given->args[0];

    memset(o, 0, offsetof(operation, values));
    if (self->num_inputs == 0)
        return is_at_home(self->home) && self->read(self, given, o) && o->prepared != 0;
    given->arrays = o->arrays = count_arrays(self, given->args, given->nargs, &o->is_promoted);
    if (o->arrays < 1)
        return 0;
    if (self->num_dtypes != 0)
        given->position = find_dtype(self, a->dtype);
    if (self->by_flag != NULL && given->position >= self->num_floating)
        o->is_promoted = 1;
    if (given->position < 0 || (self->into && a->read_only != NULL) ||
        ((self->constant | self->unbatched | self->contiguous | self->least | self->ndims[0]) &&
         !are_usual(self, given->args, o->arrays)))
        return 0;
    if (given->nargs == o->arrays && given->names == NULL && self->read != read_values)
        o->prepared = plain_call(self, o->arrays);
    else if (!self->read(self, given, o))
        return 0;
    if (self->alike && !are_alike(o, given->args))
        return 0;
    if (self->into)
        o->target = (owner *)given->args[0];
    return o->prepared != 0 && (o->target == NULL || o->target->handle != 0);
}

/* The `_dtype` of a result that the library says. Borrowed; NULL with an exception set. */
static PyObject *ask_dtype(const call *self, uint64_t made)
{
    int64_t shape[1];
    int flag = -1;

    (void)p_MXLNDArrayGetInfo(HANDLE(made), 0, shape, &flag);
    return PyTuple_GetItem(self->by_flag, flag);
}

/* The tuple of several results, an object of its class. */
static PyObject *adopt_results(const call *self, const owner *first, int count,
                               NDArrayHandle *handles)
{
    PyObject *made[MAX_RESULTS] = {NULL}, *tuple = NULL;
    int done = 1;

    for (int i = 0; i < count; i++) {
        PyObject *dtype = PyTuple_GetItem(self->results, 1 + i);

        made[i] = adopt(self, NUMBER(handles[i]), dtype == Py_None ? first->dtype : dtype);
        done = done && made[i] != NULL;
    }
    if (done)
        tuple =
            PyObject_CallFunctionObjArgs(PyTuple_GetItem(self->results, 0), made[0], made[1], NULL);
    for (int i = 0; i < count; i++)
        Py_XDECREF(made[i]);
    return tuple;
}

/* An operation with several results. */
static PyObject *call_for_results(const call *self, const arguments *given, operation *o)
{
    NDArrayHandle in[MAX_INPUTS], out[MAX_RESULTS] = {NULL};
    int count = (int)PyTuple_Size(self->results) - 1, are_small = 1, status;
    PyThreadState *thread;

    for (int i = 0; i < o->arrays; i++) {
        in[i] = HANDLE(((const owner *)given->args[i])->handle);
        are_small = are_small && is_small((const owner *)given->args[i]);
    }
    if (o->num_axes > 0)
        o->values[0].i = o->axis[0];
    thread = are_small ? NULL : PyEval_SaveThread();
    status = p_MXLCallInto(HANDLE(o->prepared), o->arrays, in, o->values, &count, out);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    return status == 0 ? adopt_results(self, (const owner *)given->args[0], count, out)
                       : call_python(self->failed, given->args, given->nargs, given->names);
}

static PyObject *number_of(uint64_t array); /* in elements.c */

/* Whether the only element of an array, which is freed, differs from 0. */
static PyObject *truth_of(uint64_t made)
{
    PyObject *number = number_of(made);
    int is_true = number == NULL ? -1 : PyObject_IsTrue(number);

    p_MXNDArrayFree(HANDLE(made));
    Py_XDECREF(number);
    return is_true < 0 ? NULL : PyBool_FromLong(is_true);
}

/* An operation of arrays, and of what the form lets follow them. */
static PyObject *call_operation(PyObject *callable, PyObject *const *args, size_t flags,
                                PyObject *names)
{
    const call *self = (const call *)callable;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    arguments given = {args, nargs, names, 0, 0};
    PyObject *dtype = self->result;
    uint64_t made;
    operation o;
    int is_quick;

    if ((nargs < 1 && self->num_inputs > 0) || !choose(self, &given, &o))
        return call_python(self->function, args, nargs, names);
    if (self->results != NULL && (self->read == read_values || o.prepared != self->one))
        return call_for_results(self, &given, &o);
    is_quick = !o.may_be_large;
    for (int i = 0; is_quick && i < o.arrays; i++)
        is_quick = is_small((const owner *)args[i]);
    if (is_quick) {
        made = compute(self, &o, args);
    } else {
        PyThreadState *thread = PyEval_SaveThread();

        made = compute(self, &o, args);
        PyEval_RestoreThread(thread);
    }
    if (made == 0)
        return call_python(self->failed, args, nargs, names);
    if (o.target != NULL) {
        Py_INCREF(o.target);
        return (PyObject *)o.target;
    }
    if (self->truth)
        return truth_of(made);
    if (dtype == NULL && self->num_dtypes != 0) {
        dtype = o.is_promoted ? ask_dtype(self, made) : ((const owner *)args[0])->dtype;
        if (dtype == NULL) {
            p_MXNDArrayFree(HANDLE(made));
            return NULL;
        }
    }
    return adopt(self, made, dtype);
}
