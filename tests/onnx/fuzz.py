"""Reads and runs files of ONNX that are damaged on purpose: each must be read, or be one clear error.

    .venvs/predict/bin/python tests/onnx/fuzz.py [--seconds 600] [--seed 1] [--count N] [--files FOLDER]

Files are made from ONNX's own small test models and those of FOLDER. A file fails if it ends the process, takes more
than 20 s, opens a file outside its folder, or raises anything but MXNetError, ValueError or MemoryError.
"""

from __future__ import annotations

import argparse
import faulthandler
import glob
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

import mxlite as mx
from mxlite.error import MXNetError
from mxlite.onnx._file import DTYPES
from mxlite.onnx._import.models import import_to_gluon

#: Bytes of memory that the process may have.
MEMORY = 6 << 30
SECONDS = 20
NUMBERS = [
    0,
    -1,
    1,
    2,
    3,
    -2,
    7,
    255,
    1 << 16,
    1 << 31,
    -(1 << 31),
    (1 << 31) - 1,
    1 << 40,
    (1 << 62) - 1,
    -(1 << 63),
    (1 << 63) - 1,
]
PATHS = [
    "/etc/passwd",
    "../../etc/passwd",
    "../secret",
    "link",
    "a/../../secret",
    "",
    "no such",
    ".",
    "secret\0",
    "sub/link/x",
    "\\\\x",
]


def models(folder: str | None) -> list[bytes]:
    """The files that mutants are made of."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
    for test in tests[:: max(1, len(tests) // 400)]:
        if test.model is not None:
            found.append(test.model.SerializeToString())
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    paths = glob.glob(os.path.join(data, "pytorch-*", "*", "model.onnx"))
    paths += glob.glob(os.path.join(folder, "*.onnx")) if folder else []
    found += [Path(path).read_bytes() for path in sorted(paths)]
    return [each for each in found if len(each) < 1 << 20]


def scrambled(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut, repeated or put in."""
    array = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(array)) if array else 0
        kind = rng.randrange(5)
        if kind == 0 and array:
            array[at] = rng.randrange(256)
        elif kind == 1 and array:
            array[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del array[at : at + rng.choice([1, 2, 8, 100])]
        elif kind == 3:
            array[at:at] = array[at : at + rng.choice([1, 4, 50])]
        else:
            array[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 2, 9])))
    return bytes(array)


def _messages(message: Any, depth: int = 0) -> list[Any]:
    found = [message]
    if depth < 12:
        for field, value in message.ListFields():
            if field.message_type is not None:
                for each in value if field.is_repeated else [value]:
                    found += _messages(each, depth + 1)
    return found


