"""Conversions between dtypes and copies: `to`, `float`, `clone`, `contiguous`; how operands get one dtype."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite.torch._basic import cast, full_of, meta_of, wrapped
from mxlite.torch._calls import adopt, both, method, prepare, run
from mxlite.torch._calls import functions as _functions
from mxlite.torch._dtypes import (
    BOOL,
    DTYPES,
    as_dtype,
    can_cast,
    dtype,
    from_kind,
    get_default_dtype,
    promote_types,
    result_dtype,
    scalar_dtype,
)
from mxlite.torch._errors import wrong_argument
from mxlite.torch._kinds import on_meta, order_of, preserve_format
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import FACTS, Tensor

_clone = prepare("CloneBackward0", "_copy")
_straight = prepare("CloneBackward0", "cast_storage", stype="default")  # in C order


def as_float(tensor: Tensor) -> Tensor:
    """The tensor, or for integers and bool what they are in the default dtype."""
    return tensor if tensor._dtype.is_floating_point else cast(tensor, get_default_dtype())


def common_dtype(*operands: Any) -> dtype:
    """The dtype that an operation of tensors and Python numbers has."""
    found = []
    for operand in operands:
        if isinstance(operand, Tensor):
            found.append((operand._dtype, len(operand.shape)))
        else:
            found.append(scalar_dtype(operand))
    return result_dtype(found)


def as_tensor_of(value: Any, kind: dtype) -> Tensor:
    """A tensor of that dtype from a tensor or a Python number."""
    return cast(value, kind) if isinstance(value, Tensor) else full_of((), wrapped(value, kind), kind)


def require_same_dtype(name: str, first: Tensor, *others: Any) -> None:
    """Raises: RuntimeError: the dtype of a tensor among `others` is not the first one's."""
    for other in others:
        if isinstance(other, Tensor) and other._dtype is not first._dtype:
            raise RuntimeError(
                f"{name}: both tensors are of one dtype, got {first._dtype.word} and {other._dtype.word}"
            )


def require_cast(kind: dtype, wanted: dtype) -> None:
    """Raises: RuntimeError: a result of one dtype may not be written into a tensor of the other."""
    if not can_cast(kind, wanted):
        raise RuntimeError(f"a result of dtype {kind.word} does not fit in a tensor of dtype {wanted.word}")


@both(calls={"one": _clone, **from_kind(BOOL)})
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, whose gradient flows to `input`. It lies in memory as `input`, or in C order (contiguous_format)."""
    if memory_format is not None and memory_format is not preserve_format:
        return _laid(input, memory_format)
    return adopt(hot.call1(_clone, input._h), input._dtype)


@method(calls={"fact": FACTS["contiguous"]})
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Itself where its elements follow each other in memory, else a copy where they do."""
    if memory_format is None:
        return self if self.is_contiguous() else run(_straight, [self], kind=self._dtype)
    return self if self.is_contiguous(memory_format) else _laid(self, memory_format)


def _laid(input: Tensor, memory_format: Any) -> Tensor:
    """A copy that lies in memory as a format says."""
    order = order_of(memory_format, input.ndim)
    if order is None:
        return run(_straight, [input], kind=input._dtype)
    laid = run(_straight, [input.permute(order)], kind=input._dtype)
    return laid.permute(tuple(order.index(dim) for dim in range(input.ndim)))


@method(quick=True)
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor as another dtype: to(torch.float64), to("cpu"), to("cpu", torch.float64), to(other).

    Returns itself where nothing changes and `copy` is not set.
    """
    if len(args) == 1 and not kwargs and args[0].__class__ is dtype:
        return cast(self, args[0])
    kind, copies, where = target_of(args, kwargs)
    kind = self._dtype if kind is None else kind
    if where is not None and on_meta(where) is not self.is_meta:
        return moved(cast(self, kind), where)
    laid = kwargs.get("memory_format")
    if laid is not None and laid is not preserve_format and (copies or not self.is_contiguous(laid)):
        return _laid(cast(self, kind), laid)
    if copies and kind is self._dtype:
        return run(prepare("ToCopyBackward0", "_copy"), [self], kind=kind)
    return cast(self, kind)


def moved(tensor: Tensor, where: Any) -> Tensor:
    """A tensor on a device, None for its own: itself where it is there. Raises: NotImplementedError: from meta."""
    if where is None or on_meta(where) is tensor.is_meta:
        return tensor
    if tensor.is_meta:
        raise NotImplementedError("to: a tensor on the meta device has no values; empty_like(x, device='cpu') has some")
    return formula("ToCopyBackward0", [tensor], lambda x: meta_of(x.shape, x._dtype), lambda grad: [grad.cpu()])


def target_of(args: tuple, kwargs: dict[str, Any]) -> tuple[dtype | None, bool, Any]:
    """The dtype and device that the arguments of `to` ask for, None for that which there is; whether for a copy.

    Returns: The dtype, the flag, the device.
    Raises: TypeError: other arguments; AssertionError, NotImplementedError: a device that there is not.
    """
    order = ["dtype", "non_blocking", "copy"]
    if args and isinstance(args[0], Tensor):
        kwargs = {"device": args[0].device, **kwargs}
        args = (args[0]._dtype, *args[1:])
    elif args and not (isinstance(args[0], dtype) or args[0] in (float, int, bool)):
        order.insert(0, "device")
    given = dict(zip(order, args))
    twice, others = given.keys() & kwargs.keys(), kwargs.keys() - {"device", *order, "memory_format"}
    if len(args) > len(order) or twice or others:
        what = f"{len(args)} arguments" if len(args) > len(order) else repr(min(twice or others))
        raise TypeError(f"to: takes a dtype, a device, a device and a dtype, or a tensor, not {what}")
    given.update(kwargs)
    for name in ("non_blocking", "copy"):
        if not isinstance(given.get(name, False), bool):
            raise wrong_argument("to", name, 0, "bool", given[name])
    where, kind = given.get("device"), given.get("dtype")
    if where is not None:
        on_meta(where)
    return None if kind is None else as_dtype(kind), given.get("copy", False), where


def _caster(name: str, kind: dtype) -> None:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return cast(self, kind)

    convert.__name__ = name
    convert.__doc__ = f"The tensor as {kind}: itself where it is that."
    method(name, quick=True)(convert)


for _kind in DTYPES:
    _caster({"Float": "float", "Byte": "byte", "Char": "char"}.get(_kind.word, _kind.word.lower()), _kind)


@method(quick=True)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor as the dtype of another."""
    return cast(self, other._dtype)


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype that an operation of two tensors or numbers would have."""
    return common_dtype(tensor, other)


_functions.update(result_type=result_type, promote_types=promote_types, can_cast=can_cast)
