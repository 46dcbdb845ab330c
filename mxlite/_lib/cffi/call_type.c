/* The class Call as Python has it: how its objects are made, and what they have of a function.
 * After facts.c; mxlite/_lib/hot_cffi.py asks for the classes. */
static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *keys[] = {
        "function", "failed",  "cls",       "one",        "two",          "many",   "number",
        "by_flag",  "into",    "subscript", "dtypes",     "num_floating", "result", "num_inputs",
        "params",   "missing", "list",      "contiguous", "constant",     "axis",   "axes",
        "new_axis", "reshape", "values",    "least",      "most",         "put",    "home",
        "makes",    "join",    "results",   "index",      "fact",         "keep",   "different",
        "first",    "alike",   "truth",     "like",       "ndims",        "then",   "unbatched",
        NULL};
    PyObject *function, *failed, *cls;
    PyObject *dtypes = NULL, *result = NULL, *params = NULL, *missing = NULL, *by_flag = NULL;
    PyObject *values = NULL, *home = NULL, *makes = NULL, *results = NULL, *index = NULL;
    PyObject *ndims = NULL;
    unsigned long long one = 0, two = 0, many = 0, number = 0, list = 0;
    unsigned long long axis = 0, axes = 0, keep = 0, first = 0, then = 0;
    int into = 0, subscript = 0, num_floating = 0, num_inputs = 2, contiguous = 0, constant = 0;
    int new_axis = 0, reshape = 0, least = 0, most = 0, put = 0, join = 0, fact = 0, different = 0;
    int alike = 0, truth = 0, like = 0, unbatched = 0;
    Py_ssize_t num_dtypes;
    call *self;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OOO!|KKKKO!ppO!iOiO!OKppKKppO!iipO!O!pO!OiKpKpppO!Kp", keys, &function,
            &failed, &PyType_Type, &cls, &one, &two, &many, &number, &PyTuple_Type, &by_flag, &into,
            &subscript, &PyTuple_Type, &dtypes, &num_floating, &result, &num_inputs, &PyTuple_Type,
            &params, &missing, &list, &contiguous, &constant, &axis, &axes, &new_axis, &reshape,
            &PyTuple_Type, &values, &least, &most, &put, &PyTuple_Type, &home, &PyDict_Type, &makes,
            &join, &PyTuple_Type, &results, &index, &fact, &keep, &different, &first, &alike,
            &truth, &like, &PyTuple_Type, &ndims, &then, &unbatched))
        return NULL;
    num_dtypes = dtypes == NULL ? 0 : PyTuple_Size(dtypes);
    if (num_dtypes > MAX_DTYPES || num_inputs > MAX_INPUTS ||
        (results != NULL && PyTuple_Size(results) != 1 + MAX_RESULTS) ||
        (values != NULL && PyTuple_Size(values) > MAX_VALUES) ||
        (ndims != NULL && PyTuple_Size(ndims) > MAX_INPUTS) ||
        (num_inputs == 0 && (values == NULL || home == NULL))) {
        PyErr_Format(PyExc_ValueError,
                     "Call: more than %d dtypes, %d inputs or %d values, or other than %d results; "
                     "or no inputs without values and home",
                     MAX_DTYPES, MAX_INPUTS, MAX_VALUES, MAX_RESULTS);
        return NULL;
    }
    self = (call *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = fact != 0              ? call_fact
                       : values != NULL       ? call_operation
                       : index != NULL        ? call_along
                       : makes != NULL        ? call_make
                       : join                 ? call_join
                       : home != NULL         ? call_listed
                       : put                  ? call_put
                       : subscript            ? call_subscript
                       : list != 0 || reshape ? call_integers
                                              : call_operation;
    self->first = first, self->then = then, self->alike = alike, self->truth = truth,
    self->like = like;
    self->unbatched = unbatched, self->fact = fact, self->contiguous = contiguous,
    self->constant = constant;
    self->least = least, self->most = most;
    self->one = one, self->two = two, self->many = many, self->num_inputs = num_inputs;
    for (int i = 0; ndims != NULL && i < (int)PyTuple_Size(ndims); i++)
        self->ndims[i] = (int)PyLong_AsLong(PyTuple_GetItem(ndims, i));
    if (params != NULL && missing != NULL && PyTuple_Size(params) <= MAX_PARAMS) {
        self->read = read_known;
        Py_INCREF(params);
        self->params = params;
        Py_INCREF(missing);
        self->missing = missing;
    } else if (values != NULL) {
        self->read = read_values;
        self->num_values = (int)PyTuple_Size(values);
        for (int i = 0; i < self->num_values; i++) {
            value_argument *its = &self->value[i];

            if (!PyArg_ParseTuple(PyTuple_GetItem(values, i), "OiO", &its->name, &its->kind,
                                  &its->fallback)) {
                self->num_values = i;
                Py_DECREF(self);
                return NULL;
            }
            Py_INCREF(its->name);
            Py_INCREF(its->fallback);
        }
    } else if ((axis | axes) != 0) {
        self->read = read_axis;
        self->axis = axis, self->axes = axes, self->keep = keep, self->new_axis = new_axis;
    } else if (list != 0 || reshape) {
        self->list = list, self->reshape = reshape, self->different = different;
    } else {
        self->read = read_operand;
        self->number = number;
    }
    self->into = into, self->num_floating = num_floating, self->num_dtypes = (int)num_dtypes;
    Py_INCREF(function);
    self->function = function;
    Py_INCREF(failed);
    self->failed = failed;
    Py_INCREF(cls);
    self->cls = (PyTypeObject *)cls;
    self->release = (freefunc)PyType_GetSlot(self->cls, Py_tp_free);
    Py_XINCREF(result);
    self->result = result;
    Py_XINCREF(index);
    self->index = index;
    Py_XINCREF(results);
    self->results = results;
    Py_XINCREF(by_flag);
    self->by_flag = by_flag;
    Py_XINCREF(home);
    self->home = home;
    Py_XINCREF(makes);
    self->makes = makes;
    for (int i = 0; i < self->num_dtypes; i++) {
        self->dtypes[i] = PyTuple_GetItem(dtypes, i);
        Py_INCREF(self->dtypes[i]);
    }
    self->dict = PyDict_New();
    if (self->dict == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    if (subscript)
        add_subscript(self);
    return (PyObject *)self;
}

static int call_traverse(PyObject *object, visitproc visit, void *arg)
{
    call *self = (call *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->function);
    Py_VISIT(self->failed);
    Py_VISIT(self->cls);
    return 0;
}

static int call_clear(PyObject *object)
{
    call *self = (call *)object;

    Py_CLEAR(self->dict);
    Py_CLEAR(self->function);
    Py_CLEAR(self->failed);
    Py_CLEAR(self->cls);
    return 0;
}

/* learn(values, prepared): calls with these values of all parameters are that prepared call. */
static PyObject *call_learn(PyObject *object, PyObject *args)
{
    call *self = (call *)object;
    unsigned long long prepared;
    PyObject *values;
    known_call *row;

    if (!PyArg_ParseTuple(args, "O!K", &PyTuple_Type, &values, &prepared))
        return NULL;
    if (self->read != read_known || self->num_known == MAX_KNOWN ||
        PyTuple_Size(values) != PyTuple_Size(self->params))
        Py_RETURN_NONE;
    if (self->known == NULL) {
        self->known = PyMem_Calloc(MAX_KNOWN, sizeof *self->known);
        if (self->known == NULL)
            return PyErr_NoMemory();
    }
    row = &self->known[self->num_known];
    row->prepared = prepared;
    for (Py_ssize_t i = 0; i < PyTuple_Size(values); i++) {
        row->values[i] = PyTuple_GetItem(values, i);
        Py_INCREF(row->values[i]);
    }
    self->num_known++;
    Py_RETURN_NONE;
}

static void free_known(call *self)
{
    Py_DECREF(self->params);
    Py_DECREF(self->missing);
    for (int k = 0; k < self->num_known; k++) {
        for (int i = 0; i < MAX_PARAMS; i++)
            Py_XDECREF(self->known[k].values[i]);
    }
    PyMem_Free(self->known);
}

static void call_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    call *self = (call *)object;

    PyObject_GC_UnTrack(object);
    call_clear(object);
    Py_XDECREF(self->result);
    Py_XDECREF(self->index);
    Py_XDECREF(self->results);
    Py_XDECREF(self->by_flag);
    Py_XDECREF(self->home);
    Py_XDECREF(self->makes);
    if (self->read == read_known)
        free_known(self);
    for (int i = 0; self->read == read_values && i < self->num_values; i++) {
        Py_DECREF(self->value[i].name);
        Py_DECREF(self->value[i].fallback);
    }
    for (int i = 0; i < self->num_dtypes; i++)
        Py_DECREF(self->dtypes[i]);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* types.MethodType, which the limited API has no function for. */
static PyObject *method_type;

/* As of a Python function: a method of the object that it is asked of. */
static PyObject *call_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object == NULL || object == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyObject_CallFunctionObjArgs(method_type, self, object, NULL);
}

