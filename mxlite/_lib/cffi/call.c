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
/* Python 3.9 does not know it, 3.11 looks for methods of other types anew in each call. */
#ifndef Py_TPFLAGS_IMMUTABLETYPE
#define Py_TPFLAGS_IMMUTABLETYPE (1UL << 8)
#endif
#if Py_LIMITED_API < 0x030C0000
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *args, size_t nargs,
                                    PyObject *names);
#endif
/* Set in `nargs` where the caller lends the place before `args`. */
#define LENT ((size_t)1 << (8 * sizeof(size_t) - 1))

/* Calls of operators with more parameters are not known here. */
enum {
    MAX_DTYPES = 16,
    MAX_KNOWN = 64,
    MAX_PARAMS = 12,
    MAX_INPUTS = 8,
    MAX_VALUES = 8,
    MAX_LISTED_VALUES = 16,
    MAX_AXES = 4,
    MAX_RESULTS = 2
};

typedef struct known_call {
    uint64_t prepared;
    PyObject *values[MAX_PARAMS];
} known_call;

/* A number, flag or list that the prepared call takes. */
typedef struct value_argument {
    PyObject *name;
    PyObject *fallback; /* where it is not given; None: it must be */
    int kind; /* as of read_value and read_argument; a capital: given by name alone; 'n': it is the
                 fallback, and the prepared call does not take it */
} value_argument;

/* The arguments of a vectorcall, which begin with `arrays` arrays. */
typedef struct arguments {
    PyObject *const *args;
    Py_ssize_t nargs;
    PyObject *names; /* of those after the first nargs; may be NULL */
    int arrays;
    int position; /* of the first array's dtype among the usual ones */
} arguments;

struct operation;

typedef struct call {
    PyObject ob_base;
    vectorcallfunc vectorcall;
    PyObject *dict;
    PyObject *function; /* the definition, called for all that is unusual */
    PyObject *failed;   /* called with the same arguments when the library returns an error */
    PyTypeObject *cls;  /* the class of the arrays, exactly */
    freefunc release;   /* frees the memory of objects of `cls` */
    struct call *next;  /* in the list of the Calls that are `__getitem__` */
    uint64_t one, two;  /* prepared calls of one array, of two, */
    uint64_t many;      /* of more, or of none; 0: there is none */
    uint64_t first;     /* of one, whose result takes its place, or of the values; 0: none */
    uint64_t then;      /* of the result, whose own is returned; 0: none */
    int fact;           /* what is asked of an array, of facts.c; 0: nothing */
    int num_inputs;     /* the most arrays, and how many come before positional parameters */
    int contiguous;     /* only arrays in C order are usual */
    int constant;       /* only arrays that no gradient flows to are usual */
    int unbatched;      /* arrays of vmap are not usual */
    int least, most; /* how many dimensions usual arrays have; most 0: any number from least on */
    int ndims[MAX_INPUTS]; /* or how many each has; the first one 0: see least */
    int into;              /* the result is written to the first array, which is returned */
    int alike;             /* arrays are of one shape, but along the axis among the values */
    int truth;             /* what is returned is whether the only element differs from 0 */
    PyObject *result;      /* `_dtype` of a result; NULL: that of the first array */
    PyObject *results; /* of calls with several: the class of their tuple, and the `_dtype` of each
                          or None for that of the first array; NULL */
    int num_dtypes;    /* of arrays that are usual; 0: all, and `_dtype` means nothing */
    int num_floating;  /* the first of them take numbers with a fraction */
    PyObject *dtypes[MAX_DTYPES];
    PyObject *index;   /* the `_dtype` of the second array; NULL: that of the first */
    PyObject *home;    /* of calls that make arrays of none: see is_at_home; NULL */
    PyObject *makes;   /* of those by a shape: prepared calls by what is given as a dtype, a dict */
    int like;          /* of those: the array before the shape says the dtype */
    PyObject *by_flag; /* the library promotes operands: `_dtype` for each of its dtypes; or NULL */
    /* What may follow the arrays, and how it is read: the form. */
    int (*read)(const struct call *self, const arguments *given, struct operation *o);
    union {
        uint64_t number;   /* read_operand: a prepared call of an array and a number; 0: none */
        struct {           /* read_axis */
            uint64_t axis; /* of an array and an axis, an integer; */
            uint64_t axes; /* or a list of axes; */
            uint64_t keep; /* the same where the result keeps them, with an extent of 1; 0: none */
            int new_axis;  /* the axis is one of the result, which has one more */
        };
        struct {                              /* read_values */
            int num_values;                   /* arguments of the prepared call: */
            value_argument value[MAX_VALUES]; /* what each is */
        };
        struct {               /* read_known: parameters that are constants of the program */
            PyObject *params;  /* the names of all parameters, a tuple */
            PyObject *missing; /* the value of one that is not given */
            int num_known;
            known_call *known; /* prepared calls by the identities of all values */
        };
        struct {           /* of views.c, which reads no operation */
            uint64_t list; /* of an array and a list of integers, */
            int different; /* which differ from each other; */
            int reshape;   /* its integers may be negative; without `list`: MXNet's reshape */
        };
    };
} call;

