/* Keys of integers, slices, None, `...`, lists of integers, and arrays of integers or bool, as the
 * operators _mxl_index and _mxl_index_put take them (mxlite/_index/keys.py). After call.c. */
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

enum { KEY_ROOM = 64 };

/* The kinds of parts of a key; mxlite/_index/keys.py has the same. */
enum { PART_INTEGER, PART_SLICE, PART_NEW, PART_DOTS, PART_ARRAY };

typedef struct key_parts {
    int64_t numbers[KEY_ROOM];
    int count;
    NDArrayHandle arrays[MAX_INPUTS]; /* the index arrays are from 2 on */
    int num_arrays;
    int64_t extents[MAX_NDIM];
    int ndim, axis; /* of the array, and the one that the next entry is about; -1: unknown */
    int taken;      /* how many axes integers and slices take */
    NDArrayHandle lists[MAX_INPUTS]; /* the index arrays that were made of lists */
    int num_lists;
    int is_part; /* whether the key surely leaves something of the array out */
    int is_all;  /* whether it has nothing but `:` and `...` */
} key_parts;

/* A bound or a step of a slice. Returns 0 for other objects than None and exact integers. */
static int read_bound(PyObject *object, int64_t *bound)
{
    *bound = INT64_MIN; /* none */
    if (object == Py_None)
        return 1;
    if (!PyLong_CheckExact(object))
        return 0;
    *bound = PyLong_AsLongLong(object);
    if (*bound == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return *bound != INT64_MIN;
}

/* The extent of the axis that an entry is about, which is left behind; -1: unknown. */
static int64_t next_extent(key_parts *k)
{
    return k->axis < 0 || k->axis >= k->ndim ? -1 : k->extents[k->axis++];
}

static int read_slice(PyObject *slice, key_parts *k)
{
    const slice_fields *fields = (const slice_fields *)slice;
    int64_t *bounds = k->numbers + k->count, extent = next_extent(k), begin, end;

    if (!has_slice_fields || !read_bound(fields->start, bounds) ||
        !read_bound(fields->stop, bounds + 1) || !read_bound(fields->step, bounds + 2))
        return 0;
    k->count += 3;
    begin = bounds[0] == INT64_MIN ? 0 : bounds[0] + (bounds[0] < 0 ? extent : 0);
    end = bounds[1] == INT64_MIN ? extent : bounds[1] + (bounds[1] < 0 ? extent : 0);
    k->is_part |=
        extent >= 0 && ((bounds[2] != INT64_MIN && bounds[2] != 1) || begin > 0 || end < extent);
    return 1;
}

/* An index array or a mask: of integers with axes, or of bool; with `strict` these are of 32 or 64
 * bits. */
static int read_array(const owner *array, key_parts *k, int strict)
{
    enum { U8 = 3, I32 = 4, I64 = 6, BOOL = 7 };

    int dtype = -1, ndim;

    if (array->handle == 0 || k->num_arrays == MAX_INPUTS)
        return 0;
    ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), 0, NULL, &dtype);
    k->arrays[k->num_arrays++] = HANDLE(array->handle);
    k->axis = -1;
    k->is_part = 1;
    return dtype >= (strict ? I32 : U8) && dtype <= BOOL && ndim >= (dtype != BOOL) &&
           (!strict || dtype == I32 || dtype >= I64);
}

/* A list of exact integers, as an array, which free_lists frees. */
static int read_index_list(PyObject *list, key_parts *k)
{
    enum { I64 = 6 };

    int64_t values[KEY_ROOM], size = PyList_Size(list);
    NDArrayHandle made;

    if (size < 1 || size > KEY_ROOM || k->num_arrays == MAX_INPUTS)
        return 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *object = PyList_GetItem(list, i);

        if (!PyLong_CheckExact(object) || !read_bound(object, values + i))
            return 0;
    }
    made = p_MXLNDArrayFromData(values, 1, &size, I64);
    if (made == NULL)
        return 0;
    k->lists[k->num_lists++] = k->arrays[k->num_arrays++] = made;
    k->axis = -1;
    k->is_part = 1;
    return 1;
}