/* Without vectorcall. */
static PyObject *call_tuple(PyObject *self, PyObject *args, PyObject *keywords)
{
    return PyObject_Call(((call *)self)->function, args, keywords);
}

/* What it has not is the function's: __globals__, __code__, __defaults__. */
static PyObject *call_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);

    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((call *)self)->function, name);
}

static PyObject *call_repr(PyObject *self)
{
    return PyObject_Repr(((call *)self)->function);
}

/* Pickled, and copied, by its name. */
static PyObject *call_reduce(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef call_methods[] = {
    {"learn", call_learn, METH_VARARGS, NULL},
    {"__reduce__", call_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(call, vectorcall), READONLY, NULL},
    {"__dict__", T_OBJECT_EX, offsetof(call, dict), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(call, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot call_slots[] = {
    {Py_tp_new, call_new},
    {Py_tp_call, call_tuple},
    {Py_tp_repr, call_repr},
    {Py_tp_getattro, call_getattr},
    {Py_tp_descr_get, call_bind},
    {Py_tp_traverse, call_traverse},
    {Py_tp_clear, call_clear},
    {Py_tp_dealloc, call_dealloc},
    {Py_tp_methods, call_methods},
    {Py_tp_members, call_members},
    {0, NULL},
};

static PyType_Spec call_spec = {
    "mxlite._mxlite_cffi.Call",
    sizeof(call),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
    call_slots,
};

/* The address of a class (a new reference), Owner for 0 and Call for 1; 0 for an error. */
static uint64_t make_type(int number)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *types = PyImport_ImportModule("types"), *type = NULL;

    if (types != NULL && method_type == NULL)
        method_type = PyObject_GetAttrString(types, "MethodType");
    if (out_name == NULL) {
        out_name = PyUnicode_InternFromString("out"), dim_name = PyUnicode_InternFromString("dim");
        keepdim_name = PyUnicode_InternFromString("keepdim");
        dtype_name = PyUnicode_InternFromString("dtype");
        context_name = PyUnicode_InternFromString("context");
        axis_name = PyUnicode_InternFromString("axis");
    }
    find_slice_fields();
    if (method_type != NULL)
        type = PyType_FromSpec(number == 0 ? &owner_spec : &call_spec);
    if (number == 0)
        owner_type = (PyTypeObject *)type;
    if (type == NULL)
        PyErr_Clear();
    Py_XDECREF(types);
    PyGILState_Release(gil);
    return NUMBER(type);
}
