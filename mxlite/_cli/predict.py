"""``mxlite predict``: runs a saved model once or more, prints its outputs and how long it takes."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import mxlite as mx
from mxlite import _replace
from mxlite._cli import _profile
from mxlite._cli._models import Shapes, WrongError, is_onnx, read_model, read_symbol, shapes_of
from mxlite._cli._units import duration
from mxlite._lib import LIB, check_call
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError
from mxlite.symbol import Symbol

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
#: As many values of an output are printed; of a larger one the greatest of its first row, or with labels of these rows.
_FEW = 16
#: The library runs at most so many threads.
_MOST_THREADS = 256


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Says what is wrong as a line, without the usage."""
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists all options\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("mxlite predict", description="Runs a saved model; prints its outputs and how long it takes.")
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
    parser.add_argument(
        "--labels", metavar="FILE", help="names of the classes, a line each, to print beside the greatest outputs"
    )
    parser.add_argument(
        "--batch", type=int, metavar="N", help="the first size of each input's shape; inputs with 1 there are repeated"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="how many threads compute (all processors)")
    parser.add_argument(
        "--profile",
        nargs="?",
        const="",
        metavar="FILE.svg",
        help="print what each node of the graph that runs takes: time, FLOP, bytes; with a file draw it too",
    )
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
        found = np.array([float(each) for each in text.split(",")], "float32")
    except ValueError:
        raise WrongError(f"{option} {text}: expected numbers, such as 123.68,116.78,103.94") from None
    if not np.isfinite(found).all() or (option == "--std" and not found.all()):
        raise WrongError(f"{option} {text}: expected finite numbers" + ", other than 0" * (option == "--std"))
    return found


def _labels(path: str) -> list[str]:
    """A name from each line of a file, without the number of WordNet that may be before it (n01440764)."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise WrongError(f"--labels {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongError(f"--labels {path}: it is no text in UTF-8") from None
    if not text.strip():
        raise WrongError(f"--labels {path}: there are no names in it")
    return [re.sub(r"^n\d{8}\s+", "", line).strip() for line in text.rstrip().split("\n")]


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
    mean, std = _numbers(given.mean, "--mean"), _numbers(given.std, "--std")
    for option, numbers in (("--mean", mean), ("--std", std)):
        if len(numbers) not in (1, channels):
            raise WrongError(f"{option}: there are {len(numbers)} numbers, and the image has {channels} channels")
    values = (values - mean) / std
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
    if values.dtype.kind not in "fiub":
        raise WrongError(f"--input {path}: expected numbers; its values are {values.dtype}")
    if given.batch is not None and values.ndim > 0 and len(values) != given.batch:
        if len(values) != 1:
            raise WrongError(f"--input {path}: its shape is {values.shape}, --batch says {given.batch}")
        values = np.repeat(values, given.batch, axis=0)
    if shape is not None and values.shape != shape:
        raise WrongError(f"--input {path}: its shape is {values.shape}, --shape says {shape}")
    return values


def _model(given: argparse.Namespace) -> tuple[Symbol, dict[str, mx.nd.NDArray], Shapes]:
    """The symbol, its parameters, and the shapes of inputs that are known."""
    shapes = shapes_of(given.shape)
    if given.batch is not None:
        shapes = {name: (given.batch, *shape[1:]) for name, shape in shapes.items()}
    if not is_onnx(given.symbol):
        if given.params is None:
            raise WrongError(f"{given.symbol}: the file of its parameters is missing: model-0000.params")
        return read_symbol(given.symbol), _parameters(given.params), shapes
    if given.params is not None:
        raise WrongError(f"{given.params}: a file of ONNX has its own parameters")
    symbol, arguments, states, shapes = read_model(given.symbol, shapes, given.batch)
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
        if name in found:
            continue
        try:
            found[name] = random.rand(*shape).astype("float32"), "random numbers from 0 to 1"
        except (MemoryError, ValueError) as error:
            raise WrongError(f"{name} {shape}: {error}") from None
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


def _best(row: np.ndarray, top: int) -> np.ndarray:
    """The positions of the greatest numbers, the greatest first."""
    return np.argsort(-row, kind="stable")[:top]


def _named(rows: np.ndarray, top: int, labels: Sequence[str]) -> list[str]:
    """A line for each of the greatest numbers of each row, with its class."""
    lines = []
    for at, row in enumerate(rows[:_FEW]):
        lines += [f"    row {at}:"] * (len(rows) > 1)
        lines += [f"    {row[each]:<12.6g} [{each}] {labels[each]}" for each in _best(row, top)]
    return [*lines, *([f"    {len(rows) - _FEW} more rows"] if len(rows) > _FEW else [])]


def _rows(output: np.ndarray) -> np.ndarray:
    """An output as numbers by example; one without a second axis is one example's."""
    return output.astype("float64").reshape(output.shape[0] if output.ndim > 1 else 1, -1)