static void free_lists(const key_parts *k)
{
    for (int i = 0; i < k->num_lists; i++)
        p_MXNDArrayFree(k->lists[i]);
}

/* Appends an entry of a key. Returns 0 for other objects than those above. */
static int read_entry(const call *self, PyObject *entry, key_parts *k)
{
    int64_t *kind = k->numbers + k->count++;

    if (PyLong_CheckExact(entry)) {
        *kind = PART_INTEGER;
        k->is_part |= next_extent(k) > 1;
        return read_bound(entry, k->numbers + k->count++);
    }
    if (Py_TYPE(entry) == &PySlice_Type) {
        *kind = PART_SLICE;
        return read_slice(entry, k);
    }
    if (is_of(self->cls, entry)) {
        *kind = PART_ARRAY;
        return read_array((const owner *)entry, k, self->num_dtypes != 0);
    }
    if (PyList_CheckExact(entry)) {
        *kind = PART_ARRAY;
        return read_index_list(entry, k);
    }
    *kind = entry == Py_None ? PART_NEW : PART_DOTS;
    if (entry == Py_Ellipsis && k->axis >= 0)
        k->axis += k->ndim - k->taken;
    return entry == Py_None || entry == Py_Ellipsis;
}

/* Entry i of a key, which may be one itself. */
static PyObject *key_entry(PyObject *key, Py_ssize_t i)
{
    return PyTuple_CheckExact(key) ? PyTuple_GetItem(key, i) : key;
}

static int takes_axis(PyObject *entry)
{
    return PyLong_CheckExact(entry) || Py_TYPE(entry) == &PySlice_Type;
}

/* Whether a key is what view_of takes: where that is no view, `__getitem__` has rules of its own.
 */
static int is_plain(PyObject *key)
{
    return PyLong_CheckExact(key) || (Py_TYPE(key) == &PySlice_Type && has_slice_fields &&
                                      ((const slice_fields *)key)->step == Py_None);
}

/* `:` or `...`, of an array with axes. */
static int is_whole(PyObject *key)
{
    const slice_fields *slice = (const slice_fields *)key;

    return key == Py_Ellipsis ||
           (Py_TYPE(key) == &PySlice_Type && has_slice_fields && slice->start == Py_None &&
            slice->stop == Py_None && slice->step == Py_None);
}

/* Reads a key of an array with axes. Returns 0 for keys with other entries than those above, and
 * for long ones; what it has made of the key means nothing then. */
static int read_key(const call *self, const owner *array, PyObject *key, key_parts *k)
{
    Py_ssize_t entries = PyTuple_CheckExact(key) ? PyTuple_Size(key) : 1;

    k->count = k->axis = k->is_part = k->taken = k->num_lists = 0;
    k->is_all = 1;
    k->num_arrays = 2;
    k->ndim = p_MXLNDArrayGetInfo(HANDLE(array->handle), MAX_NDIM, k->extents, NULL);
    if (k->ndim < 1 || entries > KEY_ROOM / 4)
        return 0;
    for (Py_ssize_t i = 0; i < entries; i++)
        k->taken += takes_axis(key_entry(key, i));
    for (Py_ssize_t i = 0; i < entries; i++) {
        PyObject *entry = key_entry(key, i);

        k->is_all = k->is_all && is_whole(entry);
        if (!read_entry(self, entry, k))
            return 0;
    }
    return 1;
}

/* What a key selects, by `many`; 0 for other keys than those above, and for an error; where arrays
 * have a `_dtype` also for keys that select all. */
