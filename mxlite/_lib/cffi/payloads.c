/* Objects that the library holds: payloads of functions, hooks and nodes. After functions.c. */

/* How many references the library holds now. */
static int64_t held;

/* How often a payload was released: what a survey (survey.c) found may be gone. */
static uint64_t released;

/* Called by the library: it may be on any thread, and an error may be at hand. */
static void release_payload(void *payload)
{
    PyGILState_STATE gil;
    PyObject *error, *value, *trace;

    if (!Py_IsInitialized())
        return;
    gil = PyGILState_Ensure();
    held--;
    released++;
    PyErr_Fetch(&error, &value, &trace);
    Py_DECREF((PyObject *)payload);
    PyErr_Restore(error, value, trace);
    PyGILState_Release(gil);
}

/* The address of the function that releases a payload. */
static uint64_t payload_release(void)
{
    return (uint64_t)(uintptr_t)release_payload;
}

static int64_t num_kept(void)
{
    return held;
}

/* keep(object): its number for the library, which holds it until it is dropped or released. */
static PyObject *payload_keep(PyObject *self, PyObject *object)
{
    PyObject *number = PyLong_FromVoidPtr(object);

    (void)self;
    if (number != NULL) {
        Py_INCREF(object);
        held++;
    }
    return number;
}

/* kept(number): the object; None for 0 and None. */
static PyObject *payload_kept(PyObject *self, PyObject *number)
{
    void *object = number == Py_None ? NULL : PyLong_AsVoidPtr(number);

    (void)self;
    if (object == NULL && PyErr_Occurred())
        return NULL;
    if (object == NULL)
        object = Py_None;
    Py_INCREF((PyObject *)object);
    return object;
}

/* drop(number): the library does not take the object. */
static PyObject *payload_drop(PyObject *self, PyObject *number)
{
    void *object = PyLong_AsVoidPtr(number);

    (void)self;
    if (object == NULL && PyErr_Occurred())
        return NULL;
    if (object != NULL)
        release_payload(object);
    Py_RETURN_NONE;
}
