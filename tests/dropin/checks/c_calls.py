"""C functions that Apache's package does not call, and bindings in other languages do: shapes of 32 bits, calls without
"Ex" or "64" in their names, and functions by handle."""

import ctypes as c
import json

from c_kit import HANDLE, TEXT, UINT, call, handles, new, texts, uints
from kit import area, array, check, each, mx

area("c")


def creator(name):
    count, found, text = UINT(), c.POINTER(HANDLE)(), TEXT()
    call("MXSymbolListAtomicSymbolCreators", c.byref(count), c.byref(found))
    for i in range(count.value):
        call("MXSymbolGetAtomicSymbolName", HANDLE(found[i]), c.byref(text))
        if text.value.decode() == name:
            return HANDLE(found[i])
    raise mx.MXNetError(f"no operator {name}")


# ---- arrays ----


def shape_of(value):
    rank, sizes = UINT(), c.POINTER(UINT)()
    call("MXNDArrayGetShape", value.handle, c.byref(rank), c.byref(sizes))
    return rank.value, [sizes[i] for i in range(rank.value)]


def created(shape, delay=0):
    made = HANDLE()
    call("MXNDArrayCreate", uints(*shape), UINT(len(shape)), 1, 0, delay, c.byref(made))
    return new(made)


@check
def creation():
    made = created((2, 3))
    made[:] = 2
    return made, shape_of(made), shape_of(created((4, 1, 5), 1))


each("shape", [(str(shape), shape) for shape in [(1,), (3, 4), (2, 1, 1, 5)]], lambda _, s: shape_of(array(*s)))


@check
def shape_in_numpy_mode():
    """A rank of 0 is a number of this mode, and unknown outside of it."""
    with mx.np_shape():
        return shape_of(mx.nd.zeros(())), shape_of(mx.nd.zeros((0, 3)))


def reshaped(_, shape, sizes):
    x, made = array(*shape), HANDLE()
    call("MXNDArrayReshape", x.handle, len(sizes), (c.c_int * len(sizes))(*sizes), c.byref(made))
    return new(made)


each(
    "reshape",
    [
        ("(2, 3) to (3, 2)", (2, 3), (3, 2)),
        ("(2, 3) to (-1,)", (2, 3), (-1,)),
        ("(2, 3) to (6, -1)", (2, 3), (6, -1)),
        ("(2, 3) to (0, -1)", (2, 3), (0, -1)),
        ("(2, 3) to (-1, -1)", (2, 3), (-1, -1)),
        ("(2, 3) to (7,)", (2, 3), (7,)),
    ],
    reshaped,
)


@check
def bytes_of_an_array():
    x, data = array(2, 3), c.POINTER(c.c_float)()
    call("MXNDArrayGetData", x.handle, c.byref(data))
    data[5] = 9
    return [data[i] for i in range(6)], x


@check
def views():
    x, made = array(4, 3), HANDLE()
    call("MXNDArraySlice", x.handle, UINT(1), UINT(3), c.byref(made))
    part = new(made)
    call("MXNDArrayAt", x.handle, UINT(2), c.byref(made))
    row = new(made)
    row[:] = 5
    return part, row, x


@check
def copies_from_and_to_memory():
    x, numbers = mx.nd.zeros((2, 2)), (c.c_float * 4)(1, 2, 3, 4)
    call("MXNDArraySyncCopyFromCPU", x.handle, numbers, c.c_size_t(4))
    back = (c.c_float * 4)()
    call("MXNDArraySyncCopyToCPU", x.handle, back, c.c_size_t(4))
    return x, list(back)


@check
def copy_of_too_few():
    x = mx.nd.zeros((2, 2))
    call("MXNDArraySyncCopyFromCPU", x.handle, (c.c_float * 3)(), c.c_size_t(3))


# ---- operators and functions ----


def invoked(name, inputs, **params):
    count, made = c.c_int(), c.POINTER(HANDLE)()
    call(
        "MXImperativeInvoke",
        creator(name),
        len(inputs),
        handles(*inputs),
        c.byref(count),
        c.byref(made),
        len(params),
        texts(*params),
        texts(*params.values()),
    )
    return [new(made[i]) for i in range(count.value)]


each(
    "invoke",
    [
        ("dot", lambda: invoked("dot", [array(2, 3), array(3, 2)])),
        ("sum", lambda: invoked("sum", [array(2, 3)], axis="1", keepdims="True")),
        ("SliceChannel", lambda: invoked("SliceChannel", [array(2, 4)], num_outputs="2")),
        ("Concat", lambda: invoked("Concat", [array(2, 1), array(2, 2)], num_args="2", dim="1")),
        ("unknown parameter", lambda: invoked("sum", [array(2)], no_such="1")),
        ("bad value", lambda: invoked("sum", [array(2)], axis="x")),
        ("missing input", lambda: invoked("dot", [array(2, 3)])),
    ],
    lambda _, ask: ask(),
)


def function(name):
    found = HANDLE()
    call("MXGetFunction", name.encode(), c.byref(found))
    if not found.value:
        raise mx.MXNetError(f"no function {name}")
    return found


def described(name):
    used, scalars, changed, mask = UINT(), UINT(), UINT(), c.c_int()
    call("MXFuncDescribe", function(name), c.byref(used), c.byref(scalars), c.byref(changed), c.byref(mask))
    return used.value, scalars.value, changed.value, mask.value


