"""``mxlite convert``: a model of ONNX as a saved symbol with its parameters, or a saved symbol as a model of ONNX."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import mxlite as mx
from mxlite._cli._models import WrongError, is_onnx, read_model, read_symbol, shapes_of
from mxlite.base import DTYPE_OF_FLAG
from mxlite.error import MXNetError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mxlite convert",
        description="Writes MODEL.onnx as NAME-symbol.json and NAME-0000.params, or these as MODEL.onnx.",
    )
    parser.add_argument("source", help="model.onnx, or the NAME of NAME-symbol.json and NAME-0000.params")
    parser.add_argument("target", help="the NAME of the files that are written, or model.onnx")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,3,224,224",
        help="an input's shape: all of them to ONNX, from ONNX where the file leaves sizes open",
    )
    parser.add_argument("--dynamic", action="store_true", help="to ONNX: sizes of the inputs stay open")
    parser.add_argument("--epoch", type=int, default=0, metavar="N", help="the number in NAME-0000.params (0)")
    return parser


def _from_onnx(given: Any) -> list[Path]:
    symbol, held, states, _ = read_model(given.source, shapes_of(given.shape))
    names = [Path(f"{given.target}-symbol.json"), Path(f"{given.target}-{given.epoch:04d}.params")]
    symbol.save(str(names[0]))
    with mx.np_shape(any(0 in each.shape for each in held.values())):  # a constant without elements
        arrays = {
            **{f"arg:{name}": each for name, each in held.items()},
            **{f"aux:{n}": each for n, each in states.items()},
        }
        mx.nd.save(str(names[1]), arrays)
    return names


def _to_onnx(given: Any) -> list[Path]:
    name = given.source.removesuffix("-symbol.json") if hasattr(str, "removesuffix") else given.source
    symbol_file, params_file = f"{name}-symbol.json", f"{name}-{given.epoch:04d}.params"
    symbol, shapes = read_symbol(symbol_file), shapes_of(given.shape)
    try:
        held = mx.nd.load(params_file) if Path(params_file).exists() else {}
    except (MXNetError, OSError, ValueError) as error:
        raise WrongError(f"{params_file}: {error}") from None
    known = {each.split(":", 1)[-1] for each in held}
    free = [each for each in symbol.list_inputs() if each not in known]
    missing = [each for each in free if each not in shapes and not each.endswith("label")]
    if missing:
        raise WrongError(f"the shapes of these inputs are missing: {', '.join(missing)}: --shape {missing[0]}=...")
    names = [each for each in free if each in shapes]
    said = symbol.attr_dict()
    types = [DTYPE_OF_FLAG[int(said.get(each, {}).get("__dtype__", 0))] for each in names]
    inputs = [shapes[each] for each in names]
    mx.onnx.export_model(symbol, held, inputs, types, given.target, dynamic=given.dynamic)
    return [Path(given.target)]


def _convert(given: Any) -> None:
    if is_onnx(given.source) == is_onnx(given.target):
        raise WrongError("one of source and target ends with .onnx, the other one is the name of a saved symbol")
    try:
        written = _from_onnx(given) if is_onnx(given.source) else _to_onnx(given)
    except (MXNetError, ImportError, OSError) as error:
        raise WrongError(str(error)) from None
    for each in written:
        print(f"{each} {each.stat().st_size} bytes")


def main(arguments: list[str] | None = None) -> int:
    """Converts; returns 0, or 1 after a line about a file or an option that is wrong."""
    given = _parser().parse_args(arguments)
    try:
        _convert(given)
    except WrongError as error:
        print(f"mxlite convert: {error}", file=sys.stderr)
        return 1
    return 0
