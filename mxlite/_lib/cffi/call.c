/* Call, a function whose usual calls run in C: operands looked at, prepared call, new object, with
 * no Python code in between. All that is unusual goes to the Python function behind it.
 * After owner.c; `direct` in mxlite/_lib/hot_cffi.py makes the objects.
 *
 * Python's limited API of 3.9 has no names for vectorcall, which the interpreter knows all the
 * same. */
#include <string.h>

#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif
#ifndef Py_TPFLAGS_METHOD_DESCRIPTOR
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#endif
#if Py_LIMITED_API < 0x030C0000
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *args, size_t nargs,
                                    PyObject *names);
#endif
/* Set in `nargs` where the caller lends the place before `args`. */
#define LENT ((size_t)1 << (8 * sizeof(size_t) - 1))

/* Calls of operators with more parameters are not known here. */
enum { MAX_DTYPES = 16, MAX_KNOWN = 64, MAX_PARAMS = 12, MAX_INPUTS = 8 };

typedef struct known_call {
    uint64_t prepared;
    PyObject *values[MAX_PARAMS];
} known_call;

typedef struct call {
    PyObject ob_base;
    vectorcallfunc vectorcall;
    PyObject *dict;
    PyObject *function; /* the definition, called for all that is unusual */
    PyObject *failed;   /* called where the library has refused */
    PyTypeObject *cls;  /* the class of the arrays, exactly */
    freefunc release;   /* of its objects' memory */
    struct call *next;  /* of the Calls of keys */
    uint64_t one, two;  /* prepared calls of one array, of two, */
    uint64_t many;      /* of more, */
    uint64_t number;    /* and of an array and a number; 0: there is none */
    uint64_t then;      /* of what they give (a cast); 0: none */
    uint64_t list;      /* of an array and a list of integers, */
    int reshape;        /* or MXNet's reshape, by a list of codes */
    uint64_t axis;      /* of an array and an axis, an integer; */
    uint64_t axes;      /* or of a list of one axis */
    int new_axis;       /* the axis is one of the result, which has one more */
    int contiguous;     /* usual are arrays in C order alone */
    int constant;       /* usual are arrays alone that no gradient flows to */
    int into;           /* the result is written to the first array, which is returned */
    PyObject *result;   /* `_dtype` of a result; NULL: that of the first array */
    int num_dtypes;     /* of arrays that are usual; 0: all, and `_dtype` means nothing */
    int num_floating;   /* the first of them take numbers with a fraction */
    PyObject *dtypes[MAX_DTYPES];
    /* Parameters that are constants of the program: */
    int num_inputs;    /* the most arrays, and how many come before positional parameters */
    PyObject *params;  /* the names of all parameters, a tuple; NULL: it takes none, nor `out` */
    PyObject *missing; /* the value of one that is not given */
    int num_known;
    known_call *known; /* prepared calls by the identities of all values */
} call;

/* Arrays with more elements are computed without Python's lock (the GIL). Releasing it and taking
 * it again costs as much as adding that many numbers. Waiting within the library while it is held
 * is safe: the library calls back without a lock of its own. */
enum { SMALL = 512 };

static int is_small(const owner *array)
{
    int64_t shape[4] = {1, 1, 1, 1};
    int ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), 4, shape, NULL);

    return ndim >= 0 && ndim <= 4 && shape[0] <= SMALL && shape[1] <= SMALL && shape[2] <= SMALL &&
           shape[3] <= SMALL && shape[0] * shape[1] * shape[2] * shape[3] <= SMALL;
}

/* The result's object. */
static PyObject *adopt(const call *self, uint64_t handle, PyObject *dtype)
{
    PyObject *made = new_array(self->cls, handle, self->num_dtypes != 0 ? dtype : NULL);

    if (made != NULL)
        ((owner *)made)->release = self->release;
    return made;
}

/* The position of a dtype among the usual ones; -1: it is not. */
static int find_dtype(const call *self, PyObject *dtype)
{
    for (int i = 0; i < self->num_dtypes; i++) {
        if (self->dtypes[i] == dtype)
            return i;
    }
    return -1;
}

/* A float or an integer, as an operand beside that dtype (its position); 0 for anything else: for
 * integers that a double, or beside integers an int, does not hold. Where arrays have no `_dtype`
 * all are usual: they are rounded. */
