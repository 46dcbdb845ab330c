/* Objects that the library holds: payloads of functions, hooks and nodes. The collector of cycles
 * sees those that an array's handle alone keeps as references of the array's object (owner.c).
 * After functions.c. */

/* How many references the library holds now. */
static int64_t held;

/* One collection of cycles looks at an object's references several times, and must find the same
 * ones: `pass` is the number of what is found in one go, and ends with a collection, and with each
 * payload that is released. `first`: the function that the collection called first. */
static uint64_t pass = 1;
static visitproc first;
static int collecting, budget = INT_MAX;

typedef struct payloads {
    uint64_t pass;
    size_t count, room;
    PyObject *items[];
} payloads;

/* Called by the library: it may be on any thread, and an error may be at hand. */
static void release_payload(void *payload)
{
    PyGILState_STATE gil;
    PyObject *error, *value, *trace;

    if (!Py_IsInitialized())
        return;
    gil = PyGILState_Ensure();
    held--;
    pass++;
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

/* Of gc.callbacks: a collection starts or ends. Young generations are collected often: there the
 * graph is looked at as far as a step of training goes back. */
static PyObject *payload_collect(PyObject *self, PyObject *args)
{
    const char *phase;
    PyObject *info, *generation;

    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info))
        return NULL;
    generation = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : NULL;
    collecting = strcmp(phase, "start") == 0;
    budget = generation == NULL || PyLong_AsLong(generation) >= 2 ? INT_MAX : 1000;
    first = NULL;
    pass++;
    Py_RETURN_NONE;
}

static void add_payload(void *data, void *payload)
{
    payloads **list = data, *grown;
    size_t room;

    if (*list == NULL || (*list)->count == (*list)->room) {
        room = *list == NULL ? 4 : 2 * (*list)->room;
        grown = realloc(*list, sizeof(payloads) + room * sizeof(PyObject *));
        if (grown == NULL)
            return; /* it counts as held by others */
        if (*list == NULL)
            grown->count = 0;
        grown->room = room;
        *list = grown;
    }
    (*list)->items[(*list)->count++] = payload;
}

/* Visits the payloads that a handle alone keeps; *list is what was found last, or NULL. */
static int visit_payloads(uint64_t handle, payloads **list, visitproc visit, void *arg)
{
    int again = !collecting || first == NULL || first == visit, status = 0;

    if (collecting && first == NULL)
        first = visit;
    if (again || *list == NULL || (*list)->pass != pass) {
        free(*list);
        *list = NULL;
        p_MXLNDArrayVisitPayloads(HANDLE(handle), release_payload, budget, add_payload, list);
        if (*list != NULL)
            (*list)->pass = pass;
    }
    for (size_t i = 0; *list != NULL && i < (*list)->count && status == 0; i++)
        status = visit((*list)->items[i], arg);
    return status;
}
