#!/usr/bin/env python3
"""Files and pickles between mxlite and the real MXNet 1.9.1. Run with either's interpreter (make test-peers).

check_files.py write FOLDER        saves and pickles arrays, and notes how odd calls of save and load end
check_files.py read FOLDER [NOTES] reads what the other wrote, compares the values, and the notes with its own folder's
"""

import io
import json
import pickle
import sys
from pathlib import Path

import numpy as np

try:
    import mxlite

    mxlite.install_as_mxnet()
except ImportError:
    mxlite = None

import mxnet as mx

DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
SHAPES = ((1,), (7,), (2, 3), (1, 1, 5), (3, 1, 2, 2), (2,) * 8, (300, 70))
PROTOCOLS = range(5)


def values(shape, dtype):
    """Numbers that tell one array from another; with NaN, infinities and a negative zero where there are such."""
    draw = np.random.RandomState(sum(shape) * 10 + DTYPES.index(dtype))
    if not dtype.startswith("float"):
        low, high = (0, 2) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return draw.randint(low, high, shape, "int64").astype(dtype)
    numbers = (draw.standard_normal(shape) * 100).astype(dtype)
    numbers.reshape(-1)[:4] = np.array([np.nan, np.inf, -np.inf, -0.0])[: numbers.size]
    return numbers


def wanted():
    """name -> (numpy-shape mode, list or dict of NumPy arrays). The order of a dict matters."""
    every = {f"{dtype}{shape}": values(shape, dtype) for dtype in DTYPES for shape in SHAPES}
    files = {
        "every": (False, every),
        "unnamed": (False, list(every.values())),
        "names": (
            False,
            {name: values((2,), "int8") for name in ("", " ", "arg:w", "ключ", "日本", "a" * 3000, "z", "b")},
        ),
        "many": (False, {str(number): values((number % 5 + 1,), "float32") for number in range(2000)}),
        "numpy": (
            True,
            {
                "scalar": values((1,), "int64").reshape(()),
                "none": np.zeros((0, 4), "uint8"),
                "x": np.ones(3, "float32"),
            },
        ),
    }
    return files


#: Calls whose errors differ on purpose (docs/compatibility.md): on MXNet 1.9.1, here.
DIFFERENT = {
    "a name that is a number": ("AttributeError", "TypeError"),
    "load: a string": ("MXNetError", "TypeError"),
}


def to_nd(array):
    return mx.nd.array(array, dtype=array.dtype)


def pickled():
    """What is pickled: arrays inside of other things; one that is a view, one that has a gradient, a device."""
    whole = to_nd(values((4, 3), "float32"))
    with_gradient = whole.copy()
    with_gradient.attach_grad()
    every = [to_nd(values((2, 3), dtype)) for dtype in DTYPES]
    return {"every": every, "view": whole[1:3], "grad": with_gradient, "device": mx.cpu(1), "pair": (whole, whole)}


def cells():
    """Cells of mx.rnn, fused and not, and a network of them."""
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.FusedRNNCell(3, 2, "lstm", bidirectional=True, prefix="f_"))
    stack.add(mx.rnn.GRUCell(2, prefix="g_"))
    return stack, stack.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)[0]


def outputs_of(network, weights):
    """What a network makes of ones."""
    one = network.simple_bind(mx.cpu(), data=(3, 2, 4), grad_req="null")
    one.copy_params_from(weights)
    return one.forward(data=mx.nd.ones((3, 2, 4)))[0].asnumpy()


def write_checkpoint(folder):
    """A checkpoint of cells, and the outputs of their network."""
    stack, network = cells()
    shapes, _, _ = network.infer_shape(data=(3, 2, 4))
    names = network.list_arguments()[1:]
    weights = {
        name: to_nd(np.sin(np.ones(shape, "float32").cumsum().reshape(shape))) for name, shape in zip(names, shapes[1:])
    }
    mx.rnn.save_rnn_checkpoint(stack, str(folder / "rnn"), 7, network, weights, {})
    np.save(folder / "rnn.npy", outputs_of(network, weights))


def read_checkpoint(folder):
    """Whether the other's checkpoint is a network with the other's outputs."""
    network, weights, _ = mx.rnn.load_rnn_checkpoint(cells()[0], str(folder / "rnn"), 7)
    found, want = outputs_of(network, weights), np.load(folder / "rnn.npy")
    check(np.allclose(found, want, rtol=1e-5, atol=1e-6), f"{folder}/rnn: other outputs")


class Renamed(pickle.Unpickler):
    """Finds mxlite's classes where MXNet has them."""

    def find_class(self, module, name):
        if mxlite is None and module.split(".")[0] == "mxlite":
            module = "mxnet" + module[len("mxlite") :]
        return super().find_class(module, name)


def bits(array):
    """What must agree of an array: NaN equal to itself, -0 different from 0."""
    return (
        np.dtype(array.dtype).name,
        tuple(array.shape),
        (array if isinstance(array, np.ndarray) else array.asnumpy()).tobytes(),
    )


