"""Methods of tensors whose usual calls are made in C, beside the Python functions that define them: views by integers,
reductions, edits."""

from __future__ import annotations

import gc
import inspect
import itertools
import weakref
from typing import Any, Callable

import numpy as np
import pytest

import mxlite.torch as torch

pytestmark = pytest.mark.one_binding


def _definition(method: Any) -> Callable:
    """The Python function behind a method; over ctypes that is the method itself."""
    return method if inspect.isfunction(method) else method.__wrapped__


def _seen(function: Any, x: Any, given: tuple) -> Any:
    try:
        made = function(x, *given)
    except (RuntimeError, IndexError, TypeError, OverflowError) as problem:
        return type(problem), str(problem)
    skip = made.data_ptr() - x.data_ptr() if x.numel() and made.is_contiguous() and x.is_contiguous() else None
    return made.shape, made.stride(), made.dtype, made.tolist(), type(made.grad_fn), made.requires_grad, skip


@pytest.mark.parametrize("name", ["view", "reshape", "expand", "permute"])
@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (1, 3), (3, 1), (0,), (2, 0), (1, 2, 3)])
def test_views_by_integers_are_those_of_the_function(name: str, shape: tuple[int, ...]) -> None:
    """Every list of up to three sizes, of plain, integer, transposed and recorded tensors; the views share memory."""
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    base = torch.arange(int(np.prod(shape))).float().reshape(shape)
    tensors = [base, base.to(torch.int64), base > 1, base.clone().requires_grad_()]
    if len(shape) == 2:
        tensors.append(base.reshape(shape[::-1]).t())
    for x in tensors:
        for count in range(4):
            for sizes in itertools.product((0, 1, 2, 3, 4, -1), repeat=count):
                for given in (sizes, (sizes,)):
                    assert _seen(method, x, given) == _seen(function, x, given), (x.stride(), given)
        for given in ((1 << 70,), (-1, 1 << 63), (True,), (2.0,), ("2",), ([2],), (np.int64(4),), (-2,), (1,) * 33):
            assert _seen(method, x, given) == _seen(function, x, given), (x.stride(), given)


def _odd_tensors() -> list[Any]:
    """Of every kind that a short way may take wrongly: special values, dtypes, no elements, strides, recorded."""
    nan, inf = float("nan"), float("inf")
    base = torch.tensor([[0.0, -1.5, nan], [inf, 2.0, -0.0]])
    whole = torch.tensor([[1, 2, 0], [3, -4, 5]])
    variable = torch.tensor([[0.5, 1.5, 1.5]], requires_grad=True)
    made = [
        base,
        base[:, :2],
        base.t(),
        base[:, ::2],
        torch.zeros(2, 3),
        torch.ones(()),
        torch.zeros(0),
        torch.zeros(2, 0),
    ]
    made += [whole, whole.to(torch.uint8), whole > 1, whole.to(torch.int32), base.to(torch.float16), base.double()]
    return [*made, torch.ones(1, 3).expand(2, 3), variable, variable * 2, (variable * 2).detach()]


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "zero_", "maximum", "minimum", "copy_"])
def test_short_ways_are_those_of_the_function(name: str) -> None:
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    operands = [()]
    if name in ("maximum", "minimum", "copy_"):
        operands = [
            (torch.full((2, 3), 1.0),),
            (torch.ones(3),),
            (torch.ones(1, 2, 3),),
            (torch.ones(2),),
            (torch.ones(()),),
        ]
        operands += [(whole,) for whole in (torch.ones(2, 3).double(), torch.ones(2, 3) > 0, torch.ones(2, 0))]
    for number in range(len(_odd_tensors())):
        for given in operands:
            for mode in (True, False):
                with torch.set_grad_enabled(mode):
                    found = [_after(call, _odd_tensors()[number], given) for call in (method, function)]
                assert found[0] == found[1], (number, given, mode)


def _after(call: Callable, x: Any, given: tuple, **named: Any) -> tuple:
    """What a call came to, and what the tensor is then."""
    try:
        made = _one_of(call(x, *given, **named))
        came = repr(made.tolist()), made.dtype, made.shape, made is x, type(made.grad_fn), made.requires_grad
    except (RuntimeError, IndexError, TypeError, OverflowError) as problem:
        came = type(problem), str(problem)
    return came, repr(x.tolist()), x._version


