/* Owner, the base class of NDArray and Tensor: holds a handle and frees it when the object goes,
 * without a Python call. After functions.c; mxlite/_hot_ctypes.py has the same class in Python. */
typedef struct owner {
    PyObject ob_base;
    PyObject *handle; /* an integer, or NULL before it is set */
} owner;

/* Releasing may call back into Python (a custom function's end): the error at hand is kept. */
static void owner_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject *handle = ((owner *)self)->handle;

    if (handle != NULL) {
        PyObject *error, *value, *trace;

        PyErr_Fetch(&error, &value, &trace);
        p_MXNDArrayFree(HANDLE(PyLong_AsUnsignedLongLong(handle)));
        PyErr_Restore(error, value, trace);
        Py_DECREF(handle);
    }
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMemberDef owner_members[] = {
    {"_h", T_OBJECT_EX, offsetof(owner, handle), 0, "The handle, an integer."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_tp_dealloc, owner_dealloc},
    {Py_tp_members, owner_members},
    {0, NULL},
};

static PyType_Spec owner_spec = {
    "mxlite._mxlite_cffi.Owner",
    sizeof(owner),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    owner_slots,
};

/* The address of the class (a new reference), 0 for an error. */
static uint64_t owner_type(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type = PyType_FromSpec(&owner_spec);

    if (type == NULL)
        PyErr_Clear();
    PyGILState_Release(gil);
    return NUMBER(type);
}
