"""Operands of several dtypes, and numbers: mxlite.torch against what PyTorch 2.13 answered (tests/torch/promotion),
and how often the library is called."""

from __future__ import annotations

import json
import operator
import os
import sys
from collections.abc import Iterator

import pytest

import mxlite.torch as torch
from mxlite._lib import hot

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "torch", "promotion"))

import promotions

with open(promotions.FACTS, encoding="utf-8") as _file:
    FACTS = json.load(_file)


def _is_known(name: str, operands: str, mine: str, theirs: str) -> bool:
    """Whether the library differs on purpose: it keeps an operand whose edit is refused.

    PyTorch also knows a bool to the power of a Python bool, and refuses exponents that a float16 does not hold.
    """
    if name.endswith("pow") and operands.startswith("bool") and mine == "NotImplementedError":
        return theirs.startswith("bool")
    if name.endswith("pow") and operands.startswith("float16") and theirs == "RuntimeError":
        return "inf" in mine
    return theirs == f"{mine} after an edit"


def _differences(name: str, mine: dict[str, str]) -> list[tuple[str, str, str]]:
    theirs = FACTS[name].split("|")
    assert len(mine) == len(theirs)
    rows = ((given, own, other) for (given, own), other in zip(mine.items(), theirs) if own != other)
    return [row for row in rows if not _is_known(name, *row)]


@pytest.mark.parametrize("name", [name for name, _ in promotions.operations(torch)])
def test_pairs_of_dtypes(name: str) -> None:
    assert _differences(name, promotions.answers(torch, name)) == []


@pytest.mark.parametrize("name", promotions.UNARY)
def test_functions_of_integers(name: str) -> None:
    assert _differences(name, promotions.unary_answers(torch, name)) == []


def _tensors() -> list:
    kinds = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
    return [torch.ones(shape, dtype=kind) for kind in kinds for shape in ((3,), (2, 3), ())]


#: Name in the module operator, and the numbers that it takes.
_COUNTED = {
    **dict.fromkeys("add mul truediv floordiv mod eq lt ge".split(), (2, 1.5)),
    "sub": (2, 1.5),
    "pow": (2, 1.5),
    **dict.fromkeys("and_ or_ xor lshift".split(), (2,)),
}


@pytest.mark.skipif(hot.__name__.endswith("ctypes"), reason="over ctypes the calls are made by Python code")
@pytest.mark.parametrize("name", _COUNTED)
def test_an_operation_is_one_foreign_call(name: str) -> None:
    """Every pair of dtypes, and numbers on the right, goes to the library once, without Python code on the way."""
    function, counted = getattr(operator, name), 0
    for a in _tensors():
        for b in (*_tensors(), *_COUNTED[name]):
            calls: list[str] = []
            sys.setprofile(lambda frame, event, arg, calls=calls: calls.append(event))
            try:
                function(a, b)
            except (RuntimeError, NotImplementedError):
                continue  # bool has no difference, floats have no bits
            finally:
                sys.setprofile(None)
            # the function of the module operator, and the end of the profile
            assert [each for each in calls if each == "call"] == []
            counted += 1
    assert counted > 100


def test_gradients_have_the_dtype_of_their_operand() -> None:
    a = torch.tensor([1.0, 2.0], dtype=torch.float16, requires_grad=True)
    b = torch.tensor([[3.0, 4.0]], requires_grad=True)
    c = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    made = a * b / c + torch.tensor([1, 2]) ** a
    assert made.dtype is torch.float32
    made.sum().backward()
    assert [each.grad.dtype for each in (a, b, c)] == [torch.float16, torch.float32, torch.float64]
    assert b.grad.tolist() == [[0.5, 1.0]] and c.grad.item() == -2.75
    assert a.grad.tolist() == pytest.approx([1.5, 2 + 4 * 0.6931], abs=2e-3)


def test_an_edit_of_another_dtype() -> None:
    """It is computed in the common dtype, and its gradients flow; one that does not fit leaves the tensor as it is."""
    a = torch.tensor([1.0, 2.0], dtype=torch.float16, requires_grad=True)
    b = torch.tensor([0.00049, 0.001], requires_grad=True)
    c = a * 1
    c += b
    assert c.tolist() == [1.0009765625, 2.001953125]
    c.sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [1.0, 1.0]
    assert (a.grad.dtype, b.grad.dtype) == (torch.float16, torch.float32)
    whole = torch.tensor([1, 2])
    version = whole._version
    with pytest.raises(RuntimeError, match="a result of dtype float32 does not fit in an array of dtype int64"):
        whole /= 2
    assert whole.tolist() == [1, 2] and whole._version == version


@pytest.fixture
def _double_by_default() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double_by_default")
def test_the_default_dtype_is_the_library_s() -> None:
    whole = torch.tensor([1, 2])
    for made in (whole + 1.5, whole / 2, whole.exp(), whole / whole, whole**0.5):
        assert made.dtype is torch.float64
    assert (torch.ones(2, dtype=torch.float32) + 1.5).dtype is torch.float32


def test_nodes_of_numbers() -> None:
    """PyTorch has functions of their own for powers and remainders by a number, a truth value too."""
    x = torch.tensor([2.0], requires_grad=True)
    names = {(x**2).grad_fn.name(), (x**2.5).grad_fn.name(), (x**True).grad_fn.name()}
    assert names == {"PowBackward0"}
    assert (x ** torch.tensor([2])).grad_fn.name() == "PowBackward1" and (2**x).grad_fn.name() == "PowBackward2"
    assert (x % 2).grad_fn.name() == "RemainderBackward0" and (x + True).grad_fn.next_functions[1][0] is None


def test_logical_functions_promote() -> None:
    """1e-30 is 0 in float16, the common dtype; as in PyTorch."""
    half, small = torch.ones(2, dtype=torch.float16), torch.tensor(1e-30, dtype=torch.float64)
    assert torch.logical_and(half, small).tolist() == [False, False]
    assert torch.logical_and(torch.tensor([1]), torch.tensor(0.5)).tolist() == [True]


def test_integers_of_64_bits() -> None:
    whole, large = torch.tensor([1, -1]), (1 << 62) + 1
    assert (whole + large).tolist() == [large + 1, large - 1]
    assert (large - whole).tolist() == [large - 1, large + 1]
    assert (whole * large).tolist() == [large, -large]
    assert (whole == 1).tolist() == [True, False] and (whole + large == large + 1).tolist() == [True, False]
    assert (whole + (1 << 63)).tolist() == [1 - (1 << 63), (1 << 63) - 1]
    whole += large
    assert whole.tolist() == [large + 1, large - 1]
    with pytest.raises(OverflowError):
        whole + (1 << 64)
