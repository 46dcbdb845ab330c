"""The case table over arrays whose elements do not lie one behind the other: inputs, outputs, gradients.

What an operator answers depends on the elements alone: bit for bit as for arrays in order, errors too, and nothing but
its outputs is written to. No operator is left out, nor are arrays of no axes, or of no elements. Negative strides exist
below the API alone: test_ops_layouts.c.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable

import numpy as np
import pytest
from _layouts import LAYOUTS, REPEATING, Laid, same_elements, strided
from _table import BRIEF, dtypes_of, firsts, invoke_text, params_of, ranks_of, scope, to_nd
from cases import CASES, INTERNAL, Case, heads, of, operators

import mxlite as mx
from mxlite import autograd, torch
from mxlite.ndarray.ndarray import NDArray
from mxlite.torch._calls import adopt, prepare, run_many

pytestmark = pytest.mark.one_binding

OPERATORS = sorted(name for name in operators() if any(case.inputs for case in of(name)))
#: Of the rows of an operator that differ in parameters, ranks and dtypes one each, and one that fails.
FEW = firsts((case for case in CASES + INTERNAL if not case.error), params_of, ranks_of, dtypes_of)
FEW |= firsts((case for case in CASES + INTERNAL if case.error), lambda case: (case.op,))
SEED = 5
SHARED = "share memory"


def _outcome(function: Callable[..., list], *arguments) -> list | str:
    """dtype, shape and bytes of the arrays that a function returns, or the text of its error."""
    mx.random.seed(SEED)
    try:
        arrays = function(*arguments)
        mx.nd.waitall()  # an error that is reported late
    except (mx.MXNetError, RuntimeError, ValueError, TypeError, IndexError) as problem:
        return str(problem)
    values = [(x if isinstance(x, NDArray) else NDArray._adopt(same_elements(x))).asnumpy() for x in arrays]
    for value in values:
        if value.dtype.kind == "f":
            value[np.isnan(value)] = np.nan  # its sign is that of an operand, which one depends on the instruction
    return [(value.dtype.name, value.shape, value.tobytes()) for value in values]


def _layouts(number: int, count: int, rows: int) -> list:
    """The layouts of a row: others for the next one, and all of them for the rows together."""
    count = max(1, count // 3, -(-len(LAYOUTS) // rows)) if BRIEF else count
    return [list(LAYOUTS)[(number * count + k) % len(LAYOUTS)] for k in range(count)]


def of_share(name: str, share: str) -> list[Case]:
    """An operator's rows in FEW, or the others."""
    return [case for case in of(name) if (case.id in FEW) == (share == "few")]


def shares(names: Iterable[str]) -> pytest.MarkDecorator:
    """A test's operators, with each share of their rows that is not empty; the others than the few are whole."""
    marks = {"few": [], "others": [pytest.mark.whole]}
    return pytest.mark.parametrize(
        ("name", "share"),
        [
            pytest.param(name, share, id=f"{name}-{share}", marks=marks[share])
            for name in names
            for share in marks
            if of_share(name, share)
        ],
    )


def _failed(outcome: list | str) -> bool:
    return isinstance(outcome, str)


def _rows(name: str, share: str, count: int):
    """Rows of an operator with inputs, each in `count` layouts, in the row's shape mode."""
    cases = of_share(name, share)
    for number, case in enumerate(cases):
        with mx.np_shape(case.np_shape):
            for layout in _layouts(number, count, len(cases)) if case.inputs else ():
                yield case, layout, [Laid(array, layout) for array in case.arrays()]


def _unwritable(case, laid: list, train: bool) -> bool:
    """A backward updates one of these inputs, and so must fail; it does so where there are elements."""
    return train and all(one.array.size for one in laid) and any(laid[position].shared for position in case.updates)


def _arrays(laid: list) -> list:
    return [one.array for one in laid]


def _in_order(laid: list) -> list:
    return [to_nd(one.values) for one in laid]


def _forward(case, inputs: list, out: list | None = None) -> list:
    with scope(case):
        outputs = invoke_text(case.op, inputs, case.strings(), out)
    return [*outputs, *(inputs[position] for position in case.mutates)]