def check(ok, what):
    if not ok:
        raise SystemExit(f"check_files: {what}")


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (numpy_shape, arrays) in wanted().items():
        with mx.util.np_shape(numpy_shape):
            if isinstance(arrays, dict):
                made = {key: to_nd(array) for key, array in arrays.items()}
            else:
                made = [to_nd(array) for array in arrays]
            mx.nd.save(str(folder / f"{name}.params"), made)
    for protocol in PROTOCOLS:
        (folder / f"{protocol}.pickle").write_bytes(pickle.dumps(pickled(), protocol))
    write_checkpoint(folder)
    (folder / "notes.json").write_text(json.dumps(notes(folder), indent=1))


def read_files(folder):
    for name, (numpy_shape, arrays) in wanted().items():
        path = folder / f"{name}.params"
        with mx.util.np_shape(numpy_shape):
            for loaded in (mx.nd.load(str(path)), mx.nd.load_frombuffer(path.read_bytes())):
                check(type(loaded) is type(arrays), f"{path}: a {type(loaded).__name__}")
                if isinstance(arrays, dict):
                    check(list(loaded) == list(arrays), f"{path}: other names, or their order")
                    loaded, arrays = list(loaded.values()), list(arrays.values())
                check([bits(a) for a in loaded] == [bits(a) for a in arrays], f"{path}: other arrays")
                arrays = wanted()[name][1]


def read_pickles(folder):
    want = pickled()
    for protocol in PROTOCOLS:
        path = folder / f"{protocol}.pickle"
        got = Renamed(io.BytesIO(path.read_bytes())).load()
        check(list(got) == list(want), f"{path}: other keys")
        check(got["device"] == want["device"] and repr(got["device"]) == "cpu(1)", f"{path}: another device")
        with got["device"]:
            check(mx.nd.ones(1).asscalar() == 1, f"{path}: a device of no use")
        check(got["pair"][0] is got["pair"][1] and got["grad"].grad is None, f"{path}: sharing, or a gradient")
        arrays = [*got["every"], got["view"], got["grad"], got["pair"][0]]
        wants = [*want["every"], want["view"], want["grad"], want["pair"][0]]
        check([bits(a) for a in arrays] == [bits(a) for a in wants], f"{path}: other arrays")


def notes(folder):
    """How odd calls end: the class of the error, or a description of the result."""
    x, odd = to_nd(values((2, 3), "float32")), str(folder / "odd")

    def saved(data, name=odd):
        mx.nd.save(name, data)
        loaded = mx.nd.load(name)
        pairs = list(loaded.items()) if isinstance(loaded, dict) else list(enumerate(loaded))
        return [[str(key), str(array.shape), array.dtype.__name__] for key, array in pairs]

    calls = {
        "one array": lambda: saved(x),
        "transposed": lambda: saved(x.T),
        "reversed": lambda: saved(x[::-1]),
        "a column": lambda: saved(x[:, 1]),
        "the same twice": lambda: saved([x, x]),
        "nothing": lambda: saved([]),
        "no names": lambda: saved({}),
        "a tuple": lambda: saved((x,)),
        "a number": lambda: saved(5),
        "numbers": lambda: saved([1, 2]),
        "NumPy": lambda: saved(np.ones(2)),
        "NumPy in a list": lambda: saved([np.ones(2)]),
        "keys that are numbers": lambda: saved({1: x}),
        "None in a dict": lambda: saved({"a": None}),
        "a name that is a number": lambda: saved([x], 5),
        "no folder": lambda: saved([x], str(folder / "no" / "such")),
        "a folder": lambda: saved([x], str(folder)),
        "load: no file": lambda: mx.nd.load(str(folder / "nosuch")),
        "load: a folder": lambda: mx.nd.load(str(folder)),
        "load: a number": lambda: mx.nd.load(5),
        "load: text": lambda: mx.nd.load_frombuffer(b"text that is long enough for a header"),
        "load: no bytes": lambda: mx.nd.load_frombuffer(b""),
        "load: a string": lambda: mx.nd.load_frombuffer("text"),
        "load: half a file": lambda: mx.nd.load_frombuffer((folder / "every.params").read_bytes()[:5000]),
    }
    found = {}
    for what, call in calls.items():
        try:
            found[what] = call()
        except Exception as error:
            found[what] = type(error).__name__
    return found


def main():
    folder = Path(sys.argv[2])
    who = f"MXNet {mx.__version__}" if mxlite is None else "mxlite"
    if sys.argv[1] == "write":
        write(folder)
        return
    read_files(folder)
    read_pickles(folder)
    read_checkpoint(folder)
    own, other = (json.loads((Path(each) / "notes.json").read_text()) for each in (sys.argv[3], folder))
    for what in own:
        pair = (own[what], other[what]) if mxlite is None else (other[what], own[what])
        check(
            pair == DIFFERENT.get(what, (pair[0], pair[0])), f"{what}: {own[what]} by {who}, {other[what]} by the other"
        )
    what = f"the other's files, pickles and checkpoint, and {len(own)} odd calls end as they should"
    print(f"check_files: {who} reads {what}")


if __name__ == "__main__":
    main()
