"""Checks of symbols: their results and gradients against those expected, and against their own in other dtypes."""

from __future__ import annotations

import functools
import json
import time
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxlite import ndarray
from mxlite._public import offer as _offer
from mxlite.context import Context, current_context
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.executor import Executor
from mxlite.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.test_utils._comparison import _numpy, assert_almost_equal


def _arrays(names: Sequence[str], given: Any, what: str, ctx: Context, dtype: Any) -> dict[str, NDArray]:
    """Arrays by name, of a dict that has all names or a sequence in their order. NDArrays stay what they are.

    Raises: ValueError: other names; TypeError: neither a dict nor a list or a tuple.
    """
    if isinstance(given, dict):
        if set(given) != set(names):
            raise ValueError(f"the symbol's {what} are {sorted(names)}, arrays are given for {sorted(given)}")
    elif isinstance(given, (list, tuple)):
        given = dict(zip(names, given))
    else:
        raise WrongTypeError(f"arrays of {what} are a dict or a list, got {type(given).__name__}")
    made = {}
    for name, values in given.items():
        if isinstance(values, NDArray):
            made[name] = values.as_in_context(ctx)
        else:
            own = np.asarray(values)
            made[name] = ndarray.array(own, ctx, own.dtype if dtype == "asnumpy" else dtype)
    return made


class _Place:
    """A symbol's arrays where it is looked at: its arguments and its auxiliary states, by name."""

    def __init__(self, sym: Symbol, location: Any, aux_states: Any, ctx: Context | None, dtype: Any) -> None:
        self.sym, self.ctx = sym, ctx or current_context()
        self.location = _arrays(sym.list_arguments(), location, "arguments", self.ctx, dtype)
        self.aux = None
        if aux_states is not None:
            self.aux = _arrays(sym.list_auxiliary_states(), aux_states, "auxiliary states", self.ctx, dtype)

    def bind(self, grads: dict[str, NDArray] | None = None, requests: Any = "write") -> Executor:
        return self.sym.bind(self.ctx, self.location, grads, requests, self.aux)


def _in_order(given: Any, names: Sequence[str]) -> list:
    return [given[name] for name in names] if isinstance(given, dict) else list(given)


