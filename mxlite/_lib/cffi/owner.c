/* Owner, the base class of NDArray and Tensor: holds a handle and frees it when the object goes,
 * without a Python call. After survey.c; mxlite/_lib/hot_ctypes.py has the same class in Python.
 */
typedef struct owner {
    PyObject ob_base;
    uint64_t handle;
    int has_handle;
    freefunc release;                    /* frees the object; NULL: as its class says */
    int64_t rows;                        /* see rows_of; 0 before it is asked for */
    PyObject *shape, *dtype, *read_only; /* as the front ends know them; NULL before they are set */
    PyObject *grad;                      /* (number of an array, its object): see grad_of; NULL */
    uint64_t variable;                   /* its number among the variables; 0: it is none */
    PyObject *weakrefs;
    survey_place place; /* in what the collector of cycles has found; see survey.c */
} owner;

static PyTypeObject *owner_type;
static PyObject *raise_last_error(void); /* in elements.c */

/* Variables that Python holds, weakly, by the library's numbers for their arrays. */
static PyObject *variables;

/* Lets go the entry of an object that ends, unless another object has taken its place. */
static void forget_variable(owner *array)
{
    PyObject *error = NULL, *value, *trace, *number, *reference;

    if (PyErr_Occurred())
        PyErr_Fetch(&error, &value, &trace);
    number = PyLong_FromUnsignedLongLong(array->variable);
    reference = number == NULL ? NULL : PyDict_GetItemWithError(variables, number);
    if (reference != NULL && (PyWeakref_GetObject(reference) == (PyObject *)array ||
                              PyWeakref_GetObject(reference) == Py_None))
        (void)PyDict_DelItem(variables, number);
    Py_XDECREF(number);
    PyErr_Clear();
    if (error != NULL)
        PyErr_Restore(error, value, trace);
}

/* Makes the object the one of its array's number. -1, perhaps with a Python exception, on failure.
 */
static int note_variable(owner *array)
{
    uint64_t id;
    PyObject *number, *reference;
    int status = -1;

    if (p_MXLNDArrayGetId(HANDLE(array->handle), &id) != 0)
        return -1;
    if (variables == NULL && (variables = PyDict_New()) == NULL)
        return -1;
    if (array->variable != 0 && array->variable != id)
        forget_variable(array);
    number = PyLong_FromUnsignedLongLong(id);
    reference = PyWeakref_NewRef((PyObject *)array, NULL);
    if (number != NULL && reference != NULL)
        status = PyDict_SetItem(variables, number, reference);
    if (status == 0)
        array->variable = id;
    Py_XDECREF(number);
    Py_XDECREF(reference);
    return status;
}

/* register_variable(array): makes an Owner the object of its array's number. */
static PyObject *register_variable(PyObject *self, PyObject *object)
{
    (void)self;
    if (!PyObject_TypeCheck(object, owner_type))
        return PyErr_Format(PyExc_TypeError, "register_variable: takes an array");
    if (note_variable((owner *)object) != 0)
        return PyErr_Occurred() ? NULL : raise_last_error();
    Py_RETURN_NONE;
}

/* registered(number): the object of that number; None where there is none. */
static PyObject *registered(PyObject *self, PyObject *number)
{
    PyObject *reference = variables == NULL ? NULL : PyDict_GetItemWithError(variables, number);
    PyObject *found = reference == NULL ? Py_None : PyWeakref_GetObject(reference);

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    Py_INCREF(found);
    return found;
}

/* Releasing may call back into Python (a custom function's end): the error at hand is kept. */
static void free_handle(owner *array)
{
    uint64_t handle = array->handle;

    array->place = (survey_place){0, -1};
    array->handle = 0;
    if (handle != 0) {
        PyObject *error = NULL, *value, *trace;

        if (PyErr_Occurred())
            PyErr_Fetch(&error, &value, &trace);
        p_MXNDArrayFree(HANDLE(handle));
        if (error != NULL)
            PyErr_Restore(error, value, trace);
    }
}

static void owner_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    owner *array = (owner *)self;
    freefunc release = array->release;

    if (release == NULL)
        release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (array->variable != 0)
        forget_variable(array);
    if (array->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    free_handle(array);
    Py_XDECREF(array->shape);
    Py_XDECREF(array->dtype);
    Py_XDECREF(array->read_only);
    Py_XDECREF(array->grad);
    release(self);
    Py_DECREF(type);
}