def functions():
    count, found, names = UINT(), c.POINTER(HANDLE)(), []
    call("MXListFunctions", c.byref(count), c.byref(found))
    for i in range(count.value):
        name, text, size = TEXT(), TEXT(), UINT()
        lists = [c.POINTER(TEXT)() for _ in range(3)]
        result = TEXT()
        call(
            "MXFuncGetInfo",
            HANDLE(found[i]),
            c.byref(name),
            c.byref(text),
            c.byref(size),
            *map(c.byref, lists),
            c.byref(result),
        )
        names.append(name.value.decode())
    return sorted(names)


each(
    "functions",
    [("list", functions), *((name, lambda name=name: described(name)) for name in ("_set_value", "_copyto"))],
    lambda _, ask: ask(),
)


@check
def function_that_sets():
    x = mx.nd.zeros((2, 2))
    call("MXFuncInvoke", function("_set_value"), handles(), (c.c_float * 1)(3.5), handles(x))
    return x


@check
def autograd_of_old_names():
    x, grad, changed = array(2, 3), mx.nd.zeros((2, 3)), c.c_int()
    call("MXAutogradMarkVariables", UINT(1), handles(x), uints(1), handles(grad))
    call("MXAutogradSetIsRecording", 1, c.byref(changed))
    call("MXAutogradSetIsTraining", 1, c.byref(changed))
    (y,) = invoked("square", [x])
    call("MXAutogradSetIsRecording", 0, c.byref(changed))
    call("MXAutogradSetIsTraining", 0, c.byref(changed))
    call("MXAutogradBackward", UINT(1), handles(y), None, 1)
    first = grad.copy()
    call("MXAutogradComputeGradient", UINT(1), handles(y))
    return first, grad


# ---- key-value stores, by numbers ----


@check
def store_by_numbers():
    made, seen, out = HANDLE(), [], mx.nd.zeros((2, 2))
    call("MXKVStoreCreate", b"local", c.byref(made))
    keys = (c.c_int * 1)(3)
    call("MXKVStoreInit", made, UINT(1), keys, handles(mx.nd.ones((2, 2))))
    call("MXKVStorePush", made, UINT(1), keys, handles(array(2, 2)), 0)
    call("MXKVStorePull", made, UINT(1), keys, handles(out), 0)
    first = out.copy()

    @c.CFUNCTYPE(None, c.c_int, HANDLE, HANDLE, HANDLE)
    def update(key, received, local, _):
        seen.append(key)
        stored = new(local)
        stored += new(received) * 2

    call("MXKVStoreSetUpdater", made, update, None)
    call("MXKVStorePush", made, UINT(2), (c.c_int * 2)(3, 3), handles(array(2, 2), array(2, 2, seed=1)), 0)
    call("MXKVStorePull", made, UINT(1), keys, handles(out), 0)
    out.wait_to_read()
    return first, out, seen


def of_store(name, *more):
    made, number = HANDLE(), c.c_int(-5)
    call("MXKVStoreCreate", b"local", c.byref(made))
    call(name, made, *more, c.byref(number))
    return number.value


def role(name):
    number = c.c_int(-5)
    call(name, c.byref(number))
    return number.value


each(
    "store",
    [
        ("rank", lambda: of_store("MXKVStoreGetRank")),
        ("size of group", lambda: of_store("MXKVStoreGetGroupSize")),
        ("dead nodes", lambda: of_store("MXKVStoreGetNumDeadNode", 0)),
        *((name, lambda name=name: role(f"MXKVStoreIs{name}Node")) for name in ("Worker", "Server", "Scheduler")),
    ],
    lambda _, ask: ask(),
)


# ---- the rest ----


@check
def engine():
    seen, x = [], array(2)

    @c.CFUNCTYPE(None, HANDLE, HANDLE)
    def run(_, param):
        seen.append(param)

    call("MXEnginePushSyncND", run, HANDLE(7), None, context(), handles(x), 1, None, 0, None, 0, b"mine")
    mx.nd.waitall()
    return seen


def context():
    """1.9.1's Context: the kind of device and its number."""
    return c.byref((c.c_int * 2)(1, 0))


@check
def records():
    made, position, text, size = HANDLE(), c.c_size_t(), c.POINTER(c.c_char)(), c.c_size_t()
    call("MXRecordIOWriterCreate", b"some.rec", c.byref(made))
    for each_one in (b"one", b"", b"three"):
        call("MXRecordIOWriterWriteRecord", made, each_one, c.c_size_t(len(each_one)))
    call("MXRecordIOWriterTell", made, c.byref(position))
    ends = [position.value]
    call("MXRecordIOWriterFree", made)
    call("MXRecordIOReaderCreate", b"some.rec", c.byref(made))
    call("MXRecordIOReaderReadRecord", made, c.byref(text), c.byref(size))
    call("MXRecordIOReaderSeek", made, c.c_size_t(0))
    answers = []
    for _ in range(4):
        call("MXRecordIOReaderReadRecord", made, c.byref(text), c.byref(size))
        call("MXRecordIOReaderTell", made, c.byref(position))
        answers.append((text[: size.value] if text else None, size.value, position.value))
    call("MXRecordIOReaderFree", made)
    return ends, answers


@check
def version():
    number = c.c_int()
    call("MXGetVersion", c.byref(number))
    return number.value


@check
def threads_of_products():
    call("MXSetNumOMPThreads", 1)


@check
def profile_of_old_names():
    call("MXSetProfilerConfig", 2, texts("filename", "profile_all"), texts("profile.json", "True"))
    call("MXSetProfilerState", 1)
    (array(2, 2) + 1).wait_to_read()
    call("MXProfilePause", 1)
    call("MXProfilePause", 0)
    call("MXSetProfilerState", 0)
    call("MXDumpProfile", 1)
    with open("profile.json") as file:
        return sorted(json.load(file))[:1]