static uint64_t select_by(const call *self, const owner *array, PyObject *key)
{
    PyThreadState *thread = NULL;
    uint64_t made = 0;
    MXLValue value;
    key_parts k;

    if (read_key(self, array, key, &k) && !(k.is_all && self->num_dtypes != 0)) {
        k.arrays[1] = HANDLE(array->handle);
        value.list.n = k.count;
        value.list.values = k.numbers;
        if (!is_few(k.ndim, k.extents))
            thread = PyEval_SaveThread();
        made = NUMBER(p_MXLCall(HANDLE(self->many), k.num_arrays - 1, k.arrays + 1, &value));
        if (thread != NULL)
            PyEval_RestoreThread(thread);
    }
    free_lists(&k);
    return made;
}

/* Reads what is written: a number, or an array. Returns 0 for other objects. */
static int read_written(const call *self, PyObject *value, key_parts *k, double *number)
{
    if (is_of(self->cls, value)) {
        k->arrays[1] = HANDLE(((const owner *)value)->handle);
        return k->arrays[1] != NULL;
    }
    if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value))
        return 0;
    *number = PyFloat_AsDouble(value);
    if (*number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

/* Whether what is written is as the dtypes of arrays that have a `_dtype` ask: a number that each
 * holds, or an array of the same one; and no gradient flows, as nodes depend on the key. */
static int is_written_as_it_is(const call *self, const owner *array, PyObject *value)
{
    const owner *written = (const owner *)value;
    MXLValue number;

    if (find_dtype(self, array->dtype) < 0 ||
        p_MXLNDArrayGetEdgeKind(HANDLE(array->handle)) != MXL_EDGE_CONSTANT)
        return 0;
    if (!is_of(self->cls, value))
        return read_value('f', value, &number);
    return written->dtype == array->dtype && written->handle != 0 &&
           p_MXLNDArrayGetEdgeKind(HANDLE(written->handle)) == MXL_EDGE_CONSTANT;
}

/* Whether assigning the whole of an array has rules of its own. */
static int is_recording(void)
{
    bool flag = true;

    return p_MXAutogradIsRecording(&flag) != 0 || flag;
}

/* Writes a number (by `one`) or an array (by `two`, to the whole of one by `many`). Returns 0 where
 * that is not usual, or the library has refused it, which leaves all as it was. */
static int put_by(const call *self, owner *array, PyObject *key, PyObject *value)
{
    int is_number = !is_of(self->cls, value), count = 1, status = -1;
    PyThreadState *thread = NULL;
    NDArrayHandle out[1], *in;
    uint64_t run;
    int num_in;
    MXLValue values[2];
    key_parts k;

    int has_dtypes = self->num_dtypes != 0;

    if (array->handle == 0 || array->read_only != NULL ||
        (has_dtypes && !is_written_as_it_is(self, array, value)))
        return 0;
    if (read_key(self, array, key, &k) && read_written(self, value, &k, &values[1].f) &&
        (has_dtypes ? !k.is_all : k.is_part || !is_recording())) {
        bool copies = is_whole(key) && !is_number;

        in = k.arrays + (is_number || copies);
        out[0] = HANDLE(array->handle);
        run = copies ? self->many : is_number ? self->one : self->two;
        num_in = copies ? 1 : k.num_arrays - is_number;
        if (!copies)
            in[0] = out[0];
        values[0].list.n = k.count;
        values[0].list.values = k.numbers;
        if (!is_few(k.ndim, k.extents))
            thread = PyEval_SaveThread();
        status = p_MXLCallInto(HANDLE(run), num_in, in, values, &count, out);
        if (thread != NULL)
            PyEval_RestoreThread(thread);
    }
    free_lists(&k);
    return status == 0;
}

/* x[key] = value. What the library refuses the Python function says again. */
static PyObject *call_put(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names)
{
    const call *self = (const call *)callable;

    nargs &= ~LENT;
    if (names == NULL && nargs == 3 && is_of(self->cls, args[0]) &&
        put_by(self, (owner *)args[0], args[1], args[2]))
        Py_RETURN_NONE;
    return call_python(self->function, args, (Py_ssize_t)nargs, names);
}