def _out_of(case) -> list | None:
    return None if case.out is None else [to_nd(np.zeros(shape, dtype)) for shape, dtype in case.out]


@shares(OPERATORS)
def test_inputs(name: str, share: str) -> None:
    updates = any(case.mutates for case in of(name))
    for case, layout, laid in _rows(name, share, len(LAYOUTS)):
        got = _outcome(_forward, case, _arrays(laid), _out_of(case))
        for position, one in enumerate(laid):
            updated = position in case.mutates and not _failed(got)
            one.check(one.array.asnumpy() if updated else None)
        wanted = _outcome(_forward, case, _in_order(laid), _out_of(case))
        changed = range(len(laid)) if case.error and updates else case.mutates
        if any(laid[position].shared for position in changed):
            assert _failed(got) and (case.error or SHARED in got), (case.id, layout)
        else:
            assert got == wanted, (case.id, layout)
        assert case.error or layout in REPEATING or not _failed(wanted), (case.id, layout, wanted)


@shares(sorted(operators()))
def test_outputs(name: str, share: str) -> None:
    cases = of_share(name, share)
    for number, case in enumerate(cases):
        with mx.np_shape(case.np_shape):
            arrays = case.arrays()
            wanted = _outcome(_forward, case, [to_nd(array) for array in arrays], _out_of(case))
            if _failed(wanted):
                continue
            new = wanted[: len(wanted) - len(case.mutates)]
            for layout in _layouts(number, 3, len(cases)):
                out = [Laid(np.zeros(shape, dtype), layout) for dtype, shape, _ in new]
                got = _outcome(_forward, case, [to_nd(array) for array in arrays], _arrays(out))
                if any(one.shared for one in out):
                    assert SHARED in got, (case.id, layout)
                    [one.check() for one in out]
                else:
                    assert got == wanted, (case.id, layout)
                    [one.check(one.array.asnumpy()) for one in out]