@pytest.mark.parametrize(
    "name",
    """
    sum mean softmax log_softmax unsqueeze argmax argmin max min any all squeeze cumsum cumprod tril flatten t
    """.split(),
)
def test_axes_are_those_of_the_function(name: str) -> None:
    """Each dimension and those out of bounds, given alone or by name; with what a short way does not take."""
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    calls = [((dim,), {}) for dim in (-4, -3, -2, -1, 0, 1, 2, 3, 1 << 70, True, 1.0, (0,), None)]
    calls += [
        ((), {"dim": 1}),
        ((), {"axis": 0}),
        ((), {"dim": -1}),
        ((1, True), {}),
        ((0,), {"keepdim": True}),
        ((), {}),
    ]
    for number in range(len(_odd_tensors())):
        for given, named in calls:
            found = [_after(call, _odd_tensors()[number], given, **named) for call in (method, function)]
            assert found[0] == found[1], (number, given, named)


#: Name -> what it is called with, besides integers at dimensions.
_VALUES = {
    "transpose": [*itertools.product((-3, -2, -1, 0, 1, 2, True, 1.0, 1 << 70), repeat=2), (0,), ()],
    "flatten": [*itertools.product((-3, -2, -1, 0, 1, 2), repeat=2)],
    "tril": [(number,) for number in (-(1 << 70), -(1 << 40), -3, -1, 0, 1, 3, 1 << 31, 1 << 40, True, 0.5, None)],
    "clamp": [
        *itertools.product((None, -1, 0, 0.5, 1.5, 2, 1e5, -1e300, float("inf"), float("nan"), True), repeat=2),
        (1 << 70, 1),
        (torch.zeros(()), torch.ones(())),
    ],
}


@pytest.mark.parametrize("name", list(_VALUES))
def test_values_are_those_of_the_function(name: str) -> None:
    """Numbers in order, by position and by name; bounds that cross, and numbers that the dtype cannot hold."""
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    names = {"transpose": ("dim0", "dim1"), "flatten": ("start_dim", "end_dim"), "clamp": ("min", "max")}.get(name, ())
    for number in range(len(_odd_tensors())):
        for given in _VALUES[name]:
            for args, named in (
                (given, {}),
                (given[:1], dict(zip(names[1:], given[1:]))),
                ((), dict(zip(names, given))),
            ):
                found = [_after(call, _odd_tensors()[number], args, **named) for call in (method, function)]
                assert found[0] == found[1], (number, args, named)


@pytest.mark.parametrize("name", ["bmm", "dot"])
def test_products_are_those_of_the_function(name: str) -> None:
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    shapes = [(), (2,), (3,), (2, 3), (2, 2, 3), (2, 3, 2), (1, 3, 2), (2, 0, 2), (0,), (2, 3, 0)]
    kinds = [torch.float32, torch.float64, torch.float16, torch.int64]
    for a, b, first, second in itertools.product(shapes, shapes, kinds, kinds):
        x, y = (torch.arange(int(np.prod(s))).reshape(s).to(k) for s, k in ((a, first), (b, second)))
        found = [_after(call, x, (y,)) for call in (method, function)]
        assert found[0] == found[1], (a, b, first, second)


@pytest.mark.parametrize("dtype", "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split())
def test_lists_of_numbers(dtype: str) -> None:
    """`tolist` beside NumPy's, of strided and empty tensors, of few elements and of many."""
    for shape in [(), (0,), (2, 0, 3), (0, 2), (5,), (2, 3, 4), (1, 1), (64, 64), (4097,), (65, 64)]:
        x = torch.arange(int(np.prod(shape))).reshape(shape).to(getattr(torch, dtype))
        for each in (x, x.t() if x.ndim == 2 else x[..., None], x[::2] if x.ndim else x):
            values = (each.float() if dtype == "bfloat16" else each).numpy().tolist()
            assert each.tolist() == values, (shape, each.stride())
            assert repr(each.tolist()) == repr(values)


def _one_of(made: Any) -> Any:
    """A tensor, also where there are values and indices."""
    return made if isinstance(made, torch.Tensor) else made[0] + made[1]


@pytest.mark.parametrize(
    "call",
    [lambda x: x.sum(0), lambda x: x.softmax(0), lambda x: torch.maximum(x, x * 2), lambda x: x.exp(), lambda x: x @ x],
)
def test_a_hook_that_raises_runs_once(call: Callable) -> None:
    """A call that the library refuses because a hook raised is not made again in another way."""
    seen = []

    def pack(tensor: Any) -> Any:
        seen.append(tensor.shape)
        raise ValueError("not kept")

    x = torch.ones(2, 2).requires_grad_()
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        try:
            call(y)
        except ValueError as problem:
            assert str(problem) == "not kept" and len(seen) == 1
        else:
            assert not seen


# ---- facts, parameters, defaults by name ----


@pytest.mark.parametrize("name", ["numel", "dim", "stride", "is_contiguous", "contiguous"])
def test_facts_are_those_of_the_function(name: str) -> None:
    """Methods that C answers, of all layouts, and of tensors that are computed or parameters."""
    function = _definition(getattr(torch.Tensor, name))
    for x in [*_odd_tensors(), torch.nn.Parameter(torch.ones(3, 2)), torch.ones(2, 3, requires_grad=True).T]:
        found, expected = getattr(x, name)(), function(x)
        assert type(found) is type(expected) and (found is x) == (expected is x)
        assert repr(found) == repr(expected)


def test_gradients_are_one_object_until_there_is_another() -> None:
    for x in (torch.ones(3, requires_grad=True), torch.nn.Parameter(torch.ones(3))):
        assert x.grad is None
        (x * 2).sum().backward()
        first = x.grad
        assert first is x.grad and type(first) is torch.Tensor and first.tolist() == [2, 2, 2]
        (x * 2).sum().backward()
        assert x.grad is first and first.tolist() == [4, 4, 4]
        x.grad = None
        (x * 3).sum().backward()
        assert x.grad is not first and x.grad.tolist() == [3, 3, 3]
        x.grad = given = torch.zeros(3)
        assert x.grad is given
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning):
        assert y.grad is None
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_results_of_parameters_are_tensors() -> None:
    p = torch.nn.Parameter(torch.ones(2, 2))
    for made in (p + 1, p * p, p[0], p.sum(1, keepdim=True), p.t(), p.view(4), torch.cat([p, p]), p.flip(0), -p):
        assert type(made) is torch.Tensor and made.requires_grad
    with torch.no_grad():
        assert p.add_(1) is p and p.contiguous() is p
    with pytest.raises(RuntimeError):
        p.add_(1)


