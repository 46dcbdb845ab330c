"""Casts that `amp.init` puts before the inputs of operators: in C for arrays, here for symbols."""

from __future__ import annotations

from typing import Any, Callable

from mxlite import ndarray
from mxlite._lib import LIB, c_texts, check_call
from mxlite.base import dtype_flag
from mxlite.contrib.amp._lists import Lists, published
from mxlite.symbol import _generate
from mxlite.symbol.symbol import Symbol


class _Casts:
    """What a symbol's new node gets in place of its inputs, by the name of its operator's function."""

    def __init__(self, target: str, lists: Lists) -> None:
        self._target = target
        self._ways = dict.fromkeys(lists.single, "float32")
        self._ways.update(dict.fromkeys(lists.low, target))
        self._ways.update(dict.fromkeys(lists.widest, "widest"))
        self._conditions = set(lists.conditions())
        self._kept = published("bfloat16", "BF16_USE_FP32_PARAMS")

    def _way(self, operator: str, texts: dict[str, str]) -> str | None:
        for key, value in texts.items():
            if (operator, key, value) in self._conditions:
                return "float32"
        return self._ways.get(operator)

    def __call__(self, operator: str, texts: dict[str, str], made: Symbol) -> list[Symbol] | None:
        """The inputs of a node, with casts; None: it needs none."""
        way = self._way(operator, texts)
        children = made.get_children() if way is not None else None
        if children is None:
            return None
        inputs, states = list(children), set(made.list_auxiliary_states())
        if way == "widest":
            cast = _generate.node("amp_multicast", "amp_multicast", inputs, {"num_outputs": len(inputs)})
            return list(cast) if len(inputs) > 1 else [cast]
        kept = self._kept.get(operator, ()) if way == self._target else ()
        return [
            each
            if each.name in states or (number < len(kept) and kept[number])
            else _generate.node("amp_cast", "amp_cast", [each], {"dtype": way})
            for number, each in enumerate(inputs)
        ]


def begin(target: str, lists: Lists) -> None:
    """Casts from then on."""
    rows = lists.conditions()
    # In C an operator has one way: that of its own name counts more than that of its twin for sparse arrays.
    stay = {f"_sparse_{name}" for name in published(target, "BF16_FP32_FUNCS")}
    single = [name for name in lists.single if name not in stay]
    lists_of_names = lists.low, single, lists.widest, [row[0] for row in rows]
    counted = [part for names in lists_of_names for part in (len(names), c_texts(names))]
    values = c_texts(row[1] for row in rows), c_texts(row[2] for row in rows)
    check_call(LIB.MXLSetMixedPrecision(dtype_flag(target), *counted, *values))
    _generate.casts = _Casts(target, lists)


_originals: list[tuple[Any, str, Any]] = []


def scale_losses(scale: Callable[[], float]) -> None:
    """The gradients of losses that are operators of mx.nd are multiplied by the scale, as those of a scaled loss."""
    for name in published("bfloat16", "LOSS_OUTPUT_FUNCTIONS"):
        for module in (ndarray, ndarray.op):
            function = getattr(module, name, None)
            if function is not None:
                _originals.append((module, name, function))
                setattr(module, name, _scaled(function, scale))


def _scaled(function: Any, scale: Callable[[], float]) -> Any:
    def scaled(*args: Any, **kwargs: Any) -> Any:
        kwargs["grad_scale"] = float(kwargs.get("grad_scale", 1.0)) * scale()
        return function(*args, **kwargs)

    for key in ("__name__", "__qualname__", "__doc__", "__module__", "__signature__"):
        if hasattr(function, key):
            setattr(scaled, key, getattr(function, key))
    return scaled


def end() -> None:
    """Casts no more."""
    check_call(LIB.MXLSetMixedPrecision(-1, 0, None, 0, None, 0, None, 0, None, None, None))
    _generate.casts = None
    while _originals:
        setattr(*_originals.pop())