@shares(OPERATORS)
def test_outputs_over_inputs(name: str, share: str) -> None:
    """The array written to is an input, or shares elements with one at other positions."""
    for case in of_share(name, share):
        with mx.np_shape(case.np_shape):
            arrays = case.arrays()
            wanted = _outcome(_forward, case, [to_nd(array) for array in arrays])
            if _failed(wanted) or case.mutates or len(wanted) != 1:
                continue
            for position, array in enumerate(arrays):
                if (array.dtype.name, array.shape) != wanted[0][:2]:
                    continue
                for skips in ((0, 0), (0, 1), (1, 0)):
                    memory = to_nd(np.pad(array.ravel(), (skips[0], 1 - skips[0])))
                    order = tuple(stride // array.itemsize for stride in array.strides)
                    read, written = (strided(memory, array.shape, order, skip) for skip in skips)
                    inputs = [read if i == position else to_nd(other) for i, other in enumerate(arrays)]
                    assert _outcome(_forward, case, inputs, [written]) == wanted, (case.id, position, skips)


def _gradients(case, inputs: list, buffers: list, layout: str | None) -> list:
    """First gradients, in these buffers; the head gradients lie in the layout."""
    autograd.mark_variables([inputs[position] for position in case.diff], buffers)
    with autograd.record(train_mode=case.train):
        outputs = invoke_text(case.op, inputs, case.strings())
    given = heads(case, [output.shape for output in outputs], [np.dtype(output.dtype).name for output in outputs])
    autograd.backward(outputs, [Laid(head, layout).array for head in given], train_mode=case.train)
    return buffers


@shares(OPERATORS)
def test_gradients(name: str, share: str) -> None:
    """Of variables in a layout, with head gradients and buffers in another or the same."""
    for case, layout, laid in _rows(name, share, 2):
        if not case.diff or case.error:
            continue
        own, buffers = "columns" if layout in REPEATING else layout, []
        for position in case.diff:
            buffers.append(Laid(np.zeros_like(laid[position].values), own))
        got = _outcome(_gradients, case, _arrays(laid), _arrays(buffers), own)
        if _unwritable(case, laid, case.train):
            assert SHARED in got, (case.id, layout)
            continue
        [one.check(one.array.asnumpy() if i in case.updates else None) for i, one in enumerate(laid)]
        [one.check(one.array.asnumpy()) for one in buffers]
        wanted = _outcome(_gradients, case, _in_order(laid), _in_order(buffers), "offset")
        assert got == wanted, (case.id, layout)
        assert not _failed(wanted) or layout in REPEATING, (case.id, wanted)


def _second(case, inputs: list) -> list:
    variables = [inputs[position] for position in case.diff]
    autograd.mark_variables(variables, [variable.zeros_like() for variable in variables])
    weight = mx.nd.ones(1)  # makes constant gradients recorded ones
    weight.attach_grad()
    with autograd.record(train_mode=case.train):
        outputs = invoke_text(case.op, inputs, case.strings())
        losses = [(output * output).sum() for output in outputs if np.dtype(output.dtype).kind == "f"]
        gradients = autograd.grad(losses, variables, create_graph=True, train_mode=case.train)
        losses = [(gradient * gradient * weight.astype(gradient.dtype)).sum() for gradient in gradients]
    autograd.backward(losses, train_mode=case.train)
    return [*gradients, *(variable.grad for variable in variables)]


@shares(OPERATORS)
def test_second_gradients(name: str, share: str) -> None:
    for case, layout, laid in _rows(name, share, 2):
        if case.order == 2:
            got, wanted = _outcome(_second, case, _arrays(laid)), _outcome(_second, case, _in_order(laid))
            if _unwritable(case, laid, case.train):
                assert SHARED in got, (case.id, layout)
                continue
            assert got == wanted, (case.id, layout)
            assert not _failed(wanted) or layout in REPEATING, (case.id, wanted)


def _as_torch(case, inputs: list, differentiated: bool) -> list:
    """Results, and gradients if asked for, in PyTorch's dialect: operators that move elements make views."""
    tensors = [adopt(same_elements(array)) for array in inputs]
    for position in case.diff if differentiated else ():
        tensors[position].requires_grad_()
    with scope(case):
        outputs = run_many(prepare(None, case.op, **case.strings()), tensors)
    if not differentiated:
        return [*outputs, *(tensors[position] for position in case.mutates)]
    given = heads(case, [tuple(output.shape) for output in outputs], [output.dtype.name for output in outputs])
    pairs = [(output, torch.tensor(head)) for output, head in zip(outputs, given) if output.requires_grad]
    variables = [tensors[position] for position in case.diff]
    return [*outputs, *torch.autograd.grad([y for y, _ in pairs], variables, [dy for _, dy in pairs])]


@shares(OPERATORS)
def test_views(name: str, share: str) -> None:
    updates = any(case.mutates for case in of(name))
    for case, layout, laid in _rows(name, share, 2):
        for differentiated in (False, True) if case.diff and not case.error else (False,):
            got = _outcome(_as_torch, case, _arrays(laid), differentiated)
            wanted = _outcome(_as_torch, case, _in_order(laid), differentiated)
            if differentiated and _unwritable(case, laid, True):  # PyTorch has no such mode
                assert SHARED in got, (case.id, layout)
            elif not (updates and any(one.shared for one in laid)):
                assert got == wanted, (case.id, layout)


def _strided_copy(repeated: NDArray) -> None:
    repeated._sync_copyfrom(np.ones(repeated.shape, "float32"))


def _backward_into(repeated: NDArray) -> None:
    autograd.mark_variables([mx.nd.ones(repeated.shape)], [repeated])


@pytest.mark.parametrize("write", [_strided_copy, _backward_into, lambda repeated: mx.nd.ones((2, 3)).copyto(repeated)])
def test_elements_that_are_one_are_not_written_to(write: Callable) -> None:
    laid = Laid(np.arange(6, dtype="float32").reshape(2, 3), "expanded")
    with pytest.raises(mx.MXNetError, match=SHARED):
        write(laid.array)
    laid.check()