def check_symbolic_forward(
    sym: Symbol,
    location: Any,
    expected: Any,
    rtol: Any = None,
    atol: Any = None,
    aux_states: Any = None,
    ctx: Context | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> list[NDArray]:
    """Compares the results of a symbol, outside of training, with those expected.

    Args:
        location: the arguments, in order or by name; NumPy arrays are converted to `dtype` ("asnumpy": not).
        expected: the results, in order or by name.
        aux_states: the auxiliary states, in order or by name.
        rtol, atol, equal_nan: as in assert_almost_equal.
    Returns: the results.
    Raises: AssertionError: they differ; ValueError: names that are not those of the symbol.
    """
    executor = _Place(sym, location, aux_states, ctx, dtype).bind()
    names = sym.list_outputs()
    wanted = _in_order(expected, names)
    outputs = executor.forward(is_train=False)
    for name, want, got in zip(names, wanted, outputs):
        assert_almost_equal(want, got, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"), equal_nan)
    return outputs


def _requests(names: Sequence[str], grad_req: Any) -> dict[str, str]:
    """The request of each argument: one for all, or in the order of the arguments, or by name (null for the rest)."""
    if isinstance(grad_req, str):
        return dict.fromkeys(names, grad_req)
    given = grad_req if isinstance(grad_req, dict) else dict(zip(names, grad_req))
    return {name: given.get(name, "null") for name in names}


def check_symbolic_backward(
    sym: Symbol,
    location: Any,
    out_grads: Any,
    expected: Any,
    rtol: Any = None,
    atol: Any = None,
    aux_states: Any = None,
    grad_req: Any = "write",
    ctx: Context | None = None,
    grad_stypes: dict[str, str] | Sequence[str] | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> dict[str, NDArray]:
    """Compares gradients of a symbol with those expected.

    Args:
        out_grads: the gradients of the results, in order or by name; None: of a symbol whose results are losses.
        expected: the gradients, by the arguments' names or in their order.
        grad_req: "write", "add" (the expected ones are added to numbers that are there), "null" (nothing is written),
            or a list or dict of these.
        grad_stypes: how gradients are stored, by the arguments' names or in their order; sparse ones are 0 at first.
        The rest: as in check_symbolic_forward.
    Returns: the gradients that were looked at, by name.
    Raises: TypeError: they differ; ValueError, KeyError: names that are not those of the symbol.
    """
    place = _Place(sym, location, aux_states, ctx, dtype)
    names = sym.list_arguments()
    wanted = expected if isinstance(expected, dict) else dict(zip(names, expected))
    wanted = {name: wanted[name] for name in sorted(wanted, key=[*names, *wanted].index)}
    stypes = grad_stypes if isinstance(grad_stypes, dict) else dict(zip(names, grad_stypes or ()))
    before, grads = {}, {}
    for name, values in wanted.items():
        stype, dtype, shape = stypes.get(name) or "default", place.location[name].dtype, np.shape(_numpy(values))
        before[name] = np.random.normal(size=shape) if stype == "default" else np.zeros(shape)
        made = ndarray.array(before[name], place.ctx, dtype)
        grads[name] = made if stype == "default" else made.tostype(stype)
    requests = _requests(names, grad_req)
    executor = place.bind(grads, {name: requests[name] if name in wanted else "null" for name in names})
    executor.forward(is_train=True)
    if out_grads is None:
        executor.backward()
    else:
        if not isinstance(out_grads, (dict, list, tuple)):
            raise WrongTypeError(f"out_grads are a dict or a list, got {type(out_grads).__name__}")
        heads = zip(_in_order(out_grads, sym.list_outputs()), executor.outputs)
        executor.backward([ndarray.array(_numpy(head), place.ctx, output.dtype) for head, output in heads])
    for name, want in wanted.items():
        got, start = grads[name].asnumpy(), before[name].astype(grads[name].dtype)
        want = start if requests[name] == "null" else _numpy(want)
        got = got - start if requests[name] == "add" else got
        assert_almost_equal(want, got, rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"), equal_nan)
    return grads


def simple_forward(sym: Symbol, ctx: Context | None = None, is_train: bool = False, **inputs: Any) -> Any:
    """The results of a symbol for these arguments: a NumPy array, or a list where there are several."""
    ctx = ctx or current_context()
    arrays = {name: ndarray.array(values, ctx) for name, values in inputs.items()}
    outputs = [each.asnumpy() for each in sym.bind(ctx, arrays).forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def check_speed(
    sym: Symbol,
    location: dict[str, Any] | None = None,
    ctx: Context | None = None,
    N: int = 20,  # noqa: N803 - 1.9.1's name
    grad_req: Any = None,
    typ: str = "whole",
    **kwargs: tuple[int, ...],
) -> float:
    """The seconds that a run of a symbol takes, of `N`.

    Args:
        location: arguments by name; None: random ones of the shapes in `kwargs`.
        typ: "whole": forward and backward in training, "forward": results alone, outside of training.
    Raises: TypeError: `location` is no dict; ValueError: another `typ`.
    """
    if typ not in ("whole", "forward"):
        raise ValueError(f'typ is "whole" or "forward", got {typ!r}')
    if not isinstance(location, (dict, type(None))):
        raise WrongTypeError(f"location is a dict, got {type(location).__name__}")
    shapes = kwargs if location is None else {name: np.shape(_numpy(values)) for name, values in location.items()}
    executor = sym.simple_bind(ctx or current_context(), grad_req="write" if grad_req is None else grad_req, **shapes)
    for name, array in executor.arg_dict.items():
        array[:] = np.random.normal(size=array.shape) if location is None else _numpy(location[name])

    def run() -> None:
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(executor.outputs)
        ndarray.waitall()

    run()
    begin = time.perf_counter()
    for _ in range(N):
        run()
    return (time.perf_counter() - begin) / N


def check_consistency(
    sym: Symbol | Sequence[Symbol],
    ctx_list: Sequence[dict[str, Any]],
    scale: float = 1.0,
    grad_req: Any = "write",
    arg_params: dict[str, Any] | None = None,
    aux_params: dict[str, Any] | None = None,
    rtol: Any = None,
    atol: Any = None,
    raise_on_err: bool = True,
    ground_truth: dict[str, Any] | None = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> dict[str, NDArray]:
    """Compares results and gradients of a symbol, or of one for each place, that is bound in several ways.

    The results outside of training are compared first, then those in training, whose gradients are their own.

    Args:
        ctx_list: keywords of `simple_bind` for each: `ctx`, shapes, `type_dict`.
        scale, use_uniform, rand_type: how arguments are drawn that `arg_params` does not have.
        aux_params: auxiliary states, zeros if not given.
        rtol, atol, equal_nan: as in assert_almost_equal.
        raise_on_err: False: differences are printed.
        ground_truth: what to compare with; None: the one with the widest dtype.
    Returns: what they were compared with, by name.
    Raises: AssertionError: they differ; fewer than two; symbols with other names.
    """
    executors = _alike(sym, ctx_list, grad_req)
    values = dict(arg_params or {})
    for name, array in sorted(executors[0].arg_dict.items()):
        if name not in values:
            draw = np.random.uniform(-0.92, 0.92, array.shape) if use_uniform else np.random.normal(size=array.shape)
            values[name] = (draw * scale).astype(rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = values[name]
        for name, array in executor.aux_dict.items():
            array[:] = 0 if aux_params is None or name not in aux_params else aux_params[name]
    compare = functools.partial(_compare_all, ground_truth, raise_on_err, rtol=rtol, atol=atol, equal_nan=equal_nan)
    for executor in executors:
        executor.forward(is_train=False)
    truth = compare("PREDICT", [executor.output_dict for executor in executors], executors)
    if grad_req == "null":
        return truth
    found = []
    for executor in executors:
        executor.forward(is_train=True)
        executor.backward(executor.outputs)
        grads = {name: array for name, array in executor.grad_dict.items() if array is not None}
        found.append({**executor.output_dict, **grads})
    return compare("TRAIN", found, executors)


def _alike(sym: Symbol | Sequence[Symbol], ctx_list: Sequence[dict[str, Any]], grad_req: Any) -> list[Executor]:
    """An executor for each context, of one symbol or of as many with the same names."""
    if len(ctx_list) < 2:
        raise WrongValueError("check_consistency compares two at least")
    symbols = [sym] * len(ctx_list) if isinstance(sym, Symbol) else list(sym)
    names = symbols[0].list_outputs(), symbols[0].list_arguments()
    if len(symbols) != len(ctx_list) or any((s.list_outputs(), s.list_arguments()) != names for s in symbols):
        raise WrongValueError("check_consistency takes one symbol for each context, all with the same names")
    return [each.simple_bind(grad_req=grad_req, **given) for each, given in zip(symbols, ctx_list)]


def _compare_all(
    ground_truth: dict[str, Any] | None,
    raise_on_err: bool,
    what: str,
    found: list[dict[str, NDArray]],
    executors: list[Executor],
    **tolerances: Any,
) -> dict[str, NDArray]:
    """Compares what each executor gave with the ground truth, or with that of the executor of the widest dtype."""
    widest = max(range(len(found)), key=lambda i: np.dtype(executors[i].outputs[0].dtype).itemsize)
    truth = found[widest] if ground_truth is None else ground_truth
    for i, each in enumerate(found):
        if ground_truth is None and i == widest:
            continue
        for name, got in each.items():
            try:
                assert_almost_equal(got, truth[name], names=(f"{what}_{i}_{name}", name), **tolerances)
            except AssertionError:
                if raise_on_err:
                    raise
                traceback.print_exc()
    return truth


def same_symbol_structure(sym1: Symbol, sym2: Symbol) -> bool:
    """Whether two symbols are the same graph of the same operators, whatever their names and parameters."""
    return _structure(sym1) == _structure(sym2)


def _structure(sym: Symbol) -> list:
    graph = json.loads(sym.tojson())
    nodes = [[node["op"], [source[0] for source in node["inputs"]]] for node in graph["nodes"]]
    return [nodes, [head[0] for head in graph["heads"]]]


_offer(globals())