def test_keepdim_and_lists_of_dims() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert x.sum((0, 2), keepdim=True).shape == (1, 3, 1) and x.sum([0, -1]).shape == (3,)
    assert x.mean(1, True).shape == (2, 1, 4) and x.mean(dim=(0, 1, 2)).item() == 11.5
    assert x.argmax(1, keepdim=True).shape == (2, 1, 4) and x.max(0, keepdim=True).values.shape == (1, 3, 4)
    for wrong in ((0, 0), (0, 3), (1, -2)):
        with pytest.raises((RuntimeError, IndexError)):
            x.sum(wrong)
    with pytest.raises(RuntimeError):
        x.flip(0, 0)
    with pytest.raises(TypeError):
        torch.nn.functional.gelu(x, "none")


# ---- lists, axes, indices, no tensors ----

_ROW, _COLUMN = torch.tensor([[0], [1]]), torch.tensor([[2, 1, 0]])
_BIG = 1 << 70

#: Name -> what it is called with.
_FORMS: dict[str, list[tuple]] = {
    "roll": [*itertools.product((1, -4, (1, 2), [2], (), _BIG, True, 1.5), (0, -1, 2, (0, 1), [1], (1, 1), ()))],
    "movedim": [*itertools.product((0, -1, (0, 1), [1], (0, 0), _BIG, True), (1, -2, (1, 0), [0], (), 3))],
    "take_along_dim": [
        *itertools.product((_ROW, _COLUMN, _ROW - 1, _COLUMN + 5, _ROW.int()), (0, 1, -1, 2, None, 0.5))
    ],
    "scatter": [*itertools.product((0, 1, -1, 2), (_ROW, _COLUMN), (1, 0.5, 1e6, True, -3, _BIG, torch.ones(2, 3)))],
    "scatter_": [*itertools.product((0, 1), (_ROW, _COLUMN, _COLUMN + 9), (1, 0.5, 1e6, 300))],
    "amax": [(), (0,), ((0, 1),), ([1],), (1, True), ((0, 0),), (2,), (None,)],
    "amin": [(), (0,), ((0, 1),), ([1],), (-1, True), ((),)],
    "median": [(), (0,), (1, True)],
    "norm": [(), (2,), ("fro",), (1, 0), (2, 1, True)],
    "new_zeros": [(), (2,), (2, 3), ((2, 0),), (-1,), (2.0,), ("2",), ([3, 1],)],
    "new_ones": [(3,), ((),), (_BIG,)],
    "equal": [(torch.zeros(2, 3),), (torch.zeros(3),), (torch.zeros(2, 3).double(),), (torch.ones(()),), (3,)],
    "mv": [(torch.ones(3),), (torch.ones(2, 3),), (torch.ones(2),), (torch.ones(3).double(),)],
    "to": [(torch.float64,), (torch.int32,), (torch.bool,), (float,), ("cpu",), (3,)],
    "chunk": [(2,), (2, 1), (9,), (0,)],
}