def restructured(data: bytes, rng: random.Random) -> bytes:
    """Fields of the model changed: numbers, names, lists, external data; still a file that protobuf reads."""
    model = onnx.ModelProto()
    model.ParseFromString(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        message = rng.choice(_messages(model))
        fields = [field for field in message.DESCRIPTOR.fields if field.message_type is None]
        if isinstance(message, onnx.TensorProto) and rng.random() < 0.2:
            message.data_location = 1
            del message.external_data[:]
            for key, value in (("location", rng.choice(PATHS)), ("offset", str(rng.choice(NUMBERS)))):
                entry = message.external_data.add()
                entry.key, entry.value = key, value
            continue
        if not fields:
            continue
        field = rng.choice(fields)
        values: Any = NUMBERS
        if field.cpp_type == field.CPPTYPE_STRING:
            names = [name for node in model.graph.node for name in (*node.input, *node.output)] or ["x"]
            values = [rng.choice(names), "", "x" * 1000, "Loop", rng.choice(PATHS)]
            if field.type == field.TYPE_BYTES:
                values = [each.encode() for each in values]
        elif field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            values = [0.0, -1.0, 1e30, float("nan"), float("inf")]
        value = rng.choice(values)
        try:
            if not field.is_repeated:
                setattr(message, field.name, value)
                continue
            held = getattr(message, field.name)
            kind = rng.randrange(4)
            if kind == 0 and len(held):
                del held[rng.randrange(len(held))]
            elif kind == 1 and len(held):
                held[rng.randrange(len(held))] = value
            elif kind == 2:
                held.append(value)
            else:
                del held[:]
        except (TypeError, ValueError):
            continue
    nodes = model.graph.node
    if len(nodes) > 1 and rng.random() < 0.1:  # a cycle, or an order that is wrong
        a, b = rng.sample(range(len(nodes)), 2)
        first = type(nodes[a])()
        first.CopyFrom(nodes[a])
        nodes[a].CopyFrom(nodes[b])
        nodes[b].CopyFrom(first)
    return bytes(model.SerializeToString())


class TooLong(BaseException):
    """A file took more than SECONDS."""


class Watch:
    """Notes files that are opened outside a folder, but for those of Python's own packages."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.outside: list[str] = []
        self.is_on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple) -> None:
        if not self.is_on or event != "open" or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if (
            not path.startswith(self.folder)
            and not path.endswith((".py", ".pyc", ".so"))
            and "site-packages" not in path
        ):
            self.outside.append(path)


def judge(path: Path) -> str:
    """How reading and running a file ends: a word, or a text that begins with "!"."""
    try:
        block = import_to_gluon(path)
    except (MXNetError, ValueError) as error:
        return "! the message has lines" if "\n" in str(error) else "refused"
    except TooLong:
        return f"! reading takes more than {SECONDS} s"
    except BaseException:  # noqa: BLE001 - what must not happen
        return f"! {traceback.format_exc()}"
    try:
        metadata = mx.onnx.get_model_metadata(path)["input_tensor_data"]
        if not metadata or any(kind not in DTYPES for _, _, kind in metadata):
            return "read"
        if any(np.prod([float(size) for size in shape]) > 1e5 for _, shape, _ in metadata):
            return "read"
        given = [mx.nd.zeros([max(size, 1) for size in shape], dtype=DTYPES[kind]) for _, shape, kind in metadata]
        made = block(*given)
        for each in made if isinstance(made, (list, tuple)) else [made]:
            each.asnumpy()
    except (MXNetError, ValueError, MemoryError):
        return "read, not run"
    except TooLong:
        return f"! running takes more than {SECONDS} s"
    except BaseException:  # noqa: BLE001
        return f"! {traceback.format_exc()}"
    return "run"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1 << 60)
    parser.add_argument("--files")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sources = models(given.files)
    counts: dict[str, int] = {}
    failed = 0

    def stop(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory() as top:
        folder = Path(os.path.realpath(top)) / "models"
        (folder / "sub").mkdir(parents=True)
        (folder.parent / "secret").write_bytes(b"secret" * 1000)
        (folder / "link").symlink_to(folder.parent / "secret")
        (folder / "sub" / "link").symlink_to(folder.parent)
        path = folder / "model.onnx"
        watch = Watch(str(folder))
        end, number = time.time() + given.seconds, given.seed * 1_000_000
        first = number
        while time.time() < end and number - first < given.count:
            rng = random.Random(number)
            data = rng.choice(sources)
            data = scrambled(data, rng) if rng.random() < 0.3 else restructured(data, rng)
            path.write_bytes(data)
            watch.outside, watch.is_on = [], True
            signal.alarm(SECONDS)
            faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    word = judge(path)
                except TooLong:
                    word = f"! takes more than {SECONDS} s"
            signal.alarm(0)
            faulthandler.cancel_dump_traceback_later()
            watch.is_on = False
            if watch.outside:
                word = f"! opens {watch.outside[:3]}"
            counts[word if not word.startswith("!") else "failed"] = (
                counts.get(word if not word.startswith("!") else "failed", 0) + 1
            )
            if word.startswith("!"):
                failed += 1
                kept = Path(tempfile.gettempdir()) / f"onnx-fuzz-{number}.onnx"
                kept.write_bytes(data)
                print(f"{number} ({kept}): {word[2:]}", flush=True)
                if failed >= 20:
                    break
            number += 1
    print(f"onnx fuzz: seed {given.seed}, {number - first} files: {counts}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