/* Arrays with more elements are computed without Python's lock (the GIL). Releasing it and taking
 * it again costs as much as adding that many numbers. Waiting within the library while it is held
 * is safe: the library calls back without a lock of its own. */
enum { SMALL = 512 };

/* Whether an array of that shape is small. */
static int is_few(int ndim, const int64_t *shape)
{
    int64_t elements = 1;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] > SMALL || elements > SMALL)
            return 0;
        elements *= shape[i];
    }
    return ndim >= 0 && elements <= SMALL;
}

static int is_small(const owner *array)
{
    int64_t shape[4];
    int ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), 4, shape, NULL);

    return ndim <= 4 && is_few(ndim, shape);
}

/* Makes the result's object. */
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

/* What a usual call does. */
typedef struct operation {
    uint64_t prepared;
    int arrays;     /* how many operands are arrays: the first arguments */
    owner *target;  /* the array that is written to; NULL: a new one */
    int has_number; /* the second operand is a number: `number`, */
    int is_integer; /* or `integer`, where the library takes integers as such */
    double number;
    int64_t integer;
    int64_t axis[MAX_AXES];      /* the arguments of `axis` or `axes`, */
    int num_axes;                /* so many */
    int num_values;              /* arguments of the prepared call: so many of `values` */
    int num_listed;              /* the integers of those that are lists: so many of `listed` */
    int along;                   /* 1 + the axis among them; 0: there is none */
    int may_be_large;            /* parameters may make much of a small array, or of none */
    int is_promoted;             /* the result may have another dtype than the first array */
    MXLValue values[MAX_VALUES]; /* from here on nothing is cleared */
    int64_t listed[MAX_LISTED_VALUES];
} operation;

/* Reads the operand beside an array whose dtype has that position. Returns 0 for anything but
 * floats and exact integers, and for integers that the kernels would not get exactly: those beyond
 * 2^53 beside floating dtypes, those beyond C's int beside integer dtypes. Where arrays have no
 * `_dtype` every integer is usual, and rounded to a double; where the library promotes, it gets
 * integers of 64 bits as such. */