def _describe(name: str, output: np.ndarray, top: int, labels: Sequence[str] | None) -> list[str]:
    lines, named = [f"{name} {output.shape} {output.dtype}"], []
    if labels is not None and _fits(output.shape, labels):
        named = _named(_rows(output), top, labels)
    if output.size <= _FEW:
        return [*lines, *(f"    {line}" for line in np.array2string(output, precision=6).splitlines()), *named]
    rows = _rows(output)
    lines.append(f"    least {rows.min():.6g}, mean {rows.mean():.6g}, greatest {rows.max():.6g}")
    best = _best(rows[0], top)
    where = " of the first row" if len(rows) > 1 else ""
    if len(best) and not named:
        lines.append(f"    greatest{where}: " + ", ".join(f"[{each}] {rows[0][each]:.6g}" for each in best))
    return [*lines, *named]


def _fits(shape: tuple[int, ...], labels: Sequence[str]) -> bool:
    """Whether an output has a number for each label."""
    return prod(shape[1:] if len(shape) > 1 else shape) == len(labels)


def _check(given: argparse.Namespace) -> None:
    """Raises: WrongError: an option's value means nothing."""
    for option, value, least, most in (
        ("--repeat", given.repeat, 0, None),
        ("--top", given.top, 0, None),
        ("--batch", given.batch, 1, None),
        ("--threads", given.threads, 1, _MOST_THREADS),
    ):
        if value is not None and (value < least or value > (most or value)):
            raise WrongError(f"{option} {value}: expected {least} " + (f"to {most}" if most else "or more"))
    _numbers(given.mean, "--mean")
    _numbers(given.std, "--std")
    if given.profile and not given.profile.lower().endswith(".svg"):
        raise WrongError(f"--profile {given.profile}: the picture's file is to end in .svg (put --profile at the end)")


def _predict(
    executor: mx.executor.Executor, symbol: Symbol, labels: Sequence[str] | None, given: argparse.Namespace
) -> None:
    """Runs a bound model, prints its outputs and times, and writes the outputs."""
    names = symbol.list_outputs()
    outputs, seconds = _run(executor, given.repeat)
    if labels is not None and not any(_fits(each.shape, labels) for each in outputs):
        shapes = ", ".join(f"{name} {each.shape}" for name, each in zip(names, outputs))
        raise WrongError(f"--labels {given.labels}: {len(labels)} names fit no output: {shapes}")
    for name, output in zip(names, outputs):
        print("\n".join(_describe(name, output, given.top, labels)))
    line = f"first run {duration(seconds[0])}"
    if given.repeat:
        median, fastest = duration(statistics.median(seconds[1:])), duration(min(seconds[1:]))
        line += f"; {given.repeat} more: median {median}, fastest {fastest}"
    print(line)
    if given.out:
        path = Path(given.out)
        named: dict[str, Any] = dict(zip(names, outputs))
        try:
            with _replace.replacing(path if path.suffix == ".npz" else f"{path}.npz") as file:
                np.savez(file, **named)
        except OSError as error:
            raise WrongError(f"--out: {error}") from None


def _show_profile(executor: mx.executor.Executor, given: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Measures the nodes, prints them, and draws them where a file is given."""
    nodes = _profile.measure(executor, max(1, given.repeat))
    print(f"\n{_profile.tables(nodes)}")
    if given.profile:
        try:
            _profile.draw(nodes, f"{given.symbol}: {', '.join(inputs)}", given.profile)
        except OSError as error:
            raise WrongError(f"--profile {given.profile}: {error.strerror}") from None


def _report(given: argparse.Namespace) -> None:
    _check(given)
    labels = _labels(given.labels) if given.labels is not None else None
    symbol, held, shapes = _model(given)
    inputs = _inputs(symbol, held, shapes, given)
    shown = [f"{name} {values.shape}" for name, (values, _) in inputs.items()]
    for text, (_, origin) in zip(shown, inputs.values()):
        print(f"{text} {origin}")
    try:
        with mx.np_shape(is_onnx(given.symbol)):  # a constant of ONNX may have no axes
            executor = _bind(symbol, held, {name: values for name, (values, _) in inputs.items()})
            _predict(executor, symbol, labels, given)
            if given.profile is not None:
                _show_profile(executor, given, shown)
    except MXNetError as error:
        raise WrongError(str(error)) from None


def main(arguments: list[str] | None = None) -> int:
    """Prints outputs and times; returns 0, or 1 after a line about a file or an option that is wrong."""
    given = _parser().parse_args(arguments)
    try:
        if given.threads is not None and 1 <= given.threads <= _MOST_THREADS:
            check_call(LIB.MXSetNumOMPThreads(given.threads))
        _report(given)
    except WrongError as error:
        print(f"mxlite predict: {error}", file=sys.stderr)
        return 1
    finally:
        check_call(LIB.MXSetNumOMPThreads(0))
    return 0