static int read_number(const call *self, int position, PyObject *object, double *number)
{
    if (PyFloat_CheckExact(object)) {
        *number = PyFloat_AsDouble(object);
        return self->num_dtypes == 0 || position < self->num_floating;
    }
    if (!PyLong_CheckExact(object))
        return 0;
    *number = PyLong_AsDouble(object);
    if (*number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    if (position >= self->num_floating)
        return self->num_dtypes == 0 || (*number >= -0x1p31 && *number < 0x1p31);
    return *number > -0x1p53 && *number < 0x1p53;
}

/* The prepared call of that many arrays. */
static uint64_t plain_call(const call *self, int arrays)
{
    return arrays == 1 ? self->one : arrays == 2 ? self->two : self->many;
}

/* "out" and "dim", interned. */
static PyObject *out_name, *dim_name;

/* An integer from the end of n on if it is negative, within 0 and n if `cut`; -1 if it is outside
 * or no exact integer. */
static int64_t position_of(PyObject *object, int64_t n, int cut)
{
    int64_t index;

    if (!PyLong_CheckExact(object))
        return -1;
    index = PyLong_AsLongLong(object);
    if (index == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return -1;
    }
    index += index < 0 ? n : 0;
    if (cut)
        return index < 0 ? 0 : index > n ? n : index;
    return index < n ? index : -1;
}

/* The axis that a call gives alone behind its array, or as `dim`, from 0 on; -1: it gives something
 * else, or the array has none such. */
static int64_t axis_of(const call *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    int64_t extent;
    int ndim;

    if (names == NULL
            ? nargs != 2
            : nargs != 1 || PyTuple_Size(names) != 1 || PyTuple_GetItem(names, 0) != dim_name)
        return -1;
    ndim = p_MXLNDArrayGetInfo(HANDLE(((const owner *)args[0])->handle), 1, &extent, NULL);
    return ndim <= 0 ? -1 : position_of(args[1], ndim + self->new_axis, 0);
}

/* The prepared call for parameters that are known; 0 if these are not. `args` and `names` as of the
 * call, `arrays` of them are operands. *out: the array that is given as `out`. */
static uint64_t find_known(const call *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *names, int arrays, owner **out)
{
    PyObject *values[MAX_PARAMS];
    int num_params = (int)PyTuple_Size(self->params), given = (int)nargs - arrays;
    Py_ssize_t num_names = names == NULL ? 0 : PyTuple_Size(names);

    if (nargs > arrays && (arrays < self->num_inputs || nargs - arrays > num_params))
        return 0;
    for (int i = 0; i < num_params; i++)
        values[i] = i < nargs - arrays ? args[arrays + i] : self->missing;
    for (Py_ssize_t n = 0; n < num_names; n++) {
        PyObject *name = PyTuple_GetItem(names, n);
        int i = 0;

        while (i < num_params && PyTuple_GetItem(self->params, i) != name)
            i++;
        if (i == num_params && name == out_name && Py_TYPE(args[nargs + n]) == self->cls) {
            *out = (owner *)args[nargs + n];
            continue;
        }
        if (i == num_params || i < nargs - arrays)
            return 0;
        values[i] = args[nargs + n];
        given++;
    }
    if (given == 0)
        return plain_call(self, arrays);
    for (int k = 0; k < self->num_known; k++) {
        if (memcmp(self->known[k].values, values, (size_t)num_params * sizeof *values) == 0)
            return self->known[k].prepared;
    }
    return 0;
}

/* The operation by a prepared call: the result's handle, or that of `target`, which is written to;
 * 0 if the library refuses. `target` and `number` are NULL where there is none. */
static uint64_t compute(const call *self, uint64_t prepared, PyObject *const *args, int arrays,
                        const owner *target, const MXLValue *number, int64_t axis)
{
    NDArrayHandle in[MAX_INPUTS], out[1];
    uint64_t made, first;

    for (int i = 0; i < arrays; i++)
        in[i] = HANDLE(((const owner *)args[i])->handle);
    if (target != NULL) {
        int count = 1;

        out[0] = HANDLE(target->handle);
        if (p_MXLCallInto(HANDLE(prepared), arrays, in, number, &count, out) != 0)
            return 0;
        return target->handle;
    }
    if (axis >= 0 && self->axis != 0)
        made = NUMBER(p_MXLCall1Int(HANDLE(prepared), in[0], axis));
    else if (axis >= 0)
        made = NUMBER(p_MXLCall1List(HANDLE(prepared), in[0], 1, &axis));
    else if (number != NULL)
        made = NUMBER(p_MXLCall1Float(HANDLE(prepared), in[0], number->f));
    else if (arrays == 1)
        made = NUMBER(p_MXLCall1(HANDLE(prepared), in[0]));
    else if (arrays == 2)
        made = NUMBER(p_MXLCall2(HANDLE(prepared), in[0], in[1]));
    else
        made = NUMBER(p_MXLCall(HANDLE(prepared), arrays, in, NULL));
    if (made == 0 || self->then == 0)
        return made;
    first = made;
    made = NUMBER(p_MXLCall1(HANDLE(self->then), HANDLE(first)));
    p_MXNDArrayFree(HANDLE(first));
    return made;
}

/* A Python function, with the arguments of a call. */
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

/* How many of the first arguments are arrays that are usual, and of one dtype; 0 if the first is
 * not, -1 if another is of the class but not usual. */
static int count_arrays(const call *self, PyObject *const *args, Py_ssize_t nargs)
{
    int n = 0;

    while (n < nargs && Py_TYPE(args[n]) == self->cls) {
        const owner *array = (const owner *)args[n];

        if (n == self->num_inputs || array->handle == 0)
            return -1;
        if (self->num_dtypes != 0 && array->dtype != ((const owner *)args[0])->dtype)
            return -1;
        n++;
    }
    return n;
}

/* Whether the arrays have what this call asks of usual ones beyond their dtypes. */
static int are_usual(const call *self, PyObject *const *args, int arrays)
{
    for (int i = 0; i < arrays; i++) {
        NDArrayHandle x = HANDLE(((const owner *)args[i])->handle);

        if ((self->constant && p_MXLNDArrayGetEdgeKind(x) != 0) ||
            (self->contiguous && p_MXLNDArrayIsContiguous(x) != 1))
            return 0;
    }
    return 1;
}

/* An operation of arrays, or of an array and a number; or with known parameters. */
static PyObject *call_operation(PyObject *callable, PyObject *const *args, size_t flags,
                                PyObject *names)
{
    const call *self = (const call *)callable;
    const owner *a;
    uint64_t prepared = 0, made;
    MXLValue value, *number = NULL;
    owner *target = NULL;
    Py_ssize_t nargs = (Py_ssize_t)(flags & ~LENT);
    int arrays = count_arrays(self, args, nargs), position = 0, is_quick = 1;
    int64_t axis = -1;

    if (arrays < 1)
        goto unusual;
    a = (const owner *)args[0];
    if (self->num_dtypes != 0)
        position = find_dtype(self, a->dtype);
    if (position < 0 || (self->into && a->read_only != NULL) ||
        ((self->constant | self->contiguous) && !are_usual(self, args, arrays)))
        goto unusual;
    if (nargs == arrays && names == NULL) {
        prepared = plain_call(self, arrays);
    } else if (arrays == 1 && (self->axis | self->axes) != 0 &&
               (axis = axis_of(self, args, nargs, names)) >= 0) {
        prepared = self->axis | self->axes;
    } else if (self->params != NULL) {
        prepared = find_known(self, args, nargs, names, arrays, &target);
        is_quick = 0; /* parameters may make much of a small array */
    } else if (nargs == 2 && names == NULL && self->number != 0 &&
               read_number(self, position, args[1], &value.f)) {
        prepared = self->number;
        number = &value;
    }
    if (self->into)
        target = (owner *)args[0];
    if (prepared == 0 || (target != NULL && target->handle == 0))
        goto unusual;

    for (int i = 0; is_quick && i < arrays; i++)
        is_quick = is_small((const owner *)args[i]);
    if (is_quick) {
        made = compute(self, prepared, args, arrays, target, number, axis);
    } else {
        PyThreadState *thread = PyEval_SaveThread();

        made = compute(self, prepared, args, arrays, target, number, axis);
        PyEval_RestoreThread(thread);
    }
    if (made == 0)
        return call_python(self->failed, args, nargs, names);
    if (target != NULL) {
        Py_INCREF(target);
        return (PyObject *)target;
    }
    return adopt(self, made, self->result != NULL ? self->result : a->dtype);
unusual:
    return call_python(self->function, args, nargs, names);
}