static int read_number(const call *self, int position, PyObject *object, operation *o)
{
    double *number = &o->number;

    if (PyFloat_CheckExact(object)) {
        *number = PyFloat_AsDouble(object);
        return self->num_dtypes == 0 || self->by_flag != NULL || position < self->num_floating;
    }
    if (!PyLong_CheckExact(object))
        return 0;
    if (self->by_flag != NULL) {
        o->integer = PyLong_AsLongLong(object);
        o->is_integer = 1;
        if (o->integer == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        return 1;
    }
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

/* "out", "dim" and "keepdim", interned. */
static PyObject *out_name, *dim_name, *keepdim_name;

/* Converts an exact Python integer to an index from 0 on; negative ones count from the end of n
 * elements. An index out of bounds gives -1, or with `cut` the nearest bound. Other objects give
 * -1. */
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

/* Reads an axis, or with `axes` and `keep` a list or a tuple of different ones. Returns 0 for all
 * else. */
static int read_places(const call *self, PyObject *object, int64_t ndim, operation *o)
{
    int is_list = self->axes != 0 && self->keep != 0 &&
                  (PyTuple_CheckExact(object) || PyList_CheckExact(object));
    Py_ssize_t count = !is_list                ? 1
                       : PyTuple_Check(object) ? PyTuple_Size(object)
                                               : PyList_Size(object);

    if (count > MAX_AXES)
        return 0;
    for (int i = 0; i < (int)count; i++) {
        PyObject *entry = !is_list                ? object
                          : PyTuple_Check(object) ? PyTuple_GetItem(object, i)
                                                  : PyList_GetItem(object, i);

        o->axis[i] = position_of(entry, ndim, 0);
        if (o->axis[i] < 0)
            return 0;
        for (int k = 0; k < i; k++) {
            if (o->axis[k] == o->axis[i])
                return 0;
        }
    }
    o->num_axes = (int)count;
    return count > 0;
}

/* The forms f(x, axis), f(x, dim=axis), f(x, axis, keepdim) and so on. Returns 0 for other
 * arguments, and for an axis that the array does not have. */
static int read_axis(const call *self, const arguments *given, operation *o)
{
    Py_ssize_t named = given->names == NULL ? 0 : PyTuple_Size(given->names);
    PyObject *dim = given->nargs > 1 ? given->args[1] : NULL;
    PyObject *keep = given->nargs > 2 ? given->args[2] : NULL;
    int64_t extent;
    int ndim;

    if (given->arrays != 1 || given->nargs > 3)
        return 0;
    for (Py_ssize_t n = 0; n < named; n++) {
        PyObject *name = PyTuple_GetItem(given->names, n);
        PyObject **place = name == dim_name ? &dim : name == keepdim_name ? &keep : NULL;

        if (place == NULL || *place != NULL)
            return 0;
        *place = given->args[given->nargs + n];
    }
    if (dim == NULL || (keep != NULL && ((keep != Py_True && keep != Py_False) || self->keep == 0)))
        return 0;
    ndim = p_MXLNDArrayGetInfo(HANDLE(((const owner *)given->args[0])->handle), 1, &extent, NULL);
    o->prepared = keep == Py_True ? self->keep : self->axis | self->axes;
    return ndim > 0 && read_places(self, dim, ndim + self->new_axis, o);
}

/* Reads an argument as an integer ("i"), one from 1 on ("p"), such a one as a double ("w"), a truth
 * value ("b"), or a number that every floating dtype holds ("f"; "x": a float of Python's). Returns
 * 0 for other objects. */
static int read_value(int kind, PyObject *object, MXLValue *value)
{
    enum { MAX_HALF = 65504 };

    if (kind == 'b') {
        value->i = object == Py_True;
        return object == Py_True || object == Py_False;
    }
    if ((kind == 'f' || kind == 'x') && PyFloat_CheckExact(object)) {
        value->f = PyFloat_AsDouble(object);
        return value->f >= -MAX_HALF && value->f <= MAX_HALF;
    }
    if (kind == 'x' || !PyLong_CheckExact(object))
        return 0;
    value->i = PyLong_AsLongLong(object);
    if (value->i == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    if (kind == 'i' || kind == 'p')
        return kind == 'i' || value->i > 0;
    if (kind == 'w') {
        int is_whole = value->i > 0 && value->i < (int64_t)1 << 53;

        value->f = (double)value->i;
        return is_whole;
    }
    value->f = (double)value->i;
    return value->f >= -MAX_HALF && value->f <= MAX_HALF;
}

/* Reads an integer, or a list or tuple of them, as a list; of a shape ("s") they are from 0 on.
 * Returns 0 for other objects. */
static int read_listed_values(int kind, PyObject *object, operation *o, MXLValue *value)
{
    int is_tuple = PyTuple_CheckExact(object), is_one = PyLong_CheckExact(object);
    int64_t *to = o->listed + o->num_listed;
    Py_ssize_t count;

    if (!is_one && !is_tuple && !PyList_CheckExact(object))
        return 0;
    count = is_one ? 1 : is_tuple ? PyTuple_Size(object) : PyList_Size(object);
    if (count > MAX_LISTED_VALUES - o->num_listed)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        MXLValue each;

        if (!read_value('i',
                        is_one     ? object
                        : is_tuple ? PyTuple_GetItem(object, i)
                                   : PyList_GetItem(object, i),
                        &each) ||
            (kind == 's' && each.i < 0))
            return 0;
        to[i] = each.i;
    }
    value->list.n = count;
    value->list.values = to;
    o->num_listed += (int)count;
    return 1;
}

/* Whether a number of elements, or of rows and columns, may make much. */
static int is_many(int64_t number)
{
    enum { MANY = 16 };

    return number > MANY;
}

/* Reads an argument as the next value: an axis of the first array ("a"), integers ("l"; "m": as
 * many as the value before has), a shape ("s"), or as read_value does. Returns 0 for other objects.
 */
static int read_argument(int kind, PyObject *object, const arguments *given, operation *o)
{
    MXLValue *value = &o->values[o->num_values++];

    if (kind == 'a') {
        NDArrayHandle x = HANDLE(((const owner *)given->args[0])->handle);

        value->i = position_of(object, p_MXLNDArrayGetInfo(x, 0, NULL, NULL), 0);
        o->along = (int)value->i + 1;
        return value->i >= 0;
    }
    if (kind != 'l' && kind != 'm' && kind != 's') {
        int is_read = read_value(kind, object, value);

        if (given->arrays == 0 && is_read && kind != 'b' && kind != 'f' && kind != 'x')
            o->may_be_large |= kind == 'w' ? value->f > SMALL : is_many(value->i);
        return is_read;
    }
    if (!read_listed_values(kind, object, o, value) ||
        (kind == 'm' && value->list.n != value[-1].list.n))
        return 0;
    if (given->arrays == 0)
        o->may_be_large |= !is_few((int)value->list.n, value->list.values);
    return 1;
}

/* The form f(x, 0, 1), f(x, dim0=0, dim1=1): arguments of the prepared call. Returns 0 for others.
 */
static int read_values(const call *self, const arguments *given, operation *o)
{
    Py_ssize_t extra = given->nargs - given->arrays;
    Py_ssize_t named = given->names == NULL ? 0 : PyTuple_Size(given->names), used = 0;

    o->prepared = plain_call(self, given->arrays);
    for (int i = 0; i < self->num_values; i++) {
        const value_argument *its = &self->value[i];
        PyObject *object = i < extra ? given->args[given->arrays + i] : its->fallback;
        int kind = its->kind | 0x20; /* in small letters */

        for (Py_ssize_t n = 0; i >= extra && n < named; n++) {
            if (PyTuple_GetItem(given->names, n) == its->name)
                object = given->args[given->nargs + n], used++;
        }
        if ((i < extra && kind != its->kind) ||
            (kind == 'n' ? object != its->fallback : !read_argument(kind, object, given, o)))
            return 0;
    }
    return used == named && extra <= self->num_values && given->arrays == self->num_inputs;
}

/* The form with parameters. Returns 0 if these are not known. */
static int read_known(const call *self, const arguments *given, operation *o)
{
    PyObject *const *args = given->args, *names = given->names, *values[MAX_PARAMS];
    Py_ssize_t nargs = given->nargs;
    int arrays = given->arrays;
    int num_params = (int)PyTuple_Size(self->params), num_given = (int)nargs - arrays;
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
        if (i == num_params && name == out_name && is_of(self->cls, args[nargs + n])) {
            o->target = (owner *)args[nargs + n];
            continue;
        }
        if (i == num_params || i < nargs - arrays)
            return 0;
        values[i] = args[nargs + n];
        num_given++;
    }
    if (num_given == 0) {
        o->prepared = plain_call(self, arrays);
        return 1;
    }
    for (int k = 0; k < self->num_known && o->prepared == 0; k++) {
        if (memcmp(self->known[k].values, values, (size_t)num_params * sizeof *values) == 0)
            o->prepared = self->known[k].prepared;
    }
    o->may_be_large = 1;
    return o->prepared != 0;
}

/* The form of an array and a number. */
static int read_operand(const call *self, const arguments *given, operation *o)
{
    if (given->nargs != 2 || given->names != NULL || self->number == 0)
        return 0;
    o->prepared = self->number;
    o->has_number = read_number(self, given->position, given->args[1], o);
    return o->has_number;
}
