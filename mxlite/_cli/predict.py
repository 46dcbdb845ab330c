"""``mxlite predict``: runs a saved model once or more, prints its outputs and how long it takes."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import mxlite as mx
from mxlite import _replace
from mxlite._cli._models import Shapes, WrongError, is_onnx, read_model, read_symbol, shapes_of
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError
from mxlite.symbol import Symbol

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
#: As many values of an output are printed; of a larger one the greatest of its first row.
_FEW = 16


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mxlite predict", description="Runs a saved model; prints its outputs and how long it takes."
    )
    parser.add_argument("symbol", help="model-symbol.json, or model.onnx")
    parser.add_argument("params", nargs="?", help="model-0000.params; a file of ONNX has its own")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,3,224,224",
        help="the shape of an input; may be repeated",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="values of an input: x.npy, or an image, which gets the input's size; without it random numbers",
    )
    parser.add_argument("--mean", default="0", help="subtracted from an image's values of 0 to 255; one or per channel")
    parser.add_argument("--std", default="1", help="what an image's values are divided by then")
    parser.add_argument("--repeat", type=int, default=10, metavar="N", help="runs that are timed after the first (10)")
    parser.add_argument("--top", type=int, default=5, metavar="N", help="how many of the greatest outputs to print (5)")
    parser.add_argument("--out", metavar="FILE.npz", help="where to write the outputs")
    return parser


def _parameters(path: str) -> dict[str, mx.nd.NDArray]:
    try:
        held = mx.nd.load(path)
    except (MXNetError, OSError, ValueError) as error:
        raise WrongError(f"{path}: {error}") from None
    if not isinstance(held, dict):
        raise WrongError(f"{path}: its arrays have no names")
    return {name.split(":", 1)[1] if name.startswith(("arg:", "aux:")) else name: each for name, each in held.items()}


def _numbers(text: str, option: str) -> np.ndarray:
    try:
        return np.array([float(each) for each in text.split(",")], "float32")
    except ValueError:
        raise WrongError(f"{option} {text}: expected numbers, such as 123.68,116.78,103.94") from None


def _image(path: str, shape: tuple[int, ...] | None, given: argparse.Namespace) -> np.ndarray:
    """An image as an input of that shape, whose channels come before or behind rows and columns."""
    if shape is None or len(shape) != 4:
        raise WrongError(f"--input {path}: an image needs the input's shape, such as --shape data=1,3,224,224")
    first = shape[1] in (1, 3)
    channels, rows, columns = shape[1:] if first else (shape[3], shape[1], shape[2])
    if channels not in (1, 3):
        raise WrongError(f"--input {path}: an input of shape {shape} has neither 1 nor 3 channels")
    try:
        pixels = mx.image.imread(path, flag=int(channels == 3))
    except (MXNetError, ImportError) as error:
        raise WrongError(f"--input {path}: {error}") from None
    values = mx.image.imresize(pixels, columns, rows).asnumpy().astype("float32")
    values = (values - _numbers(given.mean, "--mean")) / _numbers(given.std, "--std")
    return np.broadcast_to(values.transpose(2, 0, 1) if first else values, shape)


def _values(path: str, shape: tuple[int, ...] | None, given: argparse.Namespace) -> np.ndarray:
    if path.lower().endswith(_IMAGES):
        return _image(path, shape, given)
    try:
        values = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise WrongError(f"--input {path}: {error}") from None
    if not isinstance(values, np.ndarray):
        raise WrongError(f"--input {path}: expected one array (.npy) or an image")
    if shape is not None and values.shape != shape:
        raise WrongError(f"--input {path}: its shape is {values.shape}, --shape says {shape}")
    return values


def _model(given: argparse.Namespace) -> tuple[Symbol, dict[str, mx.nd.NDArray], Shapes]:
    """The symbol, its parameters, and the shapes of inputs that are known."""
    shapes = shapes_of(given.shape)
    if not is_onnx(given.symbol):
        if given.params is None:
            raise WrongError(f"{given.symbol}: the file of its parameters is missing: model-0000.params")
        return read_symbol(given.symbol), _parameters(given.params), shapes
    if given.params is not None:
        raise WrongError(f"{given.params}: a file of ONNX has its own parameters")
    symbol, arguments, states, shapes = read_model(given.symbol, shapes)
    return symbol, {**arguments, **states}, shapes


def _inputs(
    symbol: Symbol, held: Iterable[str], shapes: Shapes, given: argparse.Namespace
) -> dict[str, tuple[np.ndarray, str]]:
    """The inputs by name, with a word about where they come from."""
    known = set(held)
    free = [name for name in symbol.list_inputs() if name not in known]
    wanted = [name for name in free if not name.endswith("label")] or free
    found = {}
    for word in given.input:
        name, equals, path = word.partition("=")
        if not equals:
            if len(wanted) != 1:
                raise WrongError(f"--input {word}: name one of the inputs, NAME=FILE: {', '.join(wanted)}")
            name, path = wanted[0], word
        found[name] = _values(path, shapes.get(name), given), path
    random = np.random.RandomState(0)
    for name, shape in shapes.items():
        found.setdefault(name, (random.rand(*shape).astype("float32"), "random numbers from 0 to 1"))
    for name in found:
        if name not in symbol.list_inputs():
            meant = did_you_mean(name, symbol.list_inputs())
            raise WrongError(f"there is no input {name}; those without values in the file: {', '.join(free)}{meant}")
    for name in wanted:
        if name not in found:
            raise WrongError(f"the shape or the values of input {name} are missing: --shape {name}=... or --input")
    return found


def _bind(symbol: Symbol, held: dict[str, mx.nd.NDArray], inputs: dict[str, np.ndarray]) -> mx.executor.Executor:
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    held = {name: each for name, each in held.items() if name in {*arguments, *states} and name not in inputs}
    types = {name: each.dtype for name, each in held.items() if name in arguments}
    shapes: dict[str, Any] = {name: held[name].shape for name in types}
    shapes.update({name: each.shape for name, each in inputs.items()})
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", type_dict=types, **shapes)
    for name, each in {**executor.arg_dict, **executor.aux_dict}.items():
        if name in held:
            if held[name].shape != each.shape:
                raise WrongError(f"parameter {name} has shape {held[name].shape}, the graph needs {each.shape}")
            each[:] = held[name]
        elif name in inputs:
            each[:] = mx.nd.array(inputs[name], dtype=each.dtype)
    return executor


def _run(executor: mx.executor.Executor, repeat: int) -> tuple[list[np.ndarray], list[float]]:
    """The outputs, and seconds of the first run and of those after it."""
    seconds = []
    for _ in range(1 + repeat):
        start = time.perf_counter()
        executor.forward(is_train=False)
        outputs = [each.asnumpy() for each in executor.outputs]
        seconds.append(time.perf_counter() - start)
    return outputs, seconds


def _describe(name: str, output: np.ndarray, top: int) -> list[str]:
    lines = [f"{name} {output.shape} {output.dtype}"]
    if output.size <= _FEW:
        return [*lines, *(f"    {line}" for line in np.array2string(output, precision=6).splitlines())]
    numbers = output.astype("float64")
    lines.append(f"    least {numbers.min():.6g}, mean {numbers.mean():.6g}, greatest {numbers.max():.6g}")
    row = numbers.reshape(output.shape[0], -1)[0] if output.ndim > 1 else numbers
    best = np.argsort(-row, kind="stable")[: max(0, top)]
    where = " of the first row" if output.ndim > 1 and output.shape[0] > 1 else ""
    if len(best):
        lines.append(f"    greatest{where}: " + ", ".join(f"[{each}] {row[each]:.6g}" for each in best))
    return lines


def _report(given: argparse.Namespace) -> None:
    if given.repeat < 0:
        raise WrongError(f"--repeat {given.repeat}: expected 0 or more")
    symbol, held, shapes = _model(given)
    inputs = _inputs(symbol, held, shapes, given)
    for name, (values, origin) in inputs.items():
        print(f"{name} {values.shape} {origin}")
    try:
        with mx.np_shape(is_onnx(given.symbol)):  # a constant of ONNX may have no axes
            executor = _bind(symbol, held, {name: values for name, (values, _) in inputs.items()})
            outputs, seconds = _run(executor, given.repeat)
    except MXNetError as error:
        raise WrongError(str(error)) from None
    for name, output in zip(symbol.list_outputs(), outputs):
        print("\n".join(_describe(name, output, given.top)))
    line = f"first run {seconds[0] * 1e3:.2f} ms"
    if given.repeat:
        median, fastest = statistics.median(seconds[1:]) * 1e3, min(seconds[1:]) * 1e3
        line += f"; {given.repeat} more: median {median:.2f} ms, fastest {fastest:.2f} ms"
    print(line)
    if given.out:
        path = Path(given.out)
        named: dict[str, Any] = dict(zip(symbol.list_outputs(), outputs))
        try:
            with _replace.replacing(path if path.suffix == ".npz" else f"{path}.npz") as file:
                np.savez(file, **named)
        except OSError as error:
            raise WrongError(f"--out: {error}") from None


def main(arguments: list[str] | None = None) -> int:
    """Prints outputs and times; returns 0, or 1 after a line about a file or an option that is wrong."""
    given = _parser().parse_args(arguments)
    try:
        _report(given)
    except WrongError as error:
        print(f"mxlite predict: {error}", file=sys.stderr)
        return 1
    return 0
