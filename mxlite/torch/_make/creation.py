"""Tensors from nothing: zeros, full, arange, linspace, eye, ..., as functions, `..._like` and `new_...`."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite._public.keywords import unexpected
from mxlite.autograd._transforms.levels import highest
from mxlite.torch._basic import (
    empty_of,
    filled,
    from_values,
    full_calls,
    full_of,
    has_values,
    laid_as,
    meta_of,
    placed,
    require_fits,
    wrapped,
    zeros_of,
)
from mxlite.torch._calls import function, method, positive, prepare, real, run, sizes, values, whole
from mxlite.torch._dtypes import (
    BOOL,
    HOME,
    as_dtype,
    bool_,
    dtype,
    float32,
    float64,
    from_kind,
    get_default_dtype,
    int32,
    int64,
    scalar_dtype,
)
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import contiguous_format, extents_of, on_meta, preserve_format, require_strided
from mxlite.torch._tensor import Tensor


def finish(tensor: Tensor, wish: int) -> Tensor:
    """A new tensor as the caller of a creating function gets it; `wish`: 1: it requires a gradient, 2: it is meta."""
    if wish >= 2:
        tensor = meta_of(tensor.shape, tensor._dtype)
    if wish & 1:
        if not tensor._dtype.is_floating_point:
            raise RuntimeError("requires_grad: a gradient needs a floating dtype")
        tensor.requires_grad_()
    return tensor


def options(name: str, given: dict[str, Any], default: dtype | None = None) -> tuple[dtype, int]:
    """The dtype, and what `finish` is told, of the keyword arguments that all creating functions have.

    Raises: TypeError: an unknown one.
    """
    meta = on_meta(given.pop("device", None))
    require_strided(given.pop("layout", None))
    if given.pop("memory_format", None) not in (None, contiguous_format, preserve_format):
        raise NotImplementedError(f"mxlite.torch: {name} has no other memory_format than the contiguous one")
    for each in ("pin_memory", "generator", "names"):
        if given.pop(each, None):
            raise NotImplementedError(f"mxlite.torch: {name} has no {each}")
    kind = given.pop("dtype", None)
    requires_grad = bool(given.pop("requires_grad", False))
    if given:
        raise unexpected(name, next(iter(given)), ("dtype", "device", "layout", "requires_grad"))
    if kind is None:
        kind = get_default_dtype() if default is None else default
    return as_dtype(kind), requires_grad + 2 * meta


def shape_of(name: str, size: tuple, given: dict[str, Any]) -> tuple[int, ...]:
    """The shape that is given as f(2, 3), f((2, 3)) or f(size=(2, 3)).

    Raises: TypeError: none; RuntimeError: an extent below 0.
    """
    if "size" in given:
        size = (given.pop("size"),)
    elif not size:
        raise TypeError(f"{name}: there is no size")
    shape = extents_of(name, size)
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"{name}: a size is 0 or more, got {list(shape)}")
    return shape


# ---- of a shape ----

#: The dtypes that operators make, the default first.
_MADE = dict.fromkeys(("_zeros", "_full"), (float32, float64, int32, int64, bool_))
_MADE |= dict.fromkeys(("_random_uniform", "_random_normal"), (float32, float64))


#: What makes the same of a tensor.
_LIKE = {"_zeros": "zeros_like", "_full": "ones_like"}


def of_shape(name: str, make: Callable, document: str, operator: str, **constants: Any) -> dict[str, Any]:
    """Registers a function of a shape, and `..._like`; `make`: of shape and dtype, by an operator in usual calls.

    Returns: What `hot.direct` is told of these.
    """
    usual = {kind: prepare(None, operator, "shape", dtype=kind.name, **constants) for kind in _MADE[operator]}
    calls = {"home": HOME, "dtypes": tuple(usual), "makes": {**usual, None: usual[float32]}}

    @function(name, document=f"{document}: {name}(2, 3), {name}((2, 3)).", calls=calls)
    def made(*size: Any, **given: Any) -> Tensor:
        shape, laid, make_it = shape_of(name, size, given), given.pop("memory_format", None), _make_for(make, given)
        kind, requires_grad = options(name, given)
        return finish(_in_format(make_it(shape, kind), laid), requires_grad & 1)

    like(name, make, _LIKE.get(operator))
    return calls


def like(name: str, make: Callable, usual: str | None = None) -> None:
    """Registers `name`_like; `make`: of shape, further arguments and dtype; `usual`: an operator of usual calls."""

    calls = {"one": prepare(None, usual), "constant": True, "contiguous": True, **from_kind(BOOL)} if usual else None

    @function(
        f"{name}_like",
        document=f"As {name}, with the shape and, unless `dtype` says otherwise, the dtype of `input`.",
        calls=calls,
    )
    def made(input: Tensor, *values: Any, **given: Any) -> Tensor:
        if "fill_value" in given and not values:
            values = (given.pop("fill_value"),)
        laid, make_it = given.pop("memory_format", None), _make_for(make, given, input)
        kind, requires_grad = options(f"{name}_like", given, input._dtype)
        return finish(_in_format(_beside(laid_as(make_it, input, *values, kind), input), laid), requires_grad & 1)


def _make_for(make: Callable, given: dict[str, Any], like: Tensor | None = None) -> Callable:
    """`make` for the device that is given, or that of a tensor."""
    if like is not None and given.get("device") is None:
        given["device"] = like.device
    return placed(make, given.get("device"))


def _in_format(made: Tensor, laid: Any) -> Tensor:
    """A new tensor that lies in memory as a format says."""
    return made if laid is None or laid is preserve_format else made.contiguous(memory_format=laid).detach()


def _beside(made: Tensor, like: Tensor) -> Tensor:
    """A new tensor; beside one in vmap it is one of its own for each example."""
    return made if has_values(like) else highest([like]).copies(made)


def _new(name: str, make: Callable, count: int = 0, calls: dict[str, Any] | None = None) -> None:
    """Registers the method new_`name`; `make`: of shape, `count` further arguments and dtype; `calls`: as of `both`."""

    @method(
        f"new_{name}",
        document=f"As torch.{name}, with the dtype of this tensor unless `dtype` says otherwise.",
        calls=calls,
    )
    def made(self: Tensor, *size: Any, **given: Any) -> Tensor:
        if count and "fill_value" in given:
            values = (given.pop("fill_value"),)
        else:
            size, values = size[: len(size) - count], size[len(size) - count :]
        shape = shape_of(f"{name}_like", size, given)
        make_it = _make_for(make, given, self)
        kind, requires_grad = options(f"{name}_like", given, self._dtype)
        return finish(_beside(make_it(shape, *values, kind), self), requires_grad & 1)


def _ones_of(shape: tuple[int, ...], kind: dtype) -> Tensor:
    return full_of(shape, 1, kind)


for _name, _make, _document, _operator, _constants in (
    ("zeros", zeros_of, "Zeros", "_zeros", {}),
    ("ones", _ones_of, "Ones", "_full", {"value": 1}),
    ("empty", empty_of, "Any values", "_zeros", {}),
):
    _calls = of_shape(_name, _make, _document, _operator, **_constants)
    _new(_name, _make, 0, {**_calls, "like": True})
like("full", filled)
_new("full", filled, 1)


def of_none(call: int, kind: dtype, **given: Any) -> dict[str, Any]:
    """What `hot.direct` is told of a function of no tensor: the call, the dtype that it gives, and its arguments."""
    return {"many": call, "num_inputs": 0, "values": values(**given), "home": HOME, "dtypes": (kind,), "result": kind,
            "again": True}  # fmt: skip


@function(calls=of_none(full_calls[float32], float32, size=sizes, fill_value=real))
def full(size: Any, fill_value: Any, **given: Any) -> Tensor:
    """One number; its dtype is that of the number unless `dtype` says otherwise."""
    make = _make_for(filled, given)
    kind, requires_grad = options("full", given, scalar_dtype(fill_value))
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return finish(make(shape_of("full", (size,), {}), value, kind), requires_grad & 1)


@function()
def scalar_tensor(s: Any, **given: Any) -> Tensor:
    """A tensor without dimensions, of the default dtype."""
    kind, requires_grad = options("scalar_tensor", given)
    return finish(filled((), s, kind), requires_grad)


# ---- ranges ----


#: dtype -> the call of a range that has elements and bounds that a double holds exactly.
_ranges = {
    kind: prepare(None, "_arange", "start", "stop", "step", dtype=kind.np.name) for kind in (float32, float64, int64)
}
_EXACT = 1 << 53


#: Integers from 0 on, below a float.
whole_range = prepare(None, "_arange", "stop", start=0, dtype="int64")


@function(calls=of_none(whole_range, int64, end=whole))
def arange(*bounds: Any, **given: Any) -> Tensor:
    """From a start (0) to before an end, by steps (1): arange(5), arange(1, 5), arange(0, 1, 0.25)."""
    start, end, step = (each.item() if isinstance(each, Tensor) else each for each in _bounds(bounds, given))
    whole = all(isinstance(number, (int, np.integer)) for number in (start, end, step))
    kind, requires_grad = options("arange", given, int64 if whole else None)
    if step == 0:
        raise RuntimeError("arange: step is 0")
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"arange: start and end are finite, got {start} and {end}")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: steps of {step} do not lead from {start} to {end}")
    if kind in _ranges and (whole or kind.is_floating_point) and start != end and max(abs(start), abs(end)) < _EXACT:
        return finish(run(_ranges[kind], [], float(start), float(end), float(step), kind=kind), requires_grad)
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    places = np.arange(count, dtype=np.float64 if kind.is_floating_point else None)
    return finish(from_values(start + places * step, kind), requires_grad)


def _bounds(bounds: tuple, given: dict[str, Any]) -> tuple:
    start, step = given.pop("start", 0), given.pop("step", 1)
    if "end" in given:
        bounds = (*bounds, given.pop("end")) if not bounds else (bounds[0], given.pop("end"), *bounds[1:])
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"arange: takes 1 to 3 numbers, got {len(bounds)}")
    if len(bounds) == 1:
        return start, bounds[0], step
    return bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else step


def _spaced(name: str, start: Any, end: Any, steps: int, given: dict[str, Any]) -> tuple[np.ndarray, dtype, bool]:
    """`steps` numbers from `start` to `end`, as doubles; dtype and `requires_grad` of the result."""
    kind, requires_grad = options(name, given)
    if kind.kind == BOOL:
        raise none_of(name, kind)
    if steps < 0:
        raise RuntimeError(f"{name}: steps is 0 or more, got {steps}")
    if not kind.is_floating_point:  # the second one counts where there are several steps
        start = _integer_of(start, kind)
        end = _integer_of(end, kind) if steps > 1 else start
    # Counted from the nearer end, so that both ends are exact.
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    place = np.arange(steps, dtype=np.float64)
    values = np.where(place < steps // 2, start + step * place, end - step * (steps - 1 - place))
    return values if steps != 1 else np.array([start], np.float64), kind, requires_grad


def _integer_of(value: Any, kind: dtype) -> int:
    """The number as an integer of the dtype. Raises: RuntimeError: the dtype cannot hold it."""
    return wrapped(int(require_fits(value, kind)), kind)


_linspace = prepare(None, "_mxl_linspace", "start", "stop", "num")


@function(calls=of_none(_linspace, float32, start=float, end=float, steps=positive))
def linspace(start: Any, end: Any, steps: int, **given: Any) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, equally far apart."""
    spaced, kind, requires_grad = _spaced("linspace", start, end, steps, given)
    return finish(from_values(spaced, kind), requires_grad)


@function()
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **given: Any) -> Tensor:
    """`steps` powers of `base`, with exponents from `start` to `end`."""
    exponents, kind, requires_grad = _spaced("logspace", start, end, steps, given)
    return finish(from_values(base**exponents, kind), requires_grad)


# ---- matrices ----


@function(calls=of_none(prepare(None, "_npi_eye", "N", dtype="float32"), float32, n=positive))
def eye(n: int, m: int | None = None, **given: Any) -> Tensor:
    """Ones on the diagonal of an n x m (m: n) matrix of zeros."""
    kind, requires_grad = options("eye", given)
    if n < 0 or (m or 0) < 0:
        raise RuntimeError(f"eye: n and m are 0 or more, got {n} and {m}")
    return finish(from_values(np.eye(n, m, dtype=kind.np), kind), requires_grad)


def _triangle_indices(name: str, find: Any) -> None:
    @function(name, document="The rows and columns of the places of a triangle of a row x col matrix.")
    def indices(row: int, col: int, offset: int = 0, **given: Any) -> Tensor:
        kind, requires_grad = options(name, given, int64)
        return finish(from_values(np.stack(find(row, offset, col)), kind), requires_grad)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)
