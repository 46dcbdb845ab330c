"""Asks the real MXNet 1.9.1 every row of the case table, and writes answers.npz, answers.json and introspection.json.

Run by `make oracle` under an interpreter with mxnet==1.9.1 and numpy==1.23.5; the tests only read the files.
Every case runs in a forked child, so that one that ends the process is an answer ("crash") and not the end. `--new`
keeps the answers that are there, and asks the rows that have none or whose inputs have changed.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import re
import signal
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
warnings.filterwarnings("ignore")

import mxnet as mx  # noqa: E402
from cases import CASES, heads, operators  # noqa: E402
from reference import Answer, Answers  # noqa: E402

LIB = mx.base._LIB
SECONDS = 30


class OracleError(Exception):
    """The library answered -1."""


#: What an answer that is an error arrives as; MXNet's IndexError is no MXNetError.
FAILURES = (OracleError, mx.base.MXNetError, IndexError)


def invoke(op: str, inputs: list, params: dict, out: list | None) -> list:
    """One MXImperativeInvokeEx call with NDArrays in and out; raises OracleError with the message."""
    handle = ctypes.c_void_p()
    if LIB.NNGetOpHandle(op.encode(), ctypes.byref(handle)):
        raise OracleError(f"no operator {op}")
    array_of = ctypes.c_void_p * max(1, len(inputs))
    given = array_of(*[array.handle for array in inputs])
    count = ctypes.c_int(len(out) if out else 0)
    slots = ctypes.POINTER(ctypes.c_void_p)()
    if out:
        kept = (ctypes.c_void_p * len(out))(*[array.handle for array in out])
        slots = ctypes.cast(kept, ctypes.POINTER(ctypes.c_void_p))
    names = (ctypes.c_char_p * max(1, len(params)))(*[name.encode() for name in params])
    values = (ctypes.c_char_p * max(1, len(params)))(*[value.encode() for value in params.values()])
    stypes = ctypes.POINTER(ctypes.c_int)()
    status = LIB.MXImperativeInvokeEx(
        handle,
        len(inputs),
        given,
        ctypes.byref(count),
        ctypes.byref(slots),
        len(params),
        names,
        values,
        ctypes.byref(stypes),
    )
    if status:
        raise OracleError(mx.base.py_str(LIB.MXGetLastError()))
    if out:
        return out
    return [mx.nd.NDArray(mx.base.NDArrayHandle(slots[i])) for i in range(count.value)]


def nd(array: np.ndarray):
    """An NDArray with this content, whatever the shape mode."""
    made = mx.nd.empty(array.shape, dtype=array.dtype)
    if array.size:
        made._sync_copyfrom(np.array(array, order="C"))
    return made


def ask(case) -> dict:
    """The answers of one case: outputs, mutated inputs and first gradients, or the error."""
    arrays = case.arrays()
    answer: dict = {}
    with mx.util.np_shape(case.np_shape):
        inputs = [nd(array) for array in arrays]
        out = [nd(np.zeros(shape, dtype)) for shape, dtype in case.out] if case.out is not None else None
        try:
            with mx.autograd.train_mode() if case.train else mx.autograd.predict_mode():
                outputs = invoke(case.op, inputs, case.strings(), out)
            answer["outputs"] = [output.asnumpy() for output in outputs]
            answer["mutated"] = [inputs[position].asnumpy() for position in case.mutates]
        except FAILURES as failure:
            return {"error": line(failure)}
        if case.diff and not case.oracle.startswith("forward"):
            answer["gradients"] = gradients(case, arrays)
    return answer


def gradients(case, arrays: list):
    """First gradients with respect to `case.diff` under the fixed heads, or the error as text."""
    inputs = [nd(array) for array in arrays]
    for position in case.diff:
        inputs[position].attach_grad()
    try:
        with mx.autograd.record(train_mode=case.train):
            outputs = invoke(case.op, inputs, case.strings(), None)
        shapes = [output.shape for output in outputs]
        dtypes = [np.dtype(output.dtype).name for output in outputs]
        mx.autograd.backward(outputs, [nd(head) for head in heads(case, shapes, dtypes)], train_mode=case.train)
        return [inputs[position].grad.asnumpy() for position in case.diff]
    except FAILURES as failure:
        return line(failure)


def line(failure: Exception) -> str:
    """The last line of a message that says something, without the time of day that some begin with."""
    lines = [text.strip() for text in str(failure).splitlines() if text.strip() and "[bt]" not in text]
    last = lines[-1] if lines else type(failure).__name__
    return re.sub(r"^\[\d\d:\d\d:\d\d\] ", "", last)[:200]


def guarded(case) -> dict:
    """`ask` in a child of its own; {"crash": signal} when the child died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        code = 1
        try:
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(ask(case), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if status or not data:
        return {"crash": status}
    return pickle.loads(data)


def introspect() -> dict:
    """Names, aliases, arguments and types of the table's operators, as the library prints them."""
    size, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    LIB.MXListAllOpNames(ctypes.byref(size), ctypes.byref(names))
    found: dict = {}
    for index in range(size.value):
        handle = ctypes.c_void_p()
        LIB.NNGetOpHandle(names[index], ctypes.byref(handle))
        found.setdefault(handle.value, []).append(names[index].decode())
    rows = {}
    for handle, group in found.items():
        texts = [ctypes.c_char_p() for _ in range(2)]
        lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
        count, key, kind = ctypes.c_uint(), ctypes.c_char_p(), ctypes.c_char_p()
        pointers = (
            [ctypes.byref(text) for text in texts] + [ctypes.byref(count)] + [ctypes.byref(part) for part in lists]
        )
        LIB.MXSymbolGetAtomicSymbolInfo(ctypes.c_void_p(handle), *pointers, ctypes.byref(key), ctypes.byref(kind))
        name = texts[0].value.decode()
        if name in operators():
            rows[name] = {
                "aliases": sorted(alias for alias in group if alias != name),
                "arguments": [[lists[0][i].decode(), lists[1][i].decode()] for i in range(count.value)],
                "key_var_num_args": (key.value or b"").decode(),
                "return_type": (kind.value or b"").decode(),
            }
    return {"mxnet": mx.__version__, "operators": dict(sorted(rows.items()))}


class Store:
    """All answers end to end in one byte string; an entry is [dtype, shape, offset]."""

    def __init__(self) -> None:
        self.parts: list = []
        self.size = 0

    def put(self, array: np.ndarray) -> list:
        data = np.ascontiguousarray(array).tobytes()
        entry = [array.dtype.name, list(array.shape), self.size]
        self.parts.append(data)
        self.size += len(data)
        return entry


def known(case, kept: Answer) -> dict:
    """An answer of the files as `ask` gives it."""
    if kept.error:
        return {"error": kept.error}
    visible = len(kept.outputs) - len(case.mutates)
    answer = {"outputs": list(kept.outputs[:visible]), "mutated": list(kept.outputs[visible:])}
    gradients = kept.gradient_error or kept.gradients
    asked = gradients is not None and not case.oracle.startswith("forward")
    return {**answer, "gradients": gradients} if asked else answer


def main() -> int:
    """Ask everything, write the files, and list what is surprising."""
    store, index, odd = Store(), {}, []
    kept = Answers() if "--new" in sys.argv[1:] else {}
    for case in CASES:
        if case.random or case.oracle.startswith("skip"):
            continue
        asked = case.id in kept and kept[case.id].same_inputs(case.arrays())
        answer = known(case, kept[case.id]) if asked else guarded(case)
        row: dict = {"inputs": zlib.crc32(b"".join(array.tobytes() for array in case.arrays()))}
        if "crash" in answer:
            odd.append(f"{case.id}: the process died (status {answer['crash']})")
            continue
        if "error" in answer:
            row["error"] = answer["error"]
        else:
            row["outputs"] = [store.put(array) for array in answer["outputs"] + answer["mutated"]]
            given = answer.get("gradients")
            if isinstance(given, str):
                row["gradient_error"] = given
            elif given is not None:
                row["gradients"] = [store.put(array) for array in given]
        index[case.id] = row
        odd += compare(case, answer)
    (HERE / "answers.json").write_text(
        json.dumps({"mxnet": mx.__version__, "numpy": np.__version__, "cases": index}, separators=(",", ":")) + "\n"
    )
    np.savez_compressed(HERE / "answers.npz", data=np.frombuffer(b"".join(store.parts), np.uint8))
    (HERE / "introspection.json").write_text(json.dumps(introspect(), indent=1) + "\n")
    print(f"{len(index)} answers, {store.size} bytes; {len(odd)} surprises")
    for text in odd:
        print("  " + text)
    return 1 if odd else 0


def agree(got: np.ndarray, wanted: np.ndarray, rtol: float, atol: float) -> bool:
    """Integers exactly: the largest are not all float64 numbers."""
    if rtol == atol == 0 and got.dtype.kind in "iu":
        return np.array_equal(got, wanted)
    return np.allclose(got.astype("float64"), wanted.astype("float64"), rtol=rtol, atol=atol, equal_nan=True)


def compare(case, answer: dict) -> list:
    """Where 1.9.1 and the table disagree: the table is wrong, or the case wants an `oracle` note."""
    differs = case.oracle.startswith("differs")
    failed = "error" in answer
    if failed != case.error:
        return [] if differs else [f"{case.id}: " + (answer["error"] if failed else "1.9.1 accepts it")]
    if failed:
        return [f"{case.id}: marked as different, but agrees"] if differs else []
    if isinstance(answer.get("gradients"), str):
        return [f"{case.id}: gradient: {answer['gradients']}"]
    if case.forward is None:
        return []
    got, wanted = answer["outputs"] + answer["mutated"], case.expected()
    texts = []
    if len(got) != len(wanted):
        texts.append(f"{len(got)} outputs, the table says {len(wanted)}")
    for one, two in zip(got, wanted):
        rtol, atol = case.close(one.dtype.name)
        if one.dtype != two.dtype or one.shape != two.shape:
            texts.append(f"{one.dtype}{one.shape}, the table says {two.dtype}{two.shape}")
        elif not agree(one, two, rtol, atol):
            texts.append(f"{one.ravel()[:6]}, the table says {two.ravel()[:6]}")
    if differs and not texts:
        return [f"{case.id}: marked as different, but agrees"]
    return [] if differs else [f"{case.id}: {text}" for text in texts]


if __name__ == "__main__":
    sys.exit(main())
