#!/usr/bin/env python3
"""Files of arrays by the real MXNet 1.9.1, and whether it reads mxlite's. Run with its interpreter.

    make_files.py                 writes files/*.params and files/expected.json, and files/rnn, a checkpoint
    make_files.py --read FOLDER   reads FOLDER/*.params, which mxlite wrote (write_files.py), and compares

Formats that 1.9.1 reads and does not write any more are put together here by hand, and 1.9.1 says what they hold.
"""

import json
import struct
import sys
from pathlib import Path

import mxnet as mx
import numpy as np

FILES = Path(__file__).resolve().parent / "files"
DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
LIST = struct.pack("<QQ", 0x112, 0)
TAIL = struct.pack("<iii", 1, 0, 0)
VALUES = struct.pack("<6f", 0, 1, -2, 0.5, np.inf, 6)


def values(count, dtype):
    """Some numbers of a dtype."""
    return ((np.arange(count) * 7) % 11 - (0 if dtype in ("uint8", "bool") else 4)).astype(dtype)


def old_list(*arrays):
    """A list without names of arrays that are bytes already."""
    return LIST + struct.pack("<Q", len(arrays)) + b"".join(arrays) + struct.pack("<Q", 0)


def written_by_mxnet():
    """name -> (numpy-shape mode, what mx.nd.save is given)."""
    files = {f"dtype_{dtype}": (False, [mx.nd.array(values(6, dtype).reshape(2, 3), dtype=dtype)]) for dtype in DTYPES}
    files["names"] = (
        False,
        {"arg:weight": mx.nd.array(values(12, "float32").reshape(3, 4)), "aux:é": mx.nd.array([7], dtype="int64")},
    )
    files["empty"] = (False, [])
    files["axes"] = (False, [mx.nd.array(values(64, "int8").reshape((2,) * 6), dtype="int8")])
    with mx.util.np_shape(True):
        files["numpy"] = (True, {"scalar": mx.nd.zeros(()) + 3, "nothing": mx.nd.zeros((0, 3)), "one": mx.nd.ones(1)})
    return files


def made_by_hand():
    """name -> bytes."""
    v1 = struct.pack("<Iiqq", 0xF993FAC8, 2, 2, 3) + TAIL + VALUES
    v0 = struct.pack("<III", 2, 2, 3) + TAIL + VALUES
    gpu = struct.pack("<Iiiqiii", 0xF993FAC9, 0, 1, 6, 2, 3, 0) + VALUES
    return {"old_v1": old_list(v1, v1), "old_v0": old_list(v0, v0), "old_mixed": old_list(v0, gpu, v1)}


def entry(loaded, numpy):
    """What a file holds, for expected.json."""
    named = isinstance(loaded, dict)
    pairs = list(loaded.items()) if named else [("", each) for each in loaded]
    arrays = [
        {"name": name, "shape": list(each.shape), "dtype": each.dtype.__name__, "bytes": each.asnumpy().tobytes().hex()}
        for name, each in pairs
    ]
    return {"numpy_shape": numpy, "named": named, "arrays": arrays}


def write_checkpoint():
    """Writes a checkpoint of cells of mx.rnn, and the outputs of its network, of ones."""
    folder = FILES / "rnn"
    folder.mkdir(exist_ok=True)
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.FusedRNNCell(3, 2, "lstm", bidirectional=True, prefix="f_"))
    stack.add(mx.rnn.GRUCell(2, prefix="g_"))
    network, _ = stack.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)
    one = network.simple_bind(mx.cpu(), data=(3, 2, 4), grad_req="null")
    for name, array in one.arg_dict.items():
        array[:] = mx.nd.array(np.sin(np.arange(array.size) * 0.7).reshape(array.shape)) if name != "data" else 1
    weights = {name: array for name, array in one.arg_dict.items() if name != "data"}
    mx.rnn.save_rnn_checkpoint(stack, str(folder / "model"), 7, network, weights, {})
    mx.nd.save(str(folder / "outputs.params"), [one.forward()[0]])


def write():
    """Writes every file, and what 1.9.1 reads from it."""
    FILES.mkdir(exist_ok=True)
    write_checkpoint()
    expected = {}
    for name, (numpy, data) in written_by_mxnet().items():
        with mx.util.np_shape(numpy):
            mx.nd.save(str(FILES / f"{name}.params"), data)
    for name, content in made_by_hand().items():
        (FILES / f"{name}.params").write_bytes(content)
    for path in sorted(FILES.glob("*.params")):
        if path.stem.startswith("sparse"):
            continue
        numpy = path.stem == "numpy"
        with mx.util.np_shape(numpy):
            expected[path.stem] = entry(mx.nd.load(str(path)), numpy)
    rows = mx.nd.sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2))
    csr = mx.nd.sparse.csr_matrix(([1.0, 2], [0, 1], [0, 1, 2]), shape=(2, 2))
    mx.nd.save(str(FILES / "sparse_rows.params"), [rows])
    mx.nd.save(str(FILES / "sparse_csr.params"), [mx.nd.ones(1), csr])
    (FILES / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
    print(f"{len(expected)} files written")


def read(folder):
    """Whether 1.9.1 reads what mxlite wrote as expected.json says, and writes the same bytes."""
    expected = json.loads((FILES / "expected.json").read_text())
    wrong = 0
    for path in sorted(Path(folder).glob("*.params")):
        want = expected[path.stem]
        with mx.util.np_shape(want["numpy_shape"]):
            loaded = mx.nd.load(str(path))
            if not want["arrays"]:
                loaded = []
            same = entry(loaded, want["numpy_shape"]) == want
            mx.nd.save(str(path) + ".again", loaded)
        again = Path(str(path) + ".again").read_bytes() == path.read_bytes()
        print(f"{path.stem}: values {'agree' if same else 'DIFFER'}, bytes {'agree' if again else 'DIFFER'}")
        wrong += not (same and again)
    return wrong


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--read":
        sys.exit(1 if read(sys.argv[2]) else 0)
    write()