static PyObject *owner_get_handle(PyObject *self, void *closure)
{
    (void)closure;
    if (!((owner *)self)->has_handle) {
        PyErr_SetString(PyExc_AttributeError, "_h");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(((owner *)self)->handle);
}

static int owner_set_handle(PyObject *self, PyObject *value, void *closure)
{
    uint64_t handle = value == NULL ? 0 : PyLong_AsUnsignedLongLong(value);

    (void)closure;
    if (PyErr_Occurred())
        return -1;
    ((owner *)self)->place = (survey_place){0, -1};
    ((owner *)self)->handle = handle;
    ((owner *)self)->has_handle = value != NULL;
    ((owner *)self)->rows = 0;
    return 0;
}

/* For subclasses whose objects the collector of cycles looks at. */
static int owner_traverse(PyObject *self, visitproc visit, void *arg)
{
    owner *array = (owner *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(array->shape);
    Py_VISIT(array->dtype);
    Py_VISIT(array->read_only);
    Py_VISIT(array->grad);
    return held == 0 || array->handle == 0
               ? 0
               : visit_payloads(array->handle, &array->place, visit, arg);
}

/* Breaks a cycle through what the handle keeps. */
static int owner_clear(PyObject *self)
{
    const survey_place *place = &((owner *)self)->place;

    Py_CLEAR(((owner *)self)->grad);
    if (place->number != 0 && place->root >= 0)
        free_handle((owner *)self);
    return 0;
}

static PyGetSetDef owner_properties[] = {
    {"_h", owner_get_handle, owner_set_handle, "The handle, an integer.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef owner_members[] = {
    {"_shape", T_OBJECT_EX, offsetof(owner, shape), 0, NULL},
    {"_dtype", T_OBJECT_EX, offsetof(owner, dtype), 0, NULL},
    {"_read_only", T_OBJECT_EX, offsetof(owner, read_only), 0, NULL},
    {"_grad_cache", T_OBJECT_EX, offsetof(owner, grad), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(owner, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *owner_subscript(PyObject *self, PyObject *key); /* in views.c */

/* Makes an object of a subclass of Owner, which owns the handle from now on. On failure frees the
 * handle and returns NULL. `dtype` may be NULL. */
static PyObject *new_array(PyTypeObject *cls, uint64_t handle, PyObject *dtype)
{
    owner *made = (owner *)PyType_GenericAlloc(cls, 0);

    if (made == NULL) {
        p_MXNDArrayFree(HANDLE(handle));
        return NULL;
    }
    made->handle = handle;
    made->has_handle = 1;
    Py_XINCREF(dtype);
    made->dtype = dtype;
    return (PyObject *)made;
}

/* NDArray, and its classes of the storage types row_sparse and csr; set_stored sets them. */
static PyTypeObject *stored[3];

/* cls._adopt(handle): an array for a handle that the library has just returned. NDArray asks for
 * its storage type, by which the object's class is chosen. */
static PyObject *owner_adopt(PyObject *self, PyObject *number)
{
    PyTypeObject *cls = (PyTypeObject *)self;
    uint64_t handle = PyLong_AsUnsignedLongLong(number);
    int stype = 0;

    if (PyErr_Occurred())
        return NULL;
    if (cls == stored[0] && p_MXNDArrayGetStorageType(HANDLE(handle), &stype) == 0 &&
        (stype == 1 || stype == 2))
        cls = stored[stype];
    return new_array(cls, handle, NULL);
}

/* set_stored(NDArray, RowSparseNDArray, CSRNDArray): the classes of `_adopt`. */
static PyObject *set_stored(PyObject *self, PyObject *classes)
{
    (void)self;
    if (!PyArg_ParseTuple(classes, "OOO", &stored[0], &stored[1], &stored[2]))
        return NULL;
    for (int i = 0; i < 3; i++)
        Py_INCREF(stored[i]);
    Py_RETURN_NONE;
}

static PyMethodDef owner_methods[] = {
    {"_adopt", owner_adopt, METH_O | METH_CLASS,
     "An array for a handle that the library has just returned; of its storage type's class."},
    {"_adopt_result", owner_adopt, METH_O | METH_CLASS, "The same of an operator's result."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_mp_subscript, owner_subscript}, {Py_tp_dealloc, owner_dealloc},
    {Py_tp_traverse, owner_traverse},   {Py_tp_clear, owner_clear},
    {Py_tp_methods, owner_methods},     {Py_tp_getset, owner_properties},
    {Py_tp_members, owner_members},     {0, NULL},
};

static PyType_Spec owner_spec = {
    "mxlite._mxlite_cffi.Owner",
    sizeof(owner),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    owner_slots,
};

/* A class of arrays, and the subclass of it whose objects are usual too; set_plain sets them. */
static PyTypeObject *plain[2];

/* set_plain(Tensor, Parameter): the classes, of which the second one has no operators of its own.
 */
static PyObject *set_plain(PyObject *self, PyObject *classes)
{
    (void)self;
    if (!PyArg_ParseTuple(classes, "OO", &plain[0], &plain[1]))
        return NULL;
    Py_INCREF(plain[0]);
    Py_INCREF(plain[1]);
    Py_RETURN_NONE;
}

/* Whether an object is an array of a class itself, or of its plain subclass. */
static int is_of(PyTypeObject *cls, PyObject *object)
{
    return Py_TYPE(object) == cls || (Py_TYPE(object) == plain[1] && plain[0] == cls);
}