@pytest.mark.parametrize("name", list(_FORMS))
def test_forms_are_those_of_the_function(name: str) -> None:
    """Of tensors of every kind, with arguments in order; the last one by name too."""
    method = getattr(torch.Tensor, name)
    function = _definition(method)
    last = {"roll": "dims", "movedim": "destination", "take_along_dim": "dim", "amax": "keepdim"}.get(name)
    for number in range(len(_odd_tensors())):
        for given in _FORMS[name]:
            by_name = [(given[:-1], {last: given[-1]})] if last and given else []
            for args, named in [(given, {}), *by_name]:
                found = [_came(call, _odd_tensors()[number], args, named) for call in (method, function)]
                assert found[0] == found[1], (number, args, named)


def _came(call: Callable, x: Any, given: tuple, named: dict) -> tuple:
    """As _after, of any result."""
    try:
        made = call(x, *given, **named)
    except (RuntimeError, IndexError, TypeError, OverflowError, ValueError) as problem:
        return type(problem), str(problem)
    each = made if isinstance(made, tuple) else (made,)
    if not isinstance(each[0], torch.Tensor):
        return type(made), repr(made)
    facts = [(repr(one.tolist()), one.dtype, one.shape, one.stride(), type(one.grad_fn)) for one in each]
    return facts, made is x, repr(x.tolist()) if isinstance(x, torch.Tensor) else x


@pytest.mark.parametrize(
    ("name", "calls"),
    {
        "full": [((2, 3), 2.0), (3, 1.5), ((), -0.0), ((2,), 3), ((2,), 1e300), ((-1,), 1.0), ([2, 0], 1.0)],
        "arange": [(4,), (0,), (-3,), (4.0,), (1, 4), (_BIG,), (True,)],
        "linspace": [(0, 1, 5), (-0.3, 0.3, 7), (2, 7, 1), (0, 1, 0), (0, 1, -1), (-0.0, 1, 1), (0, 1e9, 3)],
        "eye": [(3,), (0,), (-1,), (2, 3), (3.0,), (True,)],
    }.items(),
)
def test_functions_of_no_tensor(name: str, calls: list[tuple]) -> None:
    """Also after the default dtype has changed, when the short way is not for them."""
    function = getattr(torch, name)
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            for given in calls:
                found = [_came(call, given[0], given[1:], {}) for call in (function, _definition(function))]
                assert repr(found[0]) == repr(found[1]), (dtype, given)
        finally:
            torch.set_default_dtype(torch.float32)


def test_losses_of_classes() -> None:
    """The short way of two operators, its gradient, and what it leaves to the function."""
    x = torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]], dtype=torch.float64, requires_grad=True)
    for name in ("cross_entropy", "nll_loss"):
        method = getattr(torch.nn.functional, name)
        for target in ([0, 2], [-100, 1], [0, 3], [0], [0, -1]):
            for named in ({}, {"ignore_index": 2}, {"reduction": "sum"}, {"weight": x[1].detach()}):
                seen = []
                for call in (method, _definition(method)):
                    x.grad = None
                    came = _came(call, x, (torch.tensor(target),), named)
                    if not isinstance(came[0], type):
                        call(x, torch.tensor(target), **named).backward()
                    seen.append(repr((came, None if x.grad is None else x.grad.tolist())))
                assert seen[0] == seen[1], (name, target, named)


@pytest.mark.parametrize("name", ["item", "__bool__", "__float__", "detach", "requires_grad_", "numpy"])
def test_elements_and_places_in_the_graph(name: str) -> None:
    method = getattr(torch.Tensor, name)
    single = [torch.tensor(2.5), torch.tensor([[3]]), torch.tensor(True), torch.ones(1).bfloat16()]
    for x in [*_odd_tensors(), *single]:
        found = [_came(call, x, (), {}) for call in (method, _definition(method))]
        assert found[0] == found[1]
    y = torch.ones(2).detach()
    assert torch.tensor([1.0]).numpy().base is not None and y.detach().data_ptr() == y.data_ptr()


def test_variables_are_the_objects_that_the_program_has() -> None:
    """A node gives the object of its variable while a program holds it, and another one afterwards."""
    for make in (lambda: torch.ones(2).requires_grad_(), lambda: torch.ones(2).requires_grad_(True)):
        x = make()
        node = (x * 2).grad_fn.next_functions[0][0]
        assert node.variable is x
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None and node.variable.tolist() == [1, 1] and node.variable.requires_grad
    kept = [torch.ones(1).requires_grad_() for _ in range(100)]
    nodes = [(each + 1).grad_fn.next_functions[0][0] for each in kept]
    assert all(node.variable is each for node, each in zip(nodes, kept))


def test_numpy_keeps_the_memory() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    a, b = x.numpy(), np.asarray(x.t())
    x[0, 0] = 7.0
    assert a[0, 0] == b[0, 0] == 7.0
    del x
    gc.collect()
    assert a.tolist() == [[7, 1, 2], [3, 4, 5]]
    with pytest.raises(RuntimeError):
        np.asarray(torch.ones(1, requires_grad=True))
